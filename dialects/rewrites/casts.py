"""CAST, and columns whose values are of several storage classes. https://sqlite.org/lang_expr.html#castexpr."""

from sqlglot import exp

from dialects.carried import begins, hidden
from dialects.coercions import (
    EXACT,
    Rewrite,
    as_digits,
    as_double,
    as_integer,
    as_number,
    as_text,
    choose,
    exact_readings,
    literal,
    reading,
    within,
)
from dialects.compiler import Compiler
from dialects.errors import Untranslatable
from dialects.nodes import Bytes, Decoded, Slice, Truncated, Unhexed, case, number, server
from dialects.rules import Context, Rule
from dialects.schema import ESCAPED_BLOB, ESCAPED_TEXT, affinity
from dialects.scope import Scope
from dialects.typed import Affinity, Kind, Typed, null

RULES = (
    Rule(
        "cast",
        "CAST takes the longest prefix of a text that reads as a number, truncates reals, and never fails.",
        "https://sqlite.org/lang_expr.html#castexpr",
        "Casts to bigint and double precision of what is a number, functions of `bird_sqlite` for texts.",
    ),
    Rule(
        "mixed-column",
        "A column can hold integers, reals, texts and blobs at once.",
        "https://sqlite.org/datatype3.html",
        "A column of numbers is double precision and tells integers by value; one with texts is text, its"
        " numbers read by `bird_sqlite.as_number`, unless a text of it reads as a number, too, and is not"
        " escaped. How an escaped value begins tells texts and blobs.",
    ),
)


def cast(c: Compiler, node: exp.Expr, scope: Scope) -> Typed:
    """CAST(x AS type): the type's name decides by its letters alone."""
    return cast_to(c, c.expression(node.this, scope), affinity(node.args["to"].args["kind"]))


def cast_affinity(node: exp.Expr) -> Affinity:
    """The affinity of CAST(x AS type) in a comparison."""
    match affinity(node.args["to"].args["kind"]):
        case "TEXT":
            return Affinity.TEXT
        case "BLOB":
            return Affinity.BLOB
        case _:
            return Affinity.NUMERIC


def cast_to(c: Context, t: Typed, wanted: str) -> Typed:
    """Cast to one of the five affinities."""
    if wanted == "BLOB" and t.kind not in {Kind.BLOB, Kind.NULL}:
        if not c.in_utf8:
            raise Untranslatable("CAST AS BLOB", "the bytes of a text depend on the file's encoding")
        if t.kind is Kind.ANY and t.each is not None:
            return t.each(lambda part: cast_to(c, part, wanted)).of(affinity=Affinity.BLOB)
        c.applies("cast")
        found = as_text(c, t)
        return Typed(Bytes(this=found.node), Kind.BLOB, nullable=found.nullable, affinity=Affinity.BLOB)
    if wanted == "BLOB":
        return t.of(affinity=Affinity.BLOB)
    if t.kind is Kind.NULL:
        return null().of(affinity=Affinity.TEXT if wanted == "TEXT" else Affinity.NUMERIC)
    if t.kind is Kind.ANY and t.each is not None:
        demanded = Affinity.TEXT if wanted == "TEXT" else Affinity.NUMERIC
        return t.each(lambda part: cast_to(c, part, wanted)).of(affinity=demanded, collation=t.collation)
    c.applies("cast")
    collation = t.collation
    if t.kind is Kind.BLOB and wanted != "TEXT":
        t = as_digits(c, t)
    if wanted == "TEXT":
        return as_text(c, t).of(affinity=Affinity.TEXT, collation=collation)
    if wanted == "INTEGER":
        found = as_integer(c, t)
    elif wanted == "REAL":
        found = as_double(c, t)
    elif t.kind is Kind.TEXT:
        read = as_number(c, t)
        if read.constant:
            found = _as_cast(read)
        else:
            # Of digits alone it is an INTEGER already.
            found = read if read.kind is Kind.INTEGER else read.of(integral=whole(read.node, *_CAST))
    else:
        found = as_number(c, t)
    return found.of(affinity=Affinity.NUMERIC, collation=collation)


_CAST = (-(2**51), 2**51 - 1)
"""Which whole numbers CAST AS NUMERIC makes INTEGERs: sqlite3RealSameAsInt() in
https://github.com/sqlite/sqlite/blob/version-3.40.1/src/vdbemem.c."""


def _as_cast(t: Typed) -> Typed:
    """A constant as CAST AS NUMERIC gives it: 1.0 as 1."""
    found = t.constant.value if t.constant else None
    fits = isinstance(found, float) and found.is_integer() and _CAST[0] <= found <= _CAST[1]
    return literal(int(found)) if isinstance(found, float) and fits else t


def whole(node: exp.Expr, low: int = -EXACT, high: int = EXACT) -> exp.Expr:
    """Whether SQLite stores a number as an INTEGER, as it does in a column of NUMERIC affinity."""
    inside = exp.Between(this=node.copy(), low=number(low), high=number(high))
    cut = exp.Case(
        ifs=[exp.If(this=inside, true=exp.EQ(this=node.copy(), expression=Truncated(this=node.copy())))]
    )
    return exp.Coalesce(this=cut, expressions=[exp.Boolean(this=False)])


def mixed(c: Context, t: Typed) -> Typed:
    """A stored column of several storage classes."""
    if t.opaque and (t.apart or not t.mixed):
        return hidden(c, t)
    if t.kind is Kind.REAL:
        c.applies("mixed-column")
        return t.of(kind=Kind.NUMBER, integral=whole(t.node) if t.affinity is Affinity.NUMERIC else None)
    if t.opaque or (not t.apart and t.affinity is not Affinity.NUMERIC):
        raise Untranslatable("a column of several types", "its texts and its numbers cannot be told apart")
    c.applies("mixed-column")
    is_number, read = reading(t.node)
    numbers = read.of(low=t.low, high=t.high)
    # A REAL is written with a point or an exponent.
    whole_ = server("is_integer", t.node.copy())
    numbers = numbers.of(kind=Kind.REAL) if t.reals else numbers.of(integral=whole_)
    plain = t.of(mixed=False, affinity=Affinity.NONE, low=None, high=None)
    if t.escaped:
        text_ = Decoded(this=Unhexed(this=Slice(this=t.node.copy(), start=number(3))))
        plain = plain.of(node=case((begins(t.node, ESCAPED_TEXT), text_), default=t.node))
    bytes_ = Unhexed(this=Slice(this=t.node.copy(), start=number(3)))
    blob = Typed(bytes_, Kind.BLOB, nullable=t.nullable, readable=t.readable)
    blobs = [(begins(t.node, ESCAPED_BLOB), blob)] if t.blobs else []
    readings = [(is_number, numbers)]
    if t.blobs and t.low is None:
        readings = []
    elif not t.reals and not within(t, EXACT):
        readings = exact_readings(t.node, t.low, t.high)

    def each(rewrite: Rewrite) -> Typed:
        def of(part: Typed) -> Typed:
            try:
                return rewrite(part)
            except Untranslatable as error:
                if part.kind is not Kind.BLOB:
                    raise
                reason = f"{error.reason}; {t.node.name} has blobs beside other values"
                raise Untranslatable(error.construct, reason, error.position) from None

        parts = [(test.copy(), of(part)) for test, part in (*blobs, *readings)]
        return choose(c, parts, rewrite(plain))

    return t.of(kind=Kind.ANY, each=each, written=None if t.escaped or t.blobs else t.node)
