"""Soft-F1 that does not depend on the order of rows: the best official score that any order gives.

F1 is a quotient, so the largest sum of matches need not be the best score. In the words of
`harness.metrics.assignment`, for n predicted rows of d columns and m rows of gold of c columns, duplicates
dropped, F1 = 2 tp / (2 tp + fp + fn) is

    2 matched / (matched - found + min(n, m) (c + d) + |n - m| c)

where only `matched` and `found` depend on who is paired with whom. The quotient grows with both. If no row
has a value twice they are equal, and the largest sum is the best score. Otherwise Dinkelbach's method finds
it: the assignment is solved for the numerator minus the last score times the denominator, until the score
grows no more (Dinkelbach 1967, "On Nonlinear Fractional Programming", https://doi.org/10.1287/mnsc.13.7.492).
"""

from collections.abc import Sequence
from fractions import Fraction

from harness.metrics.comparison.distinct import firsts, gathered
from harness.metrics.soft_f1 import Row


def soft_f1_aligned(predicted: Sequence[Row], gold: Sequence[Row]) -> float:
    """The highest score that `soft_f1` has for any order of the predicted and of the gold rows.

    It is computed in whole numbers and rounded once, so that order cannot change a bit of it. The official
    score adds floats, and can differ in its last digits where the exact value is the same. All rows of a
    result have equally many columns. Equal sets of rows score 1.0, a value that cannot be hashed 0.0.

    Raises:
        TooManyRows: without the rows that can be paired beforehand, there are over 100 million pairs of rows,
            and over 30 million of them may share a value. There is no score then.
    """
    try:
        ours, theirs = gathered(predicted, gold)
    except TypeError:
        return 0.0
    if ours.distinct == theirs.distinct:
        return 1.0
    if not predicted or not gold:
        return 0.0
    return float(_best(firsts(predicted), firsts(gold)))


def _best(predicted: Sequence[Row], gold: Sequence[Row]) -> Fraction:
    from harness.metrics.assignment import best, sharing  # noqa: PLC0415 - scipy takes a second to import

    shared = sharing(predicted, gold)
    columns = len(gold[0])
    pairs, alone = min(len(predicted), len(gold)), abs(len(predicted) - len(gold))
    fixed = pairs * (columns + len(predicted[0])) + alone * columns

    def score(matched: int, found: int) -> Fraction:
        return Fraction(2 * matched, matched - found + fixed) if matched else Fraction(0)

    highest, better = Fraction(0), score(*best(shared, 1, 1))
    while better > highest:
        highest = better
        if shared.has_repeats:
            for_found = highest.numerator
            better = score(*best(shared, 2 * highest.denominator - for_found, for_found))
    return highest
