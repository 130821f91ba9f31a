"""EX, its stricter and laxer variants, and which of them follow from which."""

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.metrics.accuracy import (
    Answers,
    ex,
    ex_bag,
    ex_columns,
    ex_ordered,
    ex_rounded,
    ex_strict,
    ex_subset,
)
from harness.metrics.comparison import Ranking
from harness.metrics.distinct import Row

NAN = float("nan")


@pytest.mark.parametrize(
    ("predicted", "gold", "score"),
    [
        ([(1,)], [(1,)], 1.0),
        ([], [], 1.0),
        ([(1,)], [], 0.0),
        ([(1,), (1,), (2,)], [(2,), (1,)], 1.0),  # a set: order and duplicates do not count
        ([(1, 2)], [(2, 1)], 0.0),  # the order of columns does
        ([(1, 1)], [(1,)], 0.0),
        ([(Decimal(1),)], [(1.0,)], 1.0),  # Python's equality of numbers
        ([(True,)], [(1,)], 1.0),
        ([("1",)], [(1,)], 0.0),
        ([(date(2012, 1, 1),)], [("2012-01-01",)], 0.0),
        ([(None,)], [(None,)], 1.0),
        ([(None,)], [(0,)], 0.0),
        ([("a",)], [("A",)], 0.0),
        ([(0.1 + 0.2,)], [(0.3,)], 0.0),  # no tolerance
        ([(-0.0,)], [(0.0,)], 1.0),
        ([(NAN,)], [(float("nan"),)], 0.0),
        ([([1],)], [([1],)], 0.0),  # an array cannot be hashed: the script scores 0
    ],
)
def test_ex_is_the_official_comparison(
    predicted: Sequence[tuple[object, ...]], gold: Sequence[tuple[object, ...]], score: float
) -> None:
    assert ex(predicted, gold) == score


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


@given(pair=related(EXACT), ordered=st.booleans())
def test_strict_is_official_and_multiplicity_and_order_where_values_are_exact(
    pair: tuple[list[Row], list[Row]], *, ordered: bool
) -> None:
    gold, predicted = pair
    expected = ex(predicted, gold) == 1.0 and (
        predicted == gold if ordered else Counter(predicted) == Counter(gold)
    )
    assert ex_strict(predicted, gold, Answers(ordered)) == float(expected)


@given(pair=related(NUMBERS | EXACT), ordered=st.booleans())
def test_strict_is_symmetric_where_gold_allows_nothing_else(
    pair: tuple[list[Row], list[Row]], *, ordered: bool
) -> None:
    one, other = pair
    answers = Answers(ordered)
    assert ex_strict(one, other, answers) == ex_strict(other, one, answers)
    assert ex_strict(one, one, answers) == 1.0


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


Rows = Sequence[Row]
Metric = Callable[[Rows, Rows], float]


def ordered(predicted: Rows, gold: Rows) -> float:
    return ex_ordered(predicted, gold, lambda: Answers(ordered=True))


def unordered(predicted: Rows, gold: Rows) -> float:
    return ex_ordered(predicted, gold, lambda: Answers(ordered=False))


RELATIONS: dict[str, Metric] = {
    "ordered": ordered, "unordered": unordered, "bag": ex_bag, "ex": ex, "rounded": ex_rounded,
    "columns": ex_columns, "subset": ex_subset,
}  # fmt: skip

FOLLOWS = (
    ("ordered", "unordered"), ("unordered", "bag"), ("bag", "ex"), ("ex", "rounded"), ("ex", "columns"),
    ("columns", "subset"),
)  # fmt: skip

A, B = (1, "a"), (2, "b")
CASES: list[tuple[Rows, Rows, str]] = [
    ([A, B], [A, B], "ordered unordered bag ex rounded columns subset"),
    ([B, A], [A, B], "unordered bag ex rounded columns subset"),
    ([A, B, B], [A, B], "ex rounded columns subset"),
    ([("a", 1), ("b", 2)], [A, B], "columns subset"),
    ([("a", 0, 1), ("b", 0, 2)], [A, B], "subset"),
    ([(1, 0)], [(1,)], "subset"),
    ([(1,)], [(1, 1)], ""),
    ([("b", 1), ("a", 2)], [A, B], ""),
    ([(1.004,)], [(1.001,)], "rounded"),
    ([(Decimal("1.001"),)], [(1,)], "rounded"),
    ([(1.01,)], [(1.02,)], ""),
    ([("1.001",)], [("1.002",)], ""),
    ([], [], "ordered unordered bag ex rounded columns subset"),
    ([], [A], ""),
    ([A], [], ""),
    ([([1],)], [([1],)], ""),
    ([(float("inf"),)], [(float("inf"),)], "ordered unordered bag ex rounded columns subset"),
    ([(Decimal("NaN"),)], [(1,)], ""),
    ([(None, 1)], [(1, None)], "columns subset"),
    # Each column by itself is gold's, and the rows are not.
    ([(1, 1), (2, 2)], [(1, 2), (2, 1)], ""),
    ([(1, 1, 2), (2, 2, 1)], [(1, 2), (2, 1)], "subset"),
]


@pytest.mark.parametrize(("predicted", "gold", "same"), CASES)
def test_by_which_a_result_is_right(predicted: Rows, gold: Rows, same: str) -> None:
    assert [name for name, metric in RELATIONS.items() if metric(predicted, gold)] == same.split()


EXACT_HALF = Decimal("2.67499999999999982236431605997495353221893310546875")
"""Equal to the float, and not to what it is written as."""

VALUES = st.one_of(
    st.integers(0, 2), st.sampled_from([0.125, 1.0, 2.675, Decimal("1.00"), Decimal("2.675"), EXACT_HALF]),
    st.none(), st.sampled_from("ab"), st.just(2**60), st.just(float(2**60)),
)  # fmt: skip


def results(width: int) -> st.SearchStrategy[list[Row]]:
    return st.lists(st.tuples(*[VALUES] * width), max_size=4)


PAIRS = st.tuples(st.integers(1, 3), st.integers(1, 3)).flatmap(
    lambda widths: st.tuples(results(widths[0]), results(widths[1]))
)
SHUFFLED = results(3).flatmap(lambda rows: st.tuples(st.permutations(rows), st.just(rows)))


@given(st.one_of(PAIRS, SHUFFLED))
def test_what_is_right_by_one_is_right_by_all_that_follow(pair: tuple[Rows, Rows]) -> None:
    right = {name for name, metric in RELATIONS.items() if metric(*pair)}
    assert {later for first, later in FOLLOWS if first in right} <= right


@given(results(3), st.permutations(range(3)), results(1))
def test_columns_in_any_order_beside_others_are_found(rows: Rows, order: Sequence[int], more: Rows) -> None:
    moved = [tuple(row[place] for place in order) for row in rows]
    assert ex_columns(moved, rows) == 1.0
    added = [(*row, *more[number % len(more)]) if more else row for number, row in enumerate(moved)]
    assert ex_subset(added, rows) == 1.0
