"""The SQLite file of the store: opened only if it is one, bounded, and replaced when it is not.

WAL mode lets processes read while one writes. With `synchronous=NORMAL` a crash of the machine can cost the
last values, which can be computed again, but never leaves a broken file: https://sqlite.org/wal.html.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

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


class Foreign(Exception):
    """A file that is no store of this version; says what it is."""


def opened(path: Path) -> sqlite3.Connection:
    """A connection to the store at `path`, made if there is nothing; for all threads, one at a time.

    Raises:
        Foreign: something else is there.
        sqlite3.Error: it cannot be used.
    """
    connection = sqlite3.connect(
        path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=256
    )
    try:
        _prepare(connection)
    except BaseException as error:
        connection.close()
        if isinstance(error, sqlite3.DatabaseError) and is_broken(error):
            raise Foreign(f"no SQLite database ({error})") from error
        raise
    return connection


def _prepare(connection: sqlite3.Connection) -> None:
    # Holds only where the file is made now, and only if it comes first.
    connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    identity = _number(connection, "application_id"), _number(connection, "user_version")
    if identity == (0, 0) and not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
        connection.execute("PRAGMA journal_mode = WAL").fetchall()
        connection.executescript(_SCHEMA)
    elif identity[0] != _OURS:
        raise Foreign("another program's database")
    elif identity[1] != _VERSION:
        raise Foreign(f"of version {identity[1]}, where this is version {_VERSION}")
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
        raise Foreign(str(error)) from error


def is_broken(error: Exception) -> bool:
    """Whether SQLite says that a file is damaged or no database at all."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def is_busy(error: Exception) -> bool:
    """Whether others had the file for too long."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


def discard(path: Path) -> None:
    """Remove a store with its journals. Processes that have it open go on with what they have."""
    for suffix in ("", "-wal", "-shm", "-journal"):
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
