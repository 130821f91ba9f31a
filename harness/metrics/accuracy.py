"""Execution accuracy (EX), as the official evaluator computes it.

Definition: Li et al. 2023, "Can LLM Already Serve as A Database Interface?", on evaluation metrics,
https://arxiv.org/abs/2305.03111; the comparison is that of the published evaluation script.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from itertools import islice
from math import isfinite

from harness.metrics.comparison import Ranking, compare
from harness.metrics.distinct import Row, gathered, named


def ex(predicted: Sequence[Hashable], gold: Sequence[Hashable]) -> float:
    """Return 1.0 if the two results have the same set of rows, else 0.0.

    Row order and duplicates do not count; the order of columns does, their names do not. Values are
    compared as Python compares what the driver returned: `Decimal('1') == 1.0 == 1`, but `'1' != 1`.
    A result with a value that cannot be hashed (an array, a JSON object) scores 0.0, as in the script.
    """
    try:
        ours, theirs = gathered(predicted, gold)
    except TypeError:
        return 0.0
    return float(ours.distinct == theirs.distinct)


# EX strict: accuracy by value, with multiplicity and order, which accepts every equally valid answer. It is
# this project's own variant of EX.


@dataclass(frozen=True)
class Answers:
    """The answers a gold allows in addition to its own rows.

    `ordered`: its outermost query has an ORDER BY. `rankings`: the rows that its LIMIT chose from, in groups
    of equal sort keys; one ranking for the gold as written, and one for each other way to break a tie in a
    subquery. Empty if gold leaves no choice, or if the choice is unknown.
    """

    ordered: bool = False
    rankings: tuple[Ranking, ...] = ()


def ex_strict(predicted: Sequence[Row], gold: Sequence[Row], answers: Answers) -> float:
    """Return 1.0 for gold's answer, or another that gold's own ORDER BY and LIMIT allow, else 0.0.

    Duplicates count. The order of rows counts if gold orders them, but never among rows that tie in its
    ORDER BY. The order of columns counts, their names do not. Numbers are compared by value
    (`Decimal('1.10')` is 1.1, `True` is 1; two that are not both integers may differ by a billionth), dates
    by the day and time they denote; text is never a number. An empty result is right only if gold's is empty:
    it proves too little otherwise.

    Args:
        predicted: rows as the driver returned them.
        gold: the same of the reference.
        answers: what gold allows.
    """
    found = compare(predicted, gold)
    if found.same_order or (found.same_bag and not answers.ordered):
        return 1.0
    return float(len(predicted) > 0 and any(ranking.allows(predicted) for ranking in answers.rankings))


def ex_strict_of(predicted: Sequence[Row], gold: Sequence[Row], find: Callable[[], Answers]) -> float:
    """Return `ex_strict`; `find` is called only if the rows are not gold's in gold's order.

    Args:
        predicted: rows as the driver returned them.
        gold: the same of the reference.
        find: the answers that gold allows, kept by the caller from one prediction to the next.
    """
    return ex_strict(predicted, gold, Answers(ordered=True)) or ex_strict(predicted, gold, find())


# Stricter and laxer variants of EX, each comparing values as EX does. They form a lattice, which the tests
# check: ex_ordered -> ex_bag -> ex -> ex_columns -> ex_subset, and ex -> ex_rounded. A prediction that is
# right by one is right by all that follow. A result with a value that cannot be hashed scores 0.

_DIGITS = Decimal("0.01")
_LARGEST = 10**15
"""A larger float has no decimals to round."""


def ex_bag(predicted: Sequence[Row], gold: Sequence[Row]) -> float:
    """Return 1.0 if both results have the same rows with the same multiplicity, else 0.0.

    As test-suite evaluation compares them (Zhong et al. 2020, https://arxiv.org/abs/2010.02840), except that
    it accepts columns in any order.
    """
    try:
        ours, theirs = gathered(predicted, gold)
        return float(ours.distinct == theirs.distinct and Counter(ours.names) == Counter(theirs.names))
    except TypeError:
        return 0.0


def ex_ordered(predicted: Sequence[Row], gold: Sequence[Row], find: Callable[[], Answers]) -> float:
    """Return 1.0 if both have the same rows as often, in gold's order if its outermost query orders.

    Rows that tie in the ORDER BY must be in gold's order too; `ex_strict` accepts any. Source: as for
    `ex_bag`, which makes the same distinction.

    Args:
        predicted: rows as the driver returned them.
        gold: the same of the reference.
        find: returns what gold allows; called only if the rows are the same in another order.
    """
    if not ex_bag(predicted, gold):
        return 0.0
    ours, theirs = gathered(predicted, gold)
    return float(list(ours.names) == list(theirs.names) or not find().ordered)


def ex_rounded(predicted: Sequence[Row], gold: Sequence[Row]) -> float:
    """Return EX of the rows with every number rounded to two decimals.

    Spider 2.0's evaluation (Lei et al. 2024, https://arxiv.org/abs/2411.07763) allows a hundredth between the
    numbers themselves.
    """
    return ex(list(map(_rounded_row, predicted)), list(map(_rounded_row, gold)))


def ex_columns(predicted: Sequence[Row], gold: Sequence[Row]) -> float:
    """Return 1.0 if some order of the prediction's columns gives gold's set of rows, else 0.0.

    Source: test-suite evaluation, as for `ex_bag`; rows are a set here, as in EX.

    Raises:
        TooManyRows: there are too many orders to try.
    """
    if len(_width(predicted) | _width(gold)) > 1:
        return 0.0
    return ex_subset(predicted, gold)


def ex_subset(predicted: Sequence[Row], gold: Sequence[Row]) -> float:
    """Return 1.0 if some of the prediction's columns, in some order, give gold's set of rows, else 0.0.

    A prediction with more columns than requested is right by it. Spider 2.0's evaluation (as for
    `ex_rounded`) also looks for gold's columns among the prediction's, but for each by itself.

    Raises:
        TooManyRows: there are too many choices of columns to try.
    """
    if ex(predicted, gold):
        return 1.0
    ours, theirs = _width(predicted), _width(gold)
    if len(ours) != 1 or len(theirs) != 1:
        return 0.0
    from harness.metrics.columns import has_columns  # noqa: PLC0415 - scipy takes a second to import

    try:
        left, right = map(list, map(dict.fromkeys, _plain(predicted, gold)))
    except TypeError:
        return 0.0
    return float(has_columns(left, right))


def _width(rows: Sequence[Row]) -> set[int]:
    return {len(row) for row in rows}


def fit_as_bags(predicted: Sequence[Row], gold: Sequence[Row]) -> bool:
    """Return True if some order of the prediction's columns gives gold's rows, as often as in gold.

    Args:
        predicted: rows, all of one width.
        gold: as many rows of the same width.

    Raises:
        TypeError: a value cannot be hashed.
        TooManyRows: there are too many orders to try.
    """
    from harness.metrics.columns import has_columns  # noqa: PLC0415 - as above

    left, right = _plain(predicted, gold)
    return has_columns(left, right, as_bags=True)


def _plain(*results: Sequence[Row]) -> Iterator[list[tuple[int, ...]]]:
    """Yield results with a number in place of each value, the same for equal ones.

    Raises:
        TypeError: a value cannot be hashed.
    """
    cells = named([value for rows in results for row in rows for value in row])[0]
    numbers: dict[Hashable, int] = {}
    plain = iter([numbers.setdefault(cell, len(numbers)) for cell in cells])
    for rows in results:
        yield [tuple(islice(plain, len(row))) for row in rows]


def _rounded_row(row: Row) -> Row:
    return tuple(map(_rounded, row))


def _rounded(value: object) -> object:
    """Round a number to two decimals; equal numbers of any types stay equal."""
    if not isinstance(value, float | Decimal) or not isfinite(value):
        return value
    nearest = float(value)
    if value == int(value):
        return int(value)
    if abs(nearest) > _LARGEST:
        return value
    return Decimal(repr(nearest)).quantize(_DIGITS, ROUND_HALF_EVEN)
