"""What workers do: judge the texts for a question, time a pair, explain a text; and what comes of it.

A task has everything that the process that does it needs beside the `Setup` of the run, and its result
everything that is to be kept. So it makes no difference where tasks are done: in which process, on which
machine, and in which order.
"""

from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from dialects.enums import Dialect, Profile
from dialects.overrides import Override, overrides
from dialects.schema import Schema
from harness.data.outcomes import GoldOrigin, Judgement, Outcome
from harness.data.questions import Question, QuestionSet
from harness.engines import EngineName, dialect_of, kind_of
from harness.engines.base import Engine, EngineLost, cut
from harness.engines.execution import Ending, Execution, Limits
from harness.engines.plans import QueryPlan
from harness.metrics import DEFAULT_METRICS, METRICS
from harness.metrics.efficiency import Timing
from harness.scoring.variants import Variants
from loaders.base.processes import Memo
from loaders.server import Server

_SCORING_SECONDS = 3.0
"""Beyond the limit of a statement."""


@dataclass(frozen=True)
class Setup:
    """What is the same for every task of a run; can be pickled.

    `servers` has, for each dialect, the servers that hold the same databases; none for SQLite, whose dialect
    is there with an empty tuple.
    """

    questions: QuestionSet
    servers: Mapping[EngineName, tuple[Server, ...]]
    profile: Profile = Profile.OFFICIAL
    limits: Limits = field(default_factory=Limits)
    metrics: tuple[str, ...] = DEFAULT_METRICS
    variants: Variants | None = None
    diagnoses: bool = True
    """Whether it is found out what is wrong with a prediction: `Judgement.error_class`."""
    unloaded: Mapping[tuple[EngineName, str], str] = field(default_factory=dict)
    """The databases that a dialect's servers do not have, and why: their golds fail."""
    previews: bool = True
    """Whether some of the rows are kept for readers: `Judgement.preview`."""
    uncounted: Mapping[EngineName, str] = field(default_factory=dict)
    """The engines that do not count the work of any text, and why: nobody has a score by it there."""
    standing: Mapping[EngineName, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    """What stands on the servers of a dialect, by database: a digest for each server (`Loaded.content`)."""

    @property
    def scoring_seconds(self) -> float:
        """How long one text may be scored; 1,000,000 rows take about 3 s by EX and Soft-F1."""
        return self.limits.seconds + _SCORING_SECONDS

    def engine(self, dialect: EngineName) -> Engine:
        """The engine of a dialect as it is timed: of its first server, or of files."""
        servers = self.servers[dialect]
        return kind_of(dialect).make(servers[0] if servers else None, pooled=False)

    def engines(self, place: int) -> dict[EngineName, Engine]:
        """The engines that the worker at `place` uses."""
        return {
            dialect: kind_of(dialect).make(servers[place % len(servers)] if servers else None, pooled=True)
            for dialect, servers in self.servers.items()
        }

    def zero(self, dialect: EngineName) -> dict[str, float]:
        """The scores of a pair that nothing can be said for."""
        asked = [METRICS[name] for name in self.metrics]
        is_sqlite = dialect_of(dialect) is Dialect.SQLITE
        return {
            metric.name: 0.0
            for metric in asked
            if metric.has_score
            and (is_sqlite or not metric.is_of_sqlite)
            and not (metric.of_work and dialect in self.uncounted)
        }

    def broken(self, dialect: EngineName, why: str) -> Judgement:
        """The judgement of a pair that nobody's SQL is to blame for."""
        return Judgement(Outcome.HARNESS_ERROR, self.zero(dialect), error=why)


class Stage(IntEnum):
    """What is being done for a text."""

    RUNNING = 1
    """It is executed."""
    SCORING = 2
    """Its rows are compared, shown and written."""
    READING = 3
    """It is parsed, for Spider's measures or its error class."""
    ALIGNING = 4
    """The best order of its rows is looked for."""
    ANSWERING = 5
    """The other answers of its gold are looked for."""
    COUNTING = 6
    """Its work and that of its gold are counted."""


OPTIONAL = frozenset({Stage.READING, Stage.ALIGNING, Stage.ANSWERING, Stage.COUNTING})
"""Stages that can be left out: the outcome is known without them."""

Announce = Callable[[Stage, str, float | None], AbstractContextManager[None]]
"""Is entered for a stage of a text, with the seconds that it may take unless it has limits of its own."""


def unsupervised(_stage: Stage, _text: str, _seconds: float | None) -> AbstractContextManager[None]:
    """For who is not supervised."""
    return nullcontext()


Result = TypeVar("Result")


@dataclass(frozen=True)
class Task(Generic[Result]):
    """What a worker does on an engine; one of the three that follow."""

    dialect: EngineName


@dataclass(frozen=True)
class TaskResult:
    """What came of the texts of a question: of some while others are still judged, in the end of all.

    `judgements` are by text. `executions`, by text, and `golds`, by the gold's place, are encoded
    (`harness.scoring.codec`), and so is `works`, what texts and golds make the engine do (`encode_work`).
    """

    judgements: dict[str, Judgement] = field(default_factory=dict)
    executions: dict[str, bytes] = field(default_factory=dict)
    golds: dict[int, bytes] = field(default_factory=dict)
    works: dict[str, bytes] = field(default_factory=dict)

    def __or__(self, other: "TaskResult") -> "TaskResult":
        return TaskResult(
            self.judgements | other.judgements,
            self.executions | other.executions,
            self.golds | other.golds,
            self.works | other.works,
        )


@dataclass(frozen=True)
class JudgeTask(Task[TaskResult]):
    """A question on an engine, with the distinct SQL texts that were predicted for it, to be judged.

    `known` need not be done again. `volatile` are the texts that may give other rows in a moment: what came
    of them is not to be kept, unless the engine refuses them. `left_out` has the stages that ended a process
    before, with the text. The result has what was executed for it, without what takes too much room to be
    kept or is soon other rows.
    """

    question: Question
    texts: tuple[str, ...]
    known: TaskResult = field(default_factory=TaskResult)
    volatile: frozenset[str] = frozenset()
    left_out: frozenset[tuple[Stage, str]] = frozenset()


class Method(StrEnum):
    """How a pair is timed."""

    OFFICIAL = "official"
    """As the published script does: 100 times each, a new session for every execution, the client's clock."""
    STABLE = "stable"
    """Until the reward is decided, in two warm sessions, by the engine's own clock where it has one."""


@dataclass(frozen=True)
class TimeTask(Task[Timing]):
    """A prediction that matches, to be timed beside its gold; both are SQL texts."""

    db_id: str
    prediction: str
    gold: str
    method: Method


@dataclass(frozen=True)
class ExplainTask(Task[QueryPlan]):
    """A text whose plan on an engine is asked for, with the rows that it really has.

    `counts`: with the work that it makes the engine do. `failure` is what came of running it where that
    ended its process: its plan is asked for without.
    """

    db_id: str
    sql: str
    counts: bool = False
    failure: QueryPlan | None = None


class Workers(Protocol):
    """Judge tasks, several at a time; callable from any thread."""

    def submit(self, task: JudgeTask) -> "Future[TaskResult]":
        """Take a task; the future never raises for what an engine or a statement does."""
        ...

    def at_once(self, task: JudgeTask) -> "Future[TaskResult] | None":
        """Have a task judged before this returns, by an idle worker; None where there is none.

        For who waits for nothing else: no thread has to be woken on the way there and back.
        """
        ...

    def close(self) -> None:
        """Stop at once; what has not been judged is cancelled."""
        ...


def explain(error: BaseException) -> str:
    """What a harness error says."""
    return cut(str(error) if isinstance(error, EngineLost) else f"{type(error).__name__}: {error}")


# The reference of every question on every engine: its text, its rows, or the outcome that its failure is.

if TYPE_CHECKING:
    from dialects.translate import Translation

Run = Callable[[str], Execution]
"""Runs a text on the question's database."""


@dataclass(frozen=True)
class Gold:
    """One reference of one question on one engine.

    `question` has this gold alone. `sql` is None where there is no text for the dialect; `failure` is the
    outcome of every prediction for the question where gold did not return rows in time.
    """

    question: Question
    dialect: EngineName
    sql: str | None
    execution: Execution
    failure: Outcome | None = None

    @property
    def is_by_rows(self) -> bool:
        """Whether SQLite has run it, and its rows are compared by value."""
        return dialect_of(self.dialect) in self.question.by_rows

    @property
    def language(self) -> EngineName:
        """The engine in whose dialect its text is."""
        return Dialect.SQLITE if self.is_by_rows else self.dialect


class NoGold(Exception):
    """A question has no gold in a dialect: SQLite's cannot be translated."""


class Golds:
    """The references of a question set; thread-safe.

    A question with several golds is asked for with each of them alone (`Question.each`).

    Args:
        questions: the question set.
        dialects: the engines.
        limits: what one SQL text may use.
        unloaded: the databases that an engine's servers do not have, and why.
    """

    def __init__(
        self,
        questions: QuestionSet,
        dialects: Collection[EngineName],
        limits: Limits,
        unloaded: Mapping[tuple[EngineName, str], str] | None = None,
    ) -> None:
        self._questions = questions
        self._unloaded = unloaded or {}
        self._limits = limits
        self._overrides: dict[Dialect, Mapping[str, Override]] = {
            dialect: overrides(questions.name, dialect)
            for dialect in map(dialect_of, dialects)
            if dialect is not Dialect.SQLITE
        }
        self._schemas = Memo()

    def origin(self, question: Question, dialect: EngineName) -> GoldOrigin:
        """Where the text of a gold comes from."""
        language = dialect_of(dialect)
        if language in question.by_rows:
            return GoldOrigin.SQLITE_ROWS
        if language in question.gold:
            return GoldOrigin.CORRECTION if language in question.corrected else GoldOrigin.DATASET
        override = self._overrides[language].get(question.key)
        usable = override is not None and override.replaces(question.gold[Dialect.SQLITE])
        return GoldOrigin.OVERRIDE if usable else GoldOrigin.TRANSLATED

    def written(self, question: Question, dialect: EngineName) -> str:
        """The text that decides what gold is: its own, or SQLite's where that is translated."""
        origin, language = self.origin(question, dialect), dialect_of(dialect)
        if origin is GoldOrigin.OVERRIDE:
            return self._overrides[language][question.key].sql
        return question.gold[language if origin.is_written else Dialect.SQLITE]

    def text(self, question: Question, dialect: EngineName) -> str:
        """The SQL of a gold; SQLite's where its rows count.

        Raises:
            NoGold: there is none for the dialect.
        """
        if self.origin(question, dialect) is not GoldOrigin.TRANSLATED:
            return self.written(question, dialect)
        return self.translation(question, dialect).sql

    def translation(self, question: Question, dialect: EngineName) -> "Translation":
        """The SQL of a gold, with what the translator says of it; of one written by hand nothing.

        Raises:
            NoGold: there is none for the dialect.
        """
        written = self.written(question, dialect)
        # Slow to import, and most sets publish their golds.
        from dialects.translate import Translation, Untranslatable, translate  # noqa: PLC0415

        if self.origin(question, dialect) is not GoldOrigin.TRANSLATED:
            return Translation(written, dialect_of(dialect))
        try:
            # No prediction returns numbers and texts as JSON, and none would be compared with them.
            return translate(written, self.schema(question.db_id), dialect_of(dialect), as_json=False)
        except Untranslatable as error:
            raise NoGold(str(error)) from error

    def of(self, question: Question, dialect: EngineName, run: Run) -> Gold:
        """The gold of a question, executed by `run`: on the engine, or on SQLite where its rows count.

        Raises:
            EngineLost: `run` raised it.
        """
        reason = self._unloaded.get((dialect, question.db_id))
        if reason is not None:
            # What may stand there from an earlier load is not what is asked about.
            failed = Execution(Ending.ERROR, error=f"the database {question.db_id} is not loaded: {reason}")
            return Gold(question, dialect, None, failed, Outcome.GOLD_ERROR)
        try:
            sql = self.text(question, dialect)
        except NoGold as error:
            failed = Execution(Ending.ERROR, error=str(error))
            return Gold(question, dialect, None, failed, Outcome.GOLD_ERROR)
        execution = run(sql)
        if execution.ending is Ending.ROWS and execution.seconds <= self._limits.seconds:
            return Gold(question, dialect, sql, execution)
        timed_out = execution.ending in (Ending.ROWS, Ending.TIMEOUT)
        failure = Outcome.GOLD_TIMEOUT if timed_out else Outcome.GOLD_ERROR
        return Gold(question, dialect, sql, execution, failure)

    def schema(self, db_id: str) -> Schema:
        """The census of a database, which is read once."""
        from loaders.census import census  # noqa: PLC0415 - as in `translation`

        return self._schemas(db_id, lambda: census(self._questions.database(db_id).sqlite_path))
