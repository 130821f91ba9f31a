"""Every measured unit of a study, on disk before anything is made of it: nothing is measured twice."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from dialects.errors import BadInput
from loaders.base.files import locked
from loaders.base.records import Recorder, to_record

# What a study shows while it goes on: one bar on a terminal, and a line now and then elsewhere.

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


JOURNAL = "journal.jsonl"
"""In the folder of a study: a line a unit, `part`, `key` and `value`."""


@dataclass(frozen=True)
class Unit:
    """One measured unit; the value may be None."""

    value: Any


@dataclass(frozen=True)
class _Line:
    part: str
    key: Sequence[str]
    value: Any


class Journal:
    """The journal of one study, written by one process at a time.

    A last line that was cut off is dropped.

    Args:
        folder: the study's; it has to be there.

    Raises:
        BadInput: a line is no unit, or another process writes it.
        OSError: it cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / JOURNAL
        self._lock = locked(folder)
        try:
            self._recorder = Recorder(self.path)
            remedy = "delete that line, and it is measured again"
            self._units = dict(self._recorder.read(_unit, remedy, "unit of a study"))
        except BaseException:
            os.close(self._lock)
            raise

    def find(self, part: str, key: Sequence[str]) -> Unit | None:
        """A unit that has been measured."""
        return self._units.get((part, *key))

    def add(self, part: str, key: Sequence[str], value: Any) -> Unit:
        """Keep a unit.

        Raises:
            BadInput: it cannot be written.
        """
        try:
            self._recorder.add({"part": part, "key": list(key), "value": value})
        except OSError as error:
            raise BadInput(
                f"{self.path}: cannot be written ({error.strerror}); make room, and go on with --resume"
            ) from error
        self._units[part, *key] = found = Unit(value)
        return found

    def count(self, part: str | None = None) -> int:
        """How many units there are, of one part or of all."""
        return len(self._units) if part is None else sum(key[0] == part for key in self._units)

    def close(self) -> None:
        """Let others write the folder."""
        self._recorder.close()
        os.close(self._lock)


def _unit(content: Any) -> tuple[tuple[str, ...], Unit]:
    line = to_record(_Line, content)
    return (line.part, *line.key), Unit(line.value)
