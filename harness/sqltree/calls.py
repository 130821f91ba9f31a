"""Calls of functions in a tree: SQLite has names with arguments there, servers a class."""

from collections.abc import Iterator

from sqlglot import exp

AGGREGATES = frozenset({
    "COUNT", "SUM", "AVG", "TOTAL", "MIN", "MAX", "GROUP_CONCAT", "STRING_AGG", "ARRAY_AGG", "STDDEV",
})  # fmt: skip

OF_BAGS = frozenset({
    "COUNT", "SUM", "AVG", "TOTAL", "MIN", "MAX", "STDDEV", "STDDEV_POP", "STDDEV_SAMP", "VARIANCE",
    "VARIANCE_POP", "VAR_POP", "VAR_SAMP", "COUNT_IF", "LOGICAL_AND", "LOGICAL_OR", "BIT_AND", "BIT_OR",
})  # fmt: skip
"""Aggregates whose value does not depend on the order in which rows come, rounding apart."""

_OF_LISTS = frozenset({
    "GROUP_CONCAT", "STRING_AGG", "ARRAY_AGG", "JSON_GROUP_ARRAY", "JSON_GROUP_OBJECT", "JSONB_GROUP_ARRAY",
    "JSONB_GROUP_OBJECT", "JSON_ARRAYAGG", "JSON_OBJECTAGG", "JSON_AGG", "JSONB_AGG", "JSON_OBJECT_AGG",
    "JSONB_OBJECT_AGG", "ANY_VALUE", "XMLAGG", "FIRST", "LAST", "MODE",
})  # fmt: skip
"""Those whose value does."""


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


def with_argument(call: exp.Expr, argument: exp.Expr) -> exp.Expr:
    """A copy of a call with another argument, alone."""
    copy = call.copy()
    if isinstance(copy, exp.Anonymous):
        copy.set("expressions", [argument])
    else:
        copy.set("this", argument)
    return copy


def is_distinct(call: exp.Expr) -> bool:
    """Whether a call of an aggregate counts each value once."""
    return any(isinstance(one, exp.Distinct) for one in arguments(call)) or bool(call.args.get("distinct"))


def is_constant(node: exp.Expr) -> bool:
    """Whether an expression is a literal number or text."""
    if isinstance(node, exp.Neg):
        node = node.this
    return isinstance(node, exp.Literal)


def is_aggregate(call: exp.Expr) -> bool:
    """Whether a call makes one value of several rows; MIN and MAX of several values do not."""
    name = called(call)
    if name in {"MIN", "MAX"}:
        return len(arguments(call)) == 1
    return isinstance(call, exp.AggFunc) or name in OF_BAGS | _OF_LISTS


def aggregates(select: exp.Expr) -> Iterator[exp.Expr]:
    """The aggregates that a SELECT computes itself, clause by clause; those of windows are none."""
    for part in ("expressions", "having", "order", "qualify"):
        for node in parts_of(select, part):
            for call in node.find_all(exp.Func):
                own = call.find_ancestor(exp.Select) is select and not _is_windowed(call)
                if own and is_aggregate(call):
                    yield call


def parts_of(query: exp.Expr, clause: str) -> list[exp.Expr]:
    """The trees of a clause: each result, or the whole of HAVING and the like."""
    found = query.args.get(clause)
    return found if isinstance(found, list) else [found] if found is not None else []


def _is_windowed(call: exp.Expr) -> bool:
    node = call.parent
    while isinstance(node, exp.Filter | exp.WithinGroup | exp.IgnoreNulls | exp.RespectNulls):
        node = node.parent
    return isinstance(node, exp.Window) and node.this.find(type(call)) is not None


def is_grouped(select: exp.Select) -> bool:
    """Whether a SELECT makes one row of several."""
    return bool(select.args.get("group") or select.args.get("having") or next(aggregates(select), None))


def is_plain(select: exp.Select) -> bool:
    """Whether a SELECT gives a row for each row of FROM and WHERE, in no order and without a cut."""
    parts = ("distinct", "order", "limit", "offset", "qualify", "windows", "laterals", "kind", "fetch")
    return not (is_grouped(select) or any(select.args.get(part) for part in parts) or select.find(exp.Window))
