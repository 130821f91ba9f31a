"""The only conductor: questions, predictions and engines go in, one `PairResult` per pair comes out.

Promises: each gold is executed once per engine, whatever the number of predictors and workers; a gold that
fails is never held against a prediction; equal predictions for a question are executed once.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from threading import Lock
from typing import TypeVar

from dialects.overrides import Override, overrides
from dialects.translate import Untranslatable, translate
from harness.benchmark import Question, QuestionSet
from harness.engines.base import Engine, EngineLost
from harness.execution import Ending, Execution, Limits, execute
from harness.metrics import METRICS
from harness.outcomes import GoldOrigin, Outcome, PairResult
from harness.predictions import PredictionFile
from harness.words import Dialect, Profile
from loaders.census import census
from loaders.schema import Schema

Value = TypeVar("Value")


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


@dataclass(frozen=True)
class _Gold:
    """The reference of one question on one engine: its rows, or the outcome that its failure is."""

    execution: Execution
    failure: Outcome | None = None


@dataclass(frozen=True)
class _Verdict:
    """What a prediction's SQL came to, whoever predicted it."""

    outcome: Outcome
    scores: Mapping[str, float]
    error: str | None = None
    code: str | None = None
    seconds: float | None = None


class _Once:
    """Computes the value of a key once, however many threads ask for it at the same time.

    An exception reaches all that wait for the value and is then forgotten: an engine may come back.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._futures: dict[Hashable, Future[object]] = {}

    def __call__(self, key: Hashable, compute: Callable[[], Value]) -> Value:
        with self._lock:
            future = self._futures.get(key)
            mine = future is None
            if future is None:
                future = self._futures[key] = Future()
        if mine:
            try:
                future.set_result(compute())
            except BaseException as error:  # noqa: BLE001 - whoever waits has to hear of it
                with self._lock:
                    del self._futures[key]
                future.set_exception(error)
        return future.result()  # type: ignore[return-value]  # the key decides the type


class Evaluation:
    """Scores predictions on engines; thread-safe.

    Args:
        questions: the question set.
        predictions: one entry per predictor and dialect; every dialect needs an engine.
        engines: the engines, with the databases of the set already loaded.
        profile: how the databases were loaded.
        limits: what one SQL text may use.
        metrics: names from `harness.metrics.METRICS`.
    """

    def __init__(  # noqa: PLR0913 - the run's whole description
        self,
        questions: QuestionSet,
        predictions: Sequence[PredictionFile],
        engines: Mapping[Dialect, Engine],
        *,
        profile: Profile = Profile.OFFICIAL,
        limits: Limits | None = None,
        metrics: Sequence[str] = ("ex",),
    ) -> None:
        self._questions = questions
        self._engines = engines
        self._profile = profile
        self._limits = limits or Limits()
        self._metrics = {name: METRICS[name] for name in metrics}
        self._overrides: dict[Dialect, Mapping[str, Override]] = {
            dialect: overrides(questions.name, dialect)
            for dialect in engines
            if dialect is not Dialect.SQLITE
        }
        self._schemas = _Once()
        self._golds = _Once()
        self._verdicts = _Once()
        self.pairs: tuple[Pair, ...] = tuple(
            Pair(question, answers.predictor, answers.dialect, answers.predictions.get(question.key))
            for dialect in Dialect
            for answers in predictions
            if answers.dialect is dialect
            for question in questions.questions
        )

    def run(self, workers: int) -> Iterator[PairResult]:
        """The result of every pair, in the order of `pairs`, computed by `workers` threads."""
        with ThreadPoolExecutor(workers, thread_name_prefix="bird") as pool:
            try:
                yield from pool.map(self.result, self.pairs)
            finally:
                pool.shutdown(wait=False, cancel_futures=True)

    def result(self, pair: Pair) -> PairResult:
        """What happened to one pair. Never raises for what an engine or a statement does."""
        question, dialect = pair.question, pair.dialect
        result = PairResult(
            dialect=dialect,
            predictor=pair.predictor,
            question=question.key,
            question_id=question.question_id,
            db_id=question.db_id,
            difficulty=question.difficulty,
            outcome=Outcome.MISSING,
            scores=self._zero(),
            gold_origin=self._origin(question, dialect),
        )
        if pair.sql is None:
            return result
        try:
            gold = self._golds((dialect, question.key), lambda: self._gold(question, dialect))
            if gold.failure is not None:
                return replace(
                    result,
                    outcome=gold.failure,
                    error=gold.execution.error,
                    code=gold.execution.code,
                    gold_seconds=gold.execution.seconds,
                )
            sql = pair.sql
            verdict = self._verdicts(
                (dialect, question.key, sql), lambda: self._verdict(question, dialect, sql, gold.execution)
            )
        except EngineLost as error:
            return replace(result, outcome=Outcome.HARNESS_ERROR, error=str(error))
        except Exception as error:  # noqa: BLE001 - a fault of ours or a driver's is one pair's, not the run's
            return replace(result, outcome=Outcome.HARNESS_ERROR, error=f"{type(error).__name__}: {error}")
        return replace(
            result,
            outcome=verdict.outcome,
            scores=verdict.scores,
            error=verdict.error,
            code=verdict.code,
            prediction_seconds=verdict.seconds,
            gold_seconds=gold.execution.seconds,
        )

    def _zero(self) -> dict[str, float]:
        return dict.fromkeys(self._metrics, 0.0)

    def _execute(self, question: Question, dialect: Dialect, sql: str) -> Execution:
        database = self._questions.database(question.db_id, self._profile)
        return execute(self._engines[dialect], database, sql, self._limits)

    def _origin(self, question: Question, dialect: Dialect) -> GoldOrigin:
        if dialect in question.gold:
            return GoldOrigin.DATASET
        override = self._overrides[dialect].get(question.key)
        usable = override is not None and override.replaces(question.gold[Dialect.SQLITE])
        return GoldOrigin.OVERRIDE if usable else GoldOrigin.TRANSLATED

    def _schema(self, db_id: str) -> Schema:
        return self._schemas(db_id, lambda: census(self._questions.database(db_id).sqlite_path))

    def _gold(self, question: Question, dialect: Dialect) -> _Gold:
        origin = self._origin(question, dialect)
        if origin is GoldOrigin.DATASET:
            sql = question.gold[dialect]
        elif origin is GoldOrigin.OVERRIDE:
            sql = self._overrides[dialect][question.key].sql
        else:
            try:
                schema = self._schema(question.db_id)
                sql = translate(question.gold[Dialect.SQLITE], schema, dialect).sql
            except Untranslatable as error:
                return _Gold(Execution(Ending.ERROR, error=str(error)), Outcome.GOLD_ERROR)
        execution = self._execute(question, dialect, sql)
        if execution.ending is Ending.ROWS and execution.seconds <= self._limits.seconds:
            return _Gold(execution)
        timed_out = execution.ending in (Ending.ROWS, Ending.TIMEOUT)
        return _Gold(execution, Outcome.GOLD_TIMEOUT if timed_out else Outcome.GOLD_ERROR)

    def _verdict(self, question: Question, dialect: Dialect, sql: str, gold: Execution) -> _Verdict:
        execution = self._execute(question, dialect, sql)
        if execution.ending is not Ending.ROWS:
            return _Verdict(
                _FAILURES[execution.ending], self._zero(), execution.error, execution.code, execution.seconds
            )
        # The official limit is one for both together, although gold is executed only once here.
        if execution.seconds + gold.seconds > self._limits.seconds:
            error = f"with its gold it took longer than {self._limits.seconds:g} s"
            return _Verdict(Outcome.PREDICTION_TIMEOUT, self._zero(), error, seconds=execution.seconds)
        scores = {name: metric(execution.rows, gold.rows) for name, metric in self._metrics.items()}
        matches = METRICS["ex"](execution.rows, gold.rows) == 1.0
        return _Verdict(Outcome.MATCH if matches else Outcome.MISMATCH, scores, seconds=execution.seconds)


_FAILURES = {
    Ending.ERROR: Outcome.PREDICTION_ERROR,
    Ending.TIMEOUT: Outcome.PREDICTION_TIMEOUT,
    Ending.TOO_LARGE: Outcome.PREDICTION_TOO_LARGE,
}
