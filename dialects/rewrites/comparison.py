"""Make SQLite's affinities, storage classes and collations explicit in comparisons and ORDER BY terms.

https://sqlite.org/datatype3.html#comparison_expressions
https://sqlite.org/lang_select.html#the_order_by_clause
"""

from collections.abc import Callable, Sequence
from functools import partial

from sqlglot import exp

from dialects import versions
from dialects.coercions import (
    EXACT,
    as_condition,
    as_double,
    as_text,
    beyond_integers,
    gets_beyond_double,
    literal,
    spread,
    value,
    whole_of,
    with_numeric_affinity,
)
from dialects.errors import Untranslatable
from dialects.nodes import (
    AsInteger,
    Bigint,
    Bytes,
    Exact,
    Lower,
    case,
    every,
    grouped,
    is_not_null,
    is_null,
    number,
    server,
    some,
    unknown,
)
from dialects.numbers import well_formed
from dialects.tagged_values import place_of_hidden, refusal, to_tagged
from dialects.trees import has
from dialects.value_types import Affinity, Collation, Context, Kind, Typed, boolean

RANK = {Kind.INTEGER: 1, Kind.REAL: 1, Kind.NUMBER: 1, Kind.TEXT: 2, Kind.BLOB: 3}
"""The order of storage classes. https://sqlite.org/datatype3.html#sort_order"""

_HOLDS: dict[type[exp.Expr], Callable[[int, int], bool]] = {
    exp.EQ: lambda left, right: left == right,
    exp.NEQ: lambda left, right: left != right,
    exp.LT: lambda left, right: left < right,
    exp.LTE: lambda left, right: left <= right,
    exp.GT: lambda left, right: left > right,
    exp.GTE: lambda left, right: left >= right,
}

OWN_COLLATION = "it is the application's own: neither SQLite nor the target can compare or sort by it"

_NULL_SAFE = (exp.NullSafeEQ, exp.NullSafeNEQ)


def compare(c: Context, operator: type[exp.Binary], left: Typed, right: Typed) -> Typed:
    """Compile a comparison; the operator is one of EQ, NEQ, LT, LTE, GT, GTE, NullSafeEQ, NullSafeNEQ."""
    chosen = collation(left, right)
    left, right = with_affinities(c, left, right)
    return _compared(c, operator, left, right, chosen)


def equal(c: Context, left: Typed, right: Typed) -> Typed:
    """Compile `left` = `right`."""
    return compare(c, exp.EQ, left, right)


def with_affinities(c: Context, left: Typed, right: Typed) -> tuple[Typed, Typed]:
    """Apply to each operand the affinity of the other one."""
    differ = left.kind.is_numeric != right.kind.is_numeric or Kind.ANY in {left.kind, right.kind}
    if Affinity.VARIED in {left.affinity, right.affinity} and differ:
        raise Untranslatable("a comparison", "SQLite leaves the affinity of a compound SELECT's column open")
    if Affinity.NUMERIC in {left.affinity, right.affinity}:
        if right.affinity is not Affinity.NUMERIC:
            right = _noting(c, right, with_numeric_affinity(c, right, left))
        if left.affinity is not Affinity.NUMERIC:
            left = _noting(c, left, with_numeric_affinity(c, left, right))
    elif left.affinity is Affinity.TEXT and right.affinity is Affinity.NONE:
        right = _noting(c, right, _with_text_affinity(c, right))
    elif right.affinity is Affinity.TEXT and left.affinity is Affinity.NONE:
        left = _noting(c, left, _with_text_affinity(c, left))
    return left, right


def collation(left: Typed, right: Typed) -> Collation:
    """Return the collation that compares two texts. https://sqlite.org/datatype3.html#collating_sequences."""
    for side in (left, right):
        if side.text.collates and side.text.collation:
            return side.text.collation
    return left.text.collation or right.text.collation or Collation.BINARY


def keyed(c: Context, t: Typed, chosen: Collation | None = None) -> exp.Expr:
    """Return the key to compare, group or sort by, whose bytewise order is the collation's."""
    if t.kind is Kind.ANY:
        collated = chosen or t.text.collation
        if t.is_split and collated not in {None, Collation.BINARY}:
            t = spread(c, t, lambda part: _folded(c, part, collated))
            collated = None
        return to_tagged(c, t.with_text(collation=collated), normal=True).node
    node = value(c, t)
    if t.number.decimal:
        raise Untranslatable("a sum or product beyond 64 bits", "SQLite compares it rounded")
    chosen = chosen or t.text.collation or Collation.BINARY
    if t.kind is not Kind.TEXT or chosen is Collation.BINARY:
        return node
    if chosen.is_own:
        raise Untranslatable(f"the collation {chosen}", OWN_COLLATION)
    c.applies("collation")
    return (
        Lower(this=node) if chosen is Collation.NOCASE else server("rtrim_set", node, exp.Literal.string(" "))
    )


def _folded(c: Context, t: Typed, chosen: Collation | None) -> Typed:
    """Return a text as a collation compares it; other values unchanged."""
    return t.of(node=keyed(c, t, chosen)).with_text(collation=None) if t.kind is Kind.TEXT else t


def is_value(c: Context, t: Typed, wanted: bool) -> Typed:  # noqa: FBT001 - TRUE or FALSE as written
    """Compile IS TRUE or IS FALSE, which are never NULL."""
    return boolean(
        exp.Is(this=grouped(as_condition(c, t).node), expression=exp.Boolean(this=wanted)), nullable=False
    )


def null_test(c: Context, t: Typed) -> Typed:
    """Compile IS NULL, for any kind."""
    if t.is_split and t.tagged is None:
        return spread(c, t, partial(null_test, c))
    return boolean(is_null(t.node), nullable=False)


def compare_rows(
    c: Context, operator: type[exp.Binary], left: Sequence[Typed], right: Sequence[Typed]
) -> Typed:
    """Compile (a, b) operator (x, y). https://sqlite.org/rowvalue.html#row_value_comparisons."""
    if len(left) != len(right):
        raise Untranslatable("a row value", f"{len(left)} columns are compared with {len(right)}")
    c.applies("row-values")
    pairs = list(zip(left, right, strict=True))
    if any(isinstance(each.node, exp.Subquery) for pair in pairs for each in pair) and not all(
        each.collation_is_binary for pair in pairs for each in pair
    ):
        c.changed.add(versions.ROW_COLLATION)
    if operator in {exp.EQ, exp.NullSafeEQ}:
        return boolean(every(compare(c, operator, a, b).node for a, b in pairs))
    if operator in {exp.NEQ, exp.NullSafeNEQ}:
        return boolean(some(compare(c, operator, a, b).node for a, b in pairs))
    strict = exp.LT if operator in {exp.LT, exp.LTE} else exp.GT
    result = compare(c, operator, *pairs[-1]).node
    for a, b in reversed(pairs[:-1]):
        tied = every([compare(c, exp.EQ, a, b).node, result])
        result = some([compare(c, strict, a, b).node, tied])
    return boolean(result)


def _noting(c: Context, before: Typed, after: Typed) -> Typed:
    if after is not before:
        c.applies("comparison-affinity")
    return after


def _with_text_affinity(c: Context, t: Typed) -> Typed:
    if t.is_split:
        return spread(c, t, lambda part: _with_text_affinity(c, part))
    return as_text(c, t) if t.kind.is_numeric else t


def _compared(c: Context, operator: type[exp.Binary], left: Typed, right: Typed, chosen: Collation) -> Typed:
    if operator is exp.EQ and c.filtering and (pair := _keys(c, left, right, chosen)):
        first, second = pair
        return boolean(exp.EQ(this=grouped(first), expression=grouped(second)))
    for side, other in ((left, right), (right, left)):
        if side.tagged is not None and side.tagged.opaque and not other.is_split:
            mirrored = operator if side is left else _MIRRORED.get(operator, operator)
            return _with_hidden(c, mirrored, side, other, chosen)
    for side in (right, left) if left.tagged is not None and left.tagged.opaque else (left, right):
        if side.is_split and side is left:
            return spread(c, left, lambda part: _compared(c, operator, part, right, chosen))
        if side.is_split:
            return spread(c, right, lambda part: _compared(c, operator, left, part, chosen))
    if Kind.NULL in {left.kind, right.kind}:
        return _with_null(c, operator, left, right)
    if left.kind.is_numeric and right.kind.is_numeric:
        if (known := _of_constants(operator, left, right)) is not None:
            return known
        if left.kind is not Kind.INTEGER or right.kind is not Kind.INTEGER:
            _note_sums(c, left.node, right.node)
        if (exact := _exactly(c, operator, left, right)) is not None:
            return exact
        left, right = _comparable(left, right)
        if operator in {exp.EQ, exp.NEQ} and c.lowers("rounded-lookups"):
            left, right = _without_lookup(left, right), _without_lookup(right, left)
        return _native(c, operator, value(c, left), value(c, right), left, right)
    if left.kind is right.kind:
        return _native(c, operator, keyed(c, left, chosen), keyed(c, right, chosen), left, right)
    c.applies("class-order")
    ranks = RANK[left.kind], RANK[right.kind]
    if operator in _NULL_SAFE:
        both = every([is_null(left.node), is_null(right.node)])
        return boolean(both if operator is exp.NullSafeEQ else exp.Not(this=grouped(both)), nullable=False)
    return _unless_null(exp.Boolean(this=_HOLDS[operator](*ranks)), left, right)


def _note_sums(c: Context, *nodes: exp.Expr) -> None:
    """Note that sums of reals, which later releases add otherwise, decide a comparison."""
    if versions.RUNNING > versions.FOLLOWED and any(has(node, exp.Sum, exp.Avg) for node in nodes):
        c.changed.add(versions.SUM_COMPARED)


def _with_hidden(
    c: Context, operator: type[exp.Binary], hidden: Typed, other: Typed, chosen: Collation
) -> Typed:
    """Compare with a column of values that the target cannot store: by bytes, as BINARY does."""
    if other.kind is Kind.NULL:
        return _with_null(c, operator, hidden, other)
    rank, digits, octets = place_of_hidden(hidden)
    if (other.kind is Kind.TEXT and chosen is not Collation.BINARY) or gets_beyond_double(other):
        raise refusal(hidden)
    c.applies("class-order")
    wanted = number(RANK[other.kind])
    mine, theirs = (
        (digits, as_double(c, other).node)
        if other.kind.is_numeric
        else (octets, Bytes(this=other.node) if other.kind is Kind.TEXT else other.node)
    )
    missing = [is_null(hidden.node), is_null(other.node)]
    if operator in _NULL_SAFE:
        alike = exp.EQ(this=mine, expression=grouped(theirs))
        same = case(
            (some(missing), every(test.copy() for test in missing)),
            (exp.EQ(this=rank, expression=wanted), alike),
            default=exp.Boolean(this=False),
        )
        return boolean(same if operator is exp.NullSafeEQ else exp.Not(this=same), nullable=False)
    holds = _HOLDS[operator]
    found = case(
        (some(missing), exp.Null()),
        (exp.LT(this=rank, expression=wanted), exp.Boolean(this=holds(0, 1))),
        (exp.GT(this=rank.copy(), expression=wanted.copy()), exp.Boolean(this=holds(1, 0))),
        default=operator(this=mine, expression=grouped(theirs)),
    )
    return boolean(found)


def _of_constants(operator: type[exp.Binary], left: Typed, right: Typed) -> Typed | None:
    """Compare two numeric literals in Python, exactly as SQLite does; None if they are not literals."""
    if left.constant is None or right.constant is None:
        return None
    a, b = left.constant.value, right.constant.value
    if not isinstance(a, int | float) or not isinstance(b, int | float):
        return None
    place = (a > b) - (a < b)
    holds = _HOLDS.get(operator)
    if holds is None:
        return boolean(exp.Boolean(this=(place == 0) is (operator is exp.NullSafeEQ)), nullable=False)
    return boolean(exp.Boolean(this=holds(place, 0)), nullable=False)


def _keys(c: Context, left: Typed, right: Typed, chosen: Collation) -> tuple[exp.Expr, exp.Expr] | None:
    """Return two keys that are equal exactly if the operands are; NULL for a value that cannot be equal.

    That suffices for a filter, and a join can hash, merge or look up such keys: each depends on one operand.
    """
    if (right.kind is Kind.ANY and left.kind is not Kind.ANY) or left.kind is Kind.REAL:
        found = _keys_of(c, right, left, chosen)
        return found and (found[1], found[0])
    return _keys_of(c, left, right, chosen)


def _keys_of(c: Context, one: Typed, other: Typed, chosen: Collation) -> tuple[exp.Expr, exp.Expr] | None:
    """See `_keys`: `one` is a text or a number, or an INTEGER beyond 2^53."""
    if (
        one.kind is Kind.INTEGER
        and other.kind is Kind.REAL
        and gets_beyond_double(one)
        and not other.constant
    ):
        return value(c, one), whole_of(other.node)
    text = one.written
    if one.kind is not Kind.ANY or text is None:
        return None
    match other.kind:
        case Kind.INTEGER:
            return server("as_integer", text), value(c, other)
        case Kind.REAL:
            return server("as_real", text), other.node
        case Kind.NUMBER if not other.number.decimal:
            read = server("as_real", text) if c.long_numbers else server("as_number", text)
            return read, other.node
        case Kind.ANY if other.written is not None and chosen is Collation.BINARY:
            return server("as_key", text), server("as_key", other.written)
        case Kind.TEXT if (
            (other.constant and _is_no_number(other)) or other.affinity is Affinity.NUMERIC
        ) and chosen is Collation.BINARY:
            # It does not read as a number; otherwise it would have been converted.
            return text, other.node
    return None


def _is_no_number(t: Typed) -> bool:
    """True if a constant text is not a way to write a number."""
    found = None if t.constant is None else t.constant.value
    return isinstance(found, str) and well_formed(found) is None


def _native(
    c: Context, operator: type[exp.Binary], left: exp.Expr, right: exp.Expr, a: Typed, b: Typed
) -> Typed:
    if operator in _NULL_SAFE:
        c.applies("is-with-values")
    node = operator(this=grouped(left), expression=grouped(right))
    return boolean(node, nullable=operator not in _NULL_SAFE and (a.nullable or b.nullable))


def _with_null(c: Context, operator: type[exp.Binary], left: Typed, right: Typed) -> Typed:
    if operator in _NULL_SAFE:
        other = right if left.kind is Kind.NULL else left
        found = null_test(c, other)
        return (
            found
            if operator is exp.NullSafeEQ
            else boolean(exp.Not(this=grouped(found.node)), nullable=False)
        )
    return boolean(unknown())


def _unless_null(truth: exp.Expr, *operands: Typed) -> Typed:
    nullable = [operand for operand in operands if operand.nullable]
    if not nullable:
        return boolean(truth, nullable=False)
    there = every(is_not_null(operand.node) for operand in nullable)
    return boolean(case((there, truth)))


def _comparable(left: Typed, right: Typed) -> tuple[Typed, Typed]:
    """Convert two numbers so that the target compares them exactly, as SQLite does."""
    if left.kind is Kind.INTEGER and right.kind is Kind.INTEGER:
        return left, right
    for one, other in ((left, right), (right, left)):
        if (
            one.kind is Kind.INTEGER
            and other.constant is not None
            and isinstance(other.constant.value, float)
        ):
            plain = _decimal(other)
            return (one, plain) if one is left else (plain, one)
    return left, right


def _without_lookup(one: Typed, other: Typed) -> Typed:
    """Keep the target from looking an integer up by a real number that a subquery computes."""
    if one.kind is not Kind.INTEGER or not isinstance(one.node, exp.Column):
        return one
    is_known_late = other.kind is not Kind.INTEGER and has(other.node, exp.Query)
    return one.of(node=exp.Add(this=one.node, expression=number(0))) if is_known_late else one


_BEYOND = 2**63
"""Larger than any integer."""

_MIRRORED: dict[type[exp.Expr], type[exp.Binary]] = {
    exp.LT: exp.GT, exp.LTE: exp.GTE, exp.GT: exp.LT, exp.GTE: exp.LTE,
}  # fmt: skip


def _exactly(c: Context, operator: type[exp.Binary], left: Typed, right: Typed) -> Typed | None:
    """Compare an integer beyond 2^53 with a real exactly; the targets would compare doubles."""
    if gets_beyond_double(right) and left.kind is not Kind.INTEGER:
        left, right, operator = right, left, _MIRRORED.get(operator, operator)
    known = None if right.constant is None else right.constant.value
    constant = isinstance(known, float) and abs(known) < _BEYOND and not left.number.decimal
    if not gets_beyond_double(left) or right.kind is Kind.INTEGER or constant:
        return None
    if operator in _NULL_SAFE:
        return _exactly_null_safe(c, operator, left, right)
    if left.number.decimal and left.number.integral is None:
        # Of a subquery or a window: how SQLite rounds it is no longer known, which matters near it alone.
        if not isinstance(known, float) or abs(known) >= EXACT:
            raise Untranslatable("a sum or product beyond 64 bits", "SQLite compares it rounded")
        within = exp.Between(this=grouped(left.node.copy()), low=number(-_BEYOND), high=number(_BEYOND - 1))
        left = left.with_number(integral=within, rounded=None)
    double = as_double(c, right).node
    test: exp.Expr = operator(
        this=server("compared", Bigint(this=value(c, left)), double), expression=number(0)
    )
    if left.number.decimal and left.number.integral is not None:
        beyond = operator(this=beyond_integers(left).node, expression=double.copy())
        test = case((left.number.integral.copy(), test), default=beyond)
    if right.number.decimal and right.number.integral is not None:
        whole = operator(this=Exact(this=value(c, left).copy()), expression=grouped(right.node.copy()))
        test = case((right.number.integral.copy(), whole), default=test)
    return boolean(test, nullable=left.nullable or right.nullable)


def _exactly_null_safe(c: Context, operator: type[exp.Binary], left: Typed, right: Typed) -> Typed | None:
    """Compile IS or IS NOT of such numbers, with NULL equal to NULL."""
    equality = _exactly(c, exp.EQ, left, right)
    if equality is None:
        return None
    c.applies("is-with-values")
    missing = [is_null(side.node) for side in (left, right)]
    same = case((some(missing), every(test.copy() for test in missing)), default=equality.node)
    return boolean(same if operator is exp.NullSafeEQ else exp.Not(this=same), nullable=False)


def _decimal(t: Typed) -> Typed:
    """Return a real literal as an exact decimal number, for a comparison with an integer."""
    assert t.constant is not None  # noqa: S101 - checked by the caller
    found = t.constant.value
    assert isinstance(found, float)  # noqa: S101 - the same
    if found.is_integer() and abs(found) < 2**63:
        return literal(int(found))
    digits = repr(abs(found))
    if "e" in digits:
        return t
    node = exp.Literal.number(digits)
    return t.of(node=exp.Neg(this=node) if found < 0 else node)


def direction(term: exp.Expr) -> tuple[bool, bool]:
    """Return whether an ORDER BY term of SQLite's is descending, and whether NULL comes first."""
    descending, written = bool(term.args.get("desc")), term.args.get("nulls_first")
    return descending, not descending if written is None else bool(written)


def ordered(c: Context, t: Typed, term: exp.Expr, place: exp.Expr | None = None) -> list[exp.Expr]:
    """Return the target's ORDER BY terms for one of SQLite's.

    `term` is the written one, for DESC and NULLS; `place` is the value's position if it is a result column.
    """
    descending, first = direction(term)
    if t.kind is Kind.ANY:
        return _by_class(c, t, descending=descending, nulls_first=first)
    key = keyed(c, t)
    node = key if place is None or key is not t.node else place
    if not t.nullable:
        return [exp.Ordered(this=node, desc=descending)]
    if c.target.has_null_order:
        c.applies("null-order")
        return [exp.Ordered(this=node, desc=descending, nulls_first=first)]
    if first != descending:
        return [may_be_null(exp.Ordered(this=node, desc=descending))]
    c.applies("null-order")
    return [
        exp.Ordered(this=AsInteger(this=is_null(t.node)), desc=first),
        exp.Ordered(this=node.copy(), desc=descending),
    ]


def may_be_null(term: exp.Ordered) -> exp.Ordered:
    """Mark an ORDER BY term without NULLS FIRST or LAST that may be NULL; see the lowering `list-nulls`."""
    term.meta["nullable"] = True
    return term


def _numbers(c: Context, t: Typed) -> list[exp.Expr]:
    """Return terms that sort INTEGERs and REALs together: as doubles, then exactly for equal doubles."""
    if not t.is_split:
        return [value(c, t)]

    def exactly(part: Typed) -> Typed:
        if part.number.decimal:
            raise Untranslatable("a sum or product beyond 64 bits", "SQLite compares it rounded")
        if part.kind in {Kind.NULL, Kind.INTEGER}:
            return part if part.kind is Kind.NULL else Typed(Exact(this=value(c, part)), Kind.INTEGER)
        double = as_double(c, part).node
        far = exp.GTE(this=grouped(double.copy()), expression=literal(2.0**63).node)
        whole = Exact(this=whole_of(double.copy()))
        return Typed(case((far, Exact(this=number(2**63))), default=whole), Kind.INTEGER)

    return [value(c, spread(c, t, lambda part: as_double(c, part))), value(c, spread(c, t, exactly))]


def _of_rank(rank: int, part: Typed) -> Typed:
    """Return a value of a storage class, or NULL."""
    return part if RANK.get(part.kind) == rank else literal(None)


def _rank(part: Typed) -> Typed:
    if part.kind not in RANK:
        return literal(None)
    rank: exp.Expr = number(RANK[part.kind])
    if part.nullable:
        rank = case((is_not_null(part.node.copy()), rank))
    return part.of(node=rank, kind=Kind.INTEGER)


def _by_class(c: Context, t: Typed, *, descending: bool, nulls_first: bool) -> list[exp.Expr]:
    """Return terms that sort numbers before texts before blobs, each by value."""
    if t.tagged is not None and t.tagged.opaque and t.collation_is_binary:
        missing = exp.Ordered(this=AsInteger(this=is_null(t.node)), desc=nulls_first)
        places = [key for key in place_of_hidden(t) if not isinstance(key, exp.Null)]
        return [missing, *(exp.Ordered(this=key, desc=descending) for key in places)]
    if not t.is_split:
        raise Untranslatable("ORDER BY", "values of several types cannot be distinguished")
    rank = spread(c, t, _rank)
    numbers, texts, blobs = (spread(c, t, partial(_of_rank, own)) for own in (1, 2, 3))
    nulls = AsInteger(this=null_test(c, numbers).node), AsInteger(this=is_null(texts.node))
    both = exp.Mul(this=nulls[0], expression=nulls[1])
    if blobs.kind is Kind.BLOB:
        both = exp.Mul(this=both, expression=AsInteger(this=is_null(blobs.node)))
    letters = texts if texts.kind is Kind.NULL else texts.with_text(collation=t.text.collation)
    keys = [value(c, rank), *_numbers(c, numbers), keyed(c, letters)]
    keys += [blobs.node] if blobs.kind is Kind.BLOB else []
    return [
        exp.Ordered(this=both, desc=nulls_first),
        *(exp.Ordered(this=key, desc=descending) for key in keys if not isinstance(key, exp.Null)),
    ]
