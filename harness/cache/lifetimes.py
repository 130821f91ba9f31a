"""For how long a SQL text returns the same rows from the same data: always, until midnight, or not at all.

Golds that ask how old somebody is ask for today's date or year. In UTC that is the same all day, so what came
of them can be kept for the day. As in `dialects.volatility`, doubt means: not at all.
"""

import re
from enum import Enum
from functools import lru_cache

from dialects.volatility import is_volatile


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
