"""Stops, from outside, statements that the engine has not stopped when their time was up.

First a statement is cancelled, then its connection is broken; one that runs in this process and can be
stopped by neither goes to `Watchdog.last_resort`, which may end the process.
"""

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from threading import Condition, Thread
from typing import ClassVar

from harness.engines.base import Session

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
    """Watches the statements of all threads of this process.

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
