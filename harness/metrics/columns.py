"""Find, among the columns of one result, some that have the rows of another.

Promises: the answer is exact, never an approximation, and time is bounded: a search that needs more steps
raises `TooManyRows`. No table of flags as queries return them needs so many.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations, islice, product
from math import comb, prod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from harness.metrics.distinct import TooManyRows

# Three searches, each for the tables that it suits.
#
# **Both have as many columns** (`_Tables.are_same`). Columns and rows get colours, and colours are refined as
# in a test of graphs for isomorphism (Weisfeiler and Leman 1968; with the individualisation of McKay 1981,
# "Practical graph isomorphism"): a row's next colour is made of the colours and values of its columns, a
# column's of the colours and values of its rows. A colour depends on nothing but what survives an order of
# rows and columns, so columns can be the same only if their colours are. Colours are hashes that are added
# up; two that collide by chance make the search longer and never wrong, since rows are compared at its end.
#
# **The prediction has more** (`_Choice._by_column`). Gold's columns are decided one by one. Rows that agree
# in gold's columns become one, so the times that a value is there need not be the same. But both must have
# the same values beside those of the columns decided before, each at least as often as gold's distinct rows.
#
# **That takes too long** (`_Choice._by_subset`). Columns of few values in many rows have all combinations of
# few of them, and tell nothing until many are decided. There are far fewer sets of columns than orders: each
# set with as many distinct rows as gold, and rows of the same values, is compared as in the first search.

Numbers = npt.NDArray[np.int64]
"""Equal numbers for equal values; in a table rows are down and columns across."""
Colours = npt.NDArray[np.uint64]

MOST_STEPS = 2_000_000_000
"""Limit of values examined to find the columns: ten seconds or so."""
_CALL = 1_000
"""Steps that the call of a function on an array takes, however short that is."""
_SORT = 8
"""Steps that it takes to sort one value."""
_SHARE = 5
"""Decide columns one by one for this part of the steps, before sets of them are tried."""
_BATCH = 1_000_000
"""Values of one batch of sets of columns."""
_LARGEST = 2**62


def has_columns(
    left: Sequence[tuple[int, ...]], right: Sequence[tuple[int, ...]], *, as_bags: bool = False
) -> bool:
    """Return True if some columns of `left`, in some order, have the rows of `right`.

    Args:
        left: rows of one width, with numbers in place of values.
        right: the same; neither is empty.
        as_bags: rows count as often as they are there, and both have as many columns.

    Raises:
        TooManyRows: the search takes too long.
    """
    ours, theirs = _Side.of(left), _Side.of(right)
    steps = _Steps(MOST_STEPS)
    if len(left[0]) == len(right[0]):
        if as_bags and len(left) != len(right):
            return False
        return _Tables(ours, theirs, steps).are_same()
    return not as_bags and _is_among(ours, theirs, steps)


class _Steps:
    """Counts steps of a search, up to a limit."""

    def __init__(self, most: int) -> None:
        self.left = most

    def take(self, values: int, calls: int = 1) -> None:
        """Count `calls` of functions on arrays of so many values each.

        Raises:
            TooManyRows: the limit is reached.
        """
        self.left -= calls * (values + _CALL)
        if self.left < 0:
            raise TooManyRows(f"finding the order of columns takes more than {MOST_STEPS:,} steps")


class _Side(NamedTuple):
    """A result without its repeated rows and columns, and how often each is there."""

    table: Numbers
    of_rows: Numbers
    of_columns: Numbers

    @classmethod
    def of(cls, rows: Sequence[tuple[int, ...]]) -> "_Side":
        times: dict[tuple[int, ...], int] = {}
        for row in rows:
            times[row] = times.get(row, 0) + 1
        table = np.array(list(times), np.int64).reshape(len(times), len(rows[0]))
        found: dict[bytes, list[int]] = {}
        for place in range(table.shape[1]):
            found.setdefault(table[:, place].tobytes(), []).append(place)
        kept = [places[0] for places in found.values()]
        counts = np.array([len(places) for places in found.values()], np.int64)
        return cls(table[:, kept], np.array(list(times.values()), np.int64), counts)

    def only(self, columns: Sequence[int]) -> "_Side":
        """Return the side with some of its columns, each distinct row once."""
        table = self.table[:, columns]
        first = np.unique(_numbers(table.T), return_index=True)[1]
        return _Side(table[first], np.ones(len(first), np.int64), self.of_columns[columns])


def _numbers(columns: Iterable[Numbers]) -> Numbers:
    """Number the rows of columns, of any shape: two have the same number if and only if they are equal."""
    numbers: Numbers = np.zeros(1, np.int64)
    size = 1
    for column in columns:
        span = int(column.max()) + 1
        if size * span > _LARGEST:
            numbers = np.unique(numbers, return_inverse=True)[1].reshape(numbers.shape)
            size = int(numbers.max()) + 1
        numbers = numbers * span + column
        size *= span
    return numbers


def _mixed(values: Colours) -> Colours:
    """Return a hash of each number: the finaliser of SplitMix64 (Steele, Lea and Flood 2014)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def _hashes(values: Numbers) -> Colours:
    return _mixed(values.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15))


class _Tables:
    """Two results with the same number of columns."""

    def __init__(self, left: _Side, right: _Side, steps: _Steps, *, subset: bool = False) -> None:
        """`subset`: a column of `left` may be there more often than that of `right`."""
        self._sides = left, right
        self._steps = steps
        self._is_subset = subset
        self._values = [np.ascontiguousarray(_hashes(side.table).T) for side in self._sides]
        self._rows = [_hashes(side.of_rows) for side in self._sides]

    def are_same(self) -> bool:
        """Return True if some order of the columns of one gives the rows of the other.

        Raises:
            TooManyRows: the search takes too long.
        """
        left, right = self._sides
        if left.table.shape != right.table.shape:
            return False
        kinds = [side.of_columns * (not self._is_subset) for side in self._sides]
        return self.match([_hashes(kind) for kind in kinds])

    def match(self, colours: Sequence[Colours]) -> bool:
        """Return True if some order of columns that keeps their colours gives the same rows.

        Raises:
            TooManyRows: the search takes too long.
        """
        refined = self._refined(colours)
        if refined is None:
            return False
        ours, theirs = refined
        classes, counts = np.unique(theirs, return_counts=True)
        if counts.max(initial=1) == 1:
            return self._agree(np.argsort(ours), np.argsort(theirs))
        # Any column of the smallest class will do on the right: it must be one of those on the left.
        colour = classes[counts == counts[counts > 1].min()][0]
        marked = _marked(theirs, np.flatnonzero(theirs == colour)[0])
        failed: list[Colours] = []
        for place in np.flatnonzero(ours == colour):
            tried = _marked(ours, place)
            # What a symmetry of the left makes of a column that failed fails as well.
            if any(self._symmetries.match((one, tried)) for one in failed):
                continue
            if self.match((tried, marked)):
                return True
            failed.append(tried)
        return False

    @cached_property
    def _symmetries(self) -> "_Tables":
        """The left with itself."""
        left = self._sides[0]
        found = _Tables(left, left, self._steps)
        found.__dict__["_symmetries"] = found
        return found

    def _refined(self, colours: Sequence[Colours]) -> Sequence[Colours] | None:
        """Refine the colours of columns until no class divides; None if the two results differ."""
        classes = 0
        while True:
            ours, theirs = map(np.sort, colours)
            if not np.array_equal(ours, theirs):
                return None
            found = len(np.unique(ours))
            if found in (classes, len(ours)):
                return colours
            classes = found
            colours = [self._next(side, each) for side, each in enumerate(colours)]

    def _next(self, side: int, colours: Colours) -> Colours:
        values, rows = self._values[side], self._rows[side].copy()
        self._steps.take(4 * values.size, 20)
        # A block at a time, for memory's sake.
        step = max(1, _BATCH // len(rows))
        blocks = [slice(start, start + step) for start in range(0, len(colours), step)]
        for block in blocks:
            rows += _mixed(values[block] + colours[block, None]).sum(axis=0, dtype=np.uint64)
        rows = _mixed(rows)
        sums = [_mixed(values[block] + rows).sum(axis=1, dtype=np.uint64) for block in blocks]
        return _mixed(np.concatenate(sums) + colours)

    def _agree(self, ours: npt.NDArray[np.intp], theirs: npt.NDArray[np.intp]) -> bool:
        """True if the two have the same rows, as often, with their columns in these orders."""
        left, right = self._sides
        if not (left.of_columns[ours] >= right.of_columns[theirs]).all():
            return False
        height = len(left.table)
        self._steps.take(2 * height * (len(ours) + _SORT))
        both = np.concatenate((left.table[:, ours], right.table[:, theirs])).T
        numbers = _numbers([np.concatenate((left.of_rows, right.of_rows)), *both])
        return np.array_equal(np.sort(numbers[:height]), np.sort(numbers[height:]))


def _marked(colours: Colours, place: np.intp) -> Colours:
    """Return the colours with one of them changed, such that it is in a class of its own."""
    marked = colours.copy()
    marked[place : place + 1] = _mixed(colours[place : place + 1] + np.uint64(1))
    return marked


def _is_among(left: _Side, right: _Side, steps: _Steps) -> bool:
    """Return True if some columns of `left`, which has more, have the distinct rows of `right`."""
    while True:
        choice = _Choice(left, right, steps)
        used = choice.used()
        if used is None:
            return False
        if len(used) == right.table.shape[1]:
            return _Tables(left.only(used), right, steps, subset=True).are_same()
        if len(used) == left.table.shape[1]:
            return choice.is_possible()
        left = left.only(used)  # fewer distinct rows, which can rule out more


class _Column(NamedTuple):
    """The different values of a column, in order, and which of them each row has."""

    values: Numbers
    rows: Numbers

    @classmethod
    def all_of(cls, side: _Side) -> list["_Column"]:
        return [cls(*np.unique(column, return_inverse=True)) for column in side.table.T]

    def within(self, groups: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """Number the rows by group and value: which of these there are, how often, and each row's."""
        both = groups * len(self.values) + self.rows
        if (int(groups.max()) + 1) * len(self.values) > _SORT * len(both):
            found, rows, counts = np.unique(both, return_inverse=True, return_counts=True)
            return found, counts, rows
        counts = np.bincount(both)
        found = np.flatnonzero(counts)
        places = np.cumsum(counts > 0) - 1
        return found, counts[found], places[both]


Candidates = Mapping[int, Sequence[int]]
"""For columns of gold: the columns of the prediction that each of them can be."""


class _Choice:
    """The columns of `left` that each column of `right` can be; both have distinct rows."""

    def __init__(self, left: _Side, right: _Side, steps: _Steps) -> None:
        self._left, self._right, self._steps = left, right, steps
        self._ours, self._theirs = _Column.all_of(left), _Column.all_of(right)
        self._steps.take(_SORT * (left.table.size + right.table.size))
        self._start = np.zeros(len(left.table), np.int64), np.zeros(len(right.table), np.int64)
        alike = {
            place: [
                other
                for other, mine in enumerate(self._ours)
                if left.of_columns[other] >= times and np.array_equal(mine.values, theirs.values)
            ]
            for place, (times, theirs) in enumerate(zip(right.of_columns, self._theirs, strict=True))
        }
        self._candidates = self._compatible(alike, *self._start)

    def used(self) -> list[int] | None:
        """Return the columns of `left` that can be chosen; None if some column of `right` is not there."""
        if not all(self._candidates.values()):
            return None
        return sorted(set().union(*self._candidates.values()))

    def is_possible(self) -> bool:
        """Return True if columns can be chosen.

        Raises:
            TooManyRows: the search takes too long.
        """
        everything = self._steps
        self._steps = _Steps(everything.left // _SHARE)
        try:
            return self._by_column(self._candidates, *self._start)
        except TooManyRows:
            everything.take(everything.left // _SHARE)
            self._steps = everything
        parts = self._parts()
        sets = prod(comb(len(ours), len(theirs)) for ours, theirs in parts)
        if sets * len(self._left.table) * (_SORT + len(self._theirs)) > everything.left:
            return self._by_column(self._candidates, *self._start)
        return self._by_subset(parts)

    def _by_column(self, candidates: Candidates, left: Numbers, right: Numbers) -> bool:
        """True if the columns in `candidates` can be chosen.

        `left` and `right` number the rows by the columns chosen before.
        """
        if not candidates:
            return True
        column = min(candidates, key=lambda place: len(candidates[place]))
        theirs = self._theirs[column].within(right)[2]
        for place in candidates[column]:
            ours = self._ours[place].within(left)[2]
            rest = {
                other: [one for one in places if one != place]
                for other, places in candidates.items()
                if other != column
            }
            narrowed = self._compatible(rest, ours, theirs)
            if all(narrowed.values()) and self._by_column(narrowed, ours, theirs):
                return True
        return False

    def _compatible(self, candidates: Candidates, left: Numbers, right: Numbers) -> Candidates:
        """Return the candidates that have the same values as gold's column, each at least as often.

        Values count with the number of their row: `left` and `right` have the same numbers. No column after
        one without candidates is looked at.
        """
        found: dict[int, tuple[Numbers, Numbers, Numbers]] = {}
        narrowed: dict[int, list[int]] = {}
        for column, places in candidates.items():
            values, counts, _ = self._theirs[column].within(right)
            for place in places:
                if place not in found:
                    found[place] = self._ours[place].within(left)
            narrowed[column] = [
                place
                for place in places
                if np.array_equal(found[place][0], values) and (found[place][1] >= counts).all()
            ]
            self._steps.take(len(right), 4 + 2 * len(places))
            if not narrowed[column]:
                break
        self._steps.take(len(left), 5 * len(found))
        return narrowed

    def _parts(self) -> list[tuple[list[int], list[int]]]:
        """Divide the columns of both sides into parts between which there are no candidates."""
        pairs = [(place, column) for column, places in self._candidates.items() for place in places]
        rows, columns = np.array(pairs).T
        width = len(self._ours)
        size = width + len(self._theirs)
        edges = sparse.coo_array((np.ones(len(pairs)), (rows, columns + width)), shape=(size, size))
        count, labels = connected_components(edges, directed=False)
        members = [np.flatnonzero(labels == label).tolist() for label in range(count)]
        return [
            ([place for place in some if place < width], [place - width for place in some if place >= width])
            for some in members
        ]

    def _by_subset(self, parts: Sequence[tuple[list[int], list[int]]]) -> bool:
        """True if some set of columns, those of each part chosen among its own, has gold's rows."""
        gold = self._right
        height, width = len(self._left.table), len(self._theirs)
        choices: Iterator[list[int]] = (
            [place for part in chosen for place in part]
            for chosen in product(*(combinations(ours, len(theirs)) for ours, theirs in parts))
        )
        columns = np.ascontiguousarray(self._left.table.T)
        hashes = _hashes(columns)
        expected = np.sort(_hashes(gold.table).sum(axis=1, dtype=np.uint64))
        while batch := list(islice(choices, max(1, _BATCH // height))):
            chosen = np.array(batch)
            self._steps.take(len(batch) * height * (_SORT + width))
            numbers = _numbers(columns[chosen[:, place]] for place in range(width))
            distinct = (np.diff(np.sort(numbers, axis=1), axis=1) != 0).sum(axis=1) + 1
            for at in np.flatnonzero(distinct == len(gold.table)):
                self._steps.take(_SORT * height, 20)
                first = np.unique(numbers[at], return_index=True)[1]
                # Do its rows have the same values, in whatever columns?
                rows = np.sort(hashes[np.ix_(chosen[at], first)].sum(axis=0, dtype=np.uint64))
                if np.array_equal(rows, expected):
                    some = self._left.only(batch[at])
                    if _Tables(some, gold, self._steps, subset=True).are_same():
                        return True
        return False
