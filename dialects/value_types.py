"""What is known of an expression's value while it is compiled: SQLite's types, which no other engine has.

SQLite types values, not columns: https://sqlite.org/datatype3.html. An expression's kind is what all of its
values have in common; the affinity and the collation are what a comparison needs besides.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Protocol, Self

from sqlglot import exp

from dialects.targets import Target


class Context(Protocol):
    """What a rewrite sees of the compilation that it is part of."""

    @property
    def target(self) -> Target:
        """What the rewrite has to know of where the query is to run."""

    @property
    def filtering(self) -> bool:
        """Whether NULL is as good as FALSE where the expression stands."""

    @property
    def in_utf8(self) -> bool:
        """Whether the bytes of a text are those of UTF-8 in the file."""

    def applies(self, rule: str) -> None:
        """Note that a rewrite has changed something."""

    def warn(self, text: str) -> None:
        """Note an answer that SQLite leaves open, or an assumption."""


class Kind(StrEnum):
    """The storage class of every value of an expression apart from NULL, as far as it can be told."""

    NULL = "null"
    INTEGER = "integer"
    REAL = "real"
    NUMBER = "number"
    """INTEGER or REAL, from row to row."""
    TEXT = "text"
    BLOB = "blob"
    ANY = "any"
    """Numbers and texts, from row to row; see `Typed.each`."""

    @property
    def is_numeric(self) -> bool:
        """Whether every value is a number."""
        return self in {Kind.INTEGER, Kind.REAL, Kind.NUMBER}


class Affinity(StrEnum):
    """What a comparison does to the other operand. https://sqlite.org/datatype3.html#type_affinity."""

    NONE = "none"
    """Of expressions that are no columns and no casts."""
    BLOB = "blob"
    """Of columns without a type."""
    TEXT = "text"
    NUMERIC = "numeric"
    """INTEGER and REAL, too: they differ only where values are stored or cast."""
    VARIED = "varied"
    """Of a column of a compound SELECT whose parts have different ones: SQLite may use any of them."""


class Collation(StrEnum):
    """https://sqlite.org/datatype3.html#collating_sequences."""

    BINARY = "BINARY"
    NOCASE = "NOCASE"
    RTRIM = "RTRIM"


class Form(StrEnum):
    """A form that every text of a column is known to have."""

    DAY = "day"
    """YYYY-MM-DD, a day of the calendar."""
    MOMENT = "moment"
    """YYYY-MM-DD HH:MM:SS, or YYYY-MM-DD alone, or with a fraction."""


@dataclass(frozen=True)
class Constant:
    """The value of a literal: int, float, str, bytes or None."""

    value: int | float | str | bytes | None


@dataclass(frozen=True)
class Carried:
    """What is known of the values of a column that has each of them as JSON; see `dialects.tagged_values`."""

    texts: bool = False
    blobs: bool = False
    opaque: bool = False
    """See `Typed.opaque`."""
    integers: bool = False
    """Whether there may be numbers without point and exponent, which are between `low` and `high`."""
    reals: bool = False
    low: float | None = None
    high: float | None = None
    told_integers: bool = True
    """Whether such a number is an INTEGER, and no REAL that equals one."""
    told_reals: bool = True
    """Whether any other number is a REAL."""

    @property
    def has_several_forms(self) -> bool:
        """Whether equal values can be different texts: 1 and 1.0."""
        return self.reals and self.told_integers


@dataclass(frozen=True)
class Typed:
    """An expression of the target's tree, with what SQLite knows of its values."""

    node: exp.Expr
    kind: Kind
    boolean: bool = False
    """INTEGER 0 or 1, which `node` gives as a condition of the target."""
    affinity: Affinity = Affinity.NONE
    collation: Collation | None = None
    """Of a column or a COLLATE operator; None compares by bytes and yields to the other operand."""
    collates: bool = False
    """Whether the collation is from a COLLATE operator, which overrules a column's."""
    nullable: bool = True
    low: float | None = None
    high: float | None = None
    """Bounds of a number, ints where the kind is INTEGER; None is unknown."""
    constant: Constant | None = None
    form: Form | None = None
    digits: bool = False
    """TEXT: whether every value is an integer in decimal digits, and as an INTEGER within the bounds."""
    mixed: bool = False
    """Whether it is a stored column of several storage classes; see `dialects.rewrites.operators.mixed`."""
    apart: bool = False
    """Whether that column has numbers and texts, and none of its texts is stored so that it reads as one."""
    blobs: bool = False
    """Whether it has blobs, too."""
    readable: bool = False
    """Whether all blobs of it, or of a BLOB, are the bytes of texts without a NUL."""
    escaped: bool = False
    """Whether values of it are escaped; see `loaders.portable`."""
    opaque: bool = False
    """Whether it has texts that the target lacks, or infinite numbers: `dialects.tagged_values.hidden`."""
    reals: bool = False
    """Whether all numbers of that column are REALs, as its declaration makes them."""
    integral: exp.Expr | None = None
    """NUMBER: a condition of the target that says whether this row's value is an INTEGER; None is unknown."""
    decimal: bool = False
    """NUMBER: whether `node` is an exact decimal number on the target."""
    vanishing: bool = False
    """NUMBER: whether its INTEGERs are all 0, so that dividing it, or by it, as a REAL gives the same."""
    each: Callable[[Callable[["Typed"], "Typed"]], "Typed"] | None = field(default=None, compare=False)
    """ANY: applies a rewrite to each alternative and puts the results where the alternatives were."""
    carried: Carried | None = None
    """ANY: what is known of the values where `node` is the JSON of each; see `dialects.tagged_values`."""
    written: exp.Expr | None = field(default=None, compare=False)
    """ANY: the text that a value is a number by, if it reads as one as a whole; else it is that text."""

    @property
    def is_stored_once(self) -> bool:
        """Whether it is a column of several kinds in which equal values are stored alike: 1.0 as 1."""
        stored = self.mixed and isinstance(self.node, exp.Column)
        return stored and self.affinity is Affinity.NUMERIC and self.collation in {None, Collation.BINARY}

    @property
    def collation_is_binary(self) -> bool:
        """Whether equal texts are the same texts."""
        return self.kind not in {Kind.TEXT, Kind.ANY} or self.collation in {None, Collation.BINARY}

    def of(self, **changes: object) -> Self:
        """The same with some fields changed."""
        return replace(self, **changes)  # type: ignore[arg-type]


def integer(node: exp.Expr, low: float | None = None, high: float | None = None, **more: object) -> Typed:
    """An INTEGER, within bounds if they are known."""
    return Typed(node, Kind.INTEGER, low=low, high=high, **more)  # type: ignore[arg-type]


def real(node: exp.Expr, **more: object) -> Typed:
    """A REAL: double precision on the target."""
    return Typed(node, Kind.REAL, **more)  # type: ignore[arg-type]


def text(node: exp.Expr, **more: object) -> Typed:
    """A TEXT."""
    return Typed(node, Kind.TEXT, **more)  # type: ignore[arg-type]


def boolean(node: exp.Expr, **more: object) -> Typed:
    """A condition: INTEGER 0 or 1 to SQLite."""
    return Typed(node, Kind.INTEGER, boolean=True, low=0, high=1, **more)  # type: ignore[arg-type]


def null() -> Typed:
    """NULL without a type."""
    return Typed(exp.Null(), Kind.NULL, constant=Constant(None))
