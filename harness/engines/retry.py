"""Run a text again if its server failed, so that no outcome reflects a server's trouble.

A text is blamed for a lost connection only after repeated losses while it ran alone beside a *sentinel*, a
second, idle connection that survived. The harness waits for a server that restarts, or has no connection
left; if it stays away, later texts do not wait again.
"""

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, cast
from weakref import WeakKeyDictionary

from harness.engines import Administration, kind_of, on_server
from harness.engines.base import (
    EmbeddedEngine,
    Engine,
    EngineLost,
    Session,
    cut,
)
from harness.engines.errors import Troubles
from harness.engines.execution import ABANDON_AFTER, CANCEL_AFTER, Ending, Execution, Limits, execute
from harness.engines.supervision import alone, beside_others, restart, was_ended
from loaders.namespace import Database
from loaders.server import Server


@dataclass(frozen=True)
class Backoff:
    """How long a text waits for its server, in seconds.

    `total`: from the first refusal until the server is given up; `first` and `longest`: pauses between two
    tries, each twice the one before; `probe`: how often a server that was given up is tried.
    """

    total: float = 30.0
    first: float = 0.1
    longest: float = 2.0
    probe: float = 5.0


BACKOFF = Backoff()


class CircuitBreaker:
    """Records whether a server was given up, and when it may be tried again."""

    def __init__(self) -> None:
        self._words: str | None = None
        self._next = 0.0

    def enter(self, backoff: Backoff) -> "Pauses":
        """What a text may wait from now on: nothing, where the server has been given up.

        Raises:
            EngineLost: the server was tried a moment ago and is still away.
        """
        if self._words is None:
            return Pauses(self, backoff, backoff.total)
        if time.monotonic() < self._next:
            raise EngineLost(self._words)
        return Pauses(self, backoff, 0.0)

    def begin(self, words: str, probe: float) -> None:
        """Give the server up, and try it again after `probe` seconds at the earliest."""
        self._words, self._next = words, time.monotonic() + probe

    def end(self) -> None:
        """The server answers."""
        self._words = None


class Pauses:
    """The pauses of one text."""

    def __init__(self, breaker: CircuitBreaker, backoff: Backoff, total: float) -> None:
        self._breaker = breaker
        self._backoff = backoff
        self._total = total
        self._deadline: float | None = None
        self._pause = backoff.first

    def pause(self, lost: EngineLost) -> None:
        """Wait a little before the next try.

        Raises:
            EngineLost: `lost`, where the backoff is at its end; the server is given up.
        """
        now = time.monotonic()
        if self._deadline is None:
            self._deadline = now + self._total
        if now >= self._deadline:
            self._breaker.begin(str(lost), self._backoff.probe)
            raise lost
        time.sleep(min(self._pause, self._deadline - now))
        self._pause = min(2 * self._pause, self._backoff.longest)


class Sentinel:
    """An idle connection of the administrator account."""

    def __init__(self, connection: Any, administration: Administration) -> None:
        self._connection = connection
        self._administration = administration

    def lives(self) -> bool:
        """Return True if the server still answers on the same connection."""
        try:
            with self._connection.cursor() as cursor:
                cursor.execute("SELECT 1")
                return bool(cursor.fetchone())
        except self._administration.FAILURES:
            return False


@contextlib.contextmanager
def posted(server: Server) -> Iterator[Sentinel]:
    """Provide a sentinel for the duration of the context.

    Raises:
        EngineLost: the server does not answer, or has no connection left.
    """
    administration = _administration(server)
    try:
        connection = administration.administrating(server)
    except administration.FAILURES as error:
        words = " ".join(str(error.args[-1] if error.args else error).split())
        raise EngineLost(f"{server.dialect} at {server.address}: {words}") from error
    try:
        yield Sentinel(connection, administration)
    finally:
        with contextlib.suppress(*administration.FAILURES):
            connection.close()


def administrating(server: Server) -> Any:
    """Return a new connection of the administrating account. Raises what its driver does."""
    return _administration(server).administrating(server)


def _administration(server: Server) -> Administration:
    administration = kind_of(server.dialect).administration
    assert administration is not None  # noqa: S101 - there is a server
    return administration()


FALLS = 2
"""How often the server must fall under a text to blame the text: the second time it runs alone."""

CONFIRMATIONS = 2
"""How often a text must lose its connection while a sentinel survives to be blamed for it."""

_EARLY = 0.9
"""A text that was stopped before this share of its limit was perhaps stopped by something else."""


class EngineFull(EngineLost):
    """The server's disk is full: waiting does not help, and the SQL is not at fault."""


_BREAKERS: WeakKeyDictionary[Engine, CircuitBreaker] = WeakKeyDictionary()

_BLAMED: WeakKeyDictionary[Engine, dict[tuple[Database, str], Execution]] = WeakKeyDictionary()
"""The texts that have ended the server of an engine: they never run on it again."""


def execute_patiently(
    engine: Engine, database: Database, sql: str, limits: Limits, backoff: Backoff = BACKOFF
) -> Execution:
    """Execute as `execute`, but outlast the failures of a server that comes back.

    Where the engine stopped a text early, its second run counts: the first may have been stopped by a server
    that shuts down, or by another text. An engine in this process has no server to wait for: where it fails
    under a text twice, the text is to blame unless the engine cannot read the database without it either.

    Args:
        engine: where to run it; this object keeps the record of its failures.
        database: as for `execute`.
        sql: as for `execute`.
        limits: as for `execute`; they hold for each try.
        backoff: how long to wait for the server.

    Raises:
        EngineLost: the server does not come back, or (`EngineFull`) has no room on its disk; at once, where
            the server was given up before and does not answer yet.
    """
    server: Server | None = getattr(engine, "server", None)
    if server is None:
        return _execute_embedded(engine, database, sql, limits)
    blamed = _BLAMED.setdefault(engine, {})
    if (database, sql) in blamed:
        return blamed[database, sql]
    breaker = _BREAKERS.get(engine) or _BREAKERS.setdefault(engine, CircuitBreaker())
    waiting = breaker.enter(backoff)
    history = _History(limits, _troubles(engine))
    run = first = partial(_beside_others, engine, server, database, sql, limits)
    while True:
        try:
            execution = history.believed(run())
        except _Ended:
            execution, run = None, first
            continue
        except _Lost as lost:
            execution = history.blamed(lost)
            if execution is not None:
                blamed[database, sql] = execution
        except EngineLost as lost:
            if isinstance(lost, EngineFull) or _is_refusal(lost, _troubles(engine)):
                raise
            restart(server)
            waiting.pause(lost)
            execution = None
        if execution is not None:
            breaker.end()
            return execution
        run = partial(_alone, server, database, sql, limits)


def _execute_embedded(engine: Engine, database: Database, sql: str, limits: Limits) -> Execution:
    """Execute as `execute`, and blame the text for a failure of an engine that answers afterwards.

    Raises:
        EngineLost: the engine cannot open the database, or read it without the text.
    """
    for _ in range(CONFIRMATIONS):
        opening = _Opening(engine)
        try:
            return execute(cast("Engine", opening), database, sql, limits)
        except EngineLost as lost:
            if opening.opened is None:
                raise
            seconds, words = time.perf_counter() - opening.opened, str(lost)
    if isinstance(engine, EmbeddedEngine):
        engine.check(database)
    else:
        execute(engine, database, "SELECT 1", limits)
    return Execution(Ending.ERROR, error=cut(words), seconds=seconds)


class _Lost(Exception):
    """The connection was lost under a text."""


class _Broke(_Lost):
    """The same, while a second connection survived."""


class _Ended(_Lost):
    """The same, because the harness ended the server by force: another text went on after its limit."""


class _History:
    def __init__(self, limits: Limits, troubles: Troubles) -> None:
        self._troubles = troubles
        self._early = _EARLY * limits.seconds
        self._falls = 0
        self._breaks = 0
        self._is_doubted = False

    def believed(self, execution: Execution) -> Execution | None:
        """Return the execution, or None if another one must confirm it."""
        is_early = execution.ending is Ending.TIMEOUT and execution.seconds < self._early
        is_shared = self._troubles.shared.fullmatch(execution.code or "") is not None
        if not (is_early or is_shared) or self._is_doubted:
            return execution
        self._is_doubted = True
        return None

    def blamed(self, lost: _Lost) -> Execution | None:
        """Decide on a loss, together with earlier ones; None if that is open."""
        if isinstance(lost, _Broke):
            self._breaks += 1
            if self._breaks == CONFIRMATIONS:
                return Execution(Ending.ERROR, error=cut(f"it breaks its connection: {lost}"))
            return None
        self._falls += 1
        if self._falls == FALLS:
            return Execution(Ending.ERROR, error=cut(f"it ends its server: {lost}"))
        return None


class _Opening:
    """An engine that records when its session was open: a later loss is a loss during the text."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.server = getattr(engine, "server", None)
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
        execution = _after_loss(lost, time.perf_counter() - opening.opened, limits, _troubles(engine))
    if execution.ending is Ending.ERROR and _troubles(engine).is_full(execution.code, execution.error or ""):
        raise EngineFull(f"{engine.dialect}: {execution.error}")
    is_abandoned = execution.seconds >= limits.seconds + ABANDON_AFTER
    if execution.ending is Ending.TIMEOUT and is_abandoned and not execution.overrun:
        # Only breaking the connection ended it: where the whole server is silent, the text is not to blame.
        engine.version()
    return execution


def _beside_others(engine: Engine, server: Server, database: Database, sql: str, limits: Limits) -> Execution:
    """As `_attempt`, while other texts may run, too.

    Raises:
        _Ended: the server was ended because of another text.
    """
    since = time.monotonic()
    with beside_others(server):
        try:
            return _attempt(engine, database, sql, limits)
        except _Lost as lost:
            if was_ended(server, since):
                raise _Ended(str(lost)) from lost
            raise


def _alone(server: Server, database: Database, sql: str, limits: Limits) -> Execution:
    """As `_attempt`, while no other text runs, on a new connection with a sentinel.

    Raises:
        _Broke: the text lost its connection, and the sentinel did not.
    """
    with alone(server), posted(server) as sentinel:
        try:
            return _attempt(on_server(server), database, sql, limits)
        except _Lost as lost:
            if sentinel.lives():
                raise _Broke(str(lost)) from lost
            raise


def _after_loss(lost: EngineLost, seconds: float, limits: Limits, troubles: Troubles) -> Execution:
    """Return what a loss, `seconds` after the connection was open, shows about the text."""
    code = _code(lost)
    if code is not None and troubles.full_when_lost.fullmatch(code):
        raise EngineFull(str(lost)) from lost
    if code is not None and troubles.refused.fullmatch(code):
        return Execution(Ending.ERROR, error=cut(str(lost)), code=code, seconds=seconds)
    if seconds >= limits.seconds + CANCEL_AFTER:
        return Execution(Ending.TIMEOUT, error=cut(str(lost)), code=code, seconds=seconds)
    raise _Lost(str(lost)) from lost


def _troubles(engine: Engine) -> Troubles:
    return kind_of(engine.dialect).troubles


def _is_refusal(lost: EngineLost, troubles: Troubles) -> bool:
    """True if the server answers, and will not take this account or database however long one waits."""
    return bool(troubles.refused.fullmatch(_code(lost) or "")) or any(
        words in str(lost) for words in troubles.refused_words
    )


def _code(lost: EngineLost) -> str | None:
    """Return the server's own code for what the driver raised."""
    cause = lost.__cause__
    # PyMySQL's errors have a number and an SQLSTATE, psycopg's that alone; neither driver is imported for it.
    if cause is not None and not isinstance(cause, OSError) and cause.args and isinstance(cause.args[0], int):
        return str(cause.args[0])
    if isinstance(state := getattr(cause, "sqlstate", None), str):
        return state
    return None
