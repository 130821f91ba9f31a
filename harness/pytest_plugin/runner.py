"""Two ways to run a plan, with one core: as pytest items, or directly with a progress bar."""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from pathlib import Path

import pytest
from rich.console import Console

from dialects.errors import BadInput
from harness.data.outcomes import Judgement, Outcome
from harness.provision import failures
from harness.pytest_plugin.pair_runner import PairRunner, Thresholds
from harness.pytest_plugin.screen import Bars, Reporter
from harness.report.console import print_line
from harness.report.overview import print_scores
from harness.report.table_model import printable_json
from harness.report.writing import HTML, reports_fault
from harness.runs.reading import SUMMARY
from harness.runs.summary import Extent, Score
from harness.session.plan import Plan
from harness.session.request import Request, parse_fail_under
from loaders.base.errors import EngineUnavailable
from loaders.base.files import read_json, read_text


def run_with_pytest(
    plan: Plan, console: Console | None = None, *, junit: Path | None = None, as_json: bool = False
) -> int:
    """Run the plan as pytest items, untouched by pytest's configuration in the folder or the environment.

    No plugin but pytest's own is loaded, whatever is installed or named by the environment, and no
    `conftest.py`: what could leave out items or change them has no part in an evaluation.

    Args:
        plan: what to run.
        console: where bars take the place of pytest's own report; None has pytest report. It has to have a
            file of its own, because pytest captures the standard ones.
        junit: a file for pytest to write every pair to.
        as_json: whether the summary is printed instead of tables; then there has to be a console.

    Returns:
        The exit code: 0, 1 where a total is below what was asked for, 2 where the run folder could not be
        written, 3 where a pair ended in a harness error, 130 when interrupted, 143 when terminated.
    """
    with _no_settings_of_pytest(), Bars(console) as bars:
        driver = PairRunner(
            plan, Thresholds(parse_fail_under(plan.request.fail_under, plan.request.metrics)), bars=bars
        )
        # Output is kept in memory: a folder for temporary files need not be there.
        code = pytest.main(
            ["-c", os.devnull, "--rootdir", str(Path.cwd()), "--disable-plugin-autoload", "--noconftest",
             "-p", "no:cacheprovider", "--capture=sys", "--no-header",
             "-W", "ignore::pytest.PytestAssertRewriteWarning",
             *([] if junit is None else [f"--junitxml={junit}"])],
            plugins=[driver, *([] if console is None else [Reporter(bars, len(plan.evaluation.pairs))])],
        )  # fmt: skip
    if console is not None:
        say = partial(print_line, console)
        driver.tell(say, tables=not as_json)
        for line in filter(None, (driver.fault, *driver.failures)):
            say(line)
    if as_json and driver.finished is not None:
        print_summary(driver.finished)
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


def run_directly(plan: Plan, console: Console, *, as_json: bool = False) -> int:
    """Run the plan without pytest.

    Returns:
        The exit code: 0, 1 where a total is below what was asked for, or 3 where a pair ended in a harness
        error.
    """
    with plan:
        done = run(plan, console)
    if as_json:
        print_summary(done.folder)
    else:
        done.print_scores(plan.request)
    done.require_written()
    thresholds = Thresholds(parse_fail_under(plan.request.fail_under, plan.request.metrics))
    unmet = thresholds.unmet(done.scores)
    if unmet is not None:
        print_line(console, unmet)
    return exit_code(done.scores) or int(unmet is not None)


def print_summary(folder: Path) -> None:
    """Print what `summary.json` of a finished run has, and where the run is."""
    found = {**read_json(read_text(folder / SUMMARY)), "folder": str(folder.absolute())}
    print(printable_json(found))  # noqa: T201 - the answer itself


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

    def print_scores(self, request: Request) -> None:
        """Print the tables that were asked for."""
        print_scores(
            self.scores, request.metrics, everything=request.all_tables, extent=self.extent, notes=self.notes
        )

    def require_written(self) -> None:
        """Raise BadInput where the folder is not as it should be, once the scores have been shown."""
        if self.fault is not None:
            raise BadInput(self.fault)


def run(plan: Plan, console: Console | None = None, command: str = "eval") -> Done:
    """The same as `score`, and where the run's folder is.

    Args:
        plan: what to run.
        console: where to tell how it goes.
        command: the name of the one that completes the run if it is broken off.
    """
    evaluation = plan.evaluation
    folder = plan.open_run()
    pairs = [pair for pair in evaluation.pairs if pair.key not in folder.done]
    futures: Sequence[Future[Judgement] | None] = ()
    finished = 0
    with folder, Bars(console) as bars:
        bars.judge(
            [pair.dialect for pair in evaluation.pairs],
            [(result.dialect, result.outcome) for result in folder.done.values()],
        )
        try:
            futures = evaluation.begin(pairs, bars.judged)
            for result in evaluation.results(pairs, futures):
                folder.add(result)
                finished += 1
        except BaseException:
            left = zip_longest(pairs[finished:], futures[finished:])
            folder.abort(evaluation.left(pair, future) for pair, future in left)
            if console is not None:
                bars.close()
                for line in folder.broken_off(command):
                    print_line(console, line)
            raise
        scores = folder.finish()
        bars.stage("writing the reports")
        fault = folder.fault or (reports_fault(folder.path) if plan.request.report else None)
    if console is not None:
        for line in failures(plan.evaluation.failed, plan.setup.servers):
            print_line(console, line)
        print_line(console, f"run folder: {folder.path}")
        if plan.request.report and fault is None:
            print_line(console, f"report: {folder.path / HTML}")
    return Done(folder.path, scores, folder.extent, folder.notes, fault)
