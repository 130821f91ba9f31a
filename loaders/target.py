"""The seam between loading and a server engine: its folder has a module `target` with a `TARGET`.

New tables are filled in a place of their own, the staging, and put in place all at once: whatever interrupts
a load, the database is the old or the new one.

Keys and indexes are added once the rows are there. The rows satisfy every key in SQLite, yet not always on a
server: two texts that MySQL's default collation calls equal, two doubles that round to one single, a value
too long for an index. What a server refuses is left out and noted: no row is lost for a key.
"""

import importlib
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, cast

from dialects.enums import Dialect
from dialects.errors import BadInput
from dialects.identifiers import quoted
from dialects.schema import ForeignKey
from dialects.server_schema import ServerTable
from dialects.targets import TARGETS
from loaders.namespace import Database, Key, Marker, namespace
from loaders.server import Server, sessions
from loaders.source import refuse_text


@dataclass(frozen=True)
class LoadSource:
    """One SQLite file, and what is to be loaded of it."""

    path: Path
    sha256: str
    tables: Sequence[ServerTable]
    """All of them; their keys and indexes are those that are wanted."""
    notes: Sequence[str]
    """What the census could not take over as declared."""


@dataclass(frozen=True)
class FilledTable:
    """One staged table with all its rows."""

    rows: int
    """As the server counts them."""
    notes: tuple[str, ...]
    """The keys and indexes that the server refused, one sentence each."""


class RowsChanged(Exception):
    """The server took the rows, but not as they were sent; the text is its first warning."""


@dataclass(frozen=True)
class KeySyntax:
    """How an engine writes what the keys stand on in a MySQL database or PostgreSQL schema, given quoted."""

    place: str
    index: ClassVar[str] = "CREATE INDEX ON {table} {columns}"
    """The statement that adds an ordinary index."""

    def table(self, table: ServerTable) -> str:
        """The table's full name."""
        return f"{self.place}.{quoted(table.name)}"

    def columns(self, table: ServerTable, columns: Sequence[str], *, whole: bool) -> str:  # noqa: ARG002 - values are whole
        """A list of columns, given by SQLite's names; `whole` where a prefix of a value will not do."""
        return f"({', '.join(map(quoted, table.spelled(columns)))})"


class Target(ABC):
    """An engine that databases are loaded into, always under the server's administrating account.

    `fill` and `link` run in processes of their own, many at once; everything else in the one that loads. Each
    has its own connections. Every method raises `EngineUnavailable` when the server cannot be reached or
    breaks.
    """

    dialect: ClassVar[Dialect]
    in_processes: ClassVar[bool]
    """Whether tables are filled in processes, because Python works on every row that is sent."""
    settled: ClassVar[str]
    """The options of a table that keep its statistics as they are."""
    syntax: ClassVar[type[KeySyntax]] = KeySyntax

    @abstractmethod
    def exclusive(self, server: Server) -> AbstractContextManager[None]:
        """Be the only one who loads into this server; waits for another one to finish.

        The server itself ends the exclusion when the process dies.
        """

    @abstractmethod
    def tidy(self, server: Server, databases: Sequence[Database]) -> None:
        """Drop every staging that a killed load left where `databases` stand or would stand."""

    @abstractmethod
    def admit_reader(self, server: Server) -> None:
        """Make sure that the reading role exists and can log in."""

    @abstractmethod
    def install_functions(self, server: Server, databases: Sequence[Database]) -> None:
        """Make sure that the functions of `loaders.functions` are there for databases of profile faithful.

        Raises:
            BadInput: something else has their namespace.
        """

    @abstractmethod
    def markers(self, server: Server, databases: Sequence[Database]) -> dict[Key, Marker]:
        """The markers where `databases` stand or would stand, and those of their neighbours there.

        A database that has lost a table since is not called whole: see `Marker.checked`.
        """

    @abstractmethod
    def present(self, server: Server, database: Database) -> set[str]:
        """The tables that stand where those of `database` do or would."""

    @abstractmethod
    def prepare(self, server: Server, database: Database, staging: str) -> None:
        """Make an empty staging, which the reading role cannot use.

        Args:
            server: where.
            database: what will be staged.
            staging: its name, which no other load and no other database has.

        Raises:
            BadInput: the place of `database` is not fit for it.
        """

    def fill(  # noqa: PLR0913, PLR0917 - what one table takes
        self,
        server: Server,
        database: Database,
        source: LoadSource,
        table: ServerTable,
        staging: str,
        connection: sqlite3.Connection,
        advance: Callable[[int], None],
    ) -> FilledTable:
        """Stage one table: its rows, then primary key, unique keys and indexes, then statistics.

        Args:
            server: where to.
            database: whose table it is.
            source: all its tables.
            table: one of them.
            staging: see `prepare`.
            connection: to the file.
            advance: told how many more rows have been sent.

        Raises:
            BadInput: the server cannot hold what the file holds, or other rows arrived than were sent.
        """
        engine, syntax = sessions(self.dialect), self.syntax(quoted(staging))
        with engine.connected(server, namespace(database, self.dialect)[0]) as session:
            columns = [
                f"{quoted(column.name)} {column.type}{'' if column.source.nullable else ' NOT NULL'}"
                for column in table.columns
            ]
            columns += self.more_columns(database, table, syntax)
            try:
                engine.ask(
                    session, f"CREATE TABLE {syntax.table(table)} ({', '.join(columns)}) {self.settled}"
                )
                count = self.send(session, syntax.table(table), table, connection, advance)
            except (engine.Error, RowsChanged, sqlite3.OperationalError) as error:
                if engine.is_broken(error):
                    raise
                refuse_text(connection, source.path, table.source, self.dialect)
                where = f"{source.path}: table {table.source.name}: {engine.TITLE}"
                raise BadInput(f"{where}: {engine.message(error)}") from error
            if count != table.source.rows:
                raise BadInput(
                    f"{source.path}: table {table.source.name}: {table.source.rows} rows, but {count} in"
                    f" {engine.TITLE}; do not change the file while it is loaded"
                )
            notes = self.add_keys(session, database, source, table, syntax)
            self.analyze(session, staging, table.name)
        return FilledTable(count, tuple(notes))

    def more_columns(self, database: Database, table: ServerTable, syntax: KeySyntax) -> list[str]:  # noqa: ARG002
        """What a table has besides the columns of the file's, as CREATE TABLE takes it."""
        return []

    @abstractmethod
    def send(
        self,
        session: Any,
        name: str,
        table: ServerTable,
        connection: sqlite3.Connection,
        advance: Callable[[int], None],
    ) -> int:
        """Send every row to the table of this full name, and return their number as the server counts it.

        Raises:
            RowsChanged: it holds others than were sent.
            sqlite3.OperationalError: a text could not be read.
        """

    def add_keys(
        self, session: Any, database: Database, source: LoadSource, table: ServerTable, syntax: KeySyntax
    ) -> list[str]:
        """Add the keys and indexes of a filled table, and return a note on each that is left out."""
        del database, source
        return add_keys(table, syntax, partial(sessions(self.dialect).attempt, session))

    @abstractmethod
    def analyze(self, session: Any, staging: str, table: str) -> None:
        """Gather the statistics of a table."""

    def link(self, server: Server, database: Database, source: LoadSource, staging: str) -> list[str]:
        """Add the foreign keys between the staged tables, and return a note on each that is left out."""
        engine, syntax = sessions(self.dialect), self.syntax(quoted(staging))
        with engine.connected(server, namespace(database, self.dialect)[0]) as session:
            attempt = partial(engine.attempt, session)
            return [
                note
                for table in source.tables
                for note in _foreign_keys(table, source.tables, syntax, attempt)
            ]

    @abstractmethod
    def put_in_place(
        self, server: Server, database: Database, staging: str, old: Sequence[str], marker: Marker
    ) -> None:
        """Put the staged tables in place of the tables `old`, and remember it as `marker`.

        Until the end the old tables are there, from then on the new ones. The reading role can read those,
        and nothing else.
        """

    @abstractmethod
    def discard(self, server: Server, database: Database, staging: str) -> None:
        """Drop what is left of a staging, if anything is; a server that does not answer is passed over."""

    @abstractmethod
    def run_dump(
        self, server: Server, database: Database, staging: str, dump: Path, advance: Callable[[int], None]
    ) -> None:
        """Run a published dump with `staging` in the place of its database or schema.

        Args:
            server: where.
            database: any of those that are in the dump.
            staging: an empty one.
            dump: what the engine's own tool writes of one database as plain text.
            advance: told how many more bytes have been sent.

        Raises:
            BadInput: it does not run, or wants to do more than fill tables of its own.
        """

    @abstractmethod
    def take_over(
        self, server: Server, database: Database, staging: str, to: str, tables: Sequence[str]
    ) -> None:
        """Move staged tables to another staging, with statistics that stay as they are."""

    @abstractmethod
    def drop_databases(self, server: Server, collections: Mapping[str, str]) -> None:
        """Drop databases (to their collections), rights on them and what is remembered of their loads."""


def target(dialect: Dialect) -> Target:
    """The engine's `TARGET`. Each brings its driver along, which is slow to import.

    Raises:
        BadInput: it has no servers.
    """
    if dialect not in TARGETS:
        raise BadInput(f"nothing is loaded into {dialect}: it reads the files as they are")
    module: Any = importlib.import_module(f"loaders.{dialect}.target")
    return cast("Target", module.TARGET)


Attempt = Callable[[str], str | None]
"""Runs a statement and returns None, or undoes it and returns why the server refused it."""

Attempts = Callable[[Sequence[str]], Sequence[str | None]]
"""Runs statements on one table, in this order, and returns of each what an `Attempt` does."""


def add_keys(
    table: ServerTable,
    syntax: KeySyntax,
    attempt: Attempt,
    *,
    primary_key: bool = True,
    attempts: Attempts | None = None,
) -> list[str]:
    """Add primary key, unique keys and indexes; an ordinary index stands in for a key that is refused.

    Args:
        table: the table, filled.
        syntax: the engine's.
        attempt: runs a statement.
        primary_key: whether the primary key is still to be added.
        attempts: runs the statements for ordinary indexes; one after the other unless told otherwise.

    Returns:
        A note on each that is left out.
    """
    source, name, notes = table.source, syntax.table(table), []
    wanted = (
        [("primary key", "PRIMARY KEY", source.primary_key)] if primary_key and source.primary_key else []
    )
    wanted += [("unique key", "UNIQUE", columns) for columns in source.unique]
    indexes = list(source.indexes)
    for kind, words, columns in wanted:
        whole = syntax.columns(table, columns, whole=True)
        if refused := attempt(f"ALTER TABLE {name} ADD {words} {whole}"):
            notes.append(f"{kind} of {_named(table, columns)} is an ordinary index: {refused}")
            indexes.append(columns)
    statements = [
        syntax.index.format(table=name, columns=syntax.columns(table, columns, whole=False))
        for columns in indexes
    ]
    refusals = attempts(statements) if attempts else [attempt(statement) for statement in statements]
    for columns, refused in zip(indexes, refusals, strict=True):
        if refused:
            notes.append(f"index of {_named(table, columns)} is left out: {refused}")
    return notes


def _foreign_keys(
    table: ServerTable, tables: Sequence[ServerTable], syntax: KeySyntax, attempt: Attempt
) -> list[str]:
    name = syntax.table(table)
    clauses = {
        f"{_named(table, reference.columns)} to {reference.parent}": _clause(table, tables, reference, syntax)
        for reference in table.source.foreign_keys
    }
    # At once they cost little more than one alone.
    if not clauses or attempt(f"ALTER TABLE {name} {', '.join(clauses.values())}") is None:
        return []
    refusals = {names: attempt(f"ALTER TABLE {name} {clause}") for names, clause in clauses.items()}
    return [f"foreign key of {names} is left out: {why}" for names, why in refusals.items() if why]


def _clause(
    table: ServerTable, tables: Sequence[ServerTable], reference: ForeignKey, syntax: KeySyntax
) -> str:
    parent = next(other for other in tables if other.source.name == reference.parent)
    own = syntax.columns(table, reference.columns, whole=True)
    there = syntax.columns(parent, reference.parent_columns, whole=True)
    return f"ADD FOREIGN KEY {own} REFERENCES {syntax.table(parent)} {there}"


def _named(table: ServerTable, columns: Sequence[str]) -> str:
    return f"{table.source.name} ({', '.join(columns)})"
