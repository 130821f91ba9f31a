"""Pair the rows of two results as well as possible.

Promises: the pairing is optimal, never an approximation, and memory is bounded: a problem that needs more
raises `TooManyRows`.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

from harness.metrics.distinct import Row, TooManyRows, named

# What the rows of two results share, and which rows can be paired before anything is solved.
#
# In a pair of a predicted row p and a row g of gold, `matched` counts the values of p that g has, `found`
# the values of g that p has. They differ where a row has a value more than once. Both are sums over the
# values v in p and g, of the times that p, or g, has v. Rows that differ only in values which the other
# result does not have at all are therefore the same here: they are of one *kind*, whatever the order of
# their columns.
#
# **Rows of one kind are paired first**, where that loses nothing. Let p0 and g0 be of kind x, and let an
# assignment pair p0 with g1 and p1 with g0, both of other kinds. For p0-g0 and p1-g1 instead, `matched`
#   changes
# by
#
#     (sum over v in x but not in g1 of x(v) - p1(v)) + (sum over v in p1 and g1 but not in x of p1(v))
#
# where x(v) is the times that x has v. Only the values that p1 has more often than x make this negative,
# each by at most top(v) - x(v), where top(v) is the most times that any row has v; the values that no row
# of another kind has make up for it, each by x(v). So where for kind x
#
#     sum of x(v) over the values that kind x alone has >= sum of top(v) - x(v) over its other values
#
# the change is never a loss. The same holds for `found`, with g1 for p1, and if g1 or p1 is not there.
# Pairing p0 with g0 breaks no such pair of another kind, so that all kinds can be paired at once. Without
# repeated values in a row both sides of the condition are 0 or more and 0: equal rows may always be paired.
# With them they may not: (1, 2), (1, 1) against (1, 2), (2, 2) share more crosswise.

Table = sparse.csr_array
Integers = npt.NDArray[np.signedinteger[Any]]


@dataclass(frozen=True)
class Sharing:
    """What the rows of two results share.

    `paired` counts the values matched, and found, in pairs that belong to a best assignment, whatever the two
    weigh. `predicted` and `gold` are the other rows that share anything: how often a row (down) has a value
    (across).
    """

    paired: int
    predicted: Table
    gold: Table

    @property
    def has_repeats(self) -> bool:
        """True if `matched` and `found` can differ."""
        return any(side.nnz and side.data.max() > 1 for side in (self.predicted, self.gold))


def sharing(predicted: Sequence[Row], gold: Sequence[Row]) -> Sharing:
    """Compare two results, each of distinct rows of a fixed number of columns.

    Raises:
        TypeError: a value cannot be hashed.
    """
    codes: dict[Hashable, int] = {}
    values = named(list(chain.from_iterable(predicted)), list(chain.from_iterable(gold)))
    ours, theirs = _cells(values[0], len(predicted), codes), _cells(values[1], len(gold), codes)
    paired = 0
    while True:
        held = [np.bincount(side.value, minlength=len(codes)) for side in (ours, theirs)]
        ours, theirs = ours.only(held[1][ours.value] > 0), theirs.only(held[0][theirs.value] > 0)
        before = min(ours.rows, theirs.rows)
        ours, theirs, gained = _pair_kinds(ours, theirs, len(codes))
        paired += gained
        # Another round takes about as long as this one: stop when it would gain little.
        if 10 * min(ours.rows, theirs.rows) >= 9 * before:
            return Sharing(paired, *_tables(ours, theirs))


class _Cells(NamedTuple):
    """The values of one result, by code, sorted by row: row `row[i]` has value `value[i]` so many `times`.

    Rows are numbered without gaps; each has a value.
    """

    row: Integers
    value: Integers
    times: Integers

    @property
    def rows(self) -> int:
        return int(self.row[-1]) + 1 if len(self.row) else 0

    def only(self, keep: npt.NDArray[np.bool_]) -> "_Cells":
        """Return the cells to keep, without the rows that have none of them."""
        numbers = np.unique(self.row[keep], return_inverse=True)[1]
        return _Cells(numbers, self.value[keep], self.times[keep])


def _cells(values: Sequence[Hashable], rows: int, codes: dict[Hashable, int]) -> _Cells:
    coded = np.fromiter((codes.setdefault(value, len(codes)) for value in values), np.int64, len(values))
    numbers = np.repeat(np.arange(rows), len(values) // rows)
    order = np.lexsort((coded, numbers))
    numbers, coded = numbers[order], coded[order]
    first = np.flatnonzero(np.diff(numbers, prepend=-1) | np.diff(coded, prepend=-1))
    return _Cells(numbers[first], coded[first], np.diff(first, append=len(coded)))


def _pair_kinds(ours: _Cells, theirs: _Cells, values: int) -> tuple[_Cells, _Cells, int]:
    """Pair as many rows of a kind as both results have, where that loses nothing."""
    names: dict[bytes, int] = {}
    sides = (ours, theirs)
    kinds = [_kinds(side, names) for side in sides]
    counts = [np.bincount(kind, minlength=len(names)) for kind in kinds]
    top = np.zeros(values, np.int64)
    for side in sides:
        np.maximum.at(top, side.value, side.times)
    alone = np.ones(len(ours.row), np.bool_)
    for side, count in zip(sides, counts, strict=True):
        held = np.bincount(side.value, minlength=values)
        alone &= held[ours.value] == count[kinds[0][ours.row]]
    # A value that no other kind has is in no row more often than here.
    margin = np.where(alone, ours.times, ours.times - top[ours.value])
    safe = np.zeros(len(names), np.bool_)
    safe[kinds[0]] = np.bincount(ours.row, margin, ours.rows) >= 0
    pairs = np.where(safe, np.minimum(*counts), 0)
    gained = int((pairs[kinds[0]] > _ranks(kinds[0], counts[0]))[ours.row] @ ours.times)
    left = [
        side.only((_ranks(kind, count) >= pairs[kind])[side.row])
        for side, kind, count in zip(sides, kinds, counts, strict=True)
    ]
    return left[0], left[1], gained


def _kinds(side: _Cells, names: dict[bytes, int]) -> Integers:
    cells = np.stack((side.value, side.times), axis=1)
    starts = np.searchsorted(side.row, np.arange(side.rows + 1))
    return np.array(
        [names.setdefault(cells[start:stop].tobytes(), len(names)) for start, stop in pairwise(starts)],
        np.int64,
    )


def _ranks(kinds: Integers, counts: Integers) -> Integers:
    """Return how many rows of its kind precede each row."""
    order = np.argsort(kinds, kind="stable")
    ranks = np.empty_like(order)
    ranks[order] = np.arange(len(kinds)) - np.repeat(np.cumsum(counts) - counts, counts)
    return ranks


def _tables(ours: _Cells, theirs: _Cells) -> tuple[Table, Table]:
    values, codes = np.unique(np.concatenate((ours.value, theirs.value)), return_inverse=True)
    cut = len(ours.value)
    return _table(ours, codes[:cut], len(values)), _table(theirs, codes[cut:], len(values))


def _table(side: _Cells, codes: Integers, values: int) -> Table:
    cells = side.row.astype(np.int32), codes.astype(np.int32)  # half the memory that 64 bits take
    return sparse.csr_array((side.times.astype(np.float64), cells), (side.rows, values))


MOST_SHARING = 30_000_000
"""Pairs of rows that may share a value, among the rows that could not be paired beforehand."""
MOST_CELLS = 100_000_000
"""All pairs of those rows, if more of them share a value: 10,000 on either side make a table of 0.8 GB."""

_BLOCK_CELLS = 4_000_000


def best(shared: Sharing, for_matched: int, for_found: int) -> tuple[int, int]:
    """Return `matched` and `found` of the assignment with the largest weighted sum of the two.

    The sum is `for_matched * matched + for_found * found`, with positive weights. The solvers count in
    floating point, which is exact here: no sum of costs is near 2**53.

    Raises:
        TooManyRows: see `MOST_SHARING` and `MOST_CELLS`.
    """
    sides = (shared.predicted, for_matched), (shared.gold, for_found)
    if 0 in (shared.predicted.shape[0], shared.gold.shape[0]):
        return shared.paired, shared.paired
    swapped = shared.predicted.shape[0] > shared.gold.shape[0]
    (few, for_few), (many, for_many) = reversed(sides) if swapped else sides
    if not shared.has_repeats:  # matched and found are the same
        for_few, for_many = 1, 0
    chosen = _assign(few, many, for_few, for_many)
    few, many = few[chosen[0]], many[chosen[1]]
    of_few, of_many = int(few.multiply(_marks(many)).sum()), int(many.multiply(_marks(few)).sum())
    matched, found = (of_many, of_few) if swapped else (of_few, of_many)
    return shared.paired + matched, shared.paired + found


def _assign(few: Table, many: Table, for_few: int, for_many: int) -> tuple[Integers, Integers]:
    """Return the rows of `few` and of `many` that a best assignment pairs."""
    rows, others = few.shape[0], many.shape[0]
    sharing_pairs = int(_held(few) @ _held(many))
    if sharing_pairs > MOST_SHARING and rows * others > MOST_CELLS:
        raise TooManyRows(
            f"{rows:,} and {others:,} rows remain to be matched, and {sharing_pairs:,} pairs of them "
            f"may share a value: the limit is {MOST_SHARING:,} such pairs, or {MOST_CELLS:,} pairs in all"
        )
    # The solvers minimise.
    left, right = few * -float(for_few), _marks(many)
    if for_many:
        left = sparse.hstack((left, _marks(few) * -float(for_many)), format="csr")
        right = sparse.hstack((right, many), format="csr")
    return _sparsely(left, right) if sharing_pairs <= MOST_SHARING else _densely(left, right)


def _sparsely(left: Table, right: Table) -> tuple[Integers, Integers]:
    """Assign by the sparse solver, over the pairs that share a value; it needs a partner for every row."""
    rows, columns = left.shape[0], right.shape[0]
    # An extra column for each row means "no partner". It costs -1, since 0 would mean that there is no such
    # pair, and all others cost 1 less than they would.
    alone = sparse.eye_array(rows, format="csr")
    right = sparse.block_diag((right, alone), format="csr")
    costs: Table = sparse.hstack((left, -alone), format="csr") @ right.T
    costs.data -= costs.indices < columns
    row, column = min_weight_full_bipartite_matching(costs)
    paired = column < columns
    return row[paired], column[paired]


def _densely(left: Table, right: Table) -> tuple[Integers, Integers]:
    """Assign by the dense solver, over all pairs."""
    costs = np.empty((left.shape[0], right.shape[0]))
    step = max(1, _BLOCK_CELLS // right.shape[0])
    for start in range(0, left.shape[0], step):
        block = slice(start, start + step)
        (left[block] @ right.T).toarray(out=costs[block])
    return linear_sum_assignment(costs)


def _held(side: Table) -> Integers:
    """How many rows have each value."""
    return np.bincount(side.indices, minlength=side.shape[1])


def _marks(side: Table) -> Table:
    """1 where a row has a value."""
    return sparse.csr_array((np.ones_like(side.data), side.indices, side.indptr), side.shape)
