import random
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal

import pytest

from harness.metrics.comparison import Tolerance, compare
from harness.metrics.distinct import Row

JUST = 1 + 9e-10
MORE = 1 + 2e-9


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ([(1,), (2,)], [(2,), (1,)], True),
        ([(1,), (1,)], [(1,)], False),
        ([], [], True),
        ([], [(None,)], False),
        ([(1,)], [(1.0,)], True),
        ([(1,)], [(Decimal("1.00"),)], True),
        ([(Decimal("0.1"),)], [(0.1,)], True),
        ([(True,), (False,)], [(1,), (0,)], True),
        ([(1 / 3,)], [(Decimal("0.33333333333"),)], True),
        ([(1 / 3,)], [(0.333333,)], False),
        ([(0.0,)], [(-0.0,)], True),
        ([(0.0,)], [(1e-17,)], False),
        ([(1e300,)], [(1e300 * JUST,)], True),
        ([(float("inf"),)], [(1e308,)], False),
        ([(float("inf"),)], [(float("inf"),)], True),
        ([(2**53 + 1,)], [(Decimal(2**53 + 1),)], True),
        ([(2**53 + 1,)], [(2**53,)], False),
        ([(10**15,)], [(10**15 + 1,)], False),
        ([(10**15,)], [(10**15 + 1.0,)], False),
        ([(14472334024676221,)], [(14472334024676220.0,)], False),
        ([(2**53,)], [(2.0**53,)], True),
        ([(3,)], [(3.0000000000000004,)], False),
        ([(3.0,)], [(3.0000000000000004,)], True),
        ([(Decimal("3.00"),)], [(3.0000000000000004,)], True),
        ([(2**53 + 1,)], [(Decimal(2**53 + 1).quantize(Decimal("0.00")),)], True),
        ([(2**53 + 1,)], [(Decimal(2**53 + 2).quantize(Decimal("0.00")),)], False),
        ([(2**64 - 1,)], [(2.0**64,)], True),
        ([(1,), (1.0,)], [(1.0,), (1.0000000001,)], True),
        ([(1, 2.0), (1.0, 2.0)], [(1.0, 2.0), (1.0, 2.0000000001)], True),
        ([("1",)], [(1,)], False),
        ([("a",)], [("A",)], False),
        ([("a ",)], [("a",)], False),
        ([(b"a",)], [("a",)], False),
        ([(b"a",)], [(memoryview(b"a"),)], True),
        ([(None,)], [(None,)], True),
        ([(None,)], [(0,)], False),
        ([(None,)], [("",)], False),
        ([(1, 2)], [(1,)], False),
        ([(1, "a"), (2, "b")], [(1, "b"), (2, "a")], False),
    ],
)
def test_rows_are_the_same_by_value_and_multiplicity(
    left: Sequence[Row], right: Sequence[Row], *, same: bool
) -> None:
    assert compare(left, right).same_bag is same
    assert compare(right, left).same_bag is same


@pytest.mark.parametrize(
    ("stored", "driver", "same"),
    [
        ("2020-02-29", date(2020, 2, 29), True),
        ("2020/02/29", date(2020, 2, 29), True),
        ("02/29/2020", date(2020, 2, 29), True),
        ("2020-02-29 01:02:03", datetime(2020, 2, 29, 1, 2, 3, tzinfo=UTC), True),
        ("2020-02-29 01:02:03.0", datetime(2020, 2, 29, 1, 2, 3, tzinfo=UTC), True),
        ("2020-02-29 01:02:03.5", datetime(2020, 2, 29, 1, 2, 3, 500_000, tzinfo=UTC), True),
        ("2020-02-29 01:02:03", datetime(2020, 2, 29, 3, 2, 3, tzinfo=timezone(timedelta(hours=2))), True),
        ("2020-02-29", datetime(2020, 2, 29, tzinfo=UTC), True),
        ("2020-02-29", date(2020, 2, 28), False),
        ("2020", date(2020, 1, 1), False),
        ("01:02:03", time(1, 2, 3), True),
    ],
)
def test_a_date_of_a_driver_is_iso_text(stored: str, driver: object, *, same: bool) -> None:
    assert compare([(stored,)], [(driver,)]).same_bag is same


def test_text_that_looks_like_a_date_is_text_where_neither_side_has_dates() -> None:
    assert not compare([("2020-02-29",)], [("2020-02-29 00:00:00",)]).same_bag


def test_a_set_forgets_how_often_and_an_order_does_not() -> None:
    rows: list[Row] = [(1, "a"), (2, None), (1, "a")]
    thrice = compare(rows, [(1, "a"), (2, None)])
    assert (thrice.same_set, thrice.same_bag, thrice.only_left) == (True, False, ((1, "a"),))
    turned = compare(rows, rows[::-1])
    assert (turned.same_set, turned.same_bag, turned.same_order) == (True, True, True), "a palindrome"
    assert not compare([(1,), (2,)], [(2,), (1,)]).same_order
    assert compare([(1.0,), (2.0,)], [(1,), (2 * JUST,)]).same_order


def test_rows_without_a_partner_are_named_on_both_sides() -> None:
    found = compare([(1,), (2,), (3.0,)], [(3,), (4,)])
    assert found.only_left == ((1,), (2,))
    assert found.only_right == ((4,),)


def test_numbers_are_matched_and_not_rounded() -> None:
    edge = 0.1234567895
    assert compare([(edge * (1 - 4e-10),)], [(edge * (1 + 4e-10),)]).same_bag
    assert compare([(1.0,)], [(JUST,)]).same_bag
    assert not compare([(1.0,)], [(MORE,)]).same_bag


def test_where_closeness_is_no_equivalence_rows_are_matched_one_to_one() -> None:
    chain: list[Row] = [(1.0, "x"), (JUST, "x"), (JUST * JUST, "x")]
    assert compare(chain, chain[::-1]).same_bag
    assert compare(chain[:1], chain[1:2]).same_bag
    assert not compare(chain[:1], chain[2:]).same_bag
    crossing_left: list[Row] = [(1.0, 5.0), (JUST, 3.0), (JUST * JUST, 4.0)]
    crossing_right: list[Row] = [(1.0, 3.0), (JUST, 5.0), (JUST, 4.0)]
    assert compare(crossing_left, crossing_right).same_bag


def test_a_matching_is_found_where_neighbours_have_to_give_way() -> None:
    left: list[Row] = [(1.0, 1.0), (1.0, JUST)]
    right: list[Row] = [(1.0, JUST * JUST), (JUST, JUST)]
    assert compare(left, right).same_bag, "the first row fits the second alone"


def test_consecutive_integers_beside_floats_stay_apart() -> None:
    left: list[Row] = [(float(10**10 + i),) for i in range(2_000)]
    right: list[Row] = [(10**10 + i,) for i in range(2_000)]
    assert compare(left, right[::-1]).same_bag
    assert compare(left, right[1:]).only_left, "one is missing, whichever is said to be"


@pytest.mark.slow
def test_many_rows_of_floats_in_another_order() -> None:
    chance = random.Random(7)  # noqa: S311 - the same rows every time
    left: list[Row] = [(i, chance.random() * 1000, str(i % 7), None) for i in range(20_000)]
    right: list[Row] = [(a, b * (1 + chance.uniform(-4e-10, 4e-10)), c, d) for a, b, c, d in left]  # type: ignore[operator]
    chance.shuffle(right)
    assert compare(left, right).same_bag
    right[0] = (*right[0][:3], "")
    assert not compare(left, right).same_set


def test_a_tolerance_can_be_absolute() -> None:
    assert compare([(0.0,)], [(1e-17,)], tolerance=Tolerance(1e-9, 1e-9)).same_bag
