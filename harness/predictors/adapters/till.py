"""Where an ask is paid for that is no HTTP request of this process: a call, or a line to a command."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from harness.predictors.adapters.slots import CLOSED
from harness.predictors.adapters.texts import writable
from harness.predictors.base import Ask, Reply, RequestFailed, Usage
from harness.predictors.budget import Meter, estimated_tokens
from harness.predictors.pace import Pace


@dataclass
class Bill:
    """What one ask took, as far as it is known."""

    usage: Usage
    text: str = ""

    def answered(self, reply: Reply) -> Reply:
        """The same reply, with one request at least and a text that can be written; noted is what it took."""
        self.usage = replace(reply.usage, requests=max(reply.usage.requests, 1))
        self.text = writable(reply.text)
        return replace(reply, text=self.text, usage=self.usage)


class Till:
    """Holds asks against a budget and a pace."""

    def __init__(self, meter: Meter, pace: Pace) -> None:
        self._meter = meter
        self._pace = pace
        self._closed = threading.Event()

    @contextmanager
    def paying(self, ask: Ask) -> Iterator[Bill]:
        """Wait until the ask is within budget and pace; what its bill says in the end is what it took.

        Raises:
            BudgetSpent: it would go beyond the budget.
            RequestFailed: closed before.
        """
        tokens = prompt_tokens(ask)
        held = self._meter.before_request(tokens)
        if self._closed.wait(self._pace.reserve(tokens)):
            self._meter.release(held)
            raise RequestFailed(CLOSED)
        bill = Bill(Usage(1))
        try:
            yield bill
        finally:
            self._meter.after(held, bill.usage, bill.text)

    def close(self) -> None:
        """Let nobody wait any more."""
        self._closed.set()


def prompt_tokens(ask: Ask) -> int:
    """Roughly how many tokens the messages have."""
    return sum(estimated_tokens(message.content) for message in ask.messages)
