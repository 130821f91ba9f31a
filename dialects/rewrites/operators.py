"""CAST, columns of several storage classes, arithmetic and other operators.

https://sqlite.org/lang_expr.html
"""

from collections.abc import Callable
from functools import partial

from sqlglot import exp

from dialects.coercions import (
    EXACT,
    Rewrite,
    as_digits,
    as_double,
    as_integer,
    as_number,
    as_text,
    beyond_integers,
    choose,
    exact_readings,
    integral,
    is_beyond_double,
    literal,
    reading,
    spread,
    within,
)
from dialects.compiler import Compiler
from dialects.errors import Untranslatable
from dialects.nodes import (
    AsInteger,
    Bigint,
    Bytes,
    Decoded,
    Double,
    Exact,
    Joined,
    Quotient,
    Remainder,
    ServerCall,
    Slice,
    Truncated,
    Unhexed,
    Whole,
    case,
    coalesced,
    every,
    grouped,
    number,
    server,
    signed,
)
from dialects.schema import ESCAPED_BLOB, ESCAPED_TEXT, affinity
from dialects.scope import Scope
from dialects.tagged_values import begins, hidden
from dialects.value_types import (
    Affinity,
    Context,
    Kind,
    NumberFacts,
    OneOf,
    Stored,
    Typed,
    boolean,
    integer,
    null,
    real,
    text,
)


def cast(c: Compiler, node: exp.Expr, scope: Scope) -> Typed:
    """Compile CAST(x AS type), by the letters of the type's name."""
    return cast_to(c, c.expression(node.this, scope), _cast_class(node))


def _cast_class(node: exp.Expr) -> str:
    """Return the affinity that CAST asks for: unlike a column, an empty type has NUMERIC there."""
    kind = str(node.args["to"].args["kind"])
    return affinity(kind) if kind.strip() else "NUMERIC"


def cast_affinity(node: exp.Expr) -> Affinity:
    """Return the affinity of CAST(x AS type) in a comparison."""
    match _cast_class(node):
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
        if t.is_split:
            return spread(c, t, lambda part: cast_to(c, part, wanted)).of(affinity=Affinity.BLOB)
        c.applies("cast")
        found = as_text(c, t)
        return Typed(Bytes(this=found.node), Kind.BLOB, nullable=found.nullable, affinity=Affinity.BLOB)
    if wanted == "BLOB":
        return t.of(affinity=Affinity.BLOB)
    if t.kind is Kind.NULL:
        return null().of(affinity=Affinity.TEXT if wanted == "TEXT" else Affinity.NUMERIC)
    if t.is_split:
        demanded = Affinity.TEXT if wanted == "TEXT" else Affinity.NUMERIC
        found = spread(c, t, lambda part: cast_to(c, part, wanted))
        return found.of(affinity=demanded).with_text(collation=t.text.collation)
    c.applies("cast")
    collation = t.text.collation
    if t.kind is Kind.BLOB and wanted != "TEXT":
        t = as_digits(c, t)
    if wanted == "TEXT":
        return as_text(c, t).of(affinity=Affinity.TEXT).with_text(collation=collation)
    if wanted == "INTEGER":
        found = as_integer(c, t)
    elif wanted == "REAL":
        found = as_double(c, t)
    elif t.kind is Kind.TEXT:
        read = as_number(c, t)
        if read.constant:
            found = _as_cast(read)
        elif read.is_split:
            found = spread(
                c, read, lambda part: part if part.kind is Kind.INTEGER else _stored_as_integer(c, part)
            )
        else:
            # Digits only: it is an INTEGER already.
            found = read if read.kind is Kind.INTEGER else read.with_number(integral=whole(read.node, *_CAST))
    else:
        found = as_number(c, t)
    return found.of(affinity=Affinity.NUMERIC).with_text(collation=collation)


def _stored_as_integer(c: Context, part: Typed) -> Typed:
    """Return a REAL as CAST AS NUMERIC does: as an INTEGER if it is a small whole number."""
    fits = whole(part.node, *_CAST)
    cut = integer(Truncated(this=part.node.copy()), *_CAST, nullable=part.nullable)
    return choose(c, [(fits, cut)], part)


_CAST = (-(2**51), 2**51 - 1)
"""The whole numbers that CAST AS NUMERIC turns into INTEGERs: sqlite3RealSameAsInt() in
https://github.com/sqlite/sqlite/blob/version-3.40.1/src/vdbemem.c."""


def _as_cast(t: Typed) -> Typed:
    """Return a constant as CAST AS NUMERIC does: 1.0 as 1."""
    found = t.constant.value if t.constant else None
    fits = isinstance(found, float) and found.is_integer() and _CAST[0] <= found <= _CAST[1]
    return literal(int(found)) if isinstance(found, float) and fits else t


def whole(node: exp.Expr, low: int = -EXACT, high: int = EXACT) -> exp.Expr:
    """Return a condition that SQLite stores a number as INTEGER, as in a column of NUMERIC affinity."""
    inside = exp.Between(this=node.copy(), low=number(low), high=number(high))
    cut = case((inside, exp.EQ(this=node.copy(), expression=Truncated(this=node.copy()))))
    return coalesced(cut, exp.Boolean(this=False))


def mixed(c: Context, t: Typed) -> Typed:
    """Compile a stored column of several storage classes."""
    stored = t.stored
    if stored.opaque and (stored.apart or not stored.mixed):
        return hidden(c, t)
    if t.kind is Kind.REAL:
        c.applies("mixed-column")
        integral_ = whole(t.node) if t.affinity is Affinity.NUMERIC else None
        return t.of(kind=Kind.NUMBER).with_number(integral=integral_)
    if stored.opaque or (not stored.apart and t.affinity is not Affinity.NUMERIC):
        raise Untranslatable("a column of several types", "its texts and numbers cannot be distinguished")
    c.applies("mixed-column")
    is_number, read = reading(t.node)
    numbers = read.with_number(low=t.number.low, high=t.number.high)
    # A REAL is written with a point or an exponent.
    whole_ = server("is_integer", t.node.copy())
    numbers = numbers.of(kind=Kind.REAL) if stored.reals else numbers.with_number(integral=whole_)
    plain = t.of(stored=Stored(), affinity=Affinity.NONE).with_number(low=None, high=None)
    if stored.escaped:
        text_ = Decoded(this=Unhexed(this=Slice(this=t.node.copy(), start=number(3))))
        plain = plain.of(node=case((begins(t.node, ESCAPED_TEXT), text_), default=t.node))
    bytes_ = Unhexed(this=Slice(this=t.node.copy(), start=number(3)))
    blob = Typed(bytes_, Kind.BLOB, nullable=t.nullable, stored=Stored(readable=stored.readable))
    blobs = [(begins(t.node, ESCAPED_BLOB), blob)] if stored.blobs else []
    readings = [(is_number, numbers)]
    if stored.blobs and t.number.low is None:
        readings = []
    elif not stored.reals and not within(t, EXACT):
        readings = exact_readings(t.node, t.number.low, t.number.high)
    written = None if stored.escaped or stored.blobs else t.node
    several = OneOf((*blobs, *readings), plain, written, blobs_in=t.node.name if blobs else "")
    return t.of(kind=Kind.ANY, several=several)


_LOWEST, _HIGHEST = -(2**63), 2**63 - 1
_SMALL = 2**31 - 1
_LARGEST_REAL = 1e300
"""Beyond this bound, sums and products may overflow."""

HUGE = ("arithmetic on huge reals", "an overflow is infinite in SQLite and an error on the target")

_LEAST_REAL = 1e-200
"""Below this, a product may underflow and a quotient overflow."""
TINY = (
    "arithmetic on tiny reals",
    "an underflow is 0 in SQLite, and an overflow infinite: both are errors on targets",
)

Arithmetic = type[exp.Add] | type[exp.Sub] | type[exp.Mul]

_EVALUATED: dict[type[exp.Expr], Callable[[float, float], float]] = {
    exp.Add: lambda a, b: a + b,
    exp.Sub: lambda a, b: a - b,
    exp.Mul: lambda a, b: a * b,
}


def arithmetic(c: Context, operator: Arithmetic, left: Typed, right: Typed) -> Typed:
    """Compile +, - or *."""
    left, right = as_number(c, left), as_number(c, right)
    if split := _either_spread(c, left, right, lambda a, b: arithmetic(c, operator, a, b)):
        return split
    if Kind.NULL in {left.kind, right.kind}:
        return null()
    _refuse_untold(left, right)
    if Kind.REAL not in {left.kind, right.kind}:
        if left.number.decimal and left.number.integral is not None:
            return _of_exact(c, left, lambda part: arithmetic(c, operator, part, right))
        if right.number.decimal and right.number.integral is not None:
            return _of_exact(c, right, lambda part: arithmetic(c, operator, left, part))
    low, high = _interval(operator, left, right)
    nullable = left.nullable or right.nullable
    if left.kind is Kind.INTEGER and right.kind is Kind.INTEGER:
        if low is not None and high is not None and low >= _LOWEST and high <= _HIGHEST:
            if left.constant and right.constant and low == high:
                return literal(int(low))
            first = _wide(c, left, low, high) if _is_small(left) and _is_small(right) else left.node
            return integer(_node(operator, first, right.node), low, high, nullable=nullable)
        if operator is exp.Mul and _divides(left.node, right.node):
            return integer(_node(operator, left.node, right.node), left.number.low, left.number.high)
        return _checked(c, operator, left, right)
    if low is not None and high is not None and max(abs(low), abs(high)) > _LARGEST_REAL:
        raise Untranslatable(*HUGE)
    if operator is exp.Mul and (_is_tiny(left) or _is_tiny(right)):
        raise Untranslatable(*TINY)
    if operator is exp.Mul and any(
        _is_huge(one) and not other.number.ends for one, other in ((left, right), (right, left))
    ):
        raise Untranslatable(*HUGE)
    may_be_signed = operator is exp.Mul and _may_be_negative(left, right)
    if Kind.REAL in {left.kind, right.kind}:
        node = _node(operator, *_doubles(c, left, right))
        return real(signed(node) if may_be_signed else node, nullable=nullable, low=low, high=high)
    for one, other in ((left, right), (right, left)):
        apart = other.number.integral and not other.number.decimal
        if apart and one.kind is Kind.INTEGER and is_beyond_double(one):
            return _by_class(c, other, partial(_beside, c, operator, one, first=one is left))
    node = _node(operator, as_double(c, left).node, as_double(c, right).node)
    vanishing = operator is exp.Mul and (left.number.vanishing or right.number.vanishing)
    whole_ = _exact_integral(node, left, right, low, high)
    facts = NumberFacts(low, high, integral=whole_, vanishing=vanishing)
    return Typed(signed(node) if may_be_signed else node, Kind.NUMBER, nullable=nullable, number=facts)


def _divides(quotient: exp.Expr, factor: exp.Expr) -> bool:
    """Whether a product is x / y * y of INTEGERs, which is no greater than x."""
    quotient = quotient.unnest()
    return isinstance(quotient, Whole) and quotient.expression.unnest() == factor.unnest()


def _refuse_untold(*operands: Typed) -> None:
    if any(each.number.decimal and each.number.integral is None for each in operands):
        raise Untranslatable("a sum or product beyond 64 bits", "it is unknown whether SQLite rounded it")


def _beside(c: Context, operator: Arithmetic, one: Typed, other: Typed, *, first: bool) -> Typed:
    return arithmetic(c, operator, one, other) if first else arithmetic(c, operator, other, one)


def _by_class(c: Context, t: Typed, rewrite: Rewrite) -> Typed:
    """Rewrite a number that is an INTEGER in some rows and a REAL in others."""
    assert t.number.integral is not None  # noqa: S101 - checked by the caller
    if isinstance(t.node, ServerCall) and t.node.this == "to_real":
        # A text may have more digits than a double.
        [digits] = t.node.expressions
        whole = integer(server("to_integer", digits.copy()), nullable=t.nullable)
    else:
        whole = integer(Truncated(this=Double(this=t.node.copy())), -EXACT, EXACT, nullable=t.nullable)
    other = rewrite(real(t.node.copy(), nullable=t.nullable))
    return choose(c, [(t.number.integral.copy(), rewrite(whole))], other)


def _of_exact(c: Context, t: Typed, rewrite: Rewrite) -> Typed:
    """Rewrite a sum or product that may not fit 64 bits: an INTEGER, or else a rounded REAL."""
    assert t.number.integral is not None  # noqa: S101 - checked by the caller
    whole = integer(Bigint(this=t.node.copy()), _LOWEST, _HIGHEST, nullable=t.nullable)
    return choose(c, [(t.number.integral.copy(), rewrite(whole))], rewrite(beyond_integers(t)))


def _doubles(c: Context, left: Typed, right: Typed) -> tuple[exp.Expr, exp.Expr]:
    """Return operands that the target computes with as doubles: an integer next to a double becomes one."""
    for one, other in ((left, right), (right, left)):
        if one.kind is Kind.REAL and other.kind is Kind.INTEGER and not other.number.decimal:
            double, whole = as_double(c, one).node, other.node
            return (double, whole) if one is left else (whole, double)
    return as_double(c, left).node, as_double(c, right).node


def divide(c: Context, left: Typed, right: Typed) -> Typed:
    """Compile /."""
    left, right = as_number(c, left), as_number(c, right)
    if split := _either_spread(c, left, right, lambda a, b: divide(c, a, b)):
        return split
    if Kind.NULL in {left.kind, right.kind}:
        return null()
    if Kind.REAL not in {left.kind, right.kind}:
        if left.number.decimal and left.number.integral is not None:
            return _of_exact(c, left, lambda part: divide(c, part, right))
        if right.number.decimal and right.number.integral is not None:
            return _of_exact(c, right, lambda part: divide(c, left, part))
    if isinstance(right.node, AsInteger) and isinstance(right.node.this, exp.Boolean):
        # MySQL rejects a division by a literal zero as a function's argument.
        right = literal(int(right.node.this.this))
    if right.constant is not None and right.constant.value == 0:
        return null()
    if left.kind is Kind.INTEGER and right.kind is Kind.INTEGER:
        c.applies("integer-division")
        negates = _may_be(right, -1)
        if _is_least(left) and negates:
            raise Untranslatable("division of the least integer", "-2^63 / -1 is a REAL")
        wide = _wide(c, left, left.number.low, left.number.high) if left.constant else left.node
        if left.constant is not None and right.constant is not None:
            return literal(_quotient(left.constant.value, right.constant.value))
        most = left.number.greatest
        if most is not None and right.constant is not None:
            most = abs(_quotient(most, right.constant.value))
        low = None if most is None else -most
        quotient: exp.Expr = Whole(this=grouped(wide), expression=grouped(right.node))
        if c.lowers("least-quotient") and _may_be(right, 1) and _is_least(left):
            by_one = exp.EQ(this=grouped(right.node.copy()), expression=number(1))
            quotient = wide if right.constant else case((by_one, wide.copy()), default=quotient)
        return integer(quotient, low, most)
    if _is_tiny(left) or _is_tiny(right):
        raise Untranslatable(*TINY)
    c.applies("real-division")
    dividend, divisor = _doubles(c, left, right)
    quotient = Quotient(this=grouped(dividend), expression=grouped(divisor))
    quotient = signed(quotient) if _may_be_negative(left, right) else quotient
    if Kind.REAL in {left.kind, right.kind}:
        return real(quotient)
    both = _both_integral(left, right)
    if left.number.vanishing or right.number.vanishing:
        return Typed(quotient, Kind.NUMBER, number=NumberFacts(integral=both, vanishing=True))
    if both is None:
        raise Untranslatable("division", "it is unknown whether the operands are integers")
    if is_beyond_double(left) or is_beyond_double(right):
        raise Untranslatable("division", "an integer beyond 2^53 meets an operand that may be one or not")
    c.applies("integer-division")
    divided = server("quotient", as_double(c, left).node, as_double(c, right).node, both)
    return Typed(divided, Kind.NUMBER, number=NumberFacts(integral=both.copy()))


def _quotient(left: object, right: object) -> int:
    """Return the quotient of two INTEGERs, truncated toward zero as in SQLite."""
    assert isinstance(left, int) and isinstance(right, int)  # noqa: S101, PT018 - checked by the caller
    whole = abs(left) // abs(right)
    return whole if (left < 0) is (right < 0) else -whole


def modulo(c: Context, left: Typed, right: Typed) -> Typed:
    """Compile %: casts both operands to INTEGER; the result is a REAL if one of them was."""
    if split := _either_spread(c, left, right, lambda a, b: modulo(c, a, b)):
        return split
    a, b = as_integer(c, left), as_integer(c, right)
    left, right = as_number(c, left), as_number(c, right)
    if Kind.NULL in {left.kind, right.kind}:
        return null()
    c.applies("modulo")
    if b.constant is not None and b.constant.value == 0:
        return null()
    node = Remainder(this=grouped(a.node), expression=grouped(b.node))
    # No greater than its operands, a remainder of one up to 2^53 is exact as a double, too.
    is_near = within(a, EXACT) or within(b, EXACT)

    def of(left: Typed, right: Typed) -> Typed:
        if not is_near and (split := _either_spread(c, left, right, of)):
            return split
        if left.kind is right.kind is Kind.INTEGER:
            bound = b.number.greatest
            return integer(node.copy(), None if bound is None else -bound, bound)
        result = as_double(c, integer(node.copy()))
        if Kind.REAL in {left.kind, right.kind}:
            return result
        return result.of(kind=Kind.NUMBER).with_number(
            integral=_both_integral(_as_integral(c, left), _as_integral(c, right))
        )

    return of(left, right)


def _as_integral(c: Context, t: Typed) -> Typed:
    """Return a split number with one condition that it is INTEGER in place of its alternatives."""
    if not t.is_split:
        return t
    found = spread(c, t, lambda part: boolean(integral(part) or exp.Null()))
    return t.of(kind=Kind.NUMBER, several=None, number=NumberFacts(integral=found.node))


def negate(c: Context, operand: Typed) -> Typed:
    """Compile unary minus."""
    operand = as_number(c, operand)
    if operand.is_split:
        return spread(c, operand, lambda part: negate(c, part))
    if operand.kind is Kind.NULL:
        return null()
    if operand.constant is not None and isinstance(operand.constant.value, int | float):
        found = -operand.constant.value
        return literal(found if found <= _HIGHEST else float(found))
    _refuse_untold(operand)
    if operand.kind is Kind.INTEGER and _is_least(operand):
        return _checked(c, exp.Sub, literal(0), operand)
    if operand.number.decimal and operand.number.integral is not None:
        return _of_exact(c, operand, lambda part: negate(c, part))
    low = None if operand.number.high is None else -operand.number.high
    high = None if operand.number.low is None else -operand.number.low
    facts = NumberFacts(low, high, integral=operand.number.integral)
    node = exp.Neg(this=grouped(operand.node))
    node = node if operand.kind is Kind.INTEGER else signed(node)
    return Typed(node, operand.kind, nullable=operand.nullable, number=facts)


def concatenate(c: Context, left: Typed, right: Typed) -> Typed:
    """Compile ||."""
    left, right = as_text(c, left), as_text(c, right)
    if split := _either_spread(c, left, right, lambda a, b: concatenate(c, a, b)):
        return split
    c.applies("concatenation")
    parts = [
        part
        for side in (left, right)
        for part in (side.node.expressions if isinstance(side.node, Joined) else [side.node])
    ]
    if (
        left.constant
        and right.constant
        and isinstance(left.constant.value, str)
        and isinstance(right.constant.value, str)
    ):
        return literal(left.constant.value + right.constant.value)
    return text(Joined(expressions=[part.copy() for part in parts]), nullable=left.nullable or right.nullable)


def bits(c: Context, operator: type[exp.Binary], left: Typed, right: Typed) -> Typed:
    """Compile &, |, << or >>."""
    left, right = as_integer(c, left), as_integer(c, right)
    if split := _either_spread(c, left, right, lambda a, b: bits(c, operator, a, b)):
        return split
    if Kind.NULL in {left.kind, right.kind}:
        return null()
    if operator in {exp.BitwiseLeftShift, exp.BitwiseRightShift}:
        return _shift(c, operator, left, right)
    c.applies("bits")
    node = operator(this=grouped(Bigint(this=left.node)), expression=grouped(right.node))
    return integer(_as_bits(c, node), _LOWEST, _HIGHEST, nullable=left.nullable or right.nullable)


def _shift(c: Context, operator: type[exp.Binary], left: Typed, right: Typed) -> Typed:
    """Compile << or >>: a negative count shifts the other way, and all bits can be shifted out."""
    c.applies("bits")
    if operator is exp.BitwiseRightShift:
        flipped = negate(c, right)
        if flipped.number.decimal or flipped.number.low == -_LOWEST:
            # -(-2^63) is not an integer; beyond 64 bits the count does not matter.
            far = exp.LT(this=grouped(right.node), expression=number(-64))
            near = exp.Neg(this=grouped(right.node.copy()))
            flipped = integer(case((far, number(64)), default=near), nullable=right.nullable)
        right = flipped
    wide = Bigint(this=left.node), Bigint(this=right.node)
    return integer(server("shifted", *wide), _LOWEST, _HIGHEST, nullable=left.nullable or right.nullable)


def invert(c: Context, operand: Typed) -> Typed:
    """Compile ~."""
    operand = as_integer(c, operand)
    if operand.is_split:
        return spread(c, operand, lambda part: invert(c, part))
    if operand.kind is Kind.NULL:
        return null()
    c.applies("bits")
    node = exp.BitwiseNot(this=grouped(Bigint(this=operand.node)))
    return integer(_as_bits(c, node), _LOWEST, _HIGHEST, nullable=operand.nullable)


def _as_bits(c: Context, node: exp.Expr) -> exp.Expr:
    return Bigint(this=node) if c.lowers("unsigned-bits") else node


def _may_be_negative(left: Typed, right: Typed) -> bool:
    return any(one.number.low is None or one.number.low < 0 for one in (left, right))


def _node(operator: type[exp.Binary], left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return operator(this=grouped(left), expression=grouped(right))


def _either_spread(
    c: Context, left: Typed, right: Typed, again: Callable[[Typed, Typed], Typed]
) -> Typed | None:
    """Apply the operator to each alternative, if an operand has several; else None."""
    if left.is_split:
        return spread(c, left, lambda part: again(part, right))
    return spread(c, right, lambda part: again(left, part)) if right.is_split else None


def _both_integral(left: Typed, right: Typed) -> exp.Expr | None:
    a, b = integral(left), integral(right)
    if a is None or b is None:
        return None
    parts: list[exp.Expr] = []
    for part in (a, b):
        if not (isinstance(part, exp.Boolean) and part.this) and part not in parts:
            parts.append(part)
    return every(part.copy() for part in parts)


def _is_tiny(t: Typed) -> bool:
    """True for a constant other than 0 that is nearly 0."""
    found = None if t.constant is None else t.constant.value
    return isinstance(found, float) and 0 < abs(found) < _LEAST_REAL


def _is_huge(t: Typed) -> bool:
    """True for a constant that leads beyond all reals where it is multiplied by another."""
    found = None if t.constant is None else t.constant.value
    return isinstance(found, float) and abs(found) * _LEAST_REAL > 1


def _exact_integral(
    node: exp.Expr, left: Typed, right: Typed, low: float | None, high: float | None
) -> exp.Expr | None:
    """Return a condition that a double result is an INTEGER and exact, which it is not beyond 2^53."""
    both = _both_integral(left, right)
    if both is None or low is None or high is None:
        inside = exp.Between(this=grouped(node.copy()), low=number(-EXACT), high=number(EXACT))
        return None if both is None else every([both, inside])
    return both if max(abs(low), abs(high)) <= EXACT else None


def _interval(operator: Arithmetic, left: Typed, right: Typed) -> tuple[float | None, float | None]:
    ends = [_EVALUATED[operator](a, b) for a in left.number.ends for b in right.number.ends]
    return (min(ends), max(ends)) if ends else (None, None)


def _may_be(t: Typed, value: int) -> bool:
    low, high = t.number.low, t.number.high
    return (low is None or low <= value) and (high is None or high >= value)


def _is_least(t: Typed) -> bool:
    """True if a value is known to reach -2^63."""
    return t.number.low is not None and t.number.low <= _LOWEST


def _is_small(t: Typed) -> bool:
    """True if PostgreSQL may hold it in 32 bits, as it does with literals."""
    return within(t, _SMALL)


def _wide(c: Context, t: Typed, low: float | None, high: float | None) -> exp.Expr:
    """Cast the operand so that PostgreSQL computes in 64 bits, if 32 may be too few."""
    fits = low is not None and high is not None and low >= -_SMALL and high <= _SMALL
    return t.node if fits or not c.lowers("narrow-arithmetic") else Bigint(this=t.node)


def _checked(c: Context, operator: Arithmetic, left: Typed, right: Typed) -> Typed:
    """Compile integer arithmetic whose result may not fit 64 bits: exact, or else a REAL."""
    both = (left, right)
    if any(part.number.fits for part in both) and all(
        part.number.fits or within(part, EXACT) for part in both
    ):
        nullable = left.nullable or right.nullable
        return integer(
            _node(operator, left.node, right.node), -_HIGHEST, _HIGHEST, nullable=nullable, fits=True
        )
    several = operator is exp.Mul and not any(_is_factor(part) for part in (left, right))
    if several and (a := _farthest(left)) is not None and (b := _farthest(right)) is not None:
        several = a * b > _HIGHEST
    if (
        not several
        and (not left.number.ends or _is_small(left))
        and (not right.number.ends or _is_small(right))
    ):
        # Results of aggregates: if they are near 2^63, the target raises an error.
        first = Bigint(this=left.node) if _is_small(left) and c.lowers("narrow-arithmetic") else left.node
        return integer(_node(operator, first, right.node), nullable=left.nullable or right.nullable)
    c.applies("integer-overflow")
    exact = _node(operator, Exact(this=left.node), Exact(this=right.node))
    fits = exp.Between(this=grouped(exact.copy()), low=number(_LOWEST), high=number(_HIGHEST))
    doubles = _node(operator, Double(this=left.node.copy()), Double(this=right.node.copy()))
    facts = NumberFacts(integral=fits, decimal=True, rounded=doubles)
    return Typed(exact, Kind.NUMBER, nullable=left.nullable or right.nullable, number=facts)


_FACTOR = 10**6
"""The product of a sum or a count with a number up to here is taken to fit 64 bits."""


def _farthest(t: Typed) -> float | None:
    return t.number.most if t.number.greatest is None else t.number.greatest


def _is_factor(t: Typed) -> bool:
    return within(t, _FACTOR)
