"""The objects behind the plugin's fixtures: questions, engines with loaded databases, an evaluator.

They use the plugin's options, and need no prediction files. Databases are loaded on the first use of an
engine; every pytest-xdist process has engines and an evaluator of its own.
"""

from collections.abc import Sequence
from functools import cached_property

import pytest

from dialects.errors import BadInput, HarnessError
from harness.data.questions import Question, QuestionSet
from harness.data.sets.loader import load_set
from harness.engines import EngineName, kind_of, kinds_by_name
from harness.engines.base import Row
from harness.engines.execution import Ending, Execution
from harness.engines.retry import execute_patiently
from harness.pytest_plugin.start import request_of
from harness.scoring.golds import Golds
from harness.scoring.tasks import Setup
from harness.session.evaluator import Evaluator
from harness.session.options import as_in_pytest
from harness.session.plan import equip, find_servers
from harness.session.request import Request
from loaders.base.errors import EngineUnavailable

_PLACE = pytest.StashKey["SessionEngines"]()


class QueryFailed(Exception):
    """The engine returned no rows; `execution` says why."""

    def __init__(self, dialect: EngineName, execution: Execution) -> None:
        code = "" if execution.code is None else f" ({execution.code})"
        super().__init__(f"{dialect}: {execution.ending}{code}: {execution.error or 'no rows in time'}")
        self.execution = execution


class SessionEngines:
    """The question set and the engines of a session.

    Raises:
        BadInput: an option or the question set is wrong.
        EngineUnavailable: a requested engine is not up.
    """

    def __init__(self, request: Request) -> None:
        everything = load_set(request.set_name, request.bird_home)
        self.questions: QuestionSet = request.selected_questions(everything)
        named = request.dialects
        servers = find_servers(named or list(kinds_by_name()), required=named is not None, say=_silent)
        self.dialects: Sequence[EngineName] = [
            dialect
            for dialect in named or list(kinds_by_name())
            if dialect in servers or not kind_of(dialect).has_server
        ]
        self.request = request

    @cached_property
    def setup(self) -> Setup:
        """The engines with the databases loaded."""
        return equip(self.request, self.questions, self.dialects, say=_silent).setup

    @cached_property
    def golds(self) -> Golds:
        """The golds of every question on every engine."""
        return self.setup.golds()

    def question(self, key: str) -> Question:
        """Return a question by its key.

        Raises:
            BadInput: there is none.
        """
        if key not in self.questions.by_key:
            raise BadInput(f"question {key!r}: not among the {len(self.questions.questions)} of this run")
        return self.questions.by_key[key]


class BirdEngine:
    """An engine with the databases of the question set: runs SQL texts unchanged and read-only."""

    def __init__(self, dialect: EngineName, bench: SessionEngines) -> None:
        self.dialect = dialect
        self._bench = bench
        self._engine = bench.setup.engine(dialect)

    @property
    def version(self) -> str:
        """The version that the engine reports."""
        return self._engine.version()

    def execute(self, question: Question | str, sql: str) -> Execution:
        """Run one SQL text on the database of a question, given as object or key, with limits.

        Raises:
            BadInput: there is no such question.
            EngineUnavailable: the engine broke.
        """
        setup = self._bench.setup
        database = setup.database(self._asked(question).db_id, self.dialect)
        return execute_patiently(self._engine, database, sql, setup.limits)

    def rows(self, question: Question | str, sql: str) -> tuple[Row, ...]:
        """Return the rows of one SQL text, with the values of the engine's driver.

        Raises:
            QueryFailed: no rows, because of an error, a timeout, or a result that is too large.
            BadInput: there is no such question.
            EngineUnavailable: the engine broke.
        """
        execution = self.execute(question, sql)
        if execution.ending is not Ending.ROWS:
            raise QueryFailed(self.dialect, execution)
        return execution.rows

    def gold(self, question: Question | str) -> str:
        """Return the gold of a question for this engine: the set's own, or SQLite's in translation.

        Raises:
            BadInput: there is no such question.
            NoGold: SQLite's cannot be translated.
        """
        return self._bench.golds.text(self._asked(question), self.dialect)

    def _asked(self, question: Question | str) -> Question:
        return question if isinstance(question, Question) else self._bench.question(question)


def parametrize(metafunc: pytest.Metafunc) -> None:
    """Parametrize a test with every question and engine, unless it sets the parameters itself."""
    bench = bench_of(metafunc.config)
    said = {
        name.strip()
        for mark in metafunc.definition.iter_markers("parametrize")
        for name in (mark.args[0].split(",") if isinstance(mark.args[0], str) else mark.args[0])
    }
    if "bird_engine" in set(metafunc.fixturenames) - said:
        ids = [str(dialect) for dialect in bench.dialects]
        metafunc.parametrize("bird_engine", bench.dialects, ids=ids, indirect=True, scope="session")
    if "bird_question" in set(metafunc.fixturenames) - said:
        questions = bench.questions.questions
        ids = [question.key for question in questions]
        metafunc.parametrize("bird_question", questions, ids=ids, indirect=True)


def question(request: pytest.FixtureRequest) -> Question:
    """Return the question of a test, given as object or key."""
    param = request.param
    return param if isinstance(param, Question) else bench_of(request.config).question(str(param))


def engine(request: pytest.FixtureRequest) -> BirdEngine:
    """Return the engine of a test."""
    bench, dialect = bench_of(request.config), kind_of(request.param).name
    if dialect not in bench.dialects:
        raise EngineUnavailable(f"{dialect}: not among the engines of this run; add it to --bird-dialect")
    return BirdEngine(dialect, bench)


def evaluator(config: pytest.Config) -> Evaluator:
    """Return an evaluator for the set and the engines of a session; the caller closes it."""
    bench = bench_of(config)
    request = bench.request
    return Evaluator(
        request.set_name,
        dialects=bench.dialects,
        metrics=request.metrics,
        workers=request.workers,
        profile=request.profile,
        seconds=request.seconds,
        now=request.now,
        bird_home=request.bird_home,
        cache=request.cache,
        diagnose=True,
    )


def bench_of(config: pytest.Config) -> SessionEngines:
    """Return the bench that all tests of a session share."""
    if _PLACE not in config.stash:
        try:
            config.stash[_PLACE] = SessionEngines(request_of(config))
        except HarnessError as error:
            # During collection, pytest shows this in one line.
            raise pytest.Collector.CollectError(as_in_pytest(str(error))) from error
    return config.stash[_PLACE]


def _silent(line: str) -> None:
    del line
