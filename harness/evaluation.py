"""The only conductor: questions, predictions and engines go in, one `PairResult` per pair comes out.

Promises: each gold is executed once per engine, whatever the number of predictors and workers; a gold that
fails is never held against a prediction; equal predictions for a question are executed once. What is timed is
timed afterwards, one pair at a time, with nothing else running.
"""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial

from harness.benchmark import Question, QuestionSet
from harness.engines.base import Engine, EngineLost
from harness.execution import Limits
from harness.golds import Gold, Golds
from harness.metrics import DEFAULT_METRICS, METRICS, Basis
from harness.metrics.efficiency import Timing
from harness.once import Once
from harness.outcomes import Outcome, PairResult
from harness.predictions import PredictionFile
from harness.scoring import Scoring, Verdict
from harness.timing import Method, measure
from harness.variants import Variants
from harness.words import Dialect, Profile


@dataclass(frozen=True)
class Pair:
    """A prediction and the question that it answers. `sql` is None where the predictor gave no answer."""

    question: Question
    predictor: str
    dialect: Dialect
    sql: str | None

    @property
    def name(self) -> str:
        """Unique within a run: `dialect/predictor::question`."""
        return f"{self.dialect}/{self.predictor}::{self.question.key}"


METHODS = {Basis.TIMES: Method.OFFICIAL, Basis.STABLE_TIMES: Method.STABLE}
"""How what a metric of time is computed from is measured."""


class Evaluation:
    """Scores predictions on engines; thread-safe.

    Args:
        questions: the question set.
        predictions: one entry per predictor and dialect; every dialect needs an engine.
        engines: the engines, with the databases of the set already loaded.
        profile: how the databases were loaded.
        limits: what one SQL text may use.
        metrics: names from `harness.metrics.METRICS`.
        variants: the databases' variants, for test-suite accuracy.
    """

    def __init__(  # noqa: PLR0913 - the run's whole description
        self,
        questions: QuestionSet,
        predictions: Sequence[PredictionFile],
        engines: Mapping[Dialect, Engine],
        *,
        profile: Profile = Profile.OFFICIAL,
        limits: Limits | None = None,
        metrics: Sequence[str] = DEFAULT_METRICS,
        variants: Variants | None = None,
    ) -> None:
        self._questions = questions
        self._engines = engines
        self._profile = profile
        self._limits = limits or Limits()
        self._golds = Golds(questions, engines, profile, self._limits)
        self._scoring = Scoring(questions, self._golds, metrics, self._limits, variants)
        self._verdicts = Once()
        self._timings = Once()
        self._timed_metrics = [METRICS[name] for name in metrics if METRICS[name].basis in METHODS]
        self.pairs: tuple[Pair, ...] = tuple(
            Pair(question, answers.predictor, answers.dialect, answers.predictions.get(question.key))
            for dialect in Dialect
            for answers in predictions
            if answers.dialect is dialect
            for question in questions.questions
        )

    @property
    def is_timed(self) -> bool:
        """Whether a metric of time was asked for, so that results have to go through `timed`."""
        return bool(self._timed_metrics)

    def run(self, workers: int) -> Iterator[PairResult]:
        """The result of every pair, in the order of `pairs`, computed by `workers` threads and then timed."""
        with ThreadPoolExecutor(workers, thread_name_prefix="bird") as pool:
            try:
                results = pool.map(self.result, self.pairs)
                if self.is_timed:
                    results = iter(list(results))
                for pair, result in zip(self.pairs, results, strict=True):
                    yield self.timed(pair, result)
            finally:
                pool.shutdown(wait=False, cancel_futures=True)

    def result(self, pair: Pair) -> PairResult:
        """What happened to one pair, without its times.

        Never raises for what an engine or a statement does.
        """
        question, dialect = pair.question, pair.dialect
        result = PairResult(
            dialect=dialect,
            predictor=pair.predictor,
            question=question.key,
            question_id=question.question_id,
            db_id=question.db_id,
            difficulty=question.difficulty,
            outcome=Outcome.MISSING,
            scores=self._scoring.zero(dialect),
            gold_origin=self._golds.origin(question, dialect),
        )
        if pair.sql is None:
            return result
        try:
            return self._judged(pair, pair.sql, result)
        except Exception as error:  # noqa: BLE001 - a fault of ours or a driver's is one pair's, not the run's
            return replace(result, outcome=Outcome.HARNESS_ERROR, error=_words(error))

    def _judged(self, pair: Pair, sql: str, result: PairResult) -> PairResult:
        question, dialect = pair.question, pair.dialect
        gold = self._golds.of(question, dialect)
        structure = self._scoring.structure(gold, sql)
        if gold.failure is not None:
            return replace(
                result,
                outcome=gold.failure,
                scores=self._scoring.with_structure(result.scores, structure),
                structure=structure,
                error=gold.execution.error,
                code=gold.execution.code,
                gold_seconds=gold.execution.seconds,
            )
        verdict = self._verdicts((dialect, question.key, sql), lambda: self._verdict(gold, sql))
        return replace(
            result,
            outcome=verdict.outcome,
            scores=self._scoring.with_structure(verdict.scores, structure),
            structure=structure,
            error=verdict.error,
            code=verdict.code,
            error_class=verdict.error_class,
            compared_variants=verdict.compared_variants,
            failed_variant=verdict.failed_variant,
            prediction_seconds=verdict.seconds,
            gold_seconds=gold.execution.seconds,
        )

    def _verdict(self, gold: Gold, sql: str) -> Verdict:
        execution = self._golds.execute(gold.question, gold.dialect, sql)
        return self._scoring.verdict(gold, sql, execution)

    def timed(self, pair: Pair, result: PairResult) -> PairResult:
        """A result with its times and the scores that come of them; nothing else may run meanwhile.

        Only what matches is timed; equal predictions for a question are timed once. Never raises for what an
        engine or a statement does.
        """
        if result.outcome is not Outcome.MATCH or not self.is_timed or pair.sql is None:
            return result
        sql = pair.sql
        timings: dict[str, Timing] = {}
        try:
            for method in dict.fromkeys(METHODS[metric.basis] for metric in self._timed_metrics):
                key = (pair.dialect, pair.question.key, sql, method)
                timings[method.value] = self._timings(key, partial(self._measure, pair, sql, method))
        except Exception as error:  # noqa: BLE001 - as in `result`
            zero = self._scoring.zero(pair.dialect)
            return replace(result, outcome=Outcome.HARNESS_ERROR, scores=zero, error=_words(error))
        scores = {
            metric.name: metric.of_timing(timings[METHODS[metric.basis].value])
            for metric in self._timed_metrics
            if metric.of_timing is not None
        }
        return replace(result, scores={**result.scores, **scores}, timings=timings)

    def _measure(self, pair: Pair, sql: str, method: Method) -> Timing:
        gold = self._golds.of(pair.question, pair.dialect)
        database = self._questions.database(pair.question.db_id, self._profile)
        return measure(self._engines[pair.dialect], database, sql, gold.sql or "", method, self._limits)


def _words(error: Exception) -> str:
    return str(error) if isinstance(error, EngineLost) else f"{type(error).__name__}: {error}"
