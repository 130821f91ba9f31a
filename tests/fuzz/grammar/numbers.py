"""Arithmetic, casts to numbers and numeric functions. https://sqlite.org/lang_corefunc.html."""

from tests.fuzz.catalog import NUMBERS, Kind
from tests.fuzz.generator import Generator, rule
from tests.fuzz.tree import Node, expression

_ANY = (Kind.INTEGER, Kind.REAL, Kind.TEXT, Kind.DATE, Kind.CONDITION)


def _anything(gen: Generator) -> Node:
    """What is to be cast to a number, rarely a blob."""
    return gen.expr(Kind.BLOB) if gen.chance(0.02) else gen.expr(*_ANY)


@rule("arithmetic", Kind.INTEGER, weight=8)
def arithmetic(gen: Generator, _: Kind) -> Node:
    return expression("(", gen.expr(Kind.INTEGER), f" {gen.pick('+-*')} ", gen.expr(Kind.INTEGER), ")")


@rule("arithmetic-real", Kind.REAL, weight=8)
def arithmetic_real(gen: Generator, _: Kind) -> Node:
    parts = [gen.expr(Kind.REAL), gen.expr(*NUMBERS)]
    gen.random.shuffle(parts)
    return expression("(", parts[0], f" {gen.pick('+-*/')} ", parts[1], ")")


@rule("integer-division", Kind.INTEGER, weight=6)
def division(gen: Generator, _: Kind) -> Node:
    divisor = gen.expr(Kind.INTEGER) if gen.chance(0.6) else expression(gen.pick(("0", "2", "-2", "3", "-1")))
    return expression("(", gen.expr(Kind.INTEGER), " / ", divisor, ")")


@rule("modulo", Kind.INTEGER, weight=5)
def modulo(gen: Generator, _: Kind) -> Node:
    divisor = gen.expr(*NUMBERS) if gen.chance(0.6) else expression(gen.pick(("0", "2", "-2", "3", "2.5")))
    return expression("(", gen.expr(*NUMBERS), " % ", divisor, ")")


@rule("arithmetic-on-text", Kind.INTEGER, Kind.REAL, weight=3)
def arithmetic_on_text(gen: Generator, _: Kind) -> Node:
    parts = [gen.expr(Kind.TEXT, Kind.DATE), gen.expr(*NUMBERS, Kind.TEXT)]
    gen.random.shuffle(parts)
    return expression("(", parts[0], f" {gen.pick('+-*/%')} ", parts[1], ")")


@rule("arithmetic-on-condition", Kind.INTEGER, weight=2)
def arithmetic_on_condition(gen: Generator, _: Kind) -> Node:
    return expression(
        "(", gen.expr(Kind.CONDITION), f" {gen.pick('+-*')} ", gen.expr(Kind.CONDITION, Kind.INTEGER), ")"
    )


@rule("integer-overflow", Kind.INTEGER, Kind.REAL, weight=1)
def overflow(gen: Generator, _: Kind) -> Node:
    big = gen.pick(("9223372036854775807", "-9223372036854775808", "4611686018427387904", "3037000500"))
    operator = gen.pick("+-*")
    return expression("(", expression(big), f" {operator} ", gen.expr(Kind.INTEGER), ")")


@rule("percentage", Kind.REAL, weight=4)
def percentage(gen: Generator, _: Kind) -> Node:
    whole, part = gen.expr(Kind.INTEGER), gen.expr(Kind.INTEGER)
    return expression(
        *gen.pick(
            (
                ("(CAST(", part, " AS REAL) / ", whole, ")"),
                ("(CAST(", part, " AS REAL) * 100 / ", whole, ")"),
                ("(", part, " * 100.0 / ", whole, ")"),
                ("(", part, " * 1.0 / ", whole, ")"),
            )
        )
    )


@rule("unary-sign", Kind.INTEGER, Kind.REAL, weight=3)
def sign(gen: Generator, kind: Kind) -> Node:
    inner = gen.expr(kind) if gen.chance(0.85) else gen.expr(Kind.TEXT)
    return expression(gen.pick(("(- ", "(+ ")), inner, ")")


@rule("bitwise", Kind.INTEGER, weight=4)
def bitwise(gen: Generator, _: Kind) -> Node:
    if gen.chance(0.25):
        return expression("(~ ", gen.expr(Kind.INTEGER), ")")
    operator = gen.pick(("&", "|", "<<", ">>"))
    right = gen.expr(Kind.INTEGER)
    if operator in ("<<", ">>") and gen.chance(0.7):
        right = expression(gen.pick(("1", "2", "0", "-1", "63", "64", "65", "31")))
    return expression("(", gen.expr(Kind.INTEGER), f" {operator} ", right, ")")


@rule("cast-integer", Kind.INTEGER, weight=5)
def cast_integer(gen: Generator, _: Kind) -> Node:
    name = gen.pick(("INTEGER", "INT", "BIGINT", "integer", "SIGNED", "UNSIGNED BIG INT"))
    return expression("CAST(", _anything(gen), f" AS {name})")


@rule("cast-real", Kind.REAL, weight=5)
def cast_real(gen: Generator, _: Kind) -> Node:
    name = gen.pick(("REAL", "FLOAT", "DOUBLE", "real", "DOUBLE PRECISION"))
    return expression("CAST(", _anything(gen), f" AS {name})")


@rule("cast-numeric", Kind.REAL, Kind.INTEGER, weight=2)
def cast_numeric(gen: Generator, _: Kind) -> Node:
    name = gen.pick(("NUMERIC", "DECIMAL(10, 2)", "DECIMAL", "BOOLEAN"))
    return expression("CAST(", _anything(gen), f" AS {name})")


@rule("round", Kind.REAL, weight=6)
def rounded(gen: Generator, _: Kind) -> Node:
    if gen.chance(0.4):
        return expression("ROUND(", gen.expr(Kind.REAL), ")")
    digits = gen.pick(("0", "1", "2", "3", "2", "-1")) if gen.chance(0.9) else gen.expr(Kind.INTEGER)
    return expression("ROUND(", gen.expr(*NUMBERS), ", ", digits, ")")


@rule("round-tie", Kind.REAL, weight=1)
def rounded_tie(gen: Generator, _: Kind) -> Node:
    number = gen.pick(
        ("2.5", "-2.5", "0.5", "1.005", "2.675", "0.125", "-0.375", "1e15 + 0.5", "0.285", "1234567.891")
    )
    return expression(f"ROUND({number}", gen.pick(("", ", 0", ", 1", ", 2")), ")")


@rule("abs", Kind.INTEGER, Kind.REAL, weight=3)
def absolute(gen: Generator, kind: Kind) -> Node:
    return expression(
        gen.pick(("ABS(", "abs(")), gen.expr(kind) if gen.chance(0.8) else gen.expr(Kind.TEXT), ")"
    )


@rule("length", Kind.INTEGER, weight=4)
def length(gen: Generator, _: Kind) -> Node:
    return expression("LENGTH(", gen.expr(Kind.TEXT, Kind.TEXT, Kind.TEXT, Kind.DATE, Kind.BLOB), ")")


@rule("length-of-number", Kind.INTEGER, weight=1)
def length_of_number(gen: Generator, _: Kind) -> Node:
    return expression("LENGTH(", gen.expr(*NUMBERS), ")")


@rule("instr", Kind.INTEGER, weight=4)
def instr(gen: Generator, _: Kind) -> Node:
    part = (
        gen.expr(Kind.TEXT)
        if gen.chance(0.3)
        else expression(gen.pick(("'a'", "'A'", "' '", "'-'", "''", "'0'")))
    )
    return expression("INSTR(", gen.expr(Kind.TEXT, Kind.DATE), ", ", part, ")")


@rule("unicode", Kind.INTEGER, weight=1)
def unicode(gen: Generator, _: Kind) -> Node:
    return expression("UNICODE(", gen.expr(Kind.TEXT), ")")


@rule("sign", Kind.INTEGER, weight=1)
def signum(gen: Generator, _: Kind) -> Node:
    return expression("SIGN(", gen.expr(*NUMBERS, Kind.TEXT), ")")


@rule("math", Kind.REAL, weight=1)
def math(gen: Generator, _: Kind) -> Node:
    name = gen.pick(("FLOOR", "CEIL", "CEILING", "SQRT"))
    return expression(f"{name}(", gen.expr(*NUMBERS), ")")
