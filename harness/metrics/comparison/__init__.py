"""Whether two results are the same, by value: the one definition that all proofs of sameness rest on.

- Numbers of every type are compared by value. Two integers are equal if they are exactly that; two numbers
  of which one is not an integer are equal within a relative tolerance. It is relative to the numbers
  themselves: beside 0 only 0 is the same, since no absolute bound would suit both a share and a sum of money.
  A sum that cancels out to 0 in one order of addition and to 1e-17 in another counts as different.
- Texts, bytes and NULL are equal if they are exactly that. Text is never equal to a number.
- A date or time that a driver returns as such is compared as ISO text, see `comparison.values`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.metrics.comparison.matching import TOLERANCE, Tolerance, close_rows, match
from harness.metrics.comparison.values import canonical

Row = tuple[object, ...]

__all__ = ["TOLERANCE", "Comparison", "Row", "Tolerance", "compare"]


@dataclass(frozen=True)
class Comparison:
    """How two results relate; `only_left` and `only_right` are the rows without a partner, in their order."""

    same_set: bool
    """Each row of either result is in the other."""
    same_bag: bool
    """And is there as often."""
    same_order: bool
    """And at the same position."""
    only_left: tuple[Row, ...] = ()
    only_right: tuple[Row, ...] = ()


def compare(left: Sequence[Row], right: Sequence[Row], *, tolerance: Tolerance = TOLERANCE) -> Comparison:
    """Compare two results.

    Args:
        left: rows as the driver returned them.
        right: the same of the other engine.
        tolerance: for numbers.
    """
    if len({len(row) for rows in (left, right) for row in rows}) > 1:
        return Comparison(
            same_set=False, same_bag=False, same_order=False, only_left=tuple(left), only_right=tuple(right)
        )
    ours, theirs = canonical(left, right)
    in_order = len(ours) == len(theirs) and all(
        one is other or one == other or close_rows(one, other, tolerance)
        for one, other in zip(ours, theirs, strict=True)
    )
    if in_order:
        return Comparison(same_set=True, same_bag=True, same_order=True)
    matched = match(ours, theirs, tolerance)
    return Comparison(
        same_set=matched.same_set,
        same_bag=not (matched.left or matched.right),
        same_order=False,
        only_left=tuple(left[position] for position in matched.left),
        only_right=tuple(right[position] for position in matched.right),
    )
