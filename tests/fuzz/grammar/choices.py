"""Expressions that choose among values of any type. https://sqlite.org/lang_expr.html#the_case_expression."""

from tests.fuzz.catalog import NUMBERS, Kind
from tests.fuzz.generator import Generator, rule
from tests.fuzz.grammar.conditions import column_and_value
from tests.fuzz.tree import Node, expression, optional

_VALUES = (Kind.INTEGER, Kind.REAL, Kind.TEXT, Kind.DATE)


@rule("case", *_VALUES, weight=4)
def case(gen: Generator, kind: Kind) -> Node:
    branches = [
        (optional if at else expression)(" WHEN ", gen.expr(Kind.CONDITION), " THEN ", gen.strictly(kind))
        for at in range(gen.random.randint(1, 2))
    ]
    return expression("CASE", *branches, *_default(gen, kind), " END")


@rule("case-of-value", *_VALUES, weight=2)
def case_of_value(gen: Generator, kind: Kind) -> Node:
    subject, value = column_and_value(gen, gen.pick(_VALUES))
    second = optional(" WHEN ", gen.expr(Kind.INTEGER, Kind.TEXT), " THEN ", gen.strictly(kind))
    return expression(
        "CASE ", subject, " WHEN ", value, " THEN ", gen.strictly(kind), second, *_default(gen, kind), " END"
    )


def _default(gen: Generator, kind: Kind) -> list[Node]:
    return [optional(" ELSE ", gen.strictly(kind))] if gen.chance(0.7) else []


@rule("case-mixed", Kind.TEXT, Kind.INTEGER, weight=2)
def case_mixed(gen: Generator, _: Kind) -> Node:
    return expression(
        "CASE WHEN ",
        gen.expr(Kind.CONDITION),
        " THEN ",
        gen.expr(*NUMBERS),
        " ELSE ",
        gen.expr(Kind.TEXT),
        " END",
    )


@rule("iif", *_VALUES, weight=4)
def iif(gen: Generator, kind: Kind) -> Node:
    return expression(
        gen.pick(("IIF(", "iif(")),
        gen.expr(Kind.CONDITION),
        ", ",
        gen.strictly(kind),
        ", ",
        gen.strictly(kind),
        ")",
    )


@rule("coalesce", *_VALUES, weight=4)
def coalesce(gen: Generator, kind: Kind) -> Node:
    if gen.chance(0.5):
        return expression("IFNULL(", gen.strictly(kind), ", ", gen.strictly(kind), ")")
    third = [optional(", ", gen.strictly(kind))] if gen.chance(0.4) else []
    return expression("COALESCE(", gen.strictly(kind), ", ", gen.strictly(kind), *third, ")")


@rule("coalesce-mixed", *_VALUES, weight=2)
def coalesce_mixed(gen: Generator, _: Kind) -> Node:
    return expression("COALESCE(", gen.expr(*NUMBERS), ", ", gen.expr(Kind.TEXT), ")")


@rule("nullif", *_VALUES, weight=3)
def nullif(gen: Generator, kind: Kind) -> Node:
    left, right = column_and_value(gen, kind) if gen.chance(0.6) else (gen.expr(kind), gen.expr(*_VALUES))
    return expression("NULLIF(", left, ", ", right, ")")


@rule("scalar-min-max", *_VALUES, weight=3)
def extreme(gen: Generator, kind: Kind) -> Node:
    other = kind if gen.chance(0.97) else gen.pick(_VALUES)
    third = [optional(", ", gen.strictly(kind))] if gen.chance(0.3) else []
    name = gen.pick(("MAX(", "MIN(", "max("))
    return expression(name, gen.strictly(kind), ", ", gen.strictly(other), *third, ")")


@rule("unary-plus", *_VALUES, weight=1)
def plus(gen: Generator, kind: Kind) -> Node:
    return expression("(+", gen.expr(kind), ")")


@rule("likely", Kind.CONDITION, Kind.INTEGER, weight=1)
def likely(gen: Generator, kind: Kind) -> Node:
    return expression(gen.pick(("LIKELY(", "UNLIKELY(")), gen.expr(kind), ")")
