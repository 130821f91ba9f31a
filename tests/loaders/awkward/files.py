"""Large values, and files that are not whole."""

import sqlite3
from contextlib import closing
from pathlib import Path

from dialects.enums import Profile
from tests.loaders.awkward.case import EVERYWHERE, Case, at

LARGEST = 100 * 2**20
"""Bytes of the largest values."""


def _encrypted(path: Path) -> None:
    """What an encrypted file looks like: nothing of it is SQLite's."""
    path.write_bytes(bytes((number * 197 + 31) % 251 for number in range(8_192)))


def _cut_short(path: Path) -> None:
    """A file that lost its second half, as an interrupted download leaves it."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (a INTEGER, b TEXT)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", ((n, "x" * 100) for n in range(2_000)))
        connection.commit()
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _overwritten(path: Path) -> None:
    """A file in which one page of rows is garbage."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (a INTEGER, b TEXT)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", ((n, "x" * 100) for n in range(2_000)))
        connection.commit()
    content = bytearray(path.read_bytes())
    content[4096 * 20 : 4096 * 21] = b"\xa5" * 4096
    path.write_bytes(content)


def _write_ahead(path: Path) -> None:
    """A file of journal mode WAL whose last rows are in the journal beside it."""
    other = path.with_name("origin.sqlite")
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("PRAGMA journal_mode = wal")
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        connection.execute("CREATE TABLE t (a INTEGER)")
        connection.execute("INSERT INTO t VALUES (1)")
        connection.commit()
        for suffix in ("", "-wal"):
            path.with_name(path.name + suffix).write_bytes(other.with_name(other.name + suffix).read_bytes())
    other.unlink()


def _hot_journal(path: Path) -> None:
    """A file whose last transaction was broken off: the journal has the pages as they were."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("CREATE TABLE t (a INTEGER)")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO t VALUES (1)")
        connection.execute("PRAGMA cache_spill = 1")
        connection.execute("PRAGMA cache_size = 1")
        connection.executemany("INSERT INTO t VALUES (?)", ((n,) for n in range(5_000)))
        journal = path.with_name(f"{path.name}-journal")
        content, old = path.read_bytes(), journal.read_bytes()
    path.write_bytes(content)
    journal.write_bytes(old)


def _empty(path: Path) -> None:
    path.touch()


CASES = (
    Case(
        "a file without a table",
        "CREATE TABLE t (a); DROP TABLE t",
        refused=at(EVERYWHERE, "has no table"),
    ),
    Case(
        "an empty file",
        _empty,
        refused=at(EVERYWHERE, "has no table"),
    ),
    Case(
        "an encrypted file",
        _encrypted,
        refused=at(EVERYWHERE, "file is not a database"),
    ),
    Case(
        "a file cut short",
        _cut_short,
        refused=at(EVERYWHERE, "database disk image is malformed"),
    ),
    Case(
        "a file with a damaged page",
        _overwritten,
        refused=at(EVERYWHERE, "database disk image is malformed"),
    ),
    Case(
        "rows in a write-ahead log",
        _write_ahead,
        refused=at(EVERYWHERE, r"shop\.sqlite-wal holds changes not yet in it"),
    ),
    Case(
        "a transaction broken off",
        _hot_journal,
        refused=at(EVERYWHERE, r"shop\.sqlite-journal holds changes not yet in it"),
    ),
    Case(
        "journal mode WAL, closed",
        "PRAGMA journal_mode = wal; CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1), (2)",
    ),
)

LARGE = {
    Profile.FAITHFUL: Case(
        "a text of 100 MB",
        f"""
        CREATE TABLE t (n INTEGER, v TEXT);
        INSERT INTO t VALUES (1, printf('%.{LARGEST // 2}c', 'é')), (2, 'short');
        """,
        large=True,
    ),
    Profile.OFFICIAL: Case(
        "a blob of 100 MB",
        f"""
        CREATE TABLE t (n INTEGER, v BLOB);
        INSERT INTO t VALUES (1, randomblob({LARGEST})), (2, x'00');
        """,
        large=True,
    ),
}
"""The largest values; each is loaded in one profile, as both have the same columns for it."""
