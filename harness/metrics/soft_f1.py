"""Soft-F1, as the official evaluator computes it and as Mini-Dev's documentation defines it.

Documentation: "Soft F1-Score" in https://github.com/bird-bench/mini_dev/blob/main/README.md. The published
script (`evaluation_f1.py` in the same folder) computes something else, and published figures come from it.
Both drop repeated rows and then compare the first predicted row with the first row of gold, and so on.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import repeat, zip_longest

from harness.metrics.distinct import Row, firsts, gathered


def soft_f1(predicted: Sequence[Row], gold: Sequence[Row]) -> float:
    """Return Soft-F1 as the official script computes it, to the last bit.

    For two rows at the same position it counts the predicted values that the gold row has, those that it
    lacks, and the gold values that the predicted row lacks, each divided by the gold row's number of columns.
    A row of gold without a partner counts 1 as missing, a predicted row 1 as wrong. The score is F1 of the
    sums, 0.0 if that is undefined. NULL is a value like any other; values are the same if they are equal in
    Python or one object.

    Two empty results score 1.0. A value that cannot be hashed, and gold that has rows without columns, score
    0.0: the script fails there, and its failures score 0.
    """
    if not predicted and not gold:
        return 1.0
    try:
        ours, theirs = firsts(predicted), firsts(gold)
        if ours == theirs and theirs[0]:
            return 1.0
        shares = [
            tuple(count / len(wanted) for count in _counts(given, wanted))
            for given, wanted in zip(ours, theirs, strict=False)
        ]
    except (TypeError, ZeroDivisionError):
        return 0.0
    # One sum over everything, since floating-point sums depend on the order of addition.
    right = sum(share[0] for share in shares)
    wrong = sum([*(share[1] for share in shares), *repeat(1, len(ours) - len(theirs))])
    missing = sum([*(share[2] for share in shares), *repeat(1, len(theirs) - len(ours))])
    if not right:
        return 0.0
    precision, recall = right / (right + wrong), right / (right + missing)
    return 2 * precision * recall / (precision + recall)


def soft_f1_documented(predicted: Sequence[Row], gold: Sequence[Row]) -> float:
    """Return Soft-F1 as the documentation defines it: empty cells do not count, and counts are not divided.

    Its worked example scores 0.8. It leaves some cases open: here duplicates are dropped, as in the script.
    An empty cell is NULL; an empty text is a value. All values of a row without a partner count, as missing
    or as wrong. If neither result has a value there is nothing to find and nothing is wrong: 1.0, as for two
    empty results. A value that cannot be hashed scores 0.0.
    """
    try:
        ours, theirs = _values(predicted), _values(gold)
    except TypeError:
        return 0.0
    right = wrong = missing = 0
    for given, wanted in zip_longest(ours, theirs, fillvalue=()):
        counts = _counts(given, wanted)
        right, wrong, missing = right + counts[0], wrong + counts[1], missing + counts[2]
    counted = 2 * right + wrong + missing
    return 2 * right / counted if counted else 1.0


def _counts(given: Row, wanted: Row) -> tuple[int, int, int]:
    """Count the values of a predicted row that gold's row has, those it lacks, and the missing ones."""
    right = sum(value in wanted for value in given)
    return right, len(given) - right, sum(value not in given for value in wanted)


def _values(rows: Sequence[Row]) -> list[Row]:
    return [tuple(value for value in row if value is not None) for row in firsts(rows)]


# Soft-F1 that does not depend on the order of rows: the best official score that any order gives. F1 is a
# quotient, so the largest sum of matches need not be the best score. In the terms of
# `harness.metrics.assignment`, for n predicted rows of d columns and m rows of gold of c columns,
# duplicates dropped, F1 = 2 tp / (2 tp + fp + fn) is 2 matched / (matched - found + min(n, m) (c + d) +
# |n - m| c), where only `matched` and `found` depend on who is paired with whom. The quotient grows with
# both. If no row has a value twice they are equal, and the largest sum is the best score. Otherwise
# Dinkelbach's method finds it: the assignment is solved for the numerator minus the last score times the
# denominator, until the score grows no more (Dinkelbach 1967, "On Nonlinear Fractional Programming",
# https://doi.org/10.1287/mnsc.13.7.492).


def soft_f1_aligned(predicted: Sequence[Row], gold: Sequence[Row]) -> float:
    """Return the highest score that `soft_f1` has for any order of the predicted and of the gold rows.

    It is computed in whole numbers and rounded once, so that order cannot change a bit of it. The official
    score adds floats, and can differ in its last digits although the exact value is the same. All rows of a
    result have the same number of columns. Equal sets of rows score 1.0, a value that cannot be hashed 0.0.

    Raises:
        TooManyRows: apart from the rows that can be paired beforehand, there are over 100 million pairs of
        rows, and over 30 million of them may share a value. There is no score then.
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
