"""Soft-F1 by the script and by the documentation, which differ."""

from decimal import Decimal

import pytest

from harness.metrics.distinct import Row
from harness.metrics.soft_f1 import soft_f1, soft_f1_documented

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
