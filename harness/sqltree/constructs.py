"""What a gold query uses: joins, subqueries, aggregation and so on, from its text alone.

docs/reports.md says what each word means. A query is of several, so groups of questions by construct overlap.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp


class Construct(StrEnum):
    """One thing that a query uses."""

    JOIN = "join"
    """Two sources or more in one FROM, by JOIN or by a comma."""
    OUTER_JOIN = "outer_join"
    """LEFT, RIGHT or FULL JOIN."""
    SUBQUERY = "subquery"
    """A query inside the query, anywhere but in WITH or as a side of a set operation."""
    WITH = "with"
    AGGREGATION = "aggregation"
    """COUNT, SUM, AVG, MIN, MAX, TOTAL or GROUP_CONCAT, not as a window function."""
    DISTINCT = "distinct"
    """SELECT DISTINCT, or DISTINCT in an aggregate function."""
    GROUP_BY = "group_by"
    HAVING = "having"
    ORDER_BY = "order_by"
    """Of a query; not that of a window."""
    LIMIT = "limit"
    SET_OPERATION = "set_operation"
    """UNION, INTERSECT or EXCEPT."""
    WINDOW = "window"
    CASE = "case"
    """CASE or IIF."""
    CAST = "cast"
    ARITHMETIC = "arithmetic"
    """+, -, *, / or % between two operands."""
    LIKE = "like"
    """LIKE or GLOB."""
    DATE_FUNCTION = "date_function"
    """STRFTIME, DATE, TIME, DATETIME, JULIANDAY, UNIXEPOCH, TIMEDIFF, or CURRENT_DATE and the like."""
    TEXT_FUNCTION = "text_function"
    """SUBSTR, INSTR, REPLACE, LENGTH, UPPER, LOWER, TRIM, PRINTF and the like, or `||`."""
    PLAIN = "plain"
    """None of the above."""
    UNREADABLE = "unreadable"
    """The text is no single query of SQLite's, or cannot be read here."""


_AGGREGATES = frozenset({"COUNT", "SUM", "AVG", "MIN", "MAX", "TOTAL", "GROUP_CONCAT", "STRING_AGG"})
_OF_TWO = frozenset({"MIN", "MAX"})
"""Aggregate functions of one argument; of several they take the least or greatest of these.

https://sqlite.org/lang_corefunc.html#max_scalar
"""
_FUNCTIONS = {
    **dict.fromkeys(
        ("STRFTIME", "DATE", "TIME", "DATETIME", "JULIANDAY", "UNIXEPOCH", "TIMEDIFF"),
        Construct.DATE_FUNCTION,
    ),
    **dict.fromkeys(
        ("SUBSTR", "SUBSTRING", "INSTR", "REPLACE", "LENGTH", "UPPER", "LOWER", "TRIM", "LTRIM", "RTRIM",
         "PRINTF", "FORMAT", "CONCAT", "CONCAT_WS"),
        Construct.TEXT_FUNCTION,
    ),
    "IIF": Construct.CASE,
    "IF": Construct.CASE,
    "LIKE": Construct.LIKE,
    "GLOB": Construct.LIKE,
}  # fmt: skip


def constructs(sql: str) -> tuple[Construct, ...]:
    """What a query of SQLite's uses, in the order of `Construct`; never empty.

    Args:
        sql: the gold text for SQLite.

    Returns:
        UNREADABLE alone where it cannot be read, PLAIN alone where it uses nothing else.
    """
    from dialects.source import parse  # noqa: PLC0415 - sqlglot is slow to import, and few reports need it

    try:
        found = set(_found(parse(sql)))
    except Exception:  # noqa: BLE001 - what reading raises for texts that are no SQL is of many kinds
        return (Construct.UNREADABLE,)
    return tuple(construct for construct in Construct if construct in found) or (Construct.PLAIN,)


def _found(tree: "exp.Expr") -> Iterator[Construct]:
    for node in tree.walk():
        yield from _of(node)


@cache
def _kinds() -> "Mapping[type[exp.Expr], Construct]":
    """What a node of each kind is, whatever it holds."""
    from sqlglot import exp  # noqa: PLC0415 - as above

    return {
        exp.Join: Construct.JOIN,
        exp.With: Construct.WITH,
        exp.Distinct: Construct.DISTINCT,
        exp.Group: Construct.GROUP_BY,
        exp.Having: Construct.HAVING,
        exp.Limit: Construct.LIMIT,
        exp.SetOperation: Construct.SET_OPERATION,
        exp.Window: Construct.WINDOW,
        exp.Case: Construct.CASE,
        exp.Cast: Construct.CAST,
        exp.Like: Construct.LIKE,
        exp.Glob: Construct.LIKE,
        exp.CurrentDate: Construct.DATE_FUNCTION,
        exp.CurrentTime: Construct.DATE_FUNCTION,
        exp.CurrentTimestamp: Construct.DATE_FUNCTION,
        exp.DPipe: Construct.TEXT_FUNCTION,
        **dict.fromkeys((exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod), Construct.ARITHMETIC),
    }


def _of(node: "exp.Expr") -> Iterator[Construct]:
    from sqlglot import exp  # noqa: PLC0415 - as above

    yield from (construct for kind, construct in _kinds().items() if isinstance(node, kind))
    if isinstance(node, exp.Join) and node.side:
        yield Construct.OUTER_JOIN
    if isinstance(node, exp.Order) and not isinstance(node.parent, exp.Window):
        yield Construct.ORDER_BY
    if isinstance(node, exp.Query) and not isinstance(node, exp.Subquery) and _is_inside(node):
        yield Construct.SUBQUERY
    if isinstance(node, exp.Anonymous):
        yield from _function(node)


def _is_inside(query: "exp.Expr") -> bool:
    """Whether a query is part of another, and not one of WITH, a side of a set operation or the whole."""
    from sqlglot import exp  # noqa: PLC0415 - as above

    parent = query.parent
    while isinstance(parent, exp.Subquery) and isinstance(parent.parent, exp.SetOperation | exp.CTE | None):
        parent = parent.parent
    return not (parent is None or isinstance(parent, exp.SetOperation | exp.CTE))


def _function(call: "exp.Expr") -> Iterator[Construct]:
    from sqlglot import exp  # noqa: PLC0415 - as above

    name, arguments = call.name.upper(), len(call.expressions)
    if name in _FUNCTIONS:
        yield _FUNCTIONS[name]
    over = call.parent.parent if isinstance(call.parent, exp.Filter) else call.parent
    if name in _AGGREGATES and not isinstance(over, exp.Window) and (name not in _OF_TWO or arguments == 1):
        yield Construct.AGGREGATION
