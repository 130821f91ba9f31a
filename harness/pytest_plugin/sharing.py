"""Under pytest-xdist the controller has the answers, and writes each into a file that every worker reads.

So a text is executed once, whatever the number of processes, and they share nothing but pytest's own work.
The controller holds the file's lock as long as it lives: a worker that can have it waits for nobody.
"""

import fcntl
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import astuple
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import IO, Any

import pytest

from harness.pytest_plugin.items import ItemAnswer, ItemEntry, ItemPart, ItemSource

_LOOK_SECONDS = 0.02


class Announcer:
    """The controller's side; `tell` may be called from any thread."""

    def __init__(self) -> None:
        self._folder = TemporaryDirectory(prefix="bird-answers-")
        self._file = (Path(self._folder.name) / "answers.jsonl").open("wb", buffering=0)
        fcntl.flock(self._file, fcntl.LOCK_EX)
        self._lock = Lock()

    def invitation(self, source: ItemSource) -> tuple[Any, ...]:
        """All that a worker process has to know, as plain values."""
        parts = [
            (str(part.path), part.name, [astuple(entry) for entry in part.entries], part.properties)
            for part in source.parts
        ]
        return self._file.name, source.is_quick, parts

    def tell(self, place: int, answer: ItemAnswer) -> None:
        """Tell everybody, those who come later, too."""
        with self._lock:
            if not self._file.closed:
                self._file.write(json.dumps([place, *astuple(answer)]).encode() + b"\n")

    def close(self) -> None:
        """Tell nobody any more."""
        with self._lock:
            self._file.close()
        self._folder.cleanup()


class Told:
    """The side of a worker process: an `ItemSource` of what it is told."""

    def __init__(self, invitation: Sequence[Any]) -> None:
        path, self.is_quick, parts = invitation
        self.parts: Sequence[ItemPart] = [
            ItemPart(Path(file), name, tuple(ItemEntry(*entry) for entry in entries), properties)
            for file, name, entries, properties in parts
        ]
        self._path = Path(path)
        self._read = 0
        self._known: dict[int, ItemAnswer] = {}

    def begin(self, places: Sequence[int], tell: Callable[[int, ItemAnswer], None] | None) -> None:
        """Nothing: the controller knows what was chosen."""

    def answer(self, place: int) -> ItemAnswer:
        """See `ItemSource.answer`."""
        while place not in self._known:
            lines, is_over = self._new()
            for number, *answer in map(json.loads, lines):
                self._known[number] = ItemAnswer(*answer)
            if is_over and not lines:
                pytest.exit("pytest-xdist's controller is gone", returncode=pytest.ExitCode.INTERRUPTED)
            if not lines:
                time.sleep(_LOOK_SECONDS)
        return self._known[place]

    def _new(self) -> tuple[list[bytes], bool]:
        """The lines that have come since, and whether no more will."""
        try:
            with self._path.open("rb") as file:
                is_over = _is_free(file)
                file.seek(self._read)
                *lines, _ = file.read().split(b"\n")
        except FileNotFoundError:
            return [], True
        self._read += sum(len(line) + 1 for line in lines)
        return lines, is_over


def _is_free(file: IO[bytes]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
