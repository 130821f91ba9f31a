"""Which portable type a column gets: a pure rule over its declaration and what is stored in it.

Nothing stored is changed in value. Where the declaration and the data disagree, the data decide, and the
disagreement is reported.
"""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from dialects.schema import PortableType, affinity

_DATES = frozenset({PortableType.DATE, PortableType.DATETIME})

INEXACT = f"typeof({{0}}) = 'integer' AND {{0}} NOT BETWEEN -{2**53} AND {2**53}"
"""SQL, `{0}` the column: an integer that a double may not hold exactly."""

AMBIGUOUS = (
    "typeof({0}) = 'text' AND CAST({0} AS BLOB) IN"
    " (SELECT CAST(exact_text({0}) AS BLOB) FROM {1} WHERE typeof({0}) IN ('integer', 'real'))"
)
"""SQL, `{0}` the column, `{1}` its table: a text that a number of the column is written as, byte by byte."""


READS_AS_NUMBER = "typeof({0}) = 'text' AND {0} = CAST({0} AS NUMERIC)"
"""SQL, `{0}` the column: a text that a comparison with a number would take for one."""


class Unrepresentable(ValueError):
    """No portable type holds the stored values; the text says why.

    `predicate` is SQL that finds the first of them, `{0}` being the column and `{1}` its table.
    """

    def __init__(self, why: str, predicate: str) -> None:
        super().__init__(why)
        self.predicate = predicate


@dataclass(frozen=True)
class Stored:
    """What a column holds apart from NULL."""

    values: int = 0
    classes: AbstractSet[str] = frozenset()
    """The storage classes, as `typeof` names them. https://sqlite.org/datatype3.html."""
    least: float | None = None
    greatest: float | None = None
    """The extremes where they are numbers, or texts that are such, see `digits`."""
    longest: int = 0
    """See `dialects.schema.Column.longest`."""
    days: bool = False
    """Whether every value is the text of a day."""
    moments: bool = False
    """Whether every value is the text of a plain day or of a moment."""
    digits: bool = False
    """See `dialects.schema.Column.digits`."""
    slashes: bool = False
    """See `dialects.schema.Column.slashes`."""
    fractions: bool = False
    """See `dialects.schema.Column.fractions`."""
    exact: bool = True
    """Whether every integer of a column of several classes is exact as a double."""
    apart: bool = False
    """See `dialects.schema.Column.apart`."""
    ambiguous: bool = False
    """Whether a number, written as text, equals a text of the same column."""


def declared_type(declared: str) -> PortableType | None:
    """The portable type that a declaration asks for, or None if it leaves that to the data.

    DATE, DATETIME and TIMESTAMP ask for dates, BOOLEAN for an integer; a missing type, NUMERIC, DECIMAL and
    whatever else SQLite takes for numeric leave it open.
    """
    words = declared.upper().replace("(", " ").split()
    if not words:
        return None
    named = {
        "DATE": PortableType.DATE,
        "DATETIME": PortableType.DATETIME,
        "TIMESTAMP": PortableType.DATETIME,
        "BOOL": PortableType.INTEGER,
        "BOOLEAN": PortableType.INTEGER,
    }
    by_affinity = {
        "INTEGER": PortableType.INTEGER,
        "TEXT": PortableType.TEXT,
        "BLOB": PortableType.BLOB,
        "REAL": PortableType.REAL,
    }
    return named.get(words[0]) or by_affinity.get(affinity(declared))


def portable_type(declared: str, stored: Stored) -> tuple[PortableType, str | None]:
    """Choose the type of a column.

    Text and numbers together become text, the numbers as the shortest text that reads back as the same
    number.

    Returns:
        The type, and what the column holds if that is not what its declaration asks for.

    Raises:
        Unrepresentable: no type holds all values and keeps them apart.
    """
    asked = declared_type(declared)
    if not stored.classes:
        return asked or (PortableType.REAL if declared.strip() else PortableType.TEXT), None
    if stored.classes == {"text"}:
        chosen, holds = _type_of_text(asked, stored)
    elif len(stored.classes) > 1:
        chosen, holds = _type_of_mixture(stored)
    else:
        [kind] = stored.classes
        chosen, holds = _PURE[kind]
    return chosen, None if chosen in _expected(declared, asked) else holds


def _expected(declared: str, asked: PortableType | None) -> AbstractSet[PortableType]:
    if asked is not None:
        return {asked}
    # ANY is the one type of STRICT tables that asks for nothing; NUMERIC and its like ask for numbers.
    is_open = declared.strip().upper() in {"", "ANY"}
    return frozenset(PortableType) if is_open else {PortableType.INTEGER, PortableType.REAL}


_PURE = {
    "integer": (PortableType.INTEGER, "integers"),
    "real": (PortableType.REAL, "fractions"),
    "blob": (PortableType.BLOB, "blobs"),
}


def _type_of_text(asked: PortableType | None, stored: Stored) -> tuple[PortableType, str]:
    if asked is PortableType.DATE and stored.days:
        return PortableType.DATE, "days"
    if asked in _DATES and stored.moments:
        return PortableType.DATETIME, "times of day"
    return PortableType.TEXT, "text that is no date" if asked in _DATES else "text"


def _type_of_mixture(stored: Stored) -> tuple[PortableType, str]:
    if "blob" in stored.classes:
        raise Unrepresentable("a blob in a column that holds other values, too", "typeof({0}) = 'blob'")
    if "text" not in stored.classes:
        if not stored.exact:
            raise Unrepresentable("an integer beyond 2^53 in a column that holds fractions, too", INEXACT)
        return PortableType.REAL, "fractions"
    if stored.ambiguous:
        raise Unrepresentable("text that reads like a number which the column holds, too", AMBIGUOUS)
    return PortableType.TEXT, "text and numbers"
