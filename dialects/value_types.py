"""The compile-time types of expressions: SQLite's types, which no other engine has.

SQLite types values, not columns: https://sqlite.org/datatype3.html. An expression's kind is common to all of
its values; a comparison also needs the affinity and the collation.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol, Self, TypeVar

from sqlglot import exp

from dialects.errors import Untranslatable
from dialects.targets import TargetFacts


class Context(Protocol):
    """The part of the compilation that a rewrite uses."""

    @property
    def target(self) -> TargetFacts:
        """The facts about the target."""

    @property
    def filtering(self) -> bool:
        """True if NULL and FALSE are equivalent where the expression is used."""

    @property
    def in_utf8(self) -> bool:
        """True if the file stores texts in UTF-8."""

    @property
    def long_numbers(self) -> bool:
        """True if a text of the statement may read as an INTEGER beyond 2^53."""

    @property
    def first_year(self) -> bool:
        """True if a text of the statement may be a day before the first that SQLite's functions return."""

    @property
    def infinite_texts(self) -> bool:
        """True if a text of the statement reads as an infinite number, which the target does not hold."""

    @property
    def changed(self) -> set[str]:
        """What later releases of SQLite treat otherwise; see `dialects.versions`."""

    def lowers(self, name: str) -> bool:
        """Return whether the target needs a lowering."""

    def applies(self, rule: str) -> None:
        """Record that a rewrite was applied."""

    def warn(self, text: str) -> None:
        """Record a result that SQLite leaves open, or an assumption."""


class Kind(StrEnum):
    """The storage class of an expression's values other than NULL, as far as it is known."""

    NULL = "null"
    INTEGER = "integer"
    REAL = "real"
    NUMBER = "number"
    """INTEGER or REAL, depending on the row."""
    TEXT = "text"
    BLOB = "blob"
    ANY = "any"
    """A number or a text, depending on the row; see `OneOf`."""

    @property
    def is_numeric(self) -> bool:
        """True if every value is a number."""
        return self in {Kind.INTEGER, Kind.REAL, Kind.NUMBER}


class Affinity(StrEnum):
    """The conversion that a comparison applies to the other operand. https://sqlite.org/datatype3.html#type_affinity."""

    NONE = "none"
    """For expressions other than columns and casts."""
    BLOB = "blob"
    """For columns without a type."""
    TEXT = "text"
    NUMERIC = "numeric"
    """Includes INTEGER and REAL, which differ only for storing and casting."""
    VARIED = "varied"
    """For a column of a compound SELECT whose parts differ: SQLite may use any of them."""


class Collation(StrEnum):
    """https://sqlite.org/datatype3.html#collating_sequences."""

    BINARY = "BINARY"
    NOCASE = "NOCASE"
    RTRIM = "RTRIM"

    @classmethod
    def _missing_(cls, value: object) -> "Collation":
        """Return a collation of the application that wrote a file: nothing else is known of it."""
        found = str.__new__(cls, value)
        found._name_ = found._value_ = str(value)
        return found

    @property
    def is_own(self) -> bool:
        """True if SQLite itself does not have it."""
        return self.value not in Collation.__members__


class Form(StrEnum):
    """A form that all texts of a column have."""

    DAY = "day"
    """YYYY-MM-DD, a calendar day."""
    MOMENT = "moment"
    """YYYY-MM-DD HH:MM:SS, or YYYY-MM-DD alone, or with a fraction."""
    DIGITS = "digits"
    """An integer in decimal digits, within the bounds."""


@dataclass(frozen=True)
class Constant:
    """The value of a literal: int, float, str, bytes or None."""

    value: int | float | str | bytes | None


@dataclass(frozen=True)
class Stored:
    """What a stored column holds beyond its type on the target; of a blob, whether it is `readable`."""

    mixed: bool = False
    """True for a column of several storage classes; see `dialects.rewrites.operators.mixed`."""
    apart: bool = False
    """True if that column has numbers and texts, and no text reads as a number."""
    blobs: bool = False
    """True if it also has blobs."""
    readable: bool = False
    """True if all its blobs are the bytes of texts without a NUL."""
    escaped: bool = False
    """True if it has escaped values; see `loaders.portable`."""
    opaque: bool = False
    """True if it has values that the target cannot store; see `dialects.tagged_values.hidden`."""
    reals: bool = False
    """True if its declaration makes all its numbers REALs."""

    @property
    def is_raw(self) -> bool:
        """True if the column's text or number on the target is not yet the value."""
        return self.mixed or self.opaque


@dataclass(frozen=True)
class TaggedValues:
    """Facts about the values of a column that stores each as JSON; see `dialects.tagged_values`."""

    texts: bool = False
    blobs: bool = False
    opaque: bool = False
    """See `Stored.opaque`."""
    integers: bool = False
    """True if there may be numbers without point and exponent, between `low` and `high`."""
    reals: bool = False
    low: float | None = None
    high: float | None = None
    told_integers: bool = True
    """True if such a number is always an INTEGER, never a REAL that equals one."""
    told_reals: bool = True
    """True if any other number is always a REAL."""

    @property
    def has_several_forms(self) -> bool:
        """True if equal values can have different JSON: 1 and 1.0."""
        return self.reals and self.told_integers


@dataclass(frozen=True)
class OneOf:
    """A value of one of several kinds, depending on the row: `coercions.spread` rewrites each alternative."""

    branches: tuple[tuple[exp.Expr, "Typed"], ...] = field(default=(), compare=False)
    """The alternatives, each with its condition: the first that holds counts."""
    default: "Typed | None" = field(default=None, compare=False)
    """The alternative where no condition holds; None for NULL."""
    written: exp.Expr | None = field(default=None, compare=False)
    """The stored text; the value is a number if the whole text reads as one, else the text."""
    tagged: TaggedValues | None = None
    """Facts about the values if `Typed.node` is their JSON; see `dialects.tagged_values`."""
    blobs_in: str = ""
    """The column of the blobs among the values, for what is refused because of them."""
    refused: tuple[str, str] | None = None
    """Construct and reason, where the target cannot tell the alternatives apart: then none is given."""


@dataclass(frozen=True)
class NumberFacts:
    """What is known of a value as a number; of a TEXT of digits, its bounds."""

    low: float | None = None
    high: float | None = None
    """Bounds, ints if the kind is INTEGER; None if unknown."""
    most: float | None = None
    """INTEGER of an aggregate, without bounds: the greatest absolute value that the numbers of rows allow."""
    fits: bool = False
    """INTEGER: True if sums and products are taken to fit 64 bits; the target raises an error otherwise."""
    condition: bool = False
    """INTEGER 0 or 1, for which the node is a condition on the target."""
    integral: exp.Expr | None = None
    """NUMBER: a condition on the target that a row's value is an INTEGER; None if unknown."""
    decimal: bool = False
    """NUMBER: True if the node is an exact decimal number on the target."""
    rounded: exp.Expr | None = None
    """NUMBER, decimal: the REAL that SQLite computes where it is no INTEGER, from rounded operands."""
    vanishing: bool = False
    """NUMBER: True if its INTEGERs are all 0, so that dividing it, or by it, as a REAL is the same."""

    @property
    def ends(self) -> tuple[float, ...]:
        """Both bounds; empty if one is unknown."""
        return () if self.low is None or self.high is None else (self.low, self.high)

    @property
    def greatest(self) -> float | None:
        """The greatest absolute value; None if unknown."""
        return None if self.low is None or self.high is None else max(abs(self.low), abs(self.high))


@dataclass(frozen=True)
class TextFacts:
    """What is known of a value as a text."""

    form: Form | None = None
    collation: Collation | None = None
    """From a column or a COLLATE operator; None compares by bytes and yields to the other operand."""
    collates: bool = False
    """True if the collation is from a COLLATE operator, which overrides a column's."""


_Facts = TypeVar("_Facts", bound="Typed | NumberFacts | TextFacts")


def _changed(facts: _Facts, changes: Mapping[str, object]) -> _Facts:
    """Return a copy with some fields changed, in a quarter of the time of `dataclasses.replace`."""
    copy = object.__new__(type(facts))
    copy.__dict__.update(facts.__dict__, **changes)
    return copy


_NUMBER, _TEXT, _STORED = NumberFacts(), TextFacts(), Stored()


@dataclass(frozen=True)
class Typed:
    """An expression of the target's tree, with SQLite's types of its values."""

    node: exp.Expr
    kind: Kind
    nullable: bool = True
    affinity: Affinity = Affinity.NONE
    constant: Constant | None = None
    number: NumberFacts = _NUMBER
    text: TextFacts = _TEXT
    stored: Stored = _STORED
    """What a stored column holds beyond its kind."""
    several: OneOf | TaggedValues | None = None
    """ANY: the alternatives, or facts about a column of JSON that is not split yet."""

    @property
    def is_split(self) -> bool:
        """True if its alternatives are known: not for a column of JSON, nor for a value of one kind."""
        return self.kind is Kind.ANY and isinstance(self.several, OneOf)

    @property
    def alternatives(self) -> "Iterator[Typed]":
        """The alternatives of a value that is split, each of a single kind; else the value itself.

        Raises:
            Untranslatable: the target cannot tell them apart.
        """
        if not isinstance(self.several, OneOf) or not self.is_split:
            yield self
            return
        if self.several.refused:
            raise Untranslatable(*self.several.refused)
        for part in (*(part for _, part in self.several.branches), self.several.default):
            if part is not None:
                yield from part.alternatives

    @property
    def written(self) -> exp.Expr | None:
        """See `OneOf.written`."""
        return self.several.written if isinstance(self.several, OneOf) else None

    @property
    def tagged(self) -> TaggedValues | None:
        """Facts about the values if `node` is their JSON, split into alternatives or not."""
        return self.several.tagged if isinstance(self.several, OneOf) else self.several

    @property
    def is_dated(self) -> bool:
        """True if every value is a day or a moment."""
        return self.text.form in {Form.DAY, Form.MOMENT}

    @property
    def is_stored_once(self) -> bool:
        """True for a column of several kinds that stores equal values alike: 1.0 as 1."""
        stored = self.stored.mixed and isinstance(self.node, exp.Column)
        return (
            stored and self.affinity is Affinity.NUMERIC and self.text.collation in {None, Collation.BINARY}
        )

    @property
    def collation_is_binary(self) -> bool:
        """True if texts are equal only if they are identical."""
        return self.kind not in {Kind.TEXT, Kind.ANY} or self.text.collation in {None, Collation.BINARY}

    def of(self, **changes: object) -> Self:
        """Return a copy with some fields changed."""
        return _changed(self, changes)

    def with_number(self, **changes: object) -> Self:
        """Return a copy with other facts about the number."""
        return _changed(self, {"number": _changed(self.number, changes)})

    def with_text(self, **changes: object) -> Self:
        """Return a copy with other facts about the text."""
        return _changed(self, {"text": _changed(self.text, changes)})


_INTEGER, _REAL, _STRING = (Typed(exp.Null(), kind) for kind in (Kind.INTEGER, Kind.REAL, Kind.TEXT))
_TRUTH = _INTEGER.with_number(low=0, high=1, condition=True)


def integer(
    node: exp.Expr, low: float | None = None, high: float | None = None, *,
    most: float | None = None, fits: bool = False, **more: object,
) -> Typed:  # fmt: skip
    """Return an INTEGER, with its bounds if known."""
    facts = _changed(_NUMBER, {"low": low, "high": high, "most": most, "fits": fits})
    return _INTEGER.of(node=node, number=facts, **more)


def real(node: exp.Expr, low: float | None = None, high: float | None = None, **more: object) -> Typed:
    """Return a REAL: double precision on the target."""
    return _REAL.of(node=node, number=_changed(_NUMBER, {"low": low, "high": high}), **more)


def text(node: exp.Expr, *, collation: Collation | None = None, **more: object) -> Typed:
    """Return a TEXT."""
    return _STRING.of(node=node, text=_changed(_TEXT, {"collation": collation}), **more)


def boolean(node: exp.Expr, **more: object) -> Typed:
    """Return a condition: INTEGER 0 or 1 in SQLite."""
    return _TRUTH.of(node=node, **more)


def null() -> Typed:
    """Return NULL without a type."""
    return Typed(exp.Null(), Kind.NULL, constant=Constant(None))
