"""Intervals and tests against published figures, against scipy, and against every resample there is."""

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import binomtest, bootstrap

from harness.metrics.statistics import (
    CONFIDENCE,
    RESAMPLES,
    McNemar,
    MeanDifference,
    bootstrap_mean,
    independent_difference,
    mcnemar,
    paired_difference,
    wilson,
)

SCORES = st.sampled_from([0.0, 0.25, 1 / 3, 0.5, 2 / 3, 0.9, 1.0, 1.25**0.5])
PAIRS = st.lists(st.tuples(SCORES, SCORES), min_size=1, max_size=40)


@pytest.mark.parametrize(
    ("successes", "trials", "expected"),
    [
        # Newcombe 1998, "Two-sided confidence intervals for the single proportion: comparison of seven
        # methods", Statistics in Medicine 17, 857-872, table I, method 3 (score, no correction).
        (81, 263, (0.2553, 0.3662)),
        (15, 148, (0.0624, 0.1605)),
        (0, 20, (0.0, 0.1611)),
        (1, 29, (0.0061, 0.1718)),
        (29, 29, (0.8830, 1.0)),
    ],
)
def test_the_interval_of_a_share_is_wilsons(
    successes: int, trials: int, expected: tuple[float, float]
) -> None:
    assert wilson(successes, trials) == pytest.approx(expected, abs=5e-5)


def test_the_interval_of_a_share_is_scipys() -> None:
    for trials in (1, 2, 7, 66, 500):
        for successes in range(0, trials + 1, max(1, trials // 20)):
            found = binomtest(successes, trials).proportion_ci(CONFIDENCE, method="wilson")
            assert wilson(successes, trials) == pytest.approx((found.low, found.high), abs=1e-12)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ((48, 80), (56, 70), (0.0524, 0.3339)), ((3, 10), (9, 10), (0.1705, 0.8090)),
        ((2, 7), (6, 7), (0.0582, 0.8062)), ((0, 29), (5, 56), (-0.0381, 0.1926)),
        ((0, 20), (0, 10), (-0.1611, 0.2775)), ((0, 20), (10, 10), (0.6791, 1.0)),
    ],
)  # fmt: skip
def test_the_interval_of_a_difference_of_two_shares_is_newcombes(
    first: tuple[int, int], second: tuple[int, int], expected: tuple[float, float]
) -> None:
    """Table II of Newcombe 1998, method 10."""
    one, other = wilson(*first), wilson(*second)
    assert one is not None
    assert other is not None
    shares = (right / asked for right, asked in (first, second))
    found = independent_difference(next(shares), one, next(shares), other)
    assert found == pytest.approx(expected, abs=5e-5)


def test_a_share_of_nothing_has_no_interval() -> None:
    assert wilson(0, 0) is None


@given(st.integers(1, 2000), st.data())
def test_the_interval_of_a_share_holds_it_and_mirrors(trials: int, data: st.DataObject) -> None:
    successes = data.draw(st.integers(0, trials))
    interval, mirrored = wilson(successes, trials), wilson(trials - successes, trials)
    assert interval is not None
    assert mirrored is not None
    assert 0 <= interval[0] <= successes / trials <= interval[1] <= 1
    assert interval[1] > interval[0], "one kind of answer alone still leaves doubt"
    assert interval == pytest.approx((1 - mirrored[1], 1 - mirrored[0]))


def test_the_interval_of_a_mean_is_that_of_all_possible_resamples() -> None:
    values = [0.0, 0.25, 0.3, 0.9, 1.0, 0.55]
    means = [sum(sample) / len(values) for sample in product(values, repeat=len(values))]
    assert bootstrap_mean(values) == pytest.approx(tuple(np.quantile(means, [0.025, 0.975])), abs=0.01)


@pytest.mark.parametrize("size", [20, 500])
def test_the_interval_of_a_mean_is_scipys(size: int) -> None:
    values = np.random.default_rng(size).exponential(size=size)
    found = bootstrap((values,), np.mean, method="percentile", rng=1).confidence_interval
    spread = float(values.std()) / size**0.5
    assert bootstrap_mean(list(values)) == pytest.approx((found.low, found.high), abs=0.15 * spread)


def test_the_treated_mice_of_the_textbook() -> None:
    # Efron and Tibshirani 1993, table 2.1; the mean is 86.86, its bootstrapped standard error 23.
    interval = bootstrap_mean([94, 197, 16, 38, 99, 141, 23])
    assert interval is not None
    assert interval == pytest.approx((86.86 - 1.96 * 23, 86.86 + 1.96 * 23), abs=5)


@pytest.mark.parametrize("values", [[], [0.5], [1.0] * 40, [0.0, 0.0]])
def test_values_that_are_all_the_same_have_no_interval(values: list[float]) -> None:
    assert bootstrap_mean(values) is None


@given(st.lists(SCORES, min_size=2, max_size=60), st.randoms(use_true_random=False))
def test_the_interval_of_a_mean_holds_it_whatever_the_order(values: list[float], random: object) -> None:
    assume(len(set(values)) > 1)
    interval = bootstrap_mean(values)
    assert interval is not None
    assert min(values) <= interval[0] <= sum(values) / len(values) + 1e-12
    assert sum(values) / len(values) - 1e-12 <= interval[1] <= max(values)
    shuffled = list(values)
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # hypothesis' Random
    assert bootstrap_mean(shuffled) == interval


def series(*counts: int) -> tuple[list[bool], list[bool]]:
    """Right and wrong of two sides: both right, only first, only second, both wrong."""
    cells = [(True, True), (True, False), (False, True), (False, False)]
    pairs = [cell for cell, count in zip(cells, counts, strict=True) for _ in range(count)]
    return [one for one, _ in pairs], [other for _, other in pairs]


@pytest.mark.parametrize(
    ("counts", "p"),
    [
        # Fagerland, Lydersen and Laake 2013, "The McNemar test for binary matched-pairs data: mid-p and
        # asymptotic are better than exact conditional", BMC Medical Research Methodology 13:91: exact
        # conditional test of the two examples, https://doi.org/10.1186/1471-2288-13-91.
        ((1, 1, 7, 12), 0.0703),
        ((59, 6, 16, 80), 0.0525),
        # By hand: 2 * (1 + 3) / 2**3 is above 1.
        ((5, 1, 2, 5), 1.0),
        ((0, 0, 6, 0), 2 / 2**6),
        ((9, 0, 0, 9), 1.0),
        ((0, 0, 0, 0), 1.0),
    ],
)
def test_mcnemars_test_is_exact(counts: tuple[int, int, int, int], p: float) -> None:
    found = mcnemar(*series(*counts))
    assert (found.only_first, found.only_second) == counts[1:3]
    assert found.p == pytest.approx(p, abs=5e-5)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=60))
def test_mcnemars_test_is_the_same_from_both_sides(pairs: list[tuple[bool, bool]]) -> None:
    first, second = [one for one, _ in pairs], [other for _, other in pairs]
    found, swapped = mcnemar(first, second), mcnemar(second, first)
    assert found == McNemar(swapped.only_second, swapped.only_first, swapped.p)
    assert 0 < found.p <= 1
    assert mcnemar(first, first) == McNemar(0, 0, 1.0)


def test_series_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="shorter"):
        mcnemar([True, True], [True])
    with pytest.raises(ValueError, match="shorter"):
        paired_difference([1.0, 1.0], [1.0])
    with pytest.raises(ValueError, match="no pair"):
        paired_difference([], [])


@given(PAIRS)
def test_a_difference_holds_its_mean_and_is_symmetric(pairs: list[tuple[float, float]]) -> None:
    first, second = [one for one, _ in pairs], [other for _, other in pairs]
    found, swapped = paired_difference(first, second), paired_difference(second, first)
    assert found.mean == pytest.approx(sum(second) / len(pairs) - sum(first) / len(pairs))
    assert 0 < found.p <= 1
    assert (swapped.mean, swapped.p) == (-found.mean, found.p)
    if found.interval is None or swapped.interval is None:
        assert found.interval is swapped.interval
        assert len({other - one for one, other in pairs}) == 1
    else:
        assert found.interval[0] <= found.mean <= found.interval[1]
        assert swapped.interval == pytest.approx((-found.interval[1], -found.interval[0]))
    assert paired_difference(first, second) == found, "the seed is fixed"


@pytest.mark.parametrize("size", [1, 2, 500])
def test_no_difference_at_all_proves_nothing(size: int) -> None:
    assert paired_difference([0.5] * size, [0.5] * size) == MeanDifference(0.0, None, 1.0)


@pytest.mark.parametrize(
    ("differing", "same", "p"),
    [
        (1, 0, 1.0),
        (1, 499, 1.0),
        (2, 498, 0.5),
        (5, 495, 2 / 2**5),
        (6, 494, 2 / 2**6),
    ],
)
def test_few_questions_that_differ_prove_no_more_than_their_signs(
    differing: int, same: int, p: float
) -> None:
    first = [0.0] * (differing + same)
    second = [1.0] * differing + [0.0] * same
    assert paired_difference(first, second).p == pytest.approx(p, abs=2e-3)
    assert paired_difference(first, second).p >= p


def test_many_that_differ_alike_are_proof_and_many_that_differ_both_ways_are_none() -> None:
    assert paired_difference([0.0] * 30, [0.5] * 30).p == 2 / (RESAMPLES + 1)
    one_way = paired_difference([0.0] * 100, [0.5] * 30 + [0.0] * 70)
    assert one_way.p == 2 / (RESAMPLES + 1)
    assert one_way.interval is not None
    assert one_way.interval[0] > 0
    both_ways = paired_difference([0.0, 0.5] * 50, [0.5, 0.0] * 50)
    assert both_ways.p > 0.9


@pytest.mark.slow
def test_of_many_samples_without_a_difference_about_one_in_twenty_seems_to_have_one() -> None:
    generator = np.random.default_rng(7)
    below = 0
    for _ in range(400):
        pairs = generator.choice([0.0, 0.25, 0.5, 1.0], size=(60, 2))
        below += paired_difference(list(pairs[:, 0]), list(pairs[:, 1])).p < 0.05
    assert 8 <= below <= 34, "5 % of 400 are 20, with a standard deviation of 4.4"
