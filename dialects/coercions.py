"""SQLite's implicit conversions of operands from one storage class to another."""

import math
from collections.abc import Callable, Sequence
from contextlib import suppress

from sqlglot import exp

from dialects.errors import Untranslatable
from dialects.nodes import (
    Alternatives,
    AsInteger,
    Bigint,
    Decoded,
    Digits,
    Double,
    Quotient,
    ServerCall,
    Slice,
    Tail,
    Text,
    Truncated,
    case,
    every,
    grouped,
    is_not_null,
    number,
    server,
    string,
    unknown,
)
from dialects.numbers import integer_of, numeric_prefix, printed, well_formed
from dialects.trees import copied
from dialects.value_types import (
    Constant,
    Context,
    Form,
    Kind,
    NumberFacts,
    OneOf,
    Typed,
    boolean,
    integer,
    real,
    text,
)

EXACT = 2**53
"""Integers up to here are exact in double precision."""

BIGGEST = 2**63 - 1

SEVERAL_TYPES = "values of several types"
"""Names the refused construct when no column of a target holds both numbers and texts."""

INFINITE = ("an infinite number", "SQLite computes with it, and servers stop there")

Rewrite = Callable[[Typed], Typed]

_NUMBERS = frozenset({Kind.INTEGER, Kind.REAL, Kind.NUMBER})


def value(c: Context, t: Typed) -> exp.Expr:
    """Return the expression for a place that needs a value, not a condition."""
    if t.kind is Kind.ANY:
        raise Untranslatable(SEVERAL_TYPES, "a column of the target holds numbers or texts, not both")
    if t.number.condition:
        if c.target.has_boolean:
            c.applies("condition-as-number")
        return AsInteger(this=t.node)
    return t.node


def plain(c: Context, t: Typed) -> Typed:
    """Return `t`, a condition converted to an INTEGER."""
    return t.of(node=value(c, t)).with_number(condition=False) if t.number.condition else t


def as_number(c: Context, t: Typed) -> Typed:
    """Convert the operand of an arithmetic operator. https://sqlite.org/lang_expr.html#operators."""
    match t.kind:
        case Kind.ANY:
            return spread(c, t, lambda part: as_number(c, part))
        case Kind.TEXT if t.constant is not None and isinstance(t.constant.value, str):
            c.applies("numeric-prefix")
            return literal(numeric_prefix(t.constant.value))
        case Kind.TEXT if t.text.form is Form.DIGITS:
            c.applies("numeric-prefix")
            is_stored = isinstance(t.node, exp.Column | Slice)
            read = Digits(this=t.node) if is_stored else Bigint(this=t.node)
            return integer(read, t.number.low, t.number.high, nullable=t.nullable)
        case Kind.TEXT if t.is_dated:
            c.applies("numeric-prefix")
            year = Slice(this=t.node, start=number(1), length=number(4))
            return integer(Digits(this=year), 0, 9999, nullable=t.nullable)
        case Kind.TEXT if c.infinite_texts:
            raise Untranslatable(*INFINITE)
        case Kind.TEXT if c.long_numbers and _most(t) == BIGGEST:
            c.applies("numeric-prefix")
            whole = integer(server("to_integer", t.node.copy()), -BIGGEST - 1, BIGGEST, nullable=t.nullable)
            other = real(server("to_real", t.node.copy()), nullable=t.nullable)
            return choose(c, [(server("is_integer", t.node.copy()), whole)], other)
        case Kind.TEXT:
            c.applies("numeric-prefix")
            whole_ = NumberFacts(integral=server("is_integer", t.node))
            return Typed(server("to_real", t.node), Kind.NUMBER, nullable=t.nullable, number=whole_)
        case Kind.BLOB:
            return as_number(c, as_digits(c, t))
        case _:
            return plain(c, t)


def _most(t: Typed) -> int:
    """Return a bound of the integers that a text begins with: some characters of one are as many digits."""
    length = t.node.args.get("length") if isinstance(t.node, Slice | Tail) else None
    shown = length.name if isinstance(length, exp.Literal) else ""
    return 10 ** int(shown) if shown.isdecimal() and int(shown) < len(str(EXACT)) else BIGGEST


def as_double(c: Context, t: Typed) -> Typed:
    """Convert a number to a REAL."""
    if t.kind is Kind.TEXT and not (t.constant or t.text.form) and not c.infinite_texts:
        c.applies("numeric-prefix")
        return real(server("to_real", t.node), nullable=t.nullable)
    t = as_number(c, t)
    if t.kind is Kind.ANY:
        return spread(c, t, lambda part: as_double(c, part))
    if t.constant is not None and isinstance(t.constant.value, int | float):
        return literal(float(t.constant.value))
    if t.kind is Kind.REAL:
        return t
    node = t.node if _is_double(t.node) else Double(this=t.node)
    if isinstance(t.node, Bigint) and isinstance(t.node.this, exp.Sum):
        node = Double(this=t.node.this) if (t.number.most or BIGGEST) < BIGGEST else node
    return real(node, t.number.low, t.number.high, nullable=t.nullable)


def beyond_integers(t: Typed) -> Typed:
    """Return the REAL that a NUMBER is where its `integral` does not hold."""
    rounded = t.number.rounded
    return real(Double(this=t.node.copy()) if rounded is None else rounded.copy(), nullable=t.nullable)


def _is_double(node: exp.Expr) -> bool:
    """True if the target computes the node in double precision anyway."""
    match node:
        case Double() | Quotient():
            return True
        case ServerCall():
            return node.this in {"to_real", "as_number", "round_to", "quotient"}
        case exp.Paren() | exp.Neg() | exp.Sum() | exp.Distinct():
            return _is_double(node.expressions[0] if isinstance(node, exp.Distinct) else node.this)
        case exp.Add() | exp.Sub() | exp.Mul():
            return _is_double(node.this) and _is_double(node.expression)
        case _:
            return False


def as_text(c: Context, t: Typed) -> Typed:
    """Convert to a text as `||`, text functions and CAST AS TEXT do."""
    match t.kind:
        case Kind.TEXT:
            return t
        case Kind.ANY:
            return spread(c, t, lambda part: as_text(c, part))
        case Kind.NULL:
            return text(Text(this=t.node), constant=t.constant)
        case Kind.BLOB:
            return _read(c, t)
    c.applies("number-as-text")
    if t.constant is not None and isinstance(t.constant.value, int | float):
        return text(
            string(printed(t.constant.value)), constant=Constant(printed(t.constant.value)), nullable=False
        )
    if t.kind is Kind.INTEGER:
        return text(Text(this=value(c, t)), nullable=t.nullable)
    if t.kind is Kind.REAL:
        return text(server("real_to_text", t.node), nullable=t.nullable)
    if t.number.integral is None:
        raise Untranslatable(
            "a number as a text", "it is unknown whether it prints as an integer or as a real"
        )
    whole = Text(this=Bigint(this=t.node) if t.number.decimal else Truncated(this=Double(this=t.node.copy())))
    printed_real = server("real_to_text", beyond_integers(t).node)
    return text(case((t.number.integral.copy(), whole), default=printed_real), nullable=t.nullable)


def _read(c: Context, blob: Typed) -> Typed:
    """Return the text whose bytes a blob is, like the line feed of x'0a'."""
    found = None if blob.constant is None else blob.constant.value
    if c.in_utf8 and isinstance(found, bytes) and b"\0" not in found:
        with suppress(UnicodeDecodeError):
            return text(string(found.decode()), constant=Constant(found.decode()), nullable=False)
    if not blob.stored.readable or not c.in_utf8:
        raise Untranslatable("a blob as a text", "its bytes need not be text")
    return text(Decoded(this=blob.node), nullable=blob.nullable)


def as_digits(c: Context, t: Typed) -> Typed:
    """Convert a blob to a text that reads as the same number in SQLite."""
    if not c.in_utf8:
        raise Untranslatable("a blob as a number", "SQLite reads it as text in the file's encoding")
    return text(Decoded(this=t.node, loose=True), nullable=t.nullable)


def as_integer(c: Context, t: Typed) -> Typed:
    """Convert as CAST AS INTEGER does. https://sqlite.org/lang_expr.html#castexpr."""
    match t.kind:
        case Kind.ANY:
            return spread(c, t, lambda part: as_integer(c, part))
        case Kind.INTEGER:
            return plain(c, t)
        case Kind.NULL:
            return t
        case Kind.BLOB:
            return as_integer(c, as_digits(c, t))
    if t.constant is not None and isinstance(t.constant.value, str | float):
        return literal(integer_of(t.constant.value))
    if t.kind is Kind.TEXT and t.text.form:
        return as_number(c, t)
    if t.kind is Kind.TEXT:
        c.applies("numeric-prefix")
        ends = (-1 - _most(t), _most(t)) if c.long_numbers else (None, None)
        return integer(server("to_integer", t.node), *ends, nullable=t.nullable)
    double = as_double(c, t)
    if t.number.decimal:
        cut = server("real_to_integer", double.node)
        inside = exp.Between(this=grouped(t.node.copy()), low=number(-BIGGEST - 1), high=number(BIGGEST))
        whole = inside if t.number.integral is None else t.number.integral.copy()
        either = case((whole, Bigint(this=t.node)), default=cut)
        return integer(either, nullable=t.nullable)
    if within(t, 2**62):
        low = None if t.number.low is None else math.floor(t.number.low)
        high = None if t.number.high is None else math.ceil(t.number.high)
        return integer(Truncated(this=double.node), low, high, nullable=t.nullable)
    least, most = (
        None if bound is None else int(max(-BIGGEST - 1, min(BIGGEST, bound)))
        for bound in (t.number.low, t.number.high)
    )
    return integer(server("real_to_integer", double.node), least, most, nullable=t.nullable)


def as_condition(c: Context, t: Typed) -> Typed:
    """Convert to a condition that holds if the value counts as true; NULL stays NULL."""
    if t.number.condition:
        return t
    match t.kind:
        case Kind.ANY:
            return spread(c, t, lambda part: as_condition(c, part))
        case Kind.NULL:
            return boolean(unknown())
    if t.constant is not None and isinstance(t.constant.value, int):
        return boolean(exp.Boolean(this=bool(t.constant.value)), nullable=False)
    c.applies("number-as-condition")
    value = as_number(c, t)
    if value.kind is Kind.ANY:
        return spread(c, value, lambda part: as_condition(c, part))
    return boolean(exp.NEQ(this=grouped(value.node), expression=number(0)), nullable=t.nullable)


def literal(found: float | str | None) -> Typed:
    """Return a constant with the type that SQLite gives it."""
    match found:
        case None:
            return Typed(exp.Null(), Kind.NULL, constant=Constant(None))
        case str():
            return text(string(found), constant=Constant(found), nullable=False)
        case int():
            return integer(number(found), found, found, constant=Constant(found), nullable=False)
        case _:
            if not math.isfinite(found):
                raise Untranslatable(*INFINITE)
            digits = exp.Literal.number(repr(abs(found)))
            return real(
                Double(this=exp.Neg(this=digits) if found < 0 else digits),
                constant=Constant(found), low=found, high=found, nullable=False,
            )  # fmt: skip


def within(t: Typed, bound: float) -> bool:
    """True if every value is known to be between -bound and bound."""
    return (greatest := t.number.greatest) is not None and greatest <= bound


def with_numeric_affinity(c: Context, t: Typed, other: Typed) -> Typed:
    """Convert the other operand of a number with affinity: a text that reads as a number counts as it.

    https://sqlite.org/datatype3.html#type_conversions_prior_to_comparison
    """
    if t.kind is Kind.ANY and t.stored.mixed and t.written is not None:
        return t  # None of its texts reads as a number.
    if t.kind is Kind.ANY:
        return spread(c, t, lambda part: with_numeric_affinity(c, part, other))
    if t.kind is not Kind.TEXT:
        return t
    if t.constant is not None and isinstance(t.constant.value, str):
        found = well_formed(t.constant.value)
        return t if found is None else literal(found)
    if t.text.form is Form.DIGITS:
        return as_number(c, t)
    # Double precision rounds an integer beyond 2^53, which matters if the other operand gets that far.
    readings = exact_readings(t.node) if _gets_far(c, other) else [reading(t.node)]
    return Typed(Alternatives(), Kind.ANY, nullable=t.nullable, several=OneOf((*readings,), t, t.node))


def _gets_far(c: Context, t: Typed) -> bool:
    """True if numbers among the values get beyond 2^53, or may do so and are compared with such texts."""
    return any(
        (part.number.ends or (c.long_numbers and part.kind.is_numeric)) and not within(part, EXACT - 1)
        for part in t.alternatives
        if part.kind.is_numeric or not t.is_split
    )


def reading(node: exp.Expr) -> tuple[exp.Expr, Typed]:
    """Return a test whether a whole text reads as a number, and the number."""
    read = server("as_number", node.copy())
    return is_not_null(read), Typed(read, Kind.NUMBER)


def exact_readings(
    node: exp.Expr, low: float | None = None, high: float | None = None
) -> list[tuple[exp.Expr, Typed]]:
    """Return the same for INTEGERs, then for REALs, neither rounded; the second if not the first.

    `low` and `high` are the bounds of the numbers, if known.
    """
    is_number, read = reading(node)
    least = -BIGGEST - 1 if low is None else max(-BIGGEST - 1, math.floor(low))
    most = BIGGEST if high is None else min(BIGGEST, math.ceil(high))
    whole = integer(server("to_integer", node.copy()), least, most)
    is_whole = case((is_number.copy(), server("is_integer", node.copy())))
    return [(is_whole, whole), (is_number, real(read.node))]


def spread(c: Context, t: Typed, rewrite: Rewrite) -> Typed:
    """Rewrite each alternative of a value of several kinds, and choose among the results.

    Raises:
        Untranslatable: the target cannot tell the alternatives apart.
    """
    several = t.several
    if not t.is_split or not isinstance(several, OneOf):
        raise Untranslatable(SEVERAL_TYPES, "the target cannot distinguish them")
    if several.refused:
        raise Untranslatable(*several.refused)

    def of(part: Typed) -> Typed:
        if part.is_split:
            return spread(c, part, rewrite)
        try:
            return rewrite(part)
        except Untranslatable as error:
            if part.kind is not Kind.BLOB or not several.blobs_in:
                raise
            reason = f"{error.reason}; {several.blobs_in} has blobs and other values"
            raise Untranslatable(error.construct, reason, error.position) from None

    branches = [(test, of(part)) for test, part in several.branches]
    return choose(c, branches, of(literal(None) if several.default is None else several.default))


def choose(c: Context, branches: Sequence[tuple[exp.Expr, Typed]], default: Typed | None) -> Typed:
    """Return CASE WHEN condition THEN value ... [ELSE default] END, of the kind that all its values share."""
    values = [found for _, found in branches] + ([] if default is None else [default])
    kinds = {found.kind for found in values} - {Kind.NULL}
    if len(kinds) > 1:
        branches = [(test, bounded(found)) for test, found in branches]
        default = None if default is None else bounded(default)
        values = list(map(bounded, values))
    nullable = default is None or any(found.nullable for found in values)
    apart = len({kind.is_numeric for kind in kinds}) > 1 or Kind.ANY in kinds or len(kinds - _NUMBERS) > 1
    exact = [found.number.decimal for found in values if found.kind is not Kind.NULL]
    rounded = any(exact) and not all(exact)
    if apart or rounded or (len(kinds) > 1 and any(is_beyond_double(found) for found in values)):
        return Typed(Alternatives(), Kind.ANY, nullable=nullable, several=OneOf((*branches,), default))
    if values and all(found.number.condition for found in values):
        return boolean(
            _case(
                [(test, found.node) for test, found in branches], None if default is None else default.node
            ),
            nullable=nullable,
        )
    # A NULL of an aggregate or a subquery has a type on PostgreSQL, which need not be that of the others.
    shown = [exp.Null() if found.kind is Kind.NULL and kinds else copied(value(c, found)) for found in values]
    node = _case(
        [(test, part) for (test, _), part in zip(branches, shown, strict=False)],
        None if default is None else shown[-1],
    )
    if not kinds:
        return Typed(node, Kind.NULL)
    low, high = bounds(values)
    if len(kinds) == 1:
        [kind] = kinds
        integral = _integral(branches, default) if kind is Kind.NUMBER else None
        facts = NumberFacts(low, high, most_of(values), integral=integral, decimal=any(exact))
        return Typed(node, kind, nullable=nullable, number=facts)
    vanishing = all(_vanishes(found) for found in values)
    facts = NumberFacts(low, high, integral=_integral(branches, default), vanishing=vanishing)
    return Typed(node, Kind.NUMBER, nullable=nullable, number=facts)


def most_of(values: Sequence[Typed]) -> float | None:
    """Return the greatest absolute value that rows allow; None if it is unknown for one of the values."""
    known = [found.number for found in values if found.kind is not Kind.NULL]
    ends = [found.most if found.greatest is None else found.greatest for found in known]
    return None if None in ends else max((end for end in ends if end is not None), default=None)


def _vanishes(t: Typed) -> bool:
    """True if a value is not an INTEGER, or is 0."""
    zero = t.kind is Kind.INTEGER and t.number.low == 0 and t.number.high == 0
    return zero or t.kind in {Kind.REAL, Kind.NULL} or t.number.vanishing


def whole_of(real: exp.Expr) -> exp.Expr:
    """Return the INTEGER that a REAL is equal to; NULL if there is none."""
    bound = literal(2.0**63).node
    high = exp.LT(this=grouped(real.copy()), expression=bound)
    low = exp.GTE(this=grouped(real.copy()), expression=literal(-(2.0**63)).node)
    cut = Truncated(this=real)
    same = exp.EQ(this=grouped(real.copy()), expression=cut)
    return case((every([low, high]), case((same, cut.copy()))))


def is_beyond_double(t: Typed) -> bool:
    """True if double precision could change an integer."""
    return t.number.decimal or (t.kind is Kind.INTEGER and t.number.low is not None and not within(t, EXACT))


def gets_beyond_double(t: Typed) -> bool:
    """True if double precision could change an integer, also one of an aggregate, for a comparison."""
    return is_beyond_double(t) or (t.kind is Kind.INTEGER and (t.number.most or 0) > EXACT)


def bounded(t: Typed) -> Typed:
    """Return an aggregate's INTEGER that rows allow beyond 2^53 with the bounds of 64 bits."""
    unknown = t.number.low is None and gets_beyond_double(t)
    return t.with_number(low=-BIGGEST - 1, high=BIGGEST) if unknown else t


def bounds(values: Sequence[Typed]) -> tuple[float | None, float | None]:
    """Return the bounds that include all numbers; None if unknown."""
    known = [found for found in values if found.kind is not Kind.NULL]
    lows, highs = [found.number.low for found in known], [found.number.high for found in known]
    if all(found.kind is Kind.INTEGER for found in known) and any(map(is_beyond_double, known)):
        lows = [-BIGGEST - 1 if low is None else low for low in lows]
        highs = [BIGGEST if high is None else high for high in highs]
    low = None if None in lows or not lows else min(found for found in lows if found is not None)
    high = None if None in highs or not highs else max(found for found in highs if found is not None)
    return low, high


def _case(branches: Sequence[tuple[exp.Expr, exp.Expr]], default: exp.Expr | None) -> exp.Expr:
    if not branches:
        return default or exp.Null()
    return case(*((copied(test), copied(node)) for test, node in branches), default=default)


def _integral(branches: Sequence[tuple[exp.Expr, Typed]], default: Typed | None) -> exp.Expr | None:
    """Return a condition that holds if the chosen value is an INTEGER; None if unknown."""
    parts = [(test, integral(found)) for test, found in branches]
    last = exp.Boolean(this=True) if default is None else integral(default)
    if last is None or any(part is None for _, part in parts):
        return None
    return _case([(test, part) for test, part in parts if part is not None], last)


def integral(t: Typed) -> exp.Expr | None:
    """Return a condition that holds if a number is an INTEGER; None if unknown."""
    if t.kind is Kind.NUMBER:
        return t.number.integral
    return exp.Boolean(this=t.kind is not Kind.REAL)
