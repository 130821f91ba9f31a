"""Limit what asking costs, and its rate.

A meter stops before a limit is exceeded, however many requests are in flight.

The estimated cost of a request is reserved before it is sent, and settled when it has been answered. So a
limit is exceeded only by what cannot be known beforehand: completion tokens if no maximum was set, and prompt
tokens that were estimated too low.
"""

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from dialects.errors import BadInput
from harness.predictors.base import Ask, BudgetSpent, Reply, RequestFailed, Usage, writable
from harness.predictors.prompts import ESTIMATE

_MILLION = 1_000_000


@dataclass(frozen=True)
class Budget:
    """Limits on spending, over all resumptions of a run; None means no limit.

    Raises:
        BadInput: a limit is not above 0, a price is below 0, or there is a limit on money without both
        prices.
    """

    requests: int | None = None
    """HTTP requests, failed ones included; for callables and commands, asks."""
    tokens: int | None = None
    """Tokens of prompts and completions together."""
    money: float | None = None
    """In the currency of the prices."""
    prompt_price: float | None = None
    """Price of a million prompt tokens."""
    completion_price: float | None = None
    """Price of a million completion tokens."""

    def __post_init__(self) -> None:
        for name in ("requests", "tokens", "money"):
            limit = getattr(self, name)
            if limit is not None and not 0 < limit < math.inf:
                raise BadInput(f"budget of {limit} {name}: must be above 0; omit it for no limit")
        for price in (self.prompt_price, self.completion_price):
            if price is not None and not 0 <= price < math.inf:
                raise BadInput(f"a price of {price} per million tokens: must be 0 or more")
        if self.money is not None and not self.priced:
            prices = "give the prices of a million prompt tokens and of a million completion tokens"
            raise BadInput(f"budget of {self.money:g} in money without prices: {prices}")

    @property
    def priced(self) -> bool:
        """True if both prices are known."""
        return self.prompt_price is not None and self.completion_price is not None

    def cost(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        """Return the cost of so many tokens, None without prices."""
        if self.prompt_price is None or self.completion_price is None:
            return None
        return (prompt_tokens * self.prompt_price + completion_tokens * self.completion_price) / _MILLION


@dataclass(frozen=True)
class SpentBudget:
    """What has been spent so far.

    `estimated_tokens` is the part of the tokens that no predictor reported: for answers without usage, and
    answers lost on the way. `in_flight` counts the requests that have no answer yet; the other figures
    exclude them.
    """

    requests: int
    prompt_tokens: int
    completion_tokens: int
    estimated_tokens: int
    in_flight: int
    cost: float | None

    @property
    def tokens(self) -> int:
        """Prompt and completion tokens together."""
        return self.prompt_tokens + self.completion_tokens


CLOSED = "asking was ended before there was an answer"
_LOOK = 0.05
"""Seconds between looks at a budget that only requests in flight exhaust."""


@dataclass(eq=False)
class Bill:
    """One request: its estimated cost, and the actual one.

    `usage` is None while nothing was sent. What it lacks is estimated: prompt tokens as here, completion
    tokens from the answer's `text`, or as here without an answer.
    """

    prompt_tokens: int
    completion_tokens: int = 0
    usage: Usage | None = None
    text: str = ""

    def answered(self, reply: Reply) -> Reply:
        """Record what a reply cost; return it with at least one request and a text that can be written."""
        self.usage = replace(reply.usage, requests=max(reply.usage.requests, 1))
        self.text = writable(reply.text)
        return replace(reply, text=self.text, usage=self.usage)


class Meter:
    """Keeps requests within a budget and a pace, and counts their cost. Threads share one.

    `spent` is what a resumed run has spent already.
    """

    def __init__(
        self, budget: Budget | None = None, spent: Usage | None = None, pace: "Pace | None" = None
    ) -> None:
        self.budget = budget or Budget()
        self._pace = pace or Pace()
        before = spent or Usage()
        self._requests = before.requests
        self._prompt = before.prompt_tokens or 0
        self._completion = before.completion_tokens or 0
        self._estimated = 0
        self._held: list[Bill] = []
        self._lock = threading.Lock()

    @contextmanager
    def paying(self, ask: Ask, closed: threading.Event) -> Iterator[Bill]:
        """Wait until an ask may be sent, and settle its bill in the end.

        Raises:
            BudgetSpent: it would go beyond the budget.
            RequestFailed: closed while it waited.
        """
        with self.settling(Bill(prompt_tokens(ask))) as bill:
            for seconds in self.waits(bill):
                if closed.wait(seconds):
                    raise RequestFailed(CLOSED)
            bill.usage = Usage(1)
            yield bill

    @contextmanager
    def settling(self, bill: Bill) -> Iterator[Bill]:
        """Count a bill in the end, whatever happens."""
        try:
            yield bill
        finally:
            with self._lock:
                if bill in self._held:
                    self._held.remove(bill)
                if bill.usage is not None:
                    self._count(bill, bill.usage)

    def waits(self, bill: Bill) -> Iterator[float]:
        """Yield waits in seconds, in turn, until a request may be sent.

        Raises:
            BudgetSpent: it would go beyond the budget.
        """
        while not self.hold(bill):
            yield _LOOK
        yield self._pace.reserve(bill.prompt_tokens + bill.completion_tokens)

    def hold(self, bill: Bill) -> bool:
        """Reserve the estimated cost of a request; return False if only requests in flight prevent it.

        Raises:
            BudgetSpent: it would go beyond the budget.
        """
        with self._lock:
            limit = self.budget.requests
            # A request in flight counts as one whatever happens to it; its tokens may turn out to be fewer.
            if limit is not None and self._requests + len(self._held) >= limit:
                raise BudgetSpent(f"the budget of {limit} requests is spent; raise it and resume")
            prompt = self._prompt + bill.prompt_tokens
            completion = self._completion + bill.completion_tokens
            if over := self._over(prompt, completion):
                raise BudgetSpent(over)
            prompt += sum(held.prompt_tokens for held in self._held)
            completion += sum(held.completion_tokens for held in self._held)
            if self._over(prompt, completion):
                return False
            self._held.append(bill)
            return True

    def snapshot(self) -> SpentBudget:
        """Return what has been spent so far, including before the run was resumed."""
        with self._lock:
            cost = self.budget.cost(self._prompt, self._completion)
            held = len(self._held)
            return SpentBudget(self._requests, self._prompt, self._completion, self._estimated, held, cost)

    def _count(self, bill: Bill, usage: Usage) -> None:
        self._requests += max(usage.requests, 1)
        prompt, completion = usage.prompt_tokens, usage.completion_tokens
        if prompt is None:
            prompt = bill.prompt_tokens
            self._estimated += prompt
        if completion is None:
            completion = ESTIMATE.count(bill.text) if bill.text else bill.completion_tokens
            self._estimated += completion
        self._prompt += prompt
        self._completion += completion

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


def prompt_tokens(ask: Ask) -> int:
    """Estimate how many tokens the messages have."""
    return sum(ESTIMATE.count(message.content) for message in ask.messages)


_TOKEN_BURST = 10
"""The share of a minute's tokens that may be spent at once is 1 in this many."""


class Pace:
    """Spreads requests evenly over the minute, and tokens nearly so. Threads share one; None means no limit.

    Both are leaky buckets (GCRA, https://en.wikipedia.org/wiki/Generic_cell_rate_algorithm): a limit of 60
    requests lets one go per second, never 60 at once.
    """

    def __init__(
        self,
        requests_per_minute: int | None = None,
        tokens_per_minute: int | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._requests = requests_per_minute, 1
        self._tokens = tokens_per_minute, max((tokens_per_minute or 0) // _TOKEN_BURST, 1)
        self._free = [0.0, 0.0]
        """When the buckets of requests and of tokens will have drained."""
        self._clock = clock
        self._lock = threading.Lock()

    def reserve(self, tokens: int) -> float:
        """Reserve a slot for one request of so many tokens.

        Returns:
            After how many seconds it may be sent: the caller waits that long, interruptibly.
        """
        with self._lock:
            at = now = self._clock()
            for place, (limit, burst), weight in ((0, self._requests, 1), (1, self._tokens, tokens)):
                if limit is not None:
                    seconds, begun = 60 / limit, max(self._free[place], now)
                    at = max(at, begun + (weight - burst) * seconds)
                    self._free[place] = begun + weight * seconds
            return at - now
