"""One SQL text on one database becomes one `Execution`: rows, an error, a timeout or too large a result.

Limits are enforced by the engine, and by the `Watchdog` should the engine let one pass. `count_work` says
what a text makes its engine do, the same on a busy machine as on an idle one; `harness.metrics.work` weighs
it.
"""

import contextlib
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from threading import Condition, Thread
from typing import ClassVar

from harness.engines.base import (
    CannotCount,
    Engine,
    EngineLost,
    Row,
    Session,
    SqlError,
    SqlTimeout,
    SqlTooLarge,
)
from loaders.namespace import Database

_SIZED = (str, bytes)


class Ending(StrEnum):
    """How the run of one SQL text can end."""

    ROWS = "rows"
    ERROR = "error"
    TIMEOUT = "timeout"
    TOO_LARGE = "too_large"


@dataclass(frozen=True)
class Limits:
    """What one SQL text may use: wall-clock seconds, rows, and bytes of text in all rows together.

    30 seconds is the official evaluator's limit for a prediction and its gold together.
    """

    seconds: float = 30.0
    rows: int = 1_000_000
    bytes: int = 256 * 2**20


@dataclass(frozen=True)
class Execution:
    """What came of one SQL text.

    `rows` is empty unless `ending` is ROWS; `error` and `code` are the engine's own words otherwise;
    `seconds` is wall-clock time from sending the text to having the last row.
    """

    ending: Ending
    rows: tuple[Row, ...] = ()
    error: str | None = None
    code: str | None = None
    seconds: float = 0.0


def execute(engine: Engine, database: Database, sql: str, limits: Limits) -> Execution:
    """Run one SQL text in a session of its own, so that no statement can influence another.

    Raises:
        EngineLost: the engine is to blame, not the statement.
    """
    with engine.session(database, limits.seconds) as session:
        started = time.perf_counter()
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
        return Execution(ending, rows, error, code, time.perf_counter() - started)


def refuses(engine: Engine, database: Database, sql: str, execution: Execution, limits: Limits) -> bool:
    """Whether `execution`, a text's, is an error that it would end with at any other moment, too.

    That is so where the engine refuses the text before it runs anything of it. False when in doubt.
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
            return Ending.TOO_LARGE, (), f"more than {limits.rows:,} rows"
        if size > limits.bytes:
            return Ending.TOO_LARGE, (), f"more than {limits.bytes:,} bytes"
    return Ending.ROWS, tuple(rows), None


def _size(rows: list[Row]) -> int:
    """Bytes of texts and of bytes as Python keeps them; other values are small."""
    return sum(
        [
            len(value) if isinstance(value, bytes) or value.isascii() else 4 * len(value)
            for value in chain.from_iterable(rows)
            if isinstance(value, _SIZED)
        ]
    )


CANCEL_AFTER = 0.25
"""Seconds after the limit until the client cancels a statement that the engine has not stopped."""

ABANDON_AFTER = 0.6
"""Seconds after the limit until its connection is broken."""

LAST_RESORT_AFTER = 0.75
"""Seconds after the limit until `Watchdog.last_resort` is called."""

SUPERVISED_AFTER = 10.0
"""Seconds after the limit until a process may be ended in which not even the last resort is heard of."""


class Guarded:
    """A statement that is being watched. `fired`: whether it was cancelled."""

    def __init__(self, session: Session, limit: float) -> None:
        self.session = session
        self.limit = limit
        self.fired = False
        self._steps: list[tuple[float, Callable[[], None]]] = [
            (limit + CANCEL_AFTER, self._cancel),
            (limit + ABANDON_AFTER, session.abandon),
            (limit + LAST_RESORT_AFTER, Watchdog.last_resort),
        ]

    @property
    def due(self) -> float | None:
        """When the next step is due, on the monotonic clock; None after the last one."""
        return self._steps[0][0] if self._steps else None

    def step(self) -> Callable[[], None]:
        """Take the next step from the list; it is for the caller to do it."""
        self.fired = True
        return self._steps.pop(0)[1]

    def _cancel(self) -> None:
        # May take as long as connecting takes, and others are waiting for the watchdog, too.
        self.cancelling = Thread(target=self.session.cancel, name="bird-cancel", daemon=True)
        self.cancelling.start()

    cancelling: Thread | None = None


class Watchdog:
    """Stops, from outside, statements of this process that the engine has not stopped when their time was up.

    First a statement is cancelled, then its connection is broken; one that runs in this process and can be
    stopped by neither goes to `last_resort`, which may end the process.

    One thread serves them all. It sleeps while they are in time, and their coming and going does not wake it,
    so that it disturbs nothing that is timed.
    """

    last_resort: ClassVar[Callable[[], None]] = staticmethod(lambda: None)
    """What is done about a statement that goes on after its connection was broken."""

    until: ClassVar[Callable[[float | None], None]] = staticmethod(lambda _due: None)
    """Is told by when whoever supervises this process may end it, and None when that is over."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._guarded: set[Guarded] = set()
        self._wakes: float | None = None
        self._process: int | None = None

    @contextlib.contextmanager
    def guard(self, session: Session, seconds: float) -> Iterator[Guarded]:
        """Stop what `session` runs in this context if it takes longer than `seconds`.

        No cancel is on its way any more when the context ends: the session may go on to somebody else.
        """
        guarded = Guarded(session, time.monotonic() + seconds)
        with self._changed:
            self._started()
            self._guarded.add(guarded)
            if self._wakes is None or (guarded.due or 0.0) < self._wakes:
                self._changed.notify()
        Watchdog.until(guarded.limit + SUPERVISED_AFTER)
        try:
            yield guarded
        finally:
            Watchdog.until(None)
            with self._changed:
                self._guarded.discard(guarded)
            if guarded.cancelling is not None:
                guarded.cancelling.join()

    def cancel_all(self) -> None:
        """Cancel every statement that runs in this process, which is about to end."""
        with self._changed:
            for each in self._guarded:
                each.session.cancel()

    def _started(self) -> None:
        """Start the thread, in a forked child again: threads stay behind in the parent."""
        if self._process != os.getpid():
            self._process = os.getpid()
            self._guarded.clear()
            Thread(target=self._watch, name="bird-watchdog", daemon=True).start()

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


WATCHDOG = Watchdog()
"""The one of this process."""


@dataclass(frozen=True)
class Work:
    """What one execution of a text made the engine do: how often each thing, by the engine's own names."""

    counters: Mapping[str, int]


def encode_work(work: Work) -> bytes:
    """`work` as bytes, to be kept."""
    return json.dumps(work.counters, separators=(",", ":")).encode()


def decode_work(data: bytes) -> Work:
    """Back from `encode_work`. Of anything else ValueError."""
    counters = json.loads(data)
    if not isinstance(counters, dict) or not all(type(count) is int for count in counters.values()):
        raise ValueError("these are no counters")
    return Work(counters)


@dataclass(frozen=True)
class NotCounted:
    """An engine that does not count the work of a text, and why, in one sentence for the user."""

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
