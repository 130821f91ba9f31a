"""What asking may cost, and how fast it may go.

A meter stops before a limit is passed, however many requests are under way.

What a request may take is held back before it is sent, and settled when it has been answered. So the only
thing that can go beyond a limit is what nobody can know beforehand: completion tokens where no maximum was
asked for, and prompt tokens as far as they were estimated too low.
"""

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dialects.errors import BadInput
from harness.predictors.base import BudgetSpent, Usage
from harness.predictors.prompts.prompter import ESTIMATE

if TYPE_CHECKING:
    from pyrate_limiter import StateBucket

_MILLION = 1_000_000


@dataclass(frozen=True)
class Budget:
    """What may be spent at most, over all resumptions of a run; None is no limit.

    Raises:
        BadInput: a limit is not above 0, a price below 0, or there is a limit on money without both prices.
    """

    requests: int | None = None
    """HTTP requests, with those that failed; for callables and commands, asks."""
    tokens: int | None = None
    """Tokens of prompts and completions together."""
    money: float | None = None
    """In the currency of the prices."""
    prompt_price: float | None = None
    """What a million prompt tokens cost."""
    completion_price: float | None = None
    """What a million completion tokens cost."""

    def __post_init__(self) -> None:
        for name in ("requests", "tokens", "money"):
            limit = getattr(self, name)
            if limit is not None and not 0 < limit < math.inf:
                raise BadInput(f"budget of {limit} {name}: has to be above 0; leave it out for no limit")
        for price in (self.prompt_price, self.completion_price):
            if price is not None and not 0 <= price < math.inf:
                raise BadInput(f"a price of {price} per million tokens: has to be 0 or more")
        if self.money is not None and not self.priced:
            prices = "give the prices of a million prompt tokens and of a million completion tokens"
            raise BadInput(f"budget of {self.money:g} in money without prices: {prices}")

    @property
    def priced(self) -> bool:
        """Whether both prices are known."""
        return self.prompt_price is not None and self.completion_price is not None

    def cost(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        """What so many tokens cost, None without prices."""
        if self.prompt_price is None or self.completion_price is None:
            return None
        return (prompt_tokens * self.prompt_price + completion_tokens * self.completion_price) / _MILLION


@dataclass(frozen=True)
class SpentBudget:
    """What has been spent so far.

    `estimated_tokens` is the part of the tokens that nobody told: answers without usage, and answers that
    were lost on the way. `in_flight` counts the requests that have no answer yet; the other figures leave
    them out.
    """

    requests: int
    prompt_tokens: int
    completion_tokens: int
    estimated_tokens: int
    in_flight: int
    cost: float | None

    @property
    def tokens(self) -> int:
        """Of prompts and completions together."""
        return self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True, eq=False)
class Reservation:
    """What is held back for one request that is under way."""

    prompt_tokens: int
    completion_tokens: int


class Meter:
    """Counts requests, tokens and money against a budget. Threads share one.

    `spent` is what a resumed run has spent already.
    """

    def __init__(self, budget: Budget | None = None, spent: Usage | None = None) -> None:
        self.budget = budget or Budget()
        before = spent or Usage()
        self._requests = before.requests
        self._prompt = before.prompt_tokens or 0
        self._completion = before.completion_tokens or 0
        self._estimated = 0
        self._held: set[Reservation] = set()
        self._closed = False
        self._settled = threading.Condition()

    def before_request(self, prompt_tokens: int, completion_tokens: int = 0) -> Reservation:
        """Hold back what a request may take; waits while only requests under way stand in its way.

        Args:
            prompt_tokens: an estimate.
            completion_tokens: the most that was asked for, 0 where no maximum was.

        Raises:
            BudgetSpent: the request would go beyond the budget, or the meter was closed while waiting.
        """
        with self._settled:
            while (held := self._attempt(prompt_tokens, completion_tokens)) is None:
                self._settled.wait()
            return held

    def attempt(self, prompt_tokens: int, completion_tokens: int = 0) -> Reservation | None:
        """As `before_request`, but None instead of waiting."""
        with self._settled:
            return self._attempt(prompt_tokens, completion_tokens)

    def after(self, reservation: Reservation, usage: Usage, text: str = "") -> None:
        """Settle a request with what it took.

        Prompt tokens that nobody told count as they were held back. Completion tokens that nobody told count
        as `text` has them, which is what was answered; without an answer, as they were held back.
        """
        with self._settled:
            self._held.remove(reservation)
            self._requests += max(usage.requests, 1)
            prompt, completion = usage.prompt_tokens, usage.completion_tokens
            if prompt is None:
                prompt = reservation.prompt_tokens
                self._estimated += prompt
            if completion is None:
                completion = ESTIMATE.count(text) if text else reservation.completion_tokens
                self._estimated += completion
            self._prompt += prompt
            self._completion += completion
            self._settled.notify_all()

    def release(self, reservation: Reservation) -> None:
        """Give back what was held for a request that was never sent."""
        with self._settled:
            self._held.remove(reservation)
            self._settled.notify_all()

    def snapshot(self) -> SpentBudget:
        """What has been spent so far, with what had been before the run was resumed."""
        with self._settled:
            cost = self.budget.cost(self._prompt, self._completion)
            held = len(self._held)
            return SpentBudget(self._requests, self._prompt, self._completion, self._estimated, held, cost)

    def close(self) -> None:
        """Let nothing be sent any more: who waits or comes gets BudgetSpent."""
        with self._settled:
            self._closed = True
            self._settled.notify_all()

    def _attempt(self, prompt_tokens: int, completion_tokens: int) -> Reservation | None:
        if self._closed:
            raise BudgetSpent("nothing more is asked: asking was ended")
        limit = self.budget.requests
        # A request under way counts as one whatever becomes of it; its tokens may turn out to be fewer.
        if limit is not None and self._requests + len(self._held) >= limit:
            raise BudgetSpent(f"the budget of {limit} requests is spent; raise it and resume")
        prompt, completion = self._prompt + prompt_tokens, self._completion + completion_tokens
        if over := self._over(prompt, completion):
            raise BudgetSpent(over)
        prompt += sum(held.prompt_tokens for held in self._held)
        completion += sum(held.completion_tokens for held in self._held)
        if self._over(prompt, completion):
            return None
        reservation = Reservation(prompt_tokens, completion_tokens)
        self._held.add(reservation)
        return reservation

    def _over(self, prompt: int, completion: int) -> str | None:
        limit = self.budget.tokens
        if limit is not None and prompt + completion > limit:
            figures = f"{self._prompt + self._completion} spent, {prompt + completion} with the next request"
            return f"the budget of {limit} tokens is spent ({figures}); raise it and resume"
        money, cost = self.budget.money, self.budget.cost(prompt, completion)
        if money is not None and cost is not None and cost > money:
            spent = self.budget.cost(self._prompt, self._completion)
            figures = f"{spent:.4f} spent, {cost:.4f} with the next request"
            return f"the budget of {money:g} in money is spent ({figures}); raise it and resume"
        return None


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
