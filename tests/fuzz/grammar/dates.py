"""Dates and times with their modifiers. https://sqlite.org/lang_datefunc.html."""

from tests.fuzz.catalog import Kind
from tests.fuzz.generator import Generator, rule
from tests.fuzz.tree import Node, construct, expression, optional

construct("date-modifier")

_MODIFIERS = (
    "'+1 day'", "'-1 day'", "'+10 days'", "'-3 months'", "'+1 month'", "'1 year'", "'-1 years'",
    "'+13 months'", "'start of month'", "'start of year'", "'start of day'", "'weekday 0'", "'weekday 1'",
    "'weekday 6'", "'+90 minutes'", "'-1 hour'", "'+30 seconds'", "'+1.5 days'", "'-0.5 hours'", "'+01:30'",
    "'-00:00:01'", "'START OF MONTH'", "'+2.5 months'",
)  # fmt: skip
_ODD_MODIFIERS = (
    "'foo'", "NULL", "'utc'", "'localtime'", "'auto'", "''", "'unixepoch'", "'julianday'", "'+1'",
    "' +1 day '",
)  # fmt: skip
_FORMATS = (
    "'%Y'", "'%m'", "'%d'", "'%Y-%m'", "'%Y-%m-%d'", "'%H'", "'%M'", "'%H:%M'", "'%S'", "'%s'", "'%j'",
    "'%w'", "'%Y'", "'%Y'", "'%m'", "'%W'", "'%f'", "'%J'", "'%d/%m/%Y %H:%M:%S'", "'%Y%%'", "'year %Y'",
    "'%Q'", "'%m-%d'",
)  # fmt: skip
_NOW = (
    "DATE('now')", "DATE('now', 'start of year')", "DATE()", "CURRENT_DATE", "DATE('now', '-1 month')",
    "STRFTIME('%Y-%m', 'now')", "DATETIME('now', 'start of day')",
)  # fmt: skip
"""The clock, but no part of it that changes within a run."""
_NUMBERS = (
    ("0", ", 'unixepoch'"), ("1580000000", ", 'unixepoch'"), ("2459000.5", ""), ("2459000", ", 'julianday'"),
    ("1580000000.75", ", 'unixepoch'"), ("-1", ", 'unixepoch'"), ("1580000000", ", 'auto'"),
)  # fmt: skip


def moment(gen: Generator) -> Node:
    """What is taken for a date; numbers are days of this age, since dates before the year -4712 differ."""
    if gen.chance(0.03):
        return expression("(2450000 + ", gen.expr(Kind.INTEGER, Kind.REAL), ")")
    return gen.strictly(Kind.TEXT if gen.chance(0.03) else Kind.DATE)


def modifiers(gen: Generator, most: int = 3) -> list[Node]:
    """Any number of modifiers, each with its comma."""
    count = gen.weighted([(5, 0), (5, 1), (2, 2), (1, most)])
    return [
        optional(", ", gen.pick(_ODD_MODIFIERS if gen.chance(0.06) else _MODIFIERS), tag="date-modifier")
        for _ in range(count)
    ]


@rule("strftime", Kind.TEXT, weight=7)
def strftime(gen: Generator, _: Kind) -> Node:
    return expression(
        f"{gen.pick(('STRFTIME', 'strftime'))}({gen.pick(_FORMATS)}, ", moment(gen), *modifiers(gen), ")"
    )


@rule("strftime-as-number", Kind.INTEGER, weight=4)
def strftime_as_number(gen: Generator, _: Kind) -> Node:
    form = gen.pick(("%Y", "%m", "%d", "%H", "%j", "%s"))
    call = expression(f"STRFTIME('{form}', ", moment(gen), ")")
    if gen.chance(0.5):
        return expression("CAST(", call, " AS INTEGER)")
    return expression("(", call, gen.pick((" + 0", " - 1", " * 2", " / 10", " % 100")), ")")


@rule("strftime-compare", Kind.CONDITION, weight=4)
def strftime_compare(gen: Generator, _: Kind) -> Node:
    form, value = gen.pick((("%Y", "2020"), ("%m", "02"), ("%Y-%m", "2020-01"), ("%d", "31"), ("%H", "12")))
    right = f"'{value}'" if gen.chance(0.7) else str(int(value)) if value.isdecimal() else "2020"
    call = expression(f"STRFTIME('{form}', ", moment(gen), *modifiers(gen, 1), ")")
    return expression("(", call, f" {gen.pick(('=', '<', '>=', '>', '<>'))} {right})")


@rule("date", Kind.DATE, Kind.TEXT, weight=6)
def date(gen: Generator, _: Kind) -> Node:
    return expression(gen.pick(("DATE(", "date(")), moment(gen), *modifiers(gen), ")")


@rule("datetime", Kind.DATE, weight=4)
def datetime(gen: Generator, _: Kind) -> Node:
    return expression("DATETIME(", moment(gen), *modifiers(gen), ")")


@rule("time", Kind.DATE, weight=2)
def time(gen: Generator, _: Kind) -> Node:
    return expression("TIME(", moment(gen), *modifiers(gen), ")")


@rule("now", Kind.DATE, weight=2)
def now(gen: Generator, _: Kind) -> Node:
    return expression(gen.pick(_NOW))


@rule("julianday", Kind.REAL, weight=4)
def julianday(gen: Generator, _: Kind) -> Node:
    if gen.chance(0.4):
        return expression("(JULIANDAY(", moment(gen), ") - JULIANDAY(", moment(gen), "))")
    return expression("JULIANDAY(", moment(gen), *modifiers(gen), ")")


@rule("unixepoch", Kind.INTEGER, weight=1)
def unixepoch(gen: Generator, _: Kind) -> Node:
    return expression("UNIXEPOCH(", moment(gen), *modifiers(gen), ")")


@rule("date-of-number", Kind.DATE, weight=1)
def date_of_number(gen: Generator, _: Kind) -> Node:
    number, modifier = gen.pick(_NUMBERS)
    return expression(f"{gen.pick(('DATE', 'DATETIME'))}({number}{modifier}", *modifiers(gen, 1), ")")


@rule("date-minus-date", Kind.INTEGER, weight=2)
def minus(gen: Generator, _: Kind) -> Node:
    return expression("(", gen.expr(Kind.DATE), " - ", gen.expr(Kind.DATE), ")")


@rule("date-compare", Kind.CONDITION, weight=3)
def compare(gen: Generator, _: Kind) -> Node:
    right = gen.pick(
        ("'2020'", "'2020-06'", "'2020-01-01'", "2020", "'2021-01-01 12'", "DATE('2020-02-01', '+1 month')")
    )
    return expression("(", moment(gen), f" {gen.pick(('<', '>', '<=', '>=', '='))} ", expression(right), ")")
