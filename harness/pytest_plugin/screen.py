"""What a run shows on a terminal while it goes on: a bar for each engine, with rate, time left and EX so far.

Pairs are counted when they are judged, from whatever thread, not when they are reported, so that a bar never
waits for a pair in the middle.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from operator import itemgetter
from threading import Lock
from types import TracebackType
from typing import Self

import pytest
from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TimeRemainingColumn
from rich.text import Text

from harness.data.outcomes import Outcome
from harness.engines import TITLES, EngineName
from harness.metrics import METRICS, OUTCOME_METRIC

_ALL = "all engines"

_BESIDE = 56
"""Columns that stand beside the bar."""
_BAR = 40


class Bars:
    """The bars of one run; nothing is shown where the console is no terminal, or None.

    Args:
        console: has to keep its file while pytest captures what is printed.
        clock: seconds, for who looks at the bars in a test.
    """

    def __init__(self, console: Console | None, clock: Callable[[], float] | None = None) -> None:
        self._lock = Lock()
        self._rows: dict[str, TaskID] = {}
        self._counts: dict[str, tuple[int, int]] = {}
        self._stage: TaskID | None = None
        width = console.width if console is not None else 0
        self.progress = Progress(
            _Column(lambda task: task.description),
            BarColumn(min(_BAR, max(4, width - _BESIDE))),
            _Column(_count),
            _Column(_rate),
            TimeRemainingColumn(),
            _Column(lambda task: str(task.fields["live"])),
            console=console,
            get_time=clock,
            transient=True,
            # pytest captures both by itself, in the meantime.
            redirect_stdout=False,
            redirect_stderr=False,
            disable=console is None or not console.is_terminal,
        )

    def stage(self, what: str, total: int | None = None) -> None:
        """Show what is done now, in place of what was shown as that; with `total` how much of it."""
        with self._lock:
            if self._stage is not None:
                self.progress.remove_task(self._stage)
            self._stage = self.progress.add_task(what, total=total, live="")

    def advance(self, count: int = 1, live: str = "") -> None:
        """So many more of what is done now, and what is to be said of it."""
        if self._stage is not None:
            self.progress.update(self._stage, advance=count, live=live)

    def judge(self, planned: Sequence[EngineName], known: Iterable[tuple[EngineName, Outcome]] = ()) -> None:
        """Show the bars.

        Args:
            planned: the engine of each pair.
            known: what pairs among them came to in an earlier part of the run.
        """
        with self._lock:
            if self._stage is not None:
                self.progress.remove_task(self._stage)
                self._stage = None
            engines = list(dict.fromkeys(planned))
            totals = {engine: planned.count(engine) for engine in engines}
            if len(engines) > 1:
                totals[_ALL] = len(planned)
            for row, total in totals.items():
                self._rows[row] = self.progress.add_task(TITLES.get(row, row), total=total, live="")
                self._counts[row] = 0, 0
        for engine, outcomes in groupby(sorted(known), key=itemgetter(0)):
            self._add(engine, [outcome for _, outcome in outcomes])

    def judged(self, engine: EngineName, outcome: Outcome) -> None:
        """One more pair on an engine; from any thread."""
        self._add(engine, [outcome])

    def _add(self, engine: EngineName, outcomes: Sequence[Outcome]) -> None:
        if self.progress.disable:
            return
        with self._lock:
            for row in (engine, _ALL):
                if row not in self._rows:
                    continue
                right, judged = self._counts[row]
                right, judged = right + outcomes.count(Outcome.MATCH), judged + len(outcomes)
                self._counts[row] = right, judged
                live = f"{METRICS[OUTCOME_METRIC].title} {100 * right / judged:.1f}"
                self.progress.update(self._rows[row], completed=judged, live=live)

    def __enter__(self) -> Self:
        self.progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Take the bars from the screen."""
        self.progress.stop()


class Reporter:
    """A plugin that takes the place of pytest's own report: bars, and nothing else.

    Args:
        bars: told of what is collected.
        items: how many there will be.
    """

    def __init__(self, bars: Bars, items: int) -> None:
        self._bars = bars
        self._items = items

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        """Leave out what pytest says."""
        config.pluginmanager.unregister(name="terminalreporter")

    def pytest_collection(self) -> None:
        """Begin to collect."""
        self._bars.stage("collecting", self._items)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Count what was collected."""
        self._bars.advance(sum(isinstance(each, pytest.Item) for each in report.result))


class _Column(ProgressColumn):
    """A text about a task, on the right of its column but for what begins the row."""

    def __init__(self, text: Callable[[Task], str]) -> None:
        super().__init__()
        self._text = text

    def render(self, task: Task) -> Text:
        """What is shown of it."""
        return Text(self._text(task), no_wrap=True)


def _count(task: Task) -> str:
    if task.total is None:
        return ""
    total = f"{task.total:,.0f}"
    return f"{task.completed:>{len(total)},.0f}/{total}"


def _rate(task: Task) -> str:
    speed = task.finished_speed or task.speed
    return "" if speed is None else f"{speed:,.0f}/s" if speed >= _SLOW else f"{speed:.1f}/s"


_SLOW = 10
"""Pairs a second below which a digit more tells something."""
