"""Read text and JSON files strictly; write them completely or not at all.

Any fault stops the run with a message of one line, which counts every fault of a file.
"""

import codecs
import csv
import fcntl
import hashlib
import io
import json
import os
import secrets
import shutil
import stat
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, TypeGuard

from dialects.errors import BadInput
from loaders.base.errors import brief
from loaders.base.paths import room

FILE_BYTES = "BIRD_FILE_BYTES"
"""The environment variable for the greatest size of a question or prediction file."""
MOST_BYTES = 64 * 2**20
_LEAST_BYTES = 10**6

_PIECE = 2**20
_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)

_JOURNALS = {"-wal": 32, "-journal": 0}
"""Suffixes of files with changes that are not yet in the database, and the bytes of such a file without any.

https://sqlite.org/tempfiles.html, https://sqlite.org/walformat.html
"""

_NO_TEXTS = {
    b"\x1f\x8b": "compressed by gzip",
    b"BZh": "compressed by bzip2",
    b"\xfd7zXZ": "compressed by xz",
    b"\x28\xb5\x2f\xfd": "compressed by Zstandard",
    b"PK\x03\x04": "a ZIP archive or a workbook",
    b"PAR1": "a Parquet file",
    b"SQLite format 3\0": "a SQLite database",
}
"""How files begin that are often given in place of a text."""
_SHOWN = 5
"""Number of entries that a message lists; further ones are only counted."""


@dataclass(frozen=True)
class TextFile:
    """A file with its text: never blank, UTF-8, without a leading byte order mark.

    The bytes are kept: as a string, a text with one emoji takes four bytes for every character.
    """

    path: Path
    sha256: str
    encoded: bytes

    @property
    def text(self) -> str:
        """The whole text, decoded on each access."""
        return self.encoded.decode()

    def lines(self) -> Iterator[str]:
        """Yield the text's lines, without line breaks.

        Unlike splitlines(), this splits only at line feeds: JSON and SQL may contain its other separators.
        """
        start, end = 0, 0
        while end >= 0:
            end = self.encoded.find(b"\n", start)
            yield self.encoded[start : end if end >= 0 else None].decode()
            start = end + 1


def one_line(message: str) -> str:
    """Return the message with characters that do not print, such as line breaks, as escapes."""
    if message.isprintable():
        return message
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in message)


def refuse(path: Path, fault: str, remedy: str) -> NoReturn:
    """Raise BadInput for a whole file: what is wrong with it and what to do about it."""
    raise BadInput(one_line(f"{path}: {fault}; {remedy}"))


class Faults:
    """The faults of a file's entries, collected for one message."""

    def __init__(self, path: Path, noun: str) -> None:
        """Collect faults of `path`, whose entries a message calls `noun` (entry, line, question, ...)."""
        self._path = path
        self._noun = noun
        self._entries: dict[str, list[str]] = {}
        self._remedies: dict[str, None] = {}

    def add(self, entry: object, fault: str, remedy: str) -> None:
        """Add what is wrong with `entry` and what to do about it."""
        self._entries.setdefault(fault, []).append(brief(entry))
        self._remedies[remedy] = None

    def stop(self) -> None:
        """Raise BadInput if there are faults: each kind with its count and its first entries."""
        if self._entries:
            faults = (f"{self._listed(entries)}: {fault}" for fault, entries in self._entries.items())
            refuse(self._path, "; also ".join(faults), "; ".join(self._remedies))

    def _listed(self, entries: list[str]) -> str:
        if len(entries) == 1:
            return f"{self._noun} {entries[0]}"
        plural = f"{self._noun[:-1]}ies" if self._noun.endswith("ry") else f"{self._noun}s"
        more = ", ..." if len(entries) > _SHOWN else ""
        return f"{len(entries)} {plural} ({', '.join(entries[:_SHOWN])}{more})"


def most_bytes() -> int:
    """Return the greatest size of a question or prediction file, in bytes.

    Raises:
        BadInput: the environment variable is not a size.
    """
    return room(FILE_BYTES, MOST_BYTES, _LEAST_BYTES)


def read_text(path: Path, most: int | None = None, remedy: str = "fetch or write it again") -> TextFile:
    """Read a whole file.

    Args:
        path: a regular file, not a pipe, which may never end, or a device.
        most: the greatest number of bytes; None for any.
        remedy: what to do about an empty file.

    Raises:
        BadInput: it is not a file, cannot be read, is too large, blank, or not UTF-8.
    """
    with _opened(path, most) as file:
        raw = file.read()
    sha256, raw = hashlib.sha256(raw).hexdigest(), raw.removeprefix(codecs.BOM_UTF8)
    if not raw or raw.isspace():
        refuse(path, "is empty", remedy)
    kind = next((kind for start, kind in _NO_TEXTS.items() if raw.startswith(start)), None)
    if kind is not None:
        refuse(path, f"is {kind}, not text", "decompress it, or write it as JSON lines or CSV")
    decoder = codecs.getincrementaldecoder("utf-8")()
    for start in range(0, len(raw), _PIECE):
        piece = raw[start : start + _PIECE]
        try:
            decoder.decode(piece, final=start + _PIECE >= len(raw))
        except UnicodeDecodeError as error:
            # The decoder prepends the rest of the previous piece.
            at = start + error.start - (len(error.object) - len(piece))
            _refuse_byte(path, raw[at], raw.count(b"\n", 0, at) + 1)
    return TextFile(path, sha256, raw)


def read_lines(path: Path, *, ended: bool = False) -> Iterator[tuple[int, str]]:
    """Read the lines of a file that are not blank, one at a time: it may be larger than memory.

    Args:
        path: a regular file, as for `read_text`.
        ended: whether to omit a last line without a line break.

    Yields:
        The number of a line, from 1, and its text with the line break.

    Raises:
        BadInput: it is not a file, cannot be read, or a line is not UTF-8.
    """
    with _opened(path) as file:
        for number, line in enumerate(file, start=1):
            encoded = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
            if not encoded or encoded.isspace() or (ended and not encoded.endswith(b"\n")):
                continue
            try:
                text = encoded.decode()
            except UnicodeDecodeError as error:
                _refuse_byte(path, encoded[error.start], number)
            yield number, text


def _refuse_byte(path: Path, byte: int, line: int) -> NoReturn:
    refuse(path, f"byte 0x{byte:02x} in line {line} is not UTF-8", "save the file as UTF-8")


@contextmanager
def _opened(path: Path, most: int | None = None) -> Iterator[BinaryIO]:
    """Open a regular file for reading; any system error within the block is a fault of the file."""
    try:
        # Without O_NONBLOCK, opening a pipe would wait for a writer.
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:  # noqa: PTH123
            found = os.fstat(file.fileno())
            kind = next((name for is_kind, name in _KINDS if is_kind(found.st_mode)), None)
            if kind is not None:
                refuse(path, f"is {kind}, not a file", "name a regular file")
            if most is not None and found.st_size > most:
                larger = f"has {found.st_size:,} bytes, more than the limit of {most:,}"
                refuse(path, larger, f"split it, or raise the limit by {FILE_BYTES}=1GB")
            yield file
    except OSError as error:
        kind = _kind(path)
        if kind is not None:
            refuse(path, f"is {kind}, not a file", "name a regular file")
        refuse(path, f"cannot be read ({error.strerror})", "check the path and its permissions")


def _kind(path: Path) -> str | None:
    """Return what a path leads to; None for a regular file or nothing."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return None
    return next((name for is_kind, name in _KINDS if is_kind(mode)), None)


def unwritten(path: Path) -> str | None:
    """Return why a database file cannot be read as it is: a journal next to it has changes that it lacks.

    None if there is none. SQLite looks for a journal next to the file that a link leads to. A journal whose
    first byte is zero is over: https://sqlite.org/lockingv3.html#hot_journals.
    """
    for suffix, empty in _JOURNALS.items():
        journal = f"{os.path.realpath(path)}{suffix}"
        try:
            size = os.stat(journal).st_size  # noqa: PTH116 - for each session: a path takes as long again
        except FileNotFoundError:
            continue
        except OSError as error:
            return f"{os.path.basename(journal)} cannot be read ({error.strerror}); check its permissions"  # noqa: PTH119 - as above
        if size > empty and _begins(journal):
            name = os.path.basename(journal)  # noqa: PTH119 - as above
            return f"{name} holds changes not yet in it; open it once with sqlite3 and close it"
    return None


def _begins(journal: str) -> bool:
    """Return True if the first byte of a file is not zero, or cannot be read."""
    try:
        with Path(journal).open("rb") as file:
            return file.read(1) != b"\0"
    except OSError:
        return True


_LEFT_BEHIND = {"thumbs.db", "ehthumbs.db", "desktop.ini", "__macosx"}
"""Names in lower case of what Windows and archivers of macOS leave in folders."""


def visible(folder: Path) -> list[Path]:
    """Return what a user put into a folder, by name.

    Hidden files, such as the `.DS_Store` and `._shop.sqlite` of macOS, and what Windows leaves are not.

    Raises:
        OSError: the folder cannot be read.
    """
    return sorted(
        path
        for path in folder.iterdir()
        if not path.name.startswith(".") and path.name.casefold() not in _LEFT_BEHIND
    )


def files_within(folder: Path) -> tuple[list[Path], dict[Path, str]]:
    """Return the files of a folder and of those below it, sorted, and what else is there.

    Nothing is followed out of the folder. The second part says what is not a file of the folder by its path:
    a link, also a file that has another name outside of the folder, a pipe, a socket or a device.

    Raises:
        OSError: a folder cannot be read.
    """
    found: dict[Path, os.stat_result] = {}
    others: dict[Path, str] = {}

    def fail(error: OSError) -> NoReturn:
        raise error

    for at, folders, names in os.walk(folder, onerror=fail):
        for path in (Path(at, name) for name in (*folders, *names)):
            status = path.lstat()
            if stat.S_ISLNK(status.st_mode):
                others[path] = "a link"
            elif stat.S_ISREG(status.st_mode):
                found[path] = status
            elif not stat.S_ISDIR(status.st_mode):
                others[path] = next(name for is_kind, name in _KINDS if is_kind(status.st_mode))
    names_here = Counter((status.st_dev, status.st_ino) for status in found.values())
    for path, status in found.items():
        if status.st_nlink > names_here[status.st_dev, status.st_ino]:
            others[path] = "a link to a file outside of the folder"
    return sorted(found.keys() - others.keys()), dict(sorted(others.items()))


def is_text(value: Any) -> TypeGuard[str]:
    r"""True if a JSON value is a string valid in UTF-8; `"\ud83d"` alone, half a character, is not."""
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def parse_json(text: str) -> Any:
    """Parse one JSON document without repeated keys in an object.

    Raises:
        ValueError: it is not such a document; the message says what is wrong and where.
    """
    try:
        return _decode(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno} column {error.colno}" if "\n" in text else f"column {error.colno}"
        raise ValueError(f"{place}: {error.msg}; perhaps cut off") from error
    except ValueError as error:
        if isinstance(error, _Repeated):
            raise
        # https://docs.python.org/3/library/stdtypes.html#int-max-str-digits
        raise ValueError("a number of thousands of digits") from error
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def read_json(file: TextFile, remedy: str = "fetch or write it again") -> Any:
    """Parse a file that is one JSON document; `remedy` is for a file that is not.

    Raises:
        BadInput: it is not JSON, or an object has a key twice.
    """
    try:
        return parse_json(file.text)
    except ValueError as error:
        refuse(file.path, f"not valid JSON ({error})", remedy)


def read_table(file: TextFile, separator: str) -> tuple[list[str], list[tuple[int, dict[str, str]]]]:
    """Return the header of a CSV file, and its rows by the numbers of their first lines.

    Raises:
        BadInput: it is no CSV, has another separator, a column twice, or a row with other cells.
    """
    csv.field_size_limit(max(csv.field_size_limit(), len(file.encoded)))  # a cell may be the whole file
    reader = csv.reader(io.StringIO(file.text, newline=""), delimiter=separator, strict=True)
    rows: list[tuple[int, list[str]]] = []
    number = 1
    try:
        for row in reader:
            if row:
                rows.append((number, row))
            number = reader.line_num + 1
    except csv.Error as error:
        refuse(file.path, f"line {reader.line_num}: not valid CSV ({error})", "write it as RFC 4180 says")
    head = [name.strip() for name in rows[0][1]]
    other = next((one for one in ",;\t|" if len(head) == 1 and one in head[0]), None)
    if other is not None:
        said = "tabs" if separator == "\t" else "commas, or by tabs and call it .tsv"
        refuse(file.path, f"its header is separated by {other!r}", f"separate columns by {said}")
    if len({name.casefold() for name in head}) < len(head):
        refuse(file.path, "its header has a column twice", "name each once")
    faults = Faults(file.path, "line")
    for line, row in rows[1:]:
        if len(row) != len(head):
            remedy = "write a cell for each column, in double quotes where it has a comma or a line break"
            faults.add(
                f"{line} ({len(row)} cells, {len(head)} columns)", "not as many cells as columns", remedy
            )
    faults.stop()
    return head, [(line, dict(zip(head, row, strict=True))) for line, row in rows[1:]]


def read_json_lines(file: TextFile) -> list[tuple[int, dict[str, Any]]]:
    """Parse a file with one JSON object in each line that isn't blank; lines are numbered from 1.

    Raises:
        BadInput: a line is not a JSON object.
    """
    faults = Faults(file.path, "line")
    records: list[tuple[int, dict[str, Any]]] = []
    for number, line in enumerate(file.lines(), start=1):
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
    """Return JSON's name for a parsed value's type, with its article."""
    names = {dict: "an object", list: "an array", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        repeated = [key for key, count in Counter(key for key, _ in pairs).items() if count > 1]
        more = ", ..." if len(repeated) > _SHOWN else ""
        shown = ", ".join(brief(repr(key)) for key in repeated[:_SHOWN])
        raise _Repeated(f"repeated in one object: key {shown}{more}")
    return record


class _Repeated(ValueError):
    """An object has a key twice."""


_encode = json.JSONEncoder(ensure_ascii=False, check_circular=False).encode
_decode = json.JSONDecoder(object_pairs_hook=_object).decode


def locked(folder: Path) -> int:
    """Return a descriptor that locks a folder against other writing processes until it is closed.

    Raises:
        BadInput: another process is writing it.
        OSError: there is no such folder.
    """
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        refuse(folder, "another process is writing it", "wait until it ends, or stop it")
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write a JSON document, as `replace` does."""
    replace(path, as_json(content, indent=2) + "\n")


def as_json(content: Any, indent: int | None = None) -> str:
    """Return a JSON document; non-ASCII characters are escaped only if a text is not valid in UTF-8."""
    text = _encode(content) if indent is None else json.dumps(content, indent=indent, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(content, indent=indent)
    return text


def ascii_json(content: Any, *, is_compact: bool = False, is_sorted: bool = False) -> str:
    """Return a JSON document in one line, with an escape for whatever is not ASCII.

    Args:
        content: plain values.
        is_compact: without blanks.
        is_sorted: the members of objects by their names.
    """
    return json.dumps(content, separators=(",", ":") if is_compact else None, sort_keys=is_sorted)


def printable_json(content: Any) -> str:
    """Return a JSON document with characters that do not print as escapes, so that nothing is lost."""
    text = json.dumps(content, indent=2, ensure_ascii=False)
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)


def content_digest(content: Any) -> str:
    """Return the SHA-256 of plain JSON values, independent of the order of members."""
    return hashlib.sha256(ascii_json(content, is_sorted=True).encode()).hexdigest()


def replace(path: Path, text: str | Iterable[str]) -> None:
    """Write a file, a text or its parts; a reader sees either the old or the new one, never a part."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with open(descriptor, "w", encoding="utf-8") as file:  # noqa: PTH123 - it is open already
            file.writelines((text,) if isinstance(text, str) else text)
        os.chmod(name, 0o644)  # noqa: PTH101 - a temporary file is private, a result is not
        os.replace(name, path)  # noqa: PTH105 - the name is a string
    except BaseException:
        with suppress(OSError):
            os.unlink(name)  # noqa: PTH108 - the same
        raise


def point(link: Path, target: str) -> None:
    """Make `link` a symbolic link to `target` in the same folder, unless something else has its name."""
    if link.is_symlink() or not link.exists():
        fresh = link.with_name(f".{link.name}.{target}")
        fresh.symlink_to(target, target_is_directory=True)
        fresh.replace(link)


def write_folder_of(parent: Path, kind: str, files: Mapping[str, str]) -> Path:
    """Write files into a new folder `<kind>-<time>-<digits>` below `parent`, all or nothing.

    Raises:
        BadInput: the folder can't be written.
    """
    name = f"{kind}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"
    unfinished, path = parent / f".{name}", parent / name
    try:
        unfinished.mkdir(parents=True)
        for file_name, text in files.items():
            (unfinished / file_name).write_text(text, encoding="utf-8")
        os.replace(unfinished, path)  # noqa: PTH105 - the one call that is atomic on every system
    except OSError as error:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise BadInput(
            f"--out {parent}: {kind} cannot be written there ({error.strerror}); choose another folder"
        ) from error
    return path
