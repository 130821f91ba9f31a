"""Columns of one result that have the rows of another: few, against all orders, and many."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import permutations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.metrics import columns
from harness.metrics.accuracy import ex_columns, ex_subset, fit_as_bags
from harness.metrics.distinct import TooManyRows

Rows = list[tuple[int, ...]]


def chosen(rows: Sequence[Sequence[int]], order: Sequence[int]) -> Rows:
    return [tuple(row[place] for place in order) for row in rows]


def some_order(predicted: Rows, gold: Rows, same: Callable[[Rows, Rows], bool]) -> bool:
    """True if some choice of columns gives gold's rows, by trying all."""
    orders = permutations(range(len(predicted[0])), len(gold[0]))
    return any(same(chosen(predicted, order), gold) for order in orders)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Rows, Rows]:
    """A prediction of few values, and gold made of some of its columns, now and then with another value."""
    values = st.integers(0, draw(st.integers(0, 2)))
    width = draw(st.integers(1, 5))
    predicted = draw(st.lists(st.tuples(*[values] * width), min_size=1, max_size=8))
    order = draw(st.permutations(range(width)))[: draw(st.integers(1, width))]
    gold = draw(st.permutations(chosen(predicted, order)))
    if draw(st.booleans()):
        changed = draw(st.integers(0, len(gold) - 1))
        gold[changed] = draw(st.tuples(*[values] * len(order)))
    return predicted, gold


@given(pairs())
def test_every_order_decides_the_same(pair: tuple[Rows, Rows]) -> None:
    predicted, gold = pair
    as_sets = some_order(predicted, gold, lambda one, other: set(one) == set(other))
    assert ex_subset(predicted, gold) == as_sets
    if len(predicted[0]) == len(gold[0]):
        assert ex_columns(predicted, gold) == as_sets
        as_bags = some_order(predicted, gold, lambda one, other: Counter(one) == Counter(other))
        assert fit_as_bags(predicted, gold) == as_bags
    else:
        assert ex_columns(predicted, gold) == 0.0


def flags(rows: int, width: int, seed: int = 0) -> Rows:
    chance = Random(seed)  # noqa: S311 - not for secrets
    return [tuple(chance.randrange(2) for _ in range(width)) for _ in range(rows)]


def mixed(rows: Rows, width: int | None = None) -> Rows:
    """The first columns in another order, and so the rows."""
    chance = Random(1)  # noqa: S311 - not for secrets
    order = list(range(len(rows[0]) if width is None else width))
    chance.shuffle(order)
    found = chosen(rows, order)
    chance.shuffle(found)
    return found


def other(rows: Rows) -> Rows:
    """The same with one flag turned, such that no row repeats another."""
    known = set(rows)
    for at, row in enumerate(rows):
        for place, value in enumerate(row):
            turned = (*row[:place], 1 - value, *row[place + 1 :])
            if turned not in known:
                return [*rows[:at], turned, *rows[at + 1 :]]
    raise AssertionError("all rows are there")


def rings(*lengths: int) -> Rows:
    """The edges of rings, each a row with 1 in the columns of its two ends."""
    ends, start = [], 0
    for length in lengths:
        ends += [(start + at, start + (at + 1) % length) for at in range(length)]
        start += length
    return [tuple(int(place in pair) for place in range(start)) for pair in ends]


def hadamard(order: int) -> Rows:
    """Flags of which all rows, and all columns, look the same: 1 where `row & column` has even parity."""
    return [tuple(1 - (row & place).bit_count() % 2 for place in range(order)) for row in range(order)]


CYCLIC = [tuple(row * step % 17 for step in range(1, 17)) for row in range(17)]
"""16 columns of the same values, each as often."""

SAME_WIDTH = {
    "12 flags in 100 rows": flags(100, 12),
    "16 flags in 1,000 rows": flags(1000, 16),
    "60 flags in 200 rows": flags(200, 60),
    "40 flags in 5 rows": flags(5, 40),
    "one flag for each row": [tuple(int(at == place) for place in range(40)) for at in range(40)],
    "rows that look the same": hadamard(16),
    "columns of the same values": CYCLIC,
    "rings": rings(5, 5, 5, 5),
}


@pytest.mark.parametrize("rows", SAME_WIDTH.values(), ids=SAME_WIDTH)
def test_any_order_of_columns_is_found(rows: Rows) -> None:
    gold = mixed(rows)
    assert (ex_columns(rows, gold), ex_subset(rows, gold), fit_as_bags(rows, gold)) == (1.0, 1.0, True)
    if max(map(max, rows)) == 1:
        changed = other(gold)
        assert (ex_columns(rows, changed), ex_subset(rows, changed), fit_as_bags(rows, changed)) == (
            0,
            0,
            False,
        )


@pytest.mark.parametrize(
    ("predicted", "gold"),
    [
        (rings(16), rings(8, 8)),
        (rings(5, 5, 5, 5), rings(10, 5, 5)),
        (CYCLIC, [(*row[1::-1], *row[2:]) if row[0] == 3 else row for row in CYCLIC]),
    ],
    ids=["one ring or two", "rings", "two values of a row exchanged"],
)
def test_columns_that_only_look_the_same_are_told_apart(predicted: Rows, gold: Rows) -> None:
    assert (ex_columns(predicted, gold), ex_columns(gold, predicted)) == (0.0, 0.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "width", "kept"),
    [(100, 12, 8), (100, 14, 12), (1000, 16, 12), (100, 30, 15), (300, 20, 18), (20_000, 20, 10)],
)
def test_any_choice_of_columns_is_found(rows: int, width: int, kept: int) -> None:
    predicted = flags(rows, width)
    gold = mixed(predicted, kept)
    assert ex_subset(predicted, gold) == 1.0
    assert ex_subset([(-at, *row) for at, row in enumerate(predicted)], gold) == 1.0
    if 2**kept > rows:
        assert ex_subset(predicted, other(gold)) == 0.0
        assert ex_subset(predicted, flags(rows, kept, seed=9)) == 0.0


def test_a_column_that_gold_has_twice_must_be_there_twice() -> None:
    rows = flags(50, 3)
    gold = chosen(rows, (0, 1, 0))
    assert ex_subset(rows, gold) == 0.0
    assert ex_subset(chosen(rows, (2, 0, 1, 0)), gold) == 1.0
    assert ex_columns(chosen(rows, (0, 0, 1)), gold) == 1.0


def test_a_search_beyond_the_limit_has_no_score(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "MOST_STEPS", 10_000)
    with pytest.raises(TooManyRows, match="takes more than 10,000 steps"):
        ex_columns(rings(16), rings(8, 8))
    with pytest.raises(TooManyRows, match="takes more than 10,000 steps"):
        ex_subset(flags(100, 14), mixed(flags(100, 14), 12))
