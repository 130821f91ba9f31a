"""What one prediction's SQL comes to beside its gold, whoever predicted it: outcome, scores, error class."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import cast

from dialects.enums import Dialect
from harness.data.outcomes import Judgement, Outcome, preview
from harness.engines import dialect_of, kind_of
from harness.engines.base import EMPTY, Row, is_empty
from harness.engines.errors import ErrorClass
from harness.engines.execution import Ending, Execution
from harness.metrics import METRICS, OUTCOME_METRIC, Basis, Metric, RowScore, of_basis
from harness.metrics.accuracy import Answers, ex
from harness.metrics.comparison import alike
from harness.metrics.distinct import TooManyRows
from harness.scoring.once import Once
from harness.scoring.tasks import During, Gold, LeftOut, Setup, Stage, undisturbed
from harness.scoring.variants import Suite
from harness.sqltree.diagnosis import Reading, diagnose
from harness.sqltree.diagnosis import read as read_for_diagnosis
from harness.sqltree.spider import SpiderSchema, Structure, compare
from harness.sqltree.spider import read as read_for_spider

_FAILURES = {
    Ending.ERROR: Outcome.PREDICTION_ERROR,
    Ending.TIMEOUT: Outcome.PREDICTION_TIMEOUT,
    Ending.TOO_LARGE: Outcome.PREDICTION_TOO_LARGE,
}

_GOLD_FAILED = frozenset({Outcome.GOLD_ERROR, Outcome.GOLD_TIMEOUT})

Find = Callable[[], Answers]

_BEST_FIRST = (Outcome.MATCH, Outcome.MISMATCH)


def best(judgements: Sequence[Judgement]) -> Judgement:
    """What a prediction comes to that was held against several golds, of which any counts.

    It is the judgement beside the first gold that it matches, or else beside the first that ran; each of its
    scores is the highest beside any gold that ran.

    Args:
        judgements: one for each gold, in their order; one at least.
    """
    if len(judgements) == 1:
        return judgements[0]
    ran = [place for place, one in enumerate(judgements) if one.outcome not in _GOLD_FAILED]
    if not ran:
        return judgements[0]
    at = next(
        (place for outcome in _BEST_FIRST for place in ran if judgements[place].outcome is outcome), ran[0]
    )
    scores: dict[str, float] = {}
    for place in ran:
        for name, score in judgements[place].scores.items():
            scores[name] = max(score, scores.get(name, 0.0))
    return replace(judgements[at], scores=scores, gold_index=at)


class Scoring:
    """Scores executions of predictions by the metrics that were asked for; thread-safe.

    Args:
        setup: what is the same for every pair.
        during: see `Judge`.
    """

    def __init__(self, setup: Setup, during: During = undisturbed) -> None:
        self._setup = setup
        self._during = during
        self._questions = setup.questions
        self._metrics = [METRICS[name] for name in setup.metrics]
        self._limits = setup.limits
        self._suites = {} if setup.variants is None else {
            name: Suite(setup.variants, kind_of(name).make(None, pooled=True), setup.limits)
            for name in setup.servers
            if dialect_of(name) is Dialect.SQLITE
        }  # fmt: skip
        self._reads_structure = any(metric.basis is Basis.STRUCTURE for metric in self._metrics)
        self._readings = Once()
        self._queries = Once()
        self._schemas = Once()

    def judgement(self, gold: Gold, sql: str, run: Callable[[], Execution], find: Find) -> Judgement:
        """What a prediction comes to.

        Args:
            gold: the reference.
            sql: the prediction.
            run: executes the prediction; is called only if gold returned rows.
            find: finds the other answers that gold allows; is called only where they matter.

        Raises:
            EngineLost: the engine is to blame.
        """
        structure = self._structure(gold, sql)
        if gold.failure is not None:
            judgement = Judgement(
                gold.failure,
                self._setup.zero(gold.dialect),
                error=gold.execution.error,
                code=gold.execution.code,
                gold_seconds=gold.execution.seconds,
            )
        else:
            judgement = self._answered(gold, sql, run(), find)
        scores = self._with_structure(judgement.scores, structure)
        return replace(judgement, scores=scores, structure=structure)

    def _answered(self, gold: Gold, sql: str, execution: Execution, find: Find) -> Judgement:
        if execution.ending is not Ending.ROWS:
            outcome, error = _FAILURES[execution.ending], execution.error
        # The official limit is one for both together, although gold is executed only once here.
        elif execution.seconds + gold.execution.seconds > self._limits.seconds:
            outcome = Outcome.PREDICTION_TIMEOUT
            error = f"with its gold it took longer than {self._limits.seconds:g} s"
        else:
            return self._compared(gold, sql, execution, find)
        return Judgement(
            outcome,
            self._setup.zero(gold.dialect),
            error,
            execution.code,
            execution.seconds,
            gold.execution.seconds,
            self._diagnose(gold, sql, execution.code, error),
            preview=self._preview(gold, None),
        )

    def _compared(self, gold: Gold, sql: str, execution: Execution, find: Find) -> Judgement:
        predicted: Sequence[Row] = execution.rows
        expected: Sequence[Row] = gold.execution.rows
        if gold.is_by_rows:
            predicted, expected = alike(predicted, expected)
        same = ex(predicted, expected)
        outcome = Outcome.MATCH if same == 1.0 else Outcome.MISMATCH
        scores = self._setup.zero(gold.dialect)
        for metric in self._metrics:
            if metric.name == OUTCOME_METRIC:
                scores[metric.name] = same
            elif metric.of_rows is not None:
                try:
                    scores[metric.name] = self._score(metric, sql, predicted, expected)
                except (TooManyRows, LeftOut):
                    del scores[metric.name]
            elif metric.of_answers is not None:
                scores[metric.name] = metric.of_answers(predicted, expected, find)
        error, error_class, compared, failed = None, None, None, None
        if outcome is Outcome.MISMATCH:
            # Engines that run such a text return no rows for it, which official scripts compare with gold's.
            error = EMPTY if not predicted and is_empty(sql) else None
            error_class = self._diagnose(gold, sql, None, None)
        elif (suite := self._suites.get(gold.dialect)) is not None:
            tested = suite.score(gold.question, sql)
            compared, failed = tested.compared, tested.failed_variant
            scores.update(dict.fromkeys(of_basis(self._setup.metrics, Basis.VARIANTS), tested.score))
        return Judgement(
            outcome,
            scores,
            error,
            prediction_seconds=execution.seconds,
            gold_seconds=gold.execution.seconds,
            error_class=error_class,
            compared_variants=compared,
            failed_variant=failed,
            preview=self._preview(gold, execution),
        )

    def _score(self, metric: Metric, sql: str, predicted: Sequence[Row], gold: Sequence[Row]) -> float:
        score = cast("RowScore", metric.of_rows)
        if not metric.is_searched:
            return score(predicted, gold)
        with self._during(Stage.ALIGNING, sql, self._setup.scoring_seconds):
            return score(predicted, gold)

    def _preview(self, gold: Gold, execution: Execution | None) -> str | None:
        if not self._setup.previews:
            return None
        translated = dialect_of(gold.language) not in gold.question.gold
        rows = None if execution is None else execution.rows
        return preview(gold.execution.rows, rows, gold.sql if translated else None).to_text()

    def _structure(self, gold: Gold, sql: str) -> Structure | None:
        """What Spider's measures find.

        None where they were not asked for, the dialect is not SQLite's, or gold cannot be read.
        """
        if not self._reads_structure or dialect_of(gold.dialect) is not Dialect.SQLITE or gold.sql is None:
            return None
        expected = gold.sql
        schema = self._spider_schema(gold.question.db_id)
        query = self._queries((gold.question.key, expected), lambda: read_for_spider(expected, schema))
        if query is None:
            return None
        try:
            with self._during(Stage.READING, sql, self._setup.scoring_seconds):
                return compare(read_for_spider(sql, schema), query)
        except LeftOut:
            return compare(None, query)

    def _with_structure(
        self, scores: Mapping[str, float], structure: Structure | None
    ) -> Mapping[str, float]:
        """Scores with that of Spider's Exact Matching; without any where gold cannot be read."""
        ours = of_basis(scores, Basis.STRUCTURE)
        rest = {name: score for name, score in scores.items() if name not in ours}
        return rest if structure is None else {**rest, **dict.fromkeys(ours, float(structure.exact))}

    def _spider_schema(self, db_id: str) -> SpiderSchema:
        return self._schemas(db_id, lambda: self._read_schema(db_id))

    def _read_schema(self, db_id: str) -> SpiderSchema:
        published = self._questions.schemas.get(db_id)
        if published is None:
            return SpiderSchema({}, ())
        tables: dict[str, list[str]] = {table: [] for table in published.tables}
        for column in published.columns:
            tables[column.table].append(column.name)
        keys = [(f"{one.table}.{one.name}", f"{two.table}.{two.name}") for one, two in published.foreign_keys]
        return SpiderSchema(tables, keys)

    def _diagnose(self, gold: Gold, sql: str, code: str | None, error: str | None) -> ErrorClass | None:
        if not self._setup.diagnoses:
            return None
        question, dialect = gold.question, gold.dialect
        schema = self._questions.schemas.get(question.db_id)

        def of_gold() -> Reading | None:
            key = (dialect, question.key, gold.sql)
            return self._readings(key, lambda: read_for_diagnosis(gold.sql or "", gold.language, schema))

        try:
            with self._during(Stage.READING, sql, self._setup.scoring_seconds):
                return diagnose(sql, of_gold, dialect, schema, code=code, error=error)
        except LeftOut:
            return ErrorClass.OTHER
