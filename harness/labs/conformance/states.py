"""The databases that the queries of a script are for, as SQLite files.

A *state* is what the statements before a query made. States of one script that only add tables to each
other share a file, the last one's: a query that finds its tables in it as they were answers the same there.
"""

import hashlib
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from dialects.errors import BadInput
from dialects.identifiers import quoted
from dialects.parameters import numbered
from harness.engines.base import statements
from harness.engines.sqlite.engine import TRUST
from harness.labs.conformance.comparison import without_names
from harness.labs.conformance.sqllogictest import Left, QueryRecord, Script, StatementRecord
from loaders.base.files import unwritten
from loaders.server import Parameters

Objects = Mapping[tuple[str, str], str]
"""Tables, indexes, views and triggers by kind and name, each with a digest of its definition and content."""

_WRITES_NOTHING = frozenset({
    sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE,
})  # fmt: skip

_PRAGMAS = frozenset({
    "data_version", "encoding", "foreign_keys", "page_count", "page_size", "recursive_triggers", "table_info",
    "user_version",
})  # fmt: skip
"""Those that a schema or a virtual table needs. Others change the process or only this connection."""

_FAILURES = (sqlite3.Error, sqlite3.Warning, UnicodeError, ValueError, MemoryError)
"""The driver's exceptions for a statement."""

_STEPS = 10_000
"""Instructions of SQLite's machine between two checks of the clock."""


@dataclass
class State:
    """A file, and the queries that are for it."""

    path: Path
    objects: Objects
    queries: list[tuple[str, QueryRecord]] = field(default_factory=list)
    """With their keys."""
    is_own: bool = True
    """True if the file was made here, and not by the suite."""

    def remove(self) -> None:
        """Remove the file, if it was made here."""
        if self.is_own:
            self.path.unlink()


@dataclass
class Replay:
    """The results of the records of a script that are not compared queries."""

    statements: Counter[str] = field(default_factory=Counter)
    """Statements by what became of them; `run` is all that was expected."""
    left: list[tuple[str, str]] = field(default_factory=list)
    """Queries by key that cannot be compared, and why."""


def states(
    script: Script, wanted: AbstractSet[str] | None, folder: Path, seconds: float
) -> tuple[list[State], Replay]:
    """Replay a script up to its last wanted query.

    Args:
        script: of a suite.
        wanted: keys of queries; None for all of them.
        folder: where files go; the caller removes it.
        seconds: what one statement may take.

    Raises:
        BadInput: a record is none, or a database file cannot be read.
    """
    maker = _Maker(script, folder, seconds)
    missing = None if wanted is None else set(wanted)
    with maker.opened():
        for record in script.read():
            if missing is not None and not missing:
                break
            if isinstance(record, StatementRecord):
                maker.change(record)
                continue
            key = script.key(record)
            if wanted is not None and key not in wanted:
                if isinstance(record, QueryRecord):
                    maker.pass_by(record)
                continue
            if missing is not None:
                missing.discard(key)
            if isinstance(record, Left):
                if record.is_query:
                    maker.replay.left.append((key, record.reason))
                else:
                    maker.replay.statements[record.reason] += 1
            else:
                maker.ask(key, record)
    return maker.states, maker.replay


class _Maker:
    """One script's database while it is replayed."""

    def __init__(self, script: Script, folder: Path, seconds: float) -> None:
        self._script = script
        self._folder = folder
        self._seconds = seconds
        self._deadline = 0.0
        self._changed = True
        self._writes = False
        self.states: list[State] = []
        self.replay = Replay()

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Have the database within the block."""
        base = self._script.base
        with TemporaryDirectory(dir=self._folder) as place:
            own = f"{(Path(place) / 'state.sqlite').as_uri()}?mode=rwc"
            # A base may be large, and no statement changes it: it is read in place.
            uri = own if base is None else f"{base.absolute().as_uri()}?mode=ro&immutable=1"
            if base is not None and (fault := unwritten(base)):
                raise BadInput(f"{base}: {fault}")
            connection = sqlite3.connect(uri, uri=True, isolation_level=None)
            with closing(connection):
                self._connection = connection
                try:
                    connection.execute("SELECT COUNT(*) FROM sqlite_master").close()
                except sqlite3.Error as error:
                    raise BadInput(f"{base}: is not a readable SQLite database ({error})") from error
                if base is None:
                    connection.execute("PRAGMA journal_mode=MEMORY")
                    connection.execute("PRAGMA synchronous=OFF")
                connection.execute(TRUST)
                connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
                # Between values of bytes and of text that is no UTF-8 there is to be a difference.
                connection.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
                connection.set_authorizer(self._authorize)
                connection.set_progress_handler(lambda: time.monotonic() > self._deadline, _STEPS)
                yield

    def change(self, statement: StatementRecord) -> None:
        """Run a statement, and count what became of it."""
        try:
            for _, sql in statements(statement.sql):
                self._execute(sql)
        except _FAILURES as error:
            outcome = "run" if statement.fails else f"SQLite refuses a statement: {without_names(str(error))}"
        else:
            outcome = "SQLite takes what is to fail" if statement.fails else "run"
        self._changed = True
        self.replay.statements[outcome] += 1

    def pass_by(self, query: QueryRecord) -> None:
        """Let a query that is not selected make its changes."""
        if not query.sql.lstrip("( \t\n").lower().startswith(("select", "values")) and self._does_write(
            query
        ):
            self.change(StatementRecord(query.line, query.sql))

    def _does_write(self, query: QueryRecord) -> bool:
        """True if a query changes anything; a query that SQLite refuses does not."""
        self._writes = False
        try:
            for _, sql in statements(query.sql):
                self._execute(f"EXPLAIN {sql}")
        except _FAILURES:
            return False
        return self._writes

    def ask(self, key: str, query: QueryRecord) -> None:
        """Put a query to the state that it is for, or say why it has none."""
        found = list(statements(query.sql))
        if len(found) != 1:
            self.replay.left.append((key, "several statements" if found else "no statement"))
            return
        if found[0][1][:7].upper() == "EXPLAIN":
            self.replay.left.append((key, "it is EXPLAIN"))
            return
        sql, parameters = numbered(found[0][1], {})
        if missing := [name for name in parameters.names if name not in query.values]:
            self.replay.left.append((key, f"the parameter {missing[0]} has no value"))
            return
        try:
            self._writes = False
            self._execute(f"EXPLAIN {sql}", parameters.bound(query.values))
        except _FAILURES as error:
            self.replay.left.append((key, f"SQLite refuses it: {without_names(str(error))}"))
            return
        if self._writes:
            self.replay.left.append((key, "it does not only read"))
            if self._script.base is None:
                self.change(StatementRecord(query.line, query.sql))
            return
        self._state().queries.append((key, query))

    def _state(self) -> State:
        """Return the state as it is now, in the file of the last one if that can be."""
        if not self._changed:
            return self.states[-1]
        self._changed = False
        if self._script.base is not None:
            base = self._script.base
            self.states.append(State(base, {("file", str(base)): str(base)}, is_own=False))
            return self.states[-1]
        objects = self._objects()
        last = self.states[-1] if self.states else None
        if last is not None and objects.items() <= last.objects.items():
            return last
        if last is not None and last.objects.items() <= objects.items():
            last.objects = objects
            self._write(last)
            return last
        path = self._folder / f"{len(self.states)}.sqlite"
        self.states.append(State(path, objects))
        self._write(self.states[-1])
        return self.states[-1]

    def _write(self, state: State) -> None:
        """Write the database as it is now; what has no table gets one, since nothing else can be loaded."""
        if state.objects:
            state.path.write_bytes(self._connection.serialize())
        if not any(kind == "table" for kind, _ in state.objects):
            with closing(sqlite3.connect(state.path)) as copy:
                copy.execute("CREATE TABLE _no_table(x)")
                copy.commit()

    def _objects(self) -> Objects:
        self._deadline = time.monotonic() + 10 * self._seconds
        found = self._connection.execute("SELECT type, name, sql FROM sqlite_master").fetchall()
        return {(kind, name): self._digest(kind, name, sql) for kind, name, sql in found}

    def _digest(self, kind: str, name: str, sql: str | None) -> str:
        digest = hashlib.sha256(repr(sql).encode())
        if kind == "table":
            for columns in ("_rowid_, *", "*"):
                try:
                    rows = self._connection.execute(f"SELECT {columns} FROM {quoted(name)}")  # noqa: S608 - quoted
                    for row in rows:
                        digest.update(repr(row).encode())
                    break
                except _FAILURES as error:
                    digest.update(str(error).encode())
        return digest.hexdigest()

    def _execute(self, sql: str, values: Parameters = ()) -> None:
        self._deadline = time.monotonic() + self._seconds
        for _ in self._connection.execute(sql, values):
            pass

    def _authorize(self, action: int, first: str | None, *others: str | None) -> int:
        """Let a script change its own database and nothing else."""
        if action in _WRITES_NOTHING:
            return (
                sqlite3.SQLITE_DENY
                if action == sqlite3.SQLITE_FUNCTION and others[0] in {"load_extension", "fts3_tokenizer"}
                else sqlite3.SQLITE_OK
            )
        if action == sqlite3.SQLITE_UPDATE and first == "sqlite_master":
            # Asked when a virtual table, like json_each, is connected.
            return sqlite3.SQLITE_OK
        self._writes = True
        if action in {sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH}:
            return sqlite3.SQLITE_DENY
        if action == sqlite3.SQLITE_PRAGMA and (first or "").lower() not in _PRAGMAS:
            return sqlite3.SQLITE_DENY
        return sqlite3.SQLITE_OK


def merged(found: Sequence[State]) -> list[State]:
    """Return states of several scripts, those with the same objects as one."""
    by_objects: dict[frozenset[tuple[tuple[str, str], str]], State] = {}
    for state in found:
        first = by_objects.setdefault(frozenset(state.objects.items()), state)
        if first is not state:
            first.queries += state.queries
    return list(by_objects.values())
