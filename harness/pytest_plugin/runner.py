"""Two ways to run a plan, with one core: as pytest items, or directly with a progress bar."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
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

from dialects.errors import BadInput
from harness.metrics import METRICS
from harness.outcomes import Outcome
from harness.provision.logs import failures
from harness.pytest_plugin.pair_runner import PairRunner
from harness.report.console import print_tables
from harness.report.tables import print_line
from harness.report.writing import HTML, reports_fault
from harness.runs.extent import Extent
from harness.runs.folder import RESUME
from harness.runs.summary import Score
from harness.session.plan import Plan
from loaders.errors import EngineUnavailable


def run_with_pytest(plan: Plan) -> int:
    """Run the plan as pytest items, untouched by pytest's configuration in the folder or the environment.

    No plugin but pytest's own is loaded, whatever is installed or named by the environment, and no
    `conftest.py`: what could leave out items or change them has no part in an evaluation.

    Returns:
        The exit code: 0, 2 where the run folder could not be written, 3 where a pair ended in a harness
        error, 130 when interrupted, 143 when terminated.
    """
    with _no_settings_of_pytest():
        driver = PairRunner(plan)
        # Output is kept in memory: a folder for temporary files need not be there.
        code = pytest.main(
            ["-c", os.devnull, "--rootdir", str(Path.cwd()), "--disable-plugin-autoload", "--noconftest",
             "-p", "no:cacheprovider", "--capture=sys", "--no-header",
             "-W", "ignore::pytest.PytestAssertRewriteWarning"],
            plugins=[driver],
        )  # fmt: skip
    if driver.stopped is not None:
        return driver.stopped
    if code == pytest.ExitCode.NO_TESTS_COLLECTED and driver.scores:
        # A run that was complete already.
        return exit_code(driver.scores)
    return exit_code(driver.scores) or int(code)


@contextmanager
def _no_settings_of_pytest() -> Iterator[None]:
    """Within the block, the environment has no options and no plugins for pytest."""
    kept = {name: value for name, value in os.environ.items() if name.startswith("PYTEST_")}
    for name in kept:
        del os.environ[name]
    try:
        yield
    finally:
        os.environ.update(kept)


def run_directly(plan: Plan, console: Console) -> int:
    """Run the plan without pytest.

    Returns:
        The exit code: 0, or 3 where a pair ended in a harness error.
    """
    with plan:
        done = run(plan, console)
    print_tables(done.scores, plan.request.metrics, extent=done.extent, notes=done.notes)
    done.require_written()
    return exit_code(done.scores)


def exit_code(scores: Sequence[Score]) -> int:
    """0, or 3 where a pair ended in a harness error."""
    broken = any(score.outcomes.get(Outcome.HARNESS_ERROR) for score in scores)
    return EngineUnavailable.exit_code if broken else 0


def score(plan: Plan, console: Console | None = None) -> list[Score]:
    """Run every pair, write the run folder and return the scores: the library call.

    A run that is interrupted leaves a folder that can be completed; see `Request.resume`.
    """
    done = run(plan, console)
    done.require_written()
    return list(done.scores)


@dataclass(frozen=True)
class Done:
    """A finished run: its folder, what `summary.json` in it has, what was planned, what is to be said.

    `fault` says what of the folder could not be written: the scores are complete all the same.
    """

    folder: Path
    scores: Sequence[Score]
    extent: Extent
    notes: Sequence[str] = ()
    fault: str | None = None

    def require_written(self) -> None:
        """Raise BadInput where the folder is not as it should be, once the scores have been shown."""
        if self.fault is not None:
            raise BadInput(self.fault)


def run(plan: Plan, console: Console | None = None, resume: str = RESUME) -> Done:
    """The same as `score`, and where the run's folder is.

    Args:
        plan: what to run.
        console: where to tell how it goes.
        resume: the command that completes the run if it is broken off, up to its folder.
    """
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
            if console is not None:
                bar.stop()
                for line in folder.broken_off(resume):
                    print_line(console, line)
            raise
    scores = folder.finish()
    fault = folder.fault or (reports_fault(folder.path) if plan.request.report else None)
    if console is not None:
        for line in failures(plan.evaluation.failed, plan.setup.servers):
            print_line(console, line)
        print_line(console, f"run folder: {folder.path}")
        if plan.request.report and fault is None:
            print_line(console, f"report: {folder.path / HTML}")
    return Done(folder.path, scores, folder.extent, folder.notes, fault)


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
