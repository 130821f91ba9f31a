"""What drivers return, as values that mean the same on every engine: NULL, int, float, text and bytes.

SQLite has no type for dates. Where a driver returns dates in a column, they become ISO text without what is
zero: a day for midnight, no fraction for a whole second. The text that the other result has in that column is
brought to the same form if it is a day or a moment; everywhere else text stays exactly as it is.
"""

import math
import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from itertools import chain
from typing import Any

from harness.metrics.comparison.matching import TOLERANCE, Tolerance, close

Row = tuple[object, ...]

_PLAIN = frozenset({int, float, str, bytes, type(None)})

_LARGEST = 10**300
"""An exact number beyond stays text: as a float it could not be told from infinity."""

_DAY_FIRST = re.compile(r"(\d{4})[-/](\d\d)[-/](\d\d)(?:[ T](\d\d:\d\d:\d\d)(\.\d+)?)?")
_DAY_LAST = re.compile(r"(\d\d)/(\d\d)/(\d{4})")
"""Month first, as `loaders.portable` reads it."""

_MIDNIGHT = "00:00:00"


def canonical(left: Sequence[Row], right: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """The rows of two results with values that can be compared; both have the same number of columns."""
    width = max((len(row) for row in (*left[:1], *right[:1])), default=0)
    kinds = [_kinds(left, column) | _kinds(right, column) for column in range(width)]
    dated = frozenset(
        column for column in range(width) if any(issubclass(kind, date) for kind in kinds[column])
    )
    changing = [column for column in range(width) if not kinds[column] <= _PLAIN or float in kinds[column]]
    return _rewritten(left, changing, dated), _rewritten(right, changing, dated)


def _kinds(rows: Sequence[Row], column: int) -> set[type]:
    return {type(row[column]) for row in rows}


def _rewritten(rows: Sequence[Row], changing: Sequence[int], dated: frozenset[int]) -> list[Row]:
    if not changing:
        return list(rows)
    fresh: list[Row] = []
    for row in rows:
        values = list(row)
        for column in changing:
            values[column] = _value(values[column], is_date=column in dated)
        fresh.append(tuple(values))
    return fresh


def _value(value: object, *, is_date: bool) -> object:
    if isinstance(value, str):
        return _date_text(value) if is_date else value
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else value
    form = next((form for kind, form in _FORMS if isinstance(value, kind)), repr)
    return form(value)


def _exact(value: Decimal) -> object:
    if not value.is_finite():
        return "NaN" if value.is_nan() else float(value)
    if abs(value) > _LARGEST:
        return str(value)
    return int(value) if value == value.to_integral_value() else float(value)


def _date_text(text: str) -> str:
    if found := _DAY_LAST.fullmatch(text):
        month, day, year = found.groups()
        return f"{year}-{month}-{day}"
    found = _DAY_FIRST.fullmatch(text)
    if not found:
        return text
    year, month, day, clock, fraction = found.groups()
    fraction = (fraction or "").rstrip("0").rstrip(".")
    if clock is None or (clock == _MIDNIGHT and not fraction):
        return f"{year}-{month}-{day}"
    return f"{year}-{month}-{day} {clock}{fraction}"


def _moment_text(moment: datetime) -> str:
    plain = moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)
    return _date_text(plain.isoformat(sep=" "))


_FORMS: Sequence[tuple[type, Callable[[Any], object]]] = (
    (type(None), lambda value: value),
    (int, int),
    (Decimal, _exact),
    (datetime, _moment_text),
    (date, date.isoformat),
    (time, time.isoformat),
    (timedelta, str),
    (bytes, bytes),
    (bytearray, bytes),
    (memoryview, bytes),
)
"""The form of each type; the first that fits holds, since a datetime is a date and a bool an int."""


# Two results whose values are equal in Python where they are the same by value.
#
# What is defined over equal values, as EX and Soft-F1 are, can so be computed over the rows of two engines.


_DIGITS = 4
"""So many MySQL adds to the scale of a quotient: div_precision_increment."""
_ROUNDING = 1 + 1e-9
"""A half is no exact number in binary."""


def alike(
    left: Sequence[Row], right: Sequence[Row], *, tolerance: Tolerance = TOLERANCE
) -> tuple[Sequence[Row], Sequence[Row]]:
    """The rows of two results in canonical values, with one number for all that are as good as equal.

    A number gives way to the nearest of the right result if that is close, unless both are integers. An exact
    decimal of four digits or more behind its point is close to what is the same when rounded to its digits:
    MySQL gives an average no more of them. Rows of different numbers of columns are as they were.

    Args:
        left: rows as the driver returned them; of a server.
        right: the same of SQLite.
        tolerance: for numbers.
    """
    if len({len(row) for row in chain(left, right)}) > 1:
        return left, right
    ours, theirs = canonical(left, right)
    if not any(isinstance(value, float) for row in chain(ours, theirs) for value in row):
        return ours, theirs
    known = _Numbers(theirs, tolerance)
    return (
        [
            tuple(known.nearest(value, _half_digit(raw)) for value, raw in zip(row, as_was, strict=True))
            for row, as_was in zip(ours, left, strict=True)
        ],
        [tuple(known.nearest(value) for value in row) for row in theirs],
    )


def _half_digit(value: object) -> float:
    """Half of the last digit of an exact decimal with four or more behind its point; 0 of anything else."""
    if not isinstance(value, Decimal) or not value.is_finite():
        return 0.0
    exponent = value.as_tuple().exponent
    return 0.5 * 10.0**exponent if isinstance(exponent, int) and exponent <= -_DIGITS else 0.0


class _Numbers:
    """The numbers of a result, one of those that are close to each other.

    Args:
        rows: in canonical values.
        tolerance: for numbers.
    """

    def __init__(self, rows: Sequence[Row], tolerance: Tolerance) -> None:
        self._tolerance = tolerance
        self._kept: list[float] = []
        # Sorted and not put into a set: hashes of numbers can be made to collide.
        for number in sorted(value for row in rows for value in row if isinstance(value, int | float)):
            last = self._kept[-1] if self._kept else None
            is_near = isinstance(number, float) and last is not None and close(last, number, tolerance)
            if number != last and not is_near:
                self._kept.append(number)

    def nearest(self, value: object, within: float = 0.0) -> object:
        """The number that stands for a value, or the value itself where none does.

        Args:
            value: canonical.
            within: how far it may be off beyond the tolerance.
        """
        if not isinstance(value, int | float):
            return value
        at = bisect_left(self._kept, value)
        near = [
            each
            for each in self._kept[max(at - 1, 0) : at + 1]
            if each == value
            or close(each, value, self._tolerance)
            or (within and abs(each - value) <= within * _ROUNDING)
        ]
        return min(near, key=lambda each: abs(each - value), default=value)
