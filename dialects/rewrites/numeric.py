"""SQLite's functions on numbers.

https://sqlite.org/lang_corefunc.html https://sqlite.org/lang_mathfunc.html
"""

import math
from collections.abc import Callable

from sqlglot import exp

from dialects.coercions import BIGGEST, EXACT, as_double, as_integer, as_number, literal, within
from dialects.errors import Untranslatable
from dialects.functions import function
from dialects.nodes import (
    Bigint,
    Double,
    Quotient,
    Random,
    Remainder,
    Truncated,
    case,
    every,
    grouped,
    number,
    server,
    unless,
)
from dialects.rewrites.calls import scalar, size
from dialects.rules import Context, Rule
from dialects.typed import Kind, Typed, integer, null, real

RULES = (
    Rule(
        "round",
        "round() gives a REAL, and rounds its true binary value, ties away from zero.",
        "https://sqlite.org/lang_corefunc.html#round",
        "`bird_sqlite.round_to`; an integer stays what it is, as a REAL.",
    ),
    Rule(
        "abs-of-text",
        "abs() of a text is the REAL that it begins with.",
        "https://sqlite.org/lang_corefunc.html#abs",
        "`bird_sqlite.to_real`.",
    ),
    Rule(
        "math-of-text",
        "A text that is no number gives NULL.",
        "https://sqlite.org/lang_mathfunc.html",
        "`bird_sqlite.as_number`.",
    ),
    Rule(
        "random",
        "random() is any INTEGER.",
        "https://sqlite.org/lang_corefunc.html#random",
        "53 bits of RAND() or RANDOM() spread over 64; there is none where it would be computed twice.",
    ),
    Rule(
        "math-domain",
        "Outside of its domain a function gives NULL.",
        "https://sqlite.org/lang_mathfunc.html",
        "CASE.",
    ),
)

_WHOLE = 4503599627370496.0
"""Beyond this no REAL has a fraction."""

_LONGEST_TWICE = 20
"""Nodes of an expression that may be written more than once."""

Domain = Callable[[exp.Expr], exp.Expr]


@scalar("abs")
def absolute(c: Context, arguments: list[Typed]) -> Typed:
    """The absolute value: an INTEGER's or a REAL."""
    [x] = arguments
    if x.kind in {Kind.TEXT, Kind.BLOB}:
        c.applies("abs-of-text")
        x = as_double(c, x)
    x = as_number(c, x)
    if x.constant is not None and x.constant.value == -(2**63):
        raise Untranslatable("abs() of the least integer", "SQLite stops with an error where it runs")
    node = x.node
    if c.target.computes_untaken and x.kind is Kind.INTEGER and x.low == -(2**63):
        # SQLite stops at the least integer, but only in a branch that it takes.
        least = exp.Sub(this=number(-BIGGEST), expression=number(1))
        node = unless(node, exp.Paren(this=least))
    low = 0.0 if x.low is None or x.high is None else max(0, x.low, -x.high)
    high = None if x.low is None or x.high is None else max(abs(x.low), abs(x.high))
    return x.of(node=exp.Abs(this=node), low=low, high=high, constant=None)


@scalar("round", least=1, most=2)
def rounded(c: Context, arguments: list[Typed]) -> Typed:
    """round(X[, Y]), a REAL."""
    x = as_number(c, arguments[0])
    digits = as_integer(c, arguments[1]) if len(arguments) > 1 else literal(0)
    if x.kind is Kind.INTEGER and not digits.nullable:
        return as_double(c, x)
    c.applies("round")
    low = None if x.low is None else math.floor(x.low)
    high = None if x.high is None else math.ceil(x.high)
    double = as_double(c, x).node
    if digits.constant is not None and digits.constant.value == 0 and size(double) <= _LONGEST_TWICE:
        node: exp.Expr = _to_whole(c, double, surely=within(x, _WHOLE))
    else:
        node = server("round_to", double, digits.node)
    return real(node, low=low, high=high, nullable=x.nullable or digits.nullable)


def _to_whole(c: Context, x: exp.Expr, *, surely: bool) -> exp.Expr:
    """A half away from zero is added and the rest cut off; a sum with zero has no -0.0."""
    half = case((exp.LT(this=x.copy(), expression=number(0)), literal(-0.5).node), default=literal(0.5).node)
    moved = exp.Add(this=grouped(x.copy()), expression=half)
    cut = _cut_off(c, moved)
    whole = exp.Add(this=cut, expression=literal(0.0).node)
    if surely:
        return whole
    return case((exp.GT(this=exp.Abs(this=x.copy()), expression=literal(_WHOLE).node), x), default=whole)


def _cut_off(c: Context, x: exp.Expr) -> exp.Expr:
    if c.target.truncates_to_places:
        return exp.Anonymous(this="TRUNCATE", expressions=[x, number(0)])
    return exp.Anonymous(this="TRUNC", expressions=[x])


@scalar("sign")
def sign(c: Context, arguments: list[Typed]) -> Typed:
    """-1, 0 or 1."""
    x = _argument(c, arguments[0])
    if x.kind is Kind.NULL:
        return null()
    return integer(Bigint(this=exp.Sign(this=as_double(c, x).node)), -1, 1, nullable=x.nullable)


def _whole(name: str, *spellings: str) -> None:
    """A function that gives an INTEGER for an INTEGER, and a REAL without fraction for a REAL."""

    @scalar(name, *spellings)
    def whole(c: Context, arguments: list[Typed]) -> Typed:
        x = _argument(c, arguments[0])
        if x.kind in {Kind.NULL, Kind.INTEGER}:
            return x
        known = exp.Anonymous(this=name.upper(), expressions=[x.node])
        node = _cut_off(c, x.node) if name == "trunc" else known
        low = None if x.low is None else math.floor(x.low)
        high = None if x.high is None else math.ceil(x.high)
        return x.of(node=node, low=low, high=high)


_whole("ceil", "ceiling")
_whole("floor")
_whole("trunc")


def _analytic(name: str, domain: Domain | None = None) -> None:
    """A function of one REAL, by its own name where a target has it; beyond its domain SQLite's is NULL."""

    @scalar(name)
    def analytic(c: Context, arguments: list[Typed]) -> Typed:
        if name in c.target.missing_functions:
            raise Untranslatable(f"{name}()", f"{c.target.title} has no such function")
        x = _argument(c, arguments[0])
        if x.kind is Kind.NULL:
            return null()
        argument = as_double(c, x).node
        call = exp.Anonymous(this=name.upper(), expressions=[argument.copy()])
        if domain is None:
            return real(call, nullable=x.nullable)
        c.applies("math-domain")
        return real(case((domain(argument.copy()), call)))


def _at_least_zero(x: exp.Expr) -> exp.Expr:
    return exp.GTE(this=x, expression=number(0))


def _positive(x: exp.Expr) -> exp.Expr:
    return exp.GT(this=x, expression=number(0))


def _unit(x: exp.Expr) -> exp.Expr:
    return exp.Between(this=x, low=number(-1), high=number(1))


def _at_least_one(x: exp.Expr) -> exp.Expr:
    return exp.GTE(this=x, expression=number(1))


_analytic("sqrt", _at_least_zero)
_analytic("ln", _positive)
for _name in ("exp", "sin", "cos", "tan", "atan", "degrees", "radians"):
    _analytic(_name)
for _name in ("asin", "acos"):
    _analytic(_name, _unit)
for _name in ("sinh", "cosh", "tanh", "asinh"):
    _analytic(_name)
_analytic("acosh", _at_least_one)


@scalar("log10")
def log10(c: Context, arguments: list[Typed]) -> Typed:
    """The logarithm to base 10."""
    x = _argument(c, arguments[0])
    if x.kind is Kind.NULL:
        return null()
    c.applies("math-domain")
    argument = as_double(c, x).node
    call = exp.Anonymous(this=c.target.log10, expressions=[argument])
    return real(case((_positive(argument.copy()), call)))


@scalar("log2")
def log2(c: Context, arguments: list[Typed]) -> Typed:
    """The logarithm to base 2."""
    return _logarithm(c, literal(2), arguments[0])


@scalar("log", least=1, most=2)
def log(c: Context, arguments: list[Typed]) -> Typed:
    """The logarithm of X to base 10, or of the second argument to base of the first one."""
    return log10(c, arguments) if len(arguments) == 1 else _logarithm(c, *arguments)


def _logarithm(c: Context, base: Typed, x: Typed) -> Typed:
    base, x = _argument(c, base), _argument(c, x)
    if Kind.NULL in {base.kind, x.kind}:
        return null()
    c.applies("math-domain")
    below, above = as_double(c, base).node, as_double(c, x).node
    logs = [exp.Anonymous(this="LN", expressions=[part.copy()]) for part in (above, below)]
    defined = every([_positive(above.copy()), exp.GT(this=below.copy(), expression=number(1))])
    return real(case((defined, Quotient(this=logs[0], expression=logs[1]))))


@scalar("power", "pow", least=2, most=2)
def power(c: Context, arguments: list[Typed]) -> Typed:
    """X to the power of Y; NULL for a root of a negative number. What is infinite is the server's error."""
    found = _of_two(c, "POWER", arguments)
    base, exponent = (as_double(c, as_number(c, argument)) for argument in arguments)
    if found.kind is Kind.NULL or (base.low is not None and base.low >= 0):
        return found
    c.applies("math-domain")
    cut = Double(this=Truncated(this=exponent.node.copy()))
    negative = exp.LT(this=base.node.copy(), expression=number(0))
    root = every([negative, exp.NEQ(this=exponent.node.copy(), expression=cut)])
    return found.of(node=case((exp.Not(this=root), found.node)), nullable=True)


@scalar("atan2", least=2, most=2)
def atan2(c: Context, arguments: list[Typed]) -> Typed:
    """The angle of a point."""
    return _of_two(c, "ATAN2", arguments)


def _of_two(c: Context, name: str, arguments: list[Typed]) -> Typed:
    x, y = (_argument(c, argument) for argument in arguments)
    if Kind.NULL in {x.kind, y.kind}:
        return null()
    call = exp.Anonymous(this=name, expressions=[as_double(c, x).node, as_double(c, y).node])
    return real(call, nullable=x.nullable or y.nullable)


@scalar("mod", least=2, most=2)
def mod(c: Context, arguments: list[Typed]) -> Typed:
    """The remainder of a division, a REAL."""
    x, y = (_argument(c, argument) for argument in arguments)
    if Kind.NULL in {x.kind, y.kind}:
        return null()
    if x.kind is Kind.INTEGER and y.kind is Kind.INTEGER and within(x, EXACT) and within(y, EXACT):
        return real(Double(this=Remainder(this=x.node, expression=y.node)))
    if c.target.has_real_modulo:
        return real(Remainder(this=as_double(c, x).node, expression=as_double(c, y).node))
    raise Untranslatable("mod() of reals", f"{c.target.title} has it for exact numbers alone")


@function("random", least=0, most=0)
def random(c: Context, _arguments: list[Typed]) -> Typed:
    """Any INTEGER, another one each time."""
    c.applies("random")
    c.warn("random() is another number each time")
    return integer(Random(), -(2**63), BIGGEST, nullable=False)


@function("pi", least=0, most=0)
def pi(_c: Context, _arguments: list[Typed]) -> Typed:
    """3.14159..."""
    return literal(math.pi)


def _argument(c: Context, x: Typed) -> Typed:
    """What a mathematical function reads of a value: a text that is no number is NULL."""
    if x.kind is Kind.BLOB:
        return null()
    if x.kind is not Kind.TEXT:
        return x
    c.applies("math-of-text")
    return Typed(server("as_number", x.node), Kind.NUMBER)
