"""Unpacking a zip file from a stranger: everything it says is checked before the first byte is written.

Nothing is written outside the folder given. Links, devices, encrypted entries and names that mean different
things on different systems are refused, and so is what unpacks to more than any published package does.
"""

import lzma
import shutil
import stat
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from dialects.errors import BadInput
from loaders.base.errors import said
from loaders.base.files import Faults, refuse

_BLOCK = 1 << 20
_ENCRYPTED = 0x1
"""Bit of the general purpose flags, https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT 4.4.4"""
_LONGEST_NAME = 255
_FINDERS = frozenset({"__MACOSX", ".DS_Store"})
_AGAIN = "fetch it again from its official place"
_DAMAGED = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, ValueError, RuntimeError,
)  # fmt: skip
"""What the standard library raises for zip files that are damaged or compressed by a method it lacks."""


_Entry = tuple[zipfile.ZipInfo, tuple[str, ...]]
"""An entry and the parts of its path."""


@dataclass(frozen=True)
class Limits:
    """What an archive may unpack to: several times what the largest published package does."""

    entries: int = 50_000
    bytes: int = 16 * 2**30
    ratio: int = 100
    """Bytes unpacked per byte of the archive."""


@dataclass(frozen=True)
class Unpacked:
    """What was written."""

    entries: int
    bytes: int


def unpack(
    archive: Path, folder: Path, advance: Callable[[int, int], None], limits: Limits | None = None
) -> Unpacked:
    """Unpack `archive` into `folder`, which is made if it is not there.

    What Finder adds (`__MACOSX`, `.DS_Store`) is left out. A failure leaves files behind: unpack into a
    folder that can be thrown away.

    Args:
        archive: a zip file.
        folder: where to; nothing in it is overwritten.
        advance: told how many bytes of how many have been written.
        limits: what is too much.

    Raises:
        BadInput: it is no zip file, damaged, hostile or too large, or the disk is full.
    """
    try:
        with zipfile.ZipFile(archive) as opened:
            entries = _checked(archive, opened.infolist(), limits or Limits())
            total = sum(entry.file_size for entry, _ in entries)
            _check_room(archive, folder, total)
            done = 0
            for entry, parts in entries:
                target = folder.joinpath(*parts)
                if _is_folder(entry):
                    target.mkdir(parents=True, exist_ok=True)
                    continue
                target.parent.mkdir(parents=True, exist_ok=True)
                with opened.open(entry) as source, target.open("xb") as file:
                    while block := source.read(_BLOCK):
                        file.write(block)
                        done += len(block)
                        advance(done, total)
    except _DAMAGED as error:
        refuse(archive, f"is damaged or no zip file ({error})", _AGAIN)
    except OSError as error:
        raise BadInput(f"{archive}: cannot be unpacked into {folder} ({said(error)})") from error
    if done != total:
        refuse(archive, f"holds {done} bytes where its directory says {total}", _AGAIN)
    return Unpacked(len(entries), total)


def _checked(archive: Path, entries: list[zipfile.ZipInfo], limits: Limits) -> list[_Entry]:
    """The entries that are to be written, each with the parts of its path.

    Raises:
        BadInput: one of them is not harmless, or they are too many or too large.
    """
    if len(entries) > limits.entries:
        refuse(archive, f"has {len(entries)} entries, over {limits.entries}", _AGAIN)
    faults = Faults(archive, "entry")
    kept = [(entry, tuple(entry.filename.removesuffix("/").split("/"))) for entry in entries]
    kept = [(entry, parts) for entry, parts in kept if not _FINDERS & {parts[0], parts[-1]}]
    files = Counter(parts for entry, parts in kept if not _is_folder(entry))
    for entry, parts in kept:
        name = repr(entry.orig_filename)
        for fault in _faults(entry, parts):
            faults.add(name, fault, _AGAIN)
        if files[parts] > 1 or (_is_folder(entry) and parts in files):
            faults.add(name, "occurs twice", _AGAIN)
        if any(parts[:depth] in files for depth in range(1, len(parts))):
            faults.add(name, "is inside a file", _AGAIN)
    faults.stop()
    total = sum(entry.file_size for entry, _ in kept)
    if total > limits.bytes:
        refuse(archive, f"unpacks to {total:,} bytes, over {limits.bytes:,}", _AGAIN)
    if total > limits.ratio * archive.stat().st_size:
        refuse(archive, f"unpacks to over {limits.ratio} times its size", _AGAIN)
    return kept


def _is_folder(entry: zipfile.ZipInfo) -> bool:
    """`ZipInfo.is_dir`, which cannot take an empty name."""
    return entry.filename.endswith("/")


def _faults(entry: zipfile.ZipInfo, parts: tuple[str, ...]) -> Iterator[str]:
    """What is wrong with an entry by itself."""
    name = entry.orig_filename
    if name.startswith("/") or name[1:2] == ":":
        yield "has an absolute path"
    elif ".." in parts:
        yield "leads out of the folder"
    elif not {"", "."}.isdisjoint(parts) or "\\" in name or not name.isprintable():
        yield "has a name that systems read differently"
    if max(len(part.encode()) for part in parts) > _LONGEST_NAME:
        yield "has too long a name"
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind == stat.S_IFLNK:
        yield "is a link"
    elif kind not in {0, stat.S_IFREG, stat.S_IFDIR}:
        yield "is neither a file nor a folder"
    if _is_folder(entry) and entry.file_size:
        yield "is a folder with content"
    if entry.flag_bits & _ENCRYPTED:
        yield "is encrypted"


def _check_room(archive: Path, folder: Path, needed: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise BadInput(f"{archive}: unpacks to {needed:,} bytes, but {folder} has {free:,} free; make room")
