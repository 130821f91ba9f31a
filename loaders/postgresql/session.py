"""The administrator's sessions with a PostgreSQL server, and the classification of their errors."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import psycopg
from psycopg import Connection

from loaders.base.errors import EngineUnavailable
from loaders.base.processes import ended_by
from loaders.server import Parameters, Server, pooled

TITLE = "PostgreSQL"
Error = psycopg.Error

MAINTENANCE = "postgres"
"""A database that every server has and no prediction uses."""

CONNECT_SECONDS = 10

_OPTIONS = "-c client_min_messages=warning -c statement_timeout=0 -c lock_timeout=0 -c timezone=UTC"

_LIMIT_EXCEEDED = "54"
"""The SQLSTATE class for exceeded limits: number of columns, size of a row or an index entry.

https://www.postgresql.org/docs/current/errcodes-appendix.html
"""


@contextmanager
def connected(
    server: Server, database: str = MAINTENANCE, *, autocommit: bool = False
) -> Iterator[Connection[Any]]:
    """See `Sessions.connected`. Commits at the end, rolls back on any exception.

    Raises:
        EngineUnavailable: for every error of the server not caught within the `with` block.
    """

    def connect() -> Connection[Any]:
        return psycopg.connect(
            host=server.host, port=server.port, user=server.user, password=server.password,
            dbname=database, connect_timeout=CONNECT_SECONDS, application_name="bird-harness load",
            autocommit=autocommit, options=_OPTIONS,
        )  # fmt: skip

    try:
        with (
            pooled((server, database), connect) as connection,
            ended_by(partial(_cut, connection)),
        ):
            connection.autocommit = autocommit
            yield connection
            connection.commit()
    except psycopg.Error as error:
        raise EngineUnavailable(
            f"PostgreSQL at {server.address}: {message(error)}; run `bird-harness doctor`"
        ) from error


def _cut(connection: Connection[Any]) -> None:
    """Shut a session down, whatever it waits for."""
    with suppress(OSError, psycopg.Error), socket.socket(fileno=os.dup(connection.fileno())) as line:
        line.shutdown(socket.SHUT_RDWR)


def is_broken(error: Exception) -> bool:
    """See `Sessions.is_broken`."""
    limit = isinstance(error, psycopg.Error) and (error.sqlstate or "").startswith(_LIMIT_EXCEEDED)
    return isinstance(error, psycopg.OperationalError) and not limit


def ask(connection: Connection[Any], statement: str, values: Parameters | None = None) -> list[Any]:
    """See `Sessions.ask`."""
    cursor = connection.execute(statement.encode(), values)
    return cursor.fetchall() if cursor.description else []


def message(error: Exception) -> str:
    """Return the server's message without the hints and context that follow it."""
    if isinstance(error, psycopg.Error) and error.diag.message_primary:
        return error.diag.message_primary
    return " ".join(str(error).split())


def attempt(connection: Connection[Any], statement: str) -> str | None:
    """See `Sessions.attempt`."""
    try:
        with connection.transaction():
            ask(connection, statement)
    except psycopg.Error as error:
        if is_broken(error):
            raise
        return message(error)
    return None
