"""Cache computed values for later runs: bytes by key, in one SQLite file.

Nothing depends on it: if anything is wrong with the store, the disk or permissions, values are computed
again, and one message says so. A value is returned only if it is, to the last bit, the one stored under its
key.

A file that is not a store of this project is neither written nor removed, wherever `BIRD_STORE` points. A
store is recognized by its header, so that no other file is opened as a database.

In WAL mode processes can read while one writes. With `synchronous=NORMAL` a crash of the machine can lose the
last values, which can be computed again, but never corrupts the file: https://sqlite.org/wal.html.
"""

import os
import secrets
import sqlite3
import stat
import time
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from enum import IntEnum
from itertools import chain, count, islice
from pathlib import Path
from threading import RLock
from typing import Self

from filelock import FileLock

from dialects.errors import BadInput
from loaders.base import paths
from loaders.base.files import one_line

BUSY_SECONDS = 10.0
"""How long a process waits for the lock to write."""

_OURS = 0x42495244
"""The file's `application_id`, https://sqlite.org/pragma.html#pragma_application_id."""
_VERSION = 1
_KEPT_SHARE = 0.8
"""Share of the allowed size left after an eviction: so evictions are rare, and of many entries at a time."""
_WAL_BYTES = 16 * 2**20
_WAL_PAGES = _WAL_BYTES // 4096
"""Size of the journal before it is copied to the file; pages that change often are copied once."""
_PAGES_KIBIBYTES = 32 * 1024
"""Memory for pages; SQLite's default of 2 MB is too little for keys spread over the whole file."""
_ENTRY_BYTES = 80
"""Approximate size of an entry without its value."""

_SCHEMA = f"""
BEGIN IMMEDIATE;
CREATE TABLE entries (id INTEGER PRIMARY KEY, key BLOB NOT NULL, kind INTEGER NOT NULL,
                      used INTEGER NOT NULL, size INTEGER NOT NULL);
CREATE TABLE contents (id INTEGER PRIMARY KEY, checksum INTEGER NOT NULL, value BLOB NOT NULL);
PRAGMA application_id = {_OURS};
PRAGMA user_version = {_VERSION};
COMMIT;
"""


_HEADER_BYTES = 100
_MAGIC = b"SQLite format 3\0"
_IDENTITY = slice(68, 72)
"""Position of the `application_id` in the header, https://sqlite.org/fileformat.html#application_id."""

_JOURNALS = {
    "-wal": (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83"),
    "-shm": (b"\x18\xe2\x2d\x00", b"\x00\x2d\xe2\x18"),
    "-journal": (b"\xd9\xd5\x05\xf9",),
}
"""Suffixes of SQLite's journals, and how such files begin.

https://sqlite.org/walformat.html, https://sqlite.org/fileformat.html#the_rollback_journal
"""

_FOREIGN = "some other file"
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class UnusableStore(Exception):
    """A store of this project cannot be used: it is damaged, or of an earlier version."""


class NewerStore(UnusableStore):
    """A store of a later version, which that version can use again."""

    def __init__(self, version: int) -> None:
        super().__init__(f"it is of version {version}, not {_VERSION}")
        self.version = version


def is_there(path: Path) -> bool:
    """True if a store of this project is at `path`, usable or not; also False for an empty file.

    Raises:
        BadInput: something else is there, or where its journals would be.
        OSError: it cannot be examined.
    """
    head = _head(path, path)
    if head:
        if head.startswith(_MAGIC) and head[_IDENTITY] == _OURS.to_bytes(4, "big"):
            return True
        raise _refusal(path, path, "another program's database" if head.startswith(_MAGIC) else _FOREIGN)
    for suffix, beginnings in _JOURNALS.items():
        beside = path.with_name(path.name + suffix)
        if (left := _head(beside, path)).strip(b"\0") and not left.startswith(beginnings):
            raise _refusal(beside, path, _FOREIGN)
    return False


def _head(file: Path, store: Path) -> bytes:
    """Return the beginning of `file`; empty if there is none."""
    try:
        mode = file.stat().st_mode
    except FileNotFoundError:
        return b""
    if not stat.S_ISREG(mode):
        raise _refusal(file, store, _KINDS.get(stat.S_IFMT(mode), _FOREIGN))
    with file.open("rb") as opened_file:
        return opened_file.read(_HEADER_BYTES)


def _refusal(file: Path, store: Path, what: str) -> BadInput:
    place = "where a journal of the store would be" if file != store else "and not bird-harness's store"
    remedy = "set BIRD_STORE to another file"
    if what == _FOREIGN:
        remedy += ", or remove this one if it is not needed"
    return BadInput(one_line(f"{file}: {what}, {place}; it is left unchanged; {remedy}"))


def opened(path: Path) -> sqlite3.Connection:
    """Return a connection to the store at `path`, created if missing; for all threads, one at a time.

    Raises:
        BadInput: something else is there.
        UnusableStore: it should be discarded.
        OSError, sqlite3.Error: it cannot be used.
    """
    if not is_there(path):
        _make(path)
    connection = sqlite3.connect(
        path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=256
    )
    try:
        _prepare(connection, path)
    except BaseException as error:
        connection.close()
        if isinstance(error, sqlite3.DatabaseError) and is_broken(error):
            raise UnusableStore(f"damaged ({error})") from error
        raise
    return connection


def _make(path: Path) -> None:
    """Create an empty store, completely or not at all."""
    real = path.resolve()
    fresh = real.with_name(f".{real.name}.{secrets.token_hex(4)}")
    try:
        with closing(sqlite3.connect(fresh, isolation_level=None)) as connection:
            # Takes effect only on a new file, and only as the first statement.
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
            connection.execute("PRAGMA journal_mode = WAL").fetchall()
            connection.executescript(_SCHEMA)
        for suffix in _JOURNALS:
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        fresh.replace(real)
    except BaseException:
        with suppress(OSError):
            _unlink(fresh)
        raise


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    version = _number(connection, "user_version")
    if version > _VERSION:
        raise NewerStore(version)
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not tables <= {"entries", "contents"}:
        raise _refusal(path, path, "another program's database")
    if version != _VERSION:
        raise UnusableStore(f"it is of version {version}, not {_VERSION}")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute(f"PRAGMA wal_autocheckpoint = {_WAL_PAGES}").fetchall()
    connection.execute(f"PRAGMA cache_size = -{_PAGES_KIBIBYTES}")
    connection.execute(f"PRAGMA journal_size_limit = {_WAL_BYTES}").fetchall()
    # No code in the file's schema is run: https://sqlite.org/security.html.
    connection.execute("PRAGMA trusted_schema = OFF")
    try:
        connection.execute("SELECT id, key, kind, used, size FROM entries LIMIT 0")
        connection.execute("SELECT id, checksum, value FROM contents LIMIT 0")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_ERROR:
            raise
        raise UnusableStore(str(error)) from error


def is_broken(error: Exception) -> bool:
    """True if SQLite reports that a file is damaged or not a database."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def is_busy(error: Exception) -> bool:
    """True if other processes locked the file for too long."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


def discard(path: Path) -> None:
    """Remove a store of this project, with its journals; nothing else.

    Processes that have it open continue with the removed file.

    Raises:
        BadInput: something else is there.
        OSError: it cannot be removed.
    """
    if is_there(path):
        _unlink(path)


def keep_aside(path: Path, version: int) -> Path:
    """Rename a store of a later version, with its journals, to a name that is free; return it.

    Processes that have it open continue with the renamed file.

    Raises:
        OSError: it cannot be renamed.
    """
    names = (f"{path.name}.version-{version}{again}" for again in chain([""], (f"-{n}" for n in count(2))))
    aside = next(each for each in map(path.with_name, names) if not each.exists())
    for suffix in ("", *_JOURNALS):
        with suppress(FileNotFoundError):
            path.with_name(path.name + suffix).rename(aside.with_name(aside.name + suffix))
    return aside


def _unlink(path: Path) -> None:
    for suffix in (*_JOURNALS, ""):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Write everything in the `with` block, or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def bound(connection: sqlite3.Connection, most_bytes: int) -> None:
    """Drop the least recently used entries, if the file has become too large.

    Their pages are used again; those beyond `most_bytes` are returned to the disk.
    """
    if _used_bytes(connection) > most_bytes:
        with transaction(connection):
            _evict(connection, int(most_bytes * _KEPT_SHARE))
    page = _number(connection, "page_size")
    if (over := _number(connection, "page_count") - most_bytes // page) > 0:
        vacuum(connection, over)


def vacuum(connection: sqlite3.Connection, pages: int = 0) -> None:
    """Return free pages to the disk, by default all of them."""
    # It must be stepped through, although it returns no rows: `execute` would stop after one page.
    connection.executescript(f"PRAGMA incremental_vacuum({pages});")


def _evict(connection: sqlite3.Connection, goal: int) -> None:
    while (used := _used_bytes(connection)) > goal:
        [total] = connection.execute("SELECT total(size + ?) FROM entries", (_ENTRY_BYTES,)).fetchone()
        if not total:
            return
        # Pages are never completely full: dropping an entry frees more than its size.
        excess = (used - goal) * total / used
        leaving: list[tuple[int]] = []
        for identity, size in connection.execute("SELECT id, size FROM entries ORDER BY used"):
            leaving.append((identity,))
            excess -= size + _ENTRY_BYTES
            if excess <= 0:
                break
        connection.executemany("DELETE FROM entries WHERE id = ?", leaving)
        connection.executemany("DELETE FROM contents WHERE id = ?", leaving)


def _used_bytes(connection: sqlite3.Connection) -> int:
    pages = _number(connection, "page_count") - _number(connection, "freelist_count")
    return pages * _number(connection, "page_size")


def on_disk(path: Path) -> int:
    """Return the bytes of the file and its journal."""
    size = 0
    for name in (path.name, f"{path.name}-wal"):
        with suppress(OSError):
            size += path.with_name(name).stat().st_size
    return size


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])


MOST_BYTES = 2_000_000_000
"""Greatest size of the file if `BIRD_STORE_BYTES` is not set."""
_LEAST_BYTES = 1_000_000
_COARSE_SECONDS = 24 * 3600
"""Age of an entry's last use before reading updates it: so reading rarely writes."""
_BATCH = 500

_GET = "SELECT key, used, checksum, value FROM entries JOIN contents USING (id) WHERE id IN ({})"


class EntryKind(IntEnum):
    """The kind of an entry, used only to count entries."""

    EXECUTION = 1
    JUDGEMENT = 2
    DIGEST = 3


@dataclass(frozen=True)
class KindShare:
    """The number of entries of one kind, and the bytes of their values."""

    entries: int
    bytes: int


@dataclass(frozen=True)
class StoreStatistics:
    """The contents of the store: the share of each kind, the size of its files, and their greatest size.

    `oldest` and `newest` are times of last use, in seconds since 1970, exact to a day; None if it is empty.
    """

    kinds: Mapping[EntryKind, KindShare]
    file_bytes: int
    most_bytes: int
    oldest: float | None
    newest: float | None

    @property
    def entries(self) -> int:
        """Number of entries of all kinds."""
        return sum(share.entries for share in self.kinds.values())


def default_path() -> Path:
    """Return the path of this user's store: `BIRD_STORE`, or a file in the cache folder."""
    return paths.chosen("BIRD_STORE") or paths.cache_path() / "store.sqlite"


def allowed_bytes() -> int:
    """Return the greatest size of the store: `BIRD_STORE_BYTES`, e.g. `500MB` or `4GiB`, or `MOST_BYTES`.

    Raises:
        BadInput: it is not a size, or less than a megabyte.
    """
    return paths.room(
        "BIRD_STORE_BYTES", MOST_BYTES, _LEAST_BYTES, ", or use --no-cache to do without the store"
    )


def _warn(message: str) -> None:
    warnings.warn(message, RuntimeWarning, stacklevel=2)


class Store:
    """Bytes by key, kept between runs; for several threads, and several processes with a `Store` each.

    Keys are digests of at least 8 bytes. The size of the file is bounded: the least recently used entries are
    dropped first. In a forked process the store is empty and stores nothing: open another one there.

    Args:
        path: the file; its folder is created. A store that is damaged or of an earlier version is replaced,
            one of a later version is renamed.
        most_bytes: the greatest size of the file, which one `put` may exceed.
        say: called with a line when a file is replaced, and once when the store stops working.

    Raises:
        BadInput: `path` is not a store; it is left unchanged.
    """

    def __init__(self, path: Path, most_bytes: int = MOST_BYTES, say: Callable[[str], None] = _warn) -> None:
        self.path = path
        self._most_bytes = most_bytes
        self._say = say
        self._lock = RLock()
        self._process = os.getpid()
        self._connection: sqlite3.Connection | None = None
        self._writes = True
        with self._guarded():
            # Checked before any file is created next to it.
            is_there(path)
            path.parent.mkdir(parents=True, exist_ok=True)
            with self._opening():
                try:
                    self._connection = opened(path)
                except NewerStore as reason:
                    aside = keep_aside(path, reason.version)
                    self._connection = opened(path)
                    say(f"{path}: {reason}; it was kept as {aside}, and an empty one is used")
                except UnusableStore as reason:
                    discard(path)
                    self._connection = opened(path)
                    say(f"{path} was not a usable store: {reason}; it was replaced by an empty one")

    def get(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """Return the stored values, by key."""
        wanted = {_identity(key): key for key in keys}
        found: dict[bytes, bytes] = {}
        long_ago = int(time.time()) - _COARSE_SECONDS
        stale: list[int] = []
        with self._guarded() as connection:
            remaining = iter(wanted)
            while connection and (batch := list(islice(remaining, _BATCH))):
                for key, used, checksum, value in connection.execute(
                    _GET.format(",".join("?" * len(batch))), batch
                ):
                    if wanted.get(_identity(key)) == key and _checksum(key, value) == checksum:
                        found[key] = value
                        if used < long_ago:
                            stale.append(_identity(key))
        if stale:
            with self._guarded(writing=True) as connection:
                if connection:
                    with transaction(connection):
                        connection.executemany(
                            "UPDATE entries SET used = ? WHERE id = ?",
                            [(int(time.time()), identity) for identity in stale],
                        )
        return found

    def put(self, values: Mapping[bytes, bytes], kind: EntryKind = EntryKind.EXECUTION) -> None:
        """Store values, all of them or none."""
        now = int(time.time())
        # Adjacent rows share pages.
        rows = sorted((_identity(key), key, value) for key, value in values.items())
        entries = [(identity, key, int(kind), now, len(value)) for identity, key, value in rows]
        contents = [(identity, _checksum(key, value), value) for identity, key, value in rows]
        if not entries:
            return
        with self._guarded(writing=True) as connection:
            if connection:
                with transaction(connection):
                    connection.executemany("INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?, ?)", entries)
                    connection.executemany("INSERT OR REPLACE INTO contents VALUES (?, ?, ?)", contents)
                bound(connection, self._most_bytes)

    def figures(self) -> StoreStatistics:
        """Return statistics of the current contents."""
        shares: dict[EntryKind, KindShare] = {}
        times: list[float] = []
        with self._guarded() as connection:
            if connection:
                for kind, entries, size, oldest, newest in connection.execute(
                    "SELECT kind, count(*), sum(size), min(used), max(used) FROM entries GROUP BY kind"
                ):
                    shares[EntryKind(kind)] = KindShare(entries, size)
                    times += [oldest, newest]
        oldest, newest = min(times, default=None), max(times, default=None)
        return StoreStatistics(shares, on_disk(self.path), self._most_bytes, oldest, newest)

    def clear(self) -> int:
        """Drop all entries and return their space to the disk; return their number."""
        dropped = 0
        with self._guarded(writing=True) as connection:
            if connection:
                with transaction(connection):
                    dropped = connection.execute("DELETE FROM entries").rowcount
                    connection.execute("DELETE FROM contents")
                vacuum(connection)
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return dropped

    def close(self) -> None:
        """Close the file; afterwards nothing is found or stored."""
        with self._lock:
            if self._connection and os.getpid() == self._process:
                self._connection.close()
                self._connection = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _opening(self) -> FileLock:
        """Return a lock under which no process removes the file while another one opens it.

        Locking empties the lock file, so its name must not be that of any other file.
        """
        return FileLock(self.path.with_name(f".{self.path.name}.bird-harness.lock"), timeout=BUSY_SECONDS)

    @contextmanager
    def _guarded(self, *, writing: bool = False) -> Iterator[sqlite3.Connection | None]:
        """Yield the connection to one thread at a time, None if unusable; an error disables the store."""
        if os.getpid() != self._process:
            yield None
            return
        with self._lock:
            try:
                yield self._connection if self._writes or not writing else None
            except (sqlite3.Error, OSError, UnusableStore, TypeError, ValueError) as error:
                self._failed(error, writing=writing)

    def _failed(self, error: Exception, *, writing: bool) -> None:
        """Stop writing, or disable the store; a broken file is removed."""
        broken = is_broken(error) or isinstance(error, TypeError | ValueError)
        if self._connection and is_busy(error):
            return
        if writing and not broken:
            self._writes = False
            self._say(f"{self.path}: {error}; nothing more is stored in this run")
            return
        self.close()
        removed = False
        if broken:
            with suppress(OSError, BadInput), self._opening():
                discard(self.path)
                removed = True
        self._say(
            f"{self.path}: {error}; this run does not use cached results"
            + (", and the broken file was removed" if removed else "")
        )


def _identity(key: bytes) -> int:
    """Return the row of a key. Keys are digests, so collisions are rare, and only replace each other."""
    return int.from_bytes(key[:8], "big", signed=True)


def _checksum(key: bytes, value: bytes) -> int:
    return zlib.crc32(value, zlib.crc32(key))
