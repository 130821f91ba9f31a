"""The ways in which two results can be the same, and which of them follow from which."""

from collections.abc import Callable, Sequence
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.metrics import accuracy
from harness.metrics.accuracy import Answers, ex, ex_bag, ex_columns, ex_ordered, ex_rounded, ex_subset
from harness.metrics.distinct import Row, TooManyRows

Rows = Sequence[Row]
Metric = Callable[[Rows, Rows], float]


def ordered(predicted: Rows, gold: Rows) -> float:
    return ex_ordered(predicted, gold, lambda: Answers(ordered=True))


def unordered(predicted: Rows, gold: Rows) -> float:
    return ex_ordered(predicted, gold, lambda: Answers(ordered=False))


ALL: dict[str, Metric] = {
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
    assert [name for name, metric in ALL.items() if metric(predicted, gold)] == same.split()


EXACT = Decimal("2.67499999999999982236431605997495353221893310546875")
"""Equal to the float, and not to what it is written as."""

VALUES = st.one_of(
    st.integers(0, 2), st.sampled_from([0.125, 1.0, 2.675, Decimal("1.00"), Decimal("2.675"), EXACT]),
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
    right = {name for name, metric in ALL.items() if metric(*pair)}
    assert {later for first, later in FOLLOWS if first in right} <= right


@given(results(3), st.permutations(range(3)), results(1))
def test_columns_in_any_order_beside_others_are_found(rows: Rows, order: Sequence[int], more: Rows) -> None:
    moved = [tuple(row[place] for place in order) for row in rows]
    assert ex_columns(moved, rows) == 1.0
    added = [(*row, *more[number % len(more)]) if more else row for number, row in enumerate(moved)]
    assert ex_subset(added, rows) == 1.0


def test_columns_that_take_too_long_to_order_have_no_score(monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns of the same values, each in another order of rows."""
    size = 16
    columns = [[(row * step) % size for row in range(size)] for step in (1, 3, 5, 7)]
    predicted = list(zip(*columns, strict=True))
    gold = list(zip(*(columns[place] for place in (1, 0, 2, 3)), strict=True))
    assert ex_columns(predicted, gold) == 1.0
    monkeypatch.setattr(accuracy, "_MOST_STEPS", 4 * size)
    with pytest.raises(TooManyRows):
        ex_columns(predicted, gold)
