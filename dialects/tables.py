"""The tables of a database as the compiler sees them: SQLite's names and types, the target's spelling."""

import math
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from sqlglot import exp

from dialects.enums import Dialect, Profile
from dialects.errors import Untranslatable
from dialects.schema import Column as StoredColumn
from dialects.schema import PortableType, Schema, affinity
from dialects.scope import Column
from dialects.server_schema import ServerTable, server_tables
from dialects.source import view_query
from dialects.typed import Affinity, Collation, Form, Kind, Typed
from dialects.visits import Planner

_KINDS = {
    PortableType.INTEGER: Kind.INTEGER,
    PortableType.REAL: Kind.REAL,
    PortableType.BLOB: Kind.BLOB,
}


class Tables:
    """The tables of one database, as one target has them; the same for every statement."""

    def __init__(self, schema: Schema, target: Dialect) -> None:
        tables = server_tables(schema, target, Profile.FAITHFUL, Path("schema"))
        self.target = target
        self._schema = schema
        self.in_utf8 = schema.encoding == "UTF-8"
        self._tables = {table.source.name.lower(): table for table in tables}
        self._columns: dict[str, list[Column]] = {}
        self._views = {view.name.lower(): view for view in schema.views}
        self._queries: dict[str, exp.Query | exp.Values] = {}

    @cached_property
    def planner(self) -> Planner:
        """SQLite with the same tables."""
        return Planner(self._schema)

    @cached_property
    def names(self) -> set[str]:
        """The folded names of tables, columns and views, and all that the views name."""
        views = (each.name for name in self._views for each in self._written(name))
        tables = (name for table in self._tables.values() for name in _all_names(table))
        return {folded(name) for name in (*tables, *self._views, *views)}

    def _written(self, view: str) -> Iterator[exp.Expr]:
        with suppress(Untranslatable):  # a statement that reads the view raises it
            query = self.view(view)
            if query is not None:
                yield from query[0].find_all(exp.Identifier, exp.Literal)

    def find(self, name: str) -> ServerTable | None:
        """A table, the case of letters aside."""
        return self._tables.get(name.lower())

    def view(self, name: str) -> tuple[exp.Query | exp.Values, tuple[str, ...]] | None:
        """The query of a view, the case of letters aside, and the names of its columns.

        Raises:
            Untranslatable: it cannot be read.
        """
        found = self._views.get(name.lower())
        if found is None:
            return None
        if found.name not in self._queries:
            self._queries[found.name] = view_query(found.sql)
        return self._queries[found.name].copy(), self.planner.columns(found.name)

    def columns(self, table: ServerTable) -> list[Column]:
        """The table's columns; their values are not yet qualified."""
        found = self._columns.get(table.name)
        if found is None:
            found = [
                Column(
                    column.source.name,
                    stored(column.source, column.name, escapes=self._schema.escapes),
                    column.source.name,
                )
                for column in table.columns
            ]
            self._columns[table.name] = found
        return found


def folded(name: str) -> str:
    """A name as the most tolerant engine compares it: MySQL regards neither case nor accents.

    https://dev.mysql.com/doc/refman/9.7/en/charset-collation-effect.html
    """
    if name.isascii():
        return name.lower()
    parts = unicodedata.normalize("NFKD", name)
    return "".join(part for part in parts if not unicodedata.combining(part)).casefold()


def _all_names(table: ServerTable) -> Iterator[str]:
    """The names of a table and its columns, in the database and on the server."""
    yield from (table.name, table.source.name)
    for column in table.columns:
        yield from (column.name, column.source.name)


def stored(column: StoredColumn, name: str, *, escapes: bool = False) -> Typed:
    """What is known of a stored column's values; `escapes` is that of the schema."""
    node = exp.column(exp.to_identifier(name, quoted=True))
    declared = affinity(column.declared)
    numeric = declared in {"INTEGER", "REAL", "NUMERIC"}
    found = Affinity.NUMERIC if numeric else Affinity.TEXT if declared == "TEXT" else Affinity.BLOB
    kind = _KINDS.get(column.type, Kind.TEXT)
    typed = Typed(
        node, kind, affinity=found, collation=Collation(column.collation), nullable=column.nulls,
        low=column.least, high=column.greatest, form=_form(column),
        digits=column.digits,
    )  # fmt: skip
    infinite = math.inf in {-(column.least or 0), column.greatest}
    opaque = kind is Kind.TEXT and (
        column.opaque or (column.mixed and infinite) or (column.escaped and not column.mixed)
    )
    if not column.mixed:
        return typed.of(opaque=opaque)
    return typed.of(
        mixed=True, apart=column.apart or escapes, reals=declared == "REAL", blobs=column.blobs,
        readable=column.readable, escaped=column.escaped, opaque=opaque,
    )  # fmt: skip


def _form(column: StoredColumn) -> Form | None:
    if column.days:
        return Form.DAY
    return Form.MOMENT if column.moments else None
