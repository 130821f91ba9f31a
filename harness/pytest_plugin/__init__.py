"""The pytest plugin: its options and fixtures; what they start is in the modules beside this one.

    pytest --bird-predictions FILE_OR_FOLDER --bird-set mini_dev --bird-dialect all
    pytest --bird-coverage --bird-set mini_dev --bird-dialect all

Installed as a `pytest11` entry point, this module is imported by every pytest run of the environment, so
it imports nothing of the harness until an option or a fixture of it is used.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from harness.data.questions import Question
    from harness.pytest_plugin.fixtures import BirdEngine
    from harness.session.evaluator import Evaluator

_OF_PREDICTIONS = (
    "--bird-predictor", "--bird-fail-under", "--bird-fail-on", "--bird-resume", "--bird-ray",
    "--bird-variants", "--bird-allow-missing",
)  # fmt: skip
"""Options that mean nothing without `--bird-predictions`."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options; most mean what `bird-harness eval --help` says of the same names."""
    add = parser.getgroup("bird", "text-to-SQL evaluation (bird-harness)").addoption
    add("--bird-predictions", action="append", default=[], metavar="PATH",
        help="prediction file or folder; turns the evaluation on (repeatable)")  # fmt: skip
    add("--bird-coverage", action="store_true",
        help="hold the translations of SQLite's golds against SQLite, question by question")  # fmt: skip
    add("--bird-set", default="sample", metavar="SET",
        help="sample, mini_dev, mini_dev_2025 or dev (default: sample)")  # fmt: skip
    add("--bird-dialect", default="auto", metavar="DIALECT",
        help="sqlite, mysql, postgresql, all, or auto: every engine that is up")  # fmt: skip
    add("--bird-predictor", metavar="NAME", help="predictor of all files, instead of their names'")
    add("--bird-extract", default="none", choices=["none", "fences"],
        help="take SQL out of Markdown fences, or run it as it is")  # fmt: skip
    add("--bird-allow-missing", action="store_true", help="score what is there")
    add("--bird-metrics", metavar="NAMES", help="metrics, separated by commas")
    add("--bird-variants", metavar="FOLDER|N", help="variants of the databases, for the metric ts")
    add("--bird-profile", choices=["official", "faithful"],
        help="how the databases are loaded (default: official, for coverage faithful)")  # fmt: skip
    add("--bird-workers", type=int, metavar="N", help="processes that judge (default: one a core)")
    add("--bird-limit", type=int, metavar="N", help="first N questions only")
    add("--bird-timeout", type=float, metavar="SECONDS", help="for a prediction and its gold together")
    add("--bird-out", default="results", metavar="DIR", help="parent of the run's folder")
    add("--bird-resume", metavar="FOLDER", help="complete the run in this folder")
    add("--bird-no-cache", action="store_true", help="neither use nor keep what earlier runs have found")
    add("--bird-no-report", action="store_true", help="only the run folder's data, no tables and pages")
    add("--bird-ray", metavar="ADDRESS", help="spread the run over a Ray cluster, or `local`")
    add("--bird-fail-under", action="append", default=[], metavar="[METRIC=]PERCENT",
        help="exit with 1 where a total is below; of EX, if no metric is named (repeatable)")  # fmt: skip
    add("--bird-fail-on", metavar="OUTCOME[,...]",
        help="outcomes that are failures, such as mismatch; harness errors always are")  # fmt: skip


def pytest_configure(config: pytest.Config) -> None:
    """Start what the options ask for, if they ask for something."""
    if "bird" in getattr(config, "workerinput", ()):
        from harness.pytest_plugin.collecting import join  # noqa: PLC0415 - see the module's docstring

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
    from harness.pytest_plugin.starting import start  # noqa: PLC0415 - see the module's docstring

    start(config)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that asks for them with every question and every engine."""
    if "bird_question" in metafunc.fixturenames or "bird_engine" in metafunc.fixturenames:
        from harness.pytest_plugin.fixtures import parametrize  # noqa: PLC0415 - see the module's docstring

        parametrize(metafunc)


@pytest.fixture
def bird_question(request: pytest.FixtureRequest) -> "Question":
    """Every question of `--bird-set`, one after the other; its key is the test's parameter."""
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
