"""The driver: pytest collects one item per (engine, predictor, question), and the summary is the table.

A mismatch is an outcome with its own letter, not a test failure; only a harness error fails an item. A
plain run computes ahead while pytest reports in order; under pytest-xdist every worker process computes the
items it is given, and the controller writes the run folder. What is timed is timed item by item, when there
is nothing left to compute.
"""

from collections.abc import Sequence
from concurrent.futures import Future, wait
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from harness.errors import BadInput
from harness.evaluation import Evaluation, Pair
from harness.outcomes import Judgement, Outcome, PairResult
from harness.plan import Plan
from harness.report.console import print_tables
from harness.report.failures import failures
from harness.report.summary import Score
from harness.runs import Key, RunFolder
from harness.words import Dialect

_PROPERTY = "bird"
"""Name of the report property that carries a result from where it was computed to the run folder."""

_LETTERS = {
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


def refuse_distributed(plan: Plan, config: pytest.Config) -> None:
    """Refuse to time pairs in several processes at once.

    Raises:
        BadInput: a metric of time is asked for under pytest-xdist.
    """
    distributed = getattr(config.option, "dist", "no") != "no" or hasattr(config, "workerinput")
    if distributed and plan.evaluation.is_timed:
        raise BadInput("metrics of time need a machine with nothing else running: leave out pytest's -n")


class Driver:
    """Runs one plan under pytest: the hooks that make items, letters, the run folder and the tables."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._evaluation: Evaluation = plan.evaluation
        self._ahead: dict[str, Future[Judgement] | None] = {}
        self._settled = False
        self._folder: RunFolder | None = None
        self._chosen: Sequence[Pair] | None = None
        self._reported: set[Key] = set()
        self.scores: Sequence[Score] = ()

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        """Add an item for every pair, before `-k` and its like choose among them."""
        if self._plan.request.resume is not None:
            self._folder = self._plan.open_run()
        done = self._folder.done if self._folder is not None else {}
        for (dialect, predictor), each in groupby(self._evaluation.pairs, key=_asked):
            pairs = [pair for pair in each if pair.key not in done]
            name = f"{dialect}/{predictor}"
            node = _PredictionFileNode.from_parent(session, name=name, nodeid=name)
            added = [
                PairItem.from_parent(node, name=pair.question.key, pair=pair, driver=self) for pair in pairs
            ]
            items += added
            session.ihook.pytest_collectreport(report=pytest.CollectReport(name, "passed", None, [*added]))

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Open the run folder of xdist's controller, which collects nothing itself."""
        if session.config.pluginmanager.hasplugin("dsession"):
            self._folder = self._plan.open_run()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Start computing what was chosen; an xdist worker learns item by item what it is to do."""
        chosen = [item.pair for item in session.items if isinstance(item, PairItem)]
        if session.config.option.collectonly or hasattr(session.config, "workerinput"):
            return
        if chosen and self._folder is None:
            self._folder = self._plan.open_run()
        self._chosen = chosen
        futures = self._evaluation.begin(chosen)
        self._ahead = {pair.name: future for pair, future in zip(chosen, futures, strict=True)}

    def result(self, pair: Pair) -> PairResult:
        """The result of one pair, which may have been computed ahead."""
        if self._evaluation.is_timed and not self._settled:
            wait(future for future in self._ahead.values() if future is not None)
            self._settled = True
        if pair.name not in self._ahead:
            [self._ahead[pair.name]] = self._evaluation.begin([pair])
        result = self._evaluation.result(pair, self._ahead.pop(pair.name))
        return self._evaluation.timed(pair, result)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Write the result that a report carries; xdist sends the workers' reports here, too."""
        result = _carried(report)
        if result is not None and self._folder is not None:
            self._folder.add(result)
            self._reported.add((result.dialect, result.predictor, result.question))

    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, Any] | None:
        """Give each outcome its own letter, word and colour."""
        result = _carried(report)
        if result is None:
            return None
        letter, colour = _LETTERS[result.outcome]
        return str(result.outcome), letter, (str(result.outcome).upper(), {colour: True})

    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter, exitstatus: pytest.ExitCode
    ) -> None:
        """Complete the run folder and print the tables, unless the run was broken off."""
        folder = self._folder
        if folder is None:
            return
        stopped = exitstatus in (pytest.ExitCode.INTERRUPTED, pytest.ExitCode.INTERNAL_ERROR)
        unfinished = [pair for pair in self._chosen or () if pair.key not in self._reported]
        if stopped or unfinished:
            folder.abort(self._evaluation.unfinished(pair, "the run was broken off") for pair in unfinished)
            terminalreporter.write_line(f"broken off; what was done is in {folder.path}")
            terminalreporter.write_line(f"to complete it, repeat the command with --resume {folder.path}")
            return
        self.scores = folder.finish()
        terminalreporter.section("scores", sep="=")
        print_tables(self.scores, self._plan.request.metrics)
        for line in self._plan.left_out:
            terminalreporter.write_line(line)
        for line in failures(self._evaluation.failed, self._plan.setup.servers):
            terminalreporter.write_line(line)
        terminalreporter.write_line(f"run folder: {folder.path}")

    def pytest_unconfigure(self) -> None:
        """Stop computing; what was not reported is not written."""
        self._plan.close()
        if self._folder is not None:
            self._folder.close()


def _asked(pair: Pair) -> tuple[Dialect, str]:
    return pair.dialect, pair.predictor


def _carried(report: pytest.TestReport) -> PairResult | None:
    record = dict(report.user_properties).get(_PROPERTY) if report.when == "call" else None
    return PairResult.from_json(record) if isinstance(record, dict) else None


class _PredictionFileNode(pytest.Collector):
    """Parent of one predictor's items on one engine; only groups them in pytest's output."""

    def collect(self) -> list[pytest.Item]:
        """Nothing more: the driver adds the items."""
        return []


class HarnessBroke(Exception):
    """The pair has no outcome of its own because an engine could not be used."""


class PairItem(pytest.Item):
    """One pair. It passes with every outcome but a harness error."""

    def __init__(self, *, pair: Pair, driver: Driver, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.pair = pair
        self._driver = driver

    def runtest(self) -> None:
        """Compute the pair's result, or wait for it, and attach it to the report."""
        result = self._driver.result(self.pair)
        self.user_properties.append((_PROPERTY, result.to_json()))
        if result.outcome is Outcome.HARNESS_ERROR:
            raise HarnessBroke(result.error)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """One line instead of a traceback through the harness."""
        if isinstance(excinfo.value, HarnessBroke):
            return f"{self.pair.name}: {excinfo.value}"
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Where pytest says the item is: the predictor on its engine, and the question."""
        return Path(self.pair.predictor), None, self.pair.name
