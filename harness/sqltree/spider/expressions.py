"""Expressions in one canonical text: names resolved, values as "?", aliases and parentheses gone."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlglot import exp

from harness.sqltree.spider.names import Schema, Scope, Unreadable
from harness.sqltree.spider.query import Item, Term

_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div)

_SAYS_NOTHING = frozenset({"big_int"})
"""What sqlglot notes on a node that the text does not say."""


@dataclass
class Expressions:
    """Spells expressions at one place of a query.

    `unified` maps columns to those that stand for them. It is None inside a nested query, where Spider's
    script compares what is written: foreign keys are not followed there, and DISTINCT counts. `nested_query`
    spells a query inside an expression; `aggregates` and `queries` count what was spelled so far.
    """

    schema: Schema
    sql: str
    scope: Scope
    unified: Mapping[str, str] | None
    nested_query: Callable[[exp.Query, Scope], str]
    aggregates: int = 0
    queries: int = 0

    def text(self, node: exp.Expr) -> str:
        """The canonical text of an expression.

        Raises:
            Unreadable: it names what is not there.
        """
        node = bare(node)
        if is_value(node):
            return "?"
        if isinstance(node, exp.Column):
            return self._column(node)
        if isinstance(node, exp.Query):
            self.queries += 1
            return self.nested_query(node, self.scope)
        if isinstance(node, exp.Distinct):
            inner = ", ".join(self.text(part) for part in node.expressions)
            return f"distinct {inner}" if self.unified is None else inner
        if isinstance(node, exp.AggFunc):
            self.aggregates += 1
        return f"{node.key}({', '.join(self._argument(node.args[name]) for name in _given(node))})"

    def item(self, node: exp.Expr) -> Item:
        """One column of SELECT, its aggregate apart."""
        node = bare(node)
        if _is_aggregate(node):
            self.aggregates += 1
            return Item(node.key, self.text(node.this))
        before = self.aggregates
        text = self.text(node)
        if _is_column_and_unit(node):
            self.aggregates = before  # Spider's script looks for one around the whole column alone
        return Item("", text)

    def term(self, node: exp.Expr) -> Term:
        """One term of GROUP BY."""
        text = self.text(node)
        if text.startswith("[") and text.endswith("]"):
            return Term(text, text[1:-1].partition(".")[2])
        return Term(text, text)

    def _column(self, node: exp.Column) -> str:
        name, qualifier = node.name.lower(), node.table.lower()
        if isinstance(node.this, exp.Star):
            source = self.scope.source(qualifier)
            return f"[{source.table or ' '.join(sorted(source.outputs.values()))}.*]"
        if qualifier:
            return self._unify(self.scope.qualified(name, qualifier, self.schema))
        found = self.scope.bare(name, self.schema)
        if found is None and not self._is_in_double_quotes(node.this):
            raise Unreadable(f"no column {name}")
        if isinstance(found, exp.Expr):
            return self._alias(found)
        return "?" if found is None else self._unify(found)

    def _alias(self, node: exp.Expr) -> str:
        scope = self.scope
        self.scope = replace(scope, aliases={})  # so that an alias that names itself ends
        try:
            return self.text(node)
        finally:
            self.scope = scope

    def _unify(self, column: str) -> str:
        return self.unified.get(column, column) if self.unified else column

    def _is_in_double_quotes(self, node: exp.Expr) -> bool:
        """Then SQLite takes a name of nothing for a string. https://sqlite.org/quirks.html#dblquote."""
        start = node.meta.get("start")
        return isinstance(start, int) and self.sql[start : start + 1] == '"'

    def _argument(self, value: Any) -> str:
        if isinstance(value, list):
            return " ".join(self._argument(one) for one in value)
        is_expression = isinstance(value, exp.Expr) and not isinstance(value, exp.Identifier)
        return self.text(value) if is_expression else str(getattr(value, "name", value)).lower()


def bare(node: exp.Expr) -> exp.Expr:
    """The expression without an alias and parentheses around it."""
    while isinstance(node, exp.Paren | exp.Alias):
        node = node.this
    return node


def is_value(node: exp.Expr) -> bool:
    """Whether it is a literal, with or without a sign."""
    while isinstance(node, exp.Neg | exp.Paren):
        node = node.this
    return isinstance(node, exp.Literal | exp.Boolean | exp.HexString)


def is_spiders_value(node: exp.Expr) -> bool:
    """Whether Spider takes the right side of a condition for a value: one, or a column with what follows.

    Its reader takes a number, a string or a column there, and skips an operator behind a column.
    """
    node = bare(node)
    if is_value(node):
        return True
    while isinstance(node, _ARITHMETIC):
        node = bare(node.this)
    return isinstance(node, exp.Column)


def _given(node: exp.Expr) -> list[str]:
    """The names of a node's arguments that say something."""
    return [
        name
        for name, value in node.args.items()
        if value is not None and value is not False and value != [] and name not in _SAYS_NOTHING
    ]


def _is_aggregate(node: exp.Expr) -> bool:
    """Whether it is an aggregate of one argument, as Spider's five are."""
    return isinstance(node, exp.AggFunc) and _given(node) == ["this"]


def _is_column_and_unit(node: exp.Expr) -> bool:
    """Whether Spider's grammar has it as a column of SELECT: a column, an operator, a column or aggregate."""
    if not isinstance(node, _ARITHMETIC) or not isinstance(bare(node.this), exp.Column):
        return False
    right = bare(node.expression)
    if _is_aggregate(right):
        right = bare(right.this)
        if isinstance(right, exp.Distinct) and len(right.expressions) == 1:
            right = bare(right.expressions[0])
    return isinstance(right, exp.Column | exp.Star)
