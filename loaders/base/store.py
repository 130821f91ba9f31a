"""What has been computed once, for all runs to come: bytes by their keys, in one SQLite file.

Nothing depends on it: whatever is wrong with the store, the disk or its rights, values are computed again,
and it is said once. A value is handed out only if it is, to the last bit, what was put in under its key.

What is not a store of this project is neither written nor removed, wherever `BIRD_STORE` points: a store is
known by its header, so that nothing is opened as a database to find out.

WAL mode lets processes read while one writes. With `synchronous=NORMAL` a crash of the machine can cost the
last values, which can be computed again, but never leaves a broken file: https://sqlite.org/wal.html.
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
from itertools import islice
from pathlib import Path
from threading import RLock
from types import TracebackType
from typing import Self

from filelock import FileLock

from dialects.errors import BadInput
from loaders.base import paths
from loaders.base.files import one_line

BUSY_SECONDS = 10.0
"""How long a process waits for its turn to write."""

_OURS = 0x42495244
"""The file's `application_id`, https://sqlite.org/pragma.html#pragma_application_id."""
_VERSION = 1
_KEPT_SHARE = 0.8
"""What is left of the allowed size after entries had to go: so they go seldom, and many at a time."""
_WAL_BYTES = 16 * 2**20
_WAL_PAGES = _WAL_BYTES // 4096
"""How much is written before it is moved to the file; pages that change often are moved once."""
_PAGES_KIBIBYTES = 32 * 1024
"""Memory for pages; SQLite's own 2 MB are too little for keys that are spread over the whole file."""
_ENTRY_BYTES = 80
"""What an entry takes beside its value, roughly."""

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
"""Of the header: the `application_id`, https://sqlite.org/fileformat.html#application_id."""

_JOURNALS = {
    "-wal": (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83"),
    "-shm": (b"\x18\xe2\x2d\x00", b"\x00\x2d\xe2\x18"),
    "-journal": (b"\xd9\xd5\x05\xf9",),
}
"""What SQLite puts beside a database, by the end of its name, and how that begins.

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


class Unusable(Exception):
    """A store of this project that cannot be used: damaged, or of another version; says which."""


def is_there(path: Path) -> bool:
    """True if a store of this project is at `path`, usable or not; False for an empty file, too.

    Raises:
        BadInput: something else is there, or in the place of its journals.
        OSError: it cannot be looked at.
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
    """How `file` begins; empty if there is none."""
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
    remedy = "let BIRD_STORE name another file"
    if what == _FOREIGN:
        remedy += ", or remove this one if nobody needs it"
    return BadInput(one_line(f"{file}: {what}, {place}; it is left as it is; {remedy}"))


def opened(path: Path) -> sqlite3.Connection:
    """A connection to the store at `path`, made if there is nothing; for all threads, one at a time.

    Raises:
        BadInput: something else is there.
        Unusable: it is to be discarded.
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
            raise Unusable(f"damaged ({error})") from error
        raise
    return connection


def _make(path: Path) -> None:
    """An empty store, there as a whole or not at all."""
    real = path.resolve()
    fresh = real.with_name(f".{real.name}.{secrets.token_hex(4)}")
    try:
        with closing(sqlite3.connect(fresh, isolation_level=None)) as connection:
            # Holds only where the file is made now, and only if it comes first.
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
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not tables <= {"entries", "contents"}:
        raise _refusal(path, path, "another program's database")
    if (version := _number(connection, "user_version")) != _VERSION:
        raise Unusable(f"of version {version}, where this is version {_VERSION}")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute(f"PRAGMA wal_autocheckpoint = {_WAL_PAGES}").fetchall()
    connection.execute(f"PRAGMA cache_size = -{_PAGES_KIBIBYTES}")
    connection.execute(f"PRAGMA journal_size_limit = {_WAL_BYTES}").fetchall()
    # What a file brings along is not run: https://sqlite.org/security.html.
    connection.execute("PRAGMA trusted_schema = OFF")
    try:
        connection.execute("SELECT id, key, kind, used, size FROM entries LIMIT 0")
        connection.execute("SELECT id, checksum, value FROM contents LIMIT 0")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_ERROR:
            raise
        raise Unusable(str(error)) from error


def is_broken(error: Exception) -> bool:
    """True if SQLite says that a file is damaged or no database at all."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def is_busy(error: Exception) -> bool:
    """True if others had the file for too long."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


def discard(path: Path) -> None:
    """Remove a store of this project, with its journals; nothing else.

    Processes that have it open go on with what they have.

    Raises:
        BadInput: something else is there.
        OSError: it cannot be removed.
    """
    if is_there(path):
        _unlink(path)


def _unlink(path: Path) -> None:
    for suffix in (*_JOURNALS, ""):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Everything in the `with` block is written, or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def bound(connection: sqlite3.Connection, most_bytes: int) -> None:
    """Drop the entries that were not used for the longest time, if the file has become too large.

    The pages that they leave are used again; those beyond `most_bytes` go back to the disk.
    """
    if _used_bytes(connection) > most_bytes:
        with transaction(connection):
            _evict(connection, int(most_bytes * _KEPT_SHARE))
    page = _number(connection, "page_size")
    if (over := _number(connection, "page_count") - most_bytes // page) > 0:
        vacuum(connection, over)


def vacuum(connection: sqlite3.Connection, pages: int = 0) -> None:
    """Give free pages back to the disk, all of them by default."""
    # It has to be stepped through, though it has no rows: `execute` would stop after one page.
    connection.executescript(f"PRAGMA incremental_vacuum({pages});")


def _evict(connection: sqlite3.Connection, goal: int) -> None:
    while (used := _used_bytes(connection)) > goal:
        [told] = connection.execute("SELECT total(size + ?) FROM entries", (_ENTRY_BYTES,)).fetchone()
        if not told:
            return
        # Pages are never quite full: an entry frees more than it says.
        excess = (used - goal) * told / used
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
    """Bytes of the file and its journal."""
    size = 0
    for name in (path.name, f"{path.name}-wal"):
        with suppress(OSError):
            size += path.with_name(name).stat().st_size
    return size


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])


MOST_BYTES = 2_000_000_000
"""How large the file may grow where `BIRD_STORE_BYTES` says nothing else."""
_LEAST_BYTES = 1_000_000
_COARSE_SECONDS = 24 * 3600
"""How old an entry's last use has to be for a reading to note another: so reading seldom writes."""
_BATCH = 500

_GET = "SELECT key, used, checksum, value FROM entries JOIN contents USING (id) WHERE id IN ({})"


class EntryKind(IntEnum):
    """What an entry is; it is counted by it, and no more."""

    EXECUTION = 1
    JUDGEMENT = 2
    DIGEST = 3


@dataclass(frozen=True)
class KindShare:
    """How many entries there are of a kind, and the bytes of their values."""

    entries: int
    bytes: int


@dataclass(frozen=True)
class StoreStatistics:
    """What the store holds: how much of each kind, the size of its files, and how large they may grow.

    `oldest` and `newest` are times of last use, in seconds since 1970, exact to a day; None where nothing is.
    """

    kinds: Mapping[EntryKind, KindShare]
    file_bytes: int
    most_bytes: int
    oldest: float | None
    newest: float | None

    @property
    def entries(self) -> int:
        """Of all kinds."""
        return sum(share.entries for share in self.kinds.values())


def default_path() -> Path:
    """The store of this user: the file that `BIRD_STORE` names, or one in the cache folder."""
    return paths.chosen("BIRD_STORE") or paths.cache_path() / "store.sqlite"


def allowed_bytes() -> int:
    """How large the store may grow: `BIRD_STORE_BYTES`, e.g. `500MB` or `4GiB`, or else `MOST_BYTES`.

    Raises:
        BadInput: it is no size, or less than a megabyte.
    """
    return paths.room(
        "BIRD_STORE_BYTES", MOST_BYTES, _LEAST_BYTES, ", or use --no-cache to do without the store"
    )


def _warn(message: str) -> None:
    warnings.warn(message, RuntimeWarning, stacklevel=2)


class Store:
    """Bytes by key, kept from run to run; for several threads, and several processes with a `Store` each.

    Keys are digests, of 8 bytes or more. The file is bounded: the entries that were not used for the longest
    time go first. In a process that was forked it is empty and keeps nothing: open another one there.

    Args:
        path: the file; its folder is made. A store that is damaged or of another version is replaced.
        most_bytes: how large the file may grow, give or take what one `put` brings.
        say: told in one line that a file was replaced, and, once, why nothing is found or kept any more.

    Raises:
        BadInput: `path` is something else than a store; it is left as it is.
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
            # Before anything is made beside it.
            is_there(path)
            path.parent.mkdir(parents=True, exist_ok=True)
            with self._opening():
                try:
                    self._connection = opened(path)
                except Unusable as reason:
                    discard(path)
                    self._connection = opened(path)
                    say(f"{path} was no store that can be used: {reason}; it was replaced by an empty one")

    def get(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """The values that are there, by their keys."""
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
        """Keep values, all of them or none."""
        now = int(time.time())
        # Rows next to each other share pages.
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
        """What is there now."""
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
        """Drop all entries and give their room back to the disk; returns how many there were."""
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
        """Close the file; from then on nothing is found or kept."""
        with self._lock:
            if self._connection and os.getpid() == self._process:
                self._connection.close()
                self._connection = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _opening(self) -> FileLock:
        """Nobody removes the file while another one opens it.

        A lock empties the file of its name, which must not be one that somebody else may have.
        """
        return FileLock(self.path.with_name(f".{self.path.name}.bird-harness.lock"), timeout=BUSY_SECONDS)

    @contextmanager
    def _guarded(self, *, writing: bool = False) -> Iterator[sqlite3.Connection | None]:
        """The connection, for one thread at a time; whatever goes wrong with it ends in doing without it."""
        if os.getpid() != self._process:
            yield None
            return
        with self._lock:
            try:
                yield self._connection if self._writes or not writing else None
            except (sqlite3.Error, OSError, Unusable, TypeError, ValueError) as error:
                self._failed(error, writing=writing)

    def _failed(self, error: Exception, *, writing: bool) -> None:
        """Stop writing, or stop altogether; a file that is not what it should be is not met again."""
        broken = is_broken(error) or isinstance(error, TypeError | ValueError)
        if self._connection and is_busy(error):
            return
        if writing and not broken:
            self._writes = False
            self._say(f"{self.path}: {error}; nothing more is kept in this run")
            return
        self.close()
        removed = False
        if broken:
            with suppress(OSError, BadInput), self._opening():
                discard(self.path)
                removed = True
        self._say(
            f"{self.path}: {error}; this run does without what earlier ones have computed"
            + (", and the broken file was removed" if removed else "")
        )


def _identity(key: bytes) -> int:
    """The row of a key. Keys are digests, so two with the same row are rare, and only push each other out."""
    return int.from_bytes(key[:8], "big", signed=True)


def _checksum(key: bytes, value: bytes) -> int:
    return zlib.crc32(value, zlib.crc32(key))
