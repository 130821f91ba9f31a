"""Compare two results by value: the single definition of "the same result" for every proof.

- Numbers of every type are compared by value. An integer of 64 bits equals only a number of exactly its
  value, so that an engine that rounds it to a double is seen. Other numbers are equal within a relative
  tolerance. It is relative to the numbers themselves: only 0 equals 0, since no absolute bound would suit
  both a share and a sum of money. A sum that cancels out to 0 in one order of addition and to 1e-17 in
  another counts as different. A decimal with decimal places is no integer, even if they are zeros.
- Texts, bytes and NULL must be exactly equal. Text is never equal to a number.
- A date or time that a driver returns as such is compared as ISO text; see `canonical`.
"""

import math
import re
from bisect import bisect_left
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple

from harness.metrics.distinct import Row, named

# Numbers match within a tolerance. Rounding could separate two numbers that are nearly equal, so the numbers
# of a column are sorted and split where two neighbours are further apart than the tolerance. The numbers of
# one cluster are nearly always equal; if a cluster is wider than the tolerance, rows are matched in pairs.


class Tolerance(NamedTuple):
    """How far apart two numbers may be if neither is an integer."""

    relative: float
    """As a share of the larger of the two."""
    absolute: float = 0.0
    """In the numbers' own unit."""
    beside_integers: bool = False
    """Whether an integer may be that far from a number that is none. Two integers must always be equal."""


TOLERANCE = Tolerance(1e-9)

_MOST_PAIRED = 1_000
"""Up to this many rows of one wide cluster are compared pairwise. More are compared only in sorted order:
that can report equal results as different, but never the reverse."""


@dataclass(frozen=True)
class Matching:
    """Positions of the rows without a partner, and whether each row occurs in the other result at all."""

    left: tuple[int, ...]
    right: tuple[int, ...]
    same_set: bool


def close(one: object, other: object, tolerance: Tolerance) -> bool:
    """Return True if two canonical values are equal."""
    if isinstance(one, float) or isinstance(other, float):
        numbers = isinstance(one, float | int) and isinstance(other, float | int)
        return numbers and _near(one, other, tolerance)  # type: ignore[arg-type]
    return type(one) is type(other) and one == other


def _near(one: float, other: float, tolerance: Tolerance) -> bool:
    if not tolerance.beside_integers and (_is_integer(one) or _is_integer(other)):
        return one == other
    return math.isclose(one, other, rel_tol=tolerance.relative, abs_tol=tolerance.absolute)


def _is_integer(value: float) -> bool:
    """Return True for an integer of 64 bits: SQLite has no larger ones, and returns a REAL instead."""
    return isinstance(value, int) and -(2**63) <= value < 2**63


def close_rows(one: Row, other: Row, tolerance: Tolerance) -> bool:
    """Return True if two rows of canonical values are equal."""
    return all(close(mine, theirs, tolerance) for mine, theirs in zip(one, other, strict=True))


def match(left: Sequence[Row], right: Sequence[Row], tolerance: Tolerance) -> Matching:
    """Match as many rows as possible. All rows have the same number of canonical values."""
    keys, wide = _keys([*left, *right], tolerance)
    groups: dict[Hashable, _Group] = {}
    for position, (key, name) in enumerate(zip(keys, named(keys)[0], strict=True)):
        group = groups.get(name) or groups.setdefault(name, _Group(key, [], []))
        if position < len(left):
            group.left.append(position)
        else:
            group.right.append(position - len(left))
    only_left: list[int] = []
    only_right: list[int] = []
    same_set = True
    for key, mine, theirs in groups.values():
        if any(key[column] in names for column, names in wide.items()):
            free, unasked = _paired([left[i] for i in mine], [right[i] for i in theirs], tolerance)
            only_left += [mine[i] for i in free]
            only_right += [theirs[i] for i in unasked]
            same_set &= _within(
                [left[mine[i]] for i in free], [right[i] for i in theirs], tolerance
            ) and _within([right[theirs[i]] for i in unasked], [left[i] for i in mine], tolerance)
        else:
            matched = min(len(mine), len(theirs))
            only_left += mine[matched:]
            only_right += theirs[matched:]
            same_set &= matched > 0
    return Matching(tuple(sorted(only_left)), tuple(sorted(only_right)), same_set)


class _Group(NamedTuple):
    """The positions of the rows with one key."""

    key: Row
    left: list[int]
    right: list[int]


def _keys(rows: Sequence[Row], tolerance: Tolerance) -> tuple[Sequence[Row], dict[int, frozenset[Hashable]]]:
    """Replace numbers in rows by their clusters; also return the wide clusters by column.

    A column of integers only has no clusters.
    """
    columns: list[Sequence[object]] = list(zip(*rows, strict=True))
    wide: dict[int, frozenset[Hashable]] = {}
    for place, values in enumerate(columns):
        if any(isinstance(value, float) for value in values):
            columns[place], wide[place] = _clusters(values, tolerance)
    return (list(zip(*columns, strict=True)), wide) if wide else (rows, wide)


def _clusters(values: Sequence[object], tolerance: Tolerance) -> tuple[Sequence[object], frozenset[Hashable]]:
    """Replace numbers by the names of their clusters; also return the names of the wide ones."""
    names = named(values)[0]
    numbers: dict[Hashable, float] = {}
    integers: set[Hashable] = set()
    for name, value in zip(names, values, strict=True):
        if isinstance(value, int | float):
            numbers.setdefault(name, value)
        if isinstance(value, int):
            integers.add(name)
    of: dict[Hashable, tuple[int]] = {}
    wide: set[Hashable] = set()
    # Here integers count as near, too: a cluster of an integer and another number is wide.
    rough = tolerance._replace(beside_integers=True)
    cluster, first, last, whole = (0,), None, None, False
    for name, number in sorted(numbers.items(), key=itemgetter(1)):
        if last is None or not _near(last, number, rough):
            cluster, first, whole = (cluster[0] + 1,), number, False
        whole = whole or name in integers
        if first is not None and number != first and (whole or not _near(first, number, rough)):
            wide.add(cluster)
        of[name] = cluster
        last = number
    clustered = [of.get(name, value) for name, value in zip(names, values, strict=True)]
    return clustered, frozenset(wide)


def _paired(left: Sequence[Row], right: Sequence[Row], tolerance: Tolerance) -> tuple[list[int], list[int]]:
    """Return the positions without a partner in a largest matching; rows differ only in close numbers."""
    partner = _merged(left, right, tolerance)
    if len(partner) < min(len(left), len(right)) and max(len(left), len(right)) <= _MOST_PAIRED:
        for mine in sorted(set(range(len(left))) - set(partner.values())):
            _augment(mine, left, right, partner, tolerance)
    free = sorted(set(range(len(left))) - set(partner.values()))
    return free, sorted(set(range(len(right))) - set(partner))


def _merged(left: Sequence[Row], right: Sequence[Row], tolerance: Tolerance) -> dict[int, int]:
    """Pair rows (right to left) that are adjacent when both sides are sorted: nearly always all of them."""
    ours = sorted(range(len(left)), key=lambda position: _numbers(left[position]))
    theirs = sorted(range(len(right)), key=lambda position: _numbers(right[position]))
    partner: dict[int, int] = {}
    i = j = 0
    while i < len(ours) and j < len(theirs):
        one, other = left[ours[i]], right[theirs[j]]
        if close_rows(one, other, tolerance):
            partner[theirs[j]] = ours[i]
            i, j = i + 1, j + 1
        elif _numbers(one) < _numbers(other):
            i += 1
        else:
            j += 1
    return partner


def _augment(
    start: int, left: Sequence[Row], right: Sequence[Row], partner: dict[int, int], tolerance: Tolerance
) -> None:
    """Find a partner for one more row of `left`, along an augmenting path."""
    came_from: dict[int, int] = {}
    waiting = [start]
    while waiting:
        mine = waiting.pop()
        for theirs, row in enumerate(right):
            if theirs in came_from or not close_rows(left[mine], row, tolerance):
                continue
            came_from[theirs] = mine
            if theirs in partner:
                waiting.append(partner[theirs])
                continue
            previous = {there: here for here, there in partner.items()}
            step: int | None = theirs
            while step is not None:
                giver = came_from[step]
                partner[step], step = giver, previous.get(giver)
            return


def _numbers(row: Row) -> tuple[float, ...]:
    return tuple(value for value in row if isinstance(value, int | float))


def _within(rows: Sequence[Row], others: Sequence[Row], tolerance: Tolerance) -> bool:
    if max(len(rows), len(others)) > _MOST_PAIRED:
        return not rows
    return all(any(close_rows(row, other, tolerance) for other in others) for row in rows)


# Convert driver values to values that mean the same on every engine: NULL, int, float, text and bytes.
#
# SQLite has no type for dates. If a driver returns dates in a column, they become ISO text without zero
# parts: a day for midnight, no fraction for a whole second. Text in that column of the other result is
# brought to the same form if it is a day or a moment; all other text stays exactly as it is.

_PLAIN = frozenset({int, float, str, bytes, type(None)})

_LARGEST = 10**300
"""A larger exact number stays text: as a float it could be infinity."""

_DAY_FIRST = re.compile(r"(\d{4})[-/](\d\d)[-/](\d\d)(?:[ T](\d\d:\d\d:\d\d)(\.\d+)?)?")
_DAY_LAST = re.compile(r"(\d\d)/(\d\d)/(\d{4})")
"""Month first, as `loaders.portable` reads it."""

_MIDNIGHT = "00:00:00"


def canonical(left: Sequence[Row], right: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """Convert the rows of two results to comparable values; both have the same number of columns."""
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
    if value != value.to_integral_value():
        return float(value)
    return float(value) if int(value.as_tuple().exponent) < 0 and float(value) == value else int(value)


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
"""The form of each type; the first that fits applies, since a datetime is a date and a bool an int."""


# Make values that are the same by value equal in Python, so that metrics defined over equal values, as EX and
# Soft-F1 are, can compare the rows of two engines.


_DIGITS = 4
"""MySQL's div_precision_increment: how many digits it adds to the scale of a quotient."""
BESIDE_INTEGERS = TOLERANCE._replace(beside_integers=True)
"""A predicted sum of reals may stand for gold's integer: engines differ in where they return one."""
_ROUNDING = 1 + 1e-9
"""Slack for a half, which may be inexact in binary."""


def alike(left: Sequence[Row], right: Sequence[Row]) -> tuple[Sequence[Row], Sequence[Row]]:
    """Return the rows of two results in canonical values, with one number for all that are nearly equal.

    A number is replaced by the nearest of the right result if that is close, unless both are integers. An
    exact decimal of four decimals or more is close to a number that rounds to it: MySQL returns no more
    digits of an average. Rows of different numbers of columns are left unchanged.

    Args:
        left: rows as the driver of a server returned them.
        right: the same from SQLite.
    """
    if len({len(row) for row in chain(left, right)}) > 1:
        return left, right
    ours, theirs = canonical(left, right)
    if not any(isinstance(value, float) for row in chain(ours, theirs) for value in row):
        return ours, theirs
    known = _Numbers(theirs, BESIDE_INTEGERS)
    return (
        [
            tuple(known.nearest(value, _half_digit(raw)) for value, raw in zip(row, as_was, strict=True))
            for row, as_was in zip(ours, left, strict=True)
        ],
        [tuple(known.nearest(value) for value in row) for row in theirs],
    )


def _half_digit(value: object) -> float:
    """Return half the last digit of an exact decimal with four decimals or more; 0 for anything else."""
    if not isinstance(value, Decimal) or not value.is_finite():
        return 0.0
    exponent = value.as_tuple().exponent
    return 0.5 * 10.0**exponent if isinstance(exponent, int) and exponent <= -_DIGITS else 0.0


class _Numbers:
    """The numbers of a result, with one to represent those that are close to each other.

    Args:
        rows: in canonical values.
        tolerance: for numbers.
    """

    def __init__(self, rows: Sequence[Row], tolerance: Tolerance) -> None:
        self._tolerance = tolerance
        self._kept: list[float] = []
        # Sorted rather than put into a set: hashes of numbers can be made to collide.
        for number in sorted(value for row in rows for value in row if isinstance(value, int | float)):
            last = self._kept[-1] if self._kept else None
            is_near = isinstance(number, float) and last is not None and close(last, number, tolerance)
            if number != last and not is_near:
                self._kept.append(number)

    def nearest(self, value: object, within: float = 0.0) -> object:
        """Return the number that represents a value, or the value itself if none does.

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


@dataclass(frozen=True)
class Comparison:
    """How two results differ; `only_left` and `only_right` are the rows without a partner, in their order."""

    same_set: bool
    """Each row of either result occurs in the other."""
    same_bag: bool
    """Each row occurs as often in both."""
    same_order: bool
    """Both have the same rows at the same positions."""
    only_left: tuple[Row, ...] = ()
    only_right: tuple[Row, ...] = ()


def compare(left: Sequence[Row], right: Sequence[Row], *, tolerance: Tolerance = TOLERANCE) -> Comparison:
    """Compare two results.

    Args:
        left: rows as the driver returned them.
        right: the same from the other engine.
        tolerance: for numbers.
    """
    if len({len(row) for rows in (left, right) for row in rows}) > 1:
        return Comparison(
            same_set=False, same_bag=False, same_order=False, only_left=tuple(left), only_right=tuple(right)
        )
    ours, theirs = canonical(left, right)
    in_order = len(ours) == len(theirs) and all(
        one is other or one == other or close_rows(one, other, tolerance)
        for one, other in zip(ours, theirs, strict=True)
    )
    if in_order:
        return Comparison(same_set=True, same_bag=True, same_order=True)
    matched = match(ours, theirs, tolerance)
    return Comparison(
        same_set=matched.same_set,
        same_bag=not (matched.left or matched.right),
        same_order=False,
        only_left=tuple(left[position] for position in matched.left),
        only_right=tuple(right[position] for position in matched.right),
    )


@dataclass(frozen=True)
class Ranking:
    """The rows of a query in groups of equal sort keys, and the cut: from row `start` to before row `end`.

    Any order within a group is valid, and any choice from a group that the cut splits. A query without an
    ORDER BY has one group. `groups` may end with the group in which the cut ends.
    """

    groups: tuple[tuple[Row, ...], ...]
    start: int
    end: int

    def allows(self, rows: Sequence[Row]) -> bool:
        """Return True if the rows, in this order, are a valid answer: by value, with their multiplicity."""
        total = sum(map(len, self.groups))
        start, end = min(self.start, total), min(self.end, total)
        if len(rows) != end - start:
            return False
        first = 0
        for group in self.groups:
            low, high = max(first, start), min(first + len(group), end)
            first += len(group)
            if low < high and compare(group, rows[low - start : high - start]).only_right:
                return False
        return True

    @property
    def chosen_from(self) -> tuple[Row, ...]:
        """Return the rows of the groups that the cut splits: some are in the answer, and some are not."""
        found: list[Row] = []
        first = 0
        for group in self.groups:
            kept = min(first + len(group), self.end) - max(first, self.start)
            first += len(group)
            if 0 < kept < len(group):
                found += group
        return tuple(found)
