"""Keep numbers and texts in one column of a target, each value as JSON, and read them back.

No type of a target can store both as SQLite does. JSON can, and distinguishes them: 12, 12.0, "12".
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace

from sqlglot import exp

from dialects.coercions import (
    BIGGEST,
    EXACT,
    SEVERAL_TYPES,
    as_double,
    beyond_integers,
    exact_readings,
    is_beyond_double,
    literal,
    plain,
    spread,
    whole_of,
    within,
)
from dialects.errors import Untranslatable
from dialects.nodes import (
    Bigint,
    Bytes,
    Characters,
    Double,
    Fits,
    Hexadecimal,
    Joined,
    JSONNumber,
    JSONString,
    JSONText,
    Slice,
    Text,
    Truncated,
    Unhexed,
    builtin,
    case,
    coalesced,
    number,
    string,
)
from dialects.schema import ESCAPED_BLOB, ESCAPED_TEXT
from dialects.trees import find_all, has
from dialects.value_types import (
    Collation,
    Context,
    Kind,
    OneOf,
    Stored,
    TaggedValues,
    Typed,
    integer,
    real,
    text,
)

_BLOB, _END = '{"blob":"', '"}'
"""The JSON around a blob's bytes in hexadecimal."""


def to_tagged(c: Context, t: Typed, *, normal: bool = False) -> Typed:
    """Write a value of any kind as JSON, for a column; see `TaggedValues`.

    Args:
        c: the compilation.
        t: the value.
        normal: whether equal values must become equal texts, since the target compares them.

    Raises:
        Untranslatable: `normal` is set and a collation compares the texts.
    """
    if t.tagged is not None and not (normal and t.tagged.has_several_forms):
        if normal and t.tagged.texts and t.text.collation not in {None, Collation.BINARY}:
            raise Untranslatable(SEVERAL_TYPES, "a collation compares their texts")
        return t
    c.applies("values-as-json")
    t = _exactly(t)
    written = _written(c, t, normal=normal)
    known = together(map(_of, t.alternatives), normal=normal)
    node = exp.Null() if written.kind is Kind.NULL else written.node
    several: OneOf | TaggedValues = known
    if t.is_split and isinstance(t.several, OneOf):
        several = replace(t.several, tagged=known, written=None)
    tagged = t.of(node=node, kind=Kind.ANY, constant=None, stored=Stored(), several=several)
    return tagged.with_number(condition=False, integral=None).with_text(form=None)


def _written(c: Context, t: Typed, *, normal: bool) -> Typed:
    """Return the JSON of a value: a TEXT, or NULL."""
    t = _exactly(plain(c, t))
    match t.kind:
        case Kind.ANY:
            return spread(c, t, lambda part: _written(c, part, normal=normal))
        case Kind.NULL:
            return literal(None)
        case Kind.BLOB:
            digits = Hexadecimal(this=t.node, blob=True)
            node: exp.Expr = Joined(expressions=[string(_BLOB), digits, string(_END)])
        case Kind.TEXT:
            if normal and t.text.collation not in {None, Collation.BINARY}:
                raise Untranslatable(SEVERAL_TYPES, "a collation compares their texts")
            node = JSONString(this=t.node)
        case _:
            node = _number(c, t, normal=normal)
    return text(node, nullable=t.nullable)


def _number(c: Context, t: Typed, *, normal: bool) -> exp.Expr:
    """Return the JSON of a number; `normal` writes a REAL that equals an INTEGER as that INTEGER."""
    if t.kind is Kind.INTEGER:
        return Text(this=t.node)
    if t.kind is Kind.REAL:
        node = JSONNumber(this=t.node)
        return coalesced(Text(this=whole_of(t.node.copy())), node) if normal else node
    if t.number.integral is not None:
        whole = Bigint(this=t.node) if t.number.decimal else Truncated(this=Double(this=t.node.copy()))
        if normal and t.number.decimal and t.number.rounded is None:
            raise Untranslatable("a sum or product beyond 64 bits", "SQLite compares it rounded")
        other = _number(c, beyond_integers(t), normal=normal)
        return case((t.number.integral.copy(), Text(this=whole)), default=other)
    if t.number.decimal:
        raise Untranslatable(SEVERAL_TYPES, "it is unknown whether one is an integer or a real")
    return _number(c, as_double(c, t), normal=normal)


def _exactly(t: Typed) -> Typed:
    """Read a stored column of several storage classes without rounding its INTEGERs."""
    if not t.stored.mixed or t.written is None:
        return t
    numbers = exact_readings(t.written, t.number.low, t.number.high)
    default = text(t.written, collation=t.text.collation)
    return t.of(several=OneOf((*numbers,), default, t.written, t.tagged), stored=Stored())


def _of(t: Typed) -> TaggedValues:
    """Return the facts about a value of one kind."""
    if t.kind is Kind.INTEGER:
        return TaggedValues(integers=True, low=t.number.low, high=t.number.high)
    if t.kind is Kind.NUMBER and t.number.integral is not None:
        bound = BIGGEST if t.number.decimal else EXACT
        return TaggedValues(integers=True, reals=True, low=-bound, high=bound)
    return t.tagged or TaggedValues(
        texts=t.kind is Kind.TEXT, blobs=t.kind is Kind.BLOB, reals=t.kind.is_numeric,
        told_reals=t.kind is not Kind.NUMBER,
    )  # fmt: skip


def together(several: Iterable[TaggedValues], *, normal: bool = False) -> TaggedValues:
    """Combine the facts about several columns whose values become one column; `normal` as in `to_tagged`."""
    found = list(several)
    numbers = [one for one in found if one.integers]
    told_integers = all(one.told_integers for one in found)
    if not told_integers:
        # An INTEGER equal to a REAL is exact; for others the known bounds decide.
        numbers = [one for one in numbers if one.low is not None]
    lows, highs = [one.low for one in numbers], [one.high for one in numbers]
    reals = any(one.reals for one in found)
    return TaggedValues(
        texts=any(one.texts for one in found),
        blobs=any(one.blobs for one in found),
        opaque=any(one.opaque for one in found),
        integers=any(one.integers for one in found) or (normal and reals),
        reals=reals,
        low=None if None in lows or not lows else min(low for low in lows if low is not None),
        high=None if None in highs or not highs else max(high for high in highs if high is not None),
        told_integers=told_integers and not (normal and reals),
        told_reals=all(one.told_reals for one in found),
    )


def from_tagged(c: Context, t: Typed) -> Typed:
    """Split a column of JSON values by their kinds."""
    known = t.tagged
    if known is None or t.is_split:
        return t
    if known.opaque:
        return t.of(several=OneOf(tagged=known, refused=_refused(t)))
    node = written = t.node
    if c.lowers("early-casts") and has(node, exp.Window):
        written = builtin("REGEXP_REPLACE", node, string('^["{].*'), string("0"))
    branches: list[tuple[exp.Expr, Typed]] = []
    if known.texts:
        branches.append((begins(node, '"'), text(JSONText(this=node.copy()), collation=t.text.collation)))
    if known.blobs:
        branches.append((begins(node, "{"), Typed(_octets(node), Kind.BLOB)))
    if known.integers:
        whole = integer(Bigint(this=written.copy()), known.low, known.high)
        if not known.told_integers and is_beyond_double(whole):
            unknown = SEVERAL_TYPES, "it is unknown whether one is an integer or a real"
            return t.of(several=OneOf(tagged=known, refused=unknown))
        number_ = whole if known.told_integers else Typed(Double(this=written.copy()), Kind.NUMBER)
        branches.append((Fits(this=node.copy(), expression=string("-?[0-9]+")), number_))
    if known.reals:
        double = Double(this=written.copy())
        last = real(double) if known.told_reals else Typed(double, Kind.NUMBER)
        branches.append((exp.Boolean(this=True), last))
    default = branches.pop()[1] if branches else None
    return t.of(several=OneOf((*branches,), default, tagged=known))


def _octets(node: exp.Expr) -> exp.Expr:
    """Return the bytes of a blob."""
    length = exp.Sub(this=Characters(this=node.copy()), expression=number(len(_BLOB + _END)))
    return Unhexed(this=Slice(this=node.copy(), start=number(len(_BLOB) + 1), length=length))


def begins(node: exp.Expr, start: str) -> exp.Expr:
    """Return a condition that a text begins with `start`."""
    first = Slice(this=node.copy(), start=number(1), length=number(len(start)))
    return exp.EQ(this=first, expression=string(start))


def hidden(c: Context, t: Typed) -> Typed:
    """Read a stored column with values that the target cannot store: only shown, and compared by bytes."""
    c.applies("values-as-json")
    digits = Slice(this=t.node.copy(), start=number(len(ESCAPED_TEXT) + 1))
    branches: list[tuple[exp.Expr, exp.Expr]] = [
        (begins(t.node, start), Joined(expressions=[string(first), digits.copy(), string(_END)]))
        for start, first in ((ESCAPED_TEXT, '{"text":"'), (ESCAPED_BLOB, _BLOB))
    ]
    if t.stored.mixed:
        for infinite, shown in (("inf", "1e999"), ("-inf", "-1e999")):
            branches.append((exp.EQ(this=t.node.copy(), expression=string(infinite)), string(shown)))
        number_ = Fits(this=t.node.copy(), expression=string("-?[0-9]+([.][0-9]+)?(e[+-]?[0-9]+)?"))
        branches.append((number_, t.node.copy()))
    node = case(*branches, default=JSONString(this=t.node))
    numbers = t.stored.mixed
    known = TaggedValues(
        texts=True, blobs=True, integers=numbers, reals=numbers, opaque=True,
        low=t.number.low, high=t.number.high,
    )  # fmt: skip
    return t.of(node=node, kind=Kind.ANY, several=OneOf(tagged=known, refused=_refused(t)))


def place_of_hidden(t: Typed) -> tuple[exp.Expr, exp.Expr, exp.Expr]:
    """Return the sort key of a value of such a column: rank of its class, number, bytes of a text or blob.

    NULL has the rank of a number.

    Raises:
        Untranslatable: numbers may be rounded or infinite.
    """
    known, node = t.tagged, t.node
    assert known is not None  # noqa: S101 - the caller has looked
    if known.integers and not within(real(node, known.low, known.high), EXACT):
        raise refusal(t)
    is_text, is_written = begins(node, '"'), begins(node, "{")
    ranks = [(is_text, number(2)), (begins(node, '{"t'), number(2)), (is_written, number(3))]
    octets = case(
        (is_text.copy(), Bytes(this=JSONText(this=node.copy()))), (is_written.copy(), _octets(node))
    )
    either = exp.In(
        this=Slice(this=node.copy(), start=number(1), length=number(1)),
        expressions=[string('"'), string("{")],
    )
    digits = case((exp.Not(this=either), Double(this=node.copy())))
    return case(*ranks, default=number(1)), digits if known.integers else exp.Null(), octets


def refusal(t: Typed) -> Untranslatable:
    """Return the error for any other use of such a column."""
    return Untranslatable(*_refused(t))


def _refused(t: Typed) -> tuple[str, str]:
    name = next((column.name for column in find_all(t.node, exp.Column)), "")
    return f"the column {name}", "it has an infinite number, or a text with a NUL or with invalid bytes"


def read(value: object) -> object:
    """Return SQLite's value for the JSON that a driver returns."""
    if not isinstance(value, str):
        return value
    found = json.loads(value)
    if isinstance(found, dict):
        [(kind, digits)] = found.items()
        octets = bytes.fromhex(digits)
        return octets if kind == "blob" else octets.decode(errors="surrogateescape")
    return float(value) if isinstance(found, int) and not -BIGGEST - 1 <= found <= BIGGEST else found


def read_rows(rows: Iterable[Sequence[object]], columns: Sequence[int]) -> tuple[tuple[object, ...], ...]:
    """Return rows from a driver with the values of `columns`, counted from 0, read from JSON."""
    return tuple(
        tuple(read(value) if at in columns else value for at, value in enumerate(row)) for row in rows
    )
