"""The tables of a database for the compiler: SQLite's names and types with the target's names."""

import math
import re
import sqlite3
import unicodedata
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from sqlglot import exp

from dialects.coercions import EXACT
from dialects.enums import Dialect, Profile
from dialects.errors import Untranslatable
from dialects.identifiers import ascii_lower, collations_in, quoted, register_collations
from dialects.nodes import column_of, signed
from dialects.schema import Column, PortableType, Schema, Table, affinity
from dialects.scope import LONGEST, ScopeColumn
from dialects.server_schema import ServerTable, server_tables
from dialects.source import view_query
from dialects.trees import find_all
from dialects.value_types import Affinity, Collation, Form, Kind, NumberFacts, OneOf, Stored, TextFacts, Typed

# The order in which SQLite finds the rows of each SELECT, for results that SQL leaves open.
#
# Where rows tie at a LIMIT, or a bare column may come from any row of a group, every choice is valid, and
# SQLite returns the row that its plan finds first. SQLite itself makes the plan, over empty tables with the
# keys and indexes of the census: without statistics the plan depends on nothing else.
# https://sqlite.org/eqp.html

_LOOP = re.compile(
    r"(?:SCAN|SEARCH) (?P<name>.(?:(?! USING (?:COVERING|AUTOMATIC|INDEX|INTEGER) | \(| LEFT-JOIN\Z).)*+)"
    r"(?: USING (?:COVERING |AUTOMATIC (?:PARTIAL )?(?:COVERING )?)?"
    r"(?:INDEX (?P<index>.(?:(?! \(| LEFT-JOIN\Z).)*+)|INTEGER PRIMARY KEY))?(?: \(.*\))?(?: LEFT-JOIN)?$"
)


@dataclass(frozen=True)
class Loop:
    """One loop of a plan: the name of its source (lower case), and the columns of the index it uses."""

    name: str
    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class Loops:
    """The loops of a SELECT, the outermost first."""

    loops: tuple[Loop, ...]
    sorted: bool
    """True if ORDER BY needs a sort, False if the loops find rows in that order."""


@dataclass(frozen=True)
class LoopPlan:
    """SQLite's query plan for a statement."""

    steps: Sequence[tuple[int, int, int, str]]
    read: Callable[[Sequence[str]], Loops]
    """Returns the loops of a SELECT for its steps."""

    def _of(self, select: int) -> Loops:
        return self.read([detail for _, parent, _, detail in self.steps if parent == select])

    @cached_property
    def top(self) -> Loops:
        """The loops of the outermost SELECT."""
        return self._of(0)

    @cached_property
    def within(self) -> tuple[Loops, ...]:
        """The loops of inner SELECTs, except those merged into another."""
        return tuple(self._of(parent) for parent in dict.fromkeys(step[1] for step in self.steps) if parent)

    def inner(self, names: Collection[str]) -> Loops | None:
        """Return the loops of the SELECT with sources of these names; None unless there is exactly one."""
        wanted = sorted(ascii_lower(name) for name in names)
        found = {
            visits
            for visits in (self.top, *self.within)
            if sorted(visit.name for visit in visits.loops) == wanted
        }
        return found.pop() if len(found) == 1 else None


class Planner:
    """A SQLite database with the tables of one schema, empty."""

    def __init__(self, schema: Schema) -> None:
        self._connection = sqlite3.connect(":memory:", check_same_thread=False)
        self._indexes: dict[str, tuple[str, ...]] = {}
        columns = (column for table in schema.tables for column in table.columns)
        register_collations(self._connection, {column.collation for column in columns})
        for table in schema.tables:
            self._create(table)
        for view in schema.views:
            # SQLite resolves a view's tables when the view is read.
            self._connection.execute(view.sql)

    def _create(self, table: Table) -> None:
        columns = [
            f"{quoted(column.name)} {_declared(column.declared)}"
            f"{' PRIMARY KEY' if table.primary_key == (column.name,) else ''}"
            f" COLLATE {quoted(column.collation)}"
            for column in table.columns
        ]
        keys = list(table.unique)
        if len(table.primary_key) > 1:
            columns.append(f"PRIMARY KEY ({', '.join(map(quoted, table.primary_key))})")
        columns += [f"UNIQUE ({', '.join(map(quoted, key))})" for key in keys]
        self._connection.execute(f"CREATE TABLE {quoted(table.name)} ({', '.join(columns)})")
        for at, index in enumerate(table.indexes):
            name = quoted(f"{table.name}_{at}")
            self._connection.execute(
                f"CREATE INDEX {name} ON {quoted(table.name)} ({', '.join(map(quoted, index))})"
            )

    def columns(self, view: str) -> tuple[str, ...]:
        """Return the names of a view's columns.

        Raises:
            Untranslatable: SQLite rejects the view.
        """
        try:
            rows = self._connection.execute("SELECT name FROM pragma_table_info(?)", (view,)).fetchall()
        except sqlite3.Error as error:
            raise Untranslatable(f"the view {view}", f"SQLite refuses it: {error}") from error
        return tuple(name for (name,) in rows)

    def plan(self, sql: str) -> LoopPlan:
        """Return the loops of every SELECT of a statement.

        Raises:
            Untranslatable: SQLite rejects the text.
        """
        try:
            steps = self._connection.execute(f"EXPLAIN QUERY PLAN {sql}", _Unbound()).fetchall()
        except (sqlite3.Error, sqlite3.Warning) as error:
            raise Untranslatable("the statement", f"SQLite refuses it: {error}") from error
        return LoopPlan(steps, self._visits)

    def _visits(self, steps: Sequence[str]) -> Loops:
        loops = [found for detail in steps if (found := _LOOP.fullmatch(detail))]
        return Loops(
            tuple(Loop(_source(found["name"]), self._columns(found["index"])) for found in loops),
            sorted=any(detail.startswith("USE TEMP B-TREE FOR") and "ORDER BY" in detail for detail in steps),
        )

    def _columns(self, index: str | None) -> tuple[str, ...]:
        if index is None:
            return ()
        if index not in self._indexes:
            rows = self._connection.execute("SELECT name FROM pragma_index_info(?) ORDER BY seqno", (index,))
            self._indexes[index] = tuple(name for (name,) in rows if name is not None)
        return self._indexes[index]


class Catalogue:
    """What a database file says of itself: `sqlite_schema`, and the functions that read names from it.

    SQLite answers them, on an empty database with the same definitions.
    """

    TABLES = frozenset({"sqlite_master", "sqlite_schema"})
    COLUMNS = ("type", "name", "tbl_name", "rootpage", "sql")

    def __init__(self, schema: Schema) -> None:
        self.rows = schema.catalogue
        self.names = tuple(dict.fromkeys(name for kind, name, *_ in self.rows if kind != "trigger"))

    @cached_property
    def _connection(self) -> sqlite3.Connection:
        connection = sqlite3.connect(":memory:", check_same_thread=False)
        register_collations(connection, collations_in(sql for *_, sql in self.rows))
        for _, name, _, _, sql in self.rows:
            # SQLite makes its own tables, and a module of virtual tables may be missing here.
            if sql is not None and not name.startswith("sqlite_"):
                with suppress(sqlite3.Error):
                    connection.execute(sql)
        return connection

    def columns(self, function: str) -> tuple[str, ...]:
        """Return the names of a function's visible columns."""
        described = self._connection.execute(f"SELECT * FROM {function}").description  # noqa: S608 - of the set
        return tuple(name for name, *_ in described)

    def described(self, function: str, arguments: Sequence[object]) -> list[tuple[object, ...]]:
        """Return the rows of a function."""
        marks = ", ".join("?" * len(arguments))
        return self._connection.execute(f"SELECT * FROM {function}({marks})", arguments).fetchall()  # noqa: S608


class _Unbound(dict[str, None]):
    """NULL for each parameter: a plan is made without values."""

    def __missing__(self, name: str) -> None:
        return None


def _declared(declared: str) -> str:
    """Return the declared type if it is valid in any CREATE TABLE, else an empty text."""
    return declared if re.fullmatch(r"[A-Za-z_ ]*(\(\d+(, ?\d+)?\))?", declared) else ""


def _source(name: str) -> str:
    return name.rsplit(" AS ", maxsplit=1)[-1].strip("\"'`").lower()


_LONG = 2**14
"""Bytes of a text: about 15 such fit the default sort buffer of MySQL."""

_KINDS = {
    PortableType.INTEGER: Kind.INTEGER,
    PortableType.REAL: Kind.REAL,
    PortableType.BLOB: Kind.BLOB,
}


class Tables:
    """The tables of one database on one target, the same for every statement."""

    def __init__(self, schema: Schema, target: Dialect) -> None:
        tables = server_tables(schema, target, Profile.FAITHFUL, Path("schema"))
        self.target = target
        self._schema = schema
        self.in_utf8 = schema.encoding == "UTF-8"
        self._tables = {ascii_lower(table.source.name): table for table in tables}
        self._columns: dict[str, list[ScopeColumn]] = {}
        self._folded: dict[str, frozenset[str]] = {}
        self.virtual = {ascii_lower(name) for name in schema.virtual}
        """Names of virtual tables, in lower case."""
        self.catalogue = Catalogue(schema)
        self._views = {ascii_lower(view.name): view for view in schema.views}
        self._queries: dict[str, exp.Query | exp.Values] = {}

    @cached_property
    def planner(self) -> Planner:
        """A planner for the same tables."""
        return Planner(self._schema)

    @cached_property
    def names(self) -> set[str]:
        """The folded names of tables, columns and views, and those used in the views."""
        views = (each.name for name in self._views for each in self._written(name))
        tables = (name for table in self._tables.values() for name in _all_names(table))
        return {folded(name) for name in (*tables, *self._views, *views)}

    def _written(self, view: str) -> Iterator[exp.Expr]:
        with suppress(Untranslatable):  # a statement that reads the view raises it
            query = self.view(view)
            if query is not None:
                yield from find_all(query[0], exp.Identifier, exp.Literal)

    def find(self, name: str) -> ServerTable | None:
        """Find a table, ignoring case."""
        return self._tables.get(ascii_lower(name))

    def folded_columns(self, name: str) -> frozenset[str]:
        """Return the folded names of a table's columns; none if there is no such table."""
        table = self.find(name)
        if table is not None and name not in self._folded:
            self._folded[name] = frozenset(folded(column.source.name) for column in table.columns)
        return self._folded.get(name, frozenset())

    def has_long_numbers(self, name: str) -> bool:
        """True if a text of a table, or of any table if a view is named, has a number of 16 digits."""
        return any(
            column.long_numbers or (_form(column) is Form.DIGITS and _is_long(column))
            for column in self._named(name)
        )

    def has_first_year(self, name: str) -> bool:
        """True if a text of a table, or of any table if a view is named, begins with -4713-."""
        return any(column.first_year for column in self._named(name))

    def has_long_integers(self, name: str) -> bool:
        """True if a number of a table, or of any table if a view is named, may be an INTEGER beyond 2^53."""
        return any(column.type is not PortableType.REAL and _is_long(column) for column in self._named(name))

    def long_texts(self, name: str) -> set[str]:
        """Return the columns, folded, of a table, or of all for a view, with a text beyond 16,384 bytes."""
        return {folded(column.name) for column in self._named(name) if column.longest > _LONG}

    def _named(self, name: str) -> Iterator[Column]:
        """The columns of a table, or those of all tables if a view is named."""
        named = self.find(name)
        tables = [named] if named is not None else self._tables.values() if self._is_view(name) else []
        return (column.source for table in tables for column in table.columns)

    def _is_view(self, name: str) -> bool:
        return ascii_lower(name) in self._views

    def view(self, name: str) -> tuple[exp.Query | exp.Values, tuple[str, ...]] | None:
        """Find a view, ignoring case, and return its query and its column names; None if there is none.

        Raises:
            Untranslatable: the view cannot be parsed.
        """
        found = self._views.get(ascii_lower(name))
        if found is None:
            return None
        if found.name not in self._queries:
            self._queries[found.name] = view_query(found.sql)
        return self._queries[found.name].copy(), self.planner.columns(found.name)

    def columns(self, table: ServerTable) -> list[ScopeColumn]:
        """Return the table's columns; their values are not yet qualified."""
        found = self._columns.get(table.name)
        if found is None:
            found = [
                ScopeColumn(
                    column.source.name,
                    stored(column.source, column.name, escapes=self._schema.escapes),
                    column.source.name,
                )
                for column in table.columns
            ]
            self._columns[table.name] = found
        return found


def _is_long(column: Column) -> bool:
    """True if an integer of a column, or one that a text of it is, may be beyond 2^53."""
    return any(abs(end or 0) > EXACT for end in (column.least, column.greatest))


def folded(name: str) -> str:
    """Fold a name as the most tolerant engine does: MySQL ignores case and accents.

    https://dev.mysql.com/doc/refman/9.7/en/charset-collation-effect.html
    """
    if name.isascii():
        return ascii_lower(name)
    parts = unicodedata.normalize("NFKD", name)
    return "".join(part for part in parts if not unicodedata.combining(part)).upper().casefold()


LAST_IN_NAMES = "\uffff"
"""The last character that all targets allow in names: MariaDB takes no emoji."""


def is_portable(name: str) -> bool:
    """True if all targets take a name, and none cuts it off: MySQL drops blanks around some names."""
    return len(name.encode()) <= LONGEST and max(name, default="") <= LAST_IN_NAMES and name == name.strip()


def _all_names(table: ServerTable) -> Iterator[str]:
    """Yield the names of a table and its columns, in the database and on the server."""
    yield from (table.name, table.source.name)
    for column in table.columns:
        yield from (column.name, column.source.name)


def stored(column: Column, name: str, *, escapes: bool = False) -> Typed:
    """Return a stored column with the census's facts about its values; `escapes` is the schema's."""
    node = column_of(name)
    declared = affinity(column.declared)
    numeric = declared in {"INTEGER", "REAL", "NUMERIC"}
    found = Affinity.NUMERIC if numeric else Affinity.TEXT if declared == "TEXT" else Affinity.BLOB
    kind = _KINDS.get(column.type, Kind.TEXT)
    if kind.is_numeric and kind is not Kind.INTEGER and not numeric:
        signed(node)  # A column with numeric affinity stores -0.0 as 0.
    as_number = NumberFacts(column.least, column.greatest)
    as_text = TextFacts(_form(column), Collation(column.collation))
    typed = Typed(node, kind, affinity=found, nullable=column.nulls, number=as_number, text=as_text)
    infinite = math.inf in {-(column.least or 0), column.greatest}
    opaque = kind is Kind.TEXT and (
        column.opaque or (column.mixed and infinite) or (column.escaped and not column.mixed)
    )
    if column.unfit:
        reason = f"it holds {column.unfit}; load the database with --escape, and translate with it"
        refused = f"the column {column.name}", reason
        return Typed(node, Kind.ANY, affinity=found, nullable=column.nulls, several=OneOf(refused=refused))
    if not column.mixed:
        return typed.of(stored=Stored(opaque=opaque))
    facts = Stored(
        mixed=True, apart=column.apart or escapes, reals=declared == "REAL", blobs=column.blobs,
        readable=column.readable, escaped=column.escaped, opaque=opaque,
    )  # fmt: skip
    return typed.of(stored=facts)


def _form(column: Column) -> Form | None:
    if column.days:
        return Form.DAY
    return Form.MOMENT if column.moments else Form.DIGITS if column.digits else None
