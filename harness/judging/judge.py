"""Judges sheets in this process: the core that local workers, Ray and tests share.

Promises: gold is executed once for all texts of a sheet, and not at all where its execution is known; a gold
that fails is never held against a prediction; a fault of the harness is one text's, not the run's.
"""

from collections.abc import Callable, Mapping

from harness import alternatives
from harness.benchmark import Question
from harness.engines.base import Engine
from harness.engines.sqlite import SQLiteEngine
from harness.execution import Execution, refuses
from harness.judging.golds import Gold, Golds
from harness.judging.scoring import Scoring
from harness.judging.sheets import Judged, Setup, Sheet, explain
from harness.known.codec import decode, encode
from harness.metrics.strict import Answers
from harness.once import Once
from harness.outcomes import GoldOrigin, Judgement, Outcome
from harness.recovery import execute_patiently
from harness.words import Dialect

MOST_KEPT_BYTES = 2**20
"""How large an execution may be, encoded, to be kept for later runs."""


class Judge:
    """Judges one sheet at a time.

    Args:
        setup: what is the same for every sheet.
        engines: one for each dialect of the setup.
        watch: is told of every text before it is executed.
    """

    def __init__(
        self,
        setup: Setup,
        engines: Mapping[Dialect, Engine],
        watch: Callable[[str], None] | None = None,
    ) -> None:
        self._setup = setup
        self._watch = watch
        self._engines = engines
        self._sqlite = self._engines.get(Dialect.SQLITE) or SQLiteEngine(pooled=True)
        self._questions = {question.key: question for question in setup.questions.questions}
        self._golds = Golds(setup.questions, tuple(setup.servers), setup.limits)
        self._scoring = Scoring(setup)

    def judge(self, sheet: Sheet) -> Judged:
        """What the texts of a sheet come to; never raises for what an engine or a statement does."""
        question = self._questions[sheet.question]
        executed: dict[str, bytes] = {}
        try:
            gold, kept = self._gold(question, sheet)
        except Exception as error:  # noqa: BLE001 - a fault of ours or a driver's is one sheet's, not the run's
            return Judged(tuple(self._broken(sheet.dialect, error) for _ in sheet.texts), executed, None)
        answers = Once()

        def find() -> Answers:
            return answers(None, lambda: self._answers(gold))

        judgements = []
        for text in sheet.texts:

            def run(text: str = text) -> Execution:
                return self._run(sheet, gold, text, executed)

            try:
                judgements.append(self._scoring.judgement(gold, text, run, find))
            except MemoryError:
                judgements.append(self._too_large(gold))
            except Exception as error:  # noqa: BLE001 - as above
                judgements.append(self._broken(sheet.dialect, error))
        return Judged(tuple(judgements), executed, kept)

    def _gold(self, question: Question, sheet: Sheet) -> tuple[Gold, bytes | None]:
        """The gold of a sheet, and its execution if it is new and can be kept."""
        kept: bytes | None = None

        def run(sql: str) -> Execution:
            nonlocal kept
            if sheet.gold is not None:
                return decode(sheet.gold)
            if sql in sheet.known:
                return decode(sheet.known[sql])
            execution = self._execute(question, sheet.dialect, sql)
            kept = encode(execution, MOST_KEPT_BYTES)
            return execution

        return self._golds.of(question, sheet.dialect, run), kept

    def _run(self, sheet: Sheet, gold: Gold, text: str, executed: dict[str, bytes]) -> Execution:
        if text in sheet.known:
            return decode(sheet.known[text])
        if text == gold.sql:
            return gold.execution
        execution = self._execute(gold.question, sheet.dialect, text)
        if text in sheet.fleeting and not self._is_refused(gold.question, sheet.dialect, text, execution):
            return execution
        encoded = encode(execution, MOST_KEPT_BYTES)
        if encoded is not None:
            executed[text] = encoded
        return execution

    def _is_refused(self, question: Question, dialect: Dialect, sql: str, execution: Execution) -> bool:
        database = self._setup.questions.database(question.db_id, self._setup.profile)
        return refuses(self._engines[dialect], database, sql, execution, self._setup.limits)

    def _execute(self, question: Question, dialect: Dialect, sql: str) -> Execution:
        if self._watch is not None:
            self._watch(sql)
        database = self._setup.questions.database(question.db_id, self._setup.profile)
        return execute_patiently(self._engines[dialect], database, sql, self._setup.limits)

    def _answers(self, gold: Gold) -> Answers:
        """Which answers a gold allows beside its own rows.

        A translation decides ties as SQLite does, so its other answers are those of SQLite's gold, there.
        """
        question = gold.question
        from_dataset = self._golds.origin(question, gold.dialect) is GoldOrigin.DATASET
        dialect = gold.dialect if from_dataset else Dialect.SQLITE
        engine = self._engines[dialect] if from_dataset else self._sqlite
        database = self._setup.questions.database(question.db_id, self._setup.profile)

        def run(sql: str) -> Execution:
            return execute_patiently(engine, database, sql, self._setup.limits)

        return alternatives.answers(question.gold[dialect], dialect, run, gold.execution.rows)

    def _too_large(self, gold: Gold) -> Judgement:
        scores = self._setup.zero(gold.dialect)
        return Judgement(
            Outcome.PREDICTION_TOO_LARGE,
            scores,
            error="scoring its rows needs more memory than a result may take",
            gold_seconds=gold.execution.seconds,
        )

    def _broken(self, dialect: Dialect, error: Exception) -> Judgement:
        return Judgement(Outcome.HARNESS_ERROR, self._setup.zero(dialect), error=explain(error))
