"""Strict reading of text and JSON files: what is not exactly right stops the run with a message of one line.

Every fault of a file is counted, so that one message tells how much there is to repair.
"""

import hashlib
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeGuard

from harness.errors import BadInput

_SHOWN = 5
"""How many entries a message lists before it only counts."""


@dataclass(frozen=True)
class TextFile:
    """A file with its text: never blank, decoded as UTF-8, a leading byte order mark left out."""

    path: Path
    sha256: str
    text: str


def one_line(message: str) -> str:
    """The message with everything that doesn't print, line breaks above all, written as an escape."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in message)


def refuse(path: Path, fault: str, remedy: str) -> NoReturn:
    """Raise BadInput for a file as a whole: what is wrong with it and what to do about it."""
    raise BadInput(one_line(f"{path}: {fault}; {remedy}"))


class Faults:
    """The faults of a file's entries, gathered so that one message counts them all."""

    def __init__(self, path: Path, noun: str) -> None:
        """Gather faults of `path`, whose entries a message calls `noun` (entry, line, question, ...)."""
        self._path = path
        self._noun = noun
        self._entries: dict[str, list[str]] = {}
        self._remedies: dict[str, None] = {}

    def add(self, entry: object, fault: str, remedy: str) -> None:
        """Note what is wrong with `entry` and what to do about it."""
        self._entries.setdefault(fault, []).append(str(entry))
        self._remedies[remedy] = None

    def stop(self) -> None:
        """Raise BadInput if there is any fault: each kind with its count and its first few entries."""
        if self._entries:
            faults = (f"{self._listed(entries)}: {fault}" for fault, entries in self._entries.items())
            refuse(self._path, "; also ".join(faults), "; ".join(self._remedies))

    def _listed(self, entries: list[str]) -> str:
        if len(entries) == 1:
            return f"{self._noun} {entries[0]}"
        plural = f"{self._noun[:-1]}ies" if self._noun.endswith("ry") else f"{self._noun}s"
        more = ", ..." if len(entries) > _SHOWN else ""
        return f"{len(entries)} {plural} ({', '.join(entries[:_SHOWN])}{more})"


def read_text(path: Path) -> TextFile:
    """Read a whole file.

    Raises:
        BadInput: it cannot be read, is blank or is not UTF-8.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        refuse(path, f"cannot be read ({error.strerror})", "check the path and its permissions")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        refuse(path, f"byte 0x{raw[error.start]:02x} in line {line} is not UTF-8", "save the file as UTF-8")
    if not text.strip():
        refuse(path, "is empty", "fetch or write it again")
    return TextFile(path, hashlib.sha256(raw).hexdigest(), text)


def is_text(value: Any) -> TypeGuard[str]:
    r"""Whether a JSON value is a string that UTF-8 can hold: `"\ud83d"` alone, half a character, is none."""
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def parse_json(text: str) -> Any:
    """Parse one JSON document whose objects name no key twice.

    Raises:
        ValueError: it is not; the text says where and what is wrong.
    """
    try:
        return json.loads(text, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno} column {error.colno}" if "\n" in text else f"column {error.colno}"
        raise ValueError(f"{place}: {error.msg}; perhaps cut off") from error
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def read_json(file: TextFile) -> Any:
    """Parse a file that is one JSON document.

    Raises:
        BadInput: it is not JSON, or an object in it names a key twice.
    """
    try:
        return parse_json(file.text)
    except ValueError as error:
        refuse(file.path, f"not valid JSON ({error})", "fetch or write it again")


def read_json_lines(file: TextFile) -> list[tuple[int, dict[str, Any]]]:
    """Parse a file with one JSON object in each line that isn't blank; lines are numbered from 1.

    Raises:
        BadInput: a line is not JSON or no object.
    """
    faults = Faults(file.path, "line")
    records: list[tuple[int, dict[str, Any]]] = []
    # Not splitlines(): JSON strings may hold the other characters that it takes for line ends.
    for number, line in enumerate(file.text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            record = parse_json(line)
        except ValueError as error:
            faults.add(f"{number} ({error})", "not valid JSON", "write one JSON object per line")
            continue
        if isinstance(record, dict):
            records.append((number, record))
        else:
            faults.add(number, f"{json_type(record)} instead of an object", "write one JSON object per line")
    faults.stop()
    return records


def json_type(value: Any) -> str:
    """JSON's name of a parsed value's type, with its article."""
    names = {dict: "an object", list: "an array", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        repeated = [key for key, count in Counter(key for key, _ in pairs).items() if count > 1]
        more = ", ..." if len(repeated) > _SHOWN else ""
        raise ValueError(f"repeated in one object: key {', '.join(map(repr, repeated[:_SHOWN]))}{more}")
    return record
