"""SQLite's functions on numbers, and printf() with a constant format.

https://sqlite.org/lang_corefunc.html https://sqlite.org/lang_mathfunc.html https://sqlite.org/printf.html
"""

import math
import re
from collections.abc import Callable, Iterator
from functools import partial

from sqlglot import exp

from dialects.coercions import BIGGEST, EXACT, as_double, as_integer, as_number, as_text, literal, within
from dialects.errors import Untranslatable
from dialects.nodes import (
    Double,
    Exact,
    HexadecimalInteger,
    Joined,
    Octets,
    Quotient,
    Random,
    Remainder,
    Text,
    Thousands,
    Truncated,
    WithoutFraction,
    builtin,
    case,
    coalesced,
    every,
    grouped,
    number,
    server,
    signed,
    string,
    unless,
)
from dialects.rewrites.functions import as_math, as_real, size
from dialects.value_types import Context, Form, Kind, Typed, integer, null, real, text

_WHOLE = 4503599627370496.0
"""From here on, no REAL has a fraction."""

_LONGEST_TWICE = 20
"""Most nodes of an expression that is written more than once."""


def absolute(c: Context, arguments: list[Typed]) -> Typed:
    """Return the absolute value: an INTEGER of an INTEGER, else a REAL."""
    [x] = arguments
    if x.kind in {Kind.TEXT, Kind.BLOB}:
        c.applies("abs-of-text")
        x = as_double(c, x)
    x = as_number(c, x)
    if x.constant is not None and x.constant.value == -(2**63):
        raise Untranslatable("abs() of the least integer", "SQLite stops with an error where it runs")
    node = x.node
    if c.lowers("untaken-branches") and x.kind is Kind.INTEGER and x.number.low == -(2**63):
        # SQLite fails for the least integer, but only in a branch that is evaluated.
        least = exp.Sub(this=number(-BIGGEST), expression=number(1))
        node = unless(node, exp.Paren(this=least))
    low = 0.0 if x.number.low is None or x.number.high is None else max(0, x.number.low, -x.number.high)
    return x.of(node=exp.Abs(this=node), constant=None).with_number(low=low, high=x.number.greatest)


def rounded(c: Context, arguments: list[Typed]) -> Typed:
    """Return round(X[, Y]), a REAL."""
    x = as_number(c, arguments[0])
    digits = as_integer(c, arguments[1]) if len(arguments) > 1 else literal(0)
    if x.kind is Kind.INTEGER and not digits.nullable:
        return as_double(c, x)
    c.applies("round")
    low = None if x.number.low is None else math.floor(x.number.low)
    high = None if x.number.high is None else math.ceil(x.number.high)
    double = as_double(c, x).node
    if digits.constant is not None and digits.constant.value == 0 and size(double) <= _LONGEST_TWICE:
        node: exp.Expr = _to_whole(double, surely=within(x, _WHOLE))
    else:
        node = server("round_to", double, digits.node)
    return real(node, low=low, high=high, nullable=x.nullable or digits.nullable)


def _to_whole(x: exp.Expr, *, surely: bool) -> exp.Expr:
    """Round half away from zero: add a half and truncate; adding zero avoids -0.0."""
    half = case((exp.LT(this=x.copy(), expression=number(0)), literal(-0.5).node), default=literal(0.5).node)
    moved = exp.Add(this=grouped(x.copy()), expression=half)
    cut = WithoutFraction(this=moved)
    whole = exp.Add(this=cut, expression=literal(0.0).node)
    if surely:
        return whole
    return case((exp.GT(this=exp.Abs(this=x.copy()), expression=literal(_WHOLE).node), x), default=whole)


def _whole(name: str, c: Context, arguments: list[Typed]) -> Typed:
    """Keep an INTEGER, and round a REAL to a REAL without fraction."""
    if arguments[0].text.form is Form.DIGITS:
        return as_number(c, arguments[0])
    x = as_math(c, arguments[0])
    if x.kind in {Kind.NULL, Kind.INTEGER}:
        return x
    node: exp.Expr = WithoutFraction(this=x.node) if name == "TRUNC" else builtin(name, x.node)
    node = signed(node)
    if c.lowers("cut-roundings") and not within(x, _WHOLE):
        node = Double(this=node)
    low = None if x.number.low is None else math.floor(x.number.low)
    high = None if x.number.high is None else math.ceil(x.number.high)
    return x.of(node=node).with_number(low=low, high=high)


ceil, floor, trunc = (partial(_whole, name) for name in ("CEIL", "FLOOR", "TRUNC"))


def log2(c: Context, arguments: list[Typed]) -> Typed:
    """Return the logarithm to base 2."""
    return _logarithm(c, literal(2), arguments[0])


def logarithm(c: Context, arguments: list[Typed]) -> Typed:
    """Return the logarithm of the second argument to the base of the first."""
    return _logarithm(c, *arguments)


def _logarithm(c: Context, base: Typed, x: Typed) -> Typed:
    base, x = as_math(c, base), as_math(c, x)
    if Kind.NULL in {base.kind, x.kind}:
        return null()
    c.applies("math-domain")
    below, above = as_double(c, base).node, as_double(c, x).node
    logs = [builtin("LN", part.copy()) for part in (above, below)]
    defined = every(
        [exp.GT(this=above.copy(), expression=number(0)), exp.GT(this=below.copy(), expression=number(1))]
    )
    return real(case((defined, Quotient(this=logs[0], expression=logs[1]))))


def power(c: Context, arguments: list[Typed]) -> Typed:
    """Return X to the power of Y; NULL for a root of a negative number. Infinity is an error on servers."""
    read = [as_real(c, argument) for argument in arguments]
    if any(argument.kind is Kind.NULL for argument in read):
        return null()
    call = builtin("POWER", *(argument.node for argument in read))
    found = real(call, nullable=any(argument.nullable for argument in read))
    base, exponent = (as_double(c, as_number(c, argument)) for argument in arguments)
    if base.number.low is not None and base.number.low >= 0:
        return found
    c.applies("math-domain")
    cut = Double(this=Truncated(this=exponent.node.copy()))
    negative = exp.LT(this=base.node.copy(), expression=number(0))
    root = every([negative, exp.NEQ(this=exponent.node.copy(), expression=cut)])
    return found.of(node=case((exp.Not(this=root), found.node)), nullable=True)


def mod(c: Context, arguments: list[Typed]) -> Typed:
    """Return the remainder of a division, a REAL."""
    x, y = (as_math(c, argument) for argument in arguments)
    if Kind.NULL in {x.kind, y.kind}:
        return null()
    if x.kind is Kind.INTEGER and y.kind is Kind.INTEGER and within(x, EXACT) and within(y, EXACT):
        return real(Double(this=Remainder(this=x.node, expression=y.node)))
    if not c.lowers("real-modulo"):
        return real(Remainder(this=as_double(c, x).node, expression=as_double(c, y).node))
    raise Untranslatable("mod() of reals", f"{c.target.title} has it for exact numbers alone")


def random(c: Context, _arguments: list[Typed]) -> Typed:
    """Return a random INTEGER, different on each evaluation."""
    c.applies("random")
    c.warn("random() is another number each time")
    return integer(Random(), -(2**63), BIGGEST, nullable=False)


def pi(_c: Context, _arguments: list[Typed]) -> Typed:
    """3.14159..."""
    return literal(math.pi)


_CONVERSION = re.compile(
    r"%(?:(?P<percent>%)"
    r"|(?P<flags>[-+ 0,!]*+)(?P<width>\d++|\*)?+(?:\.(?P<precision>\d*+|\*))?l{0,2}(?P<letter>[a-zA-Z]))"
    r"|(?P<plain>[^%]++)|(?P<other>%)",
    re.DOTALL,
)

_MOST_DIGITS = 20
"""Most digits after the point, and the greatest width."""


def printf(c: Context, arguments: list[Typed]) -> Typed:
    """Return the arguments in the format of the first one."""
    pattern, *values = arguments
    if pattern.kind is Kind.NULL:
        return null()
    if pattern.constant is None:
        raise Untranslatable("printf()", "its format is not a constant")
    c.applies("printf")
    found = str(as_text(c, pattern).constant.value)  # type: ignore[union-attr]
    rest = iter(values)
    parts: list[exp.Expr] = []
    for conversion in _CONVERSION.finditer(found):
        if conversion["other"]:
            raise Untranslatable("printf()", f"a conversion of the format {found!r} is not known here")
        if conversion["plain"] or conversion["percent"]:
            parts.append(string(conversion["plain"] or "%"))
        else:
            parts.append(_converted(c, conversion, rest))
    if not parts:
        return null()
    return text(parts[0] if len(parts) == 1 else Joined(expressions=parts), nullable=False)


def _converted(c: Context, conversion: re.Match[str], rest: Iterator[Typed]) -> exp.Expr:
    flags, letter = conversion["flags"], conversion["letter"]
    width = _count(conversion["width"] or "0", rest)
    precision = None if conversion["precision"] is None else abs(_count(conversion["precision"] or "0", rest))
    if width < 0:
        width, flags = -width, f"{flags}-"
    convert = _CONVERSIONS.get(letter)
    if convert is None:
        raise Untranslatable(f"%{letter} in printf()", "no rewrite knows this conversion")
    if max(width, precision or 0) > _MOST_DIGITS:
        raise Untranslatable(f"%{letter} in printf()", f"it asks for more than {_MOST_DIGITS} characters")
    if "!" in flags and letter not in _ALTERNATIVE:
        raise Untranslatable(f"%!{letter} in printf()", "it has digits or characters of its own")
    return convert(c, next(rest, null()), flags, width, precision)


def _count(written: str, rest: Iterator[Typed]) -> int:
    """Return a width or a precision; `*` takes it from an argument."""
    if written != "*":
        return int(written)
    given = next(rest, null())
    if given.constant is None or not isinstance(given.constant.value, int):
        raise Untranslatable("printf()", "a width or precision is not a constant")
    return given.constant.value


def _decimal(c: Context, x: Typed, flags: str, width: int, precision: int | None) -> exp.Expr:
    """Print %d: an integer, with zeros after its sign."""
    found = _integer(c, x)
    if "," in flags:
        if precision is not None or "0" in flags:
            raise Untranslatable("%d in printf()", "with zeros and commas")
        return _padded(_signed(found, Thousands(this=found.node), flags), flags, width)
    if "0" not in flags and precision is None:
        return _padded(_signed(found, Text(this=found.node), flags), flags, width)
    # The absolute value of -2^63 is not an integer.
    wide = found.node.copy() if within(x, BIGGEST) else Exact(this=found.node.copy())
    sign = _sign(found, flags)
    shown = [sign, _with_zeros(Text(this=exp.Abs(this=wide)), flags, width, precision, sign)]
    return _padded(Joined(expressions=shown), flags, width)


def _with_zeros(
    digits: exp.Expr, flags: str, width: int, precision: int | None, sign: exp.Expr | None = None
) -> exp.Expr:
    """Return digits with leading zeros up to the precision, or up to the width with flag 0."""
    lacking: list[exp.Expr] = []
    for least, taken in ((precision or 0, None), (width if "0" in flags else 0, sign)):
        if least:
            taken_by: exp.Expr = Octets(this=digits.copy())
            if taken is not None:
                taken_by = exp.Add(this=taken_by, expression=Octets(this=taken.copy()))
            lacking.append(exp.Sub(this=number(least), expression=exp.Paren(this=taken_by)))
    if not lacking:
        return digits
    many = lacking[0] if len(lacking) == 1 else exp.Greatest(this=lacking[0], expressions=lacking[1:])
    zeros = builtin("REPEAT", string("0"), many)
    return Joined(expressions=[zeros, digits])


def _real(kind: str) -> Callable[[Context, Typed, str, int, int | None], exp.Expr]:
    """Return the printer of %f, %e or %g: a real with `precision` digits, 6 by default."""

    def convert(c: Context, x: Typed, flags: str, width: int, precision: int | None) -> exp.Expr:
        found = _zero_for_null(as_double(c, x) if x.kind is not Kind.NULL else literal(0.0), literal(0.0))
        places = number(6 if precision is None else precision)

        def printed(node: exp.Expr) -> exp.Expr:
            if kind == "f":
                return server("fixed", node, places)
            shown = server("printed", node, string(kind.upper() if "!" in flags else kind.lower()), places)
            return _replaced(shown, "e", "E") if kind.isupper() else shown

        blanks = _padded(_signed(found, printed(found.node), flags), flags, width)
        if "0" not in flags or "-" in flags or not width:
            return blanks
        sign = _sign(found, flags)
        digits = printed(exp.Abs(this=found.node.copy()))
        zeros = Joined(expressions=[sign, _with_zeros(digits, flags, width, None, sign)])
        if not c.target.holds_infinity:
            return zeros
        infinite = exp.EQ(this=digits.copy(), expression=string("Inf"))
        return case((infinite, blanks), default=zeros)

    return convert


def _text(c: Context, x: Typed, flags: str, width: int, precision: int | None) -> exp.Expr:
    """Print %s: a text, empty for NULL; its width is in bytes, or in characters with flag !."""
    if precision is not None and "!" not in flags:
        raise Untranslatable("%s in printf()", "its precision counts bytes")
    if x.kind is Kind.NULL:
        return _padded(string(""), flags, width)
    shown = as_text(c, x).node
    if precision is not None:
        shown = builtin("LEFT", shown, number(precision))
    return _padded(coalesced(shown, string("")) if x.nullable else shown, flags, width)


def _escaped(mark: str, null_as: str, around: str = "") -> Callable[..., exp.Expr]:
    """Return the printer of %q, %Q or %w: a text with a quote doubled."""

    def convert(c: Context, x: Typed, flags: str, width: int, precision: int | None) -> exp.Expr:
        if precision is not None:
            raise Untranslatable("%q in printf()", "its precision counts bytes")
        if x.kind is Kind.NULL:
            return _padded(string(null_as), flags, width)
        shown = _replaced(as_text(c, x).node, mark, mark * 2)
        if around:
            shown = Joined(expressions=[string(around), shown, string(around)])
        if x.nullable:
            shown = coalesced(shown, string(null_as))
        return _padded(shown, flags, width)

    return convert


def _hexadecimal(case_of: str) -> Callable[[Context, Typed, str, int, int | None], exp.Expr]:
    def convert(c: Context, x: Typed, flags: str, width: int, precision: int | None) -> exp.Expr:
        if "," in flags:
            raise Untranslatable("%x in printf()", "with commas")
        shown = builtin(case_of, HexadecimalInteger(this=_integer(c, x).node))
        return _padded(_with_zeros(shown, flags, width, precision), flags, width)

    return convert


def _unsigned(c: Context, x: Typed, flags: str, width: int, precision: int | None) -> exp.Expr:
    """Print %u: the 64 bits of an integer as an unsigned number."""
    if "," in flags:
        raise Untranslatable("%u in printf()", "with commas")
    node = _integer(c, x).node
    beyond = exp.Add(this=Exact(this=node.copy()), expression=exp.Literal.number(str(2**64)))
    below = exp.LT(this=node.copy(), expression=number(0))
    digits = case((below, Text(this=exp.Paren(this=beyond))), default=Text(this=node.copy()))
    return _padded(_with_zeros(digits, flags, width, precision), flags, width)


_CONVERSIONS: dict[str, Callable[[Context, Typed, str, int, int | None], exp.Expr]] = {
    "d": _decimal,
    "i": _decimal,
    "u": _unsigned,
    "f": _real("f"),
    "e": _real("e"),
    "E": _real("E"),
    "g": _real("g"),
    "G": _real("G"),
    "s": _text,
    "q": _escaped("'", "(NULL)"),
    "Q": _escaped("'", "NULL", "'"),
    "w": _escaped('"', "(NULL)"),
    "x": _hexadecimal("LOWER"),
    "X": _hexadecimal("UPPER"),
}

_ALTERNATIVE = frozenset("sqQwegEG")
"""Conversions for which the flag ! is supported."""


def _integer(c: Context, x: Typed) -> Typed:
    found = literal(0) if x.kind is Kind.NULL else as_integer(c, x)
    return _zero_for_null(found, literal(0))


def _zero_for_null(x: Typed, zero: Typed) -> Typed:
    if not x.nullable:
        return x
    found = x.of(node=coalesced(x.node, zero.node), nullable=False)
    return found.with_number(low=None, high=None)


def _signed(x: Typed, shown: exp.Expr, flags: str) -> exp.Expr:
    """Add + or a blank before a number that is not negative."""
    if not set(flags) & {"+", " "}:
        return shown
    positive = string(_plus(flags))
    mark = case((exp.LT(this=x.node.copy(), expression=number(0)), string("")), default=positive)
    return Joined(expressions=[mark, shown])


def _plus(flags: str) -> str:
    """Return the sign of a number that is not negative, from the last such flag."""
    return max("+ ", key=flags.rfind) if set(flags) & {"+", " "} else ""


def _sign(x: Typed, flags: str) -> exp.Expr:
    positive = string(_plus(flags))
    if x.number.low is not None and x.number.low >= 0:
        return positive
    return case((exp.LT(this=x.node.copy(), expression=number(0)), string("-")), default=positive)


def _padded(shown: exp.Expr, flags: str, width: int) -> exp.Expr:
    """Pad with blanks up to a width in bytes, or in characters with flag !."""
    if not width:
        return shown
    length = builtin("CHAR_LENGTH", shown.copy())
    taken = length if "!" in flags else Octets(this=shown.copy())
    blanks = builtin("REPEAT", string(" "), exp.Sub(this=number(width), expression=taken))
    return Joined(expressions=[shown, blanks] if "-" in flags else [blanks, shown])


def _replaced(shown: exp.Expr, old: str, new: str) -> exp.Expr:
    return builtin("REPLACE", shown, string(old), string(new))
