"""What asking may cost, and how fast it may go.

A meter stops before a limit is passed, however many requests are under way.

What a request may take is held back before it is sent, and settled when it has been answered. So the only
thing that can go beyond a limit is what nobody can know beforehand: completion tokens where no maximum was
asked for, and prompt tokens as far as they were estimated too low.
"""

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from dialects.errors import BadInput
from harness.predictors.base import Ask, BudgetSpent, Reply, RequestFailed, Usage
from harness.predictors.common import writable
from harness.predictors.prompts import ESTIMATE

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


CLOSED = "asking was ended before there was an answer"
_LOOK = 0.05
"""Seconds between looks at a budget that only requests under way stand in the way of."""


@dataclass(eq=False)
class Bill:
    """One request: what it may take by estimate, and what it took.

    `usage` is None while nothing was sent. What nobody told of it counts as estimated: prompt tokens as here,
    completion tokens as `text` has them, which is what was answered; without an answer, as here.
    """

    prompt_tokens: int
    completion_tokens: int = 0
    usage: Usage | None = None
    text: str = ""

    def answered(self, reply: Reply) -> Reply:
        """The same reply, with one request at least and a text that can be written; noted is what it took."""
        self.usage = replace(reply.usage, requests=max(reply.usage.requests, 1))
        self.text = writable(reply.text)
        return replace(reply, text=self.text, usage=self.usage)


class Meter:
    """Holds requests against a budget and a pace, and counts what they take. Threads share one.

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
        """Wait until an ask may be sent, and settle what its bill says in the end.

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
        """Count in the end what a bill says, whatever happens."""
        try:
            yield bill
        finally:
            with self._lock:
                if bill in self._held:
                    self._held.remove(bill)
                if bill.usage is not None:
                    self._count(bill, bill.usage)

    def waits(self, bill: Bill) -> Iterator[float]:
        """Yield the seconds to wait, one after the other, until a request may be sent.

        Raises:
            BudgetSpent: it would go beyond the budget.
        """
        while not self.hold(bill):
            yield _LOOK
        yield self._pace.reserve(bill.prompt_tokens + bill.completion_tokens)

    def hold(self, bill: Bill) -> bool:
        """Hold back what a request may take; False where only requests under way stand in its way.

        Raises:
            BudgetSpent: it would go beyond the budget.
        """
        with self._lock:
            limit = self.budget.requests
            # A request under way counts as one whatever becomes of it; its tokens may turn out to be fewer.
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
        """What has been spent so far, with what had been before the run was resumed."""
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
    """Roughly how many tokens the messages have."""
    return sum(ESTIMATE.count(message.content) for message in ask.messages)


_TOKEN_BURST = 10
"""One in so many of a minute's tokens may be spent at once."""


class Pace:
    """Spreads requests evenly over the minute, and tokens nearly so. Threads share one; None is no limit.

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
        """When the buckets of requests and of tokens have drained what was put in."""
        self._clock = clock
        self._lock = threading.Lock()

    def reserve(self, tokens: int) -> float:
        """Take a place for one request of so many tokens.

        Returns:
            After how many seconds it may be sent: whoever asks waits that long, in a way that can be
            broken off.
        """
        with self._lock:
            at = now = self._clock()
            for place, (limit, burst), weight in ((0, self._requests, 1), (1, self._tokens, tokens)):
                if limit is not None:
                    seconds, begun = 60 / limit, max(self._free[place], now)
                    at = max(at, begun + (weight - burst) * seconds)
                    self._free[place] = begun + weight * seconds
            return at - now
