"""A second connection to a server: whether it survives tells a server's trouble from a statement's."""

import contextlib
from collections.abc import Iterator
from typing import Any

from harness.engines.base import EngineLost
from harness.engines.registry import Administration, kind_of
from loaders.server import Server


class Sentinel:
    """A connection of the administrating account on which nothing runs."""

    def __init__(self, connection: Any, administration: Administration) -> None:
        self._connection = connection
        self._administration = administration

    def lives(self) -> bool:
        """Whether the server still answers on the same connection."""
        try:
            with self._connection.cursor() as cursor:
                cursor.execute("SELECT 1")
                return bool(cursor.fetchone())
        except self._administration.FAILURES:
            return False


@contextlib.contextmanager
def posted(server: Server) -> Iterator[Sentinel]:
    """A sentinel for the time of the context.

    Raises:
        EngineLost: the server does not answer, or has no connection left.
    """
    administration = _administration(server)
    try:
        connection = administration.administrating(server)
    except administration.FAILURES as error:
        words = " ".join(str(error.args[-1] if error.args else error).split())
        raise EngineLost(f"{server.dialect} at {server.address}: {words}") from error
    try:
        yield Sentinel(connection, administration)
    finally:
        with contextlib.suppress(*administration.FAILURES):
            connection.close()


def administrating(server: Server) -> Any:
    """A new connection of the administrating account. Raises what its driver does."""
    return _administration(server).administrating(server)


def _administration(server: Server) -> Administration:
    administration = kind_of(server.dialect).administration
    assert administration is not None  # noqa: S101 - there is a server
    return administration()
