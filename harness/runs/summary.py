"""Results to figures: the content of `summary.json` and of every table.

`metrics` is what the official evaluator prints: the mean over *all* questions, in percent, where whatever
went wrong counts 0. `scored` is the same over the questions that the predictor is answerable for: gold ran,
an answer was there and the engine worked. The two differ only where `outcomes` says why. No figure depends on
the order in which results came.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from harness.data.outcomes import Outcome, PairResult
from harness.data.predictions import unfenced
from harness.data.questions import levels_of
from harness.engines import EngineName, kinds_by_name
from harness.engines.errors import ErrorClass
from harness.metrics import METRICS
from harness.metrics.statistics import Interval, bootstrap_mean, wilson
from harness.runs.extent import Extent, Whose
from harness.runs.spider import summary as spider
from harness.runs.usage import UsageByPair, UsageTotals
from harness.sqltree.diagnosis import GROUPS, ErrorGroup

TOTAL = "total"
"""What tables call all levels together."""

SCHEMA_VERSION = 4
"""Version of `summary.json`; its schema is documented in docs/run-folder.md."""

Figures = Mapping[str, Mapping[str, float | None]]
"""Metric name to level to percent; None where there is no question of that level, or no such metric in the
dialect."""


@dataclass(frozen=True)
class Score:
    """One predictor on one engine.

    `planned` is how many questions it was to be scored on, `questions` how many of them have a result: none
    where a selection left the predictor out. `intervals` are the 95 % intervals of the totals of `metrics`,
    in percent; None where there is none.
    """

    predictor: str
    dialect: EngineName
    planned: int
    questions: int
    metrics: Figures
    intervals: Mapping[str, Interval | None]
    scored_questions: int
    scored_metrics: Figures
    outcomes: Mapping[Outcome, int]
    gold_failures: Mapping[str, str]
    """Question to the engine's words, where gold itself failed."""
    fenced: int
    """How many answers stand in Markdown fences and are refused by the engine."""
    results: tuple[PairResult, ...] = field(repr=False)
    """What all of it is computed from."""
    usage: UsageTotals | None = None
    """What the answers took; None where the run knows it of no predictor."""

    def to_json(self) -> dict[str, Any]:
        """One entry of the list `scores` in `summary.json`."""
        return {
            "predictor": self.predictor,
            "dialect": self.dialect,
            "planned": self.planned,
            "questions": self.questions,
            "metrics": self.metrics,
            "intervals": {name: interval and list(interval) for name, interval in self.intervals.items()},
            "scored": {"questions": self.scored_questions, "metrics": self.scored_metrics},
            "outcomes": {outcome: self.outcomes.get(outcome, 0) for outcome in Outcome},
            "fenced": self.fenced,
            "gold_failures": self.gold_failures,
            "error_classes": error_classes(self.results),
            "error_groups": error_groups(self.results),
            **({"spider": spider(self.results)} if any(result.structure for result in self.results) else {}),
            **({"usage": self.usage.to_json()} if self.usage else {}),
        }


def summarize(
    results: Iterable[PairResult],
    metrics: Sequence[str],
    extent: Extent | None = None,
    usage: UsageByPair | None = None,
) -> list[Score]:
    """The score of every predictor on every engine, by predictor, then in the engines' order.

    Args:
        results: of a run.
        metrics: the names of those to show.
        extent: what was planned; who is planned and has no result has a score of no questions.
        usage: what answers took.
    """
    planned = {} if extent is None else extent.planned
    found: dict[Whose, list[PairResult]] = {whose: [] for whose in planned}
    for result in results:
        found.setdefault((result.predictor, result.dialect), []).append(result)
    levels = levels_of(result.difficulty for some in found.values() for result in some)
    scores = [
        _score(whose, tuple(found[whose]), metrics, planned.get(whose, len(found[whose])), levels)
        for whose in sorted(found, key=_by_predictor)
    ]
    return [replace(score, usage=_used(score, usage)) for score in scores] if usage else scores


def _used(score: Score, usage: UsageByPair) -> UsageTotals:
    keys = ((score.dialect, score.predictor, result.question) for result in score.results)
    return UsageTotals.of(usage[key] for key in keys if key in usage)


def completed(scores: Iterable[Score]) -> dict[Whose, int]:
    """How many pairs of each predictor on each engine have a result."""
    return {(score.predictor, score.dialect): score.questions for score in scores}


def by_level(
    results: Sequence[PairResult], metric: str, levels: Sequence[str] | None = None
) -> dict[str, float | None]:
    """The mean score of each level and of all, in percent; None where no result has one.

    Args:
        results: some of a run.
        metric: its name.
        levels: of difficulty; those of the results' set where none are given.
    """
    scale = levels_of(result.difficulty for result in results) if levels is None else levels
    values: dict[str, list[float]] = {str(level): [] for level in (*scale, TOTAL)}
    for result in results:
        value = result.scores.get(metric)
        if value is not None:
            values[result.difficulty].append(value)
            values[TOTAL].append(value)
    return {level: _percent(found) for level, found in values.items()}


def mean(results: Iterable[PairResult], metric: str) -> float | None:
    """The mean score of the results that have one, in percent; None where none has."""
    return _percent(_values(results, metric))


def interval(results: Iterable[PairResult], metric: str) -> Interval | None:
    """The 95 % interval of that mean, in percent; None where there is none (docs/statistics.md)."""
    values = _values(results, metric)
    if METRICS[metric].is_share:
        found = wilson(sum(value == 1.0 for value in values), len(values))
    else:
        found = bootstrap_mean(values)
    return found and (100 * found[0], 100 * found[1])


def error_classes(results: Iterable[PairResult]) -> Mapping[str, int]:
    """How many pairs there are of each class: all classes, also those of none."""
    counts = Counter(result.error_class for result in results)
    return {error_class: counts[error_class] for error_class in ErrorClass}


def error_groups(results: Iterable[PairResult]) -> Mapping[str, int]:
    """The same by the groups of the BIRD paper, as far as rules tell them (`sqltree.diagnosis.GROUPS`)."""
    counts = Counter(GROUPS[result.error_class] for result in results if result.error_class is not None)
    return {group: counts[group] for group in ErrorGroup}


def _by_predictor(whose: Whose) -> tuple[str, int]:
    return whose[0], list(kinds_by_name()).index(whose[1])


def _score(
    whose: Whose,
    results: tuple[PairResult, ...],
    metrics: Sequence[str],
    planned: int,
    levels: Sequence[str],
) -> Score:
    scored = [result for result in results if result.outcome.is_predictors]
    names = [name for name in metrics if METRICS[name].has_score]
    return Score(
        predictor=whose[0],
        dialect=whose[1],
        planned=planned,
        questions=len(results),
        metrics={name: by_level(results, name, levels) for name in names},
        intervals={name: interval(results, name) for name in names},
        scored_questions=len(scored),
        scored_metrics={name: by_level(scored, name, levels) for name in names},
        outcomes=Counter(result.outcome for result in results),
        gold_failures={
            result.question: result.error or ""
            for result in results
            if result.outcome in (Outcome.GOLD_ERROR, Outcome.GOLD_TIMEOUT)
        },
        fenced=sum(_is_fenced(result) for result in results),
        results=results,
    )


def _is_fenced(result: PairResult) -> bool:
    """Whether a text failed of which `--extract fences` would run another one."""
    failed = result.outcome is Outcome.PREDICTION_ERROR and result.sql is not None
    return failed and unfenced(result.sql or "") != result.sql


def _values(results: Iterable[PairResult], metric: str) -> list[float]:
    return [result.scores[metric] for result in results if metric in result.scores]


def _percent(values: Sequence[float]) -> float | None:
    return 100 * math.fsum(values) / len(values) if values else None
