"""The connections of the reading role to one MySQL server: made, made as new, and kept.

TLS is left out where nobody can listen: it would take fifty times as long.
"""

from __future__ import annotations  # PyMySQL's Connection is generic in its stubs alone

import contextlib
from threading import Lock
from typing import Any

import pymysql
from pymysql.connections import Connection
from pymysql.constants import COMMAND
from pymysql.cursors import SSCursor

from harness.engines.base import EngineLost
from harness.engines.namespace import Database
from harness.engines.server import Server
from harness.words import Profile

CONNECT_SECONDS = 10
GRACE_SECONDS = 10
"""How long after the time limit the client gives up on a server that has stopped talking."""


class MySQLConnections:
    """Makes connections, and keeps those that can serve another session.

    A kept one is reset by the server: that undoes settings and user variables, drops temporary tables and
    prepared statements and frees locks, and leaves the database, which no query can change. It costs a third
    of a new connection, most of it while the last result is being scored: the answer is read when the
    connection is used again.
    https://dev.mysql.com/doc/c-api/9.7/en/mysql-reset-connection.html
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self._lock = Lock()
        self._waiting: list[tuple[Connection[Any], Database]] = []

    def take(self, database: Database, seconds: float) -> Connection[Any]:
        """A connection to `database`, read-only and with `seconds` as the limit of each statement.

        Raises:
            EngineLost: the server does not answer, or does not know the database.
        """
        # The limit is one for SELECT, and a hint can lift it; `Session.cancel` covers the rest.
        # https://dev.mysql.com/doc/refman/9.7/en/server-system-variables.html#sysvar_max_execution_time
        collation = " COLLATE utf8mb4_0900_bin" if database.profile is Profile.FAITHFUL else ""
        settings = (
            f"SET NAMES utf8mb4{collation}, SESSION transaction_read_only = 1, "
            f"SESSION max_execution_time = {max(1, round(seconds * 1000))}"
        )
        while waiting := self._pop():
            kept, of = waiting
            try:
                kept._read_timeout = seconds + GRACE_SECONDS  # type: ignore[attr-defined]  # noqa: SLF001
                kept._read_ok_packet()  # type: ignore[attr-defined]  # noqa: SLF001 - see `give`
                kept.query(settings)
                if of.mysql_database != database.mysql_database:
                    kept.select_db(database.mysql_database)
            except (pymysql.Error, OSError):
                close_at_once(kept)
            else:
                return kept
        server = self._server
        return connect(
            server,
            server.reader_user,
            server.reader_password,
            database=database.mysql_database,
            cursorclass=SSCursor,
            read_timeout=seconds + GRACE_SECONDS,
            init_command=settings,
        )

    def _pop(self) -> tuple[Connection[Any], Database] | None:
        with self._lock:
            return self._waiting.pop() if self._waiting else None

    def give(self, connection: Connection[Any], database: Database) -> None:
        """Have a connection whose last statement has ended made as new, and keep it."""
        try:
            # PyMySQL has no public call for it, and an outdated name for the number.
            connection._execute_command(COMMAND.COM_END, b"")  # type: ignore[attr-defined]  # noqa: SLF001
        except (pymysql.Error, OSError):
            close_at_once(connection)
            return
        with self._lock:
            self._waiting.append((connection, database))

    def kill(self, thread: int, what: str) -> None:
        """Have the server end a QUERY or a CONNECTION of the reading role; nothing if it has ended."""
        server = self._server
        with (
            contextlib.suppress(EngineLost, pymysql.Error, OSError),
            connect(server, server.reader_user, server.reader_password) as other,
        ):
            other.query(f"KILL {what} {thread}")

    def close(self) -> None:
        """Close those that wait."""
        with self._lock:
            while self._waiting:
                close_at_once(self._waiting.pop()[0])


def connect(server: Server, user: str, password: str, **options: Any) -> Connection[Any]:
    """A new connection.

    Raises:
        EngineLost: the server does not answer or refuses the account.
    """
    try:
        return pymysql.connect(
            host=server.host,
            port=server.port,
            user=user,
            password=password,
            charset="utf8mb4",
            connect_timeout=CONNECT_SECONDS,
            autocommit=True,
            ssl_disabled=server.is_local,
            **options,
        )
    except pymysql.Error as error:
        words = error.args[-1] if error.args else error
        raise EngineLost(f"MySQL at {server.address}: {words}") from error


def close_at_once(connection: Connection[Any]) -> None:
    """Close a connection; an orderly close would first read every row that the server still wants to send."""
    connection._force_close()  # type: ignore[attr-defined]  # noqa: SLF001 - no public one
