"""The pytest plugin: its options and fixtures; what they start is in the modules beside this one.

    pytest --bird-predictions FILE_OR_FOLDER --bird-set mini_dev --bird-dialect all
    pytest --bird-coverage --bird-set mini_dev --bird-dialect all

Installed as a `pytest11` entry point, this module is imported by every pytest run of the environment, so
it imports nothing of the harness but the table of options until an option or a fixture of it is used.
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
"""Options that mean nothing without `--bird-predictions`."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options; most mean what `bird-harness eval --help` says of the same names."""
    add = parser.getgroup("bird", "text-to-SQL evaluation (bird-harness)").addoption
    for each in OPTIONS.values():
        add(each.pytest_flag, **each.pytest_arguments())
    add("--bird-coverage", action="store_true",
        help="compare the translations of SQLite's golds with SQLite, question by question")  # fmt: skip
    add("--bird-fail-on", metavar="OUTCOME[,...]",
        help="outcomes that are failures, such as mismatch; harness errors always are")  # fmt: skip


def pytest_configure(config: pytest.Config) -> None:
    """Start what the options ask for, if they ask for something."""
    if "bird" in getattr(config, "workerinput", ()):
        from harness.pytest_plugin.items import join  # noqa: PLC0415 - see the module's docstring

        join(config)
        return
    predictions, coverage = config.getoption("--bird-predictions"), config.getoption("--bird-coverage")
    if not predictions:
        given = [name for name in _OF_PREDICTIONS if config.getoption(name)]
        if given:
            raise pytest.UsageError(f"{given[0]}: is for an evaluation; add --bird-predictions")
    if not predictions and not coverage:
        return
    if predictions and coverage:
        raise pytest.UsageError("--bird-predictions and --bird-coverage: are two runs; leave one out")
    from harness.pytest_plugin.start import start  # noqa: PLC0415 - see the module's docstring

    start(config)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that asks for them with every question and every engine."""
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
    """Every engine of `--bird-dialect`: runs SQL on a question's database, under the limits, reading only."""
    from harness.pytest_plugin.fixtures import engine  # noqa: PLC0415 - see the module's docstring

    return engine(request)


@pytest.fixture(scope="session")
def bird_evaluator(request: pytest.FixtureRequest) -> "Iterator[Evaluator]":
    """A `harness.Evaluator` for `--bird-set` and `--bird-dialect`."""
    from harness.pytest_plugin.fixtures import evaluator  # noqa: PLC0415 - see the module's docstring

    with evaluator(request.config) as opened:
        yield opened
