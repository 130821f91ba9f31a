"""Convert plain JSON values strictly to dataclasses and back, with msgspec.

A value of another type, a missing member and an unknown one are faults. A message names the path in the
record, the value found and the one expected.
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
    """Values do not form the record; the message names the path, the value found and the one expected."""


def to_record(kind: type[Record], content: Any, *, others: bool = False) -> Record:
    """Make a record, or a container of records, from the plain values of a JSON file.

    Args:
        kind: a dataclass, or another type that msgspec knows.
        content: as `parse_json` returns it.
        others: whether to ignore members that the dataclass does not have.

    Raises:
        RecordFault: the values do not fit the type.
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
    """Return the plain values of a record, in the order of its fields; the inverse of `to_record`.

    Args:
        record: a dataclass, or a container of some.
        known_only: whether to omit members that are None, at every level.
    """
    import msgspec  # noqa: PLC0415 - the same

    plain = msgspec.to_builtins(record, enc_hook=_native)
    return _known(plain) if known_only else plain


def encode(record: Any) -> bytes:
    """Return a record as a JSON document in UTF-8."""
    import msgspec  # noqa: PLC0415 - the same

    try:
        return msgspec.json.encode(record, enc_hook=_native)
    except UnicodeEncodeError:  # it has half a character
        return as_json(to_plain(record)).encode()


def as_line(content: Any) -> str:
    """Return records and plain values as a line of JSON; numbers must be finite."""
    import msgspec  # noqa: PLC0415 - the same

    try:
        return msgspec.json.format(msgspec.json.encode(content, enc_hook=_native), indent=0).decode()
    except UnicodeEncodeError:  # as above
        return as_json(to_plain(content))


def decode(kind: type[Record], document: bytes) -> Record:
    """Return the record that `encode` was given."""
    try:
        return _decoder(kind).decode(document)  # type: ignore[no-any-return, arg-type]  # a type is hashable
    except ValueError:  # the same
        return to_record(kind, parse_json(document.decode()))


@cache
def _decoder(kind: type) -> Any:
    import msgspec  # noqa: PLC0415 - the same

    return msgspec.json.Decoder(kind)


def to_object(content: Any) -> dict[str, Any]:
    """Return `content` if it is a JSON object; raises RecordFault otherwise."""
    return to_record(dict, content)


def read_record(path: Path, make: Callable[[Any], Record], remedy: str) -> Record:
    """Read a file that is one JSON document.

    Args:
        path: the file.
        make: makes the record from plain values; raises ValueError or BadInput if it cannot.
        remedy: what to do about a file with other contents.

    Raises:
        BadInput: the file cannot be read, or is not JSON or not such a record.
    """
    content = read_json(read_text(path, remedy=remedy), remedy)
    try:
        return make(content)
    except (ValueError, BadInput) as fault:
        refuse(path, str(fault), remedy)


def read_records(
    path: Path, make: Callable[[Any], Record], remedy: str, *, noun: str | None = None, ended: bool = False
) -> Iterator[Record]:
    """Read a file with one JSON document per line, one at a time; otherwise like `read_record`.

    Args:
        path: the file.
        make: makes the record from plain values.
        remedy: what to do about a line with other contents.
        noun: the kind of record, for the message about a line that is not one.
        ended: whether to omit a last line without a line break.
    """
    for number, line in read_lines(path, ended=ended):
        try:
            yield make(parse_json(line))
        except (ValueError, BadInput) as fault:
            refuse(path, f"line {number}{f' is not a {noun}' if noun else ''}: {fault}", remedy)


class Recorder:
    """A file of JSON lines that grows while a command runs: nothing that was added is lost.

    When `add` returns, the line has been handed to the system, even if this process dies. An incomplete last
    line after a crash is removed when the file is opened. Threads can share a recorder, processes cannot: its
    creator must have `locked` the folder.

    Args:
        path: the file; created with its first line.

    Raises:
        OSError: it cannot be read or written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        whole = _whole(path) if path.exists() else 0
        self.was_cut_off = path.exists() and whole < path.stat().st_size
        """True if the last line was incomplete."""
        if self.was_cut_off:
            os.truncate(path, whole)
        self._lock = Lock()
        self._file: io.FileIO | None = None
        self._fault: OSError | None = None

    def read(self, make: Callable[[Any], Record], remedy: str, noun: str | None = None) -> Iterator[Record]:
        """Yield the records of the existing lines, as `read_records` does."""
        return read_records(self.path, make, remedy, noun=noun) if self.path.exists() else iter(())

    def add(self, record: Mapping[str, Any], *, durable: bool = False) -> None:
        """Add a record, as `add_line` adds its line."""
        self.add_line(as_json(record), durable=durable)

    def add_line(self, line: str, *, durable: bool = False) -> None:
        """Add a line, given without its line break.

        Args:
            line: a JSON document.
            durable: whether it must also survive a crash of the machine.

        Raises:
            OSError: it cannot be written. Later calls fail, too: a line after half a line would be lost.
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
        """Close the file."""
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None


def _whole(path: Path) -> int:
    """Return how many bytes of a file are complete lines; it may be larger than memory."""
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
    """Convert a subclass of a text or number, or another mapping, to JSON's own type."""
    if isinstance(value, Mapping):
        return dict(value)
    for kind in (str, int, float):
        if isinstance(value, kind):
            return kind(value)
    raise TypeError(f"{type(value).__name__} is not a JSON value")


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
"""msgspec's messages, https://jcristharif.com/msgspec/usage.html#validation, and this project's wording."""


def _in_words(message: str) -> str:
    said, _, place = message.partition(" - at `$")
    # The library writes a key of an object with arbitrary keys as three dots.
    where = place.rstrip("`").removeprefix(".")
    for form, words in _FORMS:
        if found := form.fullmatch(said):
            return f"{where} {words(found)}".lstrip()
    return f"{where}: {said}" if where else said


def _named(types: str) -> str:
    # A member that may be null may also be missing, so null need not be mentioned.
    wanted = [each for each in types.split(" | ") if each != "null" or each == types]
    return " or ".join(_TYPES.get(each, each) for each in wanted)
