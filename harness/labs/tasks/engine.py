"""What tasks need of an engine: sessions on a copy, throw-away copies, and the state of a database.

Each engine has a module of its own, named for it, with its record `ENGINE`. A session belongs to one process,
which ends with its task, and reaches its copy alone. What an earlier run left behind, because it was killed,
is removed by the next one.
"""

import importlib
import os
import re
import signal
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, cast

from dialects.enums import Dialect
from harness.labs.tasks.families import ScriptFamily
from harness.labs.tasks.helpers import Rows
from loaders.namespace import Database
from loaders.server import Origin, Server

READING = ("select", "with")
"""How a text begins that the scripts take for a query."""

NOBODY = 65534
"""The user and group without rights, https://systemd.io/UIDS-GIDS/."""


State = Mapping[str, str]
"""A digest for each table, view, index, trigger, function or sequence, by its kind and name."""

UNTOUCHED = ""
"""The digest of what was certainly not written since its copy was made: reading its rows takes time."""


class StatementFault(Exception):
    """A statement failed; `is_timeout` as the family's scripts see it."""

    def __init__(self, message: str, *, is_timeout: bool = False) -> None:
        super().__init__(message)
        self.is_timeout = is_timeout


@dataclass(frozen=True)
class StatementsResult:
    """The rows of the last statement that ran, and the fault that ended the list, if there was one."""

    rows: Rows
    fault: StatementFault | None = None


class TaskSession(Protocol):
    """One connection to a copy.

    `connection` is what test cases get, and `place` what they get as the place of the copy. `goes_on`:
    whether statements go on after one that fails, as the scripts' do on MySQL, and never after `limit`.
    """

    connection: Any
    place: str
    goes_on: bool

    def official(self, text: str) -> Rows:
        """Execute a text as the scripts of the family do; raise what the driver raises."""
        ...

    def fault(self, error: Exception) -> StatementFault:
        """Return what the scripts call an error."""
        ...

    def whole(self, text: str) -> Rows:
        """Execute a text and return all rows; call `limit` before."""
        ...

    def limit(self, seconds: float) -> None:
        """Limit each statement from now on, and commit it, unless the texts open a transaction."""
        ...

    def state(self, wanted: Collection[str] = ()) -> State:
        """Return the state of the copy, without what an open transaction has changed.

        Args:
            wanted: names of entries that get their digest even if they are untouched.

        Raises:
            StatementFault: statements have ended the session.
        """
        ...

    def is_untouched(self) -> bool:
        """Return True if it is certain that nothing was ever written to the copy; rolls back."""
        ...

    def again(self) -> "TaskSession":
        """Return a session that is as a new one, on a copy that is untouched; this one is at its end."""
        ...

    def close(self) -> None:
        """Close the connection."""
        ...


def run_officially(session: TaskSession, statements: str | Sequence[str]) -> StatementsResult:
    """Execute statements as `execute_queries` does.

    The rows are those of the last statement that ran, and the fault is the first. It ends the list, unless
    the session goes on.
    """
    rows: Rows = None
    fault: StatementFault | None = None
    for text in [statements] if isinstance(statements, str) else statements:
        try:
            rows = session.official(text)
        except Exception as error:  # noqa: BLE001 - as the scripts: any error is the statement's
            fault = fault or session.fault(error)
            if not session.goes_on:
                break
    return StatementsResult(rows, fault)


def run_whole(session: TaskSession, statements: Sequence[str]) -> StatementsResult:
    """Execute statements to the first error, with all rows of the last one, and commit."""
    rows: Rows = None
    for text in statements:
        try:
            rows = session.whole(text)
        except Exception as error:  # noqa: BLE001 - any error is the statement's
            return StatementsResult(rows, session.fault(error))
    return StatementsResult(rows)


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """End what the block waits for by TimeoutError, whatever a statement sets for its session.

    For the main thread alone, as all signals are.
    """

    def expire(*_: object) -> None:
        raise TimeoutError(f"it took longer than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, expire)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


LEADING = r"(?:[\s(\ufeff]|--[^\n]*+(?:\n|\Z)|/\*(?:[^*]|\*(?!/))*+\*/)*+"
"""What may stand before the first word of a statement: blanks, parentheses and comments."""

_QUERY = re.compile(LEADING + r"(?:select|with|values|table)\b", re.IGNORECASE)


def begins_as_query(text: str) -> bool:
    """Return True if a text begins as a query, after comments."""
    return _QUERY.match(text) is not None


_FIRST = re.compile(r"[\s(]*(?:select|values|with|explain)\b", re.IGNORECASE)
_WRITES = re.compile(
    r"\b(?:insert|update|delete|replace|merge|into|analyze|create|drop|nextval|setval|set_config)\b",
    re.IGNORECASE,
)


def only_reads(statements: Sequence[str]) -> bool:
    """Return True if statements begin as queries and have no word of another kind, wherever it is."""
    return all(_FIRST.match(text) and not _WRITES.search(text) for text in statements)


def differences(state: State, gold: State) -> list[str]:
    """Return the names of what differs, in alphabetical order."""
    return sorted(name for name in state.keys() | gold.keys() if state.get(name) != gold.get(name))


class Copies(Protocol):
    """The copies of one worker, which judges one answer at a time; `close` removes them all.

    A copy is handed out to one process, taken back when that has ended, and handed out again only if nothing
    was written to it.
    """

    def reserve(self, texts: Sequence[str]) -> None:
        """Wait until answers of other workers let go of names that the whole server has, if texts use such.

        Call it before `fresh`; the names are this worker's until `discard`.
        """
        ...

    def fresh(self, database: str) -> str:
        """Return the place of a copy that nothing was written to: a path, or a connection string.

        Raises:
            BadInput: there is no such database.
        """
        ...

    def prepare(self, database: str) -> None:
        """Make the next copy, and remove what is not needed any more: called while a process is at work."""
        ...

    def discard(self, *, may_keep: bool) -> None:
        """Take all copies back.

        One that the engine proves unchanged is handed out again. `may_keep`: the texts only read, and no code
        of test cases ran, so that a weaker proof will do.
        """
        ...

    def close(self) -> None:
        """Remove everything."""
        ...


MOST_SPARE = 4
"""Copies that a worker keeps for later tasks."""


def is_alive(process: int) -> bool:
    """Return True if there is a process with this number."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def reached_by(
    account: Mapping[str, Any], dialect: Dialect, name: str, schema: str
) -> tuple[Server, Database]:
    """Return a server as an account of one copy reaches it, and the copy.

    Args:
        account: `host`, `port`, `user` and `password`.
        dialect: of the server.
        name: of the copy.
        schema: where its tables are.
    """
    user = str(account["user"])
    server = Server(
        dialect,
        str(account["host"]),
        int(account["port"]),
        user,
        str(account["password"]),
        Origin.DSN,
        reader_user=user,
        is_private=True,
        database=name,
    )
    return server, Database("tasks", "copy", Path(), standing=(name, schema))


@dataclass(frozen=True, kw_only=True)
class TaskEngine:
    """An engine on which tasks are judged.

    `session` opens a session on a copy for a script family. `copies` makes copies: it takes the folder of the
    databases and the server, which is None unless `has_server`. Test cases call `query_function` to execute a
    text, with `query_options` that mean nothing here, and `execute_queries` with `execution_options`. They
    get the place of the copy as `place`; `imports` are the lines before them. `on` returns the session of
    another connection that a test case has made, and of a new one for None; without it there is one
    connection, because test cases reach no server. `cost` takes the cost out of the rows of `explain` and a
    text; None if nothing is known of plans. `sources` returns the files that a database is made of, all that
    its rows depend on; `contents` has a digest of what they hold, the same however they were written, and
    without it a digest of each stands for that. `reached` returns a copy, and its server as the account of
    the copy's sessions reaches it, as the harness's own engines take them, with statistics for the planner.
    """

    has_server: bool
    session: Callable[[str, ScriptFamily], TaskSession]
    copies: Callable[..., Copies]
    query_function: str
    place: str
    reached: Callable[[str, Dialect], tuple[Server | None, Database]]
    sources: Callable[[Path, str], Sequence[Path]]
    contents: Callable[[Path, str], str] | None = None
    query_options: Mapping[str, object] = field(default_factory=dict)
    execution_options: Mapping[str, bool] = field(default_factory=dict)
    on: Callable[[Any, Any], TaskSession] | None = None
    imports: str = ""
    explain: str = ""
    cost: Callable[[Rows], float] | None = None


def engine_of(family: ScriptFamily) -> TaskEngine:
    """Return the engine of a family's tasks; imports its driver."""
    return cast("TaskEngine", importlib.import_module(f"harness.labs.tasks.{family.dialect}").ENGINE)
