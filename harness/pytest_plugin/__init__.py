"""The pytest plugin: its options and fixtures. The other modules of the package implement them.

    pytest --bird-predictions FILE_OR_FOLDER --bird-set mini_dev --bird-dialect all
    pytest --bird-coverage --bird-set mini_dev --bird-dialect all

Every pytest run of the environment imports this module as a `pytest11` entry point, so it imports nothing of
the harness except the table of options until one of its options or fixtures is used.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from harness.session.options import OPTIONS

if TYPE_CHECKING:
    from harness.data.questions import Question
    from harness.pytest_plugin.fixtures import BirdEngine
    from harness.session.evaluator import Evaluator

_OF_PREDICTIONS = (
    "--bird-fail-on",
    *(each.pytest_flag for each in OPTIONS.values() if each.needs_predictions),
)
"""Options that have no effect without `--bird-predictions`."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options; most are those of `bird-harness eval --help`."""
    add = parser.getgroup("bird", "text-to-SQL evaluation (bird-harness)").addoption
    for each in OPTIONS.values():
        add(each.pytest_flag, **each.pytest_arguments())
    add("--bird-coverage", action="store_true",
        help="compare the translations of SQLite's golds with SQLite, question by question")  # fmt: skip
    add("--bird-fail-on", metavar="OUTCOME[,...]",
        help="outcomes that are failures, such as mismatch; harness errors always are")  # fmt: skip


def pytest_configure(config: pytest.Config) -> None:
    """Start what the options request, if anything."""
    if "bird" in getattr(config, "workerinput", ()):
        from harness.pytest_plugin.items import join  # noqa: PLC0415 - see the module's docstring

        join(config)
        return
    predictions, coverage = config.getoption("--bird-predictions"), config.getoption("--bird-coverage")
    if not predictions:
        given = [name for name in _OF_PREDICTIONS if config.getoption(name)]
        if given:
            raise pytest.UsageError(
                f"{given[0]}: has no effect without an evaluation; add --bird-predictions"
            )
    if not predictions and not coverage:
        return
    if predictions and coverage:
        raise pytest.UsageError("--bird-predictions and --bird-coverage: cannot run together; leave one out")
    from harness.pytest_plugin.start import start  # noqa: PLC0415 - see the module's docstring

    start(config)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrize tests that use the fixtures with every question and every engine."""
    if "bird_question" in metafunc.fixturenames or "bird_engine" in metafunc.fixturenames:
        from harness.pytest_plugin.fixtures import parametrize  # noqa: PLC0415 - see the module's docstring

        parametrize(metafunc)


@pytest.fixture
def bird_question(request: pytest.FixtureRequest) -> "Question":
    """Every question of `--bird-set` in turn; its key is the test's parameter."""
    from harness.pytest_plugin.fixtures import question  # noqa: PLC0415 - see the module's docstring

    return question(request)


@pytest.fixture(scope="session")
def bird_engine(request: pytest.FixtureRequest) -> "BirdEngine":
    """Each engine of `--bird-dialect` in turn: runs SQL on a question's database, read-only, with limits."""
    from harness.pytest_plugin.fixtures import engine  # noqa: PLC0415 - see the module's docstring

    return engine(request)


@pytest.fixture(scope="session")
def bird_evaluator(request: pytest.FixtureRequest) -> "Iterator[Evaluator]":
    """A `harness.Evaluator` for `--bird-set` and `--bird-dialect`."""
    from harness.pytest_plugin.fixtures import evaluator  # noqa: PLC0415 - see the module's docstring

    with evaluator(request.config) as opened:
        yield opened
