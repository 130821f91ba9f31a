"""SQLite, embedded. Files are opened so that no statement can write, attach, load code, or take much memory.

A function of SQLite's that goes on without looking up, as LIKE can for hours, is stopped by nothing but the
end of its process: see `harness.engines.execution`.
"""

import os
import re
import sqlite3
import sys
import time
import weakref
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import ClassVar, NamedTuple, Self
from urllib.parse import quote

from dialects.enums import Dialect
from dialects.identifiers import quoted
from dialects.volatility import is_volatile
from harness.engines.base import (
    EMPTY,
    CannotCount,
    ColumnText,
    EngineLost,
    Pool,
    Row,
    Spent,
    SqlError,
    SqlTimeout,
    SqlTooLarge,
    TableText,
    cut,
    is_empty,
)
from harness.engines.clock import pin_sqlite
from harness.engines.plans import NOT_A_QUERY, PlanNode
from harness.engines.sqlite.plans import CountingConnection, read_plan
from loaders.base.files import unwritten
from loaders.namespace import Database
from loaders.server import Parameters
from loaders.source import DeclaredTable

HEAP_BYTES = 256 * 2**20
"""Memory limit of SQLite in this process, temporary tables and sorters included."""

VALUE_BYTES = 16 * 2**20
"""The largest text, blob or row; `SQLITE_TOOBIG` beyond it."""

MAPPED_BYTES = 64 * 2**20
"""How much of a file a connection that is used again reads where the system has it, instead of copying it.

https://www.sqlite.org/mmap.html
"""

LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: VALUE_BYTES,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 2**20,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 1_000_000,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
"""Far above what a question needs. The library's own limits stand for depth, columns and compound selects.

https://www.sqlite.org/limits.html
"""


def _trust() -> str:
    """Return the setting that keeps a schema from functions that a library does not take for harmless.

    3.40, for one, takes its own JSON functions for harmful: with OFF it reads no database with a column
    `AS (json_extract(...))`. Those that are harmful, `allow_reading` refuses anywhere.
    https://www.sqlite.org/pragma.html#pragma_trusted_schema
    """
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("PRAGMA trusted_schema=OFF")
        try:
            connection.execute("CREATE TABLE probe (doc, part AS (json_extract(doc, '$')))")
            connection.execute("SELECT part FROM probe")
        except sqlite3.Error:
            return "PRAGMA trusted_schema=ON"
    return "PRAGMA trusted_schema=OFF"


TRUST = _trust()
SETTINGS = ("PRAGMA temp_store=MEMORY", TRUST)
"""Of every connection."""

_READING = frozenset(
    {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
)

_FORBIDDEN_FUNCTIONS = frozenset({"load_extension", "fts3_tokenizer"})
"""Functions that load code, or take and show addresses in this process.

https://www.sqlite.org/fts3.html#custom_application_defined_tokenizers
"""

_FORBIDDEN_TABLES = frozenset({"sqlite_stmt", "sqlite_dbpage", "sqlite_memstat"})
"""Tables that the library makes up of what the process does: the texts of other statements, pages, memory."""

_FETCHED_ROWS = 8
"""Rows fetched at a time: as many as may be of the largest size and still leave room for others.

Fetching more at a time is no faster.
"""

_FAILURES = (sqlite3.Error, sqlite3.Warning, UnicodeError, ValueError, OverflowError, MemoryError)
"""What the driver raises for a statement; MemoryError where the heap limit is met."""

_TOO_LARGE = frozenset({"SQLITE_TOOBIG", "SQLITE_NOMEM", "SQLITE_IOERR_NOMEM"})

_LOST = ("SQLITE_IOERR", "SQLITE_FULL", "SQLITE_CANTOPEN", "SQLITE_CORRUPT", "SQLITE_NOTADB")
"""Result codes of a file or disk that is broken: temporary data is in memory, so no statement gets them."""

_FIRST_WORD = re.compile(r"(?:\s++|--[^\n]*+|/\*(?:[^*]++|\*(?!/))*+\*/)*+(\w*)")
_PLANNED = frozenset({"SELECT", "WITH", "VALUES"})
"""What has a plan that EXPLAIN tells."""

_USED_ONCE = {"kept_statements": 128}
"""As Python opens a file, and the official script with it."""

_USED_AGAIN = {"kept_statements": 0, "mapped_bytes": MAPPED_BYTES}
"""Without prepared statements: they would fill the memory of those to come."""

_MOST_IDLE = 16

_EXACT_SECONDS = 1e-6
_THREAD_TIME_IS_EXACT = time.get_clock_info("thread_time").resolution <= _EXACT_SECONDS


def allow_reading(
    action: int, first: str | None, second: str | None, schema: str | None, trigger: str | None
) -> int:
    """Allow what a query needs and nothing that could write, attach a file or load code.

    `mode=ro` alone is not enough: ATTACH would still create a new file. Every PRAGMA is refused, and
    the functions `pragma_...` with them, so that a connection stays as it was made.
    https://www.sqlite.org/c3ref/set_authorizer.html
    """
    del schema, trigger
    if action == sqlite3.SQLITE_UPDATE and first == "sqlite_master":
        # Asked when a virtual table, like json_each, is connected. UPDATE itself may not modify that table.
        return sqlite3.SQLITE_OK
    if (
        action not in _READING
        or (action == sqlite3.SQLITE_FUNCTION and (second or "").lower() in _FORBIDDEN_FUNCTIONS)
        or (action == sqlite3.SQLITE_READ and (first or "").lower() in _FORBIDDEN_TABLES)
    ):
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK


@cache
def bound_memory() -> None:
    """Set the limit of this process, once: it can only be lowered afterwards.

    https://www.sqlite.org/c3ref/hard_heap_limit64.html
    """
    connection = sqlite3.connect(":memory:")
    connection.execute(f"PRAGMA hard_heap_limit={HEAP_BYTES}")
    connection.close()


def address(path: Path) -> str:
    """Return the URI of a database file that opens it read-only and immutable."""
    return f"file:{quote(str(path.absolute()))}?mode=ro&immutable=1"


def connect(
    path: Path, kept_statements: int, mapped_bytes: int = 0, *, trusts_schema: bool = False
) -> sqlite3.Connection:
    """Open a database file for reading, with all the limits.

    Temporary tables and sorters stay in memory, under the heap limit: so no statement can fill a disk, and
    none leaves a file behind. There is room: 1.2 million rows of ten columns, sorted by two of them, take
    110 MB there. `trusts_schema`: views may call the functions that this process gives the connection.
    """
    bound_memory()
    if fault := unwritten(path):
        raise EngineLost(f"SQLite cannot open {path}: {fault}")
    try:
        # A session moves between threads only one at a time; `interrupt` is the documented exception.
        connection = sqlite3.connect(
            address(path), uri=True, check_same_thread=False, cached_statements=kept_statements
        )
    except sqlite3.Error as error:
        raise EngineLost(f"SQLite cannot open {path}: {error}") from error
    for setting in SETTINGS:
        connection.execute(setting)
    if trusts_schema:
        connection.execute("PRAGMA trusted_schema=ON")
    if mapped_bytes:
        connection.execute(f"PRAGMA mmap_size={mapped_bytes}")
    if sys.version_info >= (3, 12):
        connection.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE, True)
    for category, limit in LIMITS.items():
        connection.setlimit(category, limit)
    connection.set_authorizer(allow_reading)
    return connection


class _File(NamedTuple):
    """A database file as it was when it was opened, by this process: a fork must not share its handles."""

    path: Path
    process: int
    device: int
    inode: int
    size: int
    modified: int
    now: datetime | None
    """The clock of the handle; None for the machine's."""

    @classmethod
    def at(cls, path: Path, now: datetime | None) -> Self:
        try:
            found = path.stat()
        except OSError as error:
            raise EngineLost(f"SQLite cannot open {path}: {error.strerror}") from error
        return cls(path, os.getpid(), found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, now)


class SQLiteSession(AbstractContextManager["SQLiteSession"]):
    """One connection to one database file: a new one, or one of `pool`, given back to it.

    `seconds` is the time limit that the error of a stopped statement names.
    """

    columns: tuple[str, ...] = ()

    def __init__(
        self, database: Database, seconds: float, pool: Pool[sqlite3.Connection] | None = None
    ) -> None:
        self._path = database.sqlite_path
        self._seconds = seconds
        self._pool = pool
        self._now = database.now
        self._file = None if pool is None else _File.at(self._path, self._now)
        waiting = None
        if pool is not None:
            pool.drop(lambda file: file.path == self._path and file != self._file)
            waiting = pool.take(self._file)
        self._connection = waiting or connect(
            self._path, **(_USED_AGAIN if pool else _USED_ONCE), trusts_schema=self._now is not None
        )
        if self._now is not None and waiting is None:
            pin_sqlite(self._connection, self._now)
        self._ran_to_its_end = True
        self._counting: CountingConnection | None = None

    def batches(self, sql: str, values: Parameters | None = None) -> Iterator[list[Row]]:
        """See `Session.batches`."""
        self._ran_to_its_end = False
        try:
            cursor = self._connection.execute(sql, values or ())
            self.columns = tuple(each[0] for each in cursor.description or ())
            while batch := cursor.fetchmany(_FETCHED_ROWS):
                yield batch
        except _FAILURES as error:
            failure = self._translated(error)
            self._ran_to_its_end = type(failure) is SqlError
            raise failure from error
        self._ran_to_its_end = True

    def _translated(self, error: Exception) -> Exception:
        if isinstance(error, MemoryError):
            return SqlTooLarge("more memory than a statement may take", "SQLITE_NOMEM")
        code: str | None = getattr(error, "sqlite_errorname", None)
        if code is not None and code.startswith(_LOST) and code not in _TOO_LARGE:
            return EngineLost(f"SQLite cannot read {self._path}: {error}")
        if code == "SQLITE_SCHEMA":
            # So SQLite calls an error that it finds before it has read the schema: later it is an ERROR.
            code = "SQLITE_ERROR"
        if code == "SQLITE_INTERRUPT":
            # SQLite says "interrupted", and nothing but `cancel` interrupts it.
            return SqlTimeout(f"stopped after {self._seconds:g} s, the time limit", code)
        return (SqlTooLarge if code in _TOO_LARGE else SqlError)(str(error), code)

    def cancel(self) -> None:
        """See `Session.cancel`. https://www.sqlite.org/c3ref/interrupt.html."""
        self._connection.interrupt()
        if (counting := self._counting) is not None:
            counting.interrupt()

    def abandon(self) -> None:
        """See `Session.abandon`."""
        self.cancel()

    def program(self, sql: str) -> Hashable:
        """See `Session.program`: SQLite's byte code, without what only serves a reader.

        https://www.sqlite.org/opcode.html
        """
        try:
            steps = self._connection.execute(f"EXPLAIN {sql}").fetchall()
        except _FAILURES:
            return None
        return tuple((opcode, *operands) for _, opcode, *operands, _ in steps)

    def plan(self, sql: str, *, is_run: bool) -> PlanNode:
        """See `PlanningSession.plan`. SQLite counts no rows of single steps: the root alone has them."""
        found = _FIRST_WORD.match(sql)
        if found is None or found[1].upper() not in _PLANNED:
            raise SqlError(EMPTY if is_empty(sql) else f"the text {NOT_A_QUERY}", None)
        lines = [row for batch in self.batches(f"EXPLAIN QUERY PLAN {sql}") for row in batch]
        rows = sum(map(len, self.batches(sql))) if is_run else None
        return read_plan(lines, rows)

    def refuses(self, sql: str, words: str) -> bool:
        """See `Session.refuses`."""
        try:
            self._connection.execute(f"EXPLAIN {sql}").close()
        except _FAILURES as error:
            return cut(str(error)) == words
        return False

    def spent(self) -> Spent | None:
        """See `Session.spent`: SQLite runs in the thread that asks, whose processor time it is."""
        return Spent(time.perf_counter(), time.thread_time()) if _THREAD_TIME_IS_EXACT else None

    def counted(self, sql: str) -> Mapping[str, int]:
        """See `Session.counted`."""
        if self._now is not None and is_volatile(sql):
            raise CannotCount("SQLite's work is not counted where a text asks for the time and --now pins it")
        try:
            # What it may not do is refused here, as is what are several statements.
            steps = self._connection.execute(f"EXPLAIN {sql}").fetchall()
            program = [(place, name, target) for place, name, _, target, *_ in steps]
            with CountingConnection(self._path, address(self._path), SETTINGS, LIMITS) as self._counting:
                return self._counting.counted(sql, program)
        except _FAILURES as error:
            raise self._translated(error) from error
        finally:
            self._counting = None

    def __exit__(self, *_: object) -> None:
        if self._pool and self._file and self._ran_to_its_end:
            self._pool.give(self._file, self._connection)
        else:
            self._connection.close()


class SQLiteEngine:
    """The SQLite library that this Python was built with.

    `pooled`: sessions use connections again, which find the schema and pages of the file in memory. That is
    for scoring. Times are taken in new connections, as the official script takes them.
    """

    dialect: ClassVar[Dialect] = Dialect.SQLITE
    _pool: Pool[sqlite3.Connection] | None = None

    def __init__(self, *, pooled: bool = False) -> None:
        if pooled:
            # No statement can change a connection, and none is kept in it: one comes back only after
            # statements that ran to their end. Reading the schema takes most of a short query's time.
            self._pool = Pool(sqlite3.Connection.close, _MOST_IDLE)
            weakref.finalize(self, self._pool.close)

    def session(self, database: Database, seconds: float) -> SQLiteSession:
        """See `Engine.session`; SQLite has no time limit of its own, so `cancel` alone enforces it."""
        return SQLiteSession(database, seconds, self._pool)

    def check(self, database: Database) -> None:
        """See `EmbeddedEngine.check`."""
        path = database.sqlite_path
        try:
            with closing(sqlite3.connect(address(path), uri=True)) as connection:
                [[found]] = connection.execute("PRAGMA quick_check(1)")
        except sqlite3.Error as error:
            raise EngineLost(f"SQLite cannot read {path}: {error}") from error
        if found != "ok":
            raise EngineLost(f"SQLite cannot read {path}: {found}")

    def version(self) -> str:
        """See `Engine.version`."""
        return sqlite3.sqlite_version

    def settings(self) -> Mapping[str, str]:
        """See `Engine.settings`: the library's compile-time options."""
        with sqlite3.connect(":memory:") as connection:
            options = [str(row[0]) for row in connection.execute("PRAGMA compile_options")]
        connection.close()
        return {"compile_options": " ".join(options)}


def version(run: Callable[[str], list[Row]]) -> str:
    """Major and minor version of the library."""
    [[text]] = run("SELECT sqlite_version()")
    return ".".join(str(text).split(".")[:2])


def tables(
    run: Callable[[str], list[Row]],
    database: Database,  # noqa: ARG001 - one file, one database
    declared: Sequence[DeclaredTable],
) -> list[TableText]:
    """Return the declared tables, in their order."""
    found = run("SELECT name, sql FROM sqlite_master WHERE type = 'table'")
    statements = {str(name): str(sql).rstrip() for name, sql in found}
    spelled = {table.name.lower(): table for table in declared}
    return [
        TableText(
            table.name,
            statements[table.name],
            tuple(ColumnText(column.name, column.declared) for column in table.columns),
            table.primary_key,
            tuple(references_of(table, spelled)),
        )
        for table in declared
    ]


def references_of(
    table: DeclaredTable, spelled: dict[str, DeclaredTable]
) -> Iterable[tuple[tuple[str, ...], str, tuple[str, ...]]]:
    """Yield the references of a table to tables of `spelled`, which has them by their names in lower case."""
    for reference in table.references:
        parent = spelled.get(reference.parent.lower())
        if parent is not None:
            names = {column.name.lower(): column.name for column in parent.columns}
            there = tuple(names.get(name.lower(), name) for name in reference.parent_columns)
            yield reference.columns, parent.name, there or parent.primary_key


def first_rows(table: TableText, count: int) -> str:
    """Return the query for a table's first rows, by rowid."""
    columns = ", ".join(quoted(column.name) for column in table.columns)
    return f"SELECT {columns} FROM {quoted(table.name)} NOT INDEXED LIMIT {count}"  # noqa: S608 - quoted
