"""SQLite, embedded: the file is opened read-only and immutable, and an authorizer refuses the rest."""

import sqlite3
import time
from collections.abc import Hashable, Iterator, Mapping
from types import TracebackType
from typing import ClassVar, Self
from urllib.parse import quote

from harness.engines.base import BATCH_ROWS, EngineLost, Row, Spent, SqlError, SqlTimeout
from harness.engines.namespace import Database
from harness.words import Dialect

_READING = frozenset(
    {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
)

_FAILURES = (sqlite3.Error, sqlite3.Warning, UnicodeError, ValueError, OverflowError)
"""What the driver raises for a statement."""

_EXACT_SECONDS = 1e-6
_THREAD_TIME_IS_EXACT = time.get_clock_info("thread_time").resolution <= _EXACT_SECONDS


def _allow_reading(
    action: int, first: str | None, second: str | None, schema: str | None, trigger: str | None
) -> int:
    """Allow what a query needs and nothing that could write, attach a file or load code.

    `mode=ro` alone is not enough: ATTACH would still create a new file.
    https://www.sqlite.org/c3ref/set_authorizer.html
    """
    del first, schema, trigger
    if action not in _READING or (action == sqlite3.SQLITE_FUNCTION and second == "load_extension"):
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK


class SQLiteSession:
    """One connection to one database file."""

    def __init__(self, database: Database) -> None:
        uri = f"file:{quote(str(database.sqlite_path.resolve()))}?mode=ro&immutable=1"
        try:
            # A session moves between threads only one at a time; `interrupt` is the documented exception.
            self._connection = sqlite3.connect(uri, uri=True, check_same_thread=False)
        except sqlite3.Error as error:
            raise EngineLost(f"SQLite cannot open {database.sqlite_path}: {error}") from error
        self._connection.set_authorizer(_allow_reading)

    def batches(self, sql: str) -> Iterator[list[Row]]:
        """See `Session.batches`."""
        try:
            cursor = self._connection.execute(sql)
            while batch := cursor.fetchmany(BATCH_ROWS):
                yield batch
        except _FAILURES as error:
            code = getattr(error, "sqlite_errorname", None)
            kind = SqlTimeout if code == "SQLITE_INTERRUPT" else SqlError
            raise kind(str(error), code) from error

    def cancel(self) -> None:
        """See `Session.cancel`. https://www.sqlite.org/c3ref/interrupt.html."""
        self._connection.interrupt()

    def program(self, sql: str) -> Hashable:
        """See `Session.program`: SQLite's byte code, without what only serves a reader.

        https://www.sqlite.org/opcode.html
        """
        try:
            steps = self._connection.execute(f"EXPLAIN {sql}").fetchall()
        except _FAILURES:
            return None
        return tuple((opcode, *operands) for _, opcode, *operands, _ in steps)

    def spent(self) -> Spent | None:
        """See `Session.spent`: SQLite runs in the thread that asks, whose processor time it is."""
        return Spent(time.perf_counter(), time.thread_time()) if _THREAD_TIME_IS_EXACT else None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()


class SQLiteEngine:
    """The SQLite library that this Python was built with."""

    dialect: ClassVar[Dialect] = Dialect.SQLITE

    def session(self, database: Database, seconds: float) -> SQLiteSession:
        """See `Engine.session`; SQLite has no time limit of its own, so `cancel` alone enforces it."""
        del seconds
        return SQLiteSession(database)

    def version(self) -> str:
        """See `Engine.version`."""
        return sqlite3.sqlite_version

    def settings(self) -> Mapping[str, str]:
        """See `Engine.settings`: the library's compile-time options."""
        with sqlite3.connect(":memory:") as connection:
            options = [str(row[0]) for row in connection.execute("PRAGMA compile_options")]
        connection.close()
        return {"compile_options": " ".join(options)}
