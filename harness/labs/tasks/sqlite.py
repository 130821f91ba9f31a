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
from collections.abc import Callable, Collection, Sequence
from collections.abc import Set as AbstractSet
from contextlib import closing, suppress
from copy import copy
from functools import cache
from pathlib import Path
from typing import Any, Self

from dialects.enums import Dialect
from dialects.errors import BadInput
from dialects.identifiers import quoted
from harness.engines.base import EngineLost
from harness.engines.sqlite.engine import SQLiteEngine, address
from harness.labs.tasks.engine import (
    MOST_SPARE,
    NOBODY,
    READING,
    UNTOUCHED,
    State,
    StatementFault,
    TaskEngine,
    is_alive,
)
from harness.labs.tasks.families import ScriptFamily
from harness.labs.tasks.helpers import MOST_ROWS, Rows
from loaders.base.files import as_json, locked
from loaders.namespace import Database

_ALLOWED_FILES = frozenset({"", ":memory:"})
_REFUSED_PRAGMAS = frozenset({"temp_store_directory", "data_store_directory"})


_READS = frozenset(
    {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
)
_CHANGING_FUNCTIONS = frozenset(
    {
        *("random", "randomblob", "changes", "total_changes", "last_insert_rowid", "current_date"),
        *("current_time", "current_timestamp", "date", "time", "datetime", "julianday", "strftime"),
        *("unixepoch", "timediff", "load_extension", "sqlite_offset"),
    }
)
"""Functions that may return something else the next time; those of time do if a value is 'now'."""

_TABLE_FIRST = frozenset(
    {
        *(sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE, sqlite3.SQLITE_CREATE_TABLE),
        *(sqlite3.SQLITE_DROP_TABLE, sqlite3.SQLITE_CREATE_TEMP_TABLE, sqlite3.SQLITE_DROP_TEMP_TABLE),
    }
)
_ALL_TABLES = "sqlite_dbpage"
"""Who writes this writes pages of any table; stands for everything that does."""


class _Watch:
    """The authorizer of a connection: refuses other files, and notes what statements may do.

    `touched` are the tables that they may have written, in small letters. `repeats` is True if the statements
    since it was set return the same rows again on the same data.
    """

    def __init__(self) -> None:
        self.touched: set[str] = set()
        self.repeats: bool | None = None

    def __call__(
        self, action: int, first: str | None, second: str | None, _database: str | None, _by: str | None
    ) -> int:
        if action in _READS:
            is_changing = action == sqlite3.SQLITE_FUNCTION and _folded(second) in _CHANGING_FUNCTIONS
            self.repeats = self.repeats is not False and not is_changing
            return sqlite3.SQLITE_OK
        self.repeats = False
        if action in _TABLE_FIRST:
            self.touched.add(_folded(first))
        elif action == sqlite3.SQLITE_ALTER_TABLE:
            self.touched.add(_folded(second))
        elif action in {sqlite3.SQLITE_CREATE_VTABLE, sqlite3.SQLITE_DROP_VTABLE}:
            self.touched.add(_ALL_TABLES)
        elif action == sqlite3.SQLITE_ATTACH and first not in _ALLOWED_FILES:
            return sqlite3.SQLITE_DENY
        elif action == sqlite3.SQLITE_PRAGMA:
            if _folded(first) == "writable_schema":
                self.touched.add(_ALL_TABLES)
            if _folded(first) in _REFUSED_PRAGMAS:
                return sqlite3.SQLITE_DENY
        return sqlite3.SQLITE_OK


def _folded(name: str | None) -> str:
    return (name or "").lower()


class SQLiteTaskSession:
    """A session on a file.

    Args:
        place: the file.
        family: the script family, which decides nothing here but for its limits.
        known: the rows of texts that return the same again, in sessions on one copy that only read.
    """

    goes_on = False

    def __init__(self, place: str, family: ScriptFamily, known: dict[str, Rows] | None = None) -> None:
        self.place, self._family, self._seconds = place, family, math.inf
        self._known = known
        self._made: set[tuple[str, int]] = set()
        self._watch = _Watch()
        self.connection = self.connected()

    def connected(self) -> sqlite3.Connection:
        """Connect to the file."""
        connection = sqlite3.connect(self.place, timeout=30)
        connection.execute("PRAGMA busy_timeout = 30000")
        connection.set_authorizer(self._watch)
        return connection

    def official(self, text: str) -> Rows:
        """See `TaskSession.official`."""
        is_query = text.strip().lower().startswith(READING)
        rows = self._repeated(text, self._official)
        return rows[:MOST_ROWS] if is_query and rows is not None else rows

    def _repeated(self, text: str, execute: Callable[[str], Rows]) -> Rows:
        """Execute a text, unless its rows are known."""
        if self._known is None:
            return execute(text)
        if text in self._known:
            return self._known[text]
        rows = execute(text)
        # No word of it: the connection has compiled the text before.
        if self._watch.repeats and rows is not None and len(rows) <= MOST_ROWS:
            self._known[text] = rows
        return rows

    def _official(self, text: str) -> Rows:
        connection = self.connection
        # Not within the block: in a transaction that test code has left open, the second one fails.
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = OFF")
        cursor = connection.cursor()
        self._watch.repeats = None
        try:
            cursor.execute(text)
            if text.strip().lower().startswith(READING):
                return cursor.fetchall()
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
        return self._repeated(text, self._whole)

    def _whole(self, text: str) -> Rows:
        self._watch.repeats = None
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
        self._made = set(self.connection.execute(_TABLES).fetchall())

    def state(self, wanted: Collection[str] = ()) -> State:
        """See `TaskSession.state`."""
        self.connection.rollback()
        try:
            return self._state(sqlite3.connect(self.place, timeout=1), wanted)
        except sqlite3.Error:
            # Statements may keep the file locked, or leave a schema that nobody else can read.
            memory = sqlite3.connect(":memory:")
        try:
            self.connection.backup(memory)
            return self._state(memory, wanted)
        except sqlite3.Error as error:
            return {"database": str(error)}

    def _state(self, opened: sqlite3.Connection, wanted: Collection[str]) -> State:
        touched = self._watch.touched
        with closing(opened) as connection:
            everything = _ALL_TABLES in touched or (touched and _has_virtual_tables(connection))
            now = set() if everything else self._made.intersection(connection.execute(_TABLES))
            written = _with_children(connection, touched)
            untouched = {
                f"table {name}"
                for name, _ in now
                if _folded(name) not in written and not name.startswith("sqlite_")
            }
            return sqlite_state(connection, {name for name in untouched if name not in wanted})

    def is_untouched(self) -> bool:
        """See `TaskSession.is_untouched`."""
        self.connection.rollback()
        return is_untouched(Path(self.place))

    def again(self) -> "SQLiteTaskSession":
        """See `TaskSession.again`."""
        self.close()
        return SQLiteTaskSession(self.place, self._family, {} if self._known is None else self._known)

    def close(self) -> None:
        """See `TaskSession.close`."""
        with suppress(sqlite3.Error):
            self.connection.rollback()
        self.connection.close()


_STEPS = 100_000
"""Instructions of SQLite's virtual machine between two looks at the clock: some milliseconds."""


def _reached(place: str, _dialect: Dialect) -> tuple[None, Database]:
    """Return the file, after all of its log is in it: the harness reads no log."""
    with closing(sqlite3.connect(place)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return None, Database("tasks", "copy", Path(place))


def _on(session: SQLiteTaskSession, connection: sqlite3.Connection | None) -> SQLiteTaskSession:
    """Return a session as this one on another connection; opened for None."""
    other = copy(session)
    other.connection = session.connected() if connection is None else connection
    return other


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
        # Held as long as the worker lives, or a child of it.
        self._lock = locked(self._folder)
        self._owner = NOBODY if os.geteuid() == 0 else -1
        os.chown(self._folder, self._owner, self._owner)
        self._made = 0
        self._spare: list[tuple[str, Path]] = []
        self._used: list[tuple[str, Path]] = []

    def reserve(self, texts: Sequence[str]) -> None:
        """See `Copies.reserve`: a file shares no names with another."""

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
        [source] = _sources(self._databases, database)
        self._made += 1
        folder = self._folder / str(self._made)
        folder.mkdir()
        path = folder / "copy.sqlite"
        shutil.copyfile(source, path)
        with path.open("r+b") as file:
            if file.read(_MODES.start)[: len(_MAGIC)] == _MAGIC:
                # In WAL mode, which the scripts would set by writing to it.
                file.seek(_MODES.start)
                file.write(b"\x02\x02")
        for each in (folder, path):
            os.chown(each, self._owner, self._owner)
        os.utime(path, ns=(_MADE, _MADE))
        return path

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
        os.close(self._lock)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_SECONDS_TO_LOCK = 60.0
"""After which a folder that nobody has locked is no new one."""


def _remove_orphans() -> None:
    """Remove the folders of workers that were killed: nobody holds their lock.

    The number of a worker may be another process's by now.
    """
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*-*"):
        owner = folder.name.removeprefix(_PREFIX).partition("-")[0]
        # Another may remove it, too; somebody else's folder cannot be opened.
        with suppress(OSError, BadInput):
            is_new = time.time() - folder.stat().st_mtime < _SECONDS_TO_LOCK
            if not owner.isdigit() or (is_new and is_alive(int(owner))):
                continue
            lock = locked(folder)
            try:
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)


_MAGIC = b"SQLite format 3\0"
_MODES = range(18, 20)
"""Where a file says whether it is in WAL mode, https://sqlite.org/fileformat.html."""

_MADE = 10**9
"""The time of change of a copy, in nanoseconds since the epoch, to which nothing is written."""


def is_untouched(path: Path) -> bool:
    """Return True if nothing was written to a copy, nor to a log next to it."""
    if path.stat().st_mtime_ns != _MADE:
        return False
    logs = (path.with_name(f"{path.name}{end}") for end in ("-wal", "-journal"))
    return not any(log.exists() and log.stat().st_size for log in logs)


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
        f"{folder}: has no SQLite file for {name!r}; expected {name}_template.sqlite or {name}.sqlite; get it"
        " with the set, or correct --databases"
    )


def _sources(databases: Path, name: str) -> Sequence[Path]:
    """Return the file of a database; args and errors are those of `template`.

    Raises:
        BadInput: it is no SQLite file, or a damaged one, too.
    """
    path = template(databases, name)
    _check(path, path.stat().st_mtime_ns)
    return [path]


def _contents(databases: Path, name: str) -> str:
    """Return a digest of schema and rows: releases of SQLite write the same database as other bytes."""
    with closing(sqlite3.connect(address(template(databases, name)), uri=True)) as connection:
        return as_json(sorted(sqlite_state(connection).items()))


@cache
def _check(path: Path, _changed: int) -> None:
    with path.open("rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            raise BadInput(f"{path}: is no SQLite file; fetch it again")
    try:
        SQLiteEngine().check(Database("tasks", "template", path))
    except EngineLost as error:
        raise BadInput(f"{error}; fetch it again") from error


_EXPRESSION = -2
"""Stands for the number of a column where an index has an expression, https://sqlite.org/pragma.html."""

_BLANKS = re.compile(r"\s+")
_MASK = (1 << 128) - 1


_TABLES = "SELECT name, rootpage FROM sqlite_master WHERE type = 'table'"


def _has_virtual_tables(connection: sqlite3.Connection) -> bool:
    """Return True if there is a virtual table, whose statements write others."""
    found = connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND rootpage = 0 LIMIT 1")
    return found.fetchone() is not None


def _with_children(connection: sqlite3.Connection, touched: AbstractSet[str]) -> set[str]:
    """Add the tables whose rows foreign keys may have changed, in small letters."""
    links = [
        (_folded(child), _folded(parent))
        for child, parent in connection.execute(
            'SELECT t.name, k."table" FROM sqlite_master t, pragma_foreign_key_list(t.name) k'
            " WHERE t.type = 'table'"
        )
    ]
    found = set(touched)
    while more := {child for child, parent in links if parent in found} - found:
        found |= more
    return found


def sqlite_state(connection: sqlite3.Connection, untouched: AbstractSet[str] = frozenset()) -> State:
    """Return the state of a file. Tables are compared by columns and rows, all else by its text.

    Args:
        connection: to the file; it returns bytes for texts afterwards.
        untouched: names of entries of tables that were never written.
    """
    found: dict[str, str] = {}
    connection.text_factory = bytes
    entries = connection.execute(
        "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_stat%'"
    ).fetchall()
    for *words, text in entries:
        kind, name, table = (word.decode(errors="replace") for word in words)
        where = quoted(name)
        if f"{kind} {name}" in untouched:
            continue
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
    digests = {name: hashlib.sha256(value.encode()).hexdigest() for name, value in found.items()}
    return digests | dict.fromkeys(untouched, UNTOUCHED)


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
    reached=_reached,
    query_options={"query_timeout": 30},
    execution_options={"return_error": False},
    on=_on,
    imports="import datetime\n",
    sources=_sources,
    contents=_contents,
)
