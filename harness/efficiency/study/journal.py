"""Every measured unit of a study, on disk before anything is made of it: nothing is measured twice."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dialects.errors import BadInput
from loaders.base.files import as_json, locked, parse_json, refuse

JOURNAL = "journal.jsonl"
"""In the folder of a study: a line a unit, `part`, `key` and `value`."""


@dataclass(frozen=True)
class Unit:
    """One measured unit; the value may be None."""

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
            self._units = _read(self.path)
            self._file = self.path.open("a", encoding="utf-8", buffering=1)
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
        line = as_json({"part": part, "key": list(key), "value": value})
        try:
            self._file.write(line + "\n")
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
        self._file.close()
        os.close(self._lock)


def _read(path: Path) -> dict[tuple[str, ...], Unit]:
    """The units of a file; what was cut off at its end is taken from it."""
    units: dict[tuple[str, ...], Unit] = {}
    if not path.exists():
        return units
    content = path.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    if whole != content:
        with path.open("r+b") as file:
            file.truncate(len(whole))
    for number, line in enumerate(whole.split(b"\n")[:-1], start=1):
        try:
            unit = parse_json(line.decode())
            key = (unit["part"], *unit["key"])
            is_unit = all(isinstance(one, str) for one in key)
            units[key] = Unit(unit["value"])
        except (ValueError, KeyError, TypeError):
            is_unit = False
        if not is_unit:
            refuse(path, f"line {number} is no unit of a study", "delete that line, and it is measured again")
    return units
