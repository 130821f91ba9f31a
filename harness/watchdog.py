"""Cancels, from outside, statements that the engine has not stopped when their time was up."""

import contextlib
import time
from collections.abc import Iterator
from threading import Condition, Thread
from types import TracebackType
from typing import Self

from harness.engines.base import Session

_AFTER_SECONDS = 0.25
"""How long after the limit the client stops a statement that the engine has not stopped."""

_AGAIN_SECONDS = 1.0
"""How long a statement has to end before it is cancelled again."""


class Watchdog:
    """Watches statements that are run one after the other; a context manager.

    One thread serves them all. It sleeps while they are in time, and their coming and going does not wake it,
    so that it disturbs nothing that is timed.
    """

    def __init__(self) -> None:
        self._changed = Condition()
        self._session: Session | None = None
        self._due = 0.0
        self._wakes: float | None = None
        self._ended = False
        self._thread = Thread(target=self._watch, name="bird-watchdog", daemon=True)
        self.fired = False
        """Whether the statement that is guarded now, or was last, was cancelled."""

    @contextlib.contextmanager
    def guard(self, session: Session, seconds: float) -> Iterator[None]:
        """Cancel what `session` runs in this context if it takes longer than `seconds`.

        No cancel is on its way any more when the context ends: the session may go on to somebody else.
        """
        self.fired = False
        self._arm(session, time.monotonic() + seconds + _AFTER_SECONDS)
        try:
            yield
        finally:
            with self._changed:
                self._session = None

    def _arm(self, session: Session, due: float) -> None:
        with self._changed:
            self._session, self._due = session, due
            if self._wakes is None or due < self._wakes:
                self._changed.notify()

    def _watch(self) -> None:
        with self._changed:
            while not self._ended:
                now = time.monotonic()
                if self._session is not None and now >= self._due:
                    self.fired = True
                    self._session.cancel()
                    self._due = time.monotonic() + _AGAIN_SECONDS
                self._wakes = self._due if self._session is not None else None
                self._changed.wait(None if self._wakes is None else self._wakes - now)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._changed:
            self._ended = True
            self._changed.notify()
        self._thread.join()
