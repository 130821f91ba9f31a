"""Tasks on SQLite: a copy is a file."""

import hashlib
import marshal
import math
import os
import re
import shutil
import sqlite3
import tempfile
import time
from contextlib import closing, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from dialects.errors import BadInput
from dialects.identifiers import quoted
from harness.labs.tasks.engine import (
    MOST_SPARE,
    NOBODY,
    READING,
    State,
    StatementFault,
    TaskEngine,
    is_alive,
)
from harness.labs.tasks.families import ScriptFamily
from harness.labs.tasks.helpers import MOST_ROWS, Rows

_ALLOWED_FILES = frozenset({"", ":memory:"})
_REFUSED_PRAGMAS = frozenset({"temp_store_directory", "data_store_directory"})


def _may(action: int, first: str | None, _second: str | None, _database: str | None, _by: str | None) -> int:
    """Refuse what leaves the copy: other files."""
    if action == sqlite3.SQLITE_ATTACH and first not in _ALLOWED_FILES:
        return sqlite3.SQLITE_DENY
    if action == sqlite3.SQLITE_PRAGMA and (first or "").lower() in _REFUSED_PRAGMAS:
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK


class SQLiteTaskSession:
    """A session on a file.

    Args:
        place: the file.
        family: the script family, which decides nothing here but for its limits.
    """

    def __init__(self, place: str, family: ScriptFamily) -> None:
        del family
        self._place, self._seconds = place, math.inf
        self.connection = sqlite3.connect(place, timeout=30)
        self.connection.execute("PRAGMA busy_timeout = 30000")
        self.connection.set_authorizer(_may)

    def official(self, text: str) -> Rows:
        """See `TaskSession.official`."""
        connection = self.connection
        # Not within the block: in a transaction that test code has left open, the second one fails.
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = OFF")
        cursor = connection.cursor()
        try:
            cursor.execute(text)
            if text.strip().lower().startswith(READING):
                return cursor.fetchall()[:MOST_ROWS]
            connection.commit()
            return _rest(cursor)
        except Exception:
            connection.rollback()
            raise
        finally:
            cursor.close()

    def fault(self, error: Exception) -> StatementFault:
        """See `TaskSession.fault`: a lock and whatever names a timeout is one."""
        words = str(error).lower()
        is_timeout = isinstance(error, sqlite3.OperationalError) and (
            "database is locked" in words or "timeout" in words
        )
        return StatementFault(str(error), is_timeout=is_timeout)

    def whole(self, text: str) -> Rows:
        """See `TaskSession.whole`."""
        deadline = time.monotonic() + self._seconds
        self.connection.set_progress_handler(lambda: time.monotonic() > deadline, _STEPS)
        cursor = self.connection.execute(text)
        rows = cursor.fetchall()
        return rows if cursor.description is not None else None

    def limit(self, seconds: float) -> None:
        """See `TaskSession.limit`."""
        self._seconds = seconds
        # From here on, the texts alone open transactions.
        self.connection.isolation_level = None

    def state(self) -> State:
        """See `TaskSession.state`."""
        self.connection.rollback()
        with closing(sqlite3.connect(self._place)) as connection:
            return sqlite_state(connection)

    def is_untouched(self) -> bool:
        """See `TaskSession.is_untouched`."""
        self.connection.rollback()
        return is_untouched(Path(self._place))

    def close(self) -> None:
        """See `TaskSession.close`."""
        with suppress(sqlite3.Error):
            self.connection.rollback()
        self.connection.close()


_STEPS = 100_000
"""Instructions of SQLite's virtual machine between two looks at the clock: some milliseconds."""


def _rest(cursor: sqlite3.Cursor) -> Rows:
    try:
        return cursor.fetchall()
    except Exception:  # noqa: BLE001 - as the scripts
        return None


_PREFIX = "bird-task-"


class SQLiteCopies:
    """Copies of files, below a folder of temporary files that the account without rights may write.

    Args:
        databases: the folder with the templates.
    """

    def __init__(self, databases: Path) -> None:
        self._databases = databases
        _remove_orphans()
        self._folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))
        self._owner = NOBODY if os.geteuid() == 0 else -1
        os.chown(self._folder, self._owner, self._owner)
        self._made = 0
        self._spare: list[tuple[str, Path]] = []
        self._used: list[tuple[str, Path]] = []

    def fresh(self, database: str) -> str:
        """See `Copies.fresh`."""
        for one in self._spare:
            if one[0] == database:
                self._spare.remove(one)
                break
        else:
            one = database, self._copied(database)
        self._used.append(one)
        return str(one[1])

    def _copied(self, database: str) -> Path:
        source = template(self._databases, database)
        self._made += 1
        folder = self._folder / str(self._made)
        folder.mkdir()
        copy = folder / "copy.sqlite"
        shutil.copyfile(source, copy)
        with copy.open("r+b") as file:
            if file.read(_MODES.start)[: len(_MAGIC)] == _MAGIC:
                # In WAL mode, which the scripts would set by writing to it.
                file.seek(_MODES.start)
                file.write(b"\x02\x02")
        for path in (folder, copy):
            os.chown(path, self._owner, self._owner)
        os.utime(copy, ns=(_MADE, _MADE))
        return copy

    def prepare(self, database: str) -> None:
        """See `Copies.prepare`."""
        if all(name != database for name, _ in self._spare):
            self._spare.append((database, self._copied(database)))

    def discard(self, *, may_keep: bool) -> None:
        """See `Copies.discard`."""
        for one in self._used:
            if may_keep and is_untouched(one[1]):
                self._spare.append(one)
            else:
                shutil.rmtree(one[1].parent, ignore_errors=True)
        self._used.clear()
        while len(self._spare) > MOST_SPARE:
            shutil.rmtree(self._spare.pop(0)[1].parent, ignore_errors=True)

    def close(self) -> None:
        """See `Copies.close`."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _remove_orphans() -> None:
    """Remove the folders of workers that were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*-*"):
        owner = folder.name.removeprefix(_PREFIX).partition("-")[0]
        if owner.isdigit() and not is_alive(int(owner)):
            shutil.rmtree(folder, ignore_errors=True)


_MAGIC = b"SQLite format 3\0"
_MODES = range(18, 20)
"""Where a file says whether it is in WAL mode, https://sqlite.org/fileformat.html."""

_MADE = 10**9
"""The time of change of a copy, in nanoseconds since the epoch, to which nothing is written."""


def is_untouched(copy: Path) -> bool:
    """Return True if nothing was written to a copy, nor to a log next to it."""
    if copy.stat().st_mtime_ns != _MADE:
        return False
    logs = (copy.with_name(f"{copy.name}{end}") for end in ("-wal", "-journal"))
    return not any(path.exists() and path.stat().st_size for path in logs)


def template(databases: Path, name: str) -> Path:
    """Return the SQLite file of a database: its template, where there is one.

    Raises:
        BadInput: there is none.
    """
    folder = databases / name
    found = [
        folder / f"{name}_template.sqlite",
        *sorted(folder.glob("*template*.sqlite")),
        folder / f"{name}.sqlite",
        databases / f"{name}.sqlite",
    ]
    for path in found:
        if path.is_file():
            return path
    raise BadInput(
        f"{folder}: has no SQLite file for {name!r}; expected {name}_template.sqlite or {name}.sqlite"
    )


_EXPRESSION = -2
"""Stands for the number of a column where an index has an expression, https://sqlite.org/pragma.html."""

_BLANKS = re.compile(r"\s+")
_MASK = (1 << 128) - 1


def sqlite_state(connection: sqlite3.Connection) -> State:
    """Return the state of a file. Tables are compared by columns and rows, all else by its text."""
    found: dict[str, str] = {}
    connection.text_factory = bytes
    entries = connection.execute(
        "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_stat%'"
    ).fetchall()
    for *words, text in entries:
        kind, name, table = (word.decode(errors="replace") for word in words)
        where = quoted(name)
        if kind == "table":
            columns = connection.execute(f"PRAGMA table_xinfo({where})").fetchall()
            keys = connection.execute(f"PRAGMA foreign_key_list({where})").fetchall()
            shape = sorted(map(repr, ((*each[1:],) for each in columns)))
            links = sorted(repr(each[2:]) for each in keys)
            try:
                rows = _rows_digest(connection.execute(f"SELECT * FROM {where}"))  # noqa: S608 - a quoted name
            except sqlite3.Error as error:
                rows = str(error)
            found[f"table {name}"] = f"{shape}{links}{rows}"
        elif kind == "index":
            parts = connection.execute(f"PRAGMA index_xinfo({where})").fetchall()
            plain = "" if text is None else _plain(text)
            # Its columns are known without the text; expressions and a condition are not.
            has_expression = any(part[1] == _EXPRESSION for part in parts)
            rest = plain.partition(" on ")[2] if has_expression else plain.partition(" where ")[2]
            is_unique = plain.startswith("create unique")
            found[f"index {name}"] = f"{table}{is_unique}{[part[2:] for part in parts]}{rest}"
        else:
            found[f"{kind} {name}"] = "" if text is None else _plain(text)
    return {name: hashlib.sha256(value.encode()).hexdigest() for name, value in found.items()}


def _plain(text: bytes) -> str:
    return _BLANKS.sub(" ", text.decode(errors="replace")).strip().lower()


def _rows_digest(rows: Any) -> str:
    """Return a digest of rows as a multiset: their number, and the sum of their digests."""
    count = total = 0
    for row in rows:
        # Version 2 has no references: equal values have equal bytes, and 1 and 1.0 have others.
        one = hashlib.blake2b(marshal.dumps(row, 2), digest_size=16).digest()
        total = (total + int.from_bytes(one, "big")) & _MASK
        count += 1
    return f"{count} {total:x}"


ENGINE = TaskEngine(
    has_server=False,
    session=SQLiteTaskSession,
    copies=lambda databases, _server: SQLiteCopies(databases),
    query_function="perform_query_on_sqlite_databases",
    place="db_path",
    imports="import datetime\n",
)
