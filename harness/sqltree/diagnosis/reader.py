"""What the modules that read one query share: expressions hold queries, and queries hold expressions."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from sqlglot import exp

from dialects.enums import Dialect
from harness.sqltree.diagnosis.names import Scope, Source
from harness.sqltree.diagnosis.reading import Notes
from harness.sqltree.diagnosis.terms import Term

Outputs = Sequence[tuple[str, Term]]
"""The columns of a query: their names, empty where they have none, and their terms."""


class TooMuch(Exception):
    """A query that takes too long to read."""


class Reader(Protocol):
    """Reads one query.

    `tables` are those of the schema by their names in lower case, None where none is published; `notes`
    collects what the query says besides its columns.
    """

    dialect: Dialect
    tables: Mapping[str, Source] | None
    notes: Notes

    def term(self, node: exp.Expr, scope: Scope) -> Term:
        """Read an expression."""
        ...

    def condition(self, node: exp.Expr, scope: Scope) -> Term:
        """Read a condition and note the comparisons in it."""
        ...

    def query(self, node: exp.Expr, scope: Scope, *, of_extreme: bool = False) -> Outputs:
        """Read a query inside the query; with `of_extreme`, `MAX(x)`, its only column, as `x`."""
        ...
