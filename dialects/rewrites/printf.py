"""printf() with a constant format, piece by piece. https://sqlite.org/printf.html."""

import re
from collections.abc import Callable, Iterator

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
    r"|(?P<flags>[-+ 0,!]*+)(?P<width>\d++|\*)?+(?:\.(?P<precision>\d*+|\*))?l{0,2}(?P<letter>[a-zA-Z]))"
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
    if convert is None or max(width, precision or 0) > _MOST_DIGITS:
        raise Untranslatable(f"%{letter} in printf()", "its digits are SQLite's own")
    if "!" in flags and letter not in _ALTERNATIVE:
        raise Untranslatable(f"%!{letter} in printf()", "it has digits or characters of its own")
    return convert(c, next(rest, null()), flags, width, precision)


def _count(written: str, rest: Iterator[Typed]) -> int:
    """A width or a precision, `*` where an argument has it."""
    if written != "*":
        return int(written)
    given = next(rest, null())
    if given.constant is None or not isinstance(given.constant.value, int):
        raise Untranslatable("printf()", "a width or precision is no constant")
    return given.constant.value


def _decimal(c: Context, x: Typed, flags: str, width: int, precision: int | None) -> exp.Expr:
    """%d: an integer, zeros after its sign."""
    found = _integer(c, x)
    if "," in flags:
        if precision is not None or "0" in flags:
            raise Untranslatable("%d in printf()", "with zeros and commas")
        return _padded(_signed(found, _commas(c, found.node), flags), flags, width)
    if "0" not in flags and precision is None:
        return _padded(_signed(found, Text(this=found.node), flags), flags, width)
    # -2^63 is as far from zero as no integer is.
    wide = found.node.copy() if within(x, BIGGEST) else Exact(this=found.node.copy())
    sign = _sign(found, flags)
    shown = [sign, _with_zeros(Text(this=exp.Abs(this=wide)), flags, width, precision, sign)]
    return _padded(Joined(expressions=shown), flags, width)


def _with_zeros(
    digits: exp.Expr, flags: str, width: int, precision: int | None, sign: exp.Expr | None = None
) -> exp.Expr:
    """Digits behind as many zeros as a precision asks for, or a width behind the flag 0."""
    lacking: list[exp.Expr] = []
    for least, taken in ((precision or 0, None), (width if "0" in flags else 0, sign)):
        if least:
            taken_by = _octets(digits.copy())
            if taken is not None:
                taken_by = exp.Add(this=taken_by, expression=_octets(taken.copy()))
            lacking.append(exp.Sub(this=number(least), expression=exp.Paren(this=taken_by)))
    if not lacking:
        return digits
    many = lacking[0] if len(lacking) == 1 else exp.Greatest(this=lacking[0], expressions=lacking[1:])
    zeros = exp.Anonymous(this="REPEAT", expressions=[string("0"), many])
    return Joined(expressions=[zeros, digits])


def _real(kind: str) -> Callable[[Context, Typed, str, int, int | None], exp.Expr]:
    """%f, %e and %g: a real with so many digits, 6 if the format does not say."""

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
    """%s: a text, nothing for NULL; its width counts bytes, or characters behind the flag !."""
    if precision is not None and "!" not in flags:
        raise Untranslatable("%s in printf()", "its precision counts bytes")
    if x.kind is Kind.NULL:
        return _padded(string(""), flags, width)
    shown = as_text(c, x).node
    if precision is not None:
        shown = exp.Anonymous(this="LEFT", expressions=[shown, number(precision)])
    return _padded(exp.Coalesce(this=shown, expressions=[string("")]) if x.nullable else shown, flags, width)


def _escaped(mark: str, null_as: str, around: str = "") -> Callable[..., exp.Expr]:
    """%q, %Q and %w: a text with a mark doubled."""

    def convert(c: Context, x: Typed, flags: str, width: int, precision: int | None) -> exp.Expr:
        if precision is not None:
            raise Untranslatable("%q in printf()", "its precision counts bytes")
        if x.kind is Kind.NULL:
            return _padded(string(null_as), flags, width)
        shown = _replaced(as_text(c, x).node, mark, mark * 2)
        if around:
            shown = Joined(expressions=[string(around), shown, string(around)])
        if x.nullable:
            shown = exp.Coalesce(this=shown, expressions=[string(null_as)])
        return _padded(shown, flags, width)

    return convert


def _hexadecimal(case_of: str) -> Callable[[Context, Typed, str, int, int | None], exp.Expr]:
    def convert(c: Context, x: Typed, flags: str, width: int, precision: int | None) -> exp.Expr:
        if "," in flags:
            raise Untranslatable("%x in printf()", "with commas")
        digits = exp.Anonymous(this=c.target.hexadecimal, expressions=[_integer(c, x).node])
        shown = exp.Anonymous(this=case_of, expressions=[digits])
        return _padded(_with_zeros(shown, flags, width, precision), flags, width)

    return convert


def _unsigned(c: Context, x: Typed, flags: str, width: int, precision: int | None) -> exp.Expr:
    """%u: the 64 bits of an integer as a number without sign."""
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
"""Of what the flag ! changes something that can be said."""


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
    positive = string(_positive(flags))
    mark = case((exp.LT(this=x.node.copy(), expression=number(0)), string("")), default=positive)
    return Joined(expressions=[mark, shown])


def _positive(flags: str) -> str:
    """What stands before a number that is not negative: the last such flag says."""
    return max("+ ", key=flags.rfind) if set(flags) & {"+", " "} else ""


def _sign(x: Typed, flags: str) -> exp.Expr:
    positive = string(_positive(flags))
    if x.low is not None and x.low >= 0:
        return positive
    return case((exp.LT(this=x.node.copy(), expression=number(0)), string("-")), default=positive)


def _padded(shown: exp.Expr, flags: str, width: int) -> exp.Expr:
    """With blanks up to a width in bytes, or in characters behind the flag !."""
    if not width:
        return shown
    length = exp.Anonymous(this="CHAR_LENGTH", expressions=[shown.copy()])
    taken = length if "!" in flags else _octets(shown.copy())
    blanks = exp.Anonymous(
        this="REPEAT", expressions=[string(" "), exp.Sub(this=number(width), expression=taken)]
    )
    return Joined(expressions=[shown, blanks] if "-" in flags else [blanks, shown])


def _replaced(shown: exp.Expr, old: str, new: str) -> exp.Expr:
    return exp.Anonymous(this="REPLACE", expressions=[shown, string(old), string(new)])


def _octets(shown: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this="OCTET_LENGTH", expressions=[shown])
