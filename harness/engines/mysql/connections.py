"""The connections of the reading role to one MySQL server: made, made as new, and kept.

TLS is left out where nobody can listen: it would take fifty times as long.
"""

from __future__ import annotations  # PyMySQL's Connection is generic in its stubs alone

import contextlib
from typing import Any

import pymysql
from pymysql.connections import Connection
from pymysql.cursors import SSCursor

from dialects.enums import Profile
from harness.engines.base import EngineLost
from harness.engines.mysql.accounts import Accounts, connect
from harness.engines.pool import Pool
from loaders.namespace import Database
from loaders.server import Server

_RESET_CONNECTION = 0x1F
"""https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_reset_connection.html."""

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
        self._accounts = Accounts(server)
        self._pool: Pool[tuple[Connection[Any], Database]] = Pool(lambda kept: close_at_once(kept[0]))

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
        while waiting := self._pool.take(None):
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
        return self._accounts.connect(
            database=database.mysql_database,
            cursorclass=SSCursor,
            read_timeout=seconds + GRACE_SECONDS,
            init_command=settings,
        )

    def give(self, connection: Connection[Any], database: Database) -> None:
        """Have a connection whose last statement has ended made as new, and keep it."""
        try:
            # PyMySQL has no public call for it, and another name for the number.
            connection._execute_command(_RESET_CONNECTION, b"")  # type: ignore[attr-defined]  # noqa: SLF001
        except (pymysql.Error, OSError):
            close_at_once(connection)
            return
        self._pool.give(None, (connection, database))

    def kill(self, thread: int, what: str) -> None:
        """Have the server end a QUERY or a CONNECTION of the reading role; nothing if it has ended.

        By the administrating account: those of the reading role have one connection each.
        """
        server = self._server
        for user, password in (
            (server.user, server.password),
            (server.reader_user, server.reader_password),
        ):
            with (
                contextlib.suppress(EngineLost, pymysql.Error, OSError),
                connect(server, user, password) as other,
            ):
                other.query(f"KILL {what} {thread}")
                return

    def close(self) -> None:
        """Close those that wait."""
        self._pool.close()


def close_at_once(connection: Connection[Any]) -> None:
    """Close a connection; an orderly close would first read every row that the server still wants to send."""
    connection._force_close()  # type: ignore[attr-defined]  # noqa: SLF001 - no public one
