"""Choose a column's portable type, define the forms of dates, and escape values that fit no type.

The choice depends only on a column's declaration and its stored values, none of which is changed. If the
declaration and the data disagree, the data decide, and the disagreement is reported.

Dates are read by SQL that SQLite evaluates; `{0}` is the column. A *day* is a calendar day from year 1 on,
written `YYYY-MM-DD`, `YYYY/MM/DD` or, as PostgreSQL reads it by default, `MM/DD/YYYY`. A *moment* is
`YYYY-MM-DD HH:MM:SS` with up to six decimals, in no time zone. Any other value makes its column text.
https://www.postgresql.org/docs/current/datatype-datetime.html#DATATYPE-DATETIME-DATE-TABLE

A load with `--escape` writes a value that servers cannot store as `MARK`, a letter for its type, and its
bytes in hexadecimal. Texts that begin with `MARK`, or would be read as a number of the same column, are
escaped, too: the original value can always be restored. docs/explanation/loading.md describes it.
"""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from dialects.numbers import well_formed
from dialects.schema import ESCAPED_BLOB, ESCAPED_TEXT, MARK, PortableType, affinity

_DATES = frozenset({PortableType.DATE, PortableType.DATETIME})

INEXACT = f"typeof({{0}}) = 'integer' AND {{0}} NOT BETWEEN -{2**53} AND {2**53}"
"""SQL, `{0}` the column: an integer that a double may not represent exactly."""

AMBIGUOUS = (
    "typeof({0}) = 'text' AND CAST({0} AS BLOB) IN"
    " (SELECT CAST(exact_text({0}) AS BLOB) FROM {1} WHERE typeof({0}) IN ('integer', 'real'))"
)
"""SQL, `{0}` the column, `{1}` its table: a text identical to a number of the column written as text."""


READS_AS_NUMBER = "typeof({0}) = 'text' AND {0} = CAST({0} AS NUMERIC)"
"""SQL, `{0}` the column: a text that a comparison with a number would treat as a number."""


class Unrepresentable(ValueError):
    """No portable type fits the stored values; the message says why.

    `predicate` is SQL that finds such values; `{0}` is the column and `{1}` its table.
    """

    def __init__(self, why: str, predicate: str) -> None:
        super().__init__(why)
        self.predicate = predicate


@dataclass(frozen=True)
class ColumnStatistics:
    """Facts about the values of a column other than NULL."""

    values: int = 0
    classes: AbstractSet[str] = frozenset()
    """The storage classes, as `typeof` names them. https://sqlite.org/datatype3.html."""
    least: float | None = None
    greatest: float | None = None
    """The extremes of numbers, or of texts that are numbers, see `digits`."""
    longest: int = 0
    """See `dialects.schema.Column.longest`."""
    days: bool = False
    """True if every value is a text that is a day."""
    moments: bool = False
    """True if every value is a text that is a plain day or a moment."""
    digits: bool = False
    """See `dialects.schema.Column.digits`."""
    long_numbers: bool = False
    """See `dialects.schema.Column.long_numbers`."""
    first_year: bool = False
    """See `dialects.schema.Column.first_year`."""
    slashes: bool = False
    """See `dialects.schema.Column.slashes`."""
    fractions: bool = False
    """See `dialects.schema.Column.fractions`."""
    exact: bool = True
    """True if every integer of a column of several classes is exact as a double."""
    apart: bool = False
    """See `dialects.schema.Column.apart`."""
    ambiguous: bool = False
    """True if a number, written as text, equals a text of the same column."""


def declared_type(declared: str) -> PortableType | None:
    """Return the portable type that a declaration asks for; None if the data decide.

    DATE, DATETIME and TIMESTAMP ask for dates, BOOLEAN for an integer; a missing type, NUMERIC, DECIMAL and
    other types with NUMERIC affinity leave it open.
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


def portable_type(declared: str, stored: ColumnStatistics) -> tuple[PortableType, str | None]:
    """Choose the type of a column.

    A mixture of texts and numbers becomes text, each number as the shortest text that reads back as it.

    Returns:
        The type; and a description of the values if the declaration asks for another type.

    Raises:
        Unrepresentable: no type fits all values and keeps them distinct.
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
    # ANY is the only type of STRICT tables that asks for nothing; NUMERIC and the like ask for numbers.
    is_open = declared.strip().upper() in {"", "ANY"}
    return frozenset(PortableType) if is_open else {PortableType.INTEGER, PortableType.REAL}


_PURE = {
    "integer": (PortableType.INTEGER, "integers"),
    "real": (PortableType.REAL, "fractions"),
    "blob": (PortableType.BLOB, "blobs"),
}


def _type_of_text(asked: PortableType | None, stored: ColumnStatistics) -> tuple[PortableType, str]:
    if asked is PortableType.DATE and stored.days:
        return PortableType.DATE, "days"
    if asked in _DATES and stored.moments:
        return PortableType.DATETIME, "times of day"
    return PortableType.TEXT, "text that is no date" if asked in _DATES else "text"


def _type_of_mixture(stored: ColumnStatistics) -> tuple[PortableType, str]:
    if "blob" in stored.classes:
        raise Unrepresentable("a blob in a column that holds other values, too", "typeof({0}) = 'blob'")
    if "text" not in stored.classes:
        if not stored.exact:
            raise Unrepresentable("an integer beyond 2^53 in a column that holds fractions, too", INEXACT)
        return PortableType.REAL, "fractions"
    if stored.ambiguous:
        raise Unrepresentable("text that reads like a number which the column holds, too", AMBIGUOUS)
    return PortableType.TEXT, "text and numbers"


_PLAIN_DAY = "(date({0}, '+0 days') IS {0} AND substr({0}, 1, 4) != '0000')"
"""date() returns `YYYY-MM-DD`; only a modifier makes it correct 30 February.

https://sqlite.org/lang_datefunc.html
"""

DAY = (
    "CASE WHEN {0} LIKE '____/__/__' THEN replace({0}, '/', '-')"
    " WHEN {0} LIKE '__/__/____' THEN substr({0}, 7) || '-' || replace(substr({0}, 1, 5), '/', '-')"
    " ELSE {0} END"
)
"""A day as `YYYY-MM-DD`, however it is written."""

_SLASHED_DAY = _PLAIN_DAY.format(f"({DAY})")
_MOMENT = (
    "(datetime(substr({0}, 1, 19), '+0 days') IS substr({0}, 1, 19) AND substr({0}, 1, 4) != '0000'"
    " AND (length({0}) = 19 OR length({0}) BETWEEN 21 AND 26 AND substr({0}, 20, 1) = '.'"
    " AND substr({0}, 21) NOT GLOB '*[^0-9]*'))"
)

DATE_FIGURES = (
    f"min(CASE WHEN {{0}} IS NULL OR {_PLAIN_DAY} THEN 1 ELSE {_SLASHED_DAY} END)",
    f"min(CASE WHEN {{0}} IS NULL THEN 1 WHEN length({{0}}) = 10 THEN {_PLAIN_DAY} ELSE {_MOMENT} END)",
    "max({0} LIKE '%/%')",
    "max(length({0}) > 19 AND trim(substr({0}, 21), '0') != '')",
    "max(instr({0}, char(0)))",
)
"""Whether all are days; all are plain days or moments; one has a slash; one has a fraction of a second; one
has a NUL character, at which SQLite's functions stop reading.

CASE, because only its conditions are evaluated lazily.
"""

DATE_FORMS = (
    ("YYYY-MM-DD", _PLAIN_DAY),
    ("YYYY/MM/DD", f"({{0}} LIKE '____/__/__' AND {_SLASHED_DAY})"),
    ("MM/DD/YYYY", f"({{0}} LIKE '__/__/____' AND {_SLASHED_DAY})"),
    ("YYYY-MM-DD HH:MM:SS", f"(length({{0}}) = 19 AND {_MOMENT})"),
    ("YYYY-MM-DD HH:MM:SS.f", _MOMENT),
    ("0000-00-00", "{0} LIKE '0000-00-00%'"),
    ("looks like a date", "{0} GLOB '[0-9]*[-/][0-9]*[-/][0-9]*'"),
)
"""The forms of dates, each with a condition that excludes later ones; the last two are not valid dates.

For texts without NUL characters.
"""

DAYS_SINCE_2000 = f"CAST(julianday({DAY}) - 2451544.5 AS INTEGER)"
"""A day in PostgreSQL's binary format. Exact, since the Julian day of a midnight ends in .5."""

MICROSECONDS_SINCE_2000 = (
    "(CAST(strftime('%s', substr({0}, 1, 19)) AS INTEGER) - 946684800) * 1000000"
    " + CAST(substr(substr({0}, 21) || '000000', 1, 6) AS INTEGER)"
)
"""A moment or plain day in PostgreSQL's binary format, interpreted as UTC."""


def escaped_text(text: bytes, encoding: str, *, among_others: bool) -> str:
    """Return the text to write for a text, which is given as bytes in the file's encoding.

    `among_others` is True if the column also has values other than texts.
    """
    try:
        found = text.decode(encoding)
    except UnicodeDecodeError:
        return ESCAPED_TEXT + text.hex()
    if "\0" in found or found.startswith(MARK) or (among_others and _reads_like_a_number(found)):
        return ESCAPED_TEXT + found.encode().hex()
    return found


def escaped_value(name: str, *, among_others: bool) -> str:
    """Return SQL for the text to write for a value of a column; `name` is the quoted column."""
    return (
        f"CASE typeof({name}) WHEN 'null' THEN NULL"
        f" WHEN 'text' THEN escaped_text(CAST({name} AS BLOB), {among_others:d})"
        f" WHEN 'blob' THEN '{ESCAPED_BLOB}' || lower(hex({name})) ELSE exact_text({name}) END"
    )


def _reads_like_a_number(text: str) -> bool:
    """True if a comparison with a number treats the text as a number, or it is an infinite number's text."""
    return text in _INFINITE_TEXTS or well_formed(text) is not None


_INFINITE_TEXTS = {"inf", "-inf"}
