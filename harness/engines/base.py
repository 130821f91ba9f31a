"""The interface between the harness and a database engine.

Each engine implements `Engine` in its own folder. It opens read-only sessions on one database and classifies
its errors; it knows nothing about questions, predictions or scores.
"""

import re
import select
import sqlite3
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar, runtime_checkable

from dialects.enums import Dialect
from loaders.base.errors import EngineUnavailable, brief
from loaders.namespace import Database
from loaders.server import Parameters

Row = tuple[object, ...]
"""One result row, with the values as the driver returns them."""

BATCH_ROWS = 1_000
"""Rows fetched at a time, so that a huge result is noticed before it fills the memory."""


MOST_SAID = 2_000
"""Characters of an error that are kept: it may quote a value of any length."""


def cut(words: str) -> str:
    """Shorten an error's message, marking the cut."""
    return brief(words, MOST_SAID)


class SqlError(Exception):
    """The engine refused a statement or failed while running it.

    `message` has the engine's words, shortened if they are long (`is_cut`). `code` is the engine's own:
    SQLSTATE on PostgreSQL, the error number on MySQL, the extended result code's name on SQLite.
    """

    def __init__(self, message: str, code: str | None) -> None:
        self.message = cut(message)
        super().__init__(self.message)
        self.is_cut = len(message) > MOST_SAID
        self.code = code


class SqlTimeout(SqlError):
    """The statement was stopped because its time was up."""


class SqlTooLarge(SqlError):
    """The statement was stopped because it, or one of its values, needs more memory or disk than allowed."""


class SqlUnreadable(SqlError):
    """The statement returned a value that the driver cannot convert to Python.

    In the official script the exception is the prediction's, and scores 0.
    """

    def __init__(self, error: Exception) -> None:
        words = " ".join(str(error).split())
        super().__init__(
            f"the driver cannot read a value of the result: {words or type(error).__name__}", None
        )


EMPTY = "the text is empty: there is no query in it"
"""Message for a text of only blanks, semicolons and comments."""

_NOTHING = re.compile(r"(?:[\s;\ufeff]++|(?:--|\#)[^\n]*+|/\*(?!!)(?:[^*]++|\*(?!/))*+(?:\*/|\Z))*+\Z")


def is_empty(sql: str) -> bool:
    """Return True if a text has only blanks, semicolons and comments, of any engine's."""
    return _NOTHING.match(sql) is not None


def statements(text: str) -> Iterator[tuple[int, str]]:
    """Yield the statements of a SQL text, each with its line from 1; comments and blanks alone are none."""
    line, buffer = 1, ""
    for piece in text.replace("\r\n", "\n").split(";"):
        buffer += piece
        if sqlite3.complete_statement(buffer + ";"):
            if not is_empty(buffer):
                yield line + _blank_lines(buffer), buffer.strip()
            line += buffer.count("\n")
            buffer = ""
        else:
            buffer += ";"
    rest = buffer.removesuffix(";")
    if not is_empty(rest):
        yield line + _blank_lines(rest), rest.strip()


def _blank_lines(text: str) -> int:
    return text[: len(text) - len(text.lstrip())].count("\n")


class EngineLost(EngineUnavailable):
    """The engine cannot be reached or dropped the connection, through no fault of the SQL."""


class CannotCount(Exception):
    """The engine does not count a statement's work: `reason` says why, in one sentence for the user."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class Spent:
    """Seconds that an engine has counted: all, and those on the processor if it reports them."""

    elapsed: float
    processor: float | None

    def __sub__(self, earlier: "Spent") -> "Spent":
        processor = None
        if self.processor is not None and earlier.processor is not None:
            processor = self.processor - earlier.processor
        return Spent(self.elapsed - earlier.elapsed, processor)


class Session(Protocol):
    """A connection that can read one database and change nothing."""

    columns: tuple[str, ...]
    """The names of the columns of the last text that was run; empty until it has returned rows."""

    def batches(self, sql: str, values: Parameters | None = None) -> Iterator[list[Row]]:
        """Run one SQL text as it is and yield its rows, at most `BATCH_ROWS` at a time.

        Args:
            sql: the text.
            values: of its parameters, which are written as the driver takes them; None: it has none.

        Raises:
            SqlError: the statement failed.
            SqlTimeout: the engine stopped the statement.
            SqlTooLarge: the engine refused to give the statement what it needs.
            EngineLost: the connection broke.
        """
        ...

    def cancel(self) -> None:
        """Stop the running statement; callable from another thread, harmless if nothing runs."""
        ...

    def abandon(self) -> None:
        """Make `batches` end at once if `cancel` did not help, by breaking its connection.

        Callable from another thread. Does nothing if the statement runs in this process.
        """
        ...

    def program(self, sql: str) -> Hashable:
        """Return what the engine will do for `sql`, if it can tell every step; else None.

        Texts with equal programs do equal work. Runs nothing of `sql`, and never raises for it.
        """
        ...

    def refuses(self, sql: str, words: str) -> bool:
        """Return True if the engine refuses `sql` with these words on parsing, before it runs any of it.

        Then it always does, whatever time `sql` depends on. False when in doubt. Runs nothing of `sql`, and
        never raises for it.
        """
        ...

    def spent(self) -> Spent | None:
        """Return the time that the engine itself has counted so far for this session's statements.

        Only the difference between readings right before and right after a statement is meaningful: it is
        that statement's time. Some engines count all sessions of the reading role together, so nothing else
        may run meanwhile. None if the engine does not count.
        """
        ...

    def counted(self, sql: str) -> Mapping[str, int]:
        """Run one SQL text to its end, and return the engine's work counters for it.

        The counters are the engine's own, or follow from its report on each step of the plan; none depends on
        a clock. Their names are the engine's, each count is 0 or more, and missing ones are 0. Callers use
        `harness.engines.execution.count_work`.

        Raises:
            CannotCount: the engine does not count for this text.
            SqlError: as `batches`, and its kin.
            EngineLost: the connection broke.
        """
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None:
        """Close the session without waiting for what still runs in it."""
        ...


class ServerSession(Session, Protocol):
    """A session on a server, which may continue its work after the session was closed."""

    backend: int
    """The server's number of the connection: of a process, where each connection has its own."""

    def lingers(self) -> bool:
        """Return True if the server still works for this session, which was closed while something ran.

        False if the server cannot say. Never raises.
        """
        ...


class Engine(Protocol):
    """A running engine that holds loaded databases."""

    dialect: ClassVar[Dialect]

    def session(self, database: Database, seconds: float) -> Session:
        """Open a session on `database` in a role that can only read.

        Args:
            database: the one that unqualified table names mean.
            seconds: the time limit of each statement, which the engine enforces if it can.

        Raises:
            EngineLost: the engine does not answer or does not know the database.
        """
        ...

    def version(self) -> str:
        """Return the version that the engine reports."""
        ...

    def settings(self) -> Mapping[str, str]:
        """Return the settings that can change a result, read back from the engine for the manifest."""
        ...


@runtime_checkable
class EmbeddedEngine(Engine, Protocol):
    """An engine in this process that can tell a broken file from a text that looks like one."""

    def check(self, database: Database) -> None:
        """Read the whole of a database by statements of the harness's own, on a new connection.

        Raises:
            EngineLost: that fails.
        """
        ...


@runtime_checkable
class Catalogued(Protocol):
    """An engine whose catalogue tells which functions return the same value for the same arguments."""

    def unstable_functions(self) -> frozenset[str]:
        """Return the names, in lower case, of functions that may return another value each time.

        Functions that depend on settings are not among them: all texts have the same settings.

        Raises:
            EngineLost: the engine does not answer.
        """
        ...


def unstable_functions(engine: Engine) -> frozenset[str]:
    """Return what `Catalogued.unstable_functions` does; nothing for an engine without such a catalogue."""
    return engine.unstable_functions() if isinstance(engine, Catalogued) else frozenset()


@dataclass(frozen=True)
class ColumnText:
    """A column: its type in the engine's words, and its published description."""

    name: str
    type: str
    title: str | None = None
    """Full name (`column_name` of the description files)."""
    description: str | None = None
    values: str | None = None
    """Meaning of its values (`value_description`)."""


@dataclass(frozen=True)
class TableText:
    """One table as its engine describes it.

    `create` is the CREATE TABLE statement without a semicolon at its end; `rows` are the first rows in the
    order of the columns, as many as were asked for, of plain values (str, int, float, bool, None).
    """

    name: str
    create: str
    columns: tuple[ColumnText, ...]
    primary_key: tuple[str, ...] = ()
    foreign_keys: tuple[tuple[tuple[str, ...], str, tuple[str, ...]], ...] = ()
    """Referring columns, the referred table, its columns."""
    rows: tuple[tuple[object, ...], ...] = ()


# Connections that wait for the next session: few, however many databases there are. Not `psycopg_pool`:
# it has a pool for each address and database, so that many databases still mean many connections, and
# threads in each of them. What is needed is the reverse, few connections over all databases.

MOST_IDLE = 4
"""Idle connections of one process to one server."""

C = TypeVar("C")


class Pool(Generic[C]):
    """At most `most` idle connections by what they can serve; the longest unused is closed first.

    Any thread may use it.

    Args:
        close: closes a connection, without waiting for what may still come from it.
        most: how many may wait.
    """

    def __init__(self, close: Callable[[C], object], most: int = MOST_IDLE) -> None:
        self._close = close
        self._most = most
        self._lock = Lock()
        self._waiting: list[tuple[Hashable, C]] = []

    def take(self, of: Hashable) -> C | None:
        """Take the most recently used idle connection for `of`, if any; the caller owns it."""
        with self._lock:
            for place in reversed(range(len(self._waiting))):
                if self._waiting[place][0] == of:
                    return self._waiting.pop(place)[1]
        return None

    def drop(self, is_stale: Callable[[Any], bool]) -> None:
        """Close the idle connections whose key is stale."""
        with self._lock:
            stale = [each for each in self._waiting if is_stale(each[0])]
            self._waiting = [each for each in self._waiting if each not in stale]
        for _, connection in stale:
            self._close(connection)

    def give(self, of: Hashable, connection: C) -> None:
        """Keep a connection for the next session of `of`."""
        with self._lock:
            self._waiting.append((of, connection))
            surplus = self._waiting[: -self._most]
            del self._waiting[: -self._most]
        for _, oldest in surplus:
            self._close(oldest)

    def close(self) -> bool:
        """Close the idle connections. Return True if there were any."""
        with self._lock:
            waiting, self._waiting = self._waiting, []
        for _, connection in waiting:
            self._close(connection)
        return bool(waiting)


def is_readable(descriptor: int) -> bool:
    """Return True if something has arrived at a socket: of an idle connection, a farewell."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))
