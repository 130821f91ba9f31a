"""What one prediction's SQL comes to beside its gold, whoever predicted it: outcome, scores, error class."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness import alternatives
from harness.benchmark import QuestionSet
from harness.diagnosis import Reading, diagnose
from harness.diagnosis import read as read_for_diagnosis
from harness.engines.base import Row
from harness.execution import Ending, Execution, Limits
from harness.golds import Gold, Golds
from harness.metrics import METRICS, Basis
from harness.metrics.aligned import TooManyRows
from harness.metrics.ex import ex
from harness.metrics.spider import Schema, Structure, compare
from harness.metrics.spider import read as read_for_spider
from harness.once import Once
from harness.outcomes import ErrorClass, Outcome
from harness.suite import Suite
from harness.variants import Variants
from harness.words import Dialect

_FAILURES = {
    Ending.ERROR: Outcome.PREDICTION_ERROR,
    Ending.TIMEOUT: Outcome.PREDICTION_TIMEOUT,
    Ending.TOO_LARGE: Outcome.PREDICTION_TOO_LARGE,
}


@dataclass(frozen=True)
class Verdict:
    """What a prediction's SQL came to; `seconds` is how long it ran."""

    outcome: Outcome
    scores: Mapping[str, float]
    seconds: float
    error: str | None = None
    code: str | None = None
    error_class: ErrorClass | None = None
    compared_variants: int | None = None
    failed_variant: str | None = None


class Scoring:
    """Scores executions of predictions by the metrics that were asked for; thread-safe.

    Args:
        questions: the question set.
        golds: its references.
        metrics: names from `harness.metrics.METRICS`.
        limits: what one SQL text may use.
        variants: the databases' variants, for test-suite accuracy.
    """

    def __init__(
        self,
        questions: QuestionSet,
        golds: Golds,
        metrics: Sequence[str],
        limits: Limits,
        variants: Variants | None,
    ) -> None:
        self._questions = questions
        self._golds = golds
        self._metrics = [METRICS[name] for name in metrics]
        self._limits = limits
        self._suite = None if variants is None else Suite(variants, limits)
        self._reads_structure = any(metric.basis is Basis.STRUCTURE for metric in self._metrics)
        self._readings = Once()
        self._queries = Once()
        self._schemas = Once()

    def zero(self, dialect: Dialect) -> dict[str, float]:
        """The scores of a pair that nothing can be said for."""
        return {
            metric.name: 0.0
            for metric in self._metrics
            if metric.has_score and (dialect is Dialect.SQLITE or not metric.is_of_sqlite)
        }

    def verdict(self, gold: Gold, sql: str, execution: Execution) -> Verdict:
        """What a prediction comes to whose gold returned rows.

        Raises:
            EngineLost: the engine is to blame.
        """
        zero = self.zero(gold.dialect)
        if execution.ending is not Ending.ROWS:
            outcome, error = _FAILURES[execution.ending], execution.error
        # The official limit is one for both together, although gold is executed only once here.
        elif execution.seconds + gold.execution.seconds > self._limits.seconds:
            outcome = Outcome.PREDICTION_TIMEOUT
            error = f"with its gold it took longer than {self._limits.seconds:g} s"
        else:
            return self._compared(gold, sql, execution)
        error_class = self._diagnose(gold, sql, execution.code, error)
        return Verdict(outcome, zero, execution.seconds, error, execution.code, error_class)

    def _compared(self, gold: Gold, sql: str, execution: Execution) -> Verdict:
        predicted, expected = execution.rows, gold.execution.rows
        outcome = Outcome.MATCH if ex(predicted, expected) == 1.0 else Outcome.MISMATCH
        scores = self.zero(gold.dialect)
        for metric in self._metrics:
            if metric.of_rows is not None:
                try:
                    scores[metric.name] = metric.of_rows(predicted, expected)
                except TooManyRows:
                    del scores[metric.name]
            elif metric.basis is Basis.ANSWERS:
                scores[metric.name] = self._strict(gold, predicted)
        error_class, compared, failed = None, None, None
        if outcome is Outcome.MISMATCH:
            error_class = self._diagnose(gold, sql, None, None)
        elif self._suite is not None and gold.dialect is Dialect.SQLITE:
            tested = self._suite.score(gold.question, sql)
            scores["ts"], compared, failed = tested.score, tested.compared, tested.failed_variant
        return Verdict(
            outcome,
            scores,
            execution.seconds,
            error_class=error_class,
            compared_variants=compared,
            failed_variant=failed,
        )

    def _strict(self, gold: Gold, predicted: Sequence[Row]) -> float:
        return alternatives.score(predicted, gold.execution.rows, lambda: self._golds.answers(gold))

    def structure(self, gold: Gold, sql: str) -> Structure | None:
        """What Spider's measures find.

        None where they were not asked for, the dialect is not SQLite's, or gold cannot be read.
        """
        if not self._reads_structure or gold.dialect is not Dialect.SQLITE or gold.sql is None:
            return None
        expected = gold.sql
        schema = self._spider_schema(gold.question.db_id)
        query = self._queries(gold.question.key, lambda: read_for_spider(expected, schema))
        return None if query is None else compare(read_for_spider(sql, schema), query)

    def with_structure(self, scores: Mapping[str, float], structure: Structure | None) -> Mapping[str, float]:
        """Scores with that of Spider's Exact Matching; without any where gold cannot be read."""
        if "em" not in scores:
            return scores
        rest = {name: score for name, score in scores.items() if name != "em"}
        return rest if structure is None else {**rest, "em": float(structure.exact)}

    def _spider_schema(self, db_id: str) -> Schema:
        return self._schemas(db_id, lambda: self._read_schema(db_id))

    def _read_schema(self, db_id: str) -> Schema:
        published = self._questions.schemas.get(db_id)
        if published is None:
            return Schema({}, ())
        tables: dict[str, list[str]] = {table: [] for table in published.tables}
        for column in published.columns:
            tables[column.table].append(column.name)
        keys = [(f"{one.table}.{one.name}", f"{two.table}.{two.name}") for one, two in published.foreign_keys]
        return Schema(tables, keys)

    def _diagnose(self, gold: Gold, sql: str, code: str | None, error: str | None) -> ErrorClass:
        question, dialect = gold.question, gold.dialect
        schema = self._questions.schemas.get(question.db_id)
        reading: Reading | None = self._readings(
            (dialect, question.key), lambda: read_for_diagnosis(gold.sql or "", dialect, schema)
        )
        return diagnose(sql, reading, dialect, schema, code=code, error=error)
