"""Rows of two engines in values that are equal where they are the same."""

from datetime import UTC, date, datetime
from decimal import Decimal
from math import nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.metrics.accuracy import ex
from harness.metrics.comparison import BESIDE_INTEGERS, alike, compare
from harness.metrics.distinct import Row

SAME: list[tuple[list[Row], list[Row]]] = [
    ([(Decimal("0.1"),)], [(0.1,)]),
    ([(0.1 + 0.2,)], [(0.3,)]),
    ([(0.3,), (0.1 + 0.2,)], [(0.1 + 0.2,), (0.3,)]),
    ([(True,)], [(1,)]),
    ([(Decimal(3),)], [(3.0000000000001,)]),
    ([(date(2020, 1, 2),)], [("2020-01-02",)]),
    ([(datetime(2020, 1, 2, tzinfo=UTC),)], [("2020-01-02 00:00:00",)]),
    ([(nan,)], [(Decimal("NaN"),)]),
    ([(10**17, "a")], [(10**17, "a")]),
    ([], []),
    ([(Decimal("5.3333"),)], [(16 / 3,)]),
    ([(Decimal("0.00005"),)], [(0.0000451,)]),
]
OTHER: list[tuple[list[Row], list[Row]]] = [
    ([(1, 2)], [(1,)]),
    ([(10**17 + 1,)], [(10**17,)]),
    ([("1",)], [(1,)]),
    ([(1.001,)], [(1.0,)]),
    ([(None,)], [(0,)]),
    ([(1,)], []),
    ([(Decimal("5.333"),)], [(16 / 3,)]),
    ([(Decimal("5.3334"),)], [(16 / 3,)]),
    ([(Decimal(5),)], [(16 / 3,)]),
    ([(5.3333,)], [(16 / 3,)]),
]


@pytest.mark.parametrize(("left", "right"), SAME)
def test_what_is_the_same_by_value_is_equal(left: list[Row], right: list[Row]) -> None:
    assert ex(*alike(left, right)) == 1.0


@pytest.mark.parametrize(("left", "right"), OTHER)
def test_what_is_not_stays_apart(left: list[Row], right: list[Row]) -> None:
    assert ex(*alike(left, right)) == 0.0


VALUES = st.one_of(
    st.integers(-5, 5), st.sampled_from([0.1, 0.3, 0.1 + 0.2, 1e9, 2.5]), st.none(), st.sampled_from("ab")
)
ROWS = st.lists(st.tuples(VALUES, VALUES), max_size=6)


@given(ROWS, ROWS)
def test_sets_of_rows_are_equal_where_the_comparison_by_value_says_so(
    left: list[Row], right: list[Row]
) -> None:
    assert bool(ex(*alike(left, right))) == compare(left, right, tolerance=BESIDE_INTEGERS).same_set
