"""What a study shows while it goes on: one bar on a terminal, and a line now and then elsewhere."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

_TENTHS = 10
"""Where there is no terminal, a line is said so many times a part."""


class StudyProgress:
    """How far the parts of a study are; thread-safe as far as `judging` needs it.

    Args:
        console: shows the bar, if it is a terminal.
        say: takes the lines where it is none.
    """

    def __init__(self, console: Console, say: Callable[[str], None]) -> None:
        self._say = say
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task: TaskID | None = None
        self.part = ""
        self.done = self.expected = 0

    def begin(self, part: str, title: str) -> None:
        """Go on to a part."""
        self.end()
        self.part, self.done, self.expected = part, 0, 0
        self._task = self._bar.add_task(f"{part}: {title}", total=None)
        if self._bar.disable:
            self._say(f"{part}: {title}")

    def end(self) -> None:
        """The part is done."""
        if self._task is not None:
            self._bar.remove_task(self._task)
            self._task = None

    def expect(self, units: int) -> None:
        """So many more units are to come."""
        self.expected += units
        if self._task is not None:
            self._bar.update(self._task, total=self.expected)

    def advance(self) -> None:
        """One unit is done."""
        self.done += 1
        if self._task is not None:
            self._bar.update(self._task, completed=self.done)
        if self._bar.disable and self.expected >= self.done:
            before, now = (_TENTHS * done // self.expected for done in (self.done - 1, self.done))
            if now > before:
                self._say(f"{self.part}: {self.done} of {self.expected}")

    @contextmanager
    def judging(self, total: int) -> Iterator[Callable[[], None]]:
        """While predictions are judged; what it gives is called for each of them."""
        task = self._bar.add_task("judging predictions", total=total)
        if self._bar.disable:
            self._say(f"judging {total} predictions")
        try:
            yield lambda: self._bar.update(task, advance=1)
        finally:
            self._bar.remove_task(task)

    @property
    def far(self) -> str:
        """How far it came, for who breaks it off."""
        if not self.part:
            return "before the first part"
        return f"in {self.part}, after {self.done} of {max(self.expected, self.done)} units"

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()
