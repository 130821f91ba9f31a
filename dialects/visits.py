"""In which order SQLite finds the rows of each SELECT, for answers that SQL leaves open.

Where rows tie at a LIMIT, or a bare column may come from any row of a group, every choice is a valid answer,
and SQLite's is the row that its plan finds first. The plan is asked of SQLite itself, over empty tables with
the keys and indexes of the census: without statistics it depends on nothing else. https://sqlite.org/eqp.html
"""

import re
import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from dialects.errors import Untranslatable
from dialects.identifiers import quoted
from dialects.schema import Schema, Table

_LOOP = re.compile(
    r"(?:SCAN|SEARCH) (?P<name>.(?:(?! USING (?:COVERING|AUTOMATIC|INDEX|INTEGER) | \(| LEFT-JOIN\Z).)*+)"
    r"(?: USING (?:COVERING |AUTOMATIC (?:PARTIAL )?(?:COVERING )?)?"
    r"(?:INDEX (?P<index>.(?:(?! \(| LEFT-JOIN\Z).)*+)|INTEGER PRIMARY KEY))?(?: \(.*\))?(?: LEFT-JOIN)?$"
)


@dataclass(frozen=True)
class Visit:
    """One loop: the name of its source (lower case), and the columns of the index that it follows."""

    name: str
    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class Visits:
    """The loops of a SELECT, the outermost first."""

    loops: tuple[Visit, ...]
    sorted: bool
    """Whether ORDER BY is done by sorting what the loops find, rather than by the loops themselves."""


@dataclass(frozen=True)
class Plan:
    """How SQLite does a statement."""

    top: Visits
    """Of the outermost SELECT."""
    within: tuple[Visits, ...] = ()
    """Of the SELECTs inside, apart from those that became part of another."""

    def inner(self, names: Collection[str]) -> Visits | None:
        """The loops of a SELECT inside, by the names of its sources; None where that does not tell which."""
        wanted = sorted(name.lower() for name in names)
        found = {
            visits
            for visits in (self.top, *self.within)
            if sorted(visit.name for visit in visits.loops) == wanted
        }
        return found.pop() if len(found) == 1 else None


class Planner:
    """SQLite with the tables of one schema, empty."""

    def __init__(self, schema: Schema) -> None:
        self._connection = sqlite3.connect(":memory:", check_same_thread=False)
        self._indexes: dict[str, tuple[str, ...]] = {}
        for table in schema.tables:
            self._create(table)
        for view in schema.views:
            # What a view reads is looked for when it is read.
            self._connection.execute(view.sql)

    def _create(self, table: Table) -> None:
        columns = [
            f"{quoted(column.name)} {_declared(column.declared)}"
            f"{' PRIMARY KEY' if table.primary_key == (column.name,) else ''} COLLATE {column.collation}"
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
        """The names of a view's columns.

        Raises:
            Untranslatable: SQLite cannot read the view.
        """
        try:
            rows = self._connection.execute("SELECT name FROM pragma_table_info(?)", (view,)).fetchall()
        except sqlite3.Error as error:
            raise Untranslatable(f"the view {view}", f"SQLite refuses it: {error}") from error
        return tuple(name for (name,) in rows)

    def plan(self, sql: str) -> Plan:
        """The loops of every SELECT of a statement.

        Raises:
            Untranslatable: SQLite does not take the text.
        """
        try:
            steps = self._connection.execute(f"EXPLAIN QUERY PLAN {sql}").fetchall()
        except (sqlite3.Error, sqlite3.Warning) as error:
            raise Untranslatable("the statement", f"SQLite refuses it: {error}") from error
        parents = dict.fromkeys(parent for _, parent, _, _ in steps)
        return Plan(
            self._visits([detail for _, parent, _, detail in steps if parent == 0]),
            tuple(
                self._visits([detail for _, parent, _, detail in steps if parent == inner])
                for inner in parents
                if inner
            ),
        )

    def _visits(self, steps: Sequence[str]) -> Visits:
        """The loops of one SELECT."""
        loops = [found for detail in steps if (found := _LOOP.fullmatch(detail))]
        return Visits(
            tuple(Visit(_source(found["name"]), self._columns(found["index"])) for found in loops),
            sorted=any(detail.startswith("USE TEMP B-TREE FOR") and "ORDER BY" in detail for detail in steps),
        )

    def _columns(self, index: str | None) -> tuple[str, ...]:
        if index is None:
            return ()
        rows = self._connection.execute(
            "SELECT name FROM pragma_index_info(?) ORDER BY seqno", (index,)
        ).fetchall()
        return tuple(name for (name,) in rows if name is not None)


def _declared(declared: str) -> str:
    """The type such that it can stand in CREATE TABLE, whatever stood there."""
    return declared if re.fullmatch(r"[A-Za-z_ ]*(\(\d+(, ?\d+)?\))?", declared) else ""


def _source(name: str) -> str:
    return name.rsplit(" AS ", maxsplit=1)[-1].strip("\"'`").lower()
