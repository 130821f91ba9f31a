"""Expressions in one canonical text: names resolved, values as "?", aliases and parentheses gone.

Conditions are a flat row of them, with AND and OR between: Spider's grammar knows no parentheses there. Those
that change nothing are dropped; an OR that parentheses hold together below an AND is one condition, a group.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlglot import exp

from harness.sqltree.spider.query import (
    Conditions,
    FromScope,
    GroupTerm,
    Item,
    SpiderCondition,
    SpiderSchema,
    UnreadableQuery,
)

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

    schema: SpiderSchema
    sql: str
    scope: FromScope
    unified: Mapping[str, str] | None
    nested_query: Callable[[exp.Query, FromScope], str]
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

    def term(self, node: exp.Expr) -> GroupTerm:
        """One term of GROUP BY."""
        text = self.text(node)
        if text.startswith("[") and text.endswith("]"):
            return GroupTerm(text, text[1:-1].partition(".")[2])
        return GroupTerm(text, text)

    def _column(self, node: exp.Column) -> str:
        name, qualifier = node.name.lower(), node.table.lower()
        if isinstance(node.this, exp.Star):
            source = self.scope.source(qualifier)
            return f"[{source.table or ' '.join(sorted(source.outputs.values()))}.*]"
        if qualifier:
            return self._unify(self.scope.qualified(name, qualifier, self.schema))
        found = self.scope.bare(name, self.schema)
        if found is None and not self._is_in_double_quotes(node.this):
            raise UnreadableQuery(f"no column {name}")
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


_COMPARISONS: Mapping[type[exp.Expr], tuple[str, str]] = {
    exp.EQ: ("=", "="),
    exp.NEQ: ("!=", "!="),
    exp.GT: (">", "<"),
    exp.LT: ("<", ">"),
    exp.GTE: (">=", "<="),
    exp.LTE: ("<=", ">="),
}
"""Comparisons, each with what it is when its sides are exchanged."""

_OTHERS: Mapping[type[exp.Expr], str] = {
    exp.Is: "is",
    exp.NullSafeEQ: "is",
    exp.NullSafeNEQ: "is",
    exp.Like: "like",
    exp.Glob: "glob",
}


def conditions(node: exp.Expr | None, expressions: Expressions) -> Conditions:
    """A whole clause.

    Raises:
        Unreadable: it names what is not there.
    """
    if node is None:
        return Conditions()
    return _chain(
        _chain((Conditions((_condition(one, expressions),)) for one in _members(alternative, exp.And)), "and")
        for alternative in _members(node, exp.Or)
    )


def joined(clauses: Iterable[Conditions]) -> Conditions:
    """Several clauses as one, AND between them."""
    return _chain(clauses, "and")


def _chain(parts: Iterable[Conditions], connector: str = "or") -> Conditions:
    units: list[SpiderCondition] = []
    between: list[str] = []
    for part in parts:
        if units and part.units:
            between.append(connector)
        units += part.units
        between += part.between
    return Conditions(tuple(units), tuple(between))


def _members(node: exp.Expr, kind: type[exp.Connector]) -> list[exp.Expr]:
    """What a chain of one connector joins, in the order of the text."""
    members: list[exp.Expr] = []
    waiting = [node]
    while waiting:
        node = bare(waiting.pop())
        if isinstance(node, kind):
            waiting += [node.expression, node.this]
        else:
            members.append(node)
    return members


def _condition(node: exp.Expr, expressions: Expressions) -> SpiderCondition:
    node = bare(node)
    kind = type(node)
    if kind in _COMPARISONS:
        return _comparison(node, expressions)
    if kind in _OTHERS:
        is_negated = kind is exp.NullSafeNEQ or bool(node.args.get("negate"))
        right = (_right(node.expression, expressions),)
        return SpiderCondition(is_negated, _OTHERS[kind], expressions.text(node.this), right)
    if kind in _FORMS:
        return _FORMS[kind](node, expressions)
    return SpiderCondition(False, "", expressions.text(node))


def _not(node: exp.Expr, expressions: Expressions) -> SpiderCondition:
    inner = _condition(node.this, expressions)
    return replace(inner, negated=not inner.negated)


def _group(node: exp.Expr, expressions: Expressions) -> SpiderCondition:
    kind = exp.And if isinstance(node, exp.And) else exp.Or
    members = [_condition(member, expressions) for member in _members(node, kind)]
    members.sort(key=repr)
    left = " ".join(sorted(member.left for member in members))
    return SpiderCondition(False, node.key, left, members=tuple(members))


def _between(node: exp.Expr, expressions: Expressions) -> SpiderCondition:
    left = expressions.text(node.this)
    right = tuple(_right(node.args[end], expressions) for end in ("low", "high"))
    return SpiderCondition(False, "between", left, right)


def _in(node: exp.Expr, expressions: Expressions) -> SpiderCondition:
    left = expressions.text(node.this)
    query, table = node.args.get("query"), node.args.get("field")
    if query is not None:
        return SpiderCondition(False, "in", left, (expressions.text(query),))
    if table is not None:
        return SpiderCondition(False, "in", left, (f"table {table.name.lower()}",))
    choices = tuple(_right(choice, expressions) for choice in node.expressions)
    return SpiderCondition(False, "in", left, choices if any(choices) else ("",))


def _exists(node: exp.Expr, expressions: Expressions) -> SpiderCondition:
    return SpiderCondition(False, "exists", "", (expressions.text(node.this),))


_FORMS: Mapping[type[exp.Expr], Callable[[exp.Expr, Expressions], SpiderCondition]] = {
    exp.Not: _not,
    exp.And: _group,
    exp.Or: _group,
    exp.Between: _between,
    exp.In: _in,
    exp.Exists: _exists,
    exp.Escape: lambda node, expressions: _condition(node.this, expressions),
}


def _comparison(node: exp.Expr, expressions: Expressions) -> SpiderCondition:
    left, right = bare(node.this), bare(node.expression)
    operator, exchanged = _COMPARISONS[type(node)]
    if is_value(left) and not is_value(right):
        operator, left, right = exchanged, right, left
    return SpiderCondition(False, operator, expressions.text(left), (_right(right, expressions),))


def _right(node: exp.Expr, expressions: Expressions) -> str:
    """A right side: nothing where Spider takes it for a value. It has to be readable all the same."""
    before = expressions.queries
    text = expressions.text(node)
    return "" if is_spiders_value(node) and expressions.queries == before else text
