"""How long texts wait for a server, so that one which stays away does not hold up every text."""

import time
from dataclasses import dataclass

from harness.engines.base import EngineLost


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
    """Whether a server was given up, and when it may be tried again."""

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
