"""Pairs as pytest items: one for each (engine, predictor, question), and the summary is the table.

A mismatch is an outcome with its own letter, not a test failure, unless requested; a harness error always is
an error. Pairs are run as without pytest (`harness.session.evaluation`), ahead of the items that report
them in order; under pytest-xdist the controller runs them and writes the run folder.
"""

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from dialects.errors import BadInput, HarnessError
from harness.data.outcomes import Judgement, Outcome, PairResult, Preview, Side
from harness.data.questions import Question
from harness.engines import EngineName
from harness.pytest_plugin.items import ItemAnswer, ItemCollector, ItemEntry, ItemPart
from harness.report.console import Bars, print_line
from harness.session.evaluation import Evaluation
from harness.session.options import as_in_pytest
from harness.session.plan import Pair, Plan
from loaders.base.errors import stopped_exit, terminable
from loaders.base.files import one_line

# The outcomes that fail an item, and the message of a failure.

_MOST_ROWS = 3
_MOST_CHARACTERS = 300


def parse_fail_on(text: str) -> list[Outcome]:
    """Parse outcomes separated by commas.

    Raises:
        BadInput: one is not an outcome.
    """
    names = [name.strip() for name in text.split(",")]
    unknown = [name for name in names if name not in list(Outcome)]
    if unknown:
        raise BadInput(
            f"--bird-fail-on {text}: {unknown[0]!r} is not an outcome; choose from {', '.join(Outcome)}"
        )
    return [Outcome(name) for name in names]


def explained(question: Question, result: PairResult) -> str:
    """Explain why a pair failed; the first line is short enough for a summary."""
    words = str(result.outcome).replace("_", " ")
    about = "" if result.error_class is None else f" ({str(result.error_class).replace('_', ' ')})"
    lines = [
        f"{words}{about}: {' '.join(question.text.split())}",
        f"database: {question.db_id}",
        f"predicted: {_short(result.sql)}",
    ]
    if result.error is not None:
        lines.append(f"error: {_short(result.error)}")
    if result.preview is not None:
        lines += _rows(Preview.from_text(result.preview))
    return "\n".join(lines)


def _rows(preview: Preview) -> Iterator[str]:
    """Yield lines about the rows that differ."""
    is_compared = preview.predicted is not None and preview.gold.only is not None
    for name, side in (("gold", preview.gold), ("prediction", preview.predicted)):
        if side is not None:
            yield from _side(name, side, is_compared=is_compared)


def _side(name: str, side: Side, *, is_compared: bool) -> Iterator[str]:
    alone = f", {side.only} of them not in the other result" if is_compared else ""
    yield f"{name}: {side.count} row{'' if side.count == 1 else 's'}{alone}"
    for row in side.rows[: min(side.marked, _MOST_ROWS) if is_compared else _MOST_ROWS]:
        yield f"  {_short(', '.join(_value(value) for value in row))}"


def _value(value: object) -> str:
    return value[1] if isinstance(value, tuple) else repr(value)


def _short(text: str | None) -> str:
    """Return the text in one line."""
    line = " ".join((text or "none").split())
    return line if len(line) <= _MOST_CHARACTERS else line[: _MOST_CHARACTERS - 1] + "\N{HORIZONTAL ELLIPSIS}"


LETTERS = {
    Outcome.MATCH: (".", "green"),
    Outcome.MISMATCH: ("x", "yellow"),
    Outcome.PREDICTION_ERROR: ("e", "yellow"),
    Outcome.PREDICTION_TIMEOUT: ("t", "yellow"),
    Outcome.PREDICTION_TOO_LARGE: ("l", "yellow"),
    Outcome.GOLD_ERROR: ("G", "purple"),
    Outcome.GOLD_TIMEOUT: ("T", "purple"),
    Outcome.MISSING: ("m", "cyan"),
    Outcome.HARNESS_ERROR: ("H", "red"),
}


_ENDED = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED)
"""The exit codes of a session that was not interrupted."""


def refuse_distributed(plan: Plan, config: pytest.Config) -> None:
    """Reject timing pairs in several processes at once.

    Raises:
        BadInput: a time metric is requested under pytest-xdist.
    """
    if getattr(config.option, "dist", "no") != "no" and plan.is_timed:
        raise BadInput("time metrics need a machine with nothing else running; leave out pytest's -n")


class PairItems:
    """Runs one plan under pytest: items with letters, the tables, and the checks of `--bird-fail-under`.

    Args:
        plan: what to run; closed with the session.
        fail_on: outcomes that fail an item; a harness error always does.
        in_pytest: True to name options as in the plugin.
        bars: the progress bars.

    Raises:
        BadInput: the run to complete is of another plan, or cannot be written.
    """

    is_quick = True

    def __init__(
        self,
        plan: Plan,
        fail_on: Collection[Outcome] = (),
        *,
        in_pytest: bool = False,
        bars: Bars | None = None,
    ) -> None:
        self._plan = plan
        self._fail_on = fail_on
        self._in_pytest = in_pytest
        self.evaluation = Evaluation(plan, bars)
        self.parts: Sequence[ItemPart] = list(self._listed())
        self._collector = ItemCollector(self)
        self._until_the_end = ExitStack()
        self.fault: str | None = None
        """The exception that stopped the run, as raised in pytest."""
        self.stopped: int | None = None
        """The exit code of a run that was interrupted, or whose folder could not be written."""

    def _listed(self) -> Iterator[ItemPart]:
        paths = {(file.dialect, file.predictor): file.path for file in self._plan.files}
        to_judge = set(self.evaluation.to_judge)
        for (dialect, predictor), each in groupby(enumerate(self.evaluation.pairs), key=_asked):
            entries = tuple(_entry(place, pair) for place, pair in each if place in to_judge)
            properties = (("dialect", str(dialect)), ("predictor", predictor))
            path = paths[dialect, predictor].absolute()
            yield ItemPart(path, f"{dialect}/{predictor}", entries, properties)

    def pytest_configure(self, config: pytest.Config) -> None:
        """Register the collection of items."""
        config.pluginmanager.register(self._collector, "bird-items")
        self._until_the_end.enter_context(terminable())

    @contextmanager
    def _ending(self) -> Iterator[None]:
        """Turn errors within the block that stop the run into one line and an exit code of pytest."""
        try:
            yield
        except HarnessError as error:
            self.stopped, self.fault = error.exit_code, str(error)
            pytest.exit(str(error), returncode=error.exit_code)

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Record the interruption, unless its cause is known."""
        if self.stopped is None:
            self.stopped = stopped_exit(excinfo.value)

    def begin(self, places: Sequence[int], publish: Callable[[int, ItemAnswer], None] | None) -> None:
        """See `ItemSource.begin`."""
        with self._ending():
            begun = self.evaluation.begin(places, self._collector.ways)
            if publish is None:
                return
            for place, future in begun.items():
                if future is None:
                    publish(place, self.answer(place))
                else:
                    future.add_done_callback(partial(self._publish, place, publish))

    def _publish(
        self, place: int, publish: Callable[[int, ItemAnswer], None], future: "Future[Judgement]"
    ) -> None:
        del future
        publish(place, self.answer(place))

    def answer(self, place: int) -> ItemAnswer:
        """See `ItemSource.answer`."""
        pair, result = self.evaluation.pairs[place], self.evaluation.result(place)
        failure = None
        if result.outcome is Outcome.HARNESS_ERROR:
            failure = f"{pair.name}: {result.error}"
        elif result.outcome in self._fail_on:
            failure = explained(pair.question, result)
        return ItemAnswer(str(result.outcome), failure)

    def _place(self, report: pytest.TestReport) -> int | None:
        """Return the index of the pair of a report; None if it has none."""
        if report.when != "call" or not report.user_properties:
            return None
        return self._collector.place(report.nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Write the result of a report; xdist sends the workers' reports here, too."""
        place = self._place(report)
        if place is not None:
            with self._ending():
                self.evaluation.write(place)

    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, Any] | None:
        """Give each outcome its own letter, word and colour; one that fails its item counts as a failure."""
        place = self._place(report)
        if place is None:
            return None
        outcome = self.evaluation.result(place).outcome
        letter, colour = LETTERS[outcome]
        category = str(outcome)
        if report.failed:
            category = "error" if outcome is Outcome.HARNESS_ERROR else "failed"
            colour = "red"
        return category, letter, (str(outcome).upper(), {colour: True})

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Complete the run folder, unless the run was interrupted."""
        evaluation = self.evaluation
        if evaluation.unwritten or exitstatus not in _ENDED:
            evaluation.abort()
            return
        evaluation.finish()
        if evaluation.fault is not None:
            self.stopped = session.exitstatus = BadInput.exit_code
        elif not evaluation.scores:
            return
        elif evaluation.unmet is not None:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        elif exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and evaluation.is_resumed:
            # The run was complete already.
            session.exitstatus = pytest.ExitCode.OK

    @property
    def failures(self) -> Sequence[str]:
        """The requirements that the run failed."""
        return [each for each in (self.evaluation.unmet, self.evaluation.fault) if each is not None]

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the tables, and the failed requirements."""
        _list_pairs(terminalreporter)
        if self.evaluation.scores:
            terminalreporter.section("scores", sep="=")
        self.print_results(partial(_say, terminalreporter))
        for failure in self.failures:
            _say(terminalreporter, as_in_pytest(failure) if self._in_pytest else failure, red=True)

    def print_results(self, say: Callable[[str], None], *, tables: bool = True) -> None:
        """Print the tables, if wanted, and the run folder, or how to complete the run."""
        lines = self.evaluation.lines()
        if self.evaluation.is_broken_off and self._in_pytest:
            lines[-1] = f"to complete it, repeat the command with --bird-resume {self.evaluation.path}"
        if self.evaluation.scores:
            if tables:
                self.evaluation.print_scores()
            lines[:0] = self._plan.left_out
        for line in lines:
            say(line)

    def pytest_unconfigure(self) -> None:
        """Stop judging; unreported results are not written."""
        self._until_the_end.close()
        self.evaluation.close()
        self._plan.close()


_UNNEEDED = (
    "assertion", "cacheprovider", "debugging", "doctest", "faulthandler", "legacypath", "logging",
    "monkeypatch", "pastebin", "recwarn", "setuponly", "setupplan", "stepwise", "subtests",
    "threadexception", "tmpdir", "unittest", "unraisableexception", "warnings",
)  # fmt: skip
"""Plugins of pytest's own that see each item, or take time at the end, and serve tests alone."""


def run_with_pytest(
    plan: Plan, console: Console | None = None, *, junit: Path | None = None, as_json: bool = False
) -> int:
    """Run the plan as pytest items, ignoring pytest's configuration in the folder and the environment.

    Only pytest's own plugins are loaded, whatever the environment installs or names, and no `conftest.py`:
    nothing may drop or change items of an evaluation.

    Args:
        plan: what to run.
        console: where progress bars replace pytest's own report; None for pytest's report. It must have a
           file of its own, because pytest captures the standard ones.
        junit: a file for pytest to write every pair to.
        as_json: True to print the summary instead of tables; needs a console.

    Returns:
        The exit code: 0, 1 if a total is below its threshold, 2 if the run folder could not be written,
        3 if a pair ended in a harness error, 130 when interrupted, 143 when terminated.
    """
    unneeded = [word for name in _UNNEEDED for word in ("-p", f"no:{name}")]
    with _no_settings_of_pytest(), Bars(console) as bars:
        driver = PairItems(plan, bars=bars)
        # Capture in memory: there may be no folder for temporary files.
        code = pytest.main(
            ["-c", os.devnull, "--rootdir", str(Path.cwd()), "--disable-plugin-autoload", "--noconftest",
             *unneeded, "--capture=sys", "--no-header",
             *([] if junit is None else [f"--junitxml={junit}"])],
            plugins=[driver, *([] if console is None else [Reporter(bars, len(driver.evaluation.pairs))])],
        )  # fmt: skip
    evaluation = driver.evaluation
    if console is not None:
        driver.print_results(partial(print_line, console), tables=not as_json)
        for line in filter(None, (driver.fault, *driver.failures)):
            print_line(console, line)
    if as_json and evaluation.scores:
        evaluation.print_summary()
    if driver.stopped is not None:
        return driver.stopped
    if code == pytest.ExitCode.NO_TESTS_COLLECTED and evaluation.scores:
        # The run was already complete.
        return evaluation.exit_code
    return evaluation.exit_code or int(code)


@contextmanager
def _no_settings_of_pytest() -> Iterator[None]:
    """Remove pytest's options and plugins from the environment within the block."""
    kept = {name: value for name, value in os.environ.items() if name.startswith("PYTEST_")}
    for name in kept:
        del os.environ[name]
    try:
        yield
    finally:
        os.environ.update(kept)


class Reporter:
    """A plugin that replaces pytest's own report with progress bars.

    Args:
        bars: the progress bars.
        items: the expected number of items.
    """

    def __init__(self, bars: Bars, items: int) -> None:
        self._bars = bars
        self._items = items

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        """Suppress pytest's own report."""
        config.pluginmanager.unregister(name="terminalreporter")

    def pytest_collection(self) -> None:
        """Start the bar of the collection."""
        self._bars.stage("collecting", self._items)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Count the collected items."""
        self._bars.advance(sum(isinstance(each, pytest.Item) for each in report.result))


def _list_pairs(terminalreporter: pytest.TerminalReporter) -> None:
    """List every pair by its outcome if `-rA` or `-rp` is given."""
    if "p" in terminalreporter.reportchars:
        for outcome, (_, colour) in LETTERS.items():
            for report in terminalreporter.stats.get(str(outcome), ()):
                terminalreporter.write_line(f"{str(outcome).upper()} {report.nodeid}", **{colour: True})


def _say(reporter: pytest.TerminalReporter, line: str, **look: bool) -> None:
    reporter.write_line(one_line(line), **look)


def _asked(placed: tuple[int, Pair]) -> tuple[EngineName, str]:
    return placed[1].dialect, placed[1].predictor


def _entry(place: int, pair: Pair) -> ItemEntry:
    question = pair.question
    about = (
        ("question", question.key),
        ("database", question.db_id),
        ("difficulty", str(question.difficulty)),
    )
    return ItemEntry(place, question.key, about)
