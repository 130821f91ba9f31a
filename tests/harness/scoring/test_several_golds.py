"""A question with several golds: any of them counts."""

import pytest

from harness.data.outcomes import Judgement, Outcome
from harness.scoring.scorer import best


def judged(outcome: Outcome, ex: float = 0.0, f1: float | None = None) -> Judgement:
    scores = {"ex": ex} if f1 is None else {"ex": ex, "soft_f1": f1}
    return Judgement(outcome, scores)


Case = tuple[list[Judgement], Outcome, int, dict[str, float]]

MET, OTHER = judged(Outcome.MATCH, 1, 1), judged(Outcome.MISMATCH, 0, 0.5)
NEARER = judged(Outcome.MISMATCH, 0, 0.7)
LATE, REFUSED = judged(Outcome.PREDICTION_TIMEOUT, 0, 0), judged(Outcome.PREDICTION_ERROR, 0, 0)
BROKEN, SLOW = judged(Outcome.GOLD_ERROR), judged(Outcome.GOLD_TIMEOUT)
NO_F1 = judged(Outcome.MISMATCH, 0)

CASES: dict[str, Case] = {
    "the only one": ([OTHER], Outcome.MISMATCH, 0, {"ex": 0, "soft_f1": 0.5}),
    "the second is met": ([OTHER, MET], Outcome.MATCH, 1, {"ex": 1, "soft_f1": 1}),
    "the best of each score": (
        [judged(Outcome.MATCH, 1, 0.2), NEARER], Outcome.MATCH, 0, {"ex": 1, "soft_f1": 0.7}
    ),
    "a gold that fails": ([BROKEN, OTHER], Outcome.MISMATCH, 1, {"ex": 0, "soft_f1": 0.5}),
    "all golds fail": ([SLOW, BROKEN], Outcome.GOLD_TIMEOUT, 0, {"ex": 0}),
    "late beside one": ([LATE, OTHER], Outcome.MISMATCH, 1, {"ex": 0, "soft_f1": 0.5}),
    "refused beside all": ([REFUSED, REFUSED], Outcome.PREDICTION_ERROR, 0, {"ex": 0, "soft_f1": 0}),
    "a score that one has not": ([NO_F1, OTHER], Outcome.MISMATCH, 0, {"ex": 0, "soft_f1": 0.5}),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_best_beside_any_gold_counts(name: str) -> None:
    judgements, outcome, place, scores = CASES[name]
    found = best(judgements)
    assert (found.outcome, found.gold_index, found.scores) == (outcome, place, scores)
