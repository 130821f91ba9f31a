"""Encode an `Execution` as bytes and back, without loss: same values, same types, same order.

Values are written as JSON: JSON's own types as they are, any other as a list that starts with the letter of
its type. The bytes may come from a file that others can write, so decoding runs no code and creates no other
types; pickle and marshal guarantee neither.
"""

import binascii
import json
import zlib
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from contextlib import suppress
from datetime import date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from functools import partial
from itertools import chain
from math import isfinite
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

import msgspec

from harness.engines.base import Row
from harness.engines.execution import Ending, Execution

_LEAST_COMPRESSED = 256
"""Minimum bytes to compress; shorter texts hardly shrink."""
_MOST_TEXT = 2**29
"""Maximum bytes of JSON to write or read."""
_MOST_SHRINKING = 16
"""Maximum size of the JSON as a multiple of `most_bytes`, so that no huge JSON is written in vain."""
_LARGEST_NUMBER = 2**63
"""Larger integers are written in hexadecimal, because Python limits the digits of decimal ones.

https://docs.python.org/3/library/stdtypes.html#integer-string-conversion-length-limitation
"""

Moment = TypeVar("Moment", datetime, time)

_PLAIN = frozenset({str, int, float, bool, type(None)})
_NESTED = frozenset({list, dict})
_AS_IT_IS, _DEFLATED = b"j", b"z"
_UNREADABLE = (
    ArithmeticError, AttributeError, LookupError, OSError, RecursionError, TypeError, ValueError, zlib.error,
)  # fmt: skip

_to_json = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, allow_nan=True, separators=(",", ":")
).encode
_from_json = json.JSONDecoder().decode


def encode(execution: Execution, most_bytes: int | None = None) -> bytes | None:
    """Return `execution` as bytes.

    Args:
        execution: the execution of one SQL text.
        most_bytes: the maximum number of bytes; before compression, 16 times that.

    Returns:
        None if it is longer, or has a value of a type that no driver of the harness is known to return.
    """
    rows = execution.rows
    most_text = _MOST_TEXT if most_bytes is None else min(_MOST_TEXT, most_bytes * _MOST_SHRINKING)
    # Every value takes at least two bytes, with its comma.
    if rows and 2 * len(rows) * max(1, len(rows[0])) > most_text:
        return None
    types = set(map(type, chain.from_iterable(rows)))
    try:
        head = [execution.ending.value, execution.error, execution.code, execution.seconds]
        text = _json([*head, _written_rows(rows, types)], rows, types)
    except (TypeError, RecursionError):
        return None
    if len(text) > most_text:
        return None
    data = _AS_IT_IS + text if len(text) < _LEAST_COMPRESSED else _DEFLATED + zlib.compress(text, 1)
    return None if most_bytes is not None and len(data) > most_bytes else data


def _json(content: list[Any], rows: tuple[Row, ...], types: AbstractSet[type]) -> bytes:
    """Return JSON in UTF-8: by msgspec, which is quicker and lacks NaN, infinity and lone surrogates."""
    if types.isdisjoint(_NESTED) and (
        float not in types
        or all(isfinite(value) for value in chain.from_iterable(rows) if type(value) is float)
    ):
        with suppress(UnicodeEncodeError):
            return msgspec.json.encode(content)
    return _to_json(content).encode("utf-8", "surrogatepass")


def decode(data: bytes) -> Execution:
    """Return the execution that `encode` turned into `data`.

    Raises:
        ValueError: `data` is not from `encode`.
    """
    try:
        ending, error, code, seconds, rows = _from_json(_text(data).decode("utf-8", "surrogatepass"))
        words = _expect(error, str, type(None)), _expect(code, str, type(None))
        return Execution(Ending(ending), _read_rows(rows), *words, _expect(seconds, float))
    except _UNREADABLE as failure:
        raise ValueError(f"not an encoded execution: {failure}") from failure


def _expect(value: Any, *types: type) -> Any:
    if type(value) in types:
        return value
    raise ValueError(f"{type(value).__name__} in the wrong place")


def _text(data: bytes) -> bytes:
    kind, rest = data[:1], data[1:]
    if kind == _AS_IT_IS:
        return rest
    if kind != _DEFLATED:
        raise ValueError("unknown format")
    inflater = zlib.decompressobj()
    text = inflater.decompress(rest, _MOST_TEXT)
    if not inflater.eof or inflater.unused_data:
        raise ValueError("cut off, or too long")
    return text


def _written_rows(rows: tuple[Row, ...], types: AbstractSet[type]) -> list[Any]:
    """Return rows for JSON: unchanged if JSON has all their types."""
    if types <= _PLAIN:
        numbers = [value for value in chain.from_iterable(rows) if type(value) is int] if int in types else []
        if not numbers or (min(numbers) > -_LARGEST_NUMBER and max(numbers) < _LARGEST_NUMBER):
            return list(rows)
    return [[_written(value) for value in row] for row in rows]


def _read_rows(rows: list[list[Any]]) -> tuple[Row, ...]:
    if not set(map(type, rows)) <= {list}:
        raise ValueError("a row is not a list")
    if set(map(type, chain.from_iterable(rows))) <= _PLAIN:
        return tuple(map(tuple, rows))
    return tuple([tuple([_read(value) for value in row]) for row in rows])


def _written(value: object) -> Any:
    kind = type(value)
    if kind in _PLAIN and (kind is not int or -_LARGEST_NUMBER < value < _LARGEST_NUMBER):  # type: ignore[operator]
        return value
    write = _WRITERS.get(kind)
    if write is None:
        raise TypeError(f"{kind} is not kept")
    return write(value)


def _read(value: Any) -> Any:
    kind = type(value)
    if kind in _PLAIN:
        return value
    letter, *parts = _expect(value, list)
    return _READERS[letter](*parts)


def _written_zone(zone: tzinfo | None) -> Any:
    """Return None, the UTC offset in seconds, or the IANA name; the drivers return no other zones."""
    if zone is None:
        return None
    if type(zone) is timezone:
        offset = zone.utcoffset(None)
        if repr(timezone(offset)) == repr(zone):
            return _written(offset)
    # Datetimes compare by wall clock time if they share a zone object, and else in UTC.
    if type(zone) is ZoneInfo and zone.key and ZoneInfo(zone.key) is zone:
        return zone.key
    raise TypeError(f"{zone!r} is not kept")


def _read_zone(zone: Any) -> tzinfo | None:
    if zone is None:
        return None
    return ZoneInfo(zone) if type(zone) is str else timezone(_read(zone))


def _written_moment(letter: str, value: datetime | time) -> list[Any]:
    if value.tzinfo is None and not value.fold:
        return [letter, value.isoformat()]
    return [letter, value.replace(tzinfo=None).isoformat(), value.fold, _written_zone(value.tzinfo)]


def _read_moment(kind: type[Moment], text: str, fold: int = 0, zone: Any = None) -> Moment:
    value = kind.fromisoformat(text)
    return value.replace(tzinfo=_read_zone(zone), fold=fold) if fold or zone is not None else value


_WRITERS: Mapping[type, Callable[[Any], list[Any]]] = {
    int: lambda value: ["i", hex(value)],
    bytes: lambda value: ["b", binascii.b2a_base64(value, newline=False).decode()],
    Decimal: lambda value: ["n", str(value)],
    date: lambda value: ["d", value.isoformat()],
    datetime: partial(_written_moment, "t"),
    time: partial(_written_moment, "c"),
    timedelta: lambda value: ["s", value.days, value.seconds, value.microseconds],
    list: lambda value: ["l", *map(_written, value)],
    dict: lambda value: ["m", *([_written(key), _written(inner)] for key, inner in value.items())],
}

_READERS: Mapping[str, Callable[..., Any]] = {
    "i": lambda text: int(text, 16),
    "b": lambda text: binascii.a2b_base64(text, strict_mode=True),
    "n": Decimal,
    "d": date.fromisoformat,
    "t": partial(_read_moment, datetime),
    "c": partial(_read_moment, time),
    "s": timedelta,
    "l": lambda *values: list(map(_read, values)),
    "m": lambda *pairs: {_read(key): _read(value) for key, value in pairs},
}
