"""What has been computed once, for all runs to come: bytes by their keys, in one SQLite file.

Nothing depends on it: whatever is wrong with the store, the disk or its rights, values are computed again,
and it is said once. Only a file that is no store is refused, before anything is done to it. A value is
handed out only if it is, to the last bit, what was put in under its key.
"""

import os
import sqlite3
import time
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import IntEnum
from itertools import islice
from pathlib import Path
from threading import RLock
from types import TracebackType
from typing import Self

from filelock import FileLock

from dialects.errors import BadInput
from loaders import paths
from loaders.store_file import (
    BUSY_SECONDS,
    Unusable,
    bound,
    discard,
    is_broken,
    is_busy,
    is_there,
    on_disk,
    opened,
    transaction,
    vacuum,
)

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
