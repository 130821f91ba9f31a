"""Runs a text again where the server, and not the text, broke: no outcome tells of a server's trouble.

A text is blamed for a lost connection only after it lost it again and again while it ran alone beside a
*sentinel*, a second connection on which nothing runs, and the sentinel survived. A server that restarts, or
has no connection left, is waited for; one that stays away is not waited for again by every text that follows.
"""

import time
from functools import partial
from typing import cast
from weakref import WeakKeyDictionary

from harness.engines import on_server
from harness.engines.backoff import BACKOFF, Backoff, CircuitBreaker
from harness.engines.base import Engine, EngineLost, Session, cut
from harness.engines.execution import Ending, Execution, Limits, execute
from harness.engines.watchdog import ABANDON_AFTER, CANCEL_AFTER
from loaders.namespace import Database
from loaders.server import Server

TRIES = 3
"""How often a text is run while the server falls under it."""

CONFIRMATIONS = 2
"""How often a text has to lose its connection beside a sentinel that survives, to be blamed for it."""

_EARLY = 0.9
"""A text that was stopped before this part of its limit has perhaps been stopped by somebody else."""

_REFUSED = frozenset({"1044", "1045", "1049", "1129", "1130"})
_REFUSED_CLASSES = ("28", "3D")
"""An account or a database that is not there: on an open connection, one that the text itself names.

https://dev.mysql.com/doc/mysql-errors/9.7/en/, https://www.postgresql.org/docs/current/errcodes-appendix.html
"""

_REFUSED_WORDS = ("does not exist", "password authentication failed", "no pg_hba.conf entry")
"""The same, of PostgreSQL while it connects: libpq keeps its codes to itself."""

_FULL = frozenset({"3", "1021", "1026", "1878", "53100"})
"""A disk without room."""

_STORAGE_ENGINE, _NO_SPACE = "1030", " 28 "
"""MySQL's error of a storage engine, and the system's number for a full disk that its message then has."""


class EngineFull(EngineLost):
    """The server's disk is full: waiting does not help, and nobody's SQL is to blame."""


_BREAKERS: WeakKeyDictionary[Engine, CircuitBreaker] = WeakKeyDictionary()


def execute_patiently(
    engine: Engine, database: Database, sql: str, limits: Limits, backoff: Backoff = BACKOFF
) -> Execution:
    """As `execute`, without the troubles of a server that comes back.

    Where the engine stopped a text early, its second run counts: the first may have been stopped by a server
    that shuts down, or by another text. SQLite is no server, so nothing is waited for.

    Args:
        engine: where to run it; what is known of its troubles is kept with this object.
        database: as for `execute`.
        sql: as for `execute`.
        limits: as for `execute`; they hold for each try.
        backoff: how long to wait for the server.

    Raises:
        EngineLost: the server does not come back, fell `TRIES` times under the text, or (`EngineFull`) has no
            room on its disk; at once, where the server was given up before and does not answer yet.
    """
    server: Server | None = getattr(engine, "server", None)
    if server is None:
        return execute(engine, database, sql, limits)
    breaker = _BREAKERS.setdefault(engine, CircuitBreaker())
    waiting = breaker.enter(backoff)
    history = _History(limits)
    run = partial(_attempt, engine, database, sql, limits)
    while True:
        try:
            execution = history.believed(run())
        except _Lost as lost:
            execution = history.blamed(lost)
        except EngineLost as lost:
            if isinstance(lost, EngineFull) or _is_refusal(lost):
                raise
            waiting.pause(lost)
            execution = None
        if execution is not None:
            breaker.end()
            return execution
        run = partial(_alone, server, database, sql, limits)


class _Lost(Exception):
    """The connection was lost under a text."""


class _Broke(_Lost):
    """The same, while a connection beside it survived."""


class _History:
    """What came of the tries of one text so far."""

    def __init__(self, limits: Limits) -> None:
        self._early = _EARLY * limits.seconds
        self._falls = 0
        self._breaks = 0
        self._is_doubted = False

    def believed(self, execution: Execution) -> Execution | None:
        """The execution, or None where another one has to confirm it."""
        is_early = execution.ending is Ending.TIMEOUT and execution.seconds < self._early
        if not is_early or self._is_doubted:
            return execution
        self._is_doubted = True
        return None

    def blamed(self, lost: _Lost) -> Execution | None:
        """What a loss comes to, together with those before; None where that is open.

        Raises:
            EngineLost: the server has fallen too often.
        """
        if isinstance(lost, _Broke):
            self._breaks += 1
            if self._breaks == CONFIRMATIONS:
                return Execution(Ending.ERROR, error=cut(f"it breaks its connection: {lost}"))
            return None
        self._falls += 1
        if self._falls == TRIES:
            raise EngineLost(f"{lost}; {TRIES} times with the same text") from lost
        return None


class _Opening:
    """An engine that notes when its session was open: what is lost later is lost under the text."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.opened: float | None = None

    def session(self, database: Database, seconds: float) -> Session:
        session = self._engine.session(database, seconds)
        self.opened = time.perf_counter()
        return session


def _attempt(engine: Engine, database: Database, sql: str, limits: Limits) -> Execution:
    """Run the text once.

    Raises:
        EngineLost: the server took no connection, has no room, or says nothing any more.
        _Lost: the connection was lost under the text.
    """
    opening = _Opening(engine)
    try:
        execution = execute(cast("Engine", opening), database, sql, limits)
    except EngineLost as lost:
        if opening.opened is None:
            raise
        execution = _after_loss(lost, time.perf_counter() - opening.opened, limits)
    if execution.ending is Ending.ERROR and _is_full(execution):
        raise EngineFull(f"{engine.dialect}: {execution.error}")
    if execution.ending is Ending.TIMEOUT and execution.seconds >= limits.seconds + ABANDON_AFTER:
        # Only breaking the connection ended it: where the whole server is silent, the text is not to blame.
        engine.version()
    return execution


def _alone(server: Server, database: Database, sql: str, limits: Limits) -> Execution:
    """As `_attempt`, on a new connection beside a sentinel.

    Raises:
        _Broke: the text lost its connection, and the sentinel did not.
    """
    from harness.engines.sentinel import posted  # noqa: PLC0415 - both drivers come along

    with posted(server) as sentinel:
        try:
            return _attempt(on_server(server), database, sql, limits)
        except _Lost as lost:
            if sentinel.lives():
                raise _Broke(str(lost)) from lost
            raise


def _after_loss(lost: EngineLost, seconds: float, limits: Limits) -> Execution:
    """What a loss, `seconds` after the connection was open, says of the text if it says anything."""
    code = _code(lost)
    if code is not None and (code in _FULL or code.startswith("53")):
        raise EngineFull(str(lost)) from lost
    if code is not None and (code in _REFUSED or code.startswith(_REFUSED_CLASSES)):
        return Execution(Ending.ERROR, error=cut(str(lost)), code=code, seconds=seconds)
    if seconds >= limits.seconds + CANCEL_AFTER:
        return Execution(Ending.TIMEOUT, error=cut(str(lost)), code=code, seconds=seconds)
    raise _Lost(str(lost)) from lost


def _is_full(execution: Execution) -> bool:
    return execution.code in _FULL or (
        execution.code == _STORAGE_ENGINE and _NO_SPACE in (execution.error or "")
    )


def _is_refusal(lost: EngineLost) -> bool:
    """Whether the server answers, and will not take this account or database however long one waits."""
    return _code(lost) in _REFUSED or any(words in str(lost) for words in _REFUSED_WORDS)


def _code(lost: EngineLost) -> str | None:
    """The server's own code for what the driver raised."""
    cause = lost.__cause__
    # PyMySQL's errors have a number and an SQLSTATE, psycopg's that alone; neither driver is imported for it.
    if cause is not None and not isinstance(cause, OSError) and cause.args and isinstance(cause.args[0], int):
        return str(cause.args[0])
    if isinstance(state := getattr(cause, "sqlstate", None), str):
        return state
    return None
