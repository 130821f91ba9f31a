from collections import Counter
from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.metrics.accuracy import Answers, ex, ex_strict
from harness.metrics.comparison import Ranking
from harness.metrics.distinct import Row

AS_A_BAG = Answers()
IN_ORDER = Answers(ordered=True)
ALL = 2**62


@pytest.mark.parametrize(
    ("predicted", "gold", "as_a_bag", "in_order"),
    [
        ([], [], 1.0, 1.0),
        ([], [(1,)], 0.0, 0.0),
        ([(1,)], [], 0.0, 0.0),
        ([(1, "a"), (2, "b")], [(1, "a"), (2, "b")], 1.0, 1.0),
        ([(2, "b"), (1, "a")], [(1, "a"), (2, "b")], 1.0, 0.0),
        ([(1,), (1,)], [(1,)], 0.0, 0.0),
        ([(1,)], [(1,), (1,)], 0.0, 0.0),
        ([(1,), (2,), (2,)], [(1,), (1,), (2,)], 0.0, 0.0),
        ([(1,), (2,), (1,)], [(1,), (1,), (2,)], 1.0, 0.0),
        ([("a", 1)], [(1, "a")], 0.0, 0.0),
        ([(1, 1)], [(1,)], 0.0, 0.0),
        ([(None,)], [(None,)], 1.0, 1.0),
        ([(None,)], [(0,)], 0.0, 0.0),
        ([("",)], [(None,)], 0.0, 0.0),
    ],
)
def test_rows_count_as_often_as_they_are_there_and_in_order_only_where_gold_orders(
    predicted: Sequence[Row], gold: Sequence[Row], as_a_bag: float, in_order: float
) -> None:
    assert ex_strict(predicted, gold, AS_A_BAG) == as_a_bag
    assert ex_strict(predicted, gold, IN_ORDER) == in_order


@pytest.mark.parametrize(
    ("predicted", "gold", "strict", "official"),
    [
        (Decimal("1.10"), 1.1, 1.0, 0.0),
        (0.1 + 0.2, 0.3, 1.0, 0.0),
        (31.2, Decimal("31.2000"), 1.0, 0.0),
        (33.333333333333336, Decimal("33.3333333333333333"), 1.0, 0.0),
        (date(2020, 1, 2), "2020-01-02", 1.0, 0.0),
        (datetime(2020, 1, 2, tzinfo=UTC), date(2020, 1, 2), 1.0, 0.0),
        (bytearray(b"a"), b"a", 1.0, 0.0),
        (Decimal(1), 1, 1.0, 1.0),
        (True, 1, 1.0, 1.0),
        (1.0, 1, 1.0, 1.0),
        (2**53, 2**53 + 1, 0.0, 0.0),
        (33.33, 100 / 3, 0.0, 0.0),
        ("1", 1, 0.0, 0.0),
        ("1.0", 1.0, 0.0, 0.0),
        ("a", "A", 0.0, 0.0),
        ("a ", "a", 0.0, 0.0),
    ],
)
def test_values_are_the_same_by_what_they_mean(
    predicted: object, gold: object, strict: float, official: float
) -> None:
    assert ex_strict([(predicted,)], [(gold,)], IN_ORDER) == strict
    assert ex_strict([(gold,)], [(predicted,)], IN_ORDER) == strict
    if not isinstance(predicted, bytearray):
        assert ex([(predicted,)], [(gold,)]) == official


TIED = ((("a", 1),), (("b", 2), ("c", 2), ("c", 2)), (("d", 3),))
"""Rows in groups of equal sort keys."""


@pytest.mark.parametrize(
    ("start", "end", "predicted", "right"),
    [
        (0, 2, [("a", 1), ("b", 2)], True),
        (0, 2, [("a", 1), ("c", 2)], True),
        (0, 2, [("c", 2), ("a", 1)], False),
        (0, 2, [("a", 1), ("d", 3)], False),
        (0, 2, [("a", 1)], False),
        (0, 2, [("a", 1), ("b", 2), ("c", 2)], False),
        (0, 3, [("a", 1), ("c", 2), ("c", 2)], True),
        (0, 3, [("a", 1), ("b", 2), ("b", 2)], False),
        (2, 4, [("c", 2), ("b", 2)], True),
        (2, 4, [("c", 2), ("d", 3)], False),
        (3, 5, [("b", 2), ("d", 3)], True),
        (0, ALL, [("a", 1), ("c", 2), ("b", 2), ("c", 2), ("d", 3)], True),
        (0, ALL, [("a", 1), ("c", 2), ("d", 3), ("c", 2), ("b", 2)], False),
        (4, ALL, [("d", 3.0)], True),
        (4, ALL, [("d", "3")], False),
        (0, 0, [("a", 1)], False),
    ],
)
def test_any_choice_and_order_among_tied_rows_is_right(
    start: int, end: int, predicted: Sequence[Row], *, right: bool
) -> None:
    gold = [row for group in TIED for row in group][start:end]
    answers = Answers(ordered=True, rankings=(Ranking(TIED, start, end),))
    assert ex_strict(gold, gold, answers) == 1.0
    assert ex_strict(predicted, gold, answers) == float(right)


def test_an_answer_of_any_ranking_is_right_unless_it_has_no_rows() -> None:
    rankings = tuple(Ranking((rows,), 0, ALL) for rows in ((("x",),), (("y",),), ()))
    answers = Answers(rankings=rankings)
    assert [ex_strict([(name,)], [("x",)], answers) for name in "xyz"] == [1.0, 1.0, 0.0]
    assert ex_strict([], [("x",)], answers) == 0.0


EXACT = st.none() | st.integers(-2, 2) | st.booleans() | st.sampled_from(["", "1", "a", "A"])
NUMBERS = st.sampled_from([0.0, 0.1, 0.1 + 1e-17, 0.3, 0.1 + 0.2, 1.0, 1, Decimal("0.1"), Decimal(1), "1"])


@st.composite
def related(draw: st.DrawFn, values: st.SearchStrategy[object]) -> tuple[list[Row], list[Row]]:
    """Two results of which the second has rows of the first, repeated or left out, and some of its own."""
    row: st.SearchStrategy[Row] = st.tuples(values, values)
    one = draw(st.lists(row, min_size=1, max_size=4))
    return one, draw(st.permutations(one) | st.lists(st.sampled_from(one) | row, max_size=5))


@settings(derandomize=True, deadline=None)
@given(pair=related(EXACT), ordered=st.booleans())
def test_strict_is_official_and_multiplicity_and_order_where_values_are_exact(
    pair: tuple[list[Row], list[Row]], *, ordered: bool
) -> None:
    gold, predicted = pair
    expected = ex(predicted, gold) == 1.0 and (
        predicted == gold if ordered else Counter(predicted) == Counter(gold)
    )
    assert ex_strict(predicted, gold, Answers(ordered)) == float(expected)


@settings(derandomize=True, deadline=None)
@given(pair=related(NUMBERS | EXACT), ordered=st.booleans())
def test_strict_is_symmetric_where_gold_allows_nothing_else(
    pair: tuple[list[Row], list[Row]], *, ordered: bool
) -> None:
    one, other = pair
    answers = Answers(ordered)
    assert ex_strict(one, other, answers) == ex_strict(other, one, answers)
    assert ex_strict(one, one, answers) == 1.0


@settings(derandomize=True, deadline=None)
@given(
    groups=st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=4), max_size=4),
    start=st.integers(0, 6),
    kept=st.integers(0, 8),
    chance=st.randoms(use_true_random=False),
)
def test_every_sort_by_the_keys_then_cut_is_allowed(
    groups: list[list[int]], start: int, kept: int, chance: Random
) -> None:
    ranking = Ranking(tuple(tuple((value,) for value in group) for group in groups), start, start + kept)
    rows: list[Row] = []
    for group in ranking.groups:
        mixed = list(group)
        chance.shuffle(mixed)
        rows += mixed
    answer = rows[start : start + kept]
    assert ranking.allows(answer)
    assert not ranking.allows([*answer, (0,)])
    assert not ranking.allows([*answer[:-1], (9,)])
