"""Named ways in which two results can be the same, beside EX's: stricter ones and laxer ones.

Each compares values as EX does (Li et al. 2023, https://arxiv.org/abs/2305.03111, section 4.4, by the
published script): as Python compares what the driver returned. They form a lattice, to which tests hold them:

    ex_ordered -> ex_bag -> ex -> ex_columns -> ex_subset
                            ex -> ex_rounded

A prediction that is right by one is right by all that follow. A result with a value that cannot be hashed
scores 0.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from decimal import ROUND_HALF_EVEN, Decimal
from math import isfinite

from harness.metrics.comparison.distinct import gathered, named
from harness.metrics.ex import ex
from harness.metrics.soft_f1 import Row, TooManyRows
from harness.metrics.strict import Answers

_DIGITS = Decimal("0.01")
_LARGEST = 10**15
"""A float beyond has no digits behind the point that could be rounded."""
_MOST_STEPS = 20_000_000
"""Values that may be looked at to find the order of columns; a second or two."""


def ex_bag(predicted: Sequence[Row], gold: Sequence[Row]) -> float:
    """1.0 when both results have the same rows, each as often, else 0.0.

    So test-suite evaluation compares (Zhong et al. 2020, https://arxiv.org/abs/2010.02840), but for its
    columns, which it takes in any order.
    """
    try:
        ours, theirs = gathered(predicted, gold)
        return float(ours.distinct == theirs.distinct and Counter(ours.names) == Counter(theirs.names))
    except TypeError:
        return 0.0


def ex_ordered(predicted: Sequence[Row], gold: Sequence[Row], find: Callable[[], Answers]) -> float:
    """1.0 when both have the same rows as often, in gold's order if its outermost query orders.

    Rows that are equal to the ORDER BY may stand in one order alone, gold's; `ex_strict` takes any. Source:
    as for `ex_bag`, which makes the same difference.

    Args:
        predicted: rows as the driver returned them.
        gold: the same of the reference.
        find: what gold allows; called only where the rows are the same in another order.
    """
    if not ex_bag(predicted, gold):
        return 0.0
    ours, theirs = gathered(predicted, gold)
    return float(list(ours.names) == list(theirs.names) or not find().ordered)


def ex_rounded(predicted: Sequence[Row], gold: Sequence[Row]) -> float:
    """EX of the rows with every number rounded to two digits behind the point.

    Spider 2.0's evaluation (Lei et al. 2024, https://arxiv.org/abs/2411.07763) allows a hundredth between the
    numbers themselves.
    """
    return ex(list(map(_rounded_row, predicted)), list(map(_rounded_row, gold)))


def ex_columns(predicted: Sequence[Row], gold: Sequence[Row]) -> float:
    """1.0 when some order of the prediction's columns gives the same set of rows as gold's, else 0.0.

    Source: test-suite evaluation, as for `ex_bag`; rows are a set here, as in EX.

    Raises:
        TooManyRows: too many orders would have to be tried.
    """
    if len(_width(predicted) | _width(gold)) > 1:
        return 0.0
    return ex_subset(predicted, gold)


def ex_subset(predicted: Sequence[Row], gold: Sequence[Row]) -> float:
    """1.0 when some of the prediction's columns, in some order, have gold's set of rows, else 0.0.

    A prediction that shows more than was asked for is right by it. Spider 2.0's evaluation (as for
    `ex_rounded`) asks for gold's columns among the prediction's, too, but for each by itself.

    Raises:
        TooManyRows: too many choices of columns would have to be tried.
    """
    if ex(predicted, gold):
        return 1.0
    ours, theirs = _width(predicted), _width(gold)
    if len(ours) != 1 or len(theirs) != 1:
        return 0.0
    try:
        cells = named([value for rows in (predicted, gold) for row in rows for value in row])[0]
    except TypeError:
        return 0.0
    numbers: dict[Hashable, int] = {}
    plain = [numbers.setdefault(cell, len(numbers)) for cell in cells]
    [wide], [narrow] = ours, theirs
    end = len(predicted) * wide
    left = list(dict.fromkeys(_cut(plain[:end], wide)))
    right = list(dict.fromkeys(_cut(plain[end:], narrow)))
    return float(_Columns(left, right).fit())


def _width(rows: Sequence[Row]) -> set[int]:
    return {len(row) for row in rows}


def _cut(cells: Sequence[int], width: int) -> Iterator[tuple[int, ...]]:
    return (tuple(cells[start : start + width]) for start in range(0, len(cells), width))


class _Columns:
    """Looks for columns of `left` that have the rows of `right`, column by column."""

    def __init__(self, left: Sequence[tuple[int, ...]], right: Sequence[tuple[int, ...]]) -> None:
        self._left, self._right = list(zip(*left, strict=True)), list(zip(*right, strict=True))
        self._steps = 0
        values = [set(column) for column in self._left]
        candidates = [
            [place for place, mine in enumerate(values) if mine == theirs] for theirs in map(set, self._right)
        ]
        # Where least can be chosen is decided first.
        order = sorted(range(len(candidates)), key=lambda place: len(candidates[place]))
        self._right = [self._right[place] for place in order]
        self._candidates = [candidates[place] for place in order]

    def fit(self) -> bool:
        """Whether there are such columns.

        Raises:
            TooManyRows: it takes too long to find out.
        """
        start = [0] * len(self._left[0]), [0] * len(self._right[0])
        return self._fits(0, frozenset(), *start)

    def _fits(self, at: int, used: frozenset[int], left: Sequence[int], right: Sequence[int]) -> bool:
        """Whether the columns from `at` on can be chosen; `left` and `right` number the rows so far."""
        if at == len(self._right):
            return True
        tried = set()
        for place in self._candidates[at]:
            column = self._left[place]
            if place in used or column in tried:
                continue
            tried.add(column)
            self._steps += len(left) + len(right)
            if self._steps > _MOST_STEPS:
                raise TooManyRows
            numbers: dict[tuple[int, int], int] = {}
            ours = [numbers.setdefault(pair, len(numbers)) for pair in zip(left, column, strict=True)]
            count = len(numbers)
            theirs = [
                numbers.setdefault(pair, len(numbers)) for pair in zip(right, self._right[at], strict=True)
            ]
            is_same = len(numbers) == count == len(set(theirs))
            if is_same and self._fits(at + 1, used | {place}, ours, theirs):
                return True
        return False


def _rounded_row(row: Row) -> Row:
    return tuple(map(_rounded, row))


def _rounded(value: object) -> object:
    """A number with two digits behind the point; equal numbers of any types stay equal."""
    if not isinstance(value, float | Decimal) or not isfinite(value):
        return value
    nearest = float(value)
    if value == int(value):
        return int(value)
    if abs(nearest) > _LARGEST:
        return value
    return Decimal(repr(nearest)).quantize(_DIGITS, ROUND_HALF_EVEN)
