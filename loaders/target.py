"""The interface between loading and a server engine, whose folder has a module `target` with a `TARGET`.

New tables are filled in a separate namespace, the staging, and put in place all at once: whatever interrupts
a load, the database is either the old or the new one.

Keys and indexes are added after the rows. The rows satisfy every key in SQLite, but not always on a server:
two texts may be equal in MySQL's default collation, two doubles may round to the same single, a value may be
too long for an index. A key that a server refuses is left out and noted: no row is lost for a key.
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
    """One SQLite file, and the tables to load from it."""

    path: Path
    sha256: str
    tables: Sequence[ServerTable]
    """All its tables, with only the keys and indexes to create."""
    notes: Sequence[str]
    """Declarations that the census could not keep."""


@dataclass(frozen=True)
class FilledTable:
    """One staged table with all its rows."""

    rows: int
    """Number of rows, as the server counts them."""
    notes: tuple[str, ...]
    """The keys and indexes that the server refused, one sentence each."""


class RowsChanged(Exception):
    """The server changed rows that were sent; the message is its first warning."""


@dataclass(frozen=True)
class KeySyntax:
    """An engine's syntax for tables and key columns; `place` is the quoted database or schema."""

    place: str
    index: ClassVar[str] = "CREATE INDEX ON {table} {columns}"
    """The statement that adds an ordinary index."""

    def table(self, table: ServerTable) -> str:
        """Return the table's full name."""
        return f"{self.place}.{quoted(table.name)}"

    def columns(self, table: ServerTable, columns: Sequence[str], *, whole: bool) -> str:  # noqa: ARG002 - values are whole
        """Return a list of columns, given by SQLite's names; `whole` if prefixes of values do not suffice."""
        return f"({', '.join(map(quoted, table.spelled(columns)))})"


@dataclass(frozen=True)
class DdlSyntax:
    """How one engine writes what its neighbours write otherwise in the schema of an application."""

    identity: str
    """Follows the type of an identity column; `{start}` is its next value, `{sequence}` a sequence's name."""
    options: str = ""
    """Follows CREATE TABLE."""
    indexed: str = ""
    """Follows a column of unlimited text or of blobs in an index: its prefix; empty if it takes all."""
    has_sequences: bool = False
    """An identity column needs a sequence of its own."""
    has_partial_indexes: bool = False
    has_actions: bool = True
    """Foreign keys have ON DELETE and ON UPDATE, and are added to tables that are there."""


class Target(ABC):
    """An engine that databases are loaded into, always under the server's administrating account.

    `fill` and `link` run in worker processes, several at once; all other methods in the loading process. Each
    has its own connections. Every method raises `EngineUnavailable` if the server cannot be reached or
    breaks.
    """

    dialect: ClassVar[Dialect]
    in_processes: ClassVar[bool]
    """True if tables are filled in processes, because Python handles every row."""
    locks_files: ClassVar[bool] = False
    """True if one process alone can fill a staging."""
    settled: ClassVar[str]
    """Options of CREATE TABLE that keep a table's statistics unchanged."""
    syntax: ClassVar[type[KeySyntax]] = KeySyntax
    ddl: ClassVar[DdlSyntax]
    to_count: ClassVar[str] = ""
    """The statement that prepares a session for counting rows quickly."""

    @abstractmethod
    def exclusive(self, server: Server) -> AbstractContextManager[None]:
        """Hold the server's lock for loading; waits for another load to finish.

        The server releases it if the process dies.
        """

    @abstractmethod
    def tidy(self, server: Server, databases: Sequence[Database]) -> None:
        """Drop every staging that a killed load left in the namespaces of `databases`."""

    @abstractmethod
    def admit_reader(self, server: Server) -> None:
        """Make sure that the reading role exists and can log in."""

    @abstractmethod
    def install_functions(self, server: Server, databases: Sequence[Database]) -> None:
        """Install the functions of `loaders.functions` for databases of profile `faithful`, if needed.

        Raises:
            BadInput: something else uses their namespace.
        """

    @abstractmethod
    def markers(self, server: Server, databases: Sequence[Database]) -> dict[Key, Marker]:
        """Return the markers in the namespaces of `databases`, including those of other databases there.

        A database that has lost a table since its load counts as incomplete: see `Marker.checked`.
        """

    @abstractmethod
    def present(self, server: Server, database: Database) -> set[str]:
        """Return the tables in the namespace of `database`."""

    def counts(self, server: Server, tables: Sequence[tuple[Database, str]]) -> list[int]:
        """Return the number of rows that each of some tables has now; one query per server's database."""
        session, found = sessions(server.dialect), dict[int, int]()
        places: dict[str, list[str]] = {}
        for number, (database, name) in enumerate(tables):
            place = namespace(database, server.dialect)
            counted = f"SELECT {number}, count(*) FROM {quoted(place[-1])}.{quoted(name)}"  # noqa: S608 - quoted
            places.setdefault(place[0], []).append(counted)
        for place_name, counts in places.items():
            with session.connected(server, place_name) as connection:
                if self.to_count:
                    session.ask(connection, self.to_count)
                found.update(session.ask(connection, " UNION ALL ".join(counts)))
        return [found[number] for number in range(len(tables))]

    @abstractmethod
    def prepare(self, server: Server, database: Database, staging: str) -> None:
        """Create an empty staging that the reading role cannot use.

        Args:
            server: the server.
            database: the database to stage.
            staging: its name, which no other load and no other database uses.

        Raises:
            BadInput: the namespace of `database` cannot be used.
        """

    def staged(self, database: Database, staging: str) -> str:  # noqa: ARG002
        """Return the database to connect to for a staging."""
        return namespace(database, self.dialect)[0]

    def fill(  # noqa: PLR0913, PLR0917 - the parts of one table's load
        self,
        server: Server,
        database: Database,
        source: LoadSource,
        table: ServerTable,
        staging: str,
        connection: sqlite3.Connection,
        advance: Callable[[int], None],
    ) -> FilledTable:
        """Fill one staged table: its rows, then primary key, unique keys and indexes, then statistics.

        Args:
            server: the server.
            database: the table's database.
            source: its file and all its tables.
            table: the table to fill.
            staging: see `prepare`.
            connection: to the file.
            advance: called with the number of additional rows sent.

        Raises:
            BadInput: the server cannot store a value of the file, or received other rows than were sent.
        """
        engine, syntax = sessions(self.dialect), self.syntax(quoted(staging))
        with engine.connected(server, self.staged(database, staging)) as session:
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
        """Return additional columns and constraints of a table, in the syntax of CREATE TABLE."""
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
        """Send every row to the table with this full name, and return the server's count of them.

        Raises:
            RowsChanged: it has other rows than were sent.
            sqlite3.OperationalError: a text could not be read.
        """

    def add_keys(
        self, session: Any, database: Database, source: LoadSource, table: ServerTable, syntax: KeySyntax
    ) -> list[str]:
        """Add the keys and indexes of a filled table; return a note on each that is left out."""
        del database, source
        return add_keys(table, syntax, partial(sessions(self.dialect).attempt, session))

    @abstractmethod
    def analyze(self, session: Any, staging: str, table: str) -> None:
        """Compute the statistics of a table."""

    def link(self, server: Server, database: Database, source: LoadSource, staging: str) -> list[str]:
        """Add the foreign keys between the staged tables; return a note on each that is left out."""
        engine, syntax = sessions(self.dialect), self.syntax(quoted(staging))
        with engine.connected(server, self.staged(database, staging)) as session:
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
        """Replace the tables `old` by the staged ones, and store `marker`.

        The old tables stay visible until the end, then the new ones are. The reading role can read only
        those.
        """

    @abstractmethod
    def discard(self, server: Server, database: Database, staging: str) -> None:
        """Drop the rest of a staging, if there is any; ignores a server that does not answer."""

    @abstractmethod
    def run_dump(
        self, server: Server, database: Database, staging: str, dump: Path, advance: Callable[[int], None]
    ) -> None:
        """Run a published dump in `staging` instead of its own database or schema.

        Args:
            server: the server.
            database: any database of the dump.
            staging: an empty staging.
            dump: output of the engine's own tool for one database, as plain text.
            advance: called with the number of additional bytes sent.

        Raises:
            BadInput: it fails, or does more than fill its own tables.
        """

    @abstractmethod
    def take_over(
        self, server: Server, database: Database, staging: str, to: str, tables: Sequence[str]
    ) -> None:
        """Move staged tables to another staging, with statistics that stay unchanged."""

    @abstractmethod
    def drop_databases(self, server: Server, collections: Mapping[str, str]) -> None:
        """Drop databases (mapped to their collections), with their grants and markers."""


def target(dialect: Dialect) -> Target:
    """Return the engine's `TARGET`; imports its driver, which is slow.

    Raises:
        BadInput: the engine has no servers.
    """
    if dialect not in TARGETS:
        raise BadInput(f"nothing is loaded into {dialect}: it reads the files as they are")
    module: Any = importlib.import_module(f"loaders.{dialect}.target")
    return cast("Target", module.TARGET)


Attempt = Callable[[str], str | None]
"""Runs a statement and returns None, or reverts it and returns why the server refused it."""

Attempts = Callable[[Sequence[str]], Sequence[str | None]]
"""Runs statements on one table, in this order, and returns the result of `Attempt` for each."""


def add_keys(
    table: ServerTable,
    syntax: KeySyntax,
    attempt: Attempt,
    *,
    primary_key: bool = True,
    attempts: Attempts | None = None,
) -> list[str]:
    """Add primary key, unique keys and indexes; a refused key is replaced by an ordinary index.

    Args:
        table: the filled table.
        syntax: the engine's syntax.
        attempt: runs a statement.
        primary_key: whether to add the primary key.
        attempts: runs the statements for ordinary indexes; by default `attempt`, one after the other.

    Returns:
        A note on each key or index that is left out.
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
    # All at once cost little more than one.
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
