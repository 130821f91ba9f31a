"""What the modules that read one query share: which column a name means, and who reads what is inside.

Names are compared without case and quotes; a column is a base table's, whatever aliases and subqueries lie
between. A column of a subquery or a CTE is the expression that stands there. Without a schema a column is
known by its name alone. Expressions hold queries, and queries hold expressions.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from sqlglot import exp

from harness.engines import EngineName
from harness.sqltree.diagnosis.reading import Notes, Term, column
from harness.sqltree.schema import DatabaseSchema


@dataclass
class ReadingSource:
    """A table, subquery or CTE in FROM: the expressions behind its columns.

    One whose columns are not known has any column that is asked for, under the prefix `of`.
    """

    columns: dict[str, Term]
    of: str | None = None

    def get(self, name: str) -> Term | None:
        """The expression behind the column `name`."""
        found = self.columns.get(name)
        return column(self.of + name) if found is None and self.of is not None else found

    def all(self) -> Iterator[tuple[str, Term]]:
        """What `*` stands for: names and expressions."""
        if self.of is None:
            yield from self.columns.items()
        else:
            yield "", column(f"{self.of}*")


_SCHEMAS = 64
_KNOWN: dict[int, tuple[DatabaseSchema, Mapping[str, ReadingSource]]] = {}
"""The last schemas with their tables, by identity: a schema's hash takes longer than most queries."""


def tables_of(schema: DatabaseSchema) -> Mapping[str, ReadingSource]:
    """The tables of a schema by their names in lower case."""
    known = _KNOWN.get(id(schema))
    if known is None or known[0] is not schema:
        if len(_KNOWN) >= _SCHEMAS:
            _KNOWN.clear()
        known = _KNOWN[id(schema)] = schema, _tables(schema)
    return known[1]


def _tables(schema: DatabaseSchema) -> Mapping[str, ReadingSource]:
    tables: dict[str, ReadingSource] = {name.lower(): ReadingSource({}) for name in schema.tables}
    for one in schema.columns:
        table, name = one.table.lower(), one.name.lower()
        tables[table].columns[name] = column(f"{table}.{name}")
    return tables


@dataclass
class ReadingScope:
    """The names that one SELECT sees.

    `sources` are what stands in its FROM by alias, `outputs` its own columns by alias, `ctes` what WITH has
    defined here; `parent` is the scope around it.
    """

    parent: "ReadingScope | None" = None
    sources: dict[str, ReadingSource] = field(default_factory=dict)
    outputs: dict[str, Term] = field(default_factory=dict)
    ctes: dict[str, ReadingSource] = field(default_factory=dict)

    @property
    def is_inner(self) -> bool:
        """Whether the SELECT stands inside another, or is a part of a set operation."""
        return self.parent is not None and self.parent.parent is not None

    def cte(self, name: str) -> ReadingSource | None:
        """The CTE `name`, if one is in sight."""
        return next((scope.ctes[name] for scope in self.outwards() if name in scope.ctes), None)

    def qualified(self, alias: str, name: str) -> Term:
        """The column `alias.name`."""
        for scope in self.outwards():
            if alias in scope.sources:
                return scope.sources[alias].get(name) or column(f"{alias}.{name}")
        return column(f"{alias}.{name}")

    def unqualified(self, name: str) -> Term | None:
        """The column of a source or the output of that name, here or in a scope around; None if neither."""
        for scope in self.outwards():
            for source in scope.sources.values():
                if name in source.columns:
                    return source.columns[name]
            if name in scope.outputs:
                return scope.outputs[name]
            for source in scope.sources.values():
                if source.of is not None:
                    return source.get(name)
        return None

    def outwards(self) -> "Iterator[ReadingScope]":
        """This scope, the one around it, and so on."""
        scope: ReadingScope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent


Outputs = Sequence[tuple[str, Term]]
"""The columns of a query: their names, empty where they have none, and their terms."""


class TooMuchToRead(Exception):
    """A query that takes too long to read."""


class Reader(Protocol):
    """Reads one query.

    `tables` are those of the schema by their names in lower case, None where none is published; `notes`
    collects what the query says besides its columns.
    """

    dialect: EngineName
    tables: Mapping[str, ReadingSource] | None
    notes: Notes

    def term(self, node: exp.Expr, scope: ReadingScope) -> Term:
        """Read an expression."""
        ...

    def condition(self, node: exp.Expr, scope: ReadingScope) -> Term:
        """Read a condition and note the comparisons in it."""
        ...

    def query(self, node: exp.Expr, scope: ReadingScope, *, of_extreme: bool = False) -> Outputs:
        """Read a query inside the query; with `of_extreme`, `MAX(x)`, its only column, as `x`."""
        ...
