"""How fast may be asked: requests and tokens per minute, first come, first served."""

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from dialects.errors import BadInput

if TYPE_CHECKING:
    from pyrate_limiter import StateBucket

_MINUTE = 60_000  # milliseconds
_TOKEN_BURST = 10
"""One in so many of a minute's tokens may be spent at once."""


class Pace:
    """Spreads requests evenly over the minute, and tokens nearly so. Threads share one; None is no limit.

    Both are leaky buckets (GCRA, https://en.wikipedia.org/wiki/Generic_cell_rate_algorithm): a limit of 60
    requests lets one go per second, never 60 at once.

    Raises:
        BadInput: there is a limit, and the library that keeps it is not installed.
    """

    def __init__(
        self,
        requests_per_minute: int | None = None,
        tokens_per_minute: int | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._requests = None if requests_per_minute is None else _bucket(requests_per_minute, 1)
        self._tokens = (
            None
            if tokens_per_minute is None
            else _bucket(tokens_per_minute, tokens_per_minute // _TOKEN_BURST)
        )
        self._clock = clock
        self._lock = threading.Lock()

    def reserve(self, tokens: int) -> float:
        """Take a place for one request of so many tokens.

        Returns:
            After how many seconds it may be sent: whoever asks waits that long, in a way that can be
            broken off.
        """
        with self._lock:
            now = int(self._clock() * 1000)
            at = now
            if self._requests is not None:
                at = max(at, _place(self._requests, now, 1))
            if self._tokens is not None:
                at = max(at, _place(self._tokens, now, tokens))
            return (at - now) / 1000


def _bucket(limit: int, burst: int) -> "StateBucket":
    try:
        from pyrate_limiter import GCRA, Rate, StateBucket  # noqa: PLC0415 - only who sets a limit pays for it
    except ImportError as error:
        remedy = "pip install 'bird-harness[models]', or set no limits per minute"
        raise BadInput(f"limits per minute: pyrate-limiter is not installed ({error}); {remedy}") from None
    return StateBucket([Rate(limit, _MINUTE, burst=max(burst, 1))], algorithm=GCRA())


def _place(bucket: "StateBucket", now: int, weight: int) -> int:
    # A place in the future is taken at once: the bucket's state then stands for it, and whoever comes later
    # is put behind. What is more than a burst takes several places, and may go with the last one.
    from pyrate_limiter import RateItem  # noqa: PLC0415

    at = now
    burst = bucket.rates[0].burst
    while weight > 0:
        item = RateItem("", at, min(weight, burst))
        while not bucket.put(item):
            wait = bucket.waiting(item)
            assert isinstance(wait, int)  # noqa: S101 - a bucket in memory answers at once
            item.timestamp += wait
        at = item.timestamp
        weight -= item.weight
    return at
