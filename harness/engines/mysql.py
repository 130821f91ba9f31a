"""MySQL through PyMySQL, the driver of the official evaluator: the same Python values come back."""

import contextlib
from collections.abc import Iterator, Mapping
from functools import cached_property
from types import TracebackType
from typing import Any, ClassVar, Self

import pymysql
from pymysql.cursors import SSCursor

from harness.engines.base import BATCH_ROWS, EngineLost, Row, Spent, SqlError, SqlTimeout
from harness.engines.mysql_clock import MySQLClock
from harness.engines.namespace import Database
from harness.engines.server import Server
from harness.words import Dialect, Profile

_TIME_IS_UP = frozenset({3024, 1317, 1028})
"""Query execution was interrupted: by MAX_EXECUTION_TIME, by KILL QUERY, or while it sorted."""

_LOST = frozenset({2003, 2006, 2013, 1040, 1045, 1049, 1053, 1129, 1130, 1203, 1226, 3169})
"""The server is unreachable, dropped the connection, refuses the account or does not know the database.

https://dev.mysql.com/doc/mysql-errors/9.7/en/
"""

_CONNECT_SECONDS = 10
_GRACE_SECONDS = 10
"""How long after the time limit the client gives up on a server that has stopped talking."""

_SETTINGS = (
    "sql_mode", "lower_case_table_names", "collation_server", "time_zone", "group_concat_max_len",
    "optimizer_switch", "div_precision_increment", "cte_max_recursion_depth",
)  # fmt: skip


class MySQLSession:
    """One connection of the reading role to one database."""

    def __init__(self, server: Server, database: Database, seconds: float) -> None:
        self._server = server
        self._connection = _connect(
            server,
            server.reader_user,
            server.reader_password,
            database=database.mysql_database,
            collation="utf8mb4_0900_bin" if database.profile is Profile.FAITHFUL else None,
            cursorclass=SSCursor,
            read_timeout=seconds + _GRACE_SECONDS,
            # The limit holds for SELECT only; `cancel` covers the rest.
            # https://dev.mysql.com/doc/refman/9.7/en/server-system-variables.html#sysvar_max_execution_time
            init_command="SET SESSION transaction_read_only = 1, "
            f"SESSION max_execution_time = {max(1, round(seconds * 1000))}",
        )
        self._closing = contextlib.ExitStack()
        self._thread: int = self._connection.thread_id()  # type: ignore[no-untyped-call]

    def batches(self, sql: str) -> Iterator[list[Row]]:
        """See `Session.batches`."""
        try:
            cursor = self._connection.cursor()
            cursor.execute(sql)
            if not cursor.description:
                return
            while batch := cursor.fetchmany(BATCH_ROWS):
                yield list(batch)
        except (pymysql.Error, UnicodeError, ValueError) as error:
            raise _translated(error) from error

    def cancel(self) -> None:
        """See `Session.cancel`: KILL QUERY from a second connection of the same account."""
        server = self._server
        with (
            contextlib.suppress(EngineLost, pymysql.Error, OSError),
            _connect(server, server.reader_user, server.reader_password) as other,
            other.cursor() as cursor,
        ):
            cursor.execute(f"KILL QUERY {self._thread}")

    def program(self, sql: str) -> None:
        """See `Session.program`: MySQL's plans leave steps out."""

    def spent(self) -> Spent | None:
        """See `Session.spent`."""
        counted = self._clock and self._clock.spent()
        return Spent(*counted) if counted else None

    @cached_property
    def _clock(self) -> MySQLClock | None:
        server = self._server
        try:
            connection = _connect(server, server.user, server.password)
        except EngineLost:
            return None
        clock = MySQLClock(connection, self._thread)
        self._closing.callback(clock.close)
        return clock

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.close()
        # An orderly close would first read every row that the server still wants to send.
        self._connection._force_close()  # type: ignore[attr-defined]  # noqa: SLF001 - no public one


def _connect(server: Server, user: str, password: str, **options: Any) -> "pymysql.Connection[Any]":
    """Connect without TLS where nobody can listen: it would take fifty times as long.

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
            connect_timeout=_CONNECT_SECONDS,
            autocommit=True,
            ssl_disabled=server.is_local,
            **options,
        )
    except pymysql.Error as error:
        raise EngineLost(f"MySQL at {server.address}: {_message(error)}") from error


def _message(error: BaseException) -> str:
    return str(error.args[-1]) if error.args else str(error)


def _translated(error: Exception) -> Exception:
    number = error.args[0] if error.args and isinstance(error.args[0], int) else None
    if number in _LOST or isinstance(error, pymysql.InterfaceError):
        return EngineLost(f"MySQL: {_message(error)}")
    kind = SqlTimeout if number in _TIME_IS_UP else SqlError
    return kind(_message(error), None if number is None else str(number))


class MySQLEngine:
    """A MySQL server, wherever it came from."""

    dialect: ClassVar[Dialect] = Dialect.MYSQL

    def __init__(self, server: Server) -> None:
        self.server = server

    def session(self, database: Database, seconds: float) -> MySQLSession:
        """See `Engine.session`."""
        return MySQLSession(self.server, database, seconds)

    def version(self) -> str:
        """See `Engine.version`."""
        return self._ask("SELECT VERSION()")[0]

    def settings(self) -> Mapping[str, str]:
        """See `Engine.settings`."""
        return dict(
            zip(_SETTINGS, self._ask("SELECT " + ", ".join(f"@@{name}" for name in _SETTINGS)), strict=True)
        )

    def _ask(self, sql: str) -> list[str]:
        """The one row that `sql` returns to the administrating account, as text."""
        server = self.server
        try:
            with _connect(server, server.user, server.password) as connection, connection.cursor() as cursor:
                cursor.execute(sql)
                row = cursor.fetchone()
        except (pymysql.Error, OSError) as error:
            raise EngineLost(f"MySQL at {server.address}: {_message(error)}") from error
        return [str(value) for value in row or ()]
