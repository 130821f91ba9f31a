"""Soft-F1 `aligned`: what it says where others go wrong, and where it says nothing."""

from random import Random

import pytest

from harness.metrics import assignment
from harness.metrics.assignment import sharing
from harness.metrics.distinct import Row, TooManyRows
from harness.metrics.soft_f1 import soft_f1, soft_f1_aligned
from tests.harness.metrics.test_soft_f1 import DOCUMENTED_GOLD, DOCUMENTED_PREDICTION

Rows = list[Row]
NAN = float("nan")


def test_the_documentations_example_keeps_its_score_however_rows_are_ordered() -> None:
    turned = DOCUMENTED_PREDICTION[::-1]
    assert soft_f1(turned, DOCUMENTED_GOLD) < 2 / 3
    assert soft_f1_aligned(turned, DOCUMENTED_GOLD) == 2 / 3
    assert soft_f1_aligned(DOCUMENTED_GOLD[::-1], DOCUMENTED_GOLD) == 1.0


@pytest.mark.parametrize(
    ("predicted", "gold", "score"),
    [
        ([], [], 1.0),
        ([], [(1,)], 0.0),
        ([(1,)], [], 0.0),
        ([(2, "b"), (1, "a")], [(1, "a"), (2, "b")], 1.0),
        ([("b", 2), ("a", 1)], [(1, "a"), (2, "b")], 1.0),
        ([(1,), (1,), (2,)], [(2,), (1,)], 1.0),
        ([(3,)], [(1,), (2,), (3,)], 0.5),
        ([(1, 2, 3), (7, 8, 9)], [(7, 8, 9, 10)], 6 / 11),
        ([("x",)], [("y",)], 0.0),
        ([(None,), (1,)], [(1,), (None,)], 1.0),
        ([(NAN,)], [(NAN,)], 1.0),
        ([(NAN,)], [(float("nan"),)], 0.0),
        ([([1],)], [([1],)], 0.0),  # as the official score in every order
        ([()], [(1,)], 0.0),
        ([(1,)], [()], 0.0),
        # Equal rows are not always each other's best partner: crosswise 3 values are right, else 2.
        ([(1, 2), (1, 1)], [(1, 2), (2, 2)], 0.75),
        # F1 is a quotient. The most predicted values are right in the pairing that scores 16/21, ...
        ([(3, 3, 3, 3), (2, 1, 2, 2)], [(3, 3, 1, 2), (2, 3, 2, 2)], 7 / 9),
        # ... and here the most values of both sides have a partner where the score is 2/5.
        ([(2, 3, 3), (4, 4, 1)], [(1, 2, 1), (4, 2, 2)], 6 / 13),
    ],
)
def test_rows_are_matched_so_that_the_score_is_highest(predicted: Rows, gold: Rows, score: float) -> None:
    assert soft_f1_aligned(predicted, gold) == score


def rows_of(size: int, *, seed: int, different: tuple[int, ...]) -> Rows:
    chance = Random(seed)  # noqa: S311 - equal rows in every run
    return [tuple(chance.randrange(of) for of in different) for _ in range(size)]


def test_equal_rows_are_paired_before_anything_is_solved() -> None:
    gold: Rows = [(f"key {row}", row % 7) for row in range(10_000)]
    predicted = [*gold[::-1][:9_000], *((f"other {row}", row % 7) for row in range(1_000))]
    left = sharing(predicted, gold)
    assert left.paired == 2 * 9_000 + 1_000, "those that share a number alone are of one kind too"
    assert left.predicted.shape[0] == 0
    assert soft_f1_aligned(predicted, gold) == 0.95


@pytest.mark.parametrize(
    ("predicted", "gold", "paired"),
    [
        ([(1, 2), (1, 1)], [(1, 2), (2, 2)], 0),  # others have 1 and 2 more often
        ([(1, 2, "k", "l"), (1, 1, 5, 6)], [(1, 2, "k", "l"), (2, 2, 7, 8)], 4),  # "k" and "l" make up for it
        (
            [(1, 1, 2), (1, 1, 3)],
            [(1, 2, 1), (1, 4, 1)],
            5,
        ),  # whatever the order of columns, and without the 4
    ],
)
def test_equal_rows_that_could_be_paired_at_a_loss_are_left(predicted: Rows, gold: Rows, paired: int) -> None:
    assert sharing(predicted, gold).paired == paired


@pytest.mark.parametrize("different", [(9, 9, 9), (40, 3), (500, 500)])
def test_both_solvers_find_the_same_score(
    monkeypatch: pytest.MonkeyPatch, different: tuple[int, ...]
) -> None:
    predicted, gold = (rows_of(size, seed=size, different=different) for size in (300, 350))
    sparsely = soft_f1_aligned(predicted, gold), soft_f1_aligned(gold, predicted)
    monkeypatch.setattr(assignment, "MOST_SHARING", 0)
    monkeypatch.setattr(assignment, "_BLOCK_CELLS", 1_000)
    assert sparsely == (soft_f1_aligned(predicted, gold), soft_f1_aligned(gold, predicted))
    assert 0 < sparsely[0] < 1


def test_more_rows_than_memory_is_allowed_for_have_no_score(monkeypatch: pytest.MonkeyPatch) -> None:
    predicted, gold = (rows_of(100, seed=seed, different=(9, 9, 9)) for seed in (1, 2))
    monkeypatch.setattr(assignment, "MOST_SHARING", 100)
    assert soft_f1_aligned(predicted, gold) > 0, "few enough rows for the other solver"
    monkeypatch.setattr(assignment, "MOST_CELLS", 1_000)
    with pytest.raises(TooManyRows, match=r"rows are left to be matched.*possible are 100 such pairs"):
        soft_f1_aligned(predicted, gold)
    assert soft_f1_aligned(gold[::-1], gold) == 1.0, "rows that are paired beforehand need no memory"


def test_ten_thousand_rows_that_share_values_with_many_others_are_matched() -> None:
    gold: Rows = [(f"key {row}", f"group {row % 100}") for row in range(10_000)]
    groups = [row[1] for row in gold]
    predicted = [(key, group) for (key, _), group in zip(gold, groups[1:] + groups[:1], strict=True)]
    Random(1).shuffle(predicted)  # noqa: S311
    assert not set(predicted) & set(gold)
    assert len(set(predicted)) == len(gold)
    # Each row has one value right: its key where it stands, its group elsewhere. More cannot be had.
    assert soft_f1_aligned(predicted, gold) == 0.5
