"""Judges tasks in this process: the core that local workers, Ray and tests share.

Promises: each gold is executed once for all texts of a task, and not at all where its execution is known, and
a text once for all golds; a gold that fails is never held against a prediction; a fault of the harness is one
text's, not the run's.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace

from dialects.enums import Dialect
from harness.cache.codec import decode, encode
from harness.data.outcomes import Judgement, Outcome
from harness.data.questions import Question
from harness.engines import EngineName, dialect_of
from harness.engines.base import Engine, EngineLost, SqlError
from harness.engines.execution import (
    Ending,
    Execution,
    NotCounted,
    Work,
    count_work,
    decode_work,
    encode_work,
    execute_patiently,
    refuses,
)
from harness.engines.sqlite.engine import SQLiteEngine
from harness.metrics import METRICS, Basis, of_basis
from harness.metrics.accuracy import Answers
from harness.metrics.efficiency import same_text
from harness.metrics.work import IDENTICAL, WorkRatio, ratio
from harness.scoring import alternatives
from harness.scoring.once import Once
from harness.scoring.scorer import Scoring, best
from harness.scoring.tasks import (
    During,
    Gold,
    Golds,
    Judged,
    LeftOut,
    Progress,
    Setup,
    Stage,
    Task,
    explain,
    undisturbed,
)
from loaders.namespace import Database

MOST_KEPT_BYTES = 2**20
"""How large an execution may be, encoded, to be kept for later runs."""

_MOMENT = 0.1
"""Seconds of work that may be done again if the process ends."""


class Judge:
    """Judges one task at a time.

    Args:
        setup: what is the same for every task.
        engines: one for each dialect of the setup.
        during: is entered for whatever is done for a text, with the seconds that it may take.
    """

    def __init__(
        self,
        setup: Setup,
        engines: Mapping[EngineName, Engine],
        during: During = undisturbed,
    ) -> None:
        self._setup = setup
        self._during = during
        self._left_out: frozenset[tuple[Stage, str]] = frozenset()
        self._engines = engines
        self._sqlite = self._engines.get(Dialect.SQLITE) or SQLiteEngine(pooled=True)
        self._questions = {question.key: question for question in setup.questions.questions}
        self._golds = Golds(setup.questions, tuple(setup.servers), setup.limits, setup.unloaded)
        self._scoring = Scoring(setup, self._enter)

    def judge(self, task: Task, tell: Callable[[Progress], None] = lambda _progress: None) -> Judged:
        """What the texts of a task come to; never raises for what an engine or a statement does.

        Args:
            task: the task.
            tell: is given what has been done, before it goes on, if that took longer than a moment.
        """
        self._left_out = task.left_out
        executed: dict[str, bytes] = {}
        kept: dict[int, bytes] = {}
        works: dict[str, bytes] = {}
        judged = dict(task.judged)
        began = time.monotonic()
        try:
            golds = list(self._golds_of(task, kept, tell))
        except Exception as error:  # noqa: BLE001 - a fault of ours or a driver's is one task's, not the run's
            return Judged(tuple(self._broken(task.dialect, error) for _ in task.texts), executed, {})
        answers = Once()
        for text in task.texts:
            if text in judged:
                continue
            if time.monotonic() - began > _MOMENT:
                tell(Progress(judged, executed, kept, works))
                began = time.monotonic()
            runs = Once()

            def run(text: str = text, runs: Once = runs) -> Execution:
                return runs(None, lambda: self._run(task, golds, text, executed))

            found = best([self._judgement(gold, text, run, answers) for gold in golds])
            judged[text] = self._weighed(task, golds[found.gold_index], text, found, works)
        return Judged(tuple(judged[text] for text in task.texts), executed, kept, works)

    def _judgement(self, gold: Gold, text: str, run: Callable[[], Execution], answers: Once) -> Judgement:
        """What a text comes to beside one gold."""

        def find() -> Answers:
            return answers(gold.sql, lambda: self._answers(gold))

        try:
            with self._during(Stage.SCORING, text, self._setup.scoring_seconds):
                return self._scoring.judgement(gold, text, run, find)
        except MemoryError:
            return self._too_large(gold, "scoring its rows needs more memory than a result may take")
        except RecursionError:
            return self._too_large(gold, "its values are nested too deeply to be scored")
        except Exception as error:  # noqa: BLE001 - as above
            return self._broken(gold.dialect, error)

    def _weighed(
        self, task: Task, gold: Gold, text: str, judgement: Judgement, works: dict[str, bytes]
    ) -> Judgement:
        """A judgement with its scores by work; what was counted for it goes into `works`."""
        names = of_basis(judgement.scores, Basis.WORK)
        if not names or judgement.outcome is not Outcome.MATCH:
            return judgement
        try:
            with self._enter(Stage.COUNTING, text, None):
                work = self._work_ratio(task, gold, text, works)
        except LeftOut:
            work = WorkRatio(reason="it did not stop when its time was up, while its work was counted")
        except Exception as error:  # noqa: BLE001 - as above
            return self._broken(task.dialect, error)
        scores = {name: score for name, score in judgement.scores.items() if name not in names}
        if work.tau is not None:
            scores |= {name: of(work.tau) for name in names if (of := METRICS[name].of_work) is not None}
        return replace(judgement, scores=scores, work=work)

    def _work_ratio(self, task: Task, gold: Gold, text: str, works: dict[str, bytes]) -> WorkRatio:
        """The work of a text beside that of its gold.

        Raises:
            EngineLost: the engine is to blame.
        """
        if gold.sql is None or gold.is_by_rows:
            return WorkRatio(reason="its gold runs on another engine")
        if same_text(text, gold.sql):
            return IDENTICAL
        counted = []
        for whose, sql in (("gold", gold.sql), ("the prediction", text)):
            found = self._work(task, sql, works)
            if not isinstance(found, Work):
                return WorkRatio(reason=f"{whose}: {found.reason}")
            counted.append(found.counters)
        try:
            return ratio(dialect_of(task.dialect), counted[1], counted[0])
        except LookupError as error:
            return WorkRatio(reason=f"the engine's counters cannot be weighed: {error}")

    def _work(self, task: Task, sql: str, works: dict[str, bytes]) -> Work | NotCounted:
        """What a text makes its engine do, counted once for all that ask within a task."""
        known = works.get(sql) or task.works.get(sql)
        if known is not None:
            return decode_work(known)
        engine, database = self._engines[task.dialect], self._database(self._asked(task))
        limits = self._setup.limits
        try:
            try:
                found = count_work(engine, database, sql, limits)
            except EngineLost:
                # Waits for a server that comes back.
                execute_patiently(engine, database, "SELECT 1", limits)
                found = count_work(engine, database, sql, limits)
        except SqlError as error:
            return NotCounted(f"it failed while its work was counted: {error.message}")
        if isinstance(found, Work) and sql not in task.fleeting:
            works[sql] = encode_work(found)
        return found

    def _enter(self, stage: Stage, text: str, seconds: float | None) -> AbstractContextManager[None]:
        """As `During`.

        Raises:
            LeftOut: a process has ended in this stage of this text.
        """
        if (stage, text) in self._left_out:
            raise LeftOut
        return self._during(stage, text, seconds)

    def _golds_of(
        self, task: Task, kept: dict[int, bytes], tell: Callable[[Progress], None]
    ) -> Iterator[Gold]:
        """The golds of a task; those that are new and can be kept go into `kept`, encoded."""
        several = self._asked(task).each(dialect_of(task.dialect))
        for place, question in enumerate(several):
            is_by_rows = dialect_of(task.dialect) in question.by_rows

            def run(sql: str, place: int = place, *, is_by_rows: bool = is_by_rows) -> Execution:
                if place in task.golds:
                    return decode(task.golds[place])
                if sql in task.known and not is_by_rows:
                    return decode(task.known[sql])
                engine = self._sqlite if is_by_rows else self._engines[task.dialect]
                execution = self._execute(task, engine, sql)
                encoded = encode(execution, MOST_KEPT_BYTES)
                if encoded is not None:
                    kept[place] = encoded
                return execution

            yield self._golds.of(question, task.dialect, run)
            if len(several) > 1:
                # Should the next one end this process, it has to be seen which it was.
                tell(Progress(task.judged, {}, kept))

    def _run(self, task: Task, golds: Sequence[Gold], text: str, executed: dict[str, bytes]) -> Execution:
        if text in task.known:
            return decode(task.known[text])
        for gold in golds:
            if text == gold.sql and not gold.is_by_rows:
                return gold.execution
        question = golds[0].question
        execution = self._execute(task, self._engines[task.dialect], text)
        if text in task.fleeting and not self._is_refused(question, task.dialect, text, execution):
            return execution
        encoded = encode(execution, MOST_KEPT_BYTES)
        if encoded is not None:
            executed[text] = encoded
        return execution

    def _is_refused(self, question: Question, dialect: EngineName, sql: str, execution: Execution) -> bool:
        return refuses(self._engines[dialect], self._database(question), sql, execution, self._setup.limits)

    def _execute(self, task: Task, engine: Engine, sql: str) -> Execution:
        database = self._database(self._asked(task))
        with self._during(Stage.RUNNING, sql, None):
            return execute_patiently(engine, database, sql, self._setup.limits)

    def _asked(self, task: Task) -> Question:
        return task.of or self._questions[task.question]

    def _database(self, question: Question) -> Database:
        return self._setup.questions.database(question.db_id, self._setup.profile)

    def _answers(self, gold: Gold) -> Answers:
        """Which answers a gold allows beside its own rows.

        A translation decides ties as SQLite does, so its other answers are those of SQLite's gold, there.
        """
        question = gold.question
        is_written = self._golds.origin(question, gold.dialect).is_written
        dialect: EngineName = gold.dialect if is_written else Dialect.SQLITE
        engine = self._engines[dialect] if is_written else self._sqlite
        database = self._database(question)

        text = question.gold[dialect_of(dialect)]
        is_left_out = (Stage.ANSWERING, text) in self._left_out

        def run(sql: str) -> Execution:
            if is_left_out:
                return Execution(Ending.TIMEOUT, error="it did not stop when its time was up")
            with self._during(Stage.ANSWERING, text, None):
                return execute_patiently(engine, database, sql, self._setup.limits)

        with self._during(Stage.ANSWERING, text, self._setup.scoring_seconds):
            return alternatives.answers(text, dialect, run, gold.execution.rows)

    def _too_large(self, gold: Gold, why: str) -> Judgement:
        scores = self._setup.zero(gold.dialect)
        return Judgement(
            Outcome.PREDICTION_TOO_LARGE,
            scores,
            error=why,
            gold_seconds=gold.execution.seconds,
        )

    def _broken(self, dialect: EngineName, error: Exception) -> Judgement:
        return Judgement(Outcome.HARNESS_ERROR, self._setup.zero(dialect), error=explain(error))
