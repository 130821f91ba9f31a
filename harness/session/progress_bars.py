"""Progress on a terminal: a bar for each engine, with rate, time left and EX so far.

Pairs are counted when they are judged, from any thread, not when they are reported, so that one slow pair
does not stop a bar.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from operator import itemgetter
from threading import Lock
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TimeRemainingColumn
from rich.text import Text

from harness.data.outcomes import Outcome
from harness.engines import TITLES, EngineName
from harness.metrics import METRICS, OUTCOME_METRIC

_ALL = "all engines"

_BESIDE = 56
"""Width of the columns next to the bar."""
_BAR = 40


class Bars:
    """The progress bars of one run; nothing is shown if the console is None or not a terminal.

    Args:
        console: must keep its file while pytest captures output.
        clock: returns seconds; for tests.
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
            # pytest captures both by itself.
            redirect_stdout=False,
            redirect_stderr=False,
            disable=console is None or not console.is_terminal,
        )

    def stage(self, what: str, total: int | None = None) -> None:
        """Show the current step instead of the previous one; `total` is its number of units."""
        with self._lock:
            if self._stage is not None:
                self.progress.remove_task(self._stage)
            self._stage = self.progress.add_task(what, total=total, live="")

    def advance(self, count: int = 1, live: str = "") -> None:
        """Advance the current step by `count`, and show `live` next to it."""
        if self._stage is not None:
            self.progress.update(self._stage, advance=count, live=live)

    def judge(self, planned: Sequence[EngineName], known: Iterable[tuple[EngineName, Outcome]] = ()) -> None:
        """Show the bars.

        Args:
            planned: the engine of each pair.
            known: the outcomes of those that an earlier part of the run has judged.
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
        """Count one more pair on an engine; from any thread."""
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
        """Remove the bars from the screen."""
        self.progress.stop()


class _Column(ProgressColumn):
    """A text about a task, aligned to the right except in the first column."""

    def __init__(self, text: Callable[[Task], str]) -> None:
        super().__init__()
        self._text = text

    def render(self, task: Task) -> Text:
        """Return its text."""
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
"""Pairs per second below which a decimal is shown."""
