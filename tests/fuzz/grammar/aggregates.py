"""Aggregate functions. https://sqlite.org/lang_aggfunc.html.

Sums are over numbers whose sums are exact in any order, since no engine promises an order.
"""

from dataclasses import replace

from tests.fuzz.catalog import NUMBERS, Kind
from tests.fuzz.generator import AGGREGATES, Generator, Scope, rule
from tests.fuzz.leaves import spelled
from tests.fuzz.tree import Node, Role, apart, construct, expression, optional

construct("filter", "sum-of-case", "sum-of-condition")

_ANY = (Kind.INTEGER, Kind.REAL, Kind.TEXT, Kind.DATE, Kind.CONDITION)


def _rows(gen: Generator) -> Scope:
    """What an aggregate's arguments see. One over outer columns alone would belong to the outer SELECT."""
    return replace(gen.scope.rows or gen.scope, windows=False, closed=True)


def exact(gen: Generator, *kinds: Kind) -> Node:
    """A number whose sums are exact in any order; on a column's values alone, so that it stays one."""
    refs = [ref for ref in gen.scope.refs if ref.column.exact and ref.column.kind in kinds]
    style = gen.random.randrange(10)
    if refs and style <= 4:
        return Node(Role.EXACT, (spelled(gen, gen.pick(refs)),))
    if refs and style == 5:
        operator = gen.pick((" * 2", " + 1", " - 3", " * -1", " * 0.5"))
        return Node(Role.EXACT, ("(", Node(Role.EXACT, (spelled(gen, gen.pick(refs)),)), operator, ")"))
    if style <= 7:
        one, other = gen.pick((("1", "0"), ("1", "NULL"), ("1.0", "0")))
        return Node(
            Role.EXACT,
            ("CASE WHEN ", gen.expr(Kind.CONDITION), f" THEN {one} ELSE {other} END"),
            "sum-of-case",
        )
    if style == 8:
        return Node(Role.EXACT, ("IIF(", gen.expr(Kind.CONDITION), ", 1, 0)"), "sum-of-case")
    return (
        Node(Role.EXACT, (gen.expr(Kind.CONDITION),), "sum-of-condition")
        if _is_condition(gen)
        else Node(Role.EXACT, ("1",))
    )


def _is_condition(gen: Generator) -> bool:
    return bool(gen.scope.refs)


def _filter(gen: Generator) -> list[Node]:
    if gen.chance(0.88):
        return []
    return [optional(" FILTER (WHERE ", gen.expr(Kind.CONDITION), ")", tag="filter")]


def _call(*parts: str | Node) -> Node:
    """An aggregate; without it, its arguments would be values of a row, of which there are several."""
    return expression(apart(*parts))


@rule("count-all", Kind.INTEGER, weight=6, among=AGGREGATES)
def count_all(gen: Generator, _: Kind) -> Node:
    with gen.instead(_rows(gen)):
        return _call(gen.pick(("COUNT(*)", "count(*)", "COUNT(1)", "COUNT()")), *_filter(gen))


@rule("count", Kind.INTEGER, weight=5, among=AGGREGATES)
def count(gen: Generator, _: Kind) -> Node:
    with gen.instead(_rows(gen)):
        return _call("COUNT(", gen.expr(*_ANY), ")", *_filter(gen))


@rule("count-distinct", Kind.INTEGER, weight=3, among=AGGREGATES)
def count_distinct(gen: Generator, _: Kind) -> Node:
    with gen.instead(_rows(gen)):
        return _call("COUNT(DISTINCT ", gen.expr(*_ANY), ")", *_filter(gen))


@rule("sum", Kind.INTEGER, Kind.REAL, weight=6, among=AGGREGATES)
def total_of(gen: Generator, _: Kind) -> Node:
    with gen.instead(_rows(gen)):
        return _call(gen.pick(("SUM(", "SUM(", "SUM(DISTINCT ")), exact(gen, *NUMBERS), ")", *_filter(gen))


@rule("sum-of-text", Kind.REAL, weight=1, among=AGGREGATES)
def total_of_text(gen: Generator, _: Kind) -> Node:
    with gen.instead(_rows(gen)):
        return _call(gen.pick(("SUM(", "AVG(", "TOTAL(")), exact(gen, Kind.TEXT, Kind.DATE), ")")


@rule("avg", Kind.REAL, weight=5, among=AGGREGATES)
def average(gen: Generator, _: Kind) -> Node:
    with gen.instead(_rows(gen)):
        return _call(gen.pick(("AVG(", "AVG(", "AVG(DISTINCT ")), exact(gen, *NUMBERS), ")", *_filter(gen))


@rule("total", Kind.REAL, weight=2, among=AGGREGATES)
def total(gen: Generator, _: Kind) -> Node:
    with gen.instead(_rows(gen)):
        return _call("TOTAL(", exact(gen, *NUMBERS), ")", *_filter(gen))


@rule("min-max", Kind.INTEGER, Kind.REAL, Kind.TEXT, Kind.DATE, weight=6, among=AGGREGATES)
def extreme(gen: Generator, kind: Kind) -> Node:
    with gen.instead(_rows(gen)):
        return _call(gen.pick(("MIN(", "MAX(")), unfolded(gen, kind), ")", *_filter(gen))


def unfolded(gen: Generator, kind: Kind) -> Node:
    """An expression in which texts that differ in case are never equal."""
    inner = gen.expr(kind)
    folded = {ref.column.name.lower() for ref in gen.scope.refs if ref.column.folded}
    return expression("LOWER(", inner, ")") if any(name in str(inner).lower() for name in folded) else inner


@rule("percentage-of-group", Kind.REAL, weight=4, among=AGGREGATES)
def share(gen: Generator, _: Kind) -> Node:
    with gen.instead(_rows(gen)):
        part = exact(gen, *NUMBERS)
        return _call(*gen.pick((
            ("(CAST(SUM(", part, ") AS REAL) * 100 / COUNT(*))"),
            ("(SUM(", part, ") * 100.0 / COUNT(*))"),
            ("ROUND(SUM(", part, ") * 1.0 / COUNT(*), 2)"),
            ("(SUM(", part, ") / COUNT(*))"),
            ("(MAX(", gen.expr(Kind.INTEGER), ") - MIN(", gen.expr(Kind.INTEGER), "))"),
        )))  # fmt: skip


@rule("group-concat", Kind.TEXT, weight=1, among=AGGREGATES)
def concat(gen: Generator, _: Kind) -> Node:
    with gen.instead(_rows(gen)):
        separator = gen.pick(("", ", ', '", ", ''"))
        if not separator and gen.chance(0.5):
            return _call("GROUP_CONCAT(DISTINCT ", gen.expr(Kind.TEXT), ")")
        return _call("GROUP_CONCAT(", gen.expr(Kind.TEXT, Kind.INTEGER), f"{separator})")


@rule("json-group", Kind.TEXT, weight=0.5, among=AGGREGATES)
def json_group(gen: Generator, _: Kind) -> Node:
    with gen.instead(_rows(gen)):
        return _call("JSON_GROUP_ARRAY(", gen.expr(Kind.INTEGER, Kind.TEXT), ")")
