"""Connections to DuckDB files of a folder, and the classification of their errors."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import duckdb

from loaders.base.errors import EngineUnavailable
from loaders.namespace import STAGING, Database, namespace
from loaders.server import Parameters, Server

TITLE = "DuckDB"
Error = duckdb.Error

_BROKEN = (duckdb.IOException, duckdb.FatalException, duckdb.OutOfMemoryException)


def path_of(server: Server, name: str) -> Path:
    """Return the file of a namespace or a staging."""
    return Path(server.host) / f"{name}.duckdb"


def file_of(server: Server, database: Database) -> Path:
    """Return the file of a loaded database."""
    return path_of(server, namespace(database, server.dialect)[0])


@contextmanager
def connected(
    server: Server,
    database: str = "",
    *,
    autocommit: bool = True,  # noqa: ARG001 - it always is
) -> Iterator[duckdb.DuckDBPyConnection]:
    """See `Sessions.connected`: a staging is opened for writing, a database for reading.

    Raises:
        EngineUnavailable: for every error not caught within the `with` block.
    """
    path = path_of(server, database)
    try:
        if not database or not (path.exists() or database.startswith(STAGING)):
            connection = duckdb.connect(":memory:")
        else:
            connection = duckdb.connect(path, read_only=not database.startswith(STAGING))
        with connection:
            yield connection
    except duckdb.Error as error:
        raise EngineUnavailable(f"DuckDB at {server.address}: {message(error)}") from error


def ask(connection: duckdb.DuckDBPyConnection, statement: str, values: Parameters | None = None) -> list[Any]:
    """See `Sessions.ask`."""
    return connection.execute(statement.replace("%s", "?"), values).fetchall()


def attempt(connection: duckdb.DuckDBPyConnection, statement: str) -> str | None:
    """See `Sessions.attempt`."""
    try:
        connection.execute(statement)
    except duckdb.Error as error:
        if is_broken(error):
            raise
        with suppress(duckdb.Error):
            connection.rollback()
        return message(error)
    return None


def is_broken(error: Exception) -> bool:
    """See `Sessions.is_broken`."""
    return isinstance(error, _BROKEN)


def message(error: Exception) -> str:
    """Return the library's message without the line that it quotes."""
    return " ".join(str(error).partition("\n\nLINE ")[0].split())
