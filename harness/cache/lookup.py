"""What is known already: from this run in memory, from earlier ones in the store."""

import re
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from enum import Enum
from functools import lru_cache
from threading import Lock

from dialects.volatility import is_volatile
from loaders.base.store import EntryKind, Store

# For how long a SQL text returns the same rows from the same data: always, until midnight, or not at all.
#
# Golds that ask how old somebody is ask for today's date or year. In UTC that is the same all day, so what
# came of them can be kept for the day. As in `dialects.volatility`, doubt means: not at all.


class Lifetime(Enum):
    """For how long."""

    ALWAYS = "always"
    TODAY = "today"
    """As long as it is the same day in UTC, in a session whose time zone is UTC."""
    NEVER = "never"


_LONGEST = 20_000
_LONGEST_REMEMBERED = 5_000

_TODAY = "'2000-01-01'"
"""What stands for the day while the rest is looked at."""

_NOTHING = r"\s*\(\s*\)"
_NOW = rf"(?:now{_NOTHING}|current_timestamp\b(?:{_NOTHING}|(?!\s*\())|'now'|\"now\")"

_DAYS = re.compile(
    rf"""
    \bcurrent_date\b (?: {_NOTHING} | (?!\s*\() )
    | \b(?:curdate|utc_date){_NOTHING}
    | \bdate\s*\(\s*{_NOW}\s*\)
    | \bcast\s*\(\s*{_NOW}\s+as\s+date\s*\)
    | \b{_NOW}\s*::\s*date\b
    | (?: (?<=[(,]) | (?<=\bselect\s) | (?<=\bselect\sdistinct\s) )
      \s* datetime\s*\(\s*(?:'now'\s*)?\) (?= \s*-[^->] )
    | (?<=\bdatediff\() \s* {_NOW} (?= \s*, )
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""Today's date, as the three engines call it; and where no more is taken of a moment than its date or year.

SQLite's number for a text is that of its first digits, so that `DATETIME() - x` takes the year; no other
engine has a function of this name. MySQL's `DATEDIFF` takes dates alone.
https://sqlite.org/lang_expr.html#castexpr,
https://dev.mysql.com/doc/refman/9.7/en/date-and-time-functions.html#function_datediff
"""

_MOMENT = rf"(?:{_NOW}|{_TODAY}|cast\s*\(\s*{_NOW}\s+as\s+datetime\s*\))"
_PARTS = "year|month|day|doy|dow|week|quarter|isoyear|isodow|decade|century"
_PARTS_OF_DAYS = re.compile(
    rf"""
    \bstrftime\s*\(\s*'(?:[^'%]|%(?-i:[YmdjwuWUVGFeg]))*'\s*,\s*{_MOMENT}\s*\)
    | \bdate_format\s*\(\s*{_MOMENT}\s*,\s*'(?:[^'%]|%(?-i:[YymdcejMbaW]))*'\s*\)
    | \b(?:year|month|day|dayofyear|dayofmonth|dayofweek|quarter|to_days)\s*\(\s*{_MOMENT}\s*\)
    | \bextract\s*\(\s*(?:{_PARTS})\s+from\s+{_MOMENT}\s*\)
    | \bdate_part\s*\(\s*'(?:{_PARTS})'\s*,\s*{_MOMENT}\s*\)
    | \bto_char\s*\(\s*{_MOMENT}\s*,\s*'(?:YYYY|MM|DD|[-/.\x20])*'\s*\)
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""What is the same all day of a moment of the day; formats with nothing smaller than a day.

https://sqlite.org/lang_datefunc.html, https://www.postgresql.org/docs/current/functions-datetime.html,
https://dev.mysql.com/doc/refman/9.7/en/date-and-time-functions.html
"""

_AGE = re.compile(r"\bage(?=[\"`\]]?\s*\()", re.IGNORECASE)
"""PostgreSQL's age() of one time is the age today, at midnight."""

_TIMES = re.compile(
    r"\b(?:maketime|sec_to_time|addtime|subtime|timediff|time(?=\s*\(\s*[^\s)/#-]))(?=\s*\()|(?<=\bas\s)time\b",
    re.IGNORECASE,
)
"""MySQL: where such a value becomes a date and time, the date is today's.

https://dev.mysql.com/doc/refman/9.7/en/date-and-time-type-conversion.html
"""

_ZONES = re.compile(r"zone|set_var|localtime|\bxid", re.IGNORECASE)
"""What makes a day begin at another moment, or age() something else."""


def lifetime(sql: str) -> Lifetime:
    """For how long a text returns the same rows from the same data."""
    if not is_volatile(sql):
        return Lifetime.ALWAYS
    if len(sql) > _LONGEST:
        return Lifetime.NEVER
    return _judged(sql) if len(sql) > _LONGEST_REMEMBERED else _remembered(sql)


def _judged(sql: str) -> Lifetime:
    if _ZONES.search(sql):
        return Lifetime.NEVER
    without = _PARTS_OF_DAYS.sub(_TODAY, _DAYS.sub(_TODAY, sql))
    without = _TIMES.sub("hours", _AGE.sub("years", without))
    return Lifetime.NEVER if is_volatile(without) else Lifetime.TODAY


_remembered = lru_cache(maxsize=2_000)(_judged)


_ROOM = 64 * 2**20

_WRITTEN_AT_ONCE = 200
"""A transaction takes as long as a short query, so values share one. A kill loses them."""


class Lookup:
    """Values by their keys; thread-safe.

    Args:
        store: where they are kept for later runs; None to forget them with this one.
        room: how many bytes are kept in memory, those used last.
    """

    def __init__(self, store: Store | None, room: int = _ROOM) -> None:
        self._store = store
        self._room = room
        self._lock = Lock()
        self._memory: OrderedDict[bytes, bytes] = OrderedDict()
        self._unwritten: dict[EntryKind, dict[bytes, bytes]] = {}

    @property
    def has_store(self) -> bool:
        """Whether anything can be known from earlier runs."""
        return self._store is not None

    def get(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """Those that are known."""
        found: dict[bytes, bytes] = {}
        missing: list[bytes] = []
        with self._lock:
            for cache_key in keys:
                value = self._memory.get(cache_key)
                if value is None:
                    missing.append(cache_key)
                else:
                    self._memory.move_to_end(cache_key)
                    found[cache_key] = value
        if self._store is not None and missing:
            stored = self._store.get(missing)
            self.note(stored)
            found |= stored
        return found

    def store(self, values: Mapping[bytes, bytes], kind: EntryKind) -> None:
        """Keep values of a kind, which have been noted, for later runs; now or with others that come."""
        if self._store is None:
            return
        with self._lock:
            self._unwritten.setdefault(kind, {}).update(values)
            if sum(map(len, self._unwritten.values())) < _WRITTEN_AT_ONCE:
                return
            unwritten, self._unwritten = self._unwritten, {}
        self._write(unwritten)

    def _write(self, unwritten: Mapping[EntryKind, Mapping[bytes, bytes]]) -> None:
        for kind, values in unwritten.items():
            if self._store is not None and values:
                self._store.put(values, kind)

    def note(self, values: Mapping[bytes, bytes]) -> None:
        """Remember values for this run; quick."""
        with self._lock:
            for cache_key, value in values.items():
                if cache_key not in self._memory:
                    self._memory[cache_key] = value
                    self._room -= len(value)
            while self._room < 0 and self._memory:
                _, forgotten = self._memory.popitem(last=False)
                self._room += len(forgotten)

    def close(self) -> None:
        """Write what is not written, and close the store."""
        with self._lock:
            unwritten, self._unwritten = self._unwritten, {}
        self._write(unwritten)
        if self._store is not None:
            self._store.close()
