"""The form in which values are hashed, on a server and here: equal rows have the same form.

A row is written as its heads, joined by commas, a `|`, and its texts. A head is a number's digits, the bits
of a real, the length in bytes of a text, which then follows the `|`, the SHA-256 of a long text or a blob,
the calendar's digits, or `N` for NULL. No other head has a comma, a `|` or an N, so no two rows are written
alike. docs/explanation/loading.md has the table.
"""

import hashlib
import re
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, time
from enum import StrEnum
from functools import lru_cache
from typing import Any, cast

NULL = "N"
IMPOSSIBLE = "!"
"""The head of a value that does not fit the type on the server: no server writes it."""

LONG = 20_000
"""In bytes. Columns with longer texts have the texts' digests as heads, which bounds the size of a row."""

SUMMAND = 15
"""Hexadecimal digits of a row's hash that are summed."""
BUCKET = 3
"""The digits after them, which choose a row's bucket."""
IDENTITY = 40
"""The digits from the start that identify a row in the search for differences."""

_QUARTERS = 4
"""Number of 64-bit integers in a hash."""
_SPARE_BITS = 64 - 4 * SUMMAND

Value = int | float | bytes | bytearray | None
"""A value in SQLite; a bytearray is a text in UTF-8."""


class ValueForm(StrEnum):
    """The form in which a column's values are written."""

    INTEGER = "integer"
    DOUBLE = "double"
    SINGLE = "single"
    TEXT = "text"
    LONG_TEXT = "long text"
    BLOB = "blob"
    DAY = "day"
    MOMENT = "moment"


@dataclass(frozen=True)
class Digest:
    """The sum of a table or a column, independent of the order of its rows."""

    rows: int
    total: int
    """The sum, not reduced, of the first 60 bits of each row's SHA-256."""


@dataclass(frozen=True)
class Cells:
    """The values of one column in some rows, written."""

    heads: Sequence[str]
    texts: Sequence[bytes | bytearray] | None = None


def written(form: ValueForm, values: Sequence[Value]) -> Cells:
    """Write a column's values in some rows as the server must write them."""
    classes = set(map(type, values))
    if form is ValueForm.TEXT and classes == {bytearray}:
        return Cells(list(map(str, map(len, cast("Sequence[bytearray]", values)))), cast("Any", values))
    if form is ValueForm.INTEGER and classes == {int}:
        return Cells(list(map(str, values)))
    if form is ValueForm.INTEGER and classes <= {int, type(None)}:
        return Cells([NULL if value is None else str(value) for value in values])
    if form is ValueForm.TEXT:
        texts = [b"" if value is None else as_text(value) for value in values]
        heads = [NULL if value is None else str(len(text)) for value, text in zip(values, texts, strict=True)]
        if bytes in classes:
            heads = [IMPOSSIBLE if type(v) is bytes else head for v, head in zip(values, heads, strict=True)]
        return Cells(heads, texts)
    head = _HEADS[form]
    return Cells([NULL if value is None else head(value) for value in values])


def as_text(value: Value) -> bytes | bytearray:
    """Return a text unchanged, a number as the shortest text that reads back as the same number."""
    return value if isinstance(value, bytes | bytearray) else str(value).encode()


def rows_of(columns: Sequence[Cells]) -> Iterator[bytes]:
    """Combine the columns of some rows, row by row."""
    heads = map(",".join, zip(*(cells.heads for cells in columns), strict=True))
    texts = [cells.texts for cells in columns if cells.texts is not None]
    if not texts:
        return (f"{head}|".encode() for head in heads)
    bodies = map(b"".join, zip(*texts, strict=True))
    return (f"{head}|".encode() + body for head, body in zip(heads, bodies, strict=True))


def hashes(rows: Iterable[bytes]) -> list[bytes]:
    """Return the SHA-256 of each row."""
    return [hashlib.sha256(row).digest() for row in rows]


def total(hashed: Sequence[bytes]) -> int:
    """Return the contribution of rows with these hashes to a table's sum."""
    first = struct.unpack(f">{_QUARTERS * len(hashed)}Q", b"".join(hashed))[::_QUARTERS]
    return sum([number >> _SPARE_BITS for number in first])


def bucket(hashed: bytes) -> str:
    """Return the bucket of a row with this hash."""
    return hashed.hex()[SUMMAND : SUMMAND + BUCKET]


def identity(hashed: bytes) -> str:
    """Return the digits that identify a row with this hash."""
    return hashed.hex()[:IDENTITY]


def _integer(value: Value) -> str:
    return str(value) if isinstance(value, int) else IMPOSSIBLE


def _double(value: Value) -> str:
    return struct.pack(">d", value).hex() if _is_double(value) else IMPOSSIBLE


def _single(value: Value) -> str:
    """Return the nearest single; of two equally near, the one with an even last bit."""
    try:
        return struct.pack(">f", value).hex() if _is_double(value) else IMPOSSIBLE
    except OverflowError:
        return IMPOSSIBLE


def _is_double(value: Value) -> bool:
    """True for a number that a double represents exactly."""
    return isinstance(value, float) or (
        isinstance(value, int) and abs(value) <= 2**63 and float(value) == value
    )


def _long_text(value: Value) -> str:
    return IMPOSSIBLE if isinstance(value, bytes) else hashlib.sha256(as_text(value)).hexdigest()


def _blob(value: Value) -> str:
    return hashlib.sha256(value).hexdigest() if isinstance(value, bytes) else IMPOSSIBLE


def _day(value: Value) -> str:
    return (day(bytes(value)) if isinstance(value, bytearray) else None) or IMPOSSIBLE


def _moment(value: Value) -> str:
    return (moment(bytes(value)) if isinstance(value, bytearray) else None) or IMPOSSIBLE


_HEADS = {
    ValueForm.INTEGER: _integer,
    ValueForm.DOUBLE: _double,
    ValueForm.SINGLE: _single,
    ValueForm.LONG_TEXT: _long_text,
    ValueForm.BLOB: _blob,
    ValueForm.DAY: _day,
    ValueForm.MOMENT: _moment,
}

_REMEMBERED = 100_000
"""Number of cached texts: days repeat."""

_DAYS = (
    re.compile(rb"(?P<y>[0-9]{4})-(?P<m>[0-9]{2})-(?P<d>[0-9]{2})"),
    re.compile(rb"(?P<y>[0-9]{4})/(?P<m>[0-9]{2})/(?P<d>[0-9]{2})"),
    re.compile(rb"(?P<m>[0-9]{2})/(?P<d>[0-9]{2})/(?P<y>[0-9]{4})"),
)
_PLAIN = _DAYS[0]
_TIME = re.compile(rb"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,6}))?")
_DAY_CHARACTERS = 10


@lru_cache(_REMEMBERED)
def day(text: bytes) -> str | None:
    """Return a day in one of the three forms of `loaders.portable` as `YYYY-MM-DD`; None for other texts."""
    found = next((match for pattern in _DAYS if (match := pattern.fullmatch(text))), None)
    if not found:
        return None
    try:
        return date(int(found["y"]), int(found["m"]), int(found["d"])).isoformat()
    except ValueError:
        return None


@lru_cache(_REMEMBERED)
def moment(text: bytes) -> str | None:
    """Return the moment, in UTC, of `YYYY-MM-DD`, optionally with ` HH:MM:SS` and up to six decimals.

    Returns:
        `YYYY-MM-DD HH:MM:SS` with decimals, without trailing zeros; None for any other text.
    """
    if not _PLAIN.fullmatch(text[:_DAY_CHARACTERS]) or (on := day(text[:_DAY_CHARACTERS])) is None:
        return None
    if len(text) == _DAY_CHARACTERS:
        return f"{on} 00:00:00"
    found = _TIME.fullmatch(text[_DAY_CHARACTERS + 1 :])
    if not found or text[_DAY_CHARACTERS : _DAY_CHARACTERS + 1] != b" ":
        return None
    try:
        at = time(int(found[1]), int(found[2]), int(found[3])).isoformat()
    except ValueError:
        return None
    decimals = (found[4] or b"").decode().rstrip("0")
    return f"{on} {at}.{decimals}" if decimals else f"{on} {at}"


_ESCAPE = "␛".encode()
_TEXT, _BLOB = _ESCAPE + b"t", _ESCAPE + b"b"


def stored(value: Value, *, among_others: bool) -> Value:
    """Return the text that a column of texts must have for a value; another type if it cannot be restored.

    Args:
        value: the value in SQLite.
        among_others: whether the column has values other than texts.
    """
    if value is None:
        return None
    if isinstance(value, bytes):
        text = _BLOB + value.hex().encode()
    elif not isinstance(value, bytearray):
        text = str(value).encode()
    elif _is_plain(bytes(value)) and not (among_others and _like_a_number(bytes(value))):
        text = bytes(value)
    else:
        text = _TEXT + value.hex().encode()
    back = turned_back(text, among_others=among_others)
    is_same = type(back) is type(value) and (back == value and str(back) == str(value))
    return bytearray(text) if is_same else b""


def turned_back(text: bytes, *, among_others: bool) -> Value:
    """Return the value that a text was written for."""
    if text.startswith(_TEXT):
        return bytearray.fromhex(text[len(_TEXT) :].decode())
    if text.startswith(_BLOB):
        return bytes.fromhex(text[len(_BLOB) :].decode())
    number = _number(text) if among_others else None
    return bytearray(text) if number is None else number


def _is_plain(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return b"\0" not in text and not text.startswith(_ESCAPE)


def _like_a_number(text: bytes) -> bool:
    """True if a column with numbers must escape the text: '007' is not 7, but reads as 7."""
    return _number(text) is not None or _READS.fullmatch(text) is not None


_BLANKS = rb"[\t-\r ]*"
_READS = re.compile(_BLANKS + rb"[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?" + _BLANKS)


def _number(text: bytes) -> int | float | None:
    """Return the number whose shortest text this is; None if there is none."""
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        if str(number).encode() == text:
            return number
    return None
