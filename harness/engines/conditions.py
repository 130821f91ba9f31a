"""How often the parts of a condition are evaluated, where a plan says only how many rows came and passed."""

from collections.abc import Mapping
from math import isqrt


def later_parts(rows: int, passed: int | None) -> Mapping[str, int]:
    """For how many rows what stands behind AND and behind OR is evaluated, about.

    The first part often decides. Behind AND it is the geometric mean of all rows and those that pass, behind
    OR of all and those that do not; half of all where nothing passes or fails.

    Args:
        rows: those that come.
        passed: those that pass; None for what is no condition.
    """
    if passed is None:
        return {"AND": rows // 2, "OR": rows // 2}
    return {"AND": isqrt(rows * passed), "OR": isqrt(rows * max(0, rows - passed))}
