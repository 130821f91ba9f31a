"""Statistics of scores: intervals of shares and means, tests of two series on the same questions.

Pure functions of numbers; docs/how-to/compare.md explains which is used for what, why, and what they cannot
show. Random draws use a fixed seed: equal input gives equal output.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    Floats = np.ndarray[tuple[int], np.dtype[np.float64]]
    Draws = np.ndarray[tuple[int, int], np.dtype[np.int32]]

Interval = tuple[float, float]
"""Lower and upper bound."""

SIGNIFICANT = 0.05
"""A p-value below it counts as proof, as usual: chance alone produces one in one test of 20."""
CONFIDENCE = 1 - SIGNIFICANT
"""The share of such intervals that contain the true value."""
RESAMPLES = 9_999
"""Enough that another seed moves the bounds by only a few hundredths of their distance from the mean."""

_SEED = 20_230_504
_BLOCK = 100
"""Resamples averaged at a time: few enough that their values stay in a processor's cache."""
_ROUNDING = 1e-12
"""A mean of differences this close to 0, relative to the largest, is 0 up to the rounding of a sum."""


@dataclass(frozen=True)
class McNemar:
    """McNemar's test of two series of right and wrong answers to the same questions.

    `only_first` and `only_second` count the questions that one has right and the other wrong.
    """

    only_first: int
    only_second: int
    p: float
    """Probability of counts at least this unequal if both were equally good."""


@dataclass(frozen=True)
class MeanDifference:
    """The mean of second minus first; the interval is None if all differences are the same."""

    mean: float
    interval: Interval | None
    p: float
    """Two-sided, of the hypothesis that the mean difference is 0."""


def wilson(successes: int, trials: int) -> Interval | None:
    """Return the score interval of a share, in [0, 1]; None without trials.

    Definition: Wilson 1927, "Probable Inference, the Law of Succession, and Statistical Inference", Journal
    of the American Statistical Association 22, 209-212; without a correction for continuity. Written out,
    since every run needs it and importing `scipy.stats`, whose `binomtest` gives the same, takes seconds.
    """
    if not trials:
        return None
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    share, weight = successes / trials, 1 + z * z / trials
    centre = (share + z * z / (2 * trials)) / weight
    margin = z * math.sqrt(share * (1 - share) / trials + (z / (2 * trials)) ** 2) / weight
    # Rounding must not push a bound past the share, which is 0 or 1 exactly where all are alike.
    return max(0.0, min(share, centre - margin)), min(1.0, max(share, centre + margin))


def bootstrap_mean(values: Sequence[float]) -> Interval | None:
    """Return the percentile interval of a mean, whatever the order of the values.

    Definition: Efron and Tibshirani 1993, "An Introduction to the Bootstrap", section 13.3.

    Returns:
        The interval, or None if all values are the same: they show nothing about how others would vary.
    """
    if len(set(values)) <= 1:
        return None
    return _interval_of(tuple(sorted(values)))


@lru_cache(maxsize=1024)
def _interval_of(values: tuple[float, ...]) -> Interval:
    """Return the interval of sorted values; a run's end and each of its reports ask for the same ones."""
    return _percentiles(_resampled_means(values), math.fsum(values) / len(values))


def mcnemar(first: Sequence[bool], second: Sequence[bool]) -> McNemar:
    """Run the exact conditional test of two paired shares, two-sided.

    Definition: McNemar 1947, "Note on the sampling error of the difference between correlated proportions
    or percentages", Psychometrika 12, 153-157; exact by the binomial distribution of the questions on which
    the two differ.

    Raises:
        ValueError: the series are not of the same length.
    """
    only_first = sum(one and not other for one, other in zip(first, second, strict=True))
    only_second = sum(other and not one for one, other in zip(first, second, strict=True))
    if not only_first + only_second:
        return McNemar(0, 0, 1.0)
    from scipy.stats import binomtest  # noqa: PLC0415 - takes seconds, and most commands do without

    p = binomtest(only_first, only_first + only_second).pvalue
    return McNemar(only_first, only_second, float(p))


def paired_difference(first: Sequence[float], second: Sequence[float]) -> MeanDifference:
    """Estimate the mean of second minus first, with a bootstrap over the pairs.

    The p-value inverts the percentile interval (Hall 1992, "The Bootstrap and Edgeworth Expansion", section
    3.12), counting the estimate itself as one more resample. Where few pairs differ a bootstrap claims too
    much; so p is never below what they could show if only their signs were left to chance, 2 / 2^pairs.

    Args:
        first: scores, one a question; empty is an error.
        second: scores of the same questions in the same order. The order decides which resamples are drawn.

    Raises:
        ValueError: the series are empty or not of the same length.
    """
    differences = [other - one for one, other in zip(first, second, strict=True)]
    if not differences:
        raise ValueError("there are no pairs to compare")
    mean = math.fsum(differences) / len(differences)
    largest = max(map(abs, differences))
    if not largest:
        return MeanDifference(0.0, None, 1.0)
    fewest = min(1.0, 2.0 ** (1 - sum(difference != 0 for difference in differences)))
    if len(set(differences)) == 1:
        return MeanDifference(mean, None, max(fewest, 2 / (RESAMPLES + 1)))
    means = _resampled_means(differences)
    rounding = _ROUNDING * largest
    tail = min(int((means <= rounding).sum()), int((means >= -rounding).sum()))
    p = min(1.0, 2 * (tail + 1) / (RESAMPLES + 1))
    return MeanDifference(mean, _percentiles(means, mean), max(fewest, p))


def independent_difference(first: float, of_first: Interval, second: float, of_second: Interval) -> Interval:
    """Return the interval of second minus first for two means of different questions, from their intervals.

    Definition: Zou and Donner 2008, "Construction of confidence limits about effect measures: A general
    approach", Statistics in Medicine 27, 1693-1702. For shares with Wilson's intervals it is method 10 of
    Newcombe 1998, "Interval estimation for the difference between independent proportions", Statistics in
    Medicine 17, 873-890.
    """
    difference = second - first
    below = math.hypot(second - of_second[0], of_first[1] - first)
    above = math.hypot(of_second[1] - second, first - of_first[0])
    return difference - below, difference + above


def _resampled_means(values: Sequence[float]) -> "Floats":
    """Return the mean of each resample of the values."""
    import numpy as np  # noqa: PLC0415 - takes half a second, and most commands do without

    sample, draws = np.asarray(values, dtype=np.float64), _draws(len(values))
    means, block = np.empty(RESAMPLES), np.empty((_BLOCK, len(values)))
    for start in range(0, RESAMPLES, _BLOCK):
        drawn = draws[start : start + _BLOCK]
        # Nothing is out of bounds; "clip" is the mode that writes to `out` without a copy.
        np.take(sample, drawn, out=block[: len(drawn)], mode="clip")
        np.add.reduce(block[: len(drawn)], axis=1, out=means[start : start + _BLOCK])
    means /= len(values)
    return means


@lru_cache(maxsize=1)
def _draws(size: int) -> "Draws":
    """Draw which of `size` values each resample contains: the same for every series of that length."""
    import numpy as np  # noqa: PLC0415 - as above

    return np.random.default_rng(_SEED).integers(size, size=(RESAMPLES, size), dtype=np.int32)


def _percentiles(means: "Floats", mean: float) -> Interval:
    """Return the bounds around the middle of the resamples; they always include the estimate."""
    import numpy as np  # noqa: PLC0415 - as above

    low, high = np.quantile(means, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return min(float(low), mean), max(float(high), mean)
