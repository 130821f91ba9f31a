"""Two ways to run a plan, with one core: as pytest items, or directly with a progress bar."""

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)

from harness.errors import EngineUnavailable
from harness.figures.extent import Extent
from harness.figures.summary import Score
from harness.metrics import METRICS
from harness.outcomes import Outcome
from harness.plan import Plan
from harness.pytest_plugin.driver import Driver
from harness.report.console import print_tables
from harness.report.failures import failures
from harness.report.tables import print_line
from harness.report.writing import HTML, write_reports

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
            ["-c", os.devnull, "--rootdir", str(Path.cwd()), "-p", "no:cacheprovider", "--noconftest",
             "--no-header", "-W", "ignore::pytest.PytestAssertRewriteWarning", nothing],
            plugins=[driver],
        )  # fmt: skip
    if code == pytest.ExitCode.INTERRUPTED:
        return INTERRUPTED_EXIT
    if code == pytest.ExitCode.NO_TESTS_COLLECTED and driver.scores:
        # A run that was complete already.
        return exit_code(driver.scores)
    return exit_code(driver.scores) or int(code)


def run_directly(plan: Plan, console: Console) -> int:
    """Run the plan without pytest.

    Returns:
        The exit code: 0, or 3 where a pair ended in a harness error.
    """
    with plan:
        done = run(plan, console)
    print_tables(done.scores, plan.request.metrics, extent=done.extent, notes=done.notes)
    return exit_code(done.scores)


def exit_code(scores: Sequence[Score]) -> int:
    """0, or 3 where a pair ended in a harness error."""
    broken = any(score.outcomes.get(Outcome.HARNESS_ERROR) for score in scores)
    return EngineUnavailable.exit_code if broken else 0


def score(plan: Plan, console: Console | None = None) -> list[Score]:
    """Run every pair, write the run folder and return the scores: the library call.

    A run that is interrupted leaves a folder that can be completed; see `Request.resume`.
    """
    return list(run(plan, console).scores)


@dataclass(frozen=True)
class Done:
    """A finished run: its folder, what `summary.json` in it has, what was planned, what is to be said."""

    folder: Path
    scores: Sequence[Score]
    extent: Extent
    notes: Sequence[str] = ()


def run(plan: Plan, console: Console | None = None) -> Done:
    """The same as `score`, and where the run's folder is."""
    evaluation = plan.evaluation
    folder = plan.open_run()
    pairs = [pair for pair in evaluation.pairs if pair.key not in folder.done]
    metric = plan.request.metrics[0]
    finished, points = 0, 0.0
    with folder, progress_bar(console) as bar:
        task = bar.add_task("scoring", total=len(pairs), live="")
        try:
            for result in evaluation.run(pairs):
                folder.add(result)
                finished, points = finished + 1, points + result.scores.get(metric, 0.0)
                bar.update(task, advance=1, live=f"{METRICS[metric].title} {100 * points / finished:.1f}")
        except BaseException:
            folder.abort(evaluation.unfinished(pair, "the run was broken off") for pair in pairs[finished:])
            raise
    scores = folder.finish()
    if plan.request.report:
        write_reports(folder.path)
    if console is not None:
        for line in failures(plan.evaluation.failed, plan.setup.servers):
            print_line(console, line)
        print_line(console, f"run folder: {folder.path}")
        if plan.request.report:
            print_line(console, f"report: {folder.path / HTML}")
    return Done(folder.path, scores, folder.extent, folder.notes)


def progress_bar(console: Console | None) -> Progress:
    """How far a run is: pairs, their rate, the time that is left, the score so far; on a terminal alone."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TaskProgressColumn(show_speed=True),
        TimeRemainingColumn(),
        TextColumn("{task.fields[live]}"),
        console=console,
        disable=console is None or not console.is_terminal,
        transient=True,
    )
