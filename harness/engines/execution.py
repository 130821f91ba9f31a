"""Run one SQL text on one database into an `Execution`: rows, an error, a timeout or too large a result.

Limits are enforced by the engine, and by the `Watchdog` if the engine fails to. `count_work` counts a text's
work, which is the same on a busy machine as on an idle one; `harness.metrics.work` weighs it.
"""

import contextlib
import datetime as dt
import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import StrEnum
from functools import partial
from itertools import accumulate, chain
from queue import SimpleQueue
from sys import getsizeof
from threading import Condition, Lock, Thread
from types import NoneType
from typing import Any, Self, cast
from uuid import UUID
from weakref import WeakKeyDictionary

from harness.engines import Administration, kind_of, on_server
from harness.engines.base import (
    CannotCount,
    EmbeddedEngine,
    Engine,
    EngineLost,
    Row,
    ServerSession,
    Session,
    SqlError,
    SqlTimeout,
    SqlTooLarge,
    cut,
)
from harness.engines.errors import Troubles
from harness.engines.supervision import alone, beside_others, restart, settle, was_ended
from loaders.base.files import ascii_json, parse_json
from loaders.base.records import to_record
from loaders.namespace import Database
from loaders.server import Server


class Ending(StrEnum):
    """How the run of one SQL text can end."""

    ROWS = "rows"
    ERROR = "error"
    TIMEOUT = "timeout"
    TOO_LARGE = "too_large"


@dataclass(frozen=True)
class Limits:
    """What one SQL text may use: wall-clock seconds, rows, and bytes of all rows together.

    Bytes are those of texts and of nested values; a number or a date counts nothing.

    30 seconds is the official evaluator's limit for a prediction and its gold together. With `keeps_first`, a
    result that is too large keeps the first rows that are within the limits.
    """

    seconds: float = 30.0
    rows: int = 1_000_000
    bytes: int = 256 * 2**20
    keeps_first: bool = False


@dataclass(frozen=True)
class Execution:
    """The result of running one SQL text.

    `rows` is empty unless `ending` is ROWS, or TOO_LARGE with `Limits.keeps_first`; `error` and `code` are
    the engine's own words otherwise; `seconds` is wall-clock time from sending the text to having the last
    row. `overrun`: for how many seconds after the limit the server went on and had to be ended by force, or
    could not be ended; 0 if it stopped. It is not kept for later runs. `columns` are the names
    of the rows' columns; a cached execution has none.
    """

    ending: Ending
    rows: tuple[Row, ...] = ()
    error: str | None = None
    code: str | None = None
    seconds: float = 0.0
    overrun: float = 0.0
    columns: tuple[str, ...] = field(default=(), compare=False)


def execute(engine: Engine, database: Database, sql: str, limits: Limits) -> Execution:
    """Run one SQL text in a session of its own, so that no statement can influence another.

    Raises:
        EngineLost: the engine failed, not the statement.
    """
    with engine.session(database, limits.seconds) as session:
        started = time.perf_counter()
        until = time.monotonic() + limits.seconds
        code = None
        with WATCHDOG.guard(session, limits.seconds) as guarded:
            try:
                ending, rows, error = _collect(session, sql, limits)
            except SqlError as failure:
                stopped = isinstance(failure, SqlTimeout) or guarded.fired
                too_large = isinstance(failure, SqlTooLarge)
                ending = Ending.TIMEOUT if stopped else Ending.TOO_LARGE if too_large else Ending.ERROR
                rows, error, code = (), failure.message, failure.code
                # The driver's own error has all of its words; it would go with the next collection only.
                failure.__cause__ = failure.__context__ = failure.__traceback__ = None
            except MemoryError:
                ending, rows, error = Ending.TOO_LARGE, (), "more memory than a result may take"
            except EngineLost:
                raise
            except Exception as failure:
                # A driver may raise anything for a text; whose fault it is, the engine's next answer tells.
                raise EngineLost(f"{type(failure).__name__}: {failure}") from failure
        # An engine of another package may not tell them.
        columns = tuple(getattr(session, "columns", ())) if rows or ending is Ending.ROWS else ()
        execution = Execution(ending, rows, error, code, time.perf_counter() - started, columns=columns)
    server: Server | None = getattr(engine, "server", None)
    if server is not None and ending is not Ending.ROWS:
        return replace(execution, overrun=settle(server, cast("ServerSession", session), until))
    return execution


def refuses(engine: Engine, database: Database, sql: str, execution: Execution, limits: Limits) -> bool:
    """Return True if a text's `execution` is an error that it would end with at any other time, too.

    That is so if the engine refuses the text before it runs any of it. False when in doubt.
    """
    if execution.ending is not Ending.ERROR or execution.error is None:
        return False
    try:
        with engine.session(database, limits.seconds) as session, WATCHDOG.guard(session, limits.seconds):
            return session.refuses(sql, execution.error)
    except (EngineLost, SqlError):
        return False


def _collect(session: Session, sql: str, limits: Limits) -> tuple[Ending, tuple[Row, ...], str | None]:
    rows: list[Row] = []
    size = 0
    for batch in session.batches(sql):
        rows += batch
        size += _size(batch)
        if len(rows) > limits.rows:
            return Ending.TOO_LARGE, _first(rows, limits), f"more than {limits.rows:,} rows"
        if size > limits.bytes:
            return Ending.TOO_LARGE, _first(rows, limits), f"more than {limits.bytes:,} bytes"
    return Ending.ROWS, tuple(rows), None


def _first(rows: list[Row], limits: Limits) -> tuple[Row, ...]:
    """Return the first rows that are within the limits, if they are to be kept."""
    sizes = accumulate(_size([row]) for row in rows[: limits.rows])
    count = sum(1 for size in sizes if size <= limits.bytes)
    return tuple(rows[:count]) if limits.keeps_first else ()


_HUGE = 2**128
_DECIMAL_BYTES = getsizeof(Decimal(1))
_ITEM_BYTES = 8


def _size(rows: list[Row]) -> int:
    """Bytes of texts, of bytes and of nested values as Python keeps them; other values are small.

    An item of a nested value counts a pointer beside what is in it, so that many small ones count, too.
    """
    size = 0
    for value in chain.from_iterable(rows):
        kind = type(value)
        if kind is str:
            size += len(value) if value.isascii() else 4 * len(value)  # type: ignore[arg-type, attr-defined]
        elif kind is int:
            size += 0 if -_HUGE < value < _HUGE else getsizeof(value)  # type: ignore[operator]
        elif kind is Decimal:
            size += max(0, getsizeof(value) - _DECIMAL_BYTES)
        elif kind not in _SMALL:
            size += _nested_size(value)
    return size


_SMALL = frozenset({NoneType, bool, float, dt.date, dt.datetime, dt.time, dt.timedelta, UUID})


def _nested_size(value: object) -> int:
    """Bytes of a value of any kind, without recursion: it may be nested deeply."""
    size, left = 0, [value]
    while left:
        one = left.pop()
        if type(one) in _SMALL:
            continue
        if isinstance(one, int):
            size += 0 if -_HUGE < one < _HUGE else getsizeof(one)
        elif isinstance(one, str):
            size += len(one) if one.isascii() else 4 * len(one)
        elif isinstance(one, bytes | bytearray | memoryview):
            size += len(one)
        elif isinstance(one, Decimal):
            size += max(0, getsizeof(one) - _DECIMAL_BYTES)
        elif isinstance(one, Mapping):
            size += 2 * _ITEM_BYTES * len(one)
            left += one.keys()
            left += one.values()
        elif isinstance(one, Collection):
            size += _ITEM_BYTES * len(one)
            left += one
        else:
            # What a driver has a class of its own for, such as the ranges of PostgreSQL.
            size += len(str(one))
    return size


CANCEL_AFTER = 0.25
"""Seconds after the limit until the client cancels a statement that the engine has not stopped."""

ABANDON_AFTER = 0.6
"""Seconds after the limit until its connection is broken."""

LAST_RESORT_AFTER = 0.75
"""Seconds after the limit until the last resort of `Watchdog.supervise` is called."""

_STEPS_AFTER = (CANCEL_AFTER, ABANDON_AFTER, LAST_RESORT_AFTER)

SUPERVISED_AFTER = 10.0
"""Seconds after the limit until a process may be ended in which not even the last resort is heard of."""


class Guarded:
    """A statement that is being watched within its context. `fired`: whether it was cancelled."""

    def __init__(self, watchdog: "Watchdog", session: Session, limit: float) -> None:
        self.session = session
        self.limit = limit
        self.fired = False
        self.cancelling = Lock()
        """Held from asking for a cancel until it has reached the engine, or failed to."""
        self._watchdog = watchdog
        self._steps_taken = 0

    def __enter__(self) -> Self:
        self._watchdog.begin(self)
        return self

    def __exit__(self, *_: object) -> None:
        self._watchdog.end(self)

    @property
    def due(self) -> float | None:
        """When the next step is due, on the monotonic clock; None after the last one."""
        done = self._steps_taken
        return self.limit + _STEPS_AFTER[done] if done < len(_STEPS_AFTER) else None

    def step(self) -> Callable[[], None]:
        """Return the next step; it is for the caller to do it."""
        self.fired = True
        self._steps_taken += 1
        return (self._cancel, self.session.abandon, self._watchdog.last_resort)[self._steps_taken - 1]

    def _cancel(self) -> None:
        self.cancelling.acquire()
        self._watchdog.cancels.put(self)


class Watchdog:
    """Stops, from outside, statements of this process that the engine has not stopped when their time was up.

    First a statement is cancelled, then its connection is broken; one that runs in this process and can be
    stopped by neither goes to `last_resort`, which may end the process.

    One thread watches them all. It sleeps while they are in time, and their coming and going does not wake
    it, so that it disturbs nothing that is timed. A second one cancels: connecting to a server may take long.
    Both are started before the first statement: a late one may have taken the memory that a thread needs.
    """

    def __init__(self) -> None:
        self._changed = Condition()
        self._guarded: set[Guarded] = set()
        self.cancels: SimpleQueue[Guarded] = SimpleQueue()
        self._wakes: float | None = None
        self._process: int | None = None
        self._until: Callable[[float | None], None] = lambda _due: None
        self.last_resort: Callable[[], None] = lambda: None

    def supervise(self, until: Callable[[float | None], None], last_resort: Callable[[], None]) -> None:
        """Report statements to a supervisor from now on.

        Args:
            until: is told by when this process may be ended, and None when that is over.
            last_resort: is called where a statement goes on after its connection was broken; may end the
                process.
        """
        self._until, self.last_resort = until, last_resort

    def guard(self, session: Session, seconds: float) -> Guarded:
        """Stop what `session` runs in the context of the result if it takes longer than `seconds`.

        No cancel is pending when the context ends: the session may be reused.
        """
        return Guarded(self, session, time.monotonic() + seconds)

    def begin(self, guarded: Guarded) -> None:
        """Watch a statement from now on."""
        with self._changed:
            self._started()
            self._guarded.add(guarded)
            if self._wakes is None or (guarded.due or 0.0) < self._wakes:
                self._changed.notify()
        self._until(guarded.limit + SUPERVISED_AFTER)

    def end(self, guarded: Guarded) -> None:
        """Watch it no more, once no cancel of it is pending."""
        with self._changed:
            self._guarded.discard(guarded)
        with guarded.cancelling:
            pass
        self._until(None)

    def cancel_all(self) -> None:
        """Cancel every statement that runs in this process, which is about to end."""
        with self._changed:
            for each in self._guarded:
                each.session.cancel()

    def _started(self) -> None:
        """Start the threads, in a forked child again: threads stay behind in the parent."""
        if self._process != os.getpid():
            self._process = os.getpid()
            self._guarded.clear()
            self.cancels = SimpleQueue()
            Thread(target=self._watch, name="bird-watchdog", daemon=True).start()
            Thread(target=_cancel, args=(self.cancels,), name="bird-cancel", daemon=True).start()

    def _watch(self) -> None:
        with self._changed:
            while True:
                now = time.monotonic()
                late = [each for each in self._guarded if each.due is not None and each.due <= now]
                for each in late:
                    each.step()()
                waiting = [each.due for each in self._guarded if each.due is not None]
                self._wakes = min(waiting, default=None)
                self._changed.wait(None if self._wakes is None else max(0.0, self._wakes - now))


def _cancel(cancels: SimpleQueue[Guarded]) -> None:
    """Cancel whatever comes, one statement after the other."""
    while True:
        guarded = cancels.get()
        # Where a cancel fails, for want of memory for one, breaking the connection is the next step.
        with contextlib.suppress(Exception):
            guarded.session.cancel()
        guarded.cancelling.release()
        del guarded  # and with it the session


WATCHDOG = Watchdog()
"""The watchdog of this process."""


@dataclass(frozen=True)
class Work:
    """The work of one execution of a text: counts by the engine's own names."""

    counters: Mapping[str, int]


def encode_work(work: Work) -> bytes:
    """Encode `work` as bytes, for the cache."""
    return ascii_json(work.counters, is_compact=True).encode()


def decode_work(data: bytes) -> Work:
    """Decode the result of `encode_work`; ValueError for anything else."""
    return Work(to_record(dict[str, int], parse_json(data.decode())))


@dataclass(frozen=True)
class NotCounted:
    """Why an engine does not count the work of a text, in one sentence for the user."""

    reason: str


def count_work(engine: Engine, database: Database, sql: str, limits: Limits) -> Work | NotCounted:
    """Run one SQL text once, in a session of its own, and count what the engine does for it.

    Its rows are dropped, so that of the limits `seconds` alone matters. The engine's own limits hold, too.

    Args:
        engine: where to run it.
        database: the one that unqualified table names mean.
        sql: the text as it is.
        limits: what it may use.

    Raises:
        SqlTimeout: its time was up.
        SqlTooLarge: it needs more memory or disk than allowed.
        SqlError: the engine refused it, or failed while it ran.
        EngineLost: the engine is to blame, not the text.
    """
    with engine.session(database, limits.seconds) as session:
        with WATCHDOG.guard(session, limits.seconds) as guarded:
            try:
                counters = session.counted(sql)
            except CannotCount as cannot:
                return NotCounted(cannot.reason)
            except MemoryError as error:
                raise SqlTooLarge("more memory than counting may take", None) from error
            except SqlError as error:
                if guarded.fired and not isinstance(error, SqlTimeout):
                    raise SqlTimeout(error.message, error.code) from error
                raise
        # An engine may call a statement ended that it was told to stop.
        if guarded.fired:
            raise SqlTimeout(f"it took longer than {limits.seconds:.3g} s", None)
        return Work(dict(sorted((name, count) for name, count in counters.items() if count)))


# A text is run again if the server failed rather than the text, so that no outcome reflects a server's
# trouble. A text is blamed for a lost connection only after repeated losses while it ran alone beside a
# *sentinel*, a second, idle connection that survived. The harness waits for a server that restarts, or has no
# connection left; if it stays away, later texts do not wait again.


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
    """Results of the tries of one text so far."""

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
