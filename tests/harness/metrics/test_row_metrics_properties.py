"""What holds for every pair of results, and scores computed in another way."""

from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import permutations
from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from harness.metrics import METRICS, Basis, assignment
from harness.metrics.accuracy import ex
from harness.metrics.distinct import Row
from harness.metrics.soft_f1 import soft_f1, soft_f1_aligned, soft_f1_documented

Rows = list[Row]
Score = Callable[[Sequence[Row], Sequence[Row]], float]

BY_ROWS = {name: metric.of_rows for name, metric in METRICS.items() if metric.of_rows is not None}

NAN = float("nan")
FEW = [0, 1, 2, 3, None]
MANY = [*FEW, 4, 5, True, 1.0, Decimal(2), "1", "", "a", b"a", NAN, float("nan")]
"""Few, so that rows share values; and many that are equal to another, or look so."""


def results(width: int, values: Sequence[object]) -> st.SearchStrategy[Rows]:
    return st.lists(st.tuples(*[st.sampled_from(values)] * width), max_size=5)


@st.composite
def pairs(draw: st.DrawFn, *, same_width: bool = False) -> tuple[Rows, Rows]:
    """Predicted rows and gold rows, often with rows of gold among the predicted ones."""
    values: Sequence[object] = draw(st.sampled_from([FEW, MANY]))
    width = draw(st.integers(1, 4))
    gold = draw(results(width, values))
    if same_width or draw(st.booleans()):
        kept = draw(st.lists(st.sampled_from(gold), max_size=3)) if gold else []
        return draw(st.permutations([*kept, *draw(results(width, values))][:5])), gold
    return draw(results(draw(st.integers(1, 4)), values)), gold


def is_without_repeats(*results_: Rows) -> bool:
    return all(len(set(row)) == len(row) for rows in results_ for row in rows)


def distinct(rows: Rows) -> Rows:
    return [row for position, row in enumerate(rows) if row not in rows[:position]]


def by_the_text(predicted: Rows, gold: Rows) -> Fraction:
    """The official Soft-F1, exactly, from its description alone."""
    if not predicted and not gold:
        return Fraction(1)
    predicted, gold = distinct(predicted), distinct(gold)
    tp = fp = fn = Fraction(0)
    for position in range(max(len(predicted), len(gold))):
        if position >= len(gold):
            fp += 1
        elif position >= len(predicted):
            fn += 1
        else:
            row, reference = predicted[position], gold[position]
            known = [value for value in row if value in reference]
            tp += Fraction(len(known), len(reference))
            fp += Fraction(len(row) - len(known), len(reference))
            fn += Fraction(sum(1 for value in reference if value not in row), len(reference))
    if tp == 0:
        return Fraction(0)
    precision, recall = tp / (tp + fp), tp / (tp + fn)
    return 2 * precision * recall / (precision + recall)


@given(pairs())
def test_every_score_is_between_zero_and_one(pair: tuple[Rows, Rows]) -> None:
    assert all(0.0 <= score(*pair) <= 1.0 for score in BY_ROWS.values())


@pytest.mark.parametrize("name", BY_ROWS)
@given(rows=results(3, MANY))
def test_gold_itself_scores_one(name: str, rows: Rows) -> None:
    assert BY_ROWS[name](rows, list(rows)) == 1.0


def test_all_metrics_of_rows_are_tested_here() -> None:
    assert set(BY_ROWS) == {name for name, metric in METRICS.items() if metric.basis is Basis.ROWS}
    assert set(BY_ROWS) == {
        "ex", "ex_bag", "ex_rounded", "ex_columns", "ex_subset",
        "soft_f1", "soft_f1_documented", "soft_f1_aligned",
    }  # fmt: skip


@given(pairs())
def test_the_official_score_is_the_descriptions(pair: tuple[Rows, Rows]) -> None:
    assert soft_f1(*pair) == pytest.approx(float(by_the_text(*pair)), rel=1e-14)


@given(pairs(), st.data())
def test_the_aligned_score_does_not_depend_on_the_order_of_rows(
    pair: tuple[Rows, Rows], data: st.DataObject
) -> None:
    predicted, gold = pair
    turned = data.draw(st.permutations(predicted)), data.draw(st.permutations(gold))
    assert soft_f1_aligned(*turned) == soft_f1_aligned(predicted, gold)


@given(pairs(), st.data())
def test_no_order_of_rows_has_a_higher_official_score_than_the_aligned_one(
    pair: tuple[Rows, Rows], data: st.DataObject
) -> None:
    predicted, gold = pair
    turned = data.draw(st.permutations(predicted)), data.draw(st.permutations(gold))
    highest = soft_f1_aligned(predicted, gold)
    assert float(by_the_text(*turned)) <= highest
    # The official score adds floats, which rounds more than once.
    assert soft_f1(*turned) <= highest * (1 + 1e-14)


@given(pairs())
def test_the_aligned_score_is_the_highest_of_all_orders(pair: tuple[Rows, Rows]) -> None:
    predicted, gold = (distinct(rows) for rows in pair)
    if len(predicted) >= len(gold):
        scores = [by_the_text(list(order), gold) for order in permutations(predicted)]
    else:
        scores = [by_the_text(predicted, list(order)) for order in permutations(gold)]
    assert soft_f1_aligned(*pair) == float(max(scores))


@given(st.randoms(use_true_random=False), st.integers(1, 5), st.integers(2, 30))
def test_rows_paired_beforehand_cost_nothing(random: Random, width: int, different: int) -> None:
    gold: Rows = [tuple(random.randrange(different) for _ in range(width)) for _ in range(40)]
    predicted: Rows = [
        tuple(value if random.random() < 0.8 else random.randrange(different + 5) for value in row)
        for row in random.sample(gold, random.randint(20, 40))
    ]
    beforehand = soft_f1_aligned(predicted, gold)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(assignment, "_pair_kinds", lambda ours, theirs, _: (ours, theirs, 0))
        assert soft_f1_aligned(predicted, gold) == beforehand


@given(pairs())
def test_what_ex_says_is_right_is_right_when_aligned(pair: tuple[Rows, Rows]) -> None:
    predicted, gold = pair
    if ex(predicted, gold) == 1.0:
        assert soft_f1_aligned(predicted, gold) == 1.0
    assert ex(gold, predicted) == ex(predicted, gold)


@pytest.mark.parametrize("score", [soft_f1, soft_f1_documented, soft_f1_aligned])
@given(pair=pairs(same_width=True))
def test_scores_are_symmetric_for_results_of_equal_width_without_repeats_in_a_row(
    score: Score, pair: tuple[Rows, Rows]
) -> None:
    predicted, gold = pair
    assume(is_without_repeats(predicted, gold))
    assert score(gold, predicted) == score(predicted, gold)


@given(pairs())
def test_scores_are_symmetric_for_other_widths_where_no_row_is_without_a_partner(
    pair: tuple[Rows, Rows],
) -> None:
    predicted, gold = pair
    assume(is_without_repeats(predicted, gold))
    assert soft_f1_documented(gold, predicted) == soft_f1_documented(predicted, gold), "always"
    if len(distinct(predicted)) == len(distinct(gold)):
        assert soft_f1_aligned(gold, predicted) == soft_f1_aligned(predicted, gold)
        assert soft_f1(gold, predicted) == pytest.approx(soft_f1(predicted, gold), rel=1e-14)


@pytest.mark.parametrize("score", [soft_f1, soft_f1_aligned])
@pytest.mark.parametrize(
    ("one", "other"), [([(1, 1)], [(1, 2)]), ([(1,), (5,)], [(1, 2)])], ids=["repeats", "widths"]
)
def test_scores_are_not_symmetric_otherwise(score: Score, one: Rows, other: Rows) -> None:
    assert score(one, other) != score(other, one)
