"""Matches the rows of two results one to one, where numbers may differ by a tolerance.

Rounding would put two numbers that are as good as equal on two sides of an edge. Instead the numbers of a
column are sorted and cut where two neighbours are further apart than the tolerance. What lies within one
cluster is equal in nearly every case; where a cluster is wider than the tolerance, rows are matched in pairs.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import isclose
from operator import itemgetter
from typing import NamedTuple

from harness.metrics.comparison.distinct import named

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
    return Matched(tuple(sorted(only_left)), tuple(sorted(only_right)), same_set)


class _Group(NamedTuple):
    """The positions of the rows with one key."""

    key: Row
    left: list[int]
    right: list[int]


def _keys(rows: Sequence[Row], tolerance: Tolerance) -> tuple[Sequence[Row], dict[int, frozenset[Hashable]]]:
    """The rows with their clusters for numbers, and which clusters are wide, by column.

    A column without a number that is no integer has no clusters.
    """
    columns: list[Sequence[object]] = list(zip(*rows, strict=True))
    wide: dict[int, frozenset[Hashable]] = {}
    for place, values in enumerate(columns):
        if any(isinstance(value, float) for value in values):
            columns[place], wide[place] = _clusters(values, tolerance)
    return (list(zip(*columns, strict=True)), wide) if wide else (rows, wide)


def _clusters(values: Sequence[object], tolerance: Tolerance) -> tuple[Sequence[object], frozenset[Hashable]]:
    """Values with the names of their clusters for numbers, and the names of the wide ones."""
    names = named(values)[0]
    numbers: dict[Hashable, float] = {}
    for name, value in zip(names, values, strict=True):
        if isinstance(value, int | float):
            numbers.setdefault(name, value)
    of: dict[Hashable, tuple[int]] = {}
    wide: set[Hashable] = set()
    cluster, first, last, integers = (0,), None, None, 0
    for name, number in sorted(numbers.items(), key=itemgetter(1)):
        if last is None or not _near(last, number, tolerance):
            cluster, first, integers = (cluster[0] + 1,), number, 0
        integers += isinstance(number, int)
        if integers > 1 or (first is not None and not _near(first, number, tolerance)):
            wide.add(cluster)
        of[name] = cluster
        last = number
    clustered = [of.get(name, value) for name, value in zip(names, values, strict=True)]
    return clustered, frozenset(wide)


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
