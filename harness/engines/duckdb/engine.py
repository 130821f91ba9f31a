"""DuckDB in this process, on files that are opened read-only.

One instance of the library serves one session on a file after the other. Each session has a connection of its
own, and with it its own transaction, variables and temporary tables. What belongs to the instance is locked
when it is opened: its settings, and with `enable_external_access` every file, network address, extension and
other database. What cannot be locked, such as registries and counters, is never shared: a text that names a
function of it gets an instance of its own. So does the text after an error that may have broken an instance.
https://duckdb.org/docs/stable/operations_manual/securing_duckdb/overview
"""

import os
import re
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from datetime import datetime
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar, NamedTuple, Self

import duckdb

from dialects.enums import Dialect
from dialects.identifiers import FUNCTIONS_NAMESPACE, quoted
from dialects.volatility import is_volatile
from harness.engines.base import (
    BATCH_ROWS,
    EMPTY,
    ColumnText,
    EngineLost,
    Pool,
    Row,
    Spent,
    SqlError,
    SqlTimeout,
    SqlTooLarge,
    SqlUnreadable,
    TableText,
    cut,
    is_empty,
)
from harness.engines.clock import duckdb_clock, with_moment
from harness.engines.duckdb.plans import counters, read_plan
from harness.engines.plans import NOT_A_QUERY, PlanNode
from harness.engines.sqlite.engine import references_of
from loaders.base.files import parse_json
from loaders.duckdb.functions import install
from loaders.duckdb.session import file_of
from loaders.namespace import Database
from loaders.server import Parameters, Server
from loaders.source import DeclaredTable

SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "access_mode": "READ_ONLY",
    "allow_community_extensions": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    # Up to 2.0.1, LIMIT and EXISTS of an outer join go wrong where statistics show that nothing matches,
    # and NOT EXISTS of an aggregate ends in an internal error.
    "disabled_optimizers": "statistics_propagation,join_elimination",
    "enable_external_access": "false",
    "memory_limit": "300MB",
    "python_enable_replacements": "false",
    "temp_directory": "",  # nothing is moved to a disk
    "threads": "1",
}
"""Of every instance. https://duckdb.org/docs/stable/configuration/overview"""

_LOCKING = ("SET GLOBAL TimeZone = 'UTC'", "SET GLOBAL lock_configuration = true")

_SHOWN = (
    "TimeZone", "default_null_order", "default_order", "enable_external_access", "integer_division",
    "lock_configuration", "memory_limit", "preserve_insertion_order", "threads",
)  # fmt: skip

_LONGEST = 1_000_000
"""Characters of a text that the parser is given."""

_QUERY = re.compile(
    r"(?:[\s(]++|--[^\n]*+|/\*(?:[^*]++|\*(?!/))*+\*/)*+(?:SELECT|WITH|VALUES|FROM|TABLE)\b", re.IGNORECASE
)
"""How a query begins; DESCRIBE, SHOW and SUMMARIZE are of the same type to DuckDB."""

_DETAILS = re.compile("\n\nLINE |\\sStack Trace:")
_MOST_OF_AN_ERROR = 100_000
"""Characters: copies of a longer one would take the memory that the next text needs."""

_OF_THE_INSTANCE = re.compile(
    rf"\b(?:{FUNCTIONS_NAMESPACE}_|duckdb_|truncate_duckdb|pragma_|pg_|parquet_|python_|pandas_scan|sniff_csv"
    r"|read_(?:csv|json|ndjson|parquet|text|blob|duckdb|single)|query\b|query_table|which_secret|write_log"
    r"|\w*(?:external_resource|grammar_extension|logging|profiling|checkpoint|arrow_scan|serialized_sql)"
    r"|current_(?:connection|query|transaction)_id|txid_current|(?:next|set|curr)val|get_block_size)",
    re.ASCII | re.IGNORECASE,
)
"""Names of functions that read or change what all connections of an instance share: registries, logs,
counters, memory, caches of files and the harness's own functions; and of those that run a text as SQL.

A test compares it with the catalogue: each table function and volatile one is here, or known to be harmless.
"""

_ORDINARY = (
    duckdb.ParserException,
    duckdb.SyntaxException,
    duckdb.BinderException,
    duckdb.CatalogException,
    duckdb.ConversionException,
    duckdb.TypeMismatchException,
    duckdb.InvalidTypeException,
    duckdb.InvalidInputException,
    duckdb.OutOfRangeException,
    duckdb.ConstraintException,
    duckdb.NotImplementedException,
    duckdb.PermissionException,
)
"""Errors of a statement alone. Any other, of whichever class, may have broken the instance: an internal or a
fatal one has, an I/O error may be of the file or of an argument."""

_MOST_IDLE = 16
_OPENING = Lock()
_REFUSED_ON_READING = (duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException)


class _File(NamedTuple):
    """A database file as it was when it was opened, by this process."""

    path: Path
    process: int
    inode: int
    modified: int

    @classmethod
    def at(cls, path: Path) -> Self:
        try:
            found = path.stat()
        except OSError as error:
            raise EngineLost(f"DuckDB cannot open {path}: {error.strerror}") from error
        return cls(path, os.getpid(), found.st_ino, found.st_mtime_ns)


def names_what_is_shared(sql: str) -> bool:
    """Return True if a text may read or change what belongs to the instance, and not to its connection."""
    return _OF_THE_INSTANCE.search(sql) is not None


def words_of(error: Exception) -> str:
    """Return an error's message without the line that it quotes, or the addresses of an internal error."""
    return " ".join(_DETAILS.split(str(error)[:_MOST_OF_AN_ERROR], maxsplit=1)[0].split())


def _opened(path: Path) -> duckdb.DuckDBPyConnection:
    try:
        connection = duckdb.connect(path, config=SETTINGS)
        with _OPENING:
            # Connections of one process to one file share an instance.
            if connection.execute("SELECT current_setting('lock_configuration')").fetchall() == [(False,)]:
                for statement in _LOCKING:
                    connection.execute(statement)
    except duckdb.Error as error:
        raise EngineLost(f"DuckDB cannot open {path}: {words_of(error)}") from error
    return connection


_POOL: Pool[duckdb.DuckDBPyConnection] = Pool(duckdb.DuckDBPyConnection.close, _MOST_IDLE)
"""The idle instances of this process: of all its engines, because connections to a file share an instance."""


class DuckDBSession(AbstractContextManager["DuckDBSession"]):
    """One connection to one database file: of an instance that waits if it is `pooled`, or of a new one."""

    columns: tuple[str, ...] = ()

    def __init__(
        self, path: Path, seconds: float, *, pooled: bool = False, now: datetime | None = None
    ) -> None:
        self._file = _File.at(path)
        self._seconds = seconds
        self._pooled = pooled
        waiting = None
        if pooled:
            # The blocks of several files would fill the memory that a worker has.
            _POOL.drop(lambda file: file != self._file)
            waiting = _POOL.take(self._file)
        self._instance = waiting or _opened(path)
        self._now = now
        self._connection = self._cursor()
        self._is_used_again = waiting is not None
        self._is_own = False
        """The instance is for this session alone."""
        self._is_usable = True

    def _cursor(self) -> duckdb.DuckDBPyConnection:
        """Return a new connection of the instance, with the clock of the session."""
        connection = self._instance.cursor()
        for statement in () if self._now is None else duckdb_clock(self._now):
            connection.execute(statement)
        return connection

    def _statement(self, sql: str) -> duckdb.Statement:
        """Return the one query of a text.

        Raises:
            SqlError: it is none, or there are several.
        """
        if len(sql) > _LONGEST:
            raise SqlTooLarge(f"more than {_LONGEST:,} characters", None)
        try:
            sql.encode()
        except UnicodeError as error:
            raise SqlError(f"the text cannot be written in UTF-8: {error}", None) from error
        if names_what_is_shared(sql):
            self._have_own()
            if f"{FUNCTIONS_NAMESPACE}_" in sql.lower():
                with _OPENING:
                    install(self._connection)
        found = self._connection.extract_statements(self._pinned(sql))
        if not found:
            raise SqlError(EMPTY if is_empty(sql) else "the text holds no statement", None)
        if len(found) > 1:
            raise SqlError("the text holds several statements: one is run", None)
        try:
            kind = found[0].type.name
        except ValueError:  # the package knows fewer types than the library
            kind = "unknown"
        if kind != duckdb.StatementType.SELECT.name:
            raise SqlError(f"the statement is of type {kind}: only queries are run", None)
        return found[0]

    def _pinned(self, sql: str) -> str:
        return sql if self._now is None else with_moment(sql, self._now)

    def _have_own(self) -> None:
        """Use an instance that no other session has used or will use."""
        self._is_own = True
        if self._is_used_again:
            self._close()
            self._instance = _opened(self._file.path)
            self._connection = self._cursor()
            self._is_used_again = False

    def _close(self) -> None:
        """Close the instance: connections to a file share one as long as any is open."""
        self._connection.close()
        self._instance.close()
        _POOL.drop(lambda file: file == self._file)

    def batches(self, sql: str, values: Parameters | None = None) -> Iterator[list[Row]]:
        """See `Session.batches`."""
        self._is_usable = False
        try:
            statement = self._statement(sql)  # which may have chosen another connection
            result = self._connection.execute(statement, values)
            self.columns = tuple(each[0] for each in result.description or ())
            while batch := self._fetched(result):
                yield batch
        except SqlError as refused:
            self._is_usable = type(refused) is SqlError
            raise
        except duckdb.Error as error:
            failure = self._translated(error)
            self._is_usable = type(failure) is SqlError
            raise failure from error
        self._is_usable = True

    @staticmethod
    def _fetched(result: duckdb.DuckDBPyConnection) -> list[Row]:
        try:
            return result.fetchmany(BATCH_ROWS)
        except (duckdb.Error, MemoryError):
            raise
        except Exception as error:  # nothing is computed here, so whatever is raised is about a value
            raise SqlUnreadable(error) from error

    def _translated(self, error: Exception) -> Exception:
        words, code = words_of(error), type(error).__name__.removesuffix("Exception")
        if isinstance(error, duckdb.InterruptException):
            return SqlTimeout(f"stopped after {self._seconds:g} s, the time limit", code)
        if isinstance(error, duckdb.OutOfMemoryException) or "Out of Memory Error" in words:
            return SqlTooLarge(words, code)
        if isinstance(error, _ORDINARY):
            return SqlError(words, code)
        return EngineLost(words)

    def cancel(self) -> None:
        """See `Session.cancel`."""
        with suppress(duckdb.Error):
            self._connection.interrupt()

    def abandon(self) -> None:
        """See `Session.abandon`."""
        self.cancel()

    def program(self, sql: str) -> None:
        """See `Session.program`: DuckDB's plans leave steps out."""

    def plan(self, sql: str, *, is_run: bool) -> PlanNode:
        """See `PlanningSession.plan`."""
        return read_plan(self._explained(sql, is_run=is_run))

    def _explained(self, sql: str, *, is_run: bool) -> Any:
        if is_empty(sql):
            raise SqlError(EMPTY, None)
        try:
            self._statement(sql)
            if not _QUERY.match(sql):
                raise SqlError(f"the text {NOT_A_QUERY}", None)
            options = "ANALYZE, FORMAT JSON" if is_run else "FORMAT JSON"
            [(_, told)] = self._connection.execute(f"EXPLAIN ({options}) {self._pinned(sql)}").fetchall()
            return parse_json(told)
        except duckdb.Error as error:
            failure = self._translated(error)
            self._is_usable = type(failure) is SqlError
            raise failure from error
        except ValueError as error:
            raise RecursionError(str(error)) from error

    def refuses(self, sql: str, words: str) -> bool:
        """See `Session.refuses`."""
        try:
            self._statement(sql)
            self._connection.execute(f"EXPLAIN {self._pinned(sql)}")
        except _REFUSED_ON_READING as error:
            return cut(words_of(error)) == words
        except SqlError as error:
            return error.message == words
        except duckdb.Error as error:
            self._is_usable = type(self._translated(error)) is SqlError
        return False

    def spent(self) -> Spent | None:
        """See `Session.spent`: DuckDB runs in the thread that asks, whose processor time it is."""
        return Spent(time.perf_counter(), time.thread_time())

    def counted(self, sql: str) -> Mapping[str, int]:
        """See `Session.counted`."""
        found = self._explained(sql, is_run=True)
        sizes = self._connection.execute("SELECT table_name, estimated_size FROM duckdb_tables()").fetchall()
        return counters(found, dict(sizes))

    def __exit__(self, *_: object) -> None:
        if self._pooled and self._is_usable and not self._is_own:
            self._connection.close()
            _POOL.give(self._file, self._instance)
        else:
            self._close()


class DuckDBEngine:
    """The DuckDB library of this Python, on the files of a folder.

    `pooled`: sessions use instances again, which have the file's blocks in memory. Times are taken in new
    ones.
    """

    dialect: ClassVar[Dialect] = Dialect.DUCKDB

    def __init__(self, server: Server, *, pooled: bool = False) -> None:
        self._server = server
        self._pooled = pooled
        if pooled:
            weakref.finalize(self, _POOL.close)

    def session(self, database: Database, seconds: float) -> DuckDBSession:
        """See `Engine.session`; DuckDB has no time limit of its own, so `cancel` alone enforces it."""
        path = file_of(self._server, database)
        return DuckDBSession(path, seconds, pooled=self._pooled, now=database.now)

    def check(self, database: Database) -> None:
        """See `EmbeddedEngine.check`."""
        path = file_of(self._server, database)
        connection = _opened(path)
        try:
            for (table,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall():
                connection.execute(f"SELECT max(hash(t)) FROM {quoted(table)} AS t").fetchall()  # noqa: S608
        except duckdb.Error as error:
            raise EngineLost(f"DuckDB cannot read {path}: {words_of(error)}") from error
        finally:
            connection.close()

    def version(self) -> str:
        """See `Engine.version`."""
        return duckdb.__version__

    def unstable_functions(self) -> frozenset[str]:
        """See `Catalogued.unstable_functions`: of the library, the same for all files."""
        return _unstable_functions()

    def settings(self) -> Mapping[str, str]:
        """See `Engine.settings`."""
        config = {name: value for name, value in SETTINGS.items() if name != "access_mode"}
        with duckdb.connect(":memory:", config=config) as connection:
            for statement in _LOCKING:
                connection.execute(statement)
            found = connection.execute("SELECT name, value FROM duckdb_settings()").fetchall()
        values = dict(found)
        return {name: str(values.get(name, "")) for name in _SHOWN}


_STABILITIES = """
    SELECT lower(function_name), function_type, bool_or(stability = 'CONSISTENT'), any_value(macro_definition)
    FROM duckdb_functions() GROUP BY ALL
"""
"""An overload may depend on the time zone, which is the same for all texts."""
_STEADY_TABLES = frozenset({
    "generate_series", "json_each", "json_tree", "range", "repeat", "repeat_row", "unnest",
})  # fmt: skip
"""Table functions that depend on their arguments. The catalogue tells no stability of table functions."""


@cache
def _unstable_functions() -> frozenset[str]:
    with duckdb.connect(":memory:") as connection:
        found = connection.execute(_STABILITIES).fetchall()
    macros = [(name, str(text)) for name, kind, _, text in found if kind in ("macro", "table_macro")]
    unstable = {
        name
        for name, kind, is_stable, _ in found
        if not is_stable and kind not in ("macro", "table_macro") and name not in _STEADY_TABLES
    }
    while more := {name for name, text in macros if is_volatile(text, frozenset(unstable))} - unstable:
        unstable |= more
    return frozenset(unstable)


# Tables: CREATE TABLE as DuckDB would write it, with a line for each part, and the foreign keys that the file
# declares, which are not loaded.


def version(run: Callable[[str], list[Row]]) -> str:
    """Major and minor version of the library."""
    [[text]] = run("SELECT version()")
    return ".".join(str(text).removeprefix("v").split(".")[:2])


_PLAIN = re.compile("[A-Za-z_][A-Za-z0-9_]*")
_RESERVED = "SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category = 'reserved'"
_COLUMNS = (
    "SELECT table_name, column_name, data_type, is_nullable FROM duckdb_columns()"
    " WHERE NOT internal ORDER BY column_index"
)
_KEYS = (
    "SELECT table_name, constraint_type, constraint_column_names FROM duckdb_constraints()"
    " WHERE constraint_type IN ('PRIMARY KEY', 'UNIQUE') ORDER BY constraint_index"
)


def tables(
    run: Callable[[str], list[Row]],
    database: Database,  # noqa: ARG001 - one file, one database
    declared: Sequence[DeclaredTable],
) -> list[TableText]:
    """Return those of the declared tables that are there, in their order."""
    reserved = {str(word) for (word,) in run(_RESERVED)}
    columns, keys = run(_COLUMNS), run(_KEYS)

    def shown(*names: str) -> str:
        return ", ".join(
            name if _PLAIN.fullmatch(name) and name.lower() not in reserved else quoted(name)
            for name in names
        )

    found = []
    spelled = {table.name.lower(): table for table in declared}
    for table in declared:
        own = [(str(name), str(kind), able) for of, name, kind, able in columns if of == table.name]
        constraints = [(str(kind), _names(of)) for name, kind, of in keys if name == table.name]
        references = tuple(references_of(table, spelled))
        lines = [f"{shown(name)} {kind}{'' if able else ' NOT NULL'}" for name, kind, able in own]
        lines += [f"{kind} ({shown(*names)})" for kind, names in constraints]
        lines += [
            f"FOREIGN KEY ({shown(*names)}) REFERENCES {shown(parent)} ({shown(*there)})"
            for names, parent, there in references
        ]
        if own:
            create = f"CREATE TABLE {shown(table.name)} (\n    " + ",\n    ".join(lines) + "\n)"
            texts = tuple(ColumnText(name, kind) for name, kind, _ in own)
            primary = next((names for kind, names in constraints if kind == "PRIMARY KEY"), ())
            found.append(TableText(table.name, create, texts, primary, references))
    return found


def _names(array: object) -> tuple[str, ...]:
    return tuple(map(str, array)) if isinstance(array, list) else ()


def first_rows(table: TableText, count: int) -> str:
    """Return the query for a table's first rows, by place."""
    columns = ", ".join(quoted(column.name) for column in table.columns)
    return f"SELECT {columns} FROM {quoted(table.name)} ORDER BY rowid LIMIT {count}"  # noqa: S608 - quoted
