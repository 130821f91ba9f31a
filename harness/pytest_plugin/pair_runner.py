"""The driver: one pytest item for each (engine, predictor, question), and the summary is the table.

A mismatch is an outcome with its own letter, not a test failure, unless it is asked to be one; a harness
error always is an error. What was chosen is computed ahead, by the same workers as without pytest, while
pytest reports in order; under pytest-xdist that is the controller's, and so is the run folder. What is timed
is timed item by item, when there is nothing left to compute.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from dialects.errors import BadInput, HarnessError
from harness.data.outcomes import Judgement, Outcome, PairResult, Preview, Side
from harness.data.questions import Question
from harness.engines import EngineName
from harness.metrics import METRICS
from harness.provision import failures
from harness.pytest_plugin.items import Collecting, ItemAnswer, ItemEntry, ItemPart
from harness.pytest_plugin.screen import Bars
from harness.report.overview import print_scores
from harness.runs.folder import RunFolder
from harness.runs.summary import TOTAL, Score
from harness.session.evaluation import Evaluation, Pair
from harness.session.options import as_in_pytest
from harness.session.plan import Plan
from loaders.base.errors import stopped_exit, terminable
from loaders.base.files import one_line

# What a run under pytest has to come to: which outcomes fail an item, and which totals fail the run.

_MOST_ROWS = 3
_MOST_CHARACTERS = 300


@dataclass(frozen=True)
class Thresholds:
    """`fail_under` maps a metric to the least percent that each total may have; `fail_on` fails items."""

    fail_under: Mapping[str, float] = field(default_factory=dict)
    fail_on: Collection[Outcome] = ()

    def failure(self, pair: Pair, result: PairResult) -> str | None:
        """Why a pair fails, in a few lines; None where it does not. A harness error always does."""
        if result.outcome is Outcome.HARNESS_ERROR:
            return f"{pair.name}: {result.error}"
        return explained(pair.question, result) if result.outcome in self.fail_on else None

    def unmet(self, scores: Sequence[Score]) -> str | None:
        """One line about all totals that are too low; None where there is none."""
        found = list(self._unmet(scores))
        return f"--fail-under: {'; '.join(found)}" if found else None

    def _unmet(self, scores: Sequence[Score]) -> Iterator[str]:
        for name, percent in self.fail_under.items():
            totals = [score.metrics[name][TOTAL] for score in scores]
            for score, total in zip(scores, totals, strict=True):
                if total is not None and total < percent:
                    yield (
                        f"{METRICS[name].title} of {score.predictor} on {score.dialect} is {total:.2f},"
                        f" below {percent:g}"
                    )
            if all(total is None for total in totals):
                yield f"no pair has a score of {METRICS[name].title}"


def parse_fail_on(text: str) -> list[Outcome]:
    """Outcomes separated by commas.

    Raises:
        BadInput: one is none.
    """
    names = [name.strip() for name in text.split(",")]
    unknown = [name for name in names if name not in list(Outcome)]
    if unknown:
        raise BadInput(
            f"--bird-fail-on {text}: {unknown[0]!r} is not an outcome; choose from {', '.join(Outcome)}"
        )
    return [Outcome(name) for name in names]


def explained(question: Question, result: PairResult) -> str:
    """What a reader needs to see why a pair failed; the first line is short enough for a summary."""
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
    """Lines about the rows that differ."""
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
    """The text in one line."""
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
"""How a session ends that was not broken off."""


def refuse_distributed(plan: Plan, config: pytest.Config) -> None:
    """Refuse to time pairs in several processes at once.

    Raises:
        BadInput: a metric of time is asked for under pytest-xdist.
    """
    if getattr(config.option, "dist", "no") != "no" and plan.evaluation.is_timed:
        raise BadInput("metrics of time need a machine with nothing else running: leave out pytest's -n")


class PairRunner:
    """Runs one plan under pytest: letters, the run folder, the tables and what is demanded of them.

    Args:
        plan: what to run.
        thresholds: when that is a failure.
        in_pytest: whether options are called as the plugin calls them.
        bars: show how the run goes.

    Raises:
        BadInput: the run that the plan is to complete is another one, or cannot be written.
    """

    is_quick = True

    def __init__(
        self,
        plan: Plan,
        thresholds: Thresholds | None = None,
        *,
        in_pytest: bool = False,
        bars: Bars | None = None,
    ) -> None:
        self._plan = plan
        self._bars = bars or Bars(None)
        self._thresholds = thresholds or Thresholds()
        self._in_pytest = in_pytest
        self._evaluation: Evaluation = plan.evaluation
        self._pairs = plan.evaluation.pairs
        self._folder: RunFolder | None = None
        if plan.request.resume is not None:
            self._folder = plan.open_run()
        self.parts: Sequence[ItemPart] = list(self._listed())
        self._collecting = Collecting(self)
        self._ahead: dict[int, Future[Judgement] | None] = {}
        self._results: dict[int, PairResult] = {}
        self._settled = False
        self._begun = False
        self._chosen: Sequence[int] = ()
        self._reported: set[int] = set()
        self.failures: Sequence[str | None] = ()
        """What the run did not come to, though it was to."""
        self._broken_off = False
        self._page: Path | None = None
        self.scores: Sequence[Score] = ()
        self._until_the_end = ExitStack()
        self.fault: str | None = None
        """What stopped the run, as pytest is told of it."""
        self.stopped: int | None = None
        """The exit code of a run that was broken off, or whose folder could not be written."""

    def _listed(self) -> "list[ItemPart]":
        done = self._folder.done if self._folder is not None else {}
        paths = {(file.dialect, file.predictor): file.path for file in self._plan.files}
        parts = []
        for (dialect, predictor), each in groupby(enumerate(self._pairs), key=_asked):
            entries = tuple(_entry(place, pair) for place, pair in each if pair.key not in done)
            properties = (("dialect", str(dialect)), ("predictor", predictor))
            path = paths[dialect, predictor].absolute()
            parts.append(ItemPart(path, f"{dialect}/{predictor}", entries, properties))
        return parts

    def pytest_configure(self, config: pytest.Config) -> None:
        """Have the items collected."""
        config.pluginmanager.register(self._collecting, "bird-items")
        self._until_the_end.enter_context(terminable())

    def begin(self, places: Sequence[int], tell: Callable[[int, ItemAnswer], None] | None) -> None:
        """See `ItemSource.begin`."""
        with self._ending():
            self._begin(places, tell)

    @contextmanager
    def _ending(self) -> Iterator[None]:
        """Within the block, what stops the run ends pytest with one line and an exit code."""
        try:
            yield
        except HarnessError as error:
            self.stopped, self.fault = error.exit_code, str(error)
            pytest.exit(str(error), returncode=error.exit_code)

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Remember what ended the run, unless it was a fault that is known."""
        if self.stopped is None:
            self.stopped = stopped_exit(excinfo.value)

    def _begin(self, places: Sequence[int], tell: Callable[[int, ItemAnswer], None] | None) -> None:
        self._begun = True
        if places and self._folder is None:
            self._folder = self._plan.open_run()
        self._chosen = places = list(dict.fromkeys(places))
        offered = sum(len(part.entries) for part in self.parts)
        if len(places) < offered and self._folder is not None:
            self._folder.choose(self._collecting.ways())
        done = self._folder.done.values() if self._folder is not None else ()
        self._bars.judge(
            [self._pairs[place].dialect for place in places] + [result.dialect for result in done],
            [(result.dialect, result.outcome) for result in done],
        )
        futures = self._evaluation.begin([self._pairs[place] for place in places], self._bars.judged)
        self._ahead = dict(zip(places, futures, strict=True))
        if tell is None:
            return
        for place, future in self._ahead.items():
            if future is None:
                tell(place, self.answer(place))
            else:
                future.add_done_callback(partial(self._tell, place, tell))

    def _tell(self, place: int, tell: Callable[[int, ItemAnswer], None], future: "Future[Judgement]") -> None:
        tell(place, self._answer(place, self._evaluation.result(self._pairs[place], future)))

    def answer(self, place: int) -> ItemAnswer:
        """See `ItemSource.answer`."""
        return self._answer(place, self._result(place))

    def _answer(self, place: int, result: PairResult) -> ItemAnswer:
        return ItemAnswer(str(result.outcome), self._thresholds.failure(self._pairs[place], result))

    def _result(self, place: int) -> PairResult:
        """The result of one pair, computed once."""
        if place not in self._results:
            if self._evaluation.is_timed and not self._settled:
                wait(future for future in self._ahead.values() if future is not None)
                self._settled = True
                self._bars.stage("timing", len(self._chosen))
            pair = self._pairs[place]
            result = self._evaluation.result(pair, self._ahead[place])
            self._results[place] = self._evaluation.timed(pair, result)
            self._bars.advance()
        return self._results[place]

    def _reported_result(self, report: pytest.TestReport) -> PairResult | None:
        """The result that a report is about; None where there is none."""
        if report.when != "call" or not report.user_properties:
            return None
        place = self._collecting.place(report.nodeid)
        return None if place is None else self._result(place)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Write the result that a report is about; xdist sends the workers' reports here, too."""
        result = self._reported_result(report)
        place = self._collecting.place(report.nodeid)
        # Other plugins may run an item again.
        if result is not None and place is not None and place not in self._reported and self._folder:
            with self._ending():
                self._folder.add(result)
            self._reported.add(place)

    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, Any] | None:
        """Give each outcome its own letter, word and colour; one that fails its item counts as a failure."""
        result = self._reported_result(report)
        if result is None:
            return None
        letter, colour = LETTERS[result.outcome]
        category = str(result.outcome)
        if report.failed:
            category = "error" if result.outcome is Outcome.HARNESS_ERROR else "failed"
            colour = "red"
        return category, letter, (str(result.outcome).upper(), {colour: True})

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Complete the run folder, unless the run was broken off."""
        folder = self._folder
        if folder is None:
            return
        unfinished = [place for place in self._chosen if place not in self._reported]
        if unfinished or exitstatus not in _ENDED:
            folder.abort(
                self._evaluation.left(self._pairs[place], self._ahead.get(place)) for place in unfinished
            )
            self._broken_off = True
            return
        self.scores = folder.finish()
        unwritten = folder.fault or self._write_reports(folder)
        self.failures = [self._thresholds.unmet(self.scores), unwritten]
        if unwritten is not None:
            self.stopped = session.exitstatus = BadInput.exit_code
        elif exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and not any(self.failures) and folder.done:
            # The run was complete already.
            session.exitstatus = pytest.ExitCode.OK
        elif any(self.failures) and exitstatus != pytest.ExitCode.TESTS_FAILED:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _write_reports(self, folder: RunFolder) -> str | None:
        """Write what can be made of the run folder into it; a line about what could not."""
        if not self._plan.request.report:
            return None
        self._bars.stage("writing the reports")
        # Nobody else needs its templates.
        from harness.report.writing import HTML, reports_fault  # noqa: PLC0415

        fault = reports_fault(folder.path)
        if fault is None:
            self._page = folder.path / HTML
        return fault

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the tables, and what did not come out as it was to."""
        _list_pairs(terminalreporter)
        if self.scores:
            terminalreporter.section("scores", sep="=")
        self.tell(partial(_say, terminalreporter))
        for failure in filter(None, self.failures):
            _say(terminalreporter, as_in_pytest(failure) if self._in_pytest else failure, red=True)

    @property
    def finished(self) -> Path | None:
        """The folder of the run, if it has come to its end."""
        return self._folder.path if self.scores and self._folder is not None else None

    def tell(self, say: Callable[[str], None], *, tables: bool = True) -> None:
        """Print the tables, unless they are not wanted, and say where the run is, or how it goes on."""
        folder = self._folder
        if folder is None:
            if self._begun:
                say(f"nothing is scored: 0 of {self._plan.extent.pairs:,} pairs were chosen")
            return
        if self._broken_off:
            first, second = folder.broken_off()
            say(first)
            in_pytest = f"to complete it, repeat the command with --bird-resume {folder.path}"
            say(in_pytest if self._in_pytest else second)
            return
        request = self._plan.request
        if tables:
            print_scores(
                self.scores,
                request.metrics,
                everything=request.all_tables,
                extent=folder.extent,
                notes=folder.notes,
            )
        for line in (*self._plan.left_out, *failures(self._evaluation.failed, self._plan.setup.servers)):
            say(line)
        say(f"run folder: {folder.path}")
        if self._page is not None:
            say(f"report: {self._page}")

    def pytest_unconfigure(self) -> None:
        """Stop computing; what was not reported is not written."""
        self._until_the_end.close()
        self._plan.close()
        if self._folder is not None:
            self._folder.close()


def _list_pairs(terminalreporter: pytest.TerminalReporter) -> None:
    """List every pair by its outcome, where `-rA` or `-rp` asks for that."""
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
