"""Judge SQL texts in this process: execute, compare with gold, score and classify errors.

Each gold is executed once for all texts of a task, and not at all if its execution is known; each text is
executed once for all golds. A failing gold never counts against a prediction. A fault of the harness affects
one text, not the run.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING

from dialects.enums import Dialect
from harness.data.outcomes import Judgement, Outcome, Verdict, preview
from harness.data.questions import Question
from harness.engines import EngineName, dialect_of
from harness.engines.base import EMPTY, Engine, EngineLost, Row, SqlError, is_empty
from harness.engines.errors import ErrorClass
from harness.engines.execution import (
    Ending,
    Execution,
    NotCounted,
    Work,
    count_work,
    decode_work,
    encode_work,
    refuses,
)
from harness.engines.retry import execute_patiently
from harness.engines.sqlite.engine import SQLiteEngine
from harness.metrics import METRICS, OUTCOME_METRIC, Basis, of_basis
from harness.metrics.accuracy import Answers, ex
from harness.metrics.comparison import alike
from harness.metrics.distinct import TooManyRows
from harness.metrics.efficiency import same_text
from harness.metrics.work import IDENTICAL, WorkRatio, ratio
from harness.scoring.golds import Gold
from harness.scoring.tasks import (
    Announce,
    JudgeResult,
    JudgeTask,
    Setup,
    Stage,
    decode_execution,
    encode_execution,
    error_message,
    unsupervised,
)
from harness.scoring.variants import Suite
from harness.sqltree.diagnosis import Reading, diagnose
from harness.sqltree.diagnosis import read as read_for_diagnosis
from harness.sqltree.spider import SpiderSchema, Structure, compare
from harness.sqltree.spider import read as read_for_spider
from loaders.base.errors import EngineUnavailable
from loaders.namespace import Database

if TYPE_CHECKING:
    from harness.scoring.chance.tester import Tester

MOST_KEPT_BYTES = 2**20
"""Maximum bytes of an encoded execution that is kept for later runs."""

_MOMENT = 0.1
"""Seconds of work that may be lost if the process ends."""

_REFUTING_SECONDS = 60.0
"""Seconds allowed to search a witness, to wait for a server, and to execute it there."""

_FAILURES = {
    Ending.ERROR: Outcome.PREDICTION_ERROR,
    Ending.TIMEOUT: Outcome.PREDICTION_TIMEOUT,
    Ending.TOO_LARGE: Outcome.PREDICTION_TOO_LARGE,
}

_GOLD_FAILED = frozenset({Outcome.GOLD_ERROR, Outcome.GOLD_TIMEOUT})

_BEST_FIRST = (Outcome.MATCH, Outcome.MISMATCH)


class Judge:
    """Judges one task at a time.

    Args:
        setup: what all tasks share.
        engines: one for each dialect of the setup.
        announce: entered around each stage of a text, with the seconds it may take.
    """

    def __init__(
        self, setup: Setup, engines: Mapping[EngineName, Engine], announce: Announce = unsupervised
    ) -> None:
        self._setup = setup
        self._announce = announce
        self._engines = engines
        self._sqlite = self._engines.get(Dialect.SQLITE) or SQLiteEngine(pooled=True)
        self._golds = setup.golds()
        self._scorer = Scorer(setup, {Dialect.SQLITE: self._sqlite, **engines}, announce)
        self._database_of = cache(setup.database)
        self._tester = cache(self._make_tester)

    def judge(
        self,
        task: JudgeTask,
        report: Callable[[JudgeResult], None] = lambda _part: None,
        stops: Callable[[], bool] = lambda: False,
    ) -> JudgeResult:
        """Judge the texts of a task; never raises for an error of an engine or a statement.

        Args:
            task: the task.
            report: called with intermediate results if they took longer than a moment.
            stops: called before each text that is not judged yet; after True the rest is left out.
        """
        found = JudgeResult(dict(task.reusable.judgements))
        if found.judgements.keys() >= set(task.texts):
            return found
        reported = time.monotonic()
        try:
            golds = list(self._golds_of(task, found, report))
        except Exception as error:  # noqa: BLE001 - a fault of ours or a driver's is one task's, not the run's
            broken = self._setup.broken(task.dialect, error_message(error))
            return JudgeResult(dict.fromkeys(task.texts, broken))
        # Found once for all texts, and only where a metric asks for them.
        answers = [cache(partial(self._answers, task, gold)) for gold in golds]
        for text in task.texts:
            if text in found.judgements:
                continue
            if stops():
                break
            if time.monotonic() - reported > _MOMENT:
                report(found)
                reported = time.monotonic()
            found.judgements[text] = self._best_judgement(task, golds, answers, text, found)
        return found

    def _best_judgement(
        self,
        task: JudgeTask,
        golds: Sequence[Gold],
        answers: Sequence[Callable[[], Answers]],
        text: str,
        found: JudgeResult,
    ) -> Judgement:
        """Return the best judgement of a text against any of the golds; the text runs at most once."""
        if text in task.undecided:
            return self._tested(task, golds, text, task.undecided[text], found)
        once = partial(self._run, task, golds, text, found)
        # Each gold asks for its rows anew; one alone asks once, so nothing need keep them until it is judged.
        run = once if len(golds) == 1 else cache(once)
        judgement = best(
            [
                self._judgement(task, gold, text, run, of_gold)
                for gold, of_gold in zip(golds, answers, strict=True)
            ]
        )
        judgement = self._weighed(task, golds[judgement.gold_index], text, judgement, found)
        return self._tested(task, golds, text, judgement, found)

    def _judgement(
        self,
        task: JudgeTask,
        gold: Gold,
        text: str,
        run: Callable[[], Execution],
        find: Callable[[], Answers],
    ) -> Judgement:
        try:
            with self._announce(Stage.SCORING, text, self._setup.scoring_seconds):
                return self._scorer.judgement(task, gold, text, run, find)
        except MemoryError:
            why = "scoring its rows needs more memory than a result may take"
        except RecursionError:
            why = "its values are nested too deeply to be scored"
        except Exception as error:  # noqa: BLE001 - as above
            return self._setup.broken(task.dialect, error_message(error))
        scores = self._setup.zero(task.dialect)
        return Judgement(Outcome.PREDICTION_TOO_LARGE, scores, error=why, gold_seconds=gold.execution.seconds)

    def _golds_of(
        self, task: JudgeTask, found: JudgeResult, report: Callable[[JudgeResult], None]
    ) -> Iterator[Gold]:
        """Return the golds of a task; add new ones that can be cached to `found`."""
        several = task.question.each(dialect_of(task.dialect))
        for place, question in enumerate(several):
            yield self._golds.of(
                question, task.dialect, partial(self._run_gold, task, question, place, found)
            )
            if len(several) > 1:
                # If the next gold ends this process, the supervisor must see which one it was.
                report(found)

    def _run_gold(
        self, task: JudgeTask, question: Question, place: int, found: JudgeResult, sql: str
    ) -> Execution:
        is_by_rows = dialect_of(task.dialect) in question.by_rows
        known = task.reusable.golds.get(place) or (None if is_by_rows else task.reusable.executions.get(sql))
        if known is not None:
            return decode_execution(known)
        engine = self._sqlite if is_by_rows else self._engines[task.dialect]
        execution = self._execute(task, engine, sql, found)
        encoded = encode_execution(execution, MOST_KEPT_BYTES)
        if encoded is not None:
            found.golds[place] = encoded
        return execution

    def _run(self, task: JudgeTask, golds: Sequence[Gold], text: str, found: JudgeResult) -> Execution:
        if text in task.reusable.executions:
            return decode_execution(task.reusable.executions[text])
        for gold in golds:
            if text == gold.sql and not gold.is_by_rows:
                return gold.execution
        engine = self._engines[task.dialect]
        execution = self._execute(task, engine, text, found)
        if text in task.volatile and not refuses(
            engine, self._database(task), text, execution, self._setup.limits
        ):
            return execution
        encoded = encode_execution(execution, MOST_KEPT_BYTES)
        if encoded is not None:
            found.executions[text] = encoded
        return execution

    def _execute(self, task: JudgeTask, engine: Engine, sql: str, found: JudgeResult) -> Execution:
        with self._announce(Stage.RUNNING, sql, None):
            execution = execute_patiently(engine, self._database(task), sql, self._setup.limits)
        if execution.overrun:
            found.overruns[sql] = execution.overrun
        return execution

    def _database(self, task: JudgeTask) -> Database:
        return self._database_of(task.question.db_id, task.dialect)

    def _answers(self, task: JudgeTask, gold: Gold) -> Answers:
        """Return the answers that a gold allows other than its own rows.

        A translation breaks ties as SQLite does, so its other answers are those of SQLite's gold on SQLite.
        """
        from harness.scoring.ties import answers  # noqa: PLC0415 - sqlglot takes as long as 500 pairs

        question = gold.question
        is_written = self._golds.origin(question, gold.dialect).is_written
        dialect: EngineName = gold.dialect if is_written else Dialect.SQLITE
        engine = self._engines[dialect] if is_written else self._sqlite
        text = question.gold[dialect_of(dialect)]

        def run(sql: str) -> Execution:
            if (Stage.ANSWERING, text) in task.left_out:
                return Execution(Ending.TIMEOUT, error="it did not stop when its time was up")
            with self._announce(Stage.ANSWERING, text, None):
                return execute_patiently(engine, self._database(task), sql, self._setup.limits)

        with self._announce(Stage.ANSWERING, text, self._setup.scoring_seconds):
            return answers(text, dialect, run, gold.execution.rows)

    def _make_tester(self) -> "Tester":
        from harness.scoring.chance.tester import Tester  # noqa: PLC0415 - as above

        return Tester(self._setup, self._golds)

    def _weighed(
        self, task: JudgeTask, gold: Gold, text: str, judgement: Judgement, found: JudgeResult
    ) -> Judgement:
        """Add the scores by work to a judgement, and the counted work to `found`."""
        names = of_basis(judgement.scores, Basis.WORK)
        if not names or judgement.outcome is not Outcome.MATCH:
            return judgement
        if (Stage.COUNTING, text) in task.left_out:
            work = WorkRatio(reason="it did not stop when its time was up, while its work was counted")
        else:
            try:
                with self._announce(Stage.COUNTING, text, None):
                    work = self._work_ratio(task, gold, text, found)
            except Exception as error:  # noqa: BLE001 - as above
                return self._setup.broken(task.dialect, error_message(error))
        scores = {name: score for name, score in judgement.scores.items() if name not in names}
        if work.tau is not None:
            scores |= {name: of(work.tau) for name in names if (of := METRICS[name].of_work) is not None}
        return replace(judgement, scores=scores, work=work)

    def _tested(
        self, task: JudgeTask, golds: Sequence[Gold], text: str, judgement: Judgement, found: JudgeResult
    ) -> Judgement:
        """Add the verdict on a right answer to a judgement, and a new witness against it to `found`."""
        names = of_basis(judgement.scores, Basis.WITNESSES)
        if not names or judgement.outcome is not Outcome.MATCH:
            return judgement
        scores = {name: score for name, score in judgement.scores.items() if name not in names}
        # An answer that only meets new witnesses stays undecided without them.
        untested = replace(judgement, scores=scores) if judgement.tested is None else judgement
        if (Stage.REFUTING, text) in task.left_out:
            return untested
        try:
            with self._announce(Stage.REFUTING, text, _REFUTING_SECONDS):
                tested, witness = self._tester().verdict(task, golds, text, judgement.gold_index, found)
        except EngineUnavailable:
            # Its rows are as good as before, whatever became of the server since.
            return untested
        except Exception as error:  # noqa: BLE001 - as above
            return self._setup.broken(task.dialect, error_message(error))
        scores |= dict.fromkeys(names, float(tested.verdict is not Verdict.REFUTED))
        return replace(judgement, scores=scores, tested=tested, witness=witness)

    def _work_ratio(self, task: JudgeTask, gold: Gold, text: str, found: JudgeResult) -> WorkRatio:
        """Return the work of a text relative to that of its gold.

        Raises:
            EngineLost: the engine is to blame.
        """
        if gold.sql is None or gold.is_by_rows:
            return WorkRatio(reason="its gold runs on another engine")
        if same_text(text, gold.sql):
            return IDENTICAL
        counted = []
        for whose, sql in (("gold", gold.sql), ("the prediction", text)):
            work = self._work(task, sql, found)
            if isinstance(work, NotCounted):
                return WorkRatio(reason=f"{whose}: {work.reason}")
            counted.append(work.counters)
        try:
            return ratio(dialect_of(task.dialect), counted[1], counted[0])
        except LookupError as error:
            return WorkRatio(reason=f"the engine's counters cannot be weighed: {error}")

    def _work(self, task: JudgeTask, sql: str, found: JudgeResult) -> Work | NotCounted:
        """Return the work of a text on its engine, counted once per task."""
        known = found.works.get(sql) or task.reusable.works.get(sql)
        if known is not None:
            return decode_work(known)
        engine, database, limits = self._engines[task.dialect], self._database(task), self._setup.limits
        try:
            try:
                work = count_work(engine, database, sql, limits)
            except EngineLost:
                # Wait for a server that is restarting.
                execute_patiently(engine, database, "SELECT 1", limits)
                work = count_work(engine, database, sql, limits)
        except EngineLost as lost:
            execute_patiently(engine, database, "SELECT 1", limits)
            return NotCounted(f"its engine fails while its work is counted: {lost}")
        except SqlError as error:
            return NotCounted(f"it failed while its work was counted: {error.message}")
        if isinstance(work, Work) and sql not in task.volatile:
            found.works[sql] = encode_work(work)
        return work


def best(judgements: Sequence[Judgement]) -> Judgement:
    """Combine the judgements of a prediction against several golds, each equally valid.

    The result is the judgement against the first matching gold, or else against the first that ran; each
    score is the highest against any gold that ran.

    Args:
        judgements: one for each gold, in order; at least one.
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


class Scorer:
    """Scores the rows of a prediction against those of its gold, by the requested metrics.

    Args:
        setup: what all pairs share.
        engines: see `Judge`; SQLite is among them.
        announce: see `Judge`.
    """

    def __init__(self, setup: Setup, engines: Mapping[EngineName, Engine], announce: Announce) -> None:
        self._setup = setup
        self._announce = announce
        self._metrics = [METRICS[name] for name in setup.metrics]
        self._suites = {} if setup.variants is None else {
            name: Suite(
                setup.variants, engines[name], engines[Dialect.SQLITE], setup.limits,
                profile=setup.profile_on(name),
            )
            for name in setup.servers
        }  # fmt: skip
        self._reads_structure = any(metric.basis is Basis.STRUCTURE for metric in self._metrics)
        self._spider_schema = cache(self._read_spider_schema)
        # Golds are parsed once for all predictions.
        self._structure_of = cache(lambda sql, db_id: read_for_spider(sql, self._spider_schema(db_id)))
        self._reading_of = cache(self._read_gold)

    def judgement(
        self,
        task: JudgeTask,
        gold: Gold,
        sql: str,
        run: Callable[[], Execution],
        find: Callable[[], Answers],
    ) -> Judgement:
        """Return the judgement of a prediction.

        Args:
            task: the task.
            gold: the reference.
            sql: the prediction.
            run: executes the prediction; called only if gold returned rows.
            find: finds the other answers that gold allows; called only if they matter.

        Raises:
            EngineLost: the engine is to blame.
        """
        structure = self._structure(task, gold, sql)
        if gold.failure is not None:
            judgement = Judgement(
                gold.failure,
                self._setup.zero(gold.dialect),
                error=gold.execution.error,
                code=gold.execution.code,
                gold_seconds=gold.execution.seconds,
            )
        else:
            judgement = self._by_script(gold, sql, self._answered(task, gold, sql, run(), find))
        if not self._reads_structure:
            return judgement
        # Spider's Exact Matching has no score if gold cannot be parsed.
        ours = of_basis(judgement.scores, Basis.STRUCTURE)
        scores = {name: score for name, score in judgement.scores.items() if name not in ours}
        if structure is not None:
            scores |= dict.fromkeys(ours, float(structure.exact))
        return replace(judgement, scores=scores, structure=structure)

    def _by_script(self, gold: Gold, sql: str, judgement: Judgement) -> Judgement:
        """Add the verdict of Spider's script, which may call right what EX does not."""
        names = of_basis(self._setup.metrics, Basis.SUITE)
        if not names:
            return judgement
        scores = {name: score for name, score in judgement.scores.items() if name not in names}
        with suppress(TooManyRows):
            tested = self._suites[gold.dialect].script_score(gold, sql)
            if tested.score is not None:
                scores |= dict.fromkeys(names, tested.score)
            if judgement.compared_variants is None:
                compared, failed = tested.compared, tested.failed_variant
                judgement = replace(judgement, compared_variants=compared, failed_variant=failed)
        return replace(judgement, scores=scores)

    def _answered(
        self, task: JudgeTask, gold: Gold, sql: str, execution: Execution, find: Callable[[], Answers]
    ) -> Judgement:
        if execution.ending is not Ending.ROWS:
            outcome, error = _FAILURES[execution.ending], execution.error
        # The official limit is for both together, although gold is executed only once here.
        elif execution.seconds + gold.execution.seconds > self._setup.limits.seconds:
            outcome = Outcome.PREDICTION_TIMEOUT
            error = f"with its gold it took longer than {self._setup.limits.seconds:g} s"
        else:
            return self._compared(task, gold, sql, execution, find)
        return Judgement(
            outcome,
            self._setup.zero(gold.dialect),
            error,
            execution.code,
            execution.seconds,
            gold.execution.seconds,
            self._diagnose(task, gold, sql, execution.code, error),
            preview=self._preview(gold, None),
        )

    def _compared(
        self, task: JudgeTask, gold: Gold, sql: str, execution: Execution, find: Callable[[], Answers]
    ) -> Judgement:
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
            elif metric.is_searched and (Stage.ALIGNING, sql) in task.left_out:
                del scores[metric.name]
            elif metric.of_rows is not None:
                seconds = self._setup.scoring_seconds
                with self._announce(Stage.ALIGNING, sql, seconds) if metric.is_searched else nullcontext():
                    try:
                        scores[metric.name] = metric.of_rows(predicted, expected)
                    except TooManyRows:
                        del scores[metric.name]
            elif metric.of_answers is not None:
                scores[metric.name] = metric.of_answers(predicted, expected, find)
        error, error_class, compared, failed = None, None, None, None
        if outcome is Outcome.MISMATCH:
            # Engines that run such a text return no rows, which official scripts compare with gold's.
            error = EMPTY if not predicted and is_empty(sql) else None
            error_class = self._diagnose(task, gold, sql, None, None)
        elif names := of_basis(self._setup.metrics, Basis.VARIANTS):
            tested = self._suites[gold.dialect].score(gold, sql)
            compared, failed = tested.compared, tested.failed_variant
            scores.update(dict.fromkeys(names, tested.score or 0.0))
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

    def _preview(self, gold: Gold, execution: Execution | None) -> str | None:
        if not self._setup.previews:
            return None
        translated = dialect_of(gold.language) not in gold.question.gold
        rows = None if execution is None else execution.rows
        return preview(gold.execution.rows, rows, gold.sql if translated else None).to_text()

    def _structure(self, task: JudgeTask, gold: Gold, sql: str) -> Structure | None:
        """Return Spider's measures.

        None if they are not requested, the dialect is not SQLite's, or gold cannot be parsed.
        """
        if not self._reads_structure or dialect_of(gold.dialect) is not Dialect.SQLITE or gold.sql is None:
            return None
        db_id = gold.question.db_id
        expected = self._structure_of(gold.sql, db_id)
        if expected is None:
            return None
        if (Stage.READING, sql) in task.left_out:
            return compare(None, expected)
        with self._announce(Stage.READING, sql, self._setup.scoring_seconds):
            return compare(read_for_spider(sql, self._spider_schema(db_id)), expected)

    def _read_spider_schema(self, db_id: str) -> SpiderSchema:
        published = self._setup.questions.schemas.get(db_id)
        if published is None:
            return SpiderSchema({}, ())
        tables: dict[str, list[str]] = {table: [] for table in published.tables}
        for column in published.columns:
            tables[column.table].append(column.name)
        keys = [(f"{one.table}.{one.name}", f"{two.table}.{two.name}") for one, two in published.foreign_keys]
        return SpiderSchema(tables, keys)

    def _diagnose(
        self, task: JudgeTask, gold: Gold, sql: str, code: str | None, error: str | None
    ) -> ErrorClass | None:
        if not self._setup.diagnoses:
            return None
        if (Stage.READING, sql) in task.left_out:
            return ErrorClass.OTHER
        db_id = gold.question.db_id
        of_gold = partial(self._reading_of, gold.sql or "", gold.language, db_id)
        with self._announce(Stage.READING, sql, self._setup.scoring_seconds):
            schema = self._setup.questions.schemas.get(db_id)
            return diagnose(sql, of_gold, gold.dialect, schema, code=code, error=error)

    def _read_gold(self, sql: str, language: EngineName, db_id: str) -> Reading | None:
        return read_for_diagnosis(sql, language, self._setup.questions.schemas.get(db_id))
