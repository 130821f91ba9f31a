"""Conditions as Spider has them: a flat row of them, with AND and OR between.

Spider's grammar knows no parentheses between conditions. Those that change nothing are dropped; an OR that
parentheses hold together below an AND is one condition, a group.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from sqlglot import exp

from harness.sqltree.spider.expressions import Expressions, bare, is_spiders_value, is_value
from harness.sqltree.spider.query import Condition, Conditions

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
    units: list[Condition] = []
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


def _condition(node: exp.Expr, expressions: Expressions) -> Condition:
    node = bare(node)
    kind = type(node)
    if kind in _COMPARISONS:
        return _comparison(node, expressions)
    if kind in _OTHERS:
        is_negated = kind is exp.NullSafeNEQ or bool(node.args.get("negate"))
        right = (_right(node.expression, expressions),)
        return Condition(is_negated, _OTHERS[kind], expressions.text(node.this), right)
    if kind in _FORMS:
        return _FORMS[kind](node, expressions)
    return Condition(False, "", expressions.text(node))


def _not(node: exp.Expr, expressions: Expressions) -> Condition:
    inner = _condition(node.this, expressions)
    return replace(inner, negated=not inner.negated)


def _group(node: exp.Expr, expressions: Expressions) -> Condition:
    kind = exp.And if isinstance(node, exp.And) else exp.Or
    members = [_condition(member, expressions) for member in _members(node, kind)]
    members.sort(key=repr)
    left = " ".join(sorted(member.left for member in members))
    return Condition(False, node.key, left, members=tuple(members))


def _between(node: exp.Expr, expressions: Expressions) -> Condition:
    left = expressions.text(node.this)
    right = tuple(_right(node.args[end], expressions) for end in ("low", "high"))
    return Condition(False, "between", left, right)


def _in(node: exp.Expr, expressions: Expressions) -> Condition:
    left = expressions.text(node.this)
    query, table = node.args.get("query"), node.args.get("field")
    if query is not None:
        return Condition(False, "in", left, (expressions.text(query),))
    if table is not None:
        return Condition(False, "in", left, (f"table {table.name.lower()}",))
    choices = tuple(_right(choice, expressions) for choice in node.expressions)
    return Condition(False, "in", left, choices if any(choices) else ("",))


def _exists(node: exp.Expr, expressions: Expressions) -> Condition:
    return Condition(False, "exists", "", (expressions.text(node.this),))


_FORMS: Mapping[type[exp.Expr], Callable[[exp.Expr, Expressions], Condition]] = {
    exp.Not: _not,
    exp.And: _group,
    exp.Or: _group,
    exp.Between: _between,
    exp.In: _in,
    exp.Exists: _exists,
    exp.Escape: lambda node, expressions: _condition(node.this, expressions),
}


def _comparison(node: exp.Expr, expressions: Expressions) -> Condition:
    left, right = bare(node.this), bare(node.expression)
    operator, exchanged = _COMPARISONS[type(node)]
    if is_value(left) and not is_value(right):
        operator, left, right = exchanged, right, left
    return Condition(False, operator, expressions.text(left), (_right(right, expressions),))


def _right(node: exp.Expr, expressions: Expressions) -> str:
    """A right side: nothing where Spider takes it for a value. It has to be readable all the same."""
    before = expressions.queries
    text = expressions.text(node)
    return "" if is_spiders_value(node) and expressions.queries == before else text
