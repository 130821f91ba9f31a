"""The clock of sessions, if a run pins it: the moment that golds and predictions take for the present.

MySQL, MariaDB and DuckDB let a session have a clock of its own; in SQLite, functions of the same names
replace the library's. PostgreSQL has neither, so there the expressions that ask for the time are replaced in
the text. What a table, a view or a computed text says stays as it is there.
"""

import re
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, NamedTuple

from dialects.errors import BadInput
from dialects.identifiers import FUNCTIONS_NAMESPACE
from loaders.base.expressions import computed

_MOMENT = re.compile(r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d)?)?")
_FIRST, _LAST = datetime(1970, 1, 2, tzinfo=UTC), datetime(2037, 12, 31, tzinfo=UTC)
"""What every engine takes: https://dev.mysql.com/doc/refman/9.7/en/server-system-variables.html#sysvar_timestamp."""


def parse_moment(option: str, text: str) -> datetime:
    """Parse `2025-02-19`, at midnight, or `2025-02-19 10:30[:15]`; in UTC.

    Args:
        option: the user's name for it.
        text: the text.

    Raises:
        BadInput: it is none, or no moment between 1970-01-02 and 2037-12-31.
    """
    try:
        found = datetime.fromisoformat(text).replace(tzinfo=UTC) if _MOMENT.fullmatch(text) else None
    except ValueError:
        found = None
    if found is None or not _FIRST <= found <= _LAST:
        raise BadInput(
            f"{option} {text}: is not a moment between {_FIRST:%Y-%m-%d} and {_LAST:%Y-%m-%d}; write it"
            " in UTC, as 2025-02-19 or '2025-02-19 10:30:00'"
        )
    return found


def written(moment: datetime) -> str:
    """Return a moment as SQL has it, such as `2025-02-19 10:30:00`."""
    return f"{moment:%Y-%m-%d %H:%M:%S}"


# SQLite: https://sqlite.org/lang_datefunc.html

_OF_A_TIME = {"date": 0, "time": 0, "datetime": 0, "julianday": 0, "unixepoch": 0, "strftime": 1}
"""Functions of a time value, and the place of that argument; they take the present without one."""
_OF_TWO_TIMES = "timediff"
_SUBSECONDS = frozenset({"subsec", "subsecond"})
"""A modifier that may be in place of the time value: then that is the present."""


def pin_sqlite(connection: sqlite3.Connection, moment: datetime) -> None:
    """Replace the functions of a connection that read the clock.

    The new ones have the library compute with the moment, on a connection of their own. A view can call them
    where the schema is trusted.
    """
    now = written(moment)
    listed = "(SELECT group_concat(name, ' ') FROM pragma_function_list)"
    there = set(computed(listed).split())

    def call(name: str, place: int | None, *given: object) -> Any:
        values = list(given)
        if place is None:
            values = [now if _folded(value) == "now" else value for value in values]
        elif len(values) < place:
            pass
        elif len(values) == place or _folded(values[place]) in _SUBSECONDS:
            values.insert(place, now)
        elif _folded(values[place]) == "now":
            values[place] = now
        return computed(f"{name}({', '.join('?' * len(values))})", *values)

    for name, place in _OF_A_TIME.items():
        if name in there:
            connection.create_function(name, -1, partial(call, name, place), deterministic=True)
    if _OF_TWO_TIMES in there:
        connection.create_function(_OF_TWO_TIMES, 2, partial(call, _OF_TWO_TIMES, None), deterministic=True)
    for name, text in (("date", now[:10]), ("time", now[11:]), ("timestamp", now)):
        connection.create_function(f"current_{name}", 0, partial(str, text), deterministic=True)


def _folded(value: object) -> str:
    return value.lower() if isinstance(value, str) else ""


# DuckDB: https://duckdb.org/docs/stable/sql/functions/timestamptz


def duckdb_clock(moment: datetime) -> list[str]:
    """Return the statements that give a connection of DuckDB a clock: temporary macros come before functions.

    `age` of one time is the age at midnight.
    """
    zoned = f"TIMESTAMPTZ '{written(moment)}+00'"
    values = {
        zoned: ("now", "get_current_timestamp", "transaction_timestamp"),
        f"CAST({zoned} AS DATE)": ("current_date", "today"),
        f"CAST({zoned} AS TIMETZ)": ("current_time", "get_current_time"),
        f"TIMESTAMP '{written(moment)}'": ("current_localtimestamp",),
        f"TIME '{moment:%H:%M:%S}'": ("current_localtime",),
    }
    made = [f"CREATE TEMP MACRO {name}() AS {value}" for value, names in values.items() for name in names]
    midnight = f"TIMESTAMP '{moment:%Y-%m-%d}'"
    age = f"(a) AS system.main.age({midnight}, a), (a, b) AS system.main.age(a, b)"
    return [*made, f"CREATE TEMP MACRO age{age}"]


# Texts. A piece is quoted, a comment, a word or one character.

_FLAT_COMMENT = r"/\*[^*]*+(?:\*(?!/)[^*]*+)*+(?:\*/|\Z)"
_WORD = r"[^\W\d][\w$]*+"
_POSTGRESQL = re.compile(
    rf"""(?P<text>[eE]'(?:[^'\\]++|\\.|'')*+'|'(?:[^']++|'')*+')|(?P<word>{_WORD})
    |"[^"]*+"|--[^\n]*+|{_FLAT_COMMENT}|\$(?P<tag>(?:[^\W\d]\w*+)?)\$|(?P<number>\d[\w.]*+)
    |(?P<space>\s++)|(?P<cast>::)|(?P<sign>.)""",
    re.VERBOSE | re.DOTALL,
)
_MYSQL = re.compile(
    rf"""(?P<word>{_WORD})|'(?:[^'\\]++|\\.|'')*+'|"(?:[^"\\]++|\\.|"")*+"|`[^`]*+`|--(?=\s|\Z)[^\n]*+|\#[^\n]*+
    |/\*(?!M?!)[^*]*+(?:\*(?!/)[^*]*+)*+(?:\*/|\Z)|(?P<space>\s++)|(?P<sign>.)""",
    re.VERBOSE | re.DOTALL,
)
"""What is in the comments that MySQL or MariaDB executes is part of the text."""

_PARENTHESIS = re.compile(r"\s*+\(")


def without_sysdate(sql: str) -> str:
    """Call NOW() for SYSDATE() in a text for MySQL: only the first has the clock of its session."""
    if "sysdate" not in sql.lower():
        return sql
    found = []
    for piece in _MYSQL.finditer(sql):
        is_called = piece["word"] and piece[0].lower() == "sysdate" and _PARENTHESIS.match(sql, piece.end())
        found.append("NOW" if is_called else piece[0])
    return "".join(found)


def with_moment(sql: str, moment: datetime) -> str:
    """Put a moment in place of `now` where a translated gold calls a function of bird-harness with it."""
    return _OF_OURS.sub(rf"\g<1>'{written(moment)}'", sql)


_OF_OURS = re.compile(rf"(\b{FUNCTIONS_NAMESPACE}[._]moment\()'now'(?=\))", re.IGNORECASE)

_VALUES = {
    "current_date": "date",
    "current_timestamp": "timestamptz",
    "current_time": "timetz",
    "localtimestamp": "timestamp",
    "localtime": "time",
}
"""Words that are values, and their types; a precision in parentheses may follow."""
_CALLS = frozenset({"now", "transaction_timestamp", "statement_timestamp", "clock_timestamp"})
_DAYS = {"now": None, "today": 0, "tomorrow": 1, "yesterday": -1}
"""Texts that are moments, and how many days from today the midnight is that they mean."""
_TYPES = frozenset({"date", "time", "timetz", "timestamp", "timestamptz"})
_LONGEST_CALL = 1_000
"""Pieces of a call that are looked at."""
_TAKE_TIMES = frozenset({"age", "date_trunc"})
_ASKS = re.compile(
    r"\b(?:now|today|tomorrow|yesterday|age|current_\w+|local\w+|\w+_timestamp)\b", re.IGNORECASE
)


class _Piece(NamedTuple):
    """A piece of a text for PostgreSQL. `kind`: text, word, space, cast, sign or other."""

    kind: str
    text: str

    @property
    def word(self) -> str:
        return self.text.lower()


def pinned_for_postgresql(sql: str, moment: datetime) -> str:
    """Put a moment in place of what asks PostgreSQL for the time.

    These are the functions and keywords of the clock, `age` of one time, and the texts now, today, tomorrow
    and yesterday where a type, a cast or a function makes a time of them.
    https://www.postgresql.org/docs/current/functions-datetime.html#FUNCTIONS-DATETIME-CURRENT
    """
    sql = with_moment(sql, moment)
    if not _ASKS.search(sql):
        return sql
    pieces = list(_pieces(sql))
    solid = [place for place, piece in enumerate(pieces) if piece.kind not in {"space", "other"}]
    made = [piece.text for piece in pieces]
    zoned = f"TIMESTAMPTZ '{written(moment)}+00'"
    for number, place in enumerate(solid):
        around = _Around(pieces, solid, number)
        for distance, text in _replacements(around, pieces[place].kind, zoned, moment).items():
            made[solid[number + distance]] = text
    return "".join(made)


def _replacements(around: "_Around", kind: str, zoned: str, moment: datetime) -> dict[int, str]:
    """Return the texts in place of a piece and of those around it, by their distance from it."""
    word = around.word(0)
    following = around.word(1), around.word(2), around.word(3)
    found: dict[int, str] = {}
    if kind == "text":
        if around.is_moment and word[1:-1].strip() in _DAYS:
            found[0] = f"'{_day(word[1:-1].strip(), moment)}'"
    elif kind != "word" or around.is_qualified:
        pass
    elif word in _VALUES:
        found[0] = f"CAST({zoned} AS {_VALUES[word]})"
        if following[0] == "(" and following[2] == ")":
            found |= {1: "", 2: "", 3: ""}
    elif word in _CALLS and following[:2] == ("(", ")"):
        found |= {0: zoned, 1: "", 2: ""}
        if around.word(-1) == ".":
            found |= {-1: "", -2: ""}
    elif word == "age" and following[0] == "(" and around.has_one_argument:
        found[1] = f"(CAST({zoned} AS date), "
    return found


def _day(word: str, moment: datetime) -> str:
    days = _DAYS[word]
    if days is None:
        return f"{written(moment)}+00"
    return f"{moment + timedelta(days=days):%Y-%m-%d} 00:00:00+00"


class _Around(NamedTuple):
    """The pieces around one of a text, without space and comments."""

    pieces: list[_Piece]
    solid: list[int]
    number: int

    def word(self, distance: int) -> str:
        """Return the piece that many places after this one in lower case; empty where there is none."""
        place = self.number + distance
        return self.pieces[self.solid[place]].word if 0 <= place < len(self.solid) else ""

    @property
    def is_qualified(self) -> bool:
        """True if it belongs to something else than PostgreSQL's own functions."""
        return self.word(1) == "." or (self.word(-1) == "." and self.word(-2) != "pg_catalog")

    @property
    def is_moment(self) -> bool:
        """True if a time is made of a text."""
        before = self.word(-1)
        if before in _TYPES or (before == "zone" and self.word(-2) == "time"):
            return True
        if self.word(1) == "::":
            return self.word(2) in _TYPES
        if before == "(" and self.word(-2) == "cast" and self.word(1) == "as":
            return self.word(2) in _TYPES
        return (before == "(" and self.word(-2) == "age") or (before == "," and self.word(-4) in _TAKE_TIMES)

    @property
    def has_one_argument(self) -> bool:
        """True if no comma separates arguments in the parentheses that begin after it."""
        depth = 0
        for distance in range(1, _LONGEST_CALL):
            sign = self.word(distance)
            depth += (sign == "(") - (sign == ")")
            if depth == 0 or not sign:
                return bool(sign) and distance > 2  # noqa: PLR2004 - the parentheses and something in them
            if sign == "," and depth == 1:
                return False
        return False


def _pieces(sql: str) -> Iterator[_Piece]:
    at = 0
    while at < len(sql):
        found = _POSTGRESQL.match(sql, at)
        assert found is not None  # noqa: S101 - the pattern has a case for any character
        end = found.end()
        if found["tag"] is not None:
            closed = sql.find(found[0], end)
            end = len(sql) if closed < 0 else closed + len(found[0])
        kind = found.lastgroup if found.lastgroup in {"text", "word", "space", "cast", "sign"} else "other"
        # A quoted name or a number is solid, a comment is not.
        if kind == "other" and sql[at] not in "-/":
            kind = "name"
        yield _Piece(kind, sql[at:end])
        at = end
