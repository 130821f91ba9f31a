"""ORDER BY terms. https://sqlite.org/lang_select.html#the_order_by_clause."""

from sqlglot import exp

from dialects.carried import place_of_hidden
from dialects.coercions import as_double, literal, value, whole_of
from dialects.errors import Untranslatable
from dialects.nodes import AsInteger, Exact, case, grouped, is_not_null, is_null, number
from dialects.rewrites.comparison import RANK, keyed, null_test
from dialects.rules import Context, Rule
from dialects.typed import Kind, Typed

RULES = (
    Rule(
        "null-order",
        "NULL is less than any value: first in ascending, last in descending order, unless NULLS FIRST or"
        " NULLS LAST says otherwise.",
        "https://sqlite.org/lang_select.html#the_order_by_clause",
        "PostgreSQL: NULLS FIRST and NULLS LAST written. MySQL: sorted by IS NULL before where it is the"
        " other way round.",
    ),
)


def ordered(c: Context, t: Typed, term: exp.Expr, place: exp.Expr | None = None) -> list[exp.Expr]:
    """The target's terms for one of SQLite's.

    `term` is the written one, for DESC and NULLS; `place` stands for the value where it is a result column.
    """
    descending = bool(term.args.get("desc"))
    if t.kind is Kind.ANY:
        return _by_class(c, t, term, descending=descending)
    key = keyed(c, t)
    node = key if place is None or key is not t.node else place
    natural = not descending
    written = term.args.get("nulls_first")
    first = natural if written is None else bool(written)
    if not t.nullable:
        return [exp.Ordered(this=node, desc=descending)]
    if c.target.has_null_order:
        c.applies("null-order")
        return [exp.Ordered(this=node, desc=descending, nulls_first=first)]
    if first is natural:
        return [exp.Ordered(this=node, desc=descending)]
    c.applies("null-order")
    return [
        exp.Ordered(this=AsInteger(this=is_null(t.node)), desc=first),
        exp.Ordered(this=node.copy(), desc=descending),
    ]


def _numbers(c: Context, t: Typed) -> list[exp.Expr]:
    """What INTEGERs and REALs are sorted by together: as doubles, and where those are equal exactly."""
    if t.kind is not Kind.ANY or t.each is None:
        return [value(c, t)]

    def exactly(part: Typed) -> Typed:
        if part.decimal:
            raise Untranslatable("a sum or product beyond 64 bits", "SQLite compares it rounded")
        if part.kind is not Kind.REAL:
            return part if part.kind is Kind.NULL else Typed(Exact(this=value(c, part)), Kind.INTEGER)
        far = exp.GTE(this=grouped(part.node.copy()), expression=literal(2.0**63).node)
        whole = Exact(this=whole_of(part.node.copy()))
        return Typed(case((far, Exact(this=number(2**63))), default=whole), Kind.INTEGER)

    return [value(c, t.each(lambda part: as_double(c, part))), value(c, t.each(exactly))]


def _rank(part: Typed) -> Typed:
    """The class of a value as a number; NULL is of none, whatever it could have been."""
    if part.kind not in RANK:
        return literal(None)
    rank: exp.Expr = number(RANK[part.kind])
    if part.nullable:
        rank = case((is_not_null(part.node.copy()), rank))
    return part.of(node=rank, kind=Kind.INTEGER)


def _by_class(c: Context, t: Typed, term: exp.Expr, *, descending: bool) -> list[exp.Expr]:
    """Numbers before texts before blobs, each by value."""
    if t.carried is not None and t.carried.opaque and t.collation_is_binary:
        written = term.args.get("nulls_first")
        missing = exp.Ordered(
            this=AsInteger(this=is_null(t.node)), desc=not descending if written is None else bool(written)
        )
        places = [key for key in place_of_hidden(t) if not isinstance(key, exp.Null)]
        return [missing, *(exp.Ordered(this=key, desc=descending) for key in places)]
    if t.each is None:
        raise Untranslatable("ORDER BY", "values of several types cannot be told apart")
    rank = t.each(_rank)
    numbers = t.each(lambda part: part if part.kind.is_numeric else Typed(exp.Null(), Kind.NULL))
    texts = t.each(lambda part: part if part.kind is Kind.TEXT else Typed(exp.Null(), Kind.NULL))
    blobs = t.each(lambda part: part if part.kind is Kind.BLOB else Typed(exp.Null(), Kind.NULL))
    nulls = AsInteger(this=null_test(numbers).node), AsInteger(this=is_null(texts.node))
    both = exp.Mul(this=nulls[0], expression=nulls[1])
    if blobs.kind is Kind.BLOB:
        both = exp.Mul(this=both, expression=AsInteger(this=is_null(blobs.node)))
    written = term.args.get("nulls_first")
    first = not descending if written is None else bool(written)
    letters = texts if texts.kind is Kind.NULL else texts.of(collation=t.collation)
    keys = [value(c, rank), *_numbers(c, numbers), keyed(c, letters)]
    keys += [blobs.node] if blobs.kind is Kind.BLOB else []
    return [exp.Ordered(this=both, desc=first), *(exp.Ordered(this=key, desc=descending) for key in keys)]
