"""Units: what an analysis measures, each once, in a folder that keeps them; and how far it is.

Whatever goes through `Units.unit` is on disk before it returns, and an analysis that is resumed returns it
without measuring again. A value is what JSON holds, and comes back as JSON gives it (tuples as lists),
whether it was measured now or then. What follows from units is computed anew. So an analysis may be broken
off at any unit: by Ctrl-C, by an engine that is lost, by the end of its process.
"""

import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any, Self, TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bars

from dialects.errors import BadInput
from harness.analyses.bench import in_threads
from harness.runs.folder import here, require_same
from loaders.base.errors import command
from loaders.base.files import as_json, locked, parse_json, write_json
from loaders.base.records import Recorder, read_record, to_object, to_record

Item = TypeVar("Item")

Say = Callable[[str], None]
"""Takes one line at a time."""

# Progress.


_TENTHS = 10
"""How many lines report a stage where there is no terminal."""


class Progress:
    """How far an analysis is: a bar with the time left on a terminal, a line now and then elsewhere.

    Args:
        console: shows the bar, if it is a terminal; None shows nothing.
        say: takes the lines where it is none; None says nothing.
    """

    def __init__(self, console: Console | None = None, say: Say | None = None) -> None:
        self._say = say
        self._bars = Bars(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=console is None or not console.is_terminal,
        )
        self._task: TaskID | None = None
        self._lock = Lock()
        self.stage = ""
        self.done = self.expected = 0

    def begin(self, stage: str, title: str) -> None:
        """Begin the next stage."""
        self.end()
        self.stage, self.done, self.expected = stage, 0, 0
        self._task = self._bars.add_task(f"{stage}: {title}", total=None)
        self._line(f"{stage}: {title}")

    def end(self) -> None:
        """End the stage."""
        if self._task is not None:
            self._bars.remove_task(self._task)
            self._task = None

    def expect(self, units: int) -> None:
        """Expect so many more units."""
        self.expected += units
        if self._task is not None:
            self._bars.update(self._task, total=self.expected)

    def advance(self) -> None:
        """Count one unit as done; thread-safe."""
        with self._lock:
            self.done += 1
            if self._task is not None:
                self._bars.update(self._task, completed=self.done)
            if self.expected >= self.done:
                before, now = (_TENTHS * done // self.expected for done in (self.done - 1, self.done))
                if now > before:
                    self._line(f"{self.stage}: {self.done} of {self.expected}")

    @contextmanager
    def judging(self, total: int) -> Iterator[Callable[[], None]]:
        """Show progress while predictions are judged; call the yielded function for each of them."""
        task = self._bars.add_task("judging predictions", total=total)
        self._line(f"judging {total} predictions")
        try:
            yield lambda: self._bars.update(task, advance=1)
        finally:
            self._bars.remove_task(task)

    def _line(self, line: str) -> None:
        if self._bars.disable and self._say is not None:
            self._say(line)

    @property
    def far(self) -> str:
        """How far the analysis is, for the message of an interruption."""
        if not self.stage:
            return "before the first part"
        return f"in {self.stage}, after {self.done} of {max(self.expected, self.done)} units"

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Take the bars from the screen."""
        self._bars.stop()


# The journal: every measured unit is on disk before anything is made of it.

JOURNAL = "journal.jsonl"
"""In the folder of an analysis: a line a unit, `part`, `key` and `value`."""


@dataclass(frozen=True)
class Unit:
    """One measured unit; the value may be None."""

    part: str
    key: Sequence[str]
    value: Any


class UnitJournal:
    """The journal of one folder, written by one process at a time; thread-safe.

    A last line that was cut off is dropped.

    Args:
        folder: of the analysis, which must exist. None keeps units as long as the process.

    Raises:
        BadInput: a line is no unit, or another process writes it.
        OSError: it cannot be written.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._units: dict[tuple[str, ...], Unit] = {}
        self._recorder: Recorder | None = None
        if folder is None:
            return
        self._lock = locked(folder)
        try:
            self._recorder = Recorder(folder / JOURNAL)
            remedy = "delete that line to measure it again"
            units = self._recorder.read(partial(to_record, Unit), remedy, "measured unit")
            self._units = {(unit.part, *unit.key): unit for unit in units}
        except BaseException:
            os.close(self._lock)
            raise

    def find(self, part: str, key: Sequence[str]) -> Unit | None:
        """Return a measured unit; None if it is not there."""
        return self._units.get((part, *key))

    def add(self, unit: Unit) -> Unit:
        """Keep a unit.

        Raises:
            BadInput: it cannot be written.
        """
        if self._recorder is not None:
            try:
                self._recorder.add({"part": unit.part, "key": list(unit.key), "value": unit.value})
            except OSError as error:
                why = f"cannot be written ({error.strerror}); make room, and continue with --resume"
                raise BadInput(f"{self._recorder.path}: {why}") from error
        self._units[unit.part, *unit.key] = unit
        return unit

    def close(self) -> None:
        """Let others write the folder."""
        if self._recorder is not None:
            self._recorder.close()
            os.close(self._lock)


# The means of an analysis, and the folder in which it continues.


@dataclass(frozen=True, kw_only=True)
class Units:
    """Measures each unit once; thread-safe.

    `part` is the analysis, or the part of one, that the units are of. `folder` keeps them, if one does.
    """

    part: str = ""
    journal: UnitJournal = field(default_factory=UnitJournal)
    progress: Progress = field(default_factory=Progress)
    folder: Path | None = None

    def stage(self, part: str, title: str) -> Self:
        """Return the units of a part that begins now."""
        self.progress.begin(part, title)
        return replace(self, part=part)

    def expect(self, units: int) -> None:
        """Say how many more units the analysis is going to ask for."""
        self.progress.expect(units)

    def unit(self, key: Sequence[str], measure: Callable[[], Any]) -> Any:
        """Return a value that is measured once in the life of an analysis.

        Args:
            key: names it within the analysis.
            measure: takes the measurement; what it returns is plain values, which JSON holds.

        Returns:
            What it returned, as JSON gives it back.
        """
        found = self.journal.find(self.part, key)
        if found is None:
            found = self.journal.add(Unit(self.part, key, parse_json(as_json(measure()))))
        self.progress.advance()
        return found.value

    def has(self, key: Sequence[str]) -> bool:
        """True if a unit is measured, so that it needs no preparation."""
        return self.journal.find(self.part, key) is not None

    def all(
        self, keyed: Iterable[tuple[Sequence[str], Item]], measure: Callable[[Item], Any], threads: int
    ) -> list[tuple[Item, Any]]:
        """Measure independent units in parallel; return each item with its value.

        Args:
            keyed: the items with their keys, in the order of what is returned.
            measure: takes the measurement of one, as in `unit`.
            threads: how many are measured at a time.
        """
        asked = list(keyed)
        self.expect(len(asked))

        def one(keyed: tuple[Sequence[str], Item]) -> tuple[Item, Any]:
            key, item = keyed
            return item, self.unit(key, lambda: measure(item))

        return list(in_threads(threads, one, asked))


@contextmanager
def kept(name: str, folder: Path | None, progress: Progress, say: Say) -> Iterator[Units]:
    """Yield units that a folder keeps; if the block is interrupted, log how to continue the analysis.

    Args:
        name: the command that continues.
        folder: an existing folder; None keeps them for the block only.
        progress: shown within the block.
        say: takes one line at a time.

    Raises:
        BadInput: the folder cannot be written, another process writes it, or its journal is damaged.
    """
    try:
        journal = UnitJournal(folder)
    except OSError as error:
        raise BadInput(f"{folder}: cannot be written ({error.strerror}); make room there") from error
    with closing(journal), progress:
        try:
            yield Units(journal=journal, progress=progress, folder=folder)
        except BaseException:
            progress.close()
            if folder is not None:
                say(f"interrupted {progress.far}; the measurements are in {folder}")
                again = command(f"lab {name}", resume=str(folder))
                say(f"`{again}` continues it")
            raise


@dataclass(frozen=True)
class Folders:
    """The folders of one kind of analysis.

    Args:
        name: the command; a new folder is called `<name>-<time>-<digits>`.
        manifest: the file that records the request.
        same: the fields of the manifest that decide the units.
    """

    name: str
    manifest: str
    same: Sequence[str]

    def check(self, resume: Path | None) -> None:
        """Refuse to continue a folder of anything else, before any work.

        Raises:
            BadInput: it is not such a folder.
        """
        if resume is not None and not (resume / self.manifest).is_file():
            which = f"name one with {self.manifest}"
            raise BadInput(f"--resume {resume}: is not the folder of {_article(self.name)}; {which}")

    @contextmanager
    def units(
        self,
        manifest: Mapping[str, Any],
        out: Path | None,
        resume: Path | None,
        progress: Progress,
        say: Say,
    ) -> Iterator[Units]:
        """Yield units in a new folder, or in that of a resumed analysis.

        Args:
            manifest: the request, as plain values; `command` has the words that repeat it.
            out: the parent of a new folder; None for none.
            resume: the folder to continue, if any.
            progress: see `kept`.
            say: see `kept`.

        Raises:
            BadInput: it cannot be written, or belongs to another analysis.
        """
        started = datetime.now(UTC)
        folder, earlier = resume and resume.resolve(), {}
        if folder is not None:
            there = read_record(folder / self.manifest, to_object, "name the folder of another one")
            require_same(folder / self.manifest, there, manifest, self.same, self.name)
            resumed = [*there.get("resumed", ()), started.isoformat()]
            earlier = {"started": there.get("started"), "resumed": resumed}
        elif out is not None:
            folder = out / f"{self.name}-{started:%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"
            try:
                folder.mkdir(parents=True)
            except OSError as error:
                why = f"{self.name} cannot be written there ({error.strerror}); choose another folder"
                raise BadInput(f"--out {out}: {why}") from error
        with kept(self.name, folder, progress, say) as units:
            if folder is not None:
                begun = {"schema_version": 1, "started": started.isoformat(), **here(), **manifest, **earlier}
                try:
                    write_json(folder / self.manifest, begun)
                except OSError as error:
                    raise BadInput(f"{folder}: cannot be written ({error.strerror})") from error
            yield units


def _article(name: str) -> str:
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
