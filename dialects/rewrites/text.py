"""Compile LIKE, GLOB and SQLite's text functions.

https://sqlite.org/lang_expr.html#the_like_glob_regexp_match_and_extract_operators
https://sqlite.org/lang_corefunc.html
"""

from functools import partial

from sqlglot import exp

from dialects.coercions import as_double, as_integer, as_text, integral, literal, plain, value
from dialects.errors import Untranslatable
from dialects.nodes import (
    Bigint,
    Characters,
    Fits,
    Hexadecimal,
    Joined,
    Lower,
    Matches,
    Octets,
    Position,
    Slice,
    Tail,
    Text,
    Trimmed,
    builtin,
    case,
    coalesced,
    grouped,
    is_not_null,
    is_null,
    number,
    server,
    string,
    unknown,
)
from dialects.rewrites.functions import apart, called, folded
from dialects.tagged_values import begins
from dialects.value_types import Context, Kind, Typed, boolean, integer, text

_MARK = "|"
"""The escape character of rewritten patterns."""


class _Wildcard(str):
    """'%' or '_' as a wildcard."""

    __slots__ = ()


def like(c: Context, matched: Typed, pattern: Typed, escape: Typed | None = None) -> Typed:
    """Compile `matched` LIKE `pattern` [ESCAPE `escape`]."""
    operands = [plain(c, matched), plain(c, pattern)]
    mark = None if escape is None else _escape(escape)
    if Kind.NULL in {operand.kind for operand in operands}:
        return _unknown()
    asked = [operands[1], operands[0]] + ([] if escape is None else [escape])
    if (known := _folded(c, "like", asked)) is not None:
        return known
    return apart(c, operands, lambda each: _like(c, each[0], each[1], mark))


def glob(c: Context, matched: Typed, pattern: Typed) -> Typed:
    """Compile `matched` GLOB `pattern`."""
    operands = [plain(c, matched), plain(c, pattern)]
    if Kind.NULL in {operand.kind for operand in operands}:
        return _unknown()
    if (known := _folded(c, "glob", [operands[1], operands[0]])) is not None:
        return known
    return apart(c, operands, lambda each: _glob(c, each[0], each[1]))


def _refuse_blobs(name: str, *operands: Typed) -> None:
    if Kind.BLOB in {operand.kind for operand in operands}:
        raise Untranslatable(f"{name} of a blob", "whether it matches depends on how SQLite was built")


def _like(c: Context, matched: Typed, pattern: Typed, mark: str | None) -> Typed:
    _refuse_blobs("LIKE", matched, pattern)
    nullable = matched.nullable or pattern.nullable
    shown, wanted = as_text(c, matched), as_text(c, pattern)
    if wanted.constant is None:
        c.applies("like-ascii-case")
        if c.target.has_ilike:
            node: exp.Expr = Matches(this=shown.node, expression=wanted.node, folds=True)
        else:
            node = Matches(this=Lower(this=shown.node), expression=Lower(this=wanted.node))
        if mark is not None:
            node = _with_escape(c, node, shown, wanted.node, mark)
        return boolean(node, nullable=nullable)
    parts = _parts(str(wanted.constant.value), mark)
    if parts is None:
        return _never(shown)
    return _matching(c, shown, parts, nullable=nullable, folds=matched.kind is not Kind.INTEGER)


def _with_escape(c: Context, matches: exp.Expr, shown: Typed, pattern: exp.Expr, mark: str) -> exp.Expr:
    """Return a match that takes `mark` for the escape character of a pattern known only when it runs.

    Where the pattern ends with one that escapes nothing, SQLite matches no text, and the targets do or fail.
    """
    if mark in "%_" or (mark.isascii() and mark.isalpha()):
        reason = "it is a letter or a wildcard, and the pattern is not a constant"
        raise Untranslatable("ESCAPE", reason)
    c.applies("like-escape")
    matches.set("escape", string(mark))
    last = pattern.expressions[-1] if isinstance(pattern, Joined) else None
    if isinstance(last, exp.Literal) and not last.this.endswith(mark):
        return matches
    other = "!" if mark == _MARK else _MARK
    unpaired = builtin("REPLACE", pattern.copy(), string(mark * 2), string(""))
    ends = Matches(this=unpaired, expression=string(f"%{other}{mark}"), escape=string(other))
    return case((ends, _never(shown).node.copy()), default=matches)


def _glob(c: Context, matched: Typed, pattern: Typed) -> Typed:
    _refuse_blobs("GLOB", matched, pattern)
    nullable = matched.nullable or pattern.nullable
    shown, wanted = as_text(c, matched), as_text(c, pattern)
    c.applies("glob")
    found = None if wanted.constant is None else str(wanted.constant.value)
    if found is None or "[" in found:
        return boolean(server("glob_match", shown.node, wanted.node), nullable=nullable)
    wildcards = {"*": _Wildcard("%"), "?": _Wildcard("_")}
    return _matching(c, shown, [wildcards.get(each, each) for each in found], nullable=nullable, folds=False)


def _parts(pattern: str, mark: str | None) -> list[str] | None:
    """Return the characters of a pattern; None if it ends with the escape character and matches nothing."""
    parts: list[str] = []
    characters = iter(pattern)
    for character in characters:
        if character == mark:
            escaped = next(characters, None)
            if escaped is None:
                return None
            parts.append(escaped)
        else:
            parts.append(_Wildcard(character) if character in "%_" else character)
    return parts


def _matching(c: Context, shown: Typed, parts: list[str], *, nullable: bool, folds: bool) -> Typed:
    folds = folds and any(part.isascii() and part.isalpha() for part in parts)
    if folds:
        c.applies("like-ascii-case")
        parts = [part.lower() if part.isascii() and part.isalpha() else part for part in parts]
    wild = [isinstance(part, _Wildcard) for part in parts]
    by_ilike = folds and c.target.has_ilike and any(wild)
    node = Lower(this=shown.node) if folds and not by_ilike else shown.node
    if not any(wild):
        return boolean(exp.EQ(this=grouped(node), expression=string("".join(parts))), nullable=nullable)
    c.applies("like-escape")
    escape = None
    if any(part in "%_" for part, is_wild in zip(parts, wild, strict=True) if not is_wild):
        escape = string(_MARK)
        parts = [
            part if is_wild or part not in {"%", "_", _MARK} else _MARK + part
            for part, is_wild in zip(parts, wild, strict=True)
        ]
    matches = Matches(this=node, expression=string("".join(parts)), escape=escape, folds=by_ilike)
    return boolean(matches, nullable=nullable)


def _escape(escape: Typed) -> str:
    found = None if escape.constant is None else escape.constant.value
    if not isinstance(found, str) or len(found) != 1:
        raise Untranslatable("ESCAPE", "it must be a constant of one character")
    return found


def _folded(c: Context, name: str, operands: list[Typed]) -> Typed | None:
    found = folded(c, name, operands)
    if found is None or found.constant is None:
        return None
    return boolean(exp.Boolean(this=bool(found.constant.value)), nullable=False)


def _unknown() -> Typed:
    return boolean(unknown())


def _never(shown: Typed) -> Typed:
    """Return FALSE, or NULL if the text is NULL."""
    if not shown.nullable:
        return boolean(exp.Boolean(this=False), nullable=False)
    return boolean(case((is_not_null(shown.node), exp.Boolean(this=False)), default=unknown()))


_LONGEST = 1_000_000_000
"""Longest text, in bytes. https://sqlite.org/limits.html#max_length."""


_SHORT = 2**24
"""SQLite may be set to a shorter limit, but hardly to one below this; see `harness.engines.sqlite`."""

FAR = "substr() from further left than SQLite's limit on a text's length is empty: 1,000,000,000 is assumed"


def length(c: Context, arguments: list[Typed]) -> Typed:
    """Return the characters of a text, or the bytes of a blob."""
    [x] = arguments
    if x.kind is Kind.BLOB:
        found: exp.Expr = Bigint(this=Octets(this=x.node))
    else:
        found = Characters(this=as_text(c, x).node)
    return integer(found, 0, _LONGEST, nullable=x.nullable)


def substr(c: Context, arguments: list[Typed]) -> Typed:
    """Return Z characters of X from Y on."""
    if arguments[0].kind is Kind.BLOB:
        return _bytes_of(*arguments)
    x = as_text(c, arguments[0])
    y, z = as_integer(c, arguments[1]), as_integer(c, arguments[2]) if len(arguments) == 3 else None  # noqa: PLR2004
    if z is None and y.number.ends and not _within(y, -_SHORT, 2**31 - 1):
        c.warn(FAR)
    nullable = any(argument.nullable for argument in arguments)
    inline = _slice(c, x.node, y, z)
    if inline is not None:
        return text(inline, nullable=nullable)
    c.applies("substr")
    if z is None:
        return text(server("substr_from", x.node, y.node), nullable=nullable)
    return text(server("substr_of", x.node, y.node, z.node), nullable=nullable)


def _bytes_of(x: Typed, *bounds: Typed) -> Typed:
    """Return the bytes of a blob, from the first or a later one on."""
    known = [bound.constant.value if bound.constant is not None else None for bound in bounds]
    start, *length = (number(each) if isinstance(each, int) and each >= 0 else None for each in known)
    if start is None or known[0] == 0 or None in length:
        raise Untranslatable("substr() of a blob", "it counts from its end, or how far is not constant")
    # For an empty blob SQLite returns NULL.
    there = exp.Nullif(this=x.node, expression=exp.HexString(this=""))
    cut = Slice(this=there, start=start, length=length[0] if length else None, octets=True)
    return Typed(cut, Kind.BLOB)


def _slice(c: Context, x: exp.Expr, y: Typed, z: Typed | None) -> exp.Expr | None:
    """Return SUBSTRING or RIGHT if known to be equivalent; else None."""
    start = y.constant.value if y.constant is not None else None
    if isinstance(start, int) and abs(start) <= _LONGEST:
        count = None if z is None else z.constant.value if z.constant is not None else z
        if count is None or (isinstance(count, int) and abs(count) <= _LONGEST):
            return _constant_slice(c, x, start, count)
    # After the end the result is empty, so a position from instr() can be used.
    if not _within(y, 1, 2 * _LONGEST) or (z is not None and not _within(z, -_LONGEST)):
        return None
    if z is None or _within(z, 0):
        return Slice(this=x, start=y.node, length=None if z is None else z.node)
    if start != 1:
        return None
    # There are no characters before the first one.
    shortest = case((exp.LT(this=z.node.copy(), expression=number(0)), number(0)), default=z.node)
    return Slice(this=x, start=y.node, length=shortest)


def _within(t: Typed, low: int, high: int = _LONGEST) -> bool:
    """True if known to be from `low` to `high`, by default the length of the longest text."""
    return bool(t.number.ends) and all(low <= end <= high for end in t.number.ends)


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


def instr(c: Context, arguments: list[Typed]) -> Typed:
    """Return the position of the first Y in X."""
    x, y = arguments
    if Kind.BLOB in {x.kind, y.kind}:
        raise Untranslatable("instr() of a blob", "it counts bytes")
    found = Position(this=as_text(c, x).node, expression=as_text(c, y).node)
    return integer(found, 0, _LONGEST, nullable=x.nullable or y.nullable)


def replace(c: Context, arguments: list[Typed]) -> Typed:
    """Return X with every Y replaced by Z."""
    x, y, z = arguments
    if Kind.NULL in {x.kind, y.kind}:
        return literal(None)
    known = y.constant.value if y.constant is not None else None
    if known == "":
        c.applies("replace-nothing")
        return x
    nullable = x.nullable or y.nullable or z.nullable
    shown = [as_text(c, part).node for part in (x, y, z)]
    replaced = builtin("REPLACE", *shown)
    if known is not None or y.kind is not Kind.TEXT:
        return text(replaced, nullable=nullable)
    if x.kind is not Kind.TEXT:
        raise Untranslatable("replace() in a number", "where the text to replace is empty it stays a number")
    if not z.nullable:
        return text(replaced, nullable=nullable)
    c.applies("replace-nothing")
    nothing = exp.EQ(this=shown[1].copy(), expression=string(""))
    return text(case((nothing, shown[0].copy()), default=replaced), nullable=nullable)


def _trimmed(side: str, function: str, c: Context, arguments: list[Typed]) -> Typed:
    """Return the text without some characters at its ends, by default blanks."""
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
    if single or not c.lowers("trim-sets"):
        return text(Trimmed(this=x.node, expression=characters.node, side=side), nullable=nullable)
    return text(server(f"{function}_set", x.node, characters.node), nullable=nullable)


trim = partial(_trimmed, "BOTH", "trim")
ltrim = partial(_trimmed, "LEADING", "ltrim")
rtrim = partial(_trimmed, "TRAILING", "rtrim")


def hexadecimal(c: Context, arguments: list[Typed]) -> Typed:
    """Return the bytes of a text or a blob in hexadecimal."""
    [x] = arguments
    if x.kind is Kind.NULL:
        return literal("")
    is_blob = x.kind is Kind.BLOB
    found: exp.Expr = Hexadecimal(this=x.node if is_blob else as_text(c, x).node, blob=is_blob)
    if x.nullable:
        c.applies("hex-null")
        found = coalesced(found, string(""))
    return text(found, nullable=False)


def quote(c: Context, arguments: list[Typed]) -> Typed:
    """Return a value as a literal of SQL."""
    [x] = arguments
    match x.kind:
        case Kind.TEXT:
            doubled = builtin("REPLACE", x.node, string("'"), string("''"))
            shown: exp.Expr = Joined(expressions=[string("'"), doubled, string("'")])
        case Kind.BLOB:
            shown = Joined(expressions=[string("X'"), Hexadecimal(this=x.node, blob=True), string("'")])
        case Kind.INTEGER:
            shown = Text(this=x.node)
        case _:
            shown = _quoted_number(c, x)
    if x.nullable:
        shown = coalesced(shown, string("NULL"))
    return text(shown, nullable=False)


def _quoted_number(c: Context, x: Typed) -> exp.Expr:
    """Return a REAL with 15 digits, or with 20 if 15 give another number."""
    c.applies("quoted-real")
    printed = as_text(c, x).node
    double = as_double(c, x).node
    again = exp.EQ(this=server("to_real", printed), expression=double)
    exactly = server("printed", double.copy(), string("E"), number(20))
    whole = [] if x.number.integral is None else [(x.number.integral.copy(), printed.copy())]
    return case(*whole, (is_null(double), exp.Null()), (again, printed.copy()), default=exactly)


def _typeof(c: Context, arguments: list[Typed]) -> Typed:
    [x] = arguments
    c.applies("typeof")
    if x.kind is Kind.NULL or (not x.nullable and x.kind is not Kind.NUMBER):
        return literal(x.kind.value)
    kind: exp.Expr = string(x.kind.value)
    if x.kind is Kind.NUMBER:
        is_integer = integral(x)
        if is_integer is None:
            raise Untranslatable("typeof() of a number", "it is unknown whether it is an integer or a real")
        kind = case((is_integer.copy(), string("integer")), default=string("real"))
    if not x.nullable:
        return text(kind, nullable=False)
    return text(case((is_null(value(c, x)), string("null")), default=kind), nullable=False)


def typeof(c: Context, arguments: list[Typed]) -> Typed:
    """Return the storage class also for columns that can only be shown: their JSON tells it."""
    [x] = arguments
    if x.tagged is None or not x.tagged.opaque:
        return called(c, "typeof", _typeof, arguments, strict=False)
    tests = {'"': "text", '{"t': "text", "{": "blob"}
    branches = [(begins(x.node, start), string(kind)) for start, kind in tests.items()]
    whole = Fits(this=x.node.copy(), expression=string("-?[0-9]+"))
    branches += [(is_null(x.node), string("null")), (whole, string("integer"))]
    return text(case(*branches, default=string("real")), nullable=False)


def like_call(c: Context, arguments: list[Typed]) -> Typed:
    """Compile like(X, Y[, Z]) as Y LIKE X [ESCAPE Z]."""
    pattern, matched, *escape = arguments
    return like(c, matched, pattern, *escape)


def glob_call(c: Context, arguments: list[Typed]) -> Typed:
    """Compile glob(X, Y) as Y GLOB X."""
    pattern, matched = arguments
    return glob(c, matched, pattern)
