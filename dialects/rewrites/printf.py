"""printf() with a constant format, piece by piece. https://sqlite.org/printf.html."""

import re
from collections.abc import Callable

from sqlglot import exp

from dialects.coercions import BIGGEST, as_double, as_integer, as_text, literal, within
from dialects.errors import Untranslatable
from dialects.nodes import Exact, Joined, Text, case, number, server, string
from dialects.rewrites.calls import scalar
from dialects.rules import Context, Rule
from dialects.typed import Kind, Typed, null, text

RULES = (
    Rule(
        "printf",
        "printf() prints NULL as 0 or as nothing, and takes what it gets for the type that the format names.",
        "https://sqlite.org/printf.html",
        "The pieces of the format joined, each conversion spelled out; the format has to be a constant.",
    ),
)

_CONVERSION = re.compile(
    r"%(?:(?P<percent>%)"
    r"|(?P<flags>[-+ 0,]*+)(?P<width>\d++)?+(?:\.(?P<precision>\d++))?l{0,2}(?P<letter>[a-zA-Z]))"
    r"|(?P<plain>[^%]++)|(?P<other>%)",
    re.DOTALL,
)

_MOST_DIGITS = 20
"""After the point, and in a width: more is nobody's report."""

_THOUSANDS = "FM9,999,999,999,999,999,999"
"""https://www.postgresql.org/docs/current/functions-formatting.html"""


@scalar("printf", "format", least=1, most=None, strict=False)
def printf(c: Context, arguments: list[Typed]) -> Typed:
    """The arguments printed as the first one says."""
    pattern, *values = arguments
    if pattern.kind is Kind.NULL:
        return null()
    if pattern.constant is None:
        raise Untranslatable("printf()", "its format is no constant")
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
            parts.append(_converted(c, conversion, next(rest, null())))
    if not parts:
        return null()
    return text(parts[0] if len(parts) == 1 else Joined(expressions=parts), nullable=False)


def _converted(c: Context, conversion: re.Match[str], x: Typed) -> exp.Expr:
    flags, letter = conversion["flags"], conversion["letter"]
    width = int(conversion["width"] or 0)
    precision = None if conversion["precision"] is None else int(conversion["precision"])
    convert = _CONVERSIONS.get(letter)
    if convert is None or max(width, precision or 0) > _MOST_DIGITS:
        raise Untranslatable(f"%{letter} in printf()", "its digits are SQLite's own")
    return convert(c, x, flags, width, precision)


def _decimal(c: Context, x: Typed, flags: str, width: int, precision: int | None) -> exp.Expr:
    """%d: an integer, zeros after its sign."""
    if precision is not None or ("," in flags and "0" in flags):
        raise Untranslatable("%d in printf()", "with a precision, or with zeros and commas")
    found = _integer(c, x)
    if "," in flags:
        return _padded(_signed(found, _commas(c, found.node), flags), flags, width)
    if "0" not in flags:
        return _padded(_signed(found, Text(this=found.node), flags), flags, width)
    # -2^63 is as far from zero as no integer is.
    wide = found.node.copy() if within(x, BIGGEST) else Exact(this=found.node.copy())
    digits = Text(this=exp.Abs(this=wide))
    sign = _sign(found, flags)
    taken: exp.Expr = exp.Add(this=_octets(digits.copy()), expression=_octets(sign.copy()))
    zeros = exp.Anonymous(
        this="REPEAT",
        expressions=[string("0"), exp.Sub(this=number(width), expression=exp.Paren(this=taken))],
    )
    return Joined(expressions=[sign, zeros, digits])


def _fixed(c: Context, x: Typed, flags: str, width: int, precision: int | None) -> exp.Expr:
    """%f: a real with so many digits after the point, 6 if the format does not say."""
    if "0" in flags and width:
        raise Untranslatable("%f in printf()", "with zeros before it")
    found = _zero_for_null(as_double(c, x) if x.kind is not Kind.NULL else literal(0.0), literal(0.0))
    places = 6 if precision is None else precision
    printed = server("fixed", found.node, number(places))
    if set(flags) & {"+", " "}:
        raise Untranslatable("%f in printf()", "with a sign")
    return _padded(printed, flags, width)


def _text(c: Context, x: Typed, flags: str, width: int, precision: int | None) -> exp.Expr:
    """%s: a text, nothing for NULL; its width counts bytes."""
    if precision is not None:
        raise Untranslatable("%s in printf()", "its precision counts bytes")
    if x.kind is Kind.NULL:
        return _padded(string(""), flags, width)
    shown = as_text(c, x).node
    return _padded(exp.Coalesce(this=shown, expressions=[string("")]) if x.nullable else shown, flags, width)


def _hexadecimal(case_of: str) -> Callable[[Context, Typed, str, int, int | None], exp.Expr]:
    def convert(c: Context, x: Typed, flags: str, width: int, precision: int | None) -> exp.Expr:
        if precision is not None or "0" in flags or "," in flags:
            raise Untranslatable("%x in printf()", "with a precision, zeros or commas")
        digits = exp.Anonymous(this=c.target.hexadecimal, expressions=[_integer(c, x).node])
        return _padded(exp.Anonymous(this=case_of, expressions=[digits]), flags, width)

    return convert


_CONVERSIONS: dict[str, Callable[[Context, Typed, str, int, int | None], exp.Expr]] = {
    "d": _decimal,
    "i": _decimal,
    "f": _fixed,
    "s": _text,
    "x": _hexadecimal("LOWER"),
    "X": _hexadecimal("UPPER"),
}


def _integer(c: Context, x: Typed) -> Typed:
    found = literal(0) if x.kind is Kind.NULL else as_integer(c, x)
    return _zero_for_null(found, literal(0))


def _zero_for_null(x: Typed, zero: Typed) -> Typed:
    if not x.nullable:
        return x
    return x.of(node=exp.Coalesce(this=x.node, expressions=[zero.node]), nullable=False, low=None, high=None)


def _commas(c: Context, x: exp.Expr) -> exp.Expr:
    if c.target.formats_by_locale:
        return exp.Anonymous(this="FORMAT", expressions=[x, number(0), string("en_US")])
    return exp.Anonymous(this="TO_CHAR", expressions=[x, string(_THOUSANDS)])


def _signed(x: Typed, shown: exp.Expr, flags: str) -> exp.Expr:
    """With + or a blank before what is not negative."""
    if not set(flags) & {"+", " "}:
        return shown
    positive = string("+" if "+" in flags else " ")
    mark = case((exp.LT(this=x.node.copy(), expression=number(0)), string("")), default=positive)
    return Joined(expressions=[mark, shown])


def _sign(x: Typed, flags: str) -> exp.Expr:
    positive = string("+" if "+" in flags else " " if " " in flags else "")
    if x.low is not None and x.low >= 0:
        return positive
    return case((exp.LT(this=x.node.copy(), expression=number(0)), string("-")), default=positive)


def _padded(shown: exp.Expr, flags: str, width: int) -> exp.Expr:
    """With blanks up to a width in bytes."""
    if not width:
        return shown
    blanks = exp.Anonymous(
        this="REPEAT",
        expressions=[string(" "), exp.Sub(this=number(width), expression=_octets(shown.copy()))],
    )
    return Joined(expressions=[shown, blanks] if "-" in flags else [blanks, shown])


def _octets(shown: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this="OCTET_LENGTH", expressions=[shown])
