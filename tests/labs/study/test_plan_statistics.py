"""Figures of plans: q-errors, quantiles and rank correlations by their definitions."""

from math import inf, log

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from harness.labs.study.measures import q_error, quantile, rank_correlation

ROWS = st.floats(0, 1e12)


@pytest.mark.parametrize(
    ("estimated", "real", "wrong_by"),
    [(10, 10, 1), (1, 100, 100), (100, 1, 100), (0, 0, 1), (0, 50, 50), (0.001, 0, 1), (0.5, 2, 2)],
)
def test_an_estimate_is_wrong_by_a_factor(estimated: float, real: float, wrong_by: float) -> None:
    assert q_error(estimated, real) == wrong_by


@given(ROWS, ROWS)
def test_a_q_error_is_the_same_in_both_directions_and_never_below_one(one: float, other: float) -> None:
    assert q_error(one, other) == q_error(other, one) >= 1
    assert q_error(one, other) < inf


@given(st.lists(st.floats(-1e6, 1e6), min_size=1), st.floats(0.01, 1))
def test_a_quantile_is_a_value_that_so_many_do_not_exceed(values: list[float], share: float) -> None:
    found = quantile(values, share)
    assert found in values
    assert sum(value <= found for value in values) >= share * len(values) - 1e-9
    below = [value for value in values if value < found]
    assert len(below) < share * len(values) + 1e-9


def test_of_nothing_there_is_no_quantile() -> None:
    assert quantile([], 0.5) is None


PAIRS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=3)


@given(PAIRS)
def test_a_rank_correlation_is_spearmans(pairs: list[tuple[int, int]]) -> None:
    ones, others = zip(*pairs, strict=True)
    found = rank_correlation(ones, others)
    if len(set(ones)) == 1 or len(set(others)) == 1:
        assert found is None
        return
    assert found == pytest.approx(spearmanr(ones, others).statistic)
    # It is a matter of order alone.
    stretched = [log(1 + value) for value in ones]
    assert rank_correlation(stretched, others) == pytest.approx(found)


def test_too_few_pairs_tell_nothing() -> None:
    assert rank_correlation([1, 2], [2, 1]) is None
    with pytest.raises(ValueError, match="as many values"):
        rank_correlation([1, 2, 3], [1, 2])
