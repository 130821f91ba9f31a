"""Download and unpack large archives, trusting neither servers nor archives.

An interrupted download keeps what has arrived and resumes from there. It resumes only the same file: the rest
is requested on condition that nothing has changed (https://www.rfc-editor.org/rfc/rfc9110#name-if-range), and
the answer is checked against that. Proxies are those of the environment
(https://requests.readthedocs.io/en/latest/user/advanced/#proxies).

A zip file's whole directory is checked before the first byte is written. Nothing is written outside the given
folder. Links, devices, encrypted entries, methods of compression that take any memory, and names that
systems read differently are refused, and so is an archive that unpacks to more than any published package
does.
"""

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
class DownloadOrigin:
    """The identity of a partly downloaded file at its server, recorded next to its bytes."""

    url: str
    validator: str | None
    """Strong ETag or date of the last change; None if the server sends neither."""
    total: int | None

    @classmethod
    def of(cls, url: str, response: requests.Response) -> Self:
        """Identify the file in a response to a request for `url`."""
        tag = response.headers.get("ETag", "")
        validator = tag if tag.startswith('"') else response.headers.get("Last-Modified")
        length = response.headers.get("Content-Length", "")
        return cls(url, validator, int(length) if length.isdecimal() else None)

    @classmethod
    def read(cls, path: Path, url: str) -> Self | None:
        """Read what an earlier attempt at the same address recorded, if it can be resumed."""
        try:
            found = to_record(cls, parse_json(path.read_text(encoding="utf-8")))
        except (OSError, ValueError):
            return None
        return found if found.url == url and found.validator else None

    def write(self, path: Path) -> None:
        """Record it for `read`."""
        path.write_text(as_json(asdict(self)), encoding="utf-8")


PAUSES = (1.0, 3.0, 6.0)
"""Seconds before each new attempt; starts over whenever something has arrived."""

_SECONDS = (15, 60)
"""Timeouts for connecting, and between two pieces of the answer."""
_BLOCK = 1 << 20
_TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504})
_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")


DownloadProgress = Callable[[str, int, int | None], None]
"""Called with a name, the bytes done, and the total if known."""


@dataclass(frozen=True)
class Download:
    """A file to download by http or https."""

    url: str
    size: int | None = None
    """Its size in bytes; if the server announces another, nothing is fetched."""
    limit: int = 16 * 2**30
    """Maximum bytes that are accepted."""


class Unreachable(BadInput):
    """The file cannot be fetched from its address."""


class _Broken(Exception):
    """The transfer ended early; another attempt may resume it."""


def download(
    wanted: Download, to: Path, progress: DownloadProgress, pauses: Sequence[float] = PAUSES
) -> None:
    """Download a file to `to`, which is then complete; until then its bytes are in `to` with `.part` added.

    Args:
        wanted: the file.
        to: in an existing folder. One process at a time.
        progress: called after every piece.
        pauses: seconds to wait between attempts that fetch nothing.

    Raises:
        Unreachable: the server is unreachable, does not have the file, or repeatedly breaks off.
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


def _transfer(session: requests.Session, wanted: Download, part: Path, progress: DownloadProgress) -> None:
    """Make one attempt.

    Raises:
        _Broken: another one may succeed.
    """
    url = wanted.url
    origin = DownloadOrigin.read(_notes(part), url)
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
                origin, have = DownloadOrigin.of(url, response), 0
                part.write_bytes(b"")
                origin.write(_notes(part))
            _check_size(wanted, part, origin.total, have)
            _receive(response, wanted, part, origin.total, progress)
    except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
        raise _Broken(_reason(error)) from error
    if origin.total not in {None, _bytes(part)}:
        raise _Broken(f"sent {_bytes(part):,} bytes where it announced {origin.total:,}")


def _receive(
    response: requests.Response, wanted: Download, part: Path, total: int | None, progress: DownloadProgress
) -> None:
    done = _bytes(part)
    progress(part.stem, done, total)
    with part.open("ab") as file:
        for block in response.raw.stream(_BLOCK, decode_content=False):
            done += len(block)
            if done > wanted.limit:
                _forget(part)
                raise BadInput(f"{wanted.url}: over {wanted.limit:,} bytes; no published package is so large")
            file.write(block)
            progress(part.stem, done, total)


def _check_rest(response: requests.Response, origin: DownloadOrigin, have: int, part: Path) -> None:
    """Start again if the response is not the rest of what has arrived."""
    found = _RANGE.fullmatch(response.headers.get("Content-Range", ""))
    current = DownloadOrigin.of(origin.url, response).validator
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
            raise Unreachable(f"{response.url}: the server compresses it against the request")
        return
    if status == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
        _forget(part)
        raise _Broken(said)
    if status in _TRANSIENT:
        raise _Broken(said)
    raise Unreachable(one_line(f"{response.url}: {said}"))


def _check_size(wanted: Download, part: Path, total: int | None, have: int) -> None:
    if total is None:
        return
    if wanted.size is not None and total != wanted.size:
        _forget(part)
        raise BadInput(
            f"{wanted.url}: {total:,} bytes, but the known package has {wanted.size:,}; if there is a"
            " new one, accept it with --allow-unknown"
        )
    if total > wanted.limit:
        _forget(part)
        raise BadInput(f"{wanted.url}: {total:,} bytes; no published package has over {wanted.limit:,}")
    left, free = total - have, shutil.disk_usage(part.parent).free
    if left > free:
        raise BadInput(f"{wanted.url}: {left:,} bytes remain, but {part.parent} has {free:,} free")


def _reason(error: Exception) -> str:
    """Return the innermost cause, which names the fault; the outer ones repeat the address."""
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
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""As the published packages are packed.

An entry that is packed by LZMA decides how much memory unpacking it takes: its dictionary may have 4 GiB.
"""
_LONGEST_NAME = 255
_FINDERS = frozenset({"__MACOSX", ".DS_Store"})
_AGAIN = "fetch it again from its official place"
_DAMAGED = (
    zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError, RuntimeError,
)  # fmt: skip
"""Raised by the standard library for zip files that are damaged or use a method it lacks."""


_Entry = tuple[zipfile.ZipInfo, tuple[str, ...]]
"""An entry and the parts of its path."""


@dataclass(frozen=True)
class UnpackLimits:
    """Limits on unpacking: several times the size of the largest published package."""

    entries: int = 50_000
    bytes: int = 16 * 2**30
    ratio: int = 100
    """Bytes unpacked per byte of the archive."""


@dataclass(frozen=True)
class Unpacked:
    """What `unpack` has written."""

    entries: int
    bytes: int


def unpack(
    archive: Path, folder: Path, advance: Callable[[int, int], None], limits: UnpackLimits | None = None
) -> Unpacked:
    """Unpack `archive` into `folder`, which is created if missing.

    Finder's additions (`__MACOSX`, `.DS_Store`) are skipped. A failure leaves files behind: unpack into a
    temporary folder.

    Args:
        archive: a zip file.
        folder: the target; nothing in it is overwritten.
        advance: called with the bytes written and the total.
        limits: limits on size and number.

    Raises:
        BadInput: it is not a zip file, damaged, hostile or too large, or the disk is full.
    """
    try:
        with zipfile.ZipFile(archive) as opened:
            entries = _checked(archive, opened.infolist(), limits or UnpackLimits())
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
        refuse(archive, f"damaged, or not a zip file ({error})", _AGAIN)
    except OSError as error:
        raise BadInput(f"{archive}: cannot be unpacked into {folder} ({said(error)})") from error
    if done != total:
        refuse(archive, f"holds {done} bytes where its directory says {total}", _AGAIN)
    return Unpacked(len(entries), total)


def _checked(archive: Path, entries: list[zipfile.ZipInfo], limits: UnpackLimits) -> list[_Entry]:
    """Return the entries to write, each with the parts of its path.

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
    """Yield the faults of a single entry."""
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
    if entry.compress_type not in _METHODS:
        yield "is compressed by another method than deflate"


def _check_room(archive: Path, folder: Path, needed: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise BadInput(f"{archive}: unpacks to {needed:,} bytes, but {folder} has {free:,} free; make room")
