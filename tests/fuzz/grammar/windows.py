"""Window functions. https://sqlite.org/windowfunctions.html.

Where the order of rows matters it is total, so that there is one answer.
"""

from dataclasses import replace

from tests.fuzz.catalog import NUMBERS, Kind
from tests.fuzz.generator import WINDOWS, Generator, rule
from tests.fuzz.grammar.aggregates import exact, unfolded
from tests.fuzz.grammar.sources import key_terms
from tests.fuzz.tree import Node, construct, expression, frozen, optional, plain

construct(
    "frame-rows",
    "frame-range",
    "frame-groups",
    "frame-exclude",
    "window-partition",
    "window-named",
    "window-inherits",
    "window-filter",
)

_KINDS = (Kind.INTEGER, Kind.REAL, Kind.TEXT, Kind.DATE)


_FRAMES = (
    ("UNBOUNDED PRECEDING", "CURRENT ROW"), ("1 PRECEDING", "CURRENT ROW"), ("1 PRECEDING", "1 FOLLOWING"),
    ("CURRENT ROW", "UNBOUNDED FOLLOWING"), ("UNBOUNDED PRECEDING", "UNBOUNDED FOLLOWING"),
    ("2 PRECEDING", "1 PRECEDING"), ("1 FOLLOWING", "3 FOLLOWING"), ("UNBOUNDED PRECEDING", "1 PRECEDING"),
)  # fmt: skip
_SPANS = (
    "1 PRECEDING AND CURRENT ROW", "2 PRECEDING AND 2 FOLLOWING", "UNBOUNDED PRECEDING AND CURRENT ROW",
)  # fmt: skip


def _partition(gen: Generator) -> list[Node]:
    if gen.chance(0.5):
        return []
    return [optional("PARTITION BY ", gen.expr(*_KINDS), " ", tag="window-partition")]


def _direction(gen: Generator) -> str:
    return gen.pick(("", "", " DESC", " ASC", " DESC NULLS LAST", " NULLS LAST", " NULLS FIRST"))


def _ties(gen: Generator) -> Node:
    """ORDER BY among whose ties the order does not matter."""
    return plain("ORDER BY ", gen.expr(*_KINDS), _direction(gen))


def _total(gen: Generator) -> Node:
    first = [optional(gen.expr(*_KINDS), _direction(gen), ", ")] if gen.chance(0.8) else []
    return plain("ORDER BY ", *first, key_terms(gen))


def _frame(gen: Generator) -> Node:
    start, end = gen.pick(_FRAMES)
    kind = gen.weighted([(8, "ROWS"), (0.3, "GROUPS")])
    text = f" {kind} BETWEEN {start} AND {end}"
    if end == "CURRENT ROW" and gen.chance(0.4):
        text = f" {kind} {start}"
    excluded = gen.pick(("CURRENT ROW", "TIES", "GROUP", "NO OTHERS")) if gen.chance(0.03) else ""
    without = optional(f" EXCLUDE {excluded}", tag="frame-exclude") if excluded else plain()
    return optional(text, without, tag=f"frame-{kind.lower()}")


def _over(gen: Generator, order: Node, *frame: Node) -> Node:
    """OVER with that order, which can be the scope's named window."""
    definition = plain(*_partition(gen), order)
    if not frame and not gen.scope.named_windows and gen.chance(0.1):
        gen.scope.named_windows.append(plain(" WINDOW w AS (", definition, ")"))
        return plain(" OVER w", tag="window-named")
    if not gen.scope.named_windows and gen.chance(0.15):
        parts = plain(" WINDOW w AS (", *_partition(gen), "), v AS (w ", order, ")")
        gen.scope.named_windows.append(parts)
        return plain(" OVER (v", *frame, ")", tag="window-inherits")
    return plain(" OVER (", definition, *frame, ")")


def _bare(gen: Generator) -> bool:
    """Whether window functions have nothing to run over."""
    return not gen.scope.sources or gen.scope.rows is not None


@rule("row-number", Kind.INTEGER, weight=6, among=WINDOWS)
def row_number(gen: Generator, _: Kind) -> Node | None:
    if _bare(gen):
        return None
    with gen.instead(replace(gen.scope, windows=False)):
        name = gen.pick(("ROW_NUMBER()", "ROW_NUMBER()", f"NTILE({gen.pick('1234')})"))
        return expression(name, _over(gen, _total(gen)))


@rule("rank", Kind.INTEGER, weight=6, among=WINDOWS)
def rank(gen: Generator, _: Kind) -> Node | None:
    if _bare(gen):
        return None
    with gen.instead(replace(gen.scope, windows=False)):
        return expression(gen.pick(("RANK()", "DENSE_RANK()")), _over(gen, _ties(gen)))


@rule("percent-rank", Kind.REAL, weight=3, among=WINDOWS)
def percent_rank(gen: Generator, _: Kind) -> Node | None:
    if _bare(gen):
        return None
    with gen.instead(replace(gen.scope, windows=False)):
        return expression(gen.pick(("PERCENT_RANK()", "CUME_DIST()")), _over(gen, _ties(gen)))


@rule("lag-lead", *_KINDS, weight=4, among=WINDOWS)
def lag(gen: Generator, kind: Kind) -> Node | None:
    if _bare(gen):
        return None
    with gen.instead(replace(gen.scope, windows=False)):
        more: list[Node | str] = [f", {gen.pick('012')}"] if gen.chance(0.5) else []
        if more and gen.chance(0.5):
            more += [", ", gen.leaf(kind)]
        return expression(
            gen.pick(("LAG(", "LEAD(")), gen.strictly(kind), *more, ")", _over(gen, _total(gen))
        )


@rule("first-value", *_KINDS, weight=4, among=WINDOWS)
def first_value(gen: Generator, kind: Kind) -> Node | None:
    if _bare(gen):
        return None
    with gen.instead(replace(gen.scope, windows=False)):
        name, more = gen.pick((("FIRST_VALUE", ""), ("LAST_VALUE", ""), ("NTH_VALUE", ", 2")))
        frame = [_frame(gen)] if gen.chance(0.5) else []
        return expression(f"{name}(", gen.expr(kind), f"{more})", _over(gen, _total(gen), *frame))


@rule("window-aggregate", *_KINDS, weight=6, among=WINDOWS)
def aggregate(gen: Generator, kind: Kind) -> Node | None:
    if _bare(gen):
        return None
    with gen.instead(replace(gen.scope, windows=False)):
        call = _aggregate(gen, kind)
        # SQLite 3.40 forgets the FILTER of MIN and MAX over some frames.
        if kind in NUMBERS and gen.chance(0.15):
            call = plain(call, optional(" FILTER (WHERE ", gen.condition(), ")", tag="window-filter"))
        return expression(call, gen.pick(_OVERS)(gen))


def _aggregate(gen: Generator, kind: Kind) -> Node:
    if kind not in NUMBERS:
        return plain(gen.pick(("MIN(", "MAX(")), unfolded(gen, kind), ")")
    if gen.chance(0.3):
        return plain("COUNT(", gen.expr(*_KINDS), ")")
    return plain(gen.pick(("SUM(", "AVG(", "TOTAL(")), exact(gen, *NUMBERS), ")")


def _over_span(gen: Generator) -> Node:
    """OVER with a frame of neighbouring values."""
    refs = [
        ref for ref in gen.scope.refs if ref.column.exact and ref.column.kind in NUMBERS and ref.qualifier
    ]
    if not refs:
        return _over(gen, _ties(gen))
    ref = gen.pick(refs)
    order = frozen(f'ORDER BY "{ref.qualifier}"."{ref.column.name}"')
    span = optional(f" RANGE BETWEEN {gen.pick(_SPANS)}", tag="frame-range")
    return plain(" OVER (", *_partition(gen), order, span, ")")


def _over_all(gen: Generator) -> Node:
    return plain(" OVER (", *_partition(gen), ")")


def _over_ties(gen: Generator) -> Node:
    return _over(gen, _ties(gen))


def _over_rows(gen: Generator) -> Node:
    return _over(gen, _total(gen), _frame(gen))


_OVERS = (_over_all, _over_all, _over_ties, _over_span, _over_rows, _over_rows)
