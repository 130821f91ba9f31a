"""The reference of every question on every engine: its text, its rows, or the outcome that its failure is.

Each gold is executed once per engine, and everything that is derived from it is derived once.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from dialects.overrides import Override, overrides
from dialects.translate import Untranslatable, translate
from harness.alternatives import answers
from harness.benchmark import Question, QuestionSet
from harness.engines.base import Engine
from harness.engines.sqlite import SQLiteEngine
from harness.execution import Ending, Execution, Limits, execute
from harness.metrics.strict import Answers
from harness.once import Once
from harness.outcomes import GoldOrigin, Outcome
from harness.words import Dialect, Profile
from loaders.census import census
from loaders.schema import Schema


@dataclass(frozen=True)
class Gold:
    """The reference of one question on one engine.

    `sql` is None where there is no text for the dialect; `failure` is the outcome of every prediction for the
    question where gold did not return rows in time.
    """

    question: Question
    dialect: Dialect
    sql: str | None
    execution: Execution
    failure: Outcome | None = None


class Golds:
    """The references of a question set on its engines; thread-safe.

    Args:
        questions: the question set.
        engines: the engines, with the databases of the set already loaded.
        profile: how the databases were loaded.
        limits: what one SQL text may use.
    """

    def __init__(
        self, questions: QuestionSet, engines: Mapping[Dialect, Engine], profile: Profile, limits: Limits
    ) -> None:
        self._questions = questions
        self._engines = engines
        self._profile = profile
        self._limits = limits
        self._overrides: dict[Dialect, Mapping[str, Override]] = {
            dialect: overrides(questions.name, dialect)
            for dialect in engines
            if dialect is not Dialect.SQLITE
        }
        self._schemas = Once()
        self._golds = Once()
        self._answers = Once()

    def execute(self, question: Question, dialect: Dialect, sql: str) -> Execution:
        """Run one text on the question's database.

        Raises:
            EngineLost: the engine is to blame, not the text.
        """
        database = self._questions.database(question.db_id, self._profile)
        return execute(self._engines[dialect], database, sql, self._limits)

    def origin(self, question: Question, dialect: Dialect) -> GoldOrigin:
        """Where the text of a gold comes from."""
        if dialect in question.gold:
            return GoldOrigin.DATASET
        override = self._overrides[dialect].get(question.key)
        usable = override is not None and override.replaces(question.gold[Dialect.SQLITE])
        return GoldOrigin.OVERRIDE if usable else GoldOrigin.TRANSLATED

    def of(self, question: Question, dialect: Dialect) -> Gold:
        """The gold of a question, executed when it is first asked for.

        Raises:
            EngineLost: the engine is to blame.
        """
        return self._golds((dialect, question.key), lambda: self._run(question, dialect))

    def answers(self, gold: Gold) -> Answers:
        """Which answers a gold allows beside its own rows; runs more queries when first asked for.

        A translation decides ties as SQLite does, so its other answers are those of SQLite's gold, there.

        Raises:
            EngineLost: the engine is to blame.
        """
        question = gold.question
        from_dataset = self.origin(question, gold.dialect) is GoldOrigin.DATASET
        dialect = gold.dialect if from_dataset else Dialect.SQLITE
        engine = self._engines[dialect] if from_dataset else SQLiteEngine()
        database = self._questions.database(question.db_id, self._profile)

        def run(sql: str) -> Execution:
            return execute(engine, database, sql, self._limits)

        return self._answers(
            (gold.dialect, question.key),
            lambda: answers(question.gold[dialect], dialect, run, gold.execution.rows),
        )

    def _run(self, question: Question, dialect: Dialect) -> Gold:
        try:
            sql = self._text(question, dialect)
        except Untranslatable as error:
            failed = Execution(Ending.ERROR, error=str(error))
            return Gold(question, dialect, None, failed, Outcome.GOLD_ERROR)
        execution = self.execute(question, dialect, sql)
        if execution.ending is Ending.ROWS and execution.seconds <= self._limits.seconds:
            return Gold(question, dialect, sql, execution)
        timed_out = execution.ending in (Ending.ROWS, Ending.TIMEOUT)
        failure = Outcome.GOLD_TIMEOUT if timed_out else Outcome.GOLD_ERROR
        return Gold(question, dialect, sql, execution, failure)

    def _text(self, question: Question, dialect: Dialect) -> str:
        origin = self.origin(question, dialect)
        if origin is GoldOrigin.DATASET:
            return question.gold[dialect]
        if origin is GoldOrigin.OVERRIDE:
            return self._overrides[dialect][question.key].sql
        return translate(question.gold[Dialect.SQLITE], self._schema(question.db_id), dialect).sql

    def _schema(self, db_id: str) -> Schema:
        return self._schemas(db_id, lambda: census(self._questions.database(db_id).sqlite_path))
