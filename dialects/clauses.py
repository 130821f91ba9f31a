"""The clauses of a query as they are written: the items of FROM, and conditions that hold together."""

from collections.abc import Iterator
from typing import NamedTuple

from sqlglot import exp


class FromItem(NamedTuple):
    """One item of FROM: a table, a subquery or anything else with rows, and the join that brings it."""

    node: exp.Expr
    join: exp.Join | None
    """None for what comes first, and for what stands behind LATERAL."""


def from_items(query: exp.Expr) -> list[FromItem]:
    """What a SELECT reads from, in its order; of a table or subquery, what is joined to it in parentheses."""
    first = query.args.get("from_")
    items = [] if first is None else [FromItem(first.this, None)]
    items += [FromItem(join.this, join) for join in joins_of(query)]
    return items + [FromItem(lateral, None) for lateral in query.args.get("laterals") or ()]


def joins_of(query: exp.Expr) -> list[exp.Join]:
    """The joins of a SELECT, or of a table or subquery in parentheses."""
    return list(query.args.get("joins") or ())


def conjuncts(condition: exp.Expr | None) -> Iterator[exp.Expr]:
    """The conditions that all hold where one holds; none of none."""
    if isinstance(condition, exp.Paren):
        yield from conjuncts(condition.this)
    elif isinstance(condition, exp.And):
        yield from conjuncts(condition.this)
        yield from conjuncts(condition.expression)
    elif condition is not None:
        yield condition


def where_of(query: exp.Expr) -> list[exp.Expr]:
    """The conditions of WHERE that all have to hold."""
    where = query.args.get("where")
    return list(conjuncts(where.this if where is not None else None))


def on_of(join: exp.Join | None) -> list[exp.Expr]:
    """The conditions of ON that all have to hold."""
    return list(conjuncts(join.args.get("on") if join is not None else None))
