"""The HTTP client under the official one: each request, a repeated one too, is paid, paced and ended in time.

Imported only where an endpoint is asked, because what it stands on takes a second to import.
"""

import asyncio
from collections.abc import AsyncIterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

import httpx2

from harness.predictors.adapters.common import Secrets
from harness.predictors.adapters.endpoint_answers import refusal_of, usage_of
from harness.predictors.base import PredictorBroken, Usage
from harness.predictors.budget import Meter, Pace, Reservation

MOST_BYTES = 16 * 1024 * 1024
"""The longest body that is read."""
UNREACHED = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.UnsupportedProtocol)
"""What is raised where nothing was sent."""
_WAIT = 0.05
"""Seconds between looks at a budget that only requests under way stand in the way of."""


@dataclass
class AskAccount:
    """One ask: what it may take by estimate, what its requests took, and how the last one ended."""

    prompt_tokens: int
    completion_tokens: int
    usage: Usage = field(default_factory=Usage)
    ended: str = ""


ACCOUNT: ContextVar[AskAccount] = ContextVar("account")
"""The ask for which the running task sends requests."""


class AnswerTooLong(Exception):
    """A body beyond what is read."""


class PaidClient(httpx2.AsyncClient):
    """Sends requests of the ask in `ACCOUNT`.

    Args:
        meter: what may be spent.
        pace: how fast.
        secrets: what no message may have in it.
        timeout: seconds for a whole answer.
        connect_timeout: seconds of them to reach the server.
    """

    def __init__(
        self, meter: Meter, pace: Pace, secrets: Secrets, timeout: float, connect_timeout: float
    ) -> None:
        super().__init__(
            timeout=httpx2.Timeout(timeout, connect=connect_timeout, pool=None),
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=None, keepalive_expiry=30),
            event_hooks={"response": [_bound]},
        )
        self.answered = False
        """Whether the server has ever answered anything."""
        self._meter = meter
        self._pace = pace
        self._secrets = secrets
        self._seconds = timeout

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send one request and read its whole answer.

        Raises:
            BudgetSpent: it would go beyond the budget.
            PredictorBroken: the answer says that no other will be better, which the client would not know.
            AnswerTooLong: its body is too long.
            httpx2.RequestError: there is no whole answer.
        """
        account = ACCOUNT.get()
        held = await self._held(account)
        try:
            await asyncio.sleep(self._pace.reserve(account.prompt_tokens + account.completion_tokens))
        except BaseException:
            self._meter.release(held)
            raise
        # Without an answer nobody knows what it took: the estimate counts.
        usage, body = Usage(1), b""
        try:
            async with asyncio.timeout(self._seconds):
                response = await super().send(request, **options)
            body = response.content
            usage = usage_of(body) if response.is_success else Usage(1, 0, 0)
        except UNREACHED as error:
            usage, account.ended = Usage(1, 0, 0), _said(error)
            raise
        except TimeoutError as error:
            account.ended = f"no whole answer within {self._seconds:g} s"
            raise httpx2.ReadTimeout(account.ended, request=request) from error
        except Exception as error:
            account.ended = _said(error)
            raise
        finally:
            known = Usage(1) if usage == Usage(1, 0, 0) else usage
            account.usage += known
            self._meter.after(held, usage, _answer_text(body, usage))
        self.answered = True
        if not response.is_success:
            refusal = refusal_of(response.status_code, self._secrets.hidden_bytes(body))
            account.ended = refusal.reason
            if refusal.final and response.status_code == HTTPStatus.TOO_MANY_REQUESTS:
                raise PredictorBroken(refusal.reason)
        return response

    async def _held(self, account: AskAccount) -> Reservation:
        # Threads share the meter: it has no event that could be awaited.
        while (held := self._meter.attempt(account.prompt_tokens, account.completion_tokens)) is None:  # noqa: ASYNC110
            await asyncio.sleep(_WAIT)
        return held


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _answer_text(body: bytes, usage: Usage) -> str:
    # Only where its tokens are unknown, so that they are estimated by what came.
    return body.decode("utf-8", "replace") if usage.completion_tokens is None else ""


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        read = 0
        async for piece in self._stream:
            read += len(piece)
            if read > MOST_BYTES:
                raise AnswerTooLong(f"an answer of more than {MOST_BYTES} bytes")
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _bound(response: httpx2.Response) -> None:
    if isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _Bounded(response.stream)
