"""Compute figures from results: the extent of a run, and the contents of `summary.json` and of every table.

A run plans a pair for each question, predictor and engine. pytest may select some of them (`-k`, node ids,
`--lf`, a plugin that drops items); then the figures are of a selection, and every view of them says so.

`metrics` is what the official evaluator prints: the mean over *all* questions, in percent, with 0 for
whatever went wrong. `scored` is the same over the questions that the predictor is responsible for: gold ran,
there was an answer and the engine worked. `outcomes` explains any difference. The order of results does not
matter.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from statistics import fmean, median
from typing import Any, Self

from harness.data.answers import Extract, extract, first_code_block
from harness.data.answers.statements import begin
from harness.data.outcomes import AnswerUsage, Outcome, PairResult
from harness.data.questions import id_order, levels_of, types_of
from harness.data.set_manifest import NO_TYPE
from harness.engines import EngineName, kind_of, kinds_by_name
from harness.engines.errors import ErrorClass
from harness.metrics import METRICS, OUTCOME_METRIC, Basis
from harness.metrics.statistics import Interval, bootstrap_mean, wilson
from harness.sqltree.constructs import Construct
from harness.sqltree.diagnosis import ErrorGroup
from harness.sqltree.spider import Hardness, SpiderPart, Structure, Total, totals
from loaders.base.records import to_plain, to_record

Whose = tuple[str, EngineName]
"""A predictor and the engine it is scored on."""

Key = tuple[EngineName, str, str]
"""The key of a pair within a run: dialect, predictor and the question's key."""

_NAMED = 10
"""Maximum number of predictors named in a line."""


@dataclass(frozen=True)
class Extent:
    """What a run covers.

    `planned` has the number of questions of each predictor on each engine; it is empty if the run lacks it.
    `questions` and `set_questions` are the numbers of questions of the run and of its question set. `chosen`
    lists what selected pairs, such as `-k 'simple'`.
    """

    planned: Mapping[Whose, int] = field(default_factory=dict)
    questions: int = 0
    set_questions: int = 0
    chosen: Sequence[str] = ()
    by: str = ""
    """The options that selected questions of the set."""

    @property
    def pairs(self) -> int:
        """Number of planned pairs."""
        return sum(self.planned.values())

    def to_json(self) -> dict[str, Any]:
        """Return `planned` for a manifest."""
        return {
            "pairs": self.pairs,
            "questions": self.questions,
            "set_questions": self.set_questions,
            **({"by": self.by} if self.by else {}),
            "scores": to_plain([Count(*whose, questions) for whose, questions in self.planned.items()]),
        }

    @classmethod
    def from_manifest(cls, manifest: Mapping[str, Any]) -> Self:
        """Read the extent from a manifest; `planned` is empty if it has none.

        Raises:
            BadInput, ValueError: the manifest is damaged.
        """
        if manifest.get("planned") is None:
            return cls()
        planned = to_record(_Planned, manifest["planned"])
        return cls(
            {one.whose: one.questions for one in planned.scores},
            planned.questions,
            planned.set_questions,
            tuple(map(str, manifest.get("chosen", ()))),
            planned.by,
        )

    def is_complete(self, completed: Mapping[Whose, int]) -> bool:
        """Return True if every planned pair has a result."""
        return all(completed.get(whose, 0) >= questions for whose, questions in self.planned.items())

    def lines(self, completed: Mapping[Whose, int], names: Mapping[str, str]) -> list[str]:
        """Return the notes that figures need if the run is not the whole set; none if it is.

        Args:
            completed: the number of pairs of each predictor on each engine with a result.
            names: the titles of engines.
        """
        lines = []
        if 0 < self.questions < self.set_questions:
            first, by = ("", self.by) if self.by else ("The first ", "--limit")
            lines.append(
                f"{first}{self.questions:,} of {self.set_questions:,} questions:"
                f" a selection by {by}, not the set."
            )
        if not self.is_complete(completed):
            done = sum(completed.get(whose, 0) for whose in self.planned)
            by = f" by {' and '.join(self.chosen)}" if self.chosen else ""
            lines.append(f"{done:,} of {self.pairs:,} pairs: a selection{by}, not the set.")
            without = [
                f"{predictor} on {names[dialect]} (0 of {questions:,})"
                for (predictor, dialect), questions in self.planned.items()
                if not completed.get((predictor, dialect))
            ]
            if without:
                more = f" and {len(without) - _NAMED:,} more" if len(without) > _NAMED else ""
                lines.append(f"Not scored at all: {', '.join(without[:_NAMED])}{more}.")
        return lines


@dataclass(frozen=True)
class Count:
    """The number of questions of a predictor on an engine, as in manifest and summary."""

    predictor: str
    dialect: EngineName
    questions: int

    @property
    def whose(self) -> Whose:
        """The predictor and the engine.

        Raises:
            BadInput: the engine is unknown.
        """
        return self.predictor, kind_of(self.dialect).name


@dataclass(frozen=True)
class _Planned:
    """The entry `planned` of a manifest."""

    pairs: int
    questions: int
    set_questions: int
    scores: Sequence[Count]
    by: str = ""


@dataclass(frozen=True)
class _Pair:
    dialect: EngineName
    predictor: str
    question: str


def key_in(record: Any) -> Key:
    """Return the key of the pair in a record of a run folder.

    Raises:
        BadInput, ValueError: it has no key.
    """
    pair = to_record(_Pair, record, others=True)
    return kind_of(pair.dialect).name, pair.predictor, pair.question


def how_far(judged: int, planned: int) -> str:
    """Describe the progress of an interrupted run: `339 of 4,500 pairs`."""
    of = f" of {planned:,}" if planned else ""
    return f"{judged:,}{of} {'pair' if (planned or judged) == 1 else 'pairs'}"


# The usage of the answers of a run.

UsageByPair = Mapping[Key, AnswerUsage]


@dataclass(frozen=True)
class UsageTotals:
    """The usage of the answers of one predictor on one engine; None if unknown for every answer.

    `tokens` (of prompt and completion) and `seconds_mean` are means per question, `seconds_median` is the
    median, `cost` the sum. `known` has the number of answers behind each of `tokens`, `seconds` and `cost`.
    """

    tokens: float | None
    seconds_median: float | None
    seconds_mean: float | None
    cost: float | None
    known: Mapping[str, int]

    @classmethod
    def of(cls, answers: Iterable[AnswerUsage]) -> "UsageTotals":
        """Compute the totals of some answers."""
        some = list(answers)
        tokens = [one.tokens for one in some if one.tokens is not None]
        seconds = [one.seconds for one in some if one.seconds is not None]
        costs = [one.cost for one in some if one.cost is not None]
        return cls(
            _average(tokens),
            median(seconds) if seconds else None,
            _average(seconds),
            math.fsum(costs) if costs else None,
            {"tokens": len(tokens), "seconds": len(seconds), "cost": len(costs)},
        )

    def to_json(self) -> dict[str, Any]:
        """Return the entry of `summary.json`."""
        plain: dict[str, Any] = to_plain(self)
        return plain


def _average(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


# Spider's measures of a predictor: Exact Matching by hardness, and partial matching by component. A result
# counts if it has a `structure`: a prediction for SQLite whose gold could be parsed.

ALL = "all"
HARDNESS = (*Hardness, ALL)
"""The columns of tables of Spider's measures; `all` is every question."""

PARTIAL_FIGURES: Mapping[str, Callable[[Total], float | None]] = {
    "accuracy": lambda total: total.accuracy,
    "recall": lambda total: total.recall,
    "precision": lambda total: total.precision,
    "f1": lambda total: total.f1,
}


def spider(results: Iterable[PairResult]) -> Mapping[str, Any]:
    """Return the entry of one predictor in `summary.json`; figures are percentages or None.

    Returns:
        `hardness`: level to `questions`, `unread` (predictions that count as empty), `em`, and `ex`, None
        unless every result has it. `partial`: component to level to `accuracy`, `recall`, `precision` and
        `f1`. Levels are those of `HARDNESS`. Empty if no result has a structure.
    """
    levels = by_hardness(results)
    if not levels[ALL]:
        return {}
    by_level = {level: totals(structures(found)) for level, found in levels.items()}
    return {
        "hardness": {
            level: {
                "questions": len(found),
                "unread": sum(not structure.parsed for structure in structures(found)),
                "em": em(found),
                "ex": ex(found),
            }
            for level, found in levels.items()
        },
        "partial": {
            part.value: {
                level: {name: percent(read(parts[part])) for name, read in PARTIAL_FIGURES.items()}
                for level, parts in by_level.items()
            }
            for part in SpiderPart
        },
    }


def by_hardness(results: Iterable[PairResult]) -> Mapping[str, list[PairResult]]:
    """Return the results that have a structure, by level."""
    found = [result for result in results if result.structure is not None]
    return {
        str(level): [
            result
            for result in found
            if level == ALL or (result.structure is not None and result.structure.hardness is level)
        ]
        for level in HARDNESS
    }


def structures(results: Iterable[PairResult]) -> list[Structure]:
    """Return the structures of the results that have one."""
    return [result.structure for result in results if result.structure is not None]


def em(results: Sequence[PairResult]) -> float | None:
    """Return Exact Matching in percent; None if no result has a structure."""
    exact = [structure.exact for structure in structures(results)]
    return 100 * sum(exact) / len(exact) if exact else None


def ex(results: Sequence[PairResult]) -> float | None:
    """Return EX in percent; None unless every result has it."""
    scores = [result.scores[OUTCOME_METRIC] for result in results if OUTCOME_METRIC in result.scores]
    return 100 * sum(scores) / len(scores) if results and len(scores) == len(results) else None


def percent(share: float | None) -> float | None:
    """Convert a share of 1 to percent."""
    return None if share is None else 100 * share


# The figures of a predictor on an engine.

TOTAL = "total"
"""The name of all levels together in tables."""

SCHEMA_VERSION = 4
"""Version of `summary.json`; its schema is documented in docs/reference/run-folder.md."""

Figures = Mapping[str, Mapping[str, float | None]]
"""Metric name to level to percent; None if there is no question of that level, or no such metric in the
dialect."""


@dataclass(frozen=True)
class Score:
    """One predictor on one engine.

    `planned` is the number of questions planned, `questions` the number with a result: 0 if a selection
    excluded the predictor. `intervals` are the 95 % intervals of the totals of `metrics`, in percent, or
    None.
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
    """The engine's error by question, if gold itself failed."""
    fenced: int
    """Number of answers in Markdown fences that the engine rejects."""
    raw: int
    """Number of other answers that the engine rejects, and that hold a query among prose, tags or JSON."""
    results: tuple[PairResult, ...] = field(repr=False)
    """The results that everything is computed from."""
    usage: UsageTotals | None = None
    """The usage of the answers; None if the run has none for any predictor."""

    def to_json(self) -> dict[str, Any]:
        """Return the entry of the list `scores` in `summary.json`."""
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
            **({"spider": spider(self.results)} if any(result.structure for result in self.results) else {}),
            **({"usage": self.usage.to_json()} if self.usage else {}),
        }


def place_of(result: PairResult) -> tuple[tuple[bool, int, str], str]:
    """Return the place of a result in tables: by question id, and by key within an id."""
    return id_order(result.question_id), result.question


def summarize(
    results: Iterable[PairResult],
    metrics: Sequence[str],
    extent: Extent | None = None,
    usage: UsageByPair | None = None,
) -> list[Score]:
    """Return the score of every predictor on every engine, by predictor, then in the engines' order.

    Args:
        results: the results of a run.
        metrics: the names of the metrics to show.
        extent: what was planned; a planned predictor without a result has a score of no questions.
        usage: the usage of answers.
    """
    planned = {} if extent is None else extent.planned
    found: dict[Whose, list[PairResult]] = {whose: [] for whose in planned}
    for result in results:
        found.setdefault((result.predictor, result.dialect), []).append(result)
    levels = levels_of(result.difficulty for some in found.values() for result in some)
    scores = [
        _score(
            whose, best_runs(found[whose], metrics), metrics, planned.get(whose, len(found[whose])), levels
        )
        for whose in sorted(found, key=_by_predictor)
    ]
    return [replace(score, usage=_used(score, usage)) for score in scores] if usage else scores


def runs_of(results: Sequence[PairResult], metric: str) -> list[float]:
    """Return the mean score of each run of a measurement of times that was repeated, in percent; else none.

    A pair that was not timed scores the same in each.
    """
    repeated = max((len(timing.runs) for each in results for timing in each.timings.values()), default=0)
    if METRICS[metric].basis is not Basis.TIMES:
        return []
    return [
        100 * fmean(each.scores[metric] for each in of_run(results, metric, run)) for run in range(repeated)
    ]


def of_run(results: Iterable[PairResult], metric: str, run: int) -> Iterator[PairResult]:
    """Yield the results with the scores of one run of a repeated measurement."""
    score = METRICS[metric].of_timing
    for each in results:
        timing = next((one for one in each.timings.values() if one.runs), None)
        if timing is None or score is None:
            yield each
        else:
            yield replace(each, scores={**each.scores, metric: score(timing.of_run(run))})


def best_runs(results: Iterable[PairResult], metrics: Iterable[str]) -> tuple[PairResult, ...]:
    """Return a predictor's results with the scores of the run whose mean is highest, metric by metric."""
    best = tuple(results)
    for metric in metrics:
        if means := runs_of(best, metric):
            best = tuple(of_run(best, metric, means.index(max(means))))
    return best


def _used(score: Score, usage: UsageByPair) -> UsageTotals:
    keys = ((score.dialect, score.predictor, result.question) for result in score.results)
    return UsageTotals.of(usage[key] for key in keys if key in usage)


def completed(scores: Iterable[Score]) -> dict[Whose, int]:
    """Return the number of pairs of each predictor on each engine with a result."""
    return {(score.predictor, score.dialect): score.questions for score in scores}


def by_level(
    results: Sequence[PairResult], metric: str, levels: Sequence[str] | None = None
) -> dict[str, float | None]:
    """Return the mean score of each level and of all, in percent; None if no result has one.

    Args:
        results: results of a run.
        metric: the name of the metric.
        levels: the levels of difficulty; default: those of the results' set.
    """
    scale = levels_of(result.difficulty for result in results) if levels is None else levels
    values: dict[str, list[float]] = {str(level): [] for level in (*scale, TOTAL)}
    for result in results:
        value = result.scores.get(metric)
        if value is not None:
            values[result.difficulty].append(value)
            values[TOTAL].append(value)
    return {level: _percent(found) for level, found in values.items()}


def interval(results: Iterable[PairResult], metric: str) -> Interval | None:
    """Return the 95 % interval of the mean score, in percent, or None (docs/how-to/compare.md)."""
    values = _values(results, metric)
    if METRICS[metric].is_share:
        found = wilson(sum(value == 1.0 for value in values), len(values))
    else:
        found = bootstrap_mean(values)
    return found and (100 * found[0], 100 * found[1])


def error_classes(results: Iterable[PairResult]) -> Mapping[str, int]:
    """Return the number of pairs of each error class, including 0."""
    counts = Counter(result.error_class for result in results)
    return {error_class: counts[error_class] for error_class in ErrorClass}


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
        raw=sum(_is_raw(result) for result in results),
        results=results,
    )


def _is_fenced(result: PairResult) -> bool:
    """Return True if a text failed that `--extract fences` would change."""
    failed = result.outcome is Outcome.PREDICTION_ERROR and result.sql is not None
    return failed and first_code_block(result.sql or "") != result.sql


def _is_raw(result: PairResult) -> bool:
    """Return True if a text failed and `--extract answer-1` would take other SQL out of it."""
    text = result.sql or ""
    if result.outcome is not Outcome.PREDICTION_ERROR or _is_fenced(result):
        return False
    # A plain query is the usual case, and is not read.
    if begin(text) is not None and "\n\n" not in text and "<" not in text:
        return False
    return extract(text, Extract.ANSWER_1, result.dialect).sql not in {None, text.strip()}


def _values(results: Iterable[PairResult], metric: str) -> list[float]:
    return [result.scores[metric] for result in results if metric in result.scores]


def _percent(values: Sequence[float]) -> float | None:
    return 100 * math.fsum(values) / len(values) if values else None


# Groups of pairs: by difficulty, database, outcome, error class or group, or what gold uses.

NO_CLASS = "none"
"""The group of pairs without an error class."""


class By(StrEnum):
    """The criterion of the groups."""

    DIFFICULTY = "difficulty"
    DATABASE = "database"
    OUTCOME = "outcome"
    ERROR_CLASS = "error-class"
    ERROR_GROUP = "error-group"
    CONSTRUCT = "construct"
    TYPE = "type"

    @property
    def is_of_pairs(self) -> bool:
        """True if the criterion is a result of the pair, so that all pairs of a group have the same EX."""
        return self in (By.OUTCOME, By.ERROR_CLASS, By.ERROR_GROUP)

    def order(self, groups: Iterable[str]) -> list[str]:
        """Return each group once, in the order of its vocabulary; databases alphabetically."""
        there = dict.fromkeys(groups)
        match self:
            case By.DIFFICULTY:
                order: Sequence[str] = levels_of(there)
            case By.TYPE:
                order = (*types_of(group for group in there if group != NO_TYPE), NO_TYPE)
            case _:
                order = _VOCABULARIES.get(self, sorted(there))
        return sorted(there, key=[*map(str, order)].index)


_VOCABULARIES: Mapping[By, Sequence[str]] = {
    By.OUTCOME: tuple(Outcome),
    By.ERROR_CLASS: (*ErrorClass, NO_CLASS),
    By.ERROR_GROUP: tuple(ErrorGroup),
    By.CONSTRUCT: tuple(Construct),
}


_UNLABELLED: Mapping[By, str] = {By.CONSTRUCT: Construct.UNREADABLE, By.TYPE: NO_TYPE}
"""The groups of questions without labels."""


@dataclass(frozen=True)
class Share:
    """One group: the number of pairs with the metric, their mean and its 95 % interval in percent.

    `levels` has the number and the mean of each level of difficulty.
    """

    questions: int
    percent: float | None
    interval: Interval | None
    levels: Mapping[str, tuple[int, float | None]]


def shares(
    results: Sequence[PairResult], metric: str, by: By, labels: Mapping[str, Sequence[str]]
) -> dict[str, Share]:
    """Return the mean of a metric over each group that has a pair with it, in the groups' order.

    Args:
        results: the results of one predictor on one engine.
        metric: the name of the metric; pairs without a score by it are in no group.
        by: what makes the groups.
        labels: the groups of each question, by its key: for `By.CONSTRUCT` what its gold uses, for `By.TYPE`
            its types. A pair is in several groups.
    """
    members: dict[str, list[PairResult]] = {}
    for result in results:
        if metric in result.scores:
            for group in groups_of(result, by, labels):
                members.setdefault(group, []).append(result)
    scale = levels_of(result.difficulty for result in results)
    return {group: _share(members[group], metric, scale) for group in by.order(members)}


def _share(members: Sequence[PairResult], metric: str, scale: Sequence[str]) -> Share:
    counts = Counter(str(result.difficulty) for result in members)
    means = by_level(members, metric, scale)
    levels = {level: (counts[level], means[level]) for level in scale}
    return Share(len(members), means[TOTAL], interval(members, metric), levels)


def pairs(
    results: Sequence[PairResult], by: By, errors: Mapping[Key, ErrorGroup] | None = None
) -> dict[str, int]:
    """Return the number of pairs of each group, in the groups' order.

    Args:
        results: the results of one predictor on one engine.
        by: what makes the groups.
        errors: the groups of failed answers, for `By.ERROR_GROUP`; no other pair is in one.
    """
    if by is By.ERROR_GROUP:
        keys = ((result.dialect, result.predictor, result.question) for result in results)
        counts = Counter(str(errors[key]) for key in keys if errors and key in errors)
    else:
        counts = Counter(group for result in results for group in groups_of(result, by, {}))
    return {group: counts[group] for group in by.order(counts)}


def groups_of(result: PairResult, by: By, labels: Mapping[str, Sequence[str]]) -> Sequence[str]:
    """Return the groups of one pair: several by construct and type, none by error group, otherwise one."""
    match by:
        case By.DIFFICULTY:
            return (result.difficulty,)
        case By.DATABASE:
            return (result.db_id,)
        case By.OUTCOME:
            return (result.outcome,)
        case By.ERROR_CLASS:
            return (result.error_class or NO_CLASS,)
        case By.ERROR_GROUP:
            # It takes more than a result: `harness.analyses.error_groups`.
            return ()
        case By.CONSTRUCT | By.TYPE:
            return labels.get(result.question) or (_UNLABELLED[by],)
