"""Calls of functions, and conditions, in a tree: SQLite has names with arguments there, servers a class."""

from collections.abc import Iterator

from sqlglot import exp

AGGREGATES = frozenset({
    "COUNT", "SUM", "AVG", "TOTAL", "MIN", "MAX", "GROUP_CONCAT", "STRING_AGG", "ARRAY_AGG", "STDDEV",
})  # fmt: skip


def called(node: exp.Expr | None) -> str:
    """The name of the function that a node calls, in upper case; empty where it calls none."""
    if isinstance(node, exp.Anonymous):
        return node.name.upper()
    return node.sql_name().upper() if isinstance(node, exp.Func) else ""


def arguments(node: exp.Expr) -> list[exp.Expr]:
    """The arguments of a call."""
    if isinstance(node, exp.Anonymous):
        return list(node.expressions)
    return [node.this, *node.expressions] if isinstance(node.this, exp.Expr) else []


def is_distinct(call: exp.Expr) -> bool:
    """Whether a call of an aggregate counts each value once."""
    return any(isinstance(one, exp.Distinct) for one in arguments(call)) or bool(call.args.get("distinct"))


def conjuncts(condition: exp.Expr | None) -> Iterator[exp.Expr]:
    """The conditions that all have to hold."""
    if isinstance(condition, exp.And):
        yield from conjuncts(condition.this)
        yield from conjuncts(condition.expression)
    elif isinstance(condition, exp.Paren):
        yield from conjuncts(condition.this)
    elif condition is not None:
        yield condition
