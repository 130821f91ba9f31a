"""Soft-F1 by the script and by the documentation, which differ."""

from decimal import Decimal
from random import Random

import pytest

from harness.metrics import assignment
from harness.metrics.assignment import sharing
from harness.metrics.distinct import Row, TooManyRows
from harness.metrics.soft_f1 import soft_f1, soft_f1_aligned, soft_f1_documented

NAN = float("nan")

# The example of https://github.com/bird-bench/mini_dev/blob/main/README.md, "Soft F1-Score".
DOCUMENTED_GOLD: list[Row] = [("Apple", 325), ("Orange", None), ("Banana", 119)]
DOCUMENTED_PREDICTION: list[Row] = [(325, "Apple"), (191, "Orange"), (None, "Banana")]

Rows = list[Row]


def test_the_documentations_example_scores_what_it_says_and_two_thirds_by_the_script() -> None:
    assert soft_f1_documented(DOCUMENTED_PREDICTION, DOCUMENTED_GOLD) == 0.8
    assert soft_f1(DOCUMENTED_PREDICTION, DOCUMENTED_GOLD) == pytest.approx(2 / 3, rel=1e-15)


@pytest.mark.parametrize(
    ("predicted", "gold", "score"),
    [
        ([], [], 1.0),
        ([], [(1,)], 0.0),
        ([(1,)], [], 0.0),
        ([(1, "a"), (2, "b")], [(1, "a"), (2, "b")], 1.0),
        ([(2, "b"), (1, "a")], [(1, "a"), (2, "b")], 0.0),  # by position
        ([("a", 1)], [(1, "a")], 1.0),  # the order of columns does not count
        ([(1,), (1,), (2,)], [(1,), (2,), (2,)], 1.0),  # duplicates are dropped
        ([(1,), (2,), (1,), (3,)], [(1,), (2,), (3,)], 1.0),  # the first of them is kept
        ([(1,)], [(1,), (2,)], 2 / 3),  # a gold row without a partner counts 1
        ([(1,), (2,), (3,)], [(1,)], 0.5),  # a predicted row too
        ([(1, 2)], [(1,)], 2 / 3),  # divided by gold's number of columns: 1 and 1
        ([(1,)], [(1, 2)], 2 / 3),  # 1/2 and 1/2
        ([(1,), (5,)], [(1, 2)], 0.4),  # 1/2, 1/2 and a whole row
        ([(1, 2), (5, 6)], [(1,)], 0.5),  # a row of two columns counts 1 beside one of one
        ([(1, 1)], [(1, 2)], 0.8),  # each predicted value counts, gold's value again and again
        ([(1, 2)], [(1, 1)], 2 / 3),  # so that the two are not symmetric
        ([(None,)], [(None,)], 1.0),  # NULL is a value
        ([(None, 1)], [(None, 2)], 0.5),
        ([(None,)], [], 0.0),
        ([("",)], [(None,)], 0.0),
        ([(True, Decimal(2))], [(1, 2.0)], 1.0),  # Python's equality
        ([("1",)], [(1,)], 0.0),
        ([(NAN,)], [(NAN,)], 1.0),  # one object
        ([(NAN,)], [(float("nan"),)], 0.0),
        ([(float("nan"), 1), (float("nan"), 1)], [(1,)], 0.5),  # two rows, since their values are two
        ([([1],)], [([1],)], 0.0),  # an array cannot be hashed, and the script fails
        ([(1,)], [({"a": 1},)], 0.0),
        ([({"a": 1},)], [], 0.0),
        ([()], [()], 0.0),  # a row without columns: the script divides by their number
        ([(1,)], [()], 0.0),
        ([()], [(1,)], 0.0),
        ([], [()], 0.0),
    ],
)
def test_the_official_score_is_what_the_script_does(predicted: Rows, gold: Rows, score: float) -> None:
    assert soft_f1(predicted, gold) == pytest.approx(score, rel=1e-15)


@pytest.mark.parametrize(
    ("rows", "columns", "right", "alone"),
    [(3, 5, 1, 1), (3, 5, 4, 0), (5, 7, 2, 2), (6, 7, 4, 3), (7, 3, 1, 3)],
)
def test_floating_point_sums_are_the_scripts_to_the_last_bit(
    rows: int, columns: int, right: int, alone: int
) -> None:
    gold: Rows = [tuple(f"{row}, {column}" for column in range(columns)) for row in range(rows + alone)]
    predicted: Rows = [(*row[:right], *["wrong"] * (columns - right)) for row in gold[:rows]]
    tp = sum([right / columns] * rows)
    fp = sum([(columns - right) / columns] * rows)
    fn = sum([*[(columns - right) / columns] * rows, *[1] * alone])
    precision, recall = tp / (tp + fp), tp / (tp + fn)
    assert soft_f1(predicted, gold) == 2 * precision * recall / (precision + recall)


@pytest.mark.parametrize(
    ("predicted", "gold", "score"),
    [
        ([], [], 1.0),
        ([(1,)], [], 0.0),
        ([(1, "a")], [("a", 1)], 1.0),
        ([(2,), (1,)], [(1,), (2,)], 0.0),  # by position too
        ([(1,), (1,)], [(1,)], 1.0),  # duplicates are dropped
        ([(1, None)], [(1, 2)], 2 / 3),  # an empty cell is missing, not wrong
        ([(1, 2)], [(1, None)], 2 / 3),  # and gold's is not missing
        ([(1, None)], [(None, 1)], 1.0),
        ([(1, "")], [(1, None)], 2 / 3),  # an empty text is a value
        ([(1, 2), (5, 6)], [(1, 2)], 2 / 3),  # a row without a partner: all of its values
        ([(1, 2)], [(1, 2), (5, None)], 0.8),
        ([(1, 2), (5, 6)], [(1,)], 0.4),  # counts are not divided: the script says 0.5
        ([(None,)], [(None,)], 1.0),  # nothing to find and nothing wrong
        ([], [(None,)], 1.0),
        ([(None,)], [(1,)], 0.0),
        ([()], [()], 1.0),
        ([([1],)], [([1],)], 0.0),
    ],
)
def test_the_documented_score_counts_cells_that_are_not_empty(
    predicted: Rows, gold: Rows, score: float
) -> None:
    assert soft_f1_documented(predicted, gold) == score


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
    with pytest.raises(TooManyRows, match=r"rows remain to be matched.*the limit is 100 such pairs"):
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
