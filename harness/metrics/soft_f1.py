"""Soft-F1, as the official evaluator computes it and as Mini-Dev's documentation defines it.

Documentation: "Soft F1-Score" in https://github.com/bird-bench/mini_dev/blob/main/README.md. The published
script (`evaluation_f1.py` beside it) computes something else, and published figures come from the script.
Both compare the first predicted row with the first row of gold and so on, after duplicates are dropped where
they occur again.
"""

from collections.abc import Sequence
from itertools import repeat, zip_longest

from harness.metrics.comparison.distinct import firsts

Row = tuple[object, ...]


class TooManyRows(Exception):
    """The best order of the rows would take more memory to find than is allowed."""


def soft_f1(predicted: Sequence[Row], gold: Sequence[Row]) -> float:
    """Soft-F1 as the official script computes it, to the last bit.

    For two rows at the same position, the predicted values that the gold row has, those that it has not, and
    the gold values that the predicted row has not are counted, each divided by the gold row's number of
    columns. A row of gold without a partner counts 1 as missing, a predicted row 1 as wrong. The score is F1
    of the sums, 0.0 where that is undefined. NULL is a value like any other; values are the same if Python
    says that they are equal or one object.

    Two empty results score 1.0. A value that cannot be hashed, and gold that has rows without columns, score
    0.0: the script fails there, and its failures score 0.
    """
    if not predicted and not gold:
        return 1.0
    try:
        ours, theirs = firsts(predicted), firsts(gold)
        shares = [
            tuple(count / len(wanted) for count in _counts(given, wanted))
            for given, wanted in zip(ours, theirs, strict=False)
        ]
    except (TypeError, ZeroDivisionError):
        return 0.0
    # One sum over everything, since floating-point sums depend on what is added to what.
    right = sum(share[0] for share in shares)
    wrong = sum([*(share[1] for share in shares), *repeat(1, len(ours) - len(theirs))])
    missing = sum([*(share[2] for share in shares), *repeat(1, len(theirs) - len(ours))])
    if not right:
        return 0.0
    precision, recall = right / (right + wrong), right / (right + missing)
    return 2 * precision * recall / (precision + recall)


def soft_f1_documented(predicted: Sequence[Row], gold: Sequence[Row]) -> float:
    """Soft-F1 as the documentation defines it: empty cells are not counted, and counts are not divided.

    Its worked example scores 0.8. What it leaves open is decided as follows. Duplicates are dropped, as in
    the script. An empty cell is NULL; an empty text is a value. All values of a row without a partner count,
    as missing or as wrong. Where neither result has a value there is nothing to find and nothing is wrong:
    1.0, as for two empty results. A value that cannot be hashed scores 0.0.
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
    """The values of a predicted row that gold's row has, those that it has not, and what is missing."""
    right = sum(value in wanted for value in given)
    return right, len(given) - right, sum(value not in given for value in wanted)


def _values(rows: Sequence[Row]) -> list[Row]:
    return [tuple(value for value in row if value is not None) for row in firsts(rows)]
