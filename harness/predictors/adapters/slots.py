"""A few things that one thread at a time may use each: places for calls, processes of a command."""

import queue
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Generic, TypeVar

from harness.predictors.base import RequestFailed

CLOSED = "asking was ended before there was an answer"

Thing = TypeVar("Thing")


class Slots(Generic[Thing]):
    """Things to be used by one thread at a time each, the one that was used last first."""

    def __init__(self, things: Sequence[Thing]) -> None:
        self._free: queue.LifoQueue[Thing | None] = queue.LifoQueue()
        self._closed = threading.Event()
        for thing in things:
            self._free.put(thing)

    @contextmanager
    def one(self) -> Iterator[Thing]:
        """Whichever is free; waits for one.

        Raises:
            RequestFailed: closed, before or while waiting.
        """
        thing = self._free.get()
        if thing is None or self._closed.is_set():
            self._free.put(None)  # for the next who waits
            raise RequestFailed(CLOSED)
        try:
            yield thing
        finally:
            self._free.put(thing)

    def close(self) -> None:
        """Let nobody in any more."""
        self._closed.set()
        self._free.put(None)
