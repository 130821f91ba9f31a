"""Run one SQL text on one database into an `Execution`: rows, an error, a timeout or too large a result.

Limits are enforced by the engine, and by the `Watchdog` if the engine fails to. `count_work` counts a text's
work, which is the same on a busy machine as on an idle one; `harness.metrics.work` weighs it.
"""

import contextlib
import datetime as dt
import os
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import StrEnum
from itertools import accumulate, chain
from queue import SimpleQueue
from sys import getsizeof
from threading import Condition, Lock, Thread
from types import NoneType
from typing import Self, cast
from uuid import UUID

from harness.engines.base import (
    CannotCount,
    Engine,
    EngineLost,
    Row,
    ServerSession,
    Session,
    SqlError,
    SqlTimeout,
    SqlTooLarge,
)
from harness.engines.supervision import settle
from loaders.base.files import ascii_json, parse_json
from loaders.base.records import to_record
from loaders.namespace import Database
from loaders.server import Parameters, Server


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


def execute(
    engine: Engine, database: Database, sql: str, limits: Limits, values: Parameters | None = None
) -> Execution:
    """Run one SQL text in a session of its own, so that no statement can influence another.

    `values` are those of its parameters, as the driver takes them; None: it has none.

    Raises:
        EngineLost: the engine failed, not the statement.
    """
    with engine.session(database, limits.seconds) as session:
        started = time.perf_counter()
        until = time.monotonic() + limits.seconds
        code = None
        with WATCHDOG.guard(session, limits.seconds) as guarded:
            try:
                ending, rows, error = _collect(session, sql, limits, values)
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


def _collect(
    session: Session, sql: str, limits: Limits, values: Parameters | None
) -> tuple[Ending, tuple[Row, ...], str | None]:
    rows: list[Row] = []
    size = 0
    # An engine of another package may take none.
    for batch in session.batches(sql) if values is None else session.batches(sql, values):
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
