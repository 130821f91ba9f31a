"""Getting a large archive, and unpacking it: both trust nothing that a server or a stranger says.

What has arrived of a download is kept, and one that broke off goes on from there. What is continued is the
same file: the server is asked for the rest on condition that nothing has changed
(https://www.rfc-editor.org/rfc/rfc9110#name-if-range), and its answer is checked against that. Proxies are
those of the environment (https://requests.readthedocs.io/en/latest/user/advanced/#proxies).

Everything that a zip file says is checked before the first byte is written. Nothing is written outside the
folder given. Links, devices, encrypted entries and names that mean different things on different systems are
refused, and so is what unpacks to more than any published package does.
"""

import lzma
import re
import shutil
import stat
import time
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Self

import requests
import urllib3
from urllib3.exceptions import IncompleteRead

from dialects.errors import BadInput
from loaders.base.errors import said
from loaders.base.files import Faults, as_json, one_line, parse_json, refuse
from loaders.base.records import to_record


@dataclass(frozen=True)
class Origin:
    """A file as a server names it: the one whose bytes have arrived so far, noted beside them."""

    url: str
    validator: str | None
    """Strong ETag or date of the last change; None where the server names neither."""
    total: int | None

    @classmethod
    def of(cls, url: str, response: requests.Response) -> Self:
        """The file that an answer to a request for `url` brings."""
        tag = response.headers.get("ETag", "")
        validator = tag if tag.startswith('"') else response.headers.get("Last-Modified")
        length = response.headers.get("Content-Length", "")
        return cls(url, validator, int(length) if length.isdecimal() else None)

    @classmethod
    def read(cls, path: Path, url: str) -> Self | None:
        """What an earlier attempt at the same address left, if it can be continued."""
        try:
            found = to_record(cls, parse_json(path.read_text(encoding="utf-8")))
        except (OSError, ValueError):
            return None
        return found if found.url == url and found.validator else None

    def write(self, path: Path) -> None:
        """Note it for `read`."""
        path.write_text(as_json(asdict(self)), encoding="utf-8")


PAUSES = (1.0, 3.0, 6.0)
"""Seconds before each new attempt; counted anew whenever something has arrived."""

_SECONDS = (15, 60)
"""For connecting, and between two pieces of the answer."""
_BLOCK = 1 << 20
_TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504})
_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")


DownloadProgress = Callable[[str, int, int | None], None]
"""Told how far something is: what, how many bytes are there, and of how many, if that is known."""


@dataclass(frozen=True)
class Wanted:
    """A file to be had by http or https."""

    url: str
    size: int | None = None
    """How many bytes it has to have; if the server announces others, none are fetched."""
    limit: int = 16 * 2**30
    """The most bytes that are accepted."""


class Unreachable(BadInput):
    """The file cannot be had from where it should be."""


class _Broken(Exception):
    """The transfer ended early; another attempt may go on."""


def download(wanted: Wanted, to: Path, progress: DownloadProgress, pauses: Sequence[float] = PAUSES) -> None:
    """Download a file to `to`, which then is whole; until then its bytes are in `to` with `.part` added.

    Args:
        wanted: what.
        to: in a folder that is there. One process at a time.
        progress: told after every piece.
        pauses: seconds to wait between attempts that bring nothing.

    Raises:
        Unreachable: there is no way to the server, it does not have the file, or breaks off again and again.
        BadInput: the file has another size, or the disk is full.
    """
    part = to.with_name(f"{to.name}.part")
    left = list(pauses)
    with requests.Session() as session:
        while True:
            before = _bytes(part)
            try:
                _transfer(session, wanted, part, progress)
            except _Broken as error:
                left = list(pauses) if _bytes(part) > before else left
                if not left:
                    raise Unreachable(one_line(f"{wanted.url}: {error}")) from error
                time.sleep(left.pop(0))
            except OSError as error:
                raise BadInput(f"{part}: cannot be written ({said(error)})") from error
            else:
                break
    part.replace(to)
    _notes(part).unlink(missing_ok=True)


def _transfer(session: requests.Session, wanted: Wanted, part: Path, progress: DownloadProgress) -> None:
    """One attempt.

    Raises:
        _Broken: another one may succeed.
    """
    url = wanted.url
    origin = Origin.read(_notes(part), url)
    have = _bytes(part) if origin else 0
    if origin and have and have == origin.total:
        return
    headers = {"Accept-Encoding": "identity", "User-Agent": "bird-harness"}
    if origin and origin.validator and have:
        headers |= {"Range": f"bytes={have}-", "If-Range": origin.validator}
    try:
        with session.get(url, headers=headers, stream=True, timeout=_SECONDS) as response:
            if origin and have and response.status_code == HTTPStatus.PARTIAL_CONTENT:
                _check_rest(response, origin, have, part)
            else:
                _check_whole(response, part)
                origin, have = Origin.of(url, response), 0
                part.write_bytes(b"")
                origin.write(_notes(part))
            _check_size(wanted, part, origin.total, have)
            _receive(response, wanted, part, origin.total, progress)
    except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
        raise _Broken(_reason(error)) from error
    if origin.total not in {None, _bytes(part)}:
        raise _Broken(f"sent {_bytes(part):,} bytes where it announced {origin.total:,}")


def _receive(
    response: requests.Response, wanted: Wanted, part: Path, total: int | None, progress: DownloadProgress
) -> None:
    done = _bytes(part)
    progress(part.stem, done, total)
    with part.open("ab") as file:
        for block in response.raw.stream(_BLOCK, decode_content=False):
            done += len(block)
            if done > wanted.limit:
                _forget(part)
                raise BadInput(f"{wanted.url}: sends over {wanted.limit:,} bytes; no published package does")
            file.write(block)
            progress(part.stem, done, total)


def _check_rest(response: requests.Response, origin: Origin, have: int, part: Path) -> None:
    """Start again if this is not the rest of what has arrived."""
    found = _RANGE.fullmatch(response.headers.get("Content-Range", ""))
    current = Origin.of(origin.url, response).validator
    right_place = found is not None and int(found[1]) == have
    same_size = found is not None and (found[2] == "*" or origin.total in {None, int(found[2])})
    if not (right_place and same_size and current in {None, origin.validator}):
        _forget(part)
        raise _Broken("changed while it was downloaded")


def _check_whole(response: requests.Response, part: Path) -> None:
    status = response.status_code
    said = f"answers HTTP {status} {response.reason}"
    if status == HTTPStatus.OK:
        if response.headers.get("Content-Encoding", "identity") != "identity":
            raise Unreachable(f"{response.url}: is sent compressed, although it was asked for as it is")
        return
    if status == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
        _forget(part)
        raise _Broken(said)
    if status in _TRANSIENT:
        raise _Broken(said)
    raise Unreachable(one_line(f"{response.url}: {said}"))


def _check_size(wanted: Wanted, part: Path, total: int | None, have: int) -> None:
    if total is None:
        return
    if wanted.size is not None and total != wanted.size:
        _forget(part)
        raise BadInput(
            f"{wanted.url}: has {total:,} bytes, the package that is known has {wanted.size:,}; if there is a"
            " new one, --allow-unknown takes it"
        )
    if total > wanted.limit:
        _forget(part)
        raise BadInput(f"{wanted.url}: has {total:,} bytes; no published package has over {wanted.limit:,}")
    left, free = total - have, shutil.disk_usage(part.parent).free
    if left > free:
        raise BadInput(f"{wanted.url}: {left:,} bytes are to come, but {part.parent} has {free:,} free")


def _reason(error: Exception) -> str:
    """The innermost cause, which names the fault; the outer ones repeat the address."""
    while (inner := error.__cause__ or error.__context__) and isinstance(inner, Exception):
        error = inner
    if isinstance(error, IncompleteRead):
        return f"broke off after {error.partial:,} bytes, with {error.expected:,} to come"
    return str(error) or type(error).__name__


def _bytes(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def _notes(part: Path) -> Path:
    return part.with_name(f"{part.name}.json")


def _forget(part: Path) -> None:
    for path in (_notes(part), part):
        path.unlink(missing_ok=True)


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
