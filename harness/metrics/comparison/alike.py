"""Two results whose values are equal in Python where they are the same by value.

What is defined over equal values, as EX and Soft-F1 are, can so be computed over the rows of two engines.
"""

from bisect import bisect_left
from collections.abc import Sequence
from decimal import Decimal
from itertools import chain

from harness.metrics.comparison.matching import TOLERANCE, Tolerance, close
from harness.metrics.comparison.values import canonical

Row = tuple[object, ...]

_DIGITS = 4
"""So many MySQL adds to the scale of a quotient: div_precision_increment."""
_ROUNDING = 1 + 1e-9
"""A half is no exact number in binary."""


def alike(
    left: Sequence[Row], right: Sequence[Row], *, tolerance: Tolerance = TOLERANCE
) -> tuple[Sequence[Row], Sequence[Row]]:
    """The rows of two results in canonical values, with one number for all that are as good as equal.

    A number gives way to the nearest of the right result if that is close, unless both are integers. An exact
    decimal of four digits or more behind its point is close to what is the same when rounded to its digits:
    MySQL gives an average no more of them. Rows of different numbers of columns are as they were.

    Args:
        left: rows as the driver returned them; of a server.
        right: the same of SQLite.
        tolerance: for numbers.
    """
    if len({len(row) for row in chain(left, right)}) > 1:
        return left, right
    ours, theirs = canonical(left, right)
    if not any(isinstance(value, float) for row in chain(ours, theirs) for value in row):
        return ours, theirs
    known = _Numbers(theirs, tolerance)
    return (
        [
            tuple(known.nearest(value, _half_digit(raw)) for value, raw in zip(row, as_was, strict=True))
            for row, as_was in zip(ours, left, strict=True)
        ],
        [tuple(known.nearest(value) for value in row) for row in theirs],
    )


def _half_digit(value: object) -> float:
    """Half of the last digit of an exact decimal with four or more behind its point; 0 of anything else."""
    if not isinstance(value, Decimal) or not value.is_finite():
        return 0.0
    exponent = value.as_tuple().exponent
    return 0.5 * 10.0**exponent if isinstance(exponent, int) and exponent <= -_DIGITS else 0.0


class _Numbers:
    """The numbers of a result, one of those that are close to each other.

    Args:
        rows: in canonical values.
        tolerance: for numbers.
    """

    def __init__(self, rows: Sequence[Row], tolerance: Tolerance) -> None:
        self._tolerance = tolerance
        self._kept: list[float] = []
        # Sorted and not put into a set: hashes of numbers can be made to collide.
        for number in sorted(value for row in rows for value in row if isinstance(value, int | float)):
            last = self._kept[-1] if self._kept else None
            is_near = isinstance(number, float) and last is not None and close(last, number, tolerance)
            if number != last and not is_near:
                self._kept.append(number)

    def nearest(self, value: object, within: float = 0.0) -> object:
        """The number that stands for a value, or the value itself where none does.

        Args:
            value: canonical.
            within: how far it may be off beyond the tolerance.
        """
        if not isinstance(value, int | float):
            return value
        at = bisect_left(self._kept, value)
        near = [
            each
            for each in self._kept[max(at - 1, 0) : at + 1]
            if each == value
            or close(each, value, self._tolerance)
            or (within and abs(each - value) <= within * _ROUNDING)
        ]
        return min(near, key=lambda each: abs(each - value), default=value)
