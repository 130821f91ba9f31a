"""Two ways to run a plan, with one core: as pytest items, or directly with a progress bar."""

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from harness.errors import EngineUnavailable
from harness.outcomes import Outcome
from harness.plan import Plan
from harness.pytest_driver import Driver
from harness.report.console import print_tables
from harness.report.summary import Score

INTERRUPTED_EXIT = 130
"""Of a process that Ctrl-C ends, as shells report it."""


def run_with_pytest(plan: Plan) -> int:
    """Run the plan as pytest items, untouched by pytest's configuration in the folder or the environment.

    Returns:
        The exit code: 0, 3 where a pair ended in a harness error, 130 when interrupted.
    """
    driver = Driver(plan)
    os.environ.pop("PYTEST_ADDOPTS", None)
    # pytest needs a place to look for tests: one that holds none.
    with tempfile.TemporaryDirectory() as nothing:
        code = pytest.main(
            ["-c", os.devnull, "--rootdir", str(Path.cwd()), "-p", "no:cacheprovider", "--no-header",
             "-W", "ignore::pytest.PytestAssertRewriteWarning", nothing],
            plugins=[driver],
        )  # fmt: skip
    if code == pytest.ExitCode.INTERRUPTED:
        return INTERRUPTED_EXIT
    return _exit_code(driver.scores) or int(code)


def run_directly(plan: Plan, console: Console) -> int:
    """Run the plan without pytest.

    Returns:
        The exit code: 0, or 3 where a pair ended in a harness error.
    """
    scores = score(plan, console)
    print_tables(scores, plan.request.metrics)
    return _exit_code(scores)


def _exit_code(scores: Sequence[Score]) -> int:
    broken = any(score.outcomes.get(Outcome.HARNESS_ERROR) for score in scores)
    return EngineUnavailable.exit_code if broken else 0


def score(plan: Plan, console: Console | None = None) -> list[Score]:
    """Run every pair, write the run folder and return the scores: the library call."""
    folder = plan.open_run()
    pairs = plan.evaluation.pairs
    quiet = console is None or not console.is_terminal
    with (
        folder,
        Progress(
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(),
            console=console, disable=quiet, transient=True,
        ) as bar,
    ):  # fmt: skip
        task = bar.add_task("scoring", total=len(pairs))
        for result in plan.evaluation.run(plan.request.workers):
            folder.add(result)
            bar.advance(task)
    scores = folder.finish()
    if console is not None:
        console.print(f"run folder: {folder.path}", markup=False)
    return scores
