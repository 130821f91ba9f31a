"""How good a plan's estimates are, and what its cost says: pure functions."""

from collections.abc import Sequence
from math import floor

from scipy.stats import rankdata


def q_error(estimated: float, real: float) -> float:
    """By which factor an estimate is wrong, in either direction: 1 is right.

    Less than one row counts as one, so that an empty result makes no infinity. Moerkotte, Neumann and
    Steidl 2009, "Preventing Bad Plans by Bounding the Impact of Cardinality Estimation Errors",
    doi:10.14778/1687627.1687738.

    Args:
        estimated: rows, of one execution of a step or of all.
        real: rows, of the same.
    """
    expected, came = max(estimated, 1.0), max(real, 1.0)
    return max(expected / came, came / expected)


def quantile(values: Sequence[float], share: float) -> float | None:
    """The least value that at least so large a share of values does not exceed; None where there is none.

    Args:
        values: in any order.
        share: in (0, 1].
    """
    if not values:
        return None
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, -floor(-share * len(ordered)) - 1))]


def rank_correlation(ones: Sequence[float], others: Sequence[float]) -> float | None:
    """Spearman's coefficient of pairs of values, in [-1, 1], equal values with their mean rank.

    None for fewer than three pairs, and where all values of a side are the same.

    Args:
        ones: one value of each pair.
        others: the other ones, in the same order.
    """
    if len(ones) != len(others):
        raise ValueError("both sides of a correlation have as many values")
    if len(ones) < 3 or len(set(ones)) == 1 or len(set(others)) == 1:  # noqa: PLR2004 - two lie on a line
        return None
    x, y = rankdata(ones), rankdata(others)
    x, y = x - x.mean(), y - y.mean()
    return float((x @ y) / ((x @ x) * (y @ y)) ** 0.5)
