"""Dates and times: texts and numbers on every engine, computed with SQLite's calendar.

SQLite computes with moments: milliseconds since noon of November 24, 4714 B.C. in Greenwich, and the form of
the original text. Stored functions read, move and print moments. Columns known to contain dates are sliced in
place instead.
https://sqlite.org/lang_datefunc.html
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from sqlglot import exp

from dialects.coercions import as_double, as_text, literal
from dialects.nodes import (
    DayNumber,
    Double,
    Fits,
    Joined,
    ServerCall,
    Slice,
    UtcNow,
    case,
    coalesced,
    every,
    grouped,
    is_not_null,
    is_null,
    number,
    server,
    string,
)
from dialects.rewrites.functions import folded, size
from dialects.trees import find_all
from dialects.value_types import Context, Form, Kind, Typed, integer, null, real, text

_PLACES = {"Y": (1, 4), "m": (6, 2), "d": (9, 2), "H": (12, 2), "M": (15, 2), "S": (18, 2)}
"""The position of a part: its first character, counted from 1, and its length."""

_BETWEEN = {5: "-", 8: "-", 11: " ", 14: ":", 17: ":"}
"""The characters between the parts."""

_TOKEN = re.compile(r"%(.?)|[^%]+", re.DOTALL)

_DAY = "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
_CLOCK = "([01][0-9]|2[0-4]):[0-5][0-9]"
_SECONDS = ":[0-5][0-9]([.][0-9]+)?"

DATED = f"{_DAY}[ T]*({_CLOCK}({_SECONDS})? *[Zz]?)? *"
"""Texts whose day is printed unchanged, even February 31, if there is no modifier."""

TIMED = f"{_DAY}( {_CLOCK}{_SECONDS})?"
"""Texts whose time is also printed unchanged, or is midnight."""


@dataclass(frozen=True)
class Piece:
    """A run of characters of the text."""

    start: int
    length: int

    @property
    def end(self) -> int:
        """The position of its last character."""
        return self.start + self.length - 1


def pieces(pattern: str) -> list[Piece | str] | None:
    """Return the pieces of the text and the constants to print; None if the format has anything else."""
    found: list[Piece | str] = []
    for token in _TOKEN.finditer(pattern):
        letter = token[1]
        if letter is None:
            _append(found, token[0])
        elif letter == "%":
            _append(found, "%")
        elif letter in _PLACES:
            start, length = _PLACES[letter]
            _append(found, Piece(start, length))
        else:
            return None
    return found


def _append(found: list[Piece | str], piece: Piece | str) -> None:
    """Append a piece, merging it with a previous one that it continues."""
    if found and isinstance(piece, Piece):
        last = found[-1]
        if isinstance(last, Piece) and last.end + 1 == piece.start:
            found[-1] = Piece(last.start, last.length + piece.length)
            return
        if len(found) > 1 and isinstance(last, str):
            before = found[-2]
            if (
                isinstance(before, Piece)
                and before.end + 2 == piece.start
                and last == _BETWEEN[piece.start - 1]
            ):
                found[-2:] = [Piece(before.start, before.length + 1 + piece.length)]
                return
    if found and isinstance(piece, str) and isinstance(found[-1], str):
        found[-1] += piece
    else:
        found.append(piece)


_DAY_MS = 86_400_000
_MIDNIGHT_2000 = 211_813_444_800_000
"""The moment of 2000-01-01 00:00:00."""
_UNIX_EPOCH = 210_866_760_000
"""Seconds from the first moment to 1970."""
_LAST_UNIX = 253_402_300_799
_LAST_JULIAN = 5_373_484.5
_JULIAN_2000 = 2_451_544.5
"""The Julian day number of 2000-01-01 00:00:00."""

_UNITS = {
    "second": (1_000, 4.6427e14),
    "minute": (60_000, 7.7379e12),
    "hour": (3_600_000, 1.2897e11),
    "day": (_DAY_MS, 5_373_485.0),
}
"""Milliseconds of a unit, and the number of units below which SQLite accepts the modifier."""

_STEP = re.compile(r"([+-]?\d+)[ \t]+(second|minute|hour|day)s?", re.IGNORECASE | re.ASCII)

_RAW = ("unixepoch", "auto", "julianday")

_ZONES = ("localtime", "utc")

_LONGEST_TWICE = 12
"""Nodes of an expression that may be written more than once."""


def is_reading(modifier: object) -> bool:
    """True for a modifier that says what the number before it counts."""
    return isinstance(modifier, str) and modifier.lower() in _RAW


def _is_zone(modifier: Typed) -> bool:
    found = None if modifier.constant is None else modifier.constant.value
    return isinstance(found, str) and found.lower() in _ZONES


def _is_now(value: Typed) -> bool:
    found = None if value.constant is None else value.constant.value
    return isinstance(found, str) and found.lower() == "now"


def _prepared(c: Context, arguments: list[Typed]) -> tuple[Typed, list[Typed]]:
    value, *modifiers = arguments or [literal("now")]
    if any(_is_zone(modifier) for modifier in modifiers):
        c.warn("localtime is taken to be UTC")
        if value.is_dated or _is_now(value):
            modifiers = [modifier for modifier in modifiers if not _is_zone(modifier)]
    return value, modifiers


def _constant(c: Context, name: str, *arguments: Typed) -> Typed | None:
    """Return the result for constants, unless it depends on the clock."""
    if any(_is_now(argument) or _is_zone(argument) for argument in arguments):
        return None
    return folded(c, name, arguments)


def _moment(c: Context, value: Typed, modifiers: list[Typed]) -> exp.Expr:
    """Return the moment of a time value after its modifiers; NULL where SQLite's is NULL."""
    if value.kind is Kind.BLOB:
        value = as_text(c, value)
    c.applies("time-value")
    first = modifiers[0].constant.value if modifiers and modifiers[0].constant is not None else None
    raw = first.lower() if isinstance(first, str) and is_reading(first) else None
    if modifiers and not value.is_dated and _may_read(modifiers[0].node):
        c.warn(MOVES)
    if raw is not None:
        modifiers = modifiers[1:]
    found = _raw_moment(c, value, raw) if raw is not None else _plain_moment(c, value)
    if raw != "unixepoch" and _may_be_before_first(value) and _reads_calendar(value, modifiers):
        c.warn(BEFORE_FIRST)
    if raw is None and modifiers and c.first_year and value.kind is Kind.TEXT and not value.is_dated:
        c.warn(BEFORE_FIRST)
    if raw is None and modifiers and _is_zone(modifiers[0]):
        found = _moment_for_none(c, found, value, modifiers[0])
    for modifier in modifiers:
        c.applies("time-modifiers")
        found = _modified(found, as_text(c, modifier))
    return found


def _may_read(modifier: exp.Expr) -> bool:
    """True if a modifier is no constant, and has no constant part that only one that moves has."""
    parts = modifier.expressions if isinstance(modifier, Joined) else [modifier]
    known = [part.name for part in parts if isinstance(part, exp.Literal)]
    return len(known) < len(parts) and not any(_OF_STEP.search(part) for part in known)


_OF_STEP = re.compile(r"[-+\s\d]")

MOVES = "a modifier that is no constant is taken for one that moves, not for 'unixepoch' or the like"

BEFORE_FIRST = (
    "a day before -4713-11-24 is NULL: SQLite computes on from it where a modifier reads the calendar"
)

_FIRST_YEAR = 366
"""Days until `start of year` cannot lead before the first day."""


def _may_be_before_first(value: Typed) -> bool:
    """True for a day number of the first year, and for a text that a function of time made of such a one."""
    if value.kind is Kind.TEXT:
        calls = find_all(value.node, ServerCall)
        made = [call for call in calls if call.this in {"moment", "moment_of_julian"}]
        return not all(isinstance(call.expressions[0], exp.Literal) for call in made)
    return value.number.low is None or value.number.low < _FIRST_YEAR


def _reads_calendar(value: Typed, modifiers: list[Typed]) -> bool:
    """True if a modifier reads the year, month and day of a text, or those that `start of` has led to."""
    known = value.kind is Kind.TEXT
    for modifier in modifiers:
        found = "" if modifier.constant is None else str(modifier.constant.value).lower()
        starts = found.startswith("start of")
        if known and not starts:
            return bool(_CALENDAR.search(found))
        known |= starts
    return False


_CALENDAR = re.compile(r"weekday|month|year|^$")


def _plain_moment(c: Context, value: Typed) -> exp.Expr:
    if value.kind is not Kind.TEXT:
        return server("moment_of_julian", as_double(c, value).node)
    if value.text.form is Form.DAY:
        days = exp.Mul(this=DayNumber(this=value.node), expression=number(_DAY_MS))
        return exp.Add(this=days, expression=number(_MIDNIGHT_2000))
    if _is_now(value):
        c.applies("now")
    return server("moment", value.node)


def _raw_moment(c: Context, value: Typed, raw: str) -> exp.Expr:
    """Return the moment of a number interpreted by 'unixepoch', 'auto' or 'julianday'."""
    is_text = value.kind is Kind.TEXT
    found = server("as_number", value.node) if is_text else as_double(c, value).node
    if raw == "unixepoch":
        return server("moment_of_unix", found)
    if raw == "julianday":
        return server("moment_of_julian", found)
    julian = every([
        exp.GTE(this=found.copy(), expression=Double(this=exp.Literal.number("0.0"))),
        exp.LT(this=found.copy(), expression=Double(this=exp.Literal.number(str(_LAST_JULIAN)))),
    ])  # fmt: skip
    unix = every([
        exp.GTE(this=found.copy(), expression=Double(this=number(-_UNIX_EPOCH))),
        exp.LTE(this=found.copy(), expression=Double(this=number(_LAST_UNIX))),
    ])  # fmt: skip
    branches: list[tuple[exp.Expr, exp.Expr]] = [
        (julian, server("moment_of_julian", found.copy())),
        (unix, server("moment_of_unix", found.copy())),
    ]
    if is_text:
        branches.append((is_null(found), server("moment", value.node.copy())))
    return case(*branches)


def _moment_for_none(c: Context, moment: exp.Expr, value: Typed, zone: Typed) -> exp.Expr:
    """Return a moment even for a number outside the range, if a modifier changes the time zone."""
    is_text = value.kind is Kind.TEXT
    found = server("as_number", value.node.copy()) if is_text else as_double(c, value).node.copy()
    is_utc = zone.constant is not None and str(zone.constant.value).lower() == "utc"
    made = number(0 if is_utc else _MIDNIGHT_2000)
    return coalesced(moment, case((is_not_null(found), made)))


def _modified(moment: exp.Expr, modifier: Typed) -> exp.Expr:
    found = None if modifier.constant is None else modifier.constant.value
    step = _STEP.fullmatch(found) if isinstance(found, str) else None
    if step is not None:
        milliseconds, limit = _UNITS[step[2].lower()]
        if abs(int(step[1])) < limit:
            plain = grouped(moment) if isinstance(moment, exp.Add) else server("milliseconds_of", moment)
            return exp.Add(this=plain, expression=number(int(step[1]) * milliseconds))
    return server("modified", moment, modifier.node)


def _shown(
    name: str,
    pattern: str,
    form: Form | None,
    installed: Callable[[exp.Expr], exp.Expr],
    c: Context,
    arguments: list[Typed],
) -> Typed:
    """Return a moment in a format of fixed places, which all texts of `form` have."""
    value, modifiers = _prepared(c, arguments)
    if (known := _constant(c, name, value, *modifiers)) is not None:
        return known
    if not modifiers and (found := _printed(c, pattern, value)) is not None:
        return found.with_text(form=form if value.is_dated or _is_now(value) else None)
    return text(installed(_moment(c, value, modifiers)))


date = partial(_shown, "date", "%Y-%m-%d", Form.DAY, partial(server, "day_text"))
time = partial(_shown, "time", "%H:%M:%S", None, partial(server, "time_text"))
datetime = partial(_shown, "datetime", "%Y-%m-%d %H:%M:%S", Form.MOMENT, partial(server, "datetime_text"))


def julianday(c: Context, arguments: list[Typed]) -> Typed:
    """Days since the first moment, a REAL."""
    value, modifiers = _prepared(c, arguments)
    if (known := _constant(c, "julianday", value, *modifiers)) is not None:
        return known
    if value.text.form is Form.DAY and not modifiers:
        c.applies("time-value")
        half = Double(this=exp.Literal.number(str(_JULIAN_2000)))
        return real(
            exp.Add(this=Double(this=DayNumber(this=value.node)), expression=half),
            low=0, high=_LAST_JULIAN, nullable=value.nullable,
        )  # fmt: skip
    return real(server("julian_of", _moment(c, value, modifiers)), low=0, high=_LAST_JULIAN)


def unixepoch(c: Context, arguments: list[Typed]) -> Typed:
    """Seconds since 1970, an INTEGER."""
    value, modifiers = _prepared(c, arguments)
    if (known := _constant(c, "unixepoch", value, *modifiers)) is not None:
        return known
    return integer(server("unix_of", _moment(c, value, modifiers)), -_UNIX_EPOCH, _LAST_UNIX)


_WHOLE_NUMBERS = re.compile(r"(%[YmdHMSjWw]){1,7}|%s")
_BOUNDS: Mapping[str, tuple[int, int]] = {
    "%Y": (-4713, 9999), "%m": (1, 12), "%d": (1, 31), "%H": (0, 24), "%M": (0, 59), "%S": (0, 59),
    "%j": (1, 366), "%W": (0, 53), "%w": (0, 6), "%s": (-_UNIX_EPOCH, _LAST_UNIX),
}  # fmt: skip
"""The range of numbers that a single substitution prints. https://sqlite.org/lang_datefunc.html#strftm"""


def strftime(c: Context, arguments: list[Typed]) -> Typed:
    """Return a moment in the format of the first argument."""
    pattern = as_text(c, arguments[0])
    value, modifiers = _prepared(c, arguments[1:])
    if (known := _constant(c, "strftime", pattern, value, *modifiers)) is not None:
        return known
    c.applies("strftime")
    found = None if pattern.constant is None else pattern.constant.value
    if isinstance(found, str):
        if pieces(found) is None and not _is_valid(c, pattern):
            return null()
        if not modifiers and (printed := _printed(c, found, value)) is not None:
            return _in_digits(printed, found)
        return _in_digits(text(server("format_moment", pattern.node, _moment(c, value, modifiers))), found)
    return text(server("format_moment", pattern.node, _moment(c, value, modifiers)))


def _in_digits(shown: Typed, pattern: str) -> Typed:
    """Return the text with integer bounds if the format prints a whole number."""
    letters = _WHOLE_NUMBERS.fullmatch(pattern)
    if shown.constant is not None or letters is None:
        return shown
    low, high = _BOUNDS.get(pattern, (-(10**17), 10**17))
    return shown.with_number(low=low, high=high).with_text(form=Form.DIGITS)


def _is_valid(c: Context, pattern: Typed) -> bool:
    known = folded(c, "strftime", [pattern, literal("2000-01-01")])
    return known is None or known.kind is not Kind.NULL


def _printed(c: Context, pattern: str, value: Typed) -> Typed | None:
    """Return slices of the text if all parts are at fixed positions; else None."""
    if value.kind is not Kind.TEXT or (parts := pieces(pattern)) is None:
        return None
    if _is_now(value):
        c.applies("now")
        return text(_assembled(parts, UtcNow()), nullable=False)
    timed = any(not isinstance(piece, str) and piece.end > len("YYYY-MM-DD") for piece in parts)
    if value.is_dated:
        c.applies("strftime")
        padded = Joined(expressions=[value.node, string(" 00:00:00")]) if timed else value.node
        return _cut(parts, padded, value)
    if size(value.node) > _LONGEST_TWICE or not any(not isinstance(piece, str) for piece in parts):
        return None
    c.applies("time-value")
    shape = Fits(this=value.node.copy(), expression=string(TIMED if timed else DATED))
    padded = Joined(expressions=[value.node.copy(), string(" 00:00:00")]) if timed else value.node.copy()
    other = server("format_moment", string(pattern), server("moment", value.node.copy()))
    return text(case((shape, _assembled(parts, padded)), default=other))


def _cut(parts: list[Piece | str], source: exp.Expr, value: Typed) -> Typed:
    if any(not isinstance(piece, str) for piece in parts):
        return text(_assembled(parts, source), nullable=value.nullable)
    missing = is_null(value.node)
    return text(case((exp.Not(this=missing), _assembled(parts, source))), nullable=value.nullable)


def _slice(source: exp.Expr, piece: Piece) -> exp.Expr:
    """Return a piece of a text, of the whole text where that is itself its beginning."""
    if isinstance(source, Slice) and source.args["start"] == number(1):
        length = source.args.get("length")
        if length is not None and piece.end <= int(length.name or 0):
            source = source.this
    return Slice(this=source.copy(), start=number(piece.start), length=number(piece.length))


def _assembled(parts: list[Piece | str], source: exp.Expr) -> exp.Expr:
    shown = [string(piece) if isinstance(piece, str) else _slice(source, piece) for piece in parts]
    if not shown:
        return string("")
    return shown[0] if len(shown) == 1 else Joined(expressions=shown)
