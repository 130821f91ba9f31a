"""Results to figures: the content of `summary.json` and of every table.

`metrics` is what the official evaluator prints: the mean over *all* questions, in percent, where whatever
went wrong counts 0. `scored` is the same over the questions that the predictor is answerable for: gold ran,
an answer was there and the engine worked. The two differ only where `outcomes` says why.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from harness.outcomes import Outcome, PairResult
from harness.words import Dialect, Difficulty

TOTAL = "total"
LEVELS = (*Difficulty, TOTAL)
"""The sub-columns of every table."""

SCHEMA_VERSION = 1
"""Version of `summary.json`; its schema is documented in docs/run-folder.md."""

Figures = Mapping[str, Mapping[str, float | None]]
"""Metric name to level to percent; None where there is no question of that level."""


@dataclass(frozen=True)
class Score:
    """One predictor on one engine."""

    predictor: str
    dialect: Dialect
    questions: int
    metrics: Figures
    scored_questions: int
    scored_metrics: Figures
    outcomes: Mapping[Outcome, int]
    gold_failures: Mapping[str, str]
    """Question to the engine's words, where gold itself failed."""

    def to_json(self) -> dict[str, Any]:
        """One entry of the list `scores` in `summary.json`."""
        return {
            "predictor": self.predictor,
            "dialect": self.dialect,
            "questions": self.questions,
            "metrics": self.metrics,
            "scored": {"questions": self.scored_questions, "metrics": self.scored_metrics},
            "outcomes": {outcome: self.outcomes.get(outcome, 0) for outcome in Outcome},
            "gold_failures": self.gold_failures,
        }


def summarize(results: Iterable[PairResult], metrics: Sequence[str]) -> list[Score]:
    """The score of every predictor on every engine, by predictor, then in the engines' order."""
    ordered = sorted(results, key=_by_predictor)
    return [_score(list(group), metrics) for _, group in groupby(ordered, key=_by_predictor)]


def _by_predictor(result: PairResult) -> tuple[str, int]:
    return result.predictor, list(Dialect).index(result.dialect)


def _score(results: Sequence[PairResult], metrics: Sequence[str]) -> Score:
    scored = [result for result in results if result.outcome.is_predictors]
    return Score(
        predictor=results[0].predictor,
        dialect=results[0].dialect,
        questions=len(results),
        metrics={name: _levels(results, name) for name in metrics},
        scored_questions=len(scored),
        scored_metrics={name: _levels(scored, name) for name in metrics},
        outcomes=Counter(result.outcome for result in results),
        gold_failures={
            result.question: result.error or ""
            for result in results
            if result.outcome in (Outcome.GOLD_ERROR, Outcome.GOLD_TIMEOUT)
        },
    )


def _levels(results: Sequence[PairResult], metric: str) -> dict[str, float | None]:
    return {
        str(level): _percent([r.scores[metric] for r in results if level in (TOTAL, r.difficulty)])
        for level in LEVELS
    }


def _percent(scores: Sequence[float]) -> float | None:
    return 100 * sum(scores) / len(scores) if scores else None
