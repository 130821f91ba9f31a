"""SQLite's functions for DuckDB, computed by the SQLite library of this process.

Translations call them as `bird_sqlite_NAME`. `loaders.functions` defines them; those that take more than an
expression are here. They return NULL where an argument is NULL. `install` brings them to any connection.
"""

import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from inspect import Parameter, Signature
from typing import Any

import duckdb
from duckdb.func import FunctionNullHandling

from dialects.enums import Dialect
from dialects.identifiers import FUNCTIONS_NAMESPACE
from loaders.base.expressions import computed
from loaders.duckdb import json_text
from loaders.functions import definitions

_SPACE = r"[ \t\n\v\f\r]*"
_NUMBER = re.compile(rf"{_SPACE}[+-]?(?:[0-9]++\.?[0-9]*+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?{_SPACE}")
_LEAST, _BEYOND = -(2**63), 2**63


def as_number(value: str) -> float | None:
    """Return the number that a comparison with NUMERIC affinity makes of a text; None if it stays a text."""
    return float(computed("CAST(?1 AS REAL)", value)) if _NUMBER.fullmatch(value) else None


def _is_integer(value: str) -> bool:
    return bool(computed("typeof(?1 + 0) = 'integer'", value))


def _as_integer(value: str) -> int | None:
    number = as_number(value)
    if number is None:
        return None
    if _is_integer(value):
        return int(computed("CAST(?1 AS INTEGER)", value))
    return int(number) if _LEAST <= number < _BEYOND and number == int(number) else None


def _as_real(value: str) -> float | None:
    number = as_number(value)
    exact = number is None or not _is_integer(value) or computed("CAST(?1 AS INTEGER) = ?2", value, number)
    return number if exact else None


def _as_key(value: str) -> str:
    """Return a text that two texts share if they are equal as numbers, or as texts that are none."""
    whole, number = _as_integer(value), as_number(value)
    if whole is not None:
        return str(whole)
    return value if number is None else repr(number).replace("inf", "9e999")


# A moment is a BIGINT: milliseconds since the noon of November 24, 4714 B.C., as in SQLite's DateTime.iJD.
# SQLite prints what it parsed as long as no modifier has changed it: February 31, hour 24. The bits from
# `_FLAGS_AT` on keep how that differs from what the milliseconds say, the same as on PostgreSQL and MySQL.

_DAY = 86_400_000
_NOON = _DAY // 2
_EPOCH = 210_866_760_000_000
_LAST = 464_269_060_799_999
_MIDNIGHT_2000 = 211_813_444_800_000
_FLAGS_AT = 57
_FLAGGED = 2**_FLAGS_AT

_SPILLED = 3
"""Days beyond the last of the month."""
_HOUR_24 = 4
_DATELESS = 8
"""The time came without a date, and the milliseconds are of another day than 2000-01-01."""
_ROUNDED = 16
"""The milliseconds were rounded up to a whole second."""
_ZONED = 32
"""A time zone was given."""

_PLAIN = re.compile(
    r"[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])"
    r"(?:[ T](?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{1,3})?)?)?"
)
_DATED = re.compile(r"-?[0-9]{4}-[0-9]{2}-[0-9]{2}")
_WITH_ZONE = re.compile(r"(?<![0-9.:])[0-9.]*+:[0-9.:]*+\s*+(?:[zZ]|[+-][0-9]{2}:[0-9]{2})")
_FIXED = re.compile(r"[+-]?[0-9.][0-9.e+-]*(?::|\s*(?:second|minute|hour|day))", re.IGNORECASE)
"""A modifier that moves each moment equally."""
_OF_NUMBERS = frozenset({"unixepoch", "julianday", "auto"})
_BEYOND_DAYS = 40
"""Days by which a modifier other than a fixed one may leave the range for a moment."""
_AT_THE_ENDS = ("-4713-11-", "9999-12-31")
"""How texts begin whose moments may be just beyond the range, into which a modifier may lead."""
_HOUR_25 = 25 * 3_600_000
_MOST_MINUTES = 14 * 60 + 59
"""Of a time zone."""


def _milliseconds(day: float | None) -> int | None:
    return None if day is None else round(day * _DAY)


def _milliseconds_of(moment: int) -> int:
    return moment % _FLAGGED if moment >= _FLAGGED else moment


def _flags_of(moment: int) -> int:
    return moment >> _FLAGS_AT if moment >= _FLAGGED else 0


def _clock(milliseconds: int) -> str:
    return (
        f"{milliseconds // 3_600_000:02}:{milliseconds // 60_000 % 60:02}:"
        f"{milliseconds // 1000 % 60:02}.{milliseconds % 1000:03}"
    )


def _text_of(instant: int, flags: int) -> str:
    """Return a text that SQLite parses to a moment with flags."""
    rounded, hours = bool(flags & _ROUNDED), _DAY * bool(flags & _HOUR_24)
    more = ("9" if rounded else "") + ("Z" if flags & _ZONED else "")
    # The last digit of what was rounded up is the fourth: .9999.
    before = instant - rounded
    if flags & _DATELESS:
        clock = before - _MIDNIGHT_2000
        if hours or rounded:  # printed as it was, so the zone moved nothing
            return f"{_clock(clock)}{more}"
        minutes = _MOST_MINUTES if clock < 0 else -_MOST_MINUTES
        zone = f"{'-' if minutes < 0 else '+'}{_MOST_MINUTES // 60:02}:{_MOST_MINUTES % 60:02}"
        clock += minutes * 60_000
        return f"{_clock(clock)}{zone}" if clock < _HOUR_25 else f"24:59:59.9999{zone}"
    spilled = flags & _SPILLED
    day = computed("date(?1)", max(0, before - hours - spilled * _DAY) / _DAY)
    return f"{day[:-2]}{int(day[-2:]) + spilled:02} {_clock((before + _NOON) % _DAY + hours)}{more}"


def _flagged(instant: int, parts: Sequence[str], flags: int) -> int:
    """Return the moment `instant` of a text and modifiers; what SQLite prints of them may differ from it.

    Args:
        instant: its milliseconds.
        parts: the text and the modifiers.
        flags: those of `_DATELESS` and `_ZONED` that hold.
    """
    marks = ", ".join(f"?{place}" for place in range(1, len(parts) + 1))
    printed = computed(f"datetime({marks})", *parts)
    if printed == computed("datetime(?1)", instant / _DAY) and not flags & _DATELESS:
        return instant
    day, _, clock = printed.rpartition(" ")
    odd = _HOUR_24 if clock.startswith("24") else 0
    if clock[-2:] != computed("strftime('%S', ?1)", instant / _DAY):
        odd |= _ROUNDED
    if not flags & _DATELESS:
        last = computed("strftime('%d', ?1, '+1 month', '-1 day')", f"{day[:-2]}01")
        odd |= max(0, int(day[-2:]) - int(last or 31))  # none follows December 9999
    odd |= flags & _DATELESS
    return instant | (odd | flags & _ZONED) << _FLAGS_AT if odd else instant


def _told(function: str, moment: int, *first: str) -> Any:
    """Return what a function of SQLite's tells of a moment, after the arguments `first`."""
    instant = _milliseconds_of(moment)
    if not 0 <= instant <= _LAST:
        return None
    values = (*first, instant / _DAY if instant == moment else _text_of(instant, _flags_of(moment)))
    marks = ", ".join(f"?{place}" for place in range(1, len(values) + 1))
    return computed(f"{function}({marks})", *values)


def _moment(value: str) -> int | None:
    if value.lower() == "now":
        return _EPOCH + time.time_ns() // 1_000_000
    instant = _milliseconds(computed("julianday(?1)", value))
    if instant is None and value.startswith(_AT_THE_ENDS):
        return _moved(value, "0 days")
    if instant is None or _PLAIN.fullmatch(value) or as_number(value) is not None:
        return instant
    dated = _DATED.match(value) is not None
    of_2000 = _MIDNIGHT_2000 <= instant < _MIDNIGHT_2000 + _DAY
    flags = (0 if dated or of_2000 else _DATELESS) | (_ZONED if _WITH_ZONE.search(value) else 0)
    return _flagged(instant, [value], flags)


def _moment_of_julian(day: float) -> int | None:
    return int(day * _DAY + 0.5) if 0 <= day < (_LAST + 1) / _DAY else None


def _moment_of_unix(seconds: float) -> int | None:
    moment = seconds * 1000 + _EPOCH
    return int(moment + 0.5) if 0 <= moment < _LAST + 1 else None


def _unix_of(moment: int) -> int | None:
    found = _milliseconds_of(moment)
    return found // 1000 - _EPOCH // 1000 if 0 <= found <= _LAST else None


def _modified(moment: int, modifier: str) -> int | None:
    """Return a moment with a modifier applied; None for one that SQLite does not know there.

    Only the last moment has to be in SQLite's range, so a moment beyond it is kept.
    """
    if modifier.lower() in _OF_NUMBERS:
        return None
    start, flags = _milliseconds_of(moment), _flags_of(moment)
    if _FIXED.match(modifier):
        anchor = _LAST if modifier.startswith("-") else 0
        moved = _milliseconds(computed("julianday(?1, ?2)", anchor / _DAY, modifier))
        return None if moved is None else start + moved - anchor
    if not 0 <= start <= _LAST:
        return None
    if flags & _ZONED and modifier.lower() == "utc":
        return moment
    if not flags:
        return _moved(start / _DAY, modifier)
    parts = _text_of(start, flags), modifier
    found = _moved(*parts)
    return _flagged(found, parts, flags & _ZONED) if found is not None and 0 <= found <= _LAST else found


def _moved(value: str | float, modifier: str) -> int | None:
    """Return the milliseconds of a time value after a modifier, which may lead beyond SQLite's range."""
    for days in (0, _BEYOND_DAYS, -_BEYOND_DAYS):
        moved = _milliseconds(computed(f"julianday(?1, ?2, '{days} days')", value, modifier))
        if moved is not None:
            return moved - days * _DAY
    return None


_IN_PYTHON: Mapping[str, Callable[..., Any]] = {
    "as_integer": _as_integer,
    "as_key": _as_key,
    "as_number": as_number,
    "as_real": _as_real,
    "datetime_text": partial(_told, "datetime"),
    "day_text": partial(_told, "date"),
    "format_moment": lambda pattern, moment: _told("strftime", moment, pattern),
    "is_integer": _is_integer,
    "json_at": json_text.at,
    "json_edited": json_text.edited,
    "json_element": json_text.element,
    "json_length": json_text.length,
    "json_member": json_text.member,
    "json_rows": json_text.rows,
    "julian_of": partial(_told, "julianday"),
    "latin1": lambda value: value.decode("latin-1"),
    "milliseconds_of": _milliseconds_of,
    "modified": _modified,
    "moment": _moment,
    "moment_of_julian": _moment_of_julian,
    "moment_of_unix": _moment_of_unix,
    "time_text": partial(_told, "time"),
    "unix_of": _unix_of,
}
"""Those that `loaders.functions` defines with `LANGUAGE python`."""

_DEFINITION = re.compile(
    r"CREATE FUNCTION \w+\.\w+\(([A-Z, ]*)\) RETURNS ([A-Z]+) LANGUAGE (?:python|sqlite AS \$\$ (.+) \$\$)"
)


@cache
def _defined() -> Mapping[str, tuple[Callable[..., Any], list[str], str]]:
    """Return the functions by name, with the types of the arguments and of the result."""
    found = {}
    for name, statement in definitions(Dialect.DUCKDB).items():
        definition = _DEFINITION.fullmatch(statement)
        if definition is None:
            raise ValueError(f"not a function for DuckDB, see loaders.functions: {statement}")
        arguments, kind, body = definition.groups()
        types = arguments.split(", ")
        function = partial(computed, body) if body else _IN_PYTHON[name]
        found[name] = _callable(function, len(types), kind), types, kind
    return found


def _callable(function: Callable[..., Any], arguments: int, kind: str) -> Callable[..., Any]:
    def called(*values: Any) -> Any:
        if None in values:
            return None
        found = function(*values)
        return bool(found) if kind == "BOOLEAN" and found is not None else found

    # DuckDB counts the parameters.
    parameters = [Parameter(f"p{place}", Parameter.POSITIONAL_ONLY) for place in range(arguments)]
    called.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return called


def install(connection: duckdb.DuckDBPyConnection) -> None:
    """Bring the functions to a connection and to all others of its instance, unless they are there."""
    with suppress(duckdb.CatalogException):
        connection.execute(f"SELECT {FUNCTIONS_NAMESPACE}_modified(NULL, NULL)").fetchall()
        return
    for name, (function, arguments, kind) in _defined().items():
        connection.create_function(
            f"{FUNCTIONS_NAMESPACE}_{name}",
            function,
            [*arguments],
            kind,
            null_handling=FunctionNullHandling.SPECIAL,
        )
