"""Judges tasks in this process: the core that local workers, Ray and tests share.

Promises: gold is executed once for all texts of a task, and not at all where its execution is known; a gold
that fails is never held against a prediction; a fault of the harness is one text's, not the run's.
"""

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager

from dialects.enums import Dialect
from harness.cache.codec import decode, encode
from harness.data.questions import Question
from harness.engines import EngineName, dialect_of
from harness.engines.base import Engine
from harness.engines.execution import Ending, Execution, refuses
from harness.engines.retry import execute_patiently
from harness.engines.sqlite.engine import SQLiteEngine
from harness.metrics.strict import Answers
from harness.outcomes import GoldOrigin, Judgement, Outcome
from harness.scoring import alternatives
from harness.scoring.golds import Gold, Golds
from harness.scoring.once import Once
from harness.scoring.scorer import Scoring
from harness.scoring.tasks import During, Judged, LeftOut, Progress, Setup, Stage, Task, explain, undisturbed

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
        question = task.of or self._questions[task.question]
        self._left_out = task.left_out
        executed: dict[str, bytes] = {}
        began = time.monotonic()
        try:
            gold, kept = self._gold(question, task)
        except Exception as error:  # noqa: BLE001 - a fault of ours or a driver's is one task's, not the run's
            return Judged(tuple(self._broken(task.dialect, error) for _ in task.texts), executed, None)
        answers = Once()

        def find() -> Answers:
            return answers(None, lambda: self._answers(gold))

        judged = dict(task.judged)
        for text in task.texts:
            if text in judged:
                continue
            if time.monotonic() - began > _MOMENT:
                tell(Progress(judged, executed, kept))
                began = time.monotonic()

            def run(text: str = text) -> Execution:
                return self._run(task, gold, text, executed)

            try:
                with self._during(Stage.SCORING, text, self._setup.scoring_seconds):
                    judged[text] = self._scoring.judgement(gold, text, run, find)
            except MemoryError:
                judged[text] = self._too_large(
                    gold, "scoring its rows needs more memory than a result may take"
                )
            except RecursionError:
                judged[text] = self._too_large(gold, "its values are nested too deeply to be scored")
            except Exception as error:  # noqa: BLE001 - as above
                judged[text] = self._broken(task.dialect, error)
        return Judged(tuple(judged[text] for text in task.texts), executed, kept)

    def _enter(self, stage: Stage, text: str, seconds: float | None) -> AbstractContextManager[None]:
        """As `During`.

        Raises:
            LeftOut: a process has ended in this stage of this text.
        """
        if (stage, text) in self._left_out:
            raise LeftOut
        return self._during(stage, text, seconds)

    def _gold(self, question: Question, task: Task) -> tuple[Gold, bytes | None]:
        """The gold of a task, and its execution if it is new and can be kept."""
        kept: bytes | None = None

        def run(sql: str) -> Execution:
            nonlocal kept
            if task.gold is not None:
                return decode(task.gold)
            if sql in task.known:
                return decode(task.known[sql])
            execution = self._execute(question, task.dialect, sql)
            kept = encode(execution, MOST_KEPT_BYTES)
            return execution

        return self._golds.of(question, task.dialect, run), kept

    def _run(self, task: Task, gold: Gold, text: str, executed: dict[str, bytes]) -> Execution:
        if text in task.known:
            return decode(task.known[text])
        if text == gold.sql:
            return gold.execution
        execution = self._execute(gold.question, task.dialect, text)
        if text in task.fleeting and not self._is_refused(gold.question, task.dialect, text, execution):
            return execution
        encoded = encode(execution, MOST_KEPT_BYTES)
        if encoded is not None:
            executed[text] = encoded
        return execution

    def _is_refused(self, question: Question, dialect: EngineName, sql: str, execution: Execution) -> bool:
        database = self._setup.questions.database(question.db_id, self._setup.profile)
        return refuses(self._engines[dialect], database, sql, execution, self._setup.limits)

    def _execute(self, question: Question, dialect: EngineName, sql: str) -> Execution:
        database = self._setup.questions.database(question.db_id, self._setup.profile)
        with self._during(Stage.RUNNING, sql, None):
            return execute_patiently(self._engines[dialect], database, sql, self._setup.limits)

    def _answers(self, gold: Gold) -> Answers:
        """Which answers a gold allows beside its own rows.

        A translation decides ties as SQLite does, so its other answers are those of SQLite's gold, there.
        """
        question = gold.question
        from_dataset = self._golds.origin(question, gold.dialect) is GoldOrigin.DATASET
        dialect: EngineName = gold.dialect if from_dataset else Dialect.SQLITE
        engine = self._engines[dialect] if from_dataset else self._sqlite
        database = self._setup.questions.database(question.db_id, self._setup.profile)

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
