"""PostgreSQL through psycopg 3, made to return the Python values that psycopg2 returns.

The official evaluator uses psycopg2. Where the two drivers differ, psycopg2's way is kept: several
statements in one text return the last one's rows, and types that psycopg2 does not know come back as text.
"""

import contextlib
import weakref
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import islice
from threading import Lock
from types import TracebackType
from typing import ClassVar, Self

import psycopg
from psycopg.adapt import AdaptersMap
from psycopg.conninfo import make_conninfo
from psycopg.pq import TransactionStatus
from psycopg.types.string import TextLoader

from harness.engines.base import BATCH_ROWS, EngineLost, Row, Spent, SqlError, SqlTimeout
from harness.engines.namespace import Database
from harness.engines.postgresql_clock import PostgreSQLClock
from harness.engines.server import Origin, Server
from harness.words import Dialect

_TEXT_IN_PSYCOPG2 = (
    "uuid", "inet", "cidr", "record",
    "int4range", "int8range", "numrange", "daterange", "tsrange", "tstzrange",
    "int4multirange", "int8multirange", "nummultirange", "datemultirange", "tsmultirange", "tstzmultirange",
)  # fmt: skip

_QUERY_CANCELED = "57014"
_SEVERAL_STATEMENTS = "cannot insert multiple commands into a prepared statement"
_LOST_CLASSES = ("08", "53", "57P", "28", "3D")
"""SQLSTATE classes of a lost, full, stopping or refusing server.

https://www.postgresql.org/docs/current/errcodes-appendix.html
"""

_CONNECT_SECONDS = 10

_SETTINGS = (
    "DateStyle", "IntervalStyle", "TimeZone", "bytea_output", "default_transaction_read_only",
    "extra_float_digits", "jit", "max_parallel_workers_per_gather",
    "server_encoding", "standard_conforming_strings", "work_mem",
)  # fmt: skip


def _as_psycopg2() -> AdaptersMap:
    adapters = AdaptersMap(psycopg.adapters)
    for name in _TEXT_IN_PSYCOPG2:
        adapters.register_loader(name, TextLoader)
    return adapters


_ADAPTERS = _as_psycopg2()


class _Idle:
    """Connections that wait for the next session; authenticating takes most of a short query's time.

    A connection comes back here only after a statement that ran to its end, and only as it was when it was
    new: `DISCARD ALL` undoes settings, prepared statements, temporary tables, locks and listening.
    https://www.postgresql.org/docs/current/sql-discard.html
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._connections: dict[str, list[psycopg.Connection]] = {}

    def take(self, conninfo: str) -> psycopg.Connection | None:
        """A connection for `conninfo`, if one waits."""
        with self._lock:
            waiting = self._connections.get(conninfo)
            return waiting.pop() if waiting else None

    def give(self, conninfo: str, connection: psycopg.Connection) -> None:
        """Keep a connection for the next session, if it can be made as new."""
        try:
            if connection.info.transaction_status is TransactionStatus.IDLE:
                connection.execute("DISCARD ALL")
                with self._lock:
                    self._connections.setdefault(conninfo, []).append(connection)
                return
        except psycopg.Error:
            pass
        connection.close()

    def close(self) -> None:
        """Close what waits."""
        with self._lock:
            for waiting in self._connections.values():
                while waiting:
                    waiting.pop().close()


class PostgreSQLSession:
    """A connection of the reading role, with one schema on its search path."""

    def __init__(self, server: Server, database: Database, seconds: float, idle: _Idle) -> None:
        # https://www.postgresql.org/docs/current/runtime-config-client.html#GUC-STATEMENT-TIMEOUT
        limit = max(1, round(seconds * 1000))
        self._conninfo = make_conninfo(
            host=server.host,
            port=server.port,
            user=server.reader_user,
            password=server.reader_password,
            dbname=database.postgresql_database,
            options=f'-c search_path="{database.postgresql_schema}" -c statement_timeout={limit}',
            connect_timeout=_CONNECT_SECONDS,
            client_encoding="utf8",
            application_name="bird-harness",
        )
        self._server = server
        self._closing = contextlib.ExitStack()
        self._idle = idle
        self._ran_to_its_end = True
        try:
            self._connection = idle.take(self._conninfo) or psycopg.connect(
                self._conninfo, autocommit=True, prepare_threshold=None, context=_Context()
            )
        except psycopg.Error as error:
            raise EngineLost(f"PostgreSQL at {server.address}: {_one_line(error)}") from error

    def batches(self, sql: str) -> Iterator[list[Row]]:
        """See `Session.batches`."""
        self._ran_to_its_end = False
        try:
            rows = self._rows(sql)
            while batch := list(islice(rows, BATCH_ROWS)):
                yield batch
        except (psycopg.Error, UnicodeError, ValueError) as error:
            failure = self._translated(error)
            self._ran_to_its_end = not isinstance(failure, SqlTimeout | EngineLost)
            raise failure from error
        self._ran_to_its_end = True

    def _rows(self, sql: str) -> Iterator[Row]:
        cursor = self._connection.cursor()
        text = sql.encode()
        try:
            yield from cursor.stream(text, size=BATCH_ROWS)
        except psycopg.errors.SyntaxError as error:
            # The extended protocol that streams rows takes one statement; nothing has been run yet.
            if error.diag.message_primary != _SEVERAL_STATEMENTS:
                raise
            cursor.execute(text).set_result(-1)
            yield from cursor

    def _translated(self, error: Exception) -> Exception:
        code = error.sqlstate if isinstance(error, psycopg.Error) else None
        if self._connection.broken or (code or "").startswith(_LOST_CLASSES):
            return EngineLost(f"PostgreSQL: {_one_line(error)}")
        kind = SqlTimeout if code == _QUERY_CANCELED else SqlError
        return kind(_one_line(error), code)

    def cancel(self) -> None:
        """See `Session.cancel`."""
        with contextlib.suppress(psycopg.Error):
            self._connection.cancel_safe(timeout=_CONNECT_SECONDS)

    def program(self, sql: str) -> None:
        """See `Session.program`: PostgreSQL's plans leave steps out."""

    def spent(self) -> Spent | None:
        """See `Session.spent`; for all sessions of the reading role together."""
        seconds = self._clock and self._clock.seconds()
        return Spent(seconds, None) if seconds else None

    @cached_property
    def _clock(self) -> PostgreSQLClock | None:
        server = self._server
        try:
            connection = _administrating(server)
        except psycopg.Error:
            return None
        clock = PostgreSQLClock(connection, server.reader_user, may_install=server.origin is not Origin.DSN)
        self._closing.callback(clock.close)
        return clock

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.close()
        if self._ran_to_its_end:
            self._idle.give(self._conninfo, self._connection)
        else:
            self._connection.close()


class _Context:
    """Carries the adapters to a connection. https://www.psycopg.org/psycopg3/docs/api/abc.html."""

    adapters = _ADAPTERS
    connection = None


def _administrating(server: Server) -> psycopg.Connection:
    return psycopg.connect(
        host=server.host, port=server.port, user=server.user, password=server.password,
        dbname="postgres", connect_timeout=_CONNECT_SECONDS, autocommit=True,
    )  # fmt: skip


def _one_line(error: Exception) -> str:
    """The server's own message without the position picture that libpq adds below it."""
    if isinstance(error, psycopg.Error) and error.diag.message_primary:
        return error.diag.message_primary
    return " ".join(str(error).split())


class PostgreSQLEngine:
    """A PostgreSQL server, wherever it came from."""

    dialect: ClassVar[Dialect] = Dialect.POSTGRESQL

    def __init__(self, server: Server) -> None:
        self.server = server
        self._idle = _Idle()
        weakref.finalize(self, self._idle.close)

    def session(self, database: Database, seconds: float) -> PostgreSQLSession:
        """See `Engine.session`."""
        return PostgreSQLSession(self.server, database, seconds, self._idle)

    def version(self) -> str:
        """See `Engine.version`."""
        return self._ask("SELECT current_setting('server_version')")[0]

    def settings(self) -> Mapping[str, str]:
        """See `Engine.settings`. A setting that this version does not have is an empty string."""
        values = self._ask("SELECT " + ", ".join(f"current_setting('{name}', true)" for name in _SETTINGS))
        # Settings until version 15, properties of each database since then.
        locale = self._ask("SELECT datcollate, datctype FROM pg_database WHERE datname = current_database()")
        return dict(zip((*_SETTINGS, "lc_collate", "lc_ctype"), (*values, *locale), strict=True))

    def _ask(self, sql: str) -> list[str]:
        """The one row that `sql` returns to the administrating account, as text."""
        server = self.server
        try:
            with _administrating(server) as connection:
                row = connection.execute(sql.encode()).fetchone()
        except psycopg.Error as error:
            raise EngineLost(f"PostgreSQL at {server.address}: {_one_line(error)}") from error
        return ["" if value is None else str(value) for value in row or ()]
