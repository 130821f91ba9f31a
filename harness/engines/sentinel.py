"""A second connection to a server: whether it survives tells a server's trouble from a statement's."""

import contextlib
from collections.abc import Iterator
from typing import Any

import psycopg
import pymysql

from dialects.enums import Dialect
from harness.engines.base import EngineLost
from loaders.server import Server

_CONNECT_SECONDS = 10
_FAILURES = (pymysql.Error, psycopg.Error, OSError)


class Sentinel:
    """A connection of the administrating account on which nothing runs."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def lives(self) -> bool:
        """Whether the server still answers on the same connection."""
        try:
            with self._connection.cursor() as cursor:
                cursor.execute("SELECT 1")
                return bool(cursor.fetchone())
        except _FAILURES:
            return False


@contextlib.contextmanager
def posted(server: Server) -> Iterator[Sentinel]:
    """A sentinel for the time of the context.

    Raises:
        EngineLost: the server does not answer, or has no connection left.
    """
    try:
        connection = administrating(server)
    except _FAILURES as error:
        words = " ".join(str(error.args[-1] if error.args else error).split())
        raise EngineLost(f"{server.dialect} at {server.address}: {words}") from error
    try:
        yield Sentinel(connection)
    finally:
        with contextlib.suppress(*_FAILURES):
            connection.close()


def administrating(server: Server) -> Any:
    """A new connection of the administrating account. Raises what its driver does."""
    if server.dialect is Dialect.MYSQL:
        return pymysql.connect(
            host=server.host,
            port=server.port,
            user=server.user,
            password=server.password,
            connect_timeout=_CONNECT_SECONDS,
            read_timeout=_CONNECT_SECONDS,
            ssl_disabled=server.is_local,
        )
    return psycopg.connect(
        host=server.host,
        port=server.port,
        user=server.user,
        password=server.password,
        dbname="postgres",
        connect_timeout=_CONNECT_SECONDS,
        autocommit=True,
    )
