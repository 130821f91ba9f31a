"""SQLite's functions on texts. https://sqlite.org/lang_corefunc.html."""

from sqlglot import exp

from dialects.carried import begins
from dialects.coercions import as_double, as_integer, as_text, integral, literal, value
from dialects.errors import Untranslatable
from dialects.functions import function
from dialects.nodes import (
    Bigint,
    Characters,
    Fits,
    Hexadecimal,
    Joined,
    Lower,
    Position,
    Slice,
    Tail,
    Text,
    Trimmed,
    Upper,
    case,
    is_null,
    number,
    server,
    string,
)  # fmt: skip
from dialects.rewrites.calls import scalar
from dialects.rewrites.patterns import glob, like
from dialects.rules import Context, Rule
from dialects.typed import Kind, Typed, integer, text

RULES = (
    Rule(
        "quoted-real",
        "quote() writes a REAL with 15 digits, and with 20 where that would be another number.",
        "https://sqlite.org/lang_corefunc.html#quote",
        "`bird_sqlite.real_to_text`, read again by `to_real`, else `bird_sqlite.printed`.",
    ),
    Rule(
        "ascii-case",
        "lower() and upper() know A-Z alone.",
        "https://sqlite.org/lang_corefunc.html#lower",
        "LOWER under the collation C, or `bird_sqlite.lower_ascii`.",
    ),
    Rule(
        "substr",
        "substr() counts from the end where the position is negative, and backwards where the length is.",
        "https://sqlite.org/lang_corefunc.html#substr",
        "SUBSTRING or RIGHT where the numbers are known, else `bird_sqlite.substr_of`.",
    ),
    Rule(
        "trim-set",
        "The second argument of trim() is a set of characters.",
        "https://sqlite.org/lang_corefunc.html#trim",
        "BTRIM; on MySQL TRIM for one character, else `bird_sqlite.trim_set`.",
    ),
    Rule(
        "hex-null",
        "hex(NULL) is an empty text.",
        "https://sqlite.org/lang_corefunc.html#hex",
        "COALESCE.",
    ),
    Rule(
        "replace-nothing",
        "replace() of an empty text gives its first argument, whatever the third one is.",
        "https://sqlite.org/lang_corefunc.html#replace",
        "CASE where the text to replace is not a constant.",
    ),
    Rule(
        "typeof",
        "typeof() is the storage class of a value.",
        "https://sqlite.org/lang_corefunc.html#typeof",
        "A constant where the column holds one class, and CASE for NULL.",
    ),
)

_LONGEST = 1_000_000_000
"""Bytes of a text. https://sqlite.org/limits.html#max_length."""


@scalar("length")
def length(c: Context, arguments: list[Typed]) -> Typed:
    """Characters of a text, bytes of a blob."""
    [x] = arguments
    if x.kind is Kind.BLOB:
        found: exp.Expr = Bigint(this=exp.Anonymous(this="OCTET_LENGTH", expressions=[x.node]))
    else:
        found = Characters(this=as_text(c, x).node)
    return integer(found, 0, _LONGEST, nullable=x.nullable)


@scalar("lower")
def lower(c: Context, arguments: list[Typed]) -> Typed:
    """A-Z in lower case."""
    c.applies("ascii-case")
    return text(Lower(this=as_text(c, arguments[0]).node), nullable=arguments[0].nullable)


@scalar("upper")
def upper(c: Context, arguments: list[Typed]) -> Typed:
    """a-z in upper case."""
    c.applies("ascii-case")
    return text(Upper(this=as_text(c, arguments[0]).node), nullable=arguments[0].nullable)


@scalar("substr", "substring", least=2, most=3)
def substr(c: Context, arguments: list[Typed]) -> Typed:
    """The characters of X from Y on, Z of them."""
    if arguments[0].kind is Kind.BLOB:
        return _bytes_of(*arguments)
    x = as_text(c, arguments[0])
    y, z = as_integer(c, arguments[1]), as_integer(c, arguments[2]) if len(arguments) == 3 else None  # noqa: PLR2004
    nullable = any(argument.nullable for argument in arguments)
    inline = _slice(c, x.node, y, z)
    if inline is not None:
        return text(inline, nullable=nullable)
    c.applies("substr")
    if z is None:
        return text(server("substr_from", x.node, y.node), nullable=nullable)
    return text(server("substr_of", x.node, y.node, z.node), nullable=nullable)


def _bytes_of(x: Typed, *bounds: Typed) -> Typed:
    """The bytes of a blob from the first or a later one on."""
    known = [bound.constant.value if bound.constant is not None else None for bound in bounds]
    start, *length = (number(each) if isinstance(each, int) and each >= 0 else None for each in known)
    if start is None or known[0] == 0 or None in length:
        raise Untranslatable("substr() of a blob", "it counts from its end, or how far is not constant")
    # Of an empty one SQLite gives NULL.
    there = exp.Nullif(this=x.node, expression=exp.HexString(this=""))
    return Typed(Slice(this=there, start=start, length=length[0] if length else None), Kind.BLOB)


def _slice(c: Context, x: exp.Expr, y: Typed, z: Typed | None) -> exp.Expr | None:
    """SUBSTRING or RIGHT, where it is known that they mean the same."""
    start = y.constant.value if y.constant is not None else None
    if isinstance(start, int) and abs(start) <= _LONGEST:
        count = None if z is None else z.constant.value if z.constant is not None else z
        if count is None or (isinstance(count, int) and abs(count) <= _LONGEST):
            return _constant_slice(c, x, start, count)
    # Behind the end there is nothing, so that where instr() has found something may be counted on from.
    if not _within(y, 1, 2 * _LONGEST) or (z is not None and not _within(z, -_LONGEST)):
        return None
    if z is None or _within(z, 0):
        return Slice(this=x, start=y.node, length=None if z is None else z.node)
    if start != 1:
        return None
    # The characters before the first one are none.
    shortest = case((exp.LT(this=z.node.copy(), expression=number(0)), number(0)), default=z.node)
    return Slice(this=x, start=y.node, length=shortest)


def _within(t: Typed, low: int, high: int = _LONGEST) -> bool:
    """Whether it is known to be from `low` to `high`, by default the length of the longest text."""
    return t.low is not None and t.low >= low and t.high is not None and t.high <= high


def _constant_slice(c: Context, x: exp.Expr, start: int, count: int | None) -> exp.Expr | None:
    if start >= 1 and (count is None or count >= 0):
        return Slice(this=x, start=number(start), length=None if count is None else number(count))
    c.applies("substr")
    if start >= 0:
        if count is None:
            return x
        first, last = (start, start + count) if count >= 0 else (start + count, start)
        first = max(first, 1)
        return Slice(this=x, start=number(first), length=number(max(last - first, 0)))
    if count is None or count >= -start:
        return Tail(this=x, length=number(-start))
    return None


@scalar("instr", least=2, most=2)
def instr(c: Context, arguments: list[Typed]) -> Typed:
    """Where Y first occurs in X."""
    x, y = arguments
    if Kind.BLOB in {x.kind, y.kind}:
        raise Untranslatable("instr() of a blob", "it counts bytes")
    found = Position(this=as_text(c, x).node, expression=as_text(c, y).node)
    return integer(found, 0, _LONGEST, nullable=x.nullable or y.nullable)


@scalar("replace", least=3, most=3, strict=False)
def replace(c: Context, arguments: list[Typed]) -> Typed:
    """X with every Y in it replaced by Z."""
    x, y, z = arguments
    if Kind.NULL in {x.kind, y.kind}:
        return literal(None)
    known = y.constant.value if y.constant is not None else None
    if known == "":
        c.applies("replace-nothing")
        return x
    nullable = x.nullable or y.nullable or z.nullable
    shown = [as_text(c, part).node for part in (x, y, z)]
    replaced = exp.Anonymous(this="REPLACE", expressions=shown)
    if known is not None or y.kind is not Kind.TEXT:
        return text(replaced, nullable=nullable)
    if x.kind is not Kind.TEXT:
        raise Untranslatable("replace() in a number", "where the text to replace is empty it stays a number")
    if not z.nullable:
        return text(replaced, nullable=nullable)
    c.applies("replace-nothing")
    nothing = exp.EQ(this=shown[1].copy(), expression=string(""))
    return text(case((nothing, shown[0].copy()), default=replaced), nullable=nullable)


def _trim(side: str, function: str) -> None:
    @scalar(function, least=1, most=2)
    def trim(c: Context, arguments: list[Typed]) -> Typed:
        x = as_text(c, arguments[0])
        nullable = any(argument.nullable for argument in arguments)
        if len(arguments) == 1:
            return text(Trimmed(this=x.node, expression=string(" "), side=side), nullable=nullable)
        characters = as_text(c, arguments[1])
        c.applies("trim-set")
        known = characters.constant.value if characters.constant is not None else None
        if known == "":
            return x.of(nullable=nullable)
        single = isinstance(known, str) and len(known) == 1
        if single or c.target.has_trim_sets:
            return text(Trimmed(this=x.node, expression=characters.node, side=side), nullable=nullable)
        return text(server(f"{function}_set", x.node, characters.node), nullable=nullable)


_trim("BOTH", "trim")
_trim("LEADING", "ltrim")
_trim("TRAILING", "rtrim")


@scalar("hex", strict=False)
def hexadecimal(c: Context, arguments: list[Typed]) -> Typed:
    """The bytes of a text or a blob."""
    [x] = arguments
    if x.kind is Kind.NULL:
        return literal("")
    is_blob = x.kind is Kind.BLOB
    found: exp.Expr = Hexadecimal(this=x.node if is_blob else as_text(c, x).node, blob=is_blob)
    if x.nullable:
        c.applies("hex-null")
        found = exp.Coalesce(this=found, expressions=[string("")])
    return text(found, nullable=False)


@scalar("unicode")
def unicode(c: Context, arguments: list[Typed]) -> Typed:
    """The code point of the first character."""
    return integer(server("unicode_of", as_text(c, arguments[0]).node), 0, 0x10FFFF)


@scalar("char", least=0, most=None, strict=False)
def char(_c: Context, _arguments: list[Typed]) -> Typed:
    """The characters of code points, which have to be constants."""
    raise Untranslatable("char() of values", "the servers know other characters of a number than SQLite")


@scalar("quote", strict=False)
def quote(c: Context, arguments: list[Typed]) -> Typed:
    """A value as a literal of SQL."""
    [x] = arguments
    match x.kind:
        case Kind.TEXT:
            doubled = exp.Anonymous(this="REPLACE", expressions=[x.node, string("'"), string("''")])
            shown: exp.Expr = Joined(expressions=[string("'"), doubled, string("'")])
        case Kind.BLOB:
            shown = Joined(expressions=[string("X'"), Hexadecimal(this=x.node, blob=True), string("'")])
        case Kind.INTEGER:
            shown = Text(this=x.node)
        case _:
            shown = _quoted_number(c, x)
    if x.nullable:
        shown = exp.Coalesce(this=shown, expressions=[string("NULL")])
    return text(shown, nullable=False)


def _quoted_number(c: Context, x: Typed) -> exp.Expr:
    """A REAL with 15 digits, or with 20 where those are another number."""
    c.applies("quoted-real")
    printed = as_text(c, x).node
    double = as_double(c, x).node
    again = exp.EQ(this=server("to_real", printed), expression=double)
    exactly = server("printed", double.copy(), string("E"), number(20))
    whole = [] if x.integral is None else [(x.integral.copy(), printed.copy())]
    return case(*whole, (is_null(double), exp.Null()), (again, printed.copy()), default=exactly)


@scalar("typeof", strict=False)
def typeof(c: Context, arguments: list[Typed]) -> Typed:
    """The storage class of a value."""
    [x] = arguments
    c.applies("typeof")
    if x.kind is Kind.NULL or (not x.nullable and x.kind is not Kind.NUMBER):
        return literal(x.kind.value)
    kind: exp.Expr = string(x.kind.value)
    if x.kind is Kind.NUMBER:
        is_integer = integral(x)
        if is_integer is None:
            raise Untranslatable(
                "typeof() of a number", "it cannot be told whether it is an integer or a real"
            )
        kind = case((is_integer.copy(), string("integer")), default=string("real"))
    if not x.nullable:
        return text(kind, nullable=False)
    return text(case((is_null(value(c, x)), string("null")), default=kind), nullable=False)


@function("typeof")
def typeof_of_any(c: Context, arguments: list[Typed]) -> Typed:
    """The same of columns that are shown alone, too: what is shown tells the class."""
    [x] = arguments
    if x.carried is None or not x.carried.opaque:
        return typeof(c, arguments)
    tests = {'"': "text", '{"t': "text", "{": "blob"}
    branches = [(begins(x.node, start), string(kind)) for start, kind in tests.items()]
    whole = Fits(this=x.node.copy(), expression=string("-?[0-9]+"))
    branches += [(is_null(x.node), string("null")), (whole, string("integer"))]
    return text(case(*branches, default=string("real")), nullable=False)


@function("like", least=2, most=3)
def like_call(c: Context, arguments: list[Typed]) -> Typed:
    """like(X, Y[, Z]) is Y LIKE X [ESCAPE Z]."""
    pattern, matched, *escape = arguments
    return like(c, matched, pattern, *escape)


@function("glob", least=2, most=2)
def glob_call(c: Context, arguments: list[Typed]) -> Typed:
    """glob(X, Y) is Y GLOB X."""
    pattern, matched = arguments
    return glob(c, matched, pattern)
