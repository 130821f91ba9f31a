"""Which row of one result goes best with which row of another.

Promises: what is found is the best there is, never an approximation, and memory is bounded: where a problem
is larger than that allows, `TooManyRows` says so.
"""

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

from harness.metrics.sharing import Integers, Sharing, Table
from harness.metrics.soft_f1 import TooManyRows

MOST_SHARING = 30_000_000
"""Pairs of rows that may share a value, among the rows that could not be paired beforehand."""
MOST_CELLS = 100_000_000
"""All pairs of those rows, if more of them share a value: 10,000 on either side make a table of 0.8 GB."""

_BLOCK_CELLS = 4_000_000


def best(shared: Sharing, for_matched: int, for_found: int) -> tuple[int, int]:
    """`matched` and `found` of an assignment where `for_matched * matched + for_found * found` is largest.

    The weights are positive. The solvers count in floating point, which is exact here: no sum of costs comes
    near 2**53.

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
    """The rows of `few` and of `many` that a best assignment pairs."""
    rows, others = few.shape[0], many.shape[0]
    sharing_pairs = int(_held(few) @ _held(many))
    if sharing_pairs > MOST_SHARING and rows * others > MOST_CELLS:
        raise TooManyRows(
            f"{rows:,} and {others:,} rows are left to be matched, and {sharing_pairs:,} pairs of them "
            f"may share a value: possible are {MOST_SHARING:,} such pairs, or {MOST_CELLS:,} pairs in all"
        )
    # The solvers look for the least sum.
    left, right = few * -float(for_few), _marks(many)
    if for_many:
        left = sparse.hstack((left, _marks(few) * -float(for_many)), format="csr")
        right = sparse.hstack((right, many), format="csr")
    return _sparsely(left, right) if sharing_pairs <= MOST_SHARING else _densely(left, right)


def _sparsely(left: Table, right: Table) -> tuple[Integers, Integers]:
    """By the solver that takes only the pairs that share a value, but wants a partner for every row."""
    rows, columns = left.shape[0], right.shape[0]
    # A column of its own for each row stands for no partner. It costs -1, since 0 would mean that there is
    # no such pair, and all others cost 1 less than they would.
    alone = sparse.eye_array(rows, format="csr")
    right = sparse.block_diag((right, alone), format="csr")
    costs: Table = sparse.hstack((left, -alone), format="csr") @ right.T
    costs.data -= costs.indices < columns
    row, column = min_weight_full_bipartite_matching(costs)
    paired = column < columns
    return row[paired], column[paired]


def _densely(left: Table, right: Table) -> tuple[Integers, Integers]:
    """By the solver that takes all pairs."""
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
