"""Evaluate predictions on engines: one `PairResult` per pair of prediction and engine.

Each gold is executed once per engine, whatever the number of predictors and workers; a failing gold never
counts against a prediction; equal predictions for a question are executed once. Timing comes afterwards, in
a worker process of its own, one pair at a time, with nothing else running.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, replace
from functools import cache, partial

from harness.data.outcomes import Judgement, Outcome, PairResult
from harness.data.predictions import PredictionFile
from harness.data.questions import Question
from harness.engines import EngineName, dialect_of, kinds_by_name
from harness.metrics import METRICS, Basis
from harness.metrics.efficiency import Timing
from harness.scoring.golds import Golds
from harness.scoring.scheduler import Candidate, Overruns, Scheduler
from harness.scoring.tasks import Setup, TimeTask, TimingMethod, explain
from harness.scoring.workers import LocalWorkers


@dataclass(frozen=True)
class Pair:
    """A prediction and the question that it answers.

    `sql` is None if the predictor gave no answer; `reason` says why, if known.
    """

    question: Question
    predictor: str
    dialect: EngineName
    sql: str | None
    reason: str | None = None

    @property
    def name(self) -> str:
        """Unique within a run: `dialect/predictor::question`."""
        return f"{self.dialect}/{self.predictor}::{self.question.key}"

    @property
    def key(self) -> tuple[EngineName, str, str]:
        """The key of its result."""
        return self.dialect, self.predictor, self.question.key


METHODS = {Basis.TIMES: TimingMethod.OFFICIAL, Basis.STABLE_TIMES: TimingMethod.STABLE}
"""The timing method behind each basis of a time metric."""


class Evaluation:
    """Scores predictions on engines; thread-safe.

    Args:
        setup: the question set, the engines with the set's databases loaded, limits and metrics.
        predictions: one entry per predictor and dialect; every dialect needs an engine.
        scheduler: judges the predictions; closed with the evaluation.
    """

    def __init__(self, setup: Setup, predictions: Sequence[PredictionFile], scheduler: Scheduler) -> None:
        self._setup = setup
        self._scheduler = scheduler
        # Always on this machine, wherever tasks are judged. Its process starts on demand and judges nothing.
        self._timer = LocalWorkers(setup, 1)
        self._measured = cache(self._measure)
        self._timed_metrics = [METRICS[name] for name in setup.metrics if METRICS[name].basis in METHODS]
        self.pairs: tuple[Pair, ...] = tuple(
            Pair(
                question,
                answers.predictor,
                answers.dialect,
                answers.predictions.get(question.key),
                answers.reasons.get(question.key),
            )
            for dialect in kinds_by_name()
            for answers in predictions
            if answers.dialect == dialect
            for question in setup.questions.questions
        )

    @property
    def is_timed(self) -> bool:
        """True if a time metric is requested, so that results must go through `timed`."""
        return bool(self._timed_metrics)

    @property
    def golds(self) -> Golds:
        """The golds that predictions are compared with."""
        return self._scheduler.golds

    @property
    def failed(self) -> Mapping[EngineName, str]:
        """The engines that were given up after repeated failures, and why."""
        return self._scheduler.failed

    @property
    def overruns(self) -> Mapping[EngineName, Overruns]:
        """The texts of each engine that its server went on with after their limit."""
        return self._scheduler.overruns

    def begin(
        self, pairs: Sequence[Pair], judged: Callable[[EngineName, Outcome], None] | None = None
    ) -> "list[Future[Judgement] | None]":
        """Start judging pairs; return a future for each, None where there is no prediction.

        Args:
            pairs: some of `pairs`.
            judged: called once for each judged pair, from any thread.
        """
        asked = [pair for pair in pairs if pair.sql is not None]
        futures = iter(
            self._scheduler.begin([Candidate(pair.question, pair.dialect, pair.sql or "") for pair in asked])
        )
        begun = [None if pair.sql is None else next(futures) for pair in pairs]
        if judged is not None:
            for pair, future in zip(pairs, begun, strict=True):
                if future is None:
                    judged(pair.dialect, Outcome.MISSING)
                else:
                    future.add_done_callback(partial(_tell, judged, pair.dialect))
        return begun

    def run(self, pairs: Sequence[Pair] | None = None) -> Iterator[PairResult]:
        """Yield the result of every pair, in order, judged by the workers and then timed."""
        pairs = self.pairs if pairs is None else pairs
        yield from self.results(pairs, self.begin(pairs))

    def results(
        self, pairs: Sequence[Pair], futures: "Sequence[Future[Judgement] | None]"
    ) -> Iterator[PairResult]:
        """Yield the result of every started pair, in order, timed if times are requested."""
        if self.is_timed:
            wait(future for future in futures if future is not None)
        for pair, future in zip(pairs, futures, strict=True):
            yield self.timed(pair, self.result(pair, future))

    def result(self, pair: Pair, judgement: "Future[Judgement] | None") -> PairResult:
        """Return the result of one pair, without its times; wait for its judgement."""
        if judgement is None:
            zero = self._setup.zero(pair.dialect)
            return self._pair_result(pair, Judgement(Outcome.MISSING, zero, error=pair.reason))
        return self._pair_result(pair, judgement.result())

    def unfinished(self, pair: Pair, why: str) -> PairResult:
        """Return the result of a pair that was not judged: a harness error."""
        judgement = Judgement(Outcome.HARNESS_ERROR, self._setup.zero(pair.dialect), error=why)
        return self._pair_result(pair, judgement)

    def _pair_result(self, pair: Pair, judgement: Judgement) -> PairResult:
        question = pair.question
        return PairResult(
            dialect=pair.dialect,
            predictor=pair.predictor,
            question=question.key,
            question_id=question.question_id,
            db_id=question.db_id,
            difficulty=question.difficulty,
            gold_origin=self._scheduler.golds.origin(question, pair.dialect),
            sql=pair.sql,
            **vars(judgement),
        )

    def interrupted_result(self, pair: Pair, judgement: "Future[Judgement] | None") -> PairResult:
        """Return the result to keep for a pair when a run is interrupted: its judgement, if there is one.

        Args:
            pair: the pair.
            judgement: None if the pair was not started, or has no prediction.
        """
        is_judged = judgement is not None and judgement.done() and not judgement.cancelled()
        if is_judged and judgement is not None and judgement.exception() is None and not self.is_timed:
            return self.result(pair, judgement)
        return self.unfinished(pair, "the run was broken off")

    def timed(self, pair: Pair, result: PairResult) -> PairResult:
        """Add its times, and the scores computed from them, to a result; nothing else may run meanwhile.

        Only matching predictions are timed, equal predictions for a question once. Never raises for an error
        of an engine or a statement.
        """
        if result.outcome is not Outcome.MATCH or not self.is_timed or pair.sql is None:
            return result
        timings: dict[str, Timing] = {}
        try:
            for method in dict.fromkeys(METHODS[metric.basis] for metric in self._timed_metrics):
                timings[method.value] = self._measured(
                    pair.question.key, pair.dialect, pair.sql, result.gold_index, method
                )
        except Exception as error:  # noqa: BLE001 - a fault of ours or a driver's is one pair's, not the run's
            return self.unfinished(pair, explain(error))
        scores = {
            metric.name: metric.of_timing(timings[METHODS[metric.basis].value])
            for metric in self._timed_metrics
            if metric.of_timing is not None
        }
        return replace(result, scores={**result.scores, **scores}, timings=timings)

    def _measure(
        self, key: str, dialect: EngineName, sql: str, gold_index: int, method: TimingMethod
    ) -> Timing:
        question = self._setup.questions.by_key[key].each(dialect_of(dialect))[gold_index]
        gold = self._scheduler.golds.text(question, dialect)
        task = TimeTask(dialect, question.db_id, sql, gold, method)
        first = self._timer.submit(task).result()
        if method is not TimingMethod.OFFICIAL or self._setup.repeat == 1:
            return first
        others = [self._timer.submit(task).result().tau for _ in range(1, self._setup.repeat)]
        return replace(first, runs=(first.tau, *others))

    def close(self) -> None:
        """Stop at once and cancel what is being judged or timed."""
        self._timer.close()
        self._scheduler.close()


def _tell(
    judged: Callable[[EngineName, Outcome], None], engine: EngineName, future: "Future[Judgement]"
) -> None:
    if not future.cancelled() and future.exception() is None:
        judged(engine, future.result().outcome)
