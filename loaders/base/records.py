"""Records of files: dataclasses made of plain JSON values, strictly, and back; by msgspec.

A value of another type, a member that is missing and one that is unknown are faults. Each is told with its
path in the record, what was there and what has to be there.
"""

import io
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

from dialects.errors import BadInput
from loaders.base.errors import brief
from loaders.base.files import as_json, parse_json, read_json, read_lines, read_text, refuse

Record = TypeVar("Record")


class RecordFault(ValueError):
    """Values are no such record; the text says where, what was there and what has to be there."""


def to_record(kind: type[Record], content: Any, *, others: bool = False) -> Record:
    """Make a record, or a container of records, of the plain values that a JSON file holds.

    Args:
        kind: a dataclass, or another type that msgspec knows.
        content: as `parse_json` returns it.
        others: whether it may have members that the dataclass has not, which are left.

    Raises:
        RecordFault: it is not of that type.
    """
    import msgspec  # noqa: PLC0415 - slow to import, and many commands read no record

    if not others and is_dataclass(kind) and isinstance(content, dict) and content.keys() - _members(kind):
        unknown = ", ".join(repr(name) for name in content if name not in _members(kind))
        raise RecordFault(f"{brief(unknown)} is unknown")
    try:
        return msgspec.convert(content, kind)
    except msgspec.ValidationError as error:
        raise RecordFault(_in_words(str(error))) from None


def to_plain(record: Any, *, known_only: bool = False) -> Any:
    """Return the plain values of a record, in the order of its fields, from which `to_record` makes it again.

    Args:
        record: a dataclass, or a container of some.
        known_only: whether members that are None are left out, at every level.
    """
    import msgspec  # noqa: PLC0415 - the same

    plain = msgspec.to_builtins(record, enc_hook=_native)
    return _known(plain) if known_only else plain


def to_object(content: Any) -> dict[str, Any]:
    """Make sure that plain values are a JSON object. Raises RecordFault."""
    return to_record(dict, content)


def read_record(path: Path, make: Callable[[Any], Record], remedy: str) -> Record:
    """Read a file that is one JSON document.

    Args:
        path: the file.
        make: makes the record of plain values; raises ValueError or BadInput where it cannot.
        remedy: what to do about a file that holds something else.

    Raises:
        BadInput: the file cannot be read, is no JSON or no such record.
    """
    content = read_json(read_text(path, remedy=remedy), remedy)
    try:
        return make(content)
    except (ValueError, BadInput) as fault:
        refuse(path, str(fault), remedy)


def read_records(
    path: Path, make: Callable[[Any], Record], remedy: str, *, noun: str | None = None, ended: bool = False
) -> Iterator[Record]:
    """Read a file with a JSON document in each line, one at a time; the rest is as in `read_record`.

    Args:
        path: the file.
        make: makes the record of plain values.
        remedy: what to do about a line that holds something else.
        noun: what such a line is not, where the message is to say so.
        ended: whether a last line without a line break is left out.
    """
    for number, line in read_lines(path, ended=ended):
        try:
            yield make(parse_json(line))
        except (ValueError, BadInput) as fault:
            refuse(path, f"line {number}{f' is no {noun}' if noun else ''}: {fault}", remedy)


class Recorder:
    """A file of JSON lines that grows while a command goes on: nothing that was added is lost.

    A line is the system's when `add` returns, whatever becomes of this process. A last line that a crash cut
    off is taken away when the file is opened. Threads share a recorder, processes do not: who makes one has
    `locked` the folder.

    Args:
        path: the file; it appears with its first line.

    Raises:
        OSError: it cannot be read or written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        whole = _whole(path) if path.exists() else 0
        self.was_cut_off = path.exists() and whole < path.stat().st_size
        """Whether the last line was not whole."""
        if self.was_cut_off:
            os.truncate(path, whole)
        self._lock = Lock()
        self._file: io.FileIO | None = None
        self._fault: OSError | None = None

    def read(self, make: Callable[[Any], Record], remedy: str, noun: str | None = None) -> Iterator[Record]:
        """The records of the lines that are there, as `read_records` makes them."""
        return read_records(self.path, make, remedy, noun=noun) if self.path.exists() else iter(())

    def add(self, record: Mapping[str, Any], *, durable: bool = False) -> None:
        """Add a record, as `add_line` adds its line."""
        self.add_line(as_json(record), durable=durable)

    def add_line(self, line: str, *, durable: bool = False) -> None:
        """Add a line, given without its end.

        Args:
            line: a JSON document.
            durable: whether it outlives the machine, too.

        Raises:
            OSError: it cannot be written. Nothing is, from then on: a line after half a line would be lost.
        """
        rest = memoryview(f"{line}\n".encode())
        with self._lock:
            if self._fault is not None:
                raise self._fault
            try:
                if self._file is None:
                    self._file = io.FileIO(self.path, "a")
                while rest:
                    rest = rest[self._file.write(rest) :]
                if durable:
                    os.fsync(self._file.fileno())
            except OSError as error:
                self._fault = error
                raise

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None


def _whole(path: Path) -> int:
    """How many bytes of a file are lines with their ends; it may be larger than the memory."""
    with path.open("rb") as file:
        at = file.seek(0, os.SEEK_END)
        while at:
            start = max(at - _PIECE, 0)
            file.seek(start)
            found = file.read(at - start).rfind(b"\n")
            if found >= 0:
                return start + found + 1
            at = start
    return 0


_PIECE = 2**16


def _native(value: Any) -> Any:
    """A value of a subclass, of texts or numbers, or another mapping, as what JSON has."""
    if isinstance(value, Mapping):
        return dict(value)
    for kind in (str, int, float):
        if isinstance(value, kind):
            return kind(value)
    raise TypeError(f"{type(value).__name__} is no value of JSON")


@cache
def _members(kind: type) -> frozenset[str]:
    return frozenset(each.name for each in fields(kind))


def _known(value: Any) -> Any:
    match value:
        case dict():
            return {name: _known(inner) for name, inner in value.items() if inner is not None}
        case list() | tuple():
            return [_known(inner) for inner in value]
        case _:
            return value


_TYPES: Mapping[str, str] = {
    "str": "a string", "int": "a whole number", "float": "a number", "bool": "a boolean", "null": "null",
    "object": "an object", "array": "an array",
}  # fmt: skip
_FORMS: Sequence[tuple[re.Pattern[str], Callable[[re.Match[str]], str]]] = (
    (
        re.compile(r"Expected `([^`]+)`, got `([^`]+)`"),
        lambda found: f"is {_named(found[2])}, not {_named(found[1])}",
    ),
    (re.compile("Object missing required field `(.+)`"), lambda found: f"has no {found[1]}"),
    (re.compile("Invalid enum value (.+)"), lambda found: f"cannot be {brief(found[1])}"),
)
"""What msgspec says, https://jcristharif.com/msgspec/usage.html#validation, and how it is told."""


def _in_words(message: str) -> str:
    said, _, place = message.partition(" - at `$")
    # A key of an object of any keys is told by the library as three dots.
    where = place.rstrip("`").removeprefix(".")
    for form, words in _FORMS:
        if found := form.fullmatch(said):
            return f"{where} {words(found)}".lstrip()
    return f"{where}: {said}" if where else said


def _named(types: str) -> str:
    # A member that may be null may be left out as well: that need not be told.
    wanted = [each for each in types.split(" | ") if each != "null" or each == types]
    return " or ".join(_TYPES.get(each, each) for each in wanted)
