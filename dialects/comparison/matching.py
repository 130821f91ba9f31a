"""Matches the rows of two results one to one, where numbers may differ by a tolerance.

Rounding would put two numbers that are as good as equal on two sides of an edge. Instead the numbers of a
column are sorted and cut where two neighbours are further apart than the tolerance. What lies within one
cluster is equal in nearly every case; where a cluster is wider than the tolerance, rows are matched in pairs.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from math import isclose
from typing import NamedTuple

Row = tuple[object, ...]


class Tolerance(NamedTuple):
    """By how much two numbers may differ, of which one is no integer."""

    relative: float
    """Of the larger of the two."""
    absolute: float = 0.0
    """In the numbers' own unit."""


TOLERANCE = Tolerance(1e-9)

_MOST_PAIRED = 1_000
"""Rows of one wide cluster that are compared each with each. More are compared in their sorted order alone:
that can say that results differ where they do not, and never the reverse."""


@dataclass(frozen=True)
class Matched:
    """The positions of the rows without a partner, and whether each row is at all in the other result."""

    left: tuple[int, ...]
    right: tuple[int, ...]
    same_set: bool


def close(one: object, other: object, tolerance: Tolerance) -> bool:
    """Whether two canonical values are equal."""
    if isinstance(one, float) or isinstance(other, float):
        numbers = isinstance(one, float | int) and isinstance(other, float | int)
        return numbers and _near(one, other, tolerance)  # type: ignore[arg-type]
    return type(one) is type(other) and one == other


def _near(one: float, other: float, tolerance: Tolerance) -> bool:
    return isclose(one, other, rel_tol=tolerance.relative, abs_tol=tolerance.absolute)


def close_rows(one: Row, other: Row, tolerance: Tolerance) -> bool:
    """Whether two rows of canonical values are equal."""
    return all(close(mine, theirs, tolerance) for mine, theirs in zip(one, other, strict=True))


def match(left: Sequence[Row], right: Sequence[Row], tolerance: Tolerance) -> Matched:
    """Match as many rows as possible. All rows have the same number of canonical values."""
    clusters = _clusters(left, right, tolerance)
    groups: dict[Row, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for side, rows in enumerate((left, right)):
        for position, row in enumerate(rows):
            groups[_key(row, clusters)][side].append(position)
    only_left: list[int] = []
    only_right: list[int] = []
    same_set = True
    for key, (mine, theirs) in groups.items():
        if any(clusters[column].is_wide(value) for column, value in enumerate(key) if column in clusters):
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
    return Matched(tuple(sorted(only_left)), tuple(sorted(only_right)), same_set)


@dataclass(frozen=True)
class _Clusters:
    """The clusters of one column's numbers: which number is in which, and those that are wide."""

    of: dict[float, tuple[int]]
    wide: frozenset[tuple[int]]

    def is_wide(self, value: Hashable) -> bool:
        return value in self.wide


def _clusters(left: Sequence[Row], right: Sequence[Row], tolerance: Tolerance) -> dict[int, _Clusters]:
    """Clusters of the columns that have a number that is no integer."""
    width = len(next(chain(left, right), ()))
    found = {}
    for column in range(width):
        values = {row[column] for row in chain(left, right)}
        if any(isinstance(value, float) for value in values):
            found[column] = _cut({v for v in values if isinstance(v, int | float)}, tolerance)
    return found


def _cut(numbers: Iterable[float], tolerance: Tolerance) -> _Clusters:
    of: dict[float, tuple[int]] = {}
    wide: set[tuple[int]] = set()
    name, first, last, integers = (0,), None, None, 0
    for number in sorted(numbers):
        if last is None or not _near(last, number, tolerance):
            name, first, integers = (name[0] + 1,), number, 0
        integers += isinstance(number, int)
        if integers > 1 or (first is not None and not _near(first, number, tolerance)):
            wide.add(name)
        of[number] = name
        last = number
    return _Clusters(of, frozenset(wide))


def _key(row: Row, clusters: dict[int, _Clusters]) -> Row:
    if not clusters:
        return row
    return tuple(
        clusters[column].of[value] if column in clusters and isinstance(value, int | float) else value
        for column, value in enumerate(row)
    )


def _paired(left: Sequence[Row], right: Sequence[Row], tolerance: Tolerance) -> tuple[list[int], list[int]]:
    """The positions without a partner in a largest matching; the rows differ in nothing but close numbers."""
    partner = _merged(left, right, tolerance)
    if len(partner) < min(len(left), len(right)) and max(len(left), len(right)) <= _MOST_PAIRED:
        for mine in sorted(set(range(len(left))) - set(partner.values())):
            _augment(mine, left, right, partner, tolerance)
    free = sorted(set(range(len(left))) - set(partner.values()))
    return free, sorted(set(range(len(right))) - set(partner))


def _merged(left: Sequence[Row], right: Sequence[Row], tolerance: Tolerance) -> dict[int, int]:
    """Partners (right to left) that stand side by side when both are sorted: all, in nearly every case."""
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
    """Find a partner for one more row of `left`, along a path that gives others a new one."""
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
