"""The administrator's sessions with a MySQL server, and the classification of their errors."""

from __future__ import annotations  # PyMySQL's Connection is generic in its stubs alone

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import pymysql
from pymysql.connections import Connection

from dialects.identifiers import quoted
from dialects.targets import TARGETS
from loaders.base.errors import EngineUnavailable
from loaders.server import Parameters, Server, pooled

TITLE = "MySQL"
Error = pymysql.Error

CONNECT_SECONDS = 10

_SESSION = (
    "SET SESSION sql_mode = 'ANSI_QUOTES,STRICT_ALL_TABLES', time_zone = '+00:00',"
    # Wide tables are checked by their rows, not by the greatest possible length of their columns.
    " innodb_strict_mode = 0,"
    # The census has checked the references.
    " foreign_key_checks = 0,"
    # A waiting lock or a slow file must not lose its connection.
    " wait_timeout = 86400, net_read_timeout = 3600"
)

_BROKEN = frozenset(
    {1021, 1037, 1038, 1040, 1041, 1044, 1045, 1053, 1129, 1130, 1142, 1203, 1226, 1227, 3948}
)
"""The server is out of space, memory or connections, is stopping, or denies this account its rights.

https://dev.mysql.com/doc/mysql-errors/9.7/en/server-error-reference.html
"""

_CLIENT_ERRORS = range(2000, 3000)
"""The client's own errors: no server, or a lost connection.

https://dev.mysql.com/doc/mysql-errors/9.7/en/client-error-reference.html
"""


@contextmanager
def connected(
    server: Server,
    database: str = "",  # noqa: ARG001 - any session reaches every database
    *,
    autocommit: bool = True,  # noqa: ARG001 - it always is
    alone: bool = False,
) -> Iterator[Connection[Any]]:
    """See `Sessions.connected`. Each statement is its own transaction.

    `alone`: do not share the session, for locks and settings that end with it.

    Raises:
        EngineUnavailable: for every error of the server not caught within the `with` block.
    """

    def connect() -> Connection[Any]:
        return pymysql.connect(
            host=server.host, port=server.port, user=server.user, password=server.password,
            charset="utf8mb4", connect_timeout=CONNECT_SECONDS, autocommit=True, local_infile=True,
            init_command=_SESSION, ssl_disabled=server.is_local,
        )  # fmt: skip

    try:
        with closing(connect()) if alone else pooled(server, connect) as connection:
            yield connection
    except pymysql.Error as error:
        words = f"{TARGETS[server.dialect].title} at {server.address}: {message(error)}"
        raise EngineUnavailable(f"{words}; run `bird-harness doctor`") from error


def ask(connection: Connection[Any], statement: str, values: Parameters | None = None) -> list[Any]:
    """See `Sessions.ask`."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())


def grant(connection: Connection[Any], server: Server, right: str, database: str) -> None:
    """Grant the reading role `right` on everything in `database`."""
    pattern = pattern_of(connection, database)
    ask(connection, f"GRANT {right} ON {pattern}.* TO {connection.escape(server.reader_user)}@'%'")


def revoke(connection: Connection[Any], server: Server, right: str, database: str) -> None:
    """Revoke what `grant` granted, if anything."""
    pattern = pattern_of(connection, database)
    reader = connection.escape(server.reader_user)
    ask(connection, f"REVOKE IF EXISTS {right} ON {pattern}.* FROM {reader}@'%' IGNORE UNKNOWN USER")


def pattern_of(connection: Connection[Any], database: str) -> str:
    """Return the name of a database as a grant has it."""
    found = ask(connection, "SHOW VARIABLES LIKE 'partial_revokes'")
    literal = found[0][1] == "ON" if found else False
    # In a grant, _ and % are wildcards, except under partial revokes.
    return quoted(database if literal else re.sub(r"([_%\\])", r"\\\1", database))


def is_broken(error: Exception) -> bool:
    """See `Sessions.is_broken`."""
    number = error.args[0] if error.args else None
    return isinstance(number, int) and (number in _BROKEN or number in _CLIENT_ERRORS)


def message(error: Exception) -> str:
    """Return the server's message without its number."""
    return str(error.args[-1]) if error.args else str(error)


def attempt(connection: Connection[Any], statement: str) -> str | None:
    """See `Sessions.attempt`."""
    try:
        ask(connection, statement)
    except pymysql.Error as error:
        if is_broken(error):
            raise
        return message(error)
    return None
