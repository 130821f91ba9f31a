"""A client of `bird-harness serve`, in one file that needs httpx2 alone: copy it, or import it from here.

    from harness.serve.client import ScoreClient, reward

    with ScoreClient("http://127.0.0.1:8642") as client:
        judged = client.score([{"database": "shop", "gold": "SELECT 1", "sql": "SELECT 1"}])
        rewards = [reward(each) for each in judged]

`AsyncScoreClient` is the same for asyncio: `await client.score(...)`, `async for ... in client.stream(...)`.

Answers and judgements are the JSON objects of the server's `/openapi.json`.
"""

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Self

import httpx2

_BUSY = (429, 503)
"""Statuses after which the same request may succeed."""
_PAUSE = 1.0
"""Seconds between two attempts, unless the server names its own."""
_LOST = (httpx2.NetworkError, httpx2.RemoteProtocolError)
"""No server, or one that ended before it answered: to judge again does no harm."""


_MAY_DECIDE_NOTHING = ("strict", "state")
"""Verdicts on answers to tasks."""


class ScoreFailure(Exception):
    """The server gave no scores: `status` is that of HTTP, the text the server's reason."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(f"{status}: {reason}")
        self.status = status


def reward(judgement: Mapping[str, Any], metric: str = "ex") -> float | None:
    """Return a score of a judgement; None if gold, the engine or the deadline failed, not the predictor.

    Of a task it is `official`, `strict` or `state`; None, too, if that verdict decides nothing.
    """
    scores = judgement["scores"]
    is_undecided = metric in _MAY_DECIDE_NOTHING and metric not in scores
    return None if is_undecided or not judgement["is_predictors"] else float(scores[metric])


class ScoreClient:
    """Sends answers to a server and returns their judgements; threads may share it.

    Args:
        address: of the server.
        token: default: the variable BIRD_SERVE_TOKEN, if it is set.
        patience: seconds for which a request is repeated while the server is busy, lost or not up.
        timeout: seconds to wait for a response: more than the deadline of a batch.
    """

    def __init__(
        self,
        address: str = "http://127.0.0.1:8642",
        *,
        token: str | None = None,
        patience: float = 60.0,
        timeout: float = 330.0,
    ) -> None:
        self._http = httpx2.Client(base_url=address, headers=_access(token), timeout=timeout)
        self._patience = patience

    def score(
        self,
        answers: Sequence[Mapping[str, Any]],
        *,
        set_name: str | None = None,
        metrics: Sequence[str] | None = None,
        deadline: float | None = None,
        extract: str | None = None,
    ) -> list[dict[str, Any]]:
        """Return the judgement of each answer, in order.

        Args:
            answers: `{"question": ..., "sql": ...}` or `{"database": ..., "gold": ..., "sql": ...}` each; the
                `sql` of a task may be a list of statements.
            set_name: one of the server's sets, if it has several.
            metrics: some of the server's metrics; default: all.
            deadline: seconds for all of them together.
            extract: how the SQL is taken out of the answers; default: as the server does.

        Raises:
            ScoreFailure: the server refuses the batch, or is busy for longer than the client's patience.
            httpx2.TransportError: no server answers.
        """
        with self._sent(_batch(answers, set_name, metrics, deadline, extract), {}) as response:
            judged: list[dict[str, Any]] = json.loads(response.read())["answers"]
        return judged

    def stream(
        self,
        answers: Sequence[Mapping[str, Any]],
        *,
        set_name: str | None = None,
        metrics: Sequence[str] | None = None,
        deadline: float | None = None,
        extract: str | None = None,
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield answers as they are judged: the place of each in `answers`, and its judgement.

        Args and errors are those of `score`.
        """
        body = _batch(answers, set_name, metrics, deadline, extract)
        with self._sent(body, {"Accept": "application/x-ndjson"}) as response:
            for line in response.iter_lines():
                judged = json.loads(line)
                yield judged["place"], judged["answer"]

    @contextmanager
    def _sent(self, body: Mapping[str, Any], headers: Mapping[str, str]) -> Iterator[httpx2.Response]:
        """Send a batch; within the block, its response."""
        request = self._http.build_request("POST", "/score", json=body, headers=headers)
        until = time.monotonic() + self._patience
        while True:
            pause = _PAUSE
            try:
                response = self._http.send(request, stream=bool(headers))
            except _LOST:
                if time.monotonic() + _PAUSE > until:
                    raise
            else:
                again = _pause(response, until)
                if again is None:
                    break
                pause = again
                response.read()
                response.close()
            time.sleep(pause)
        try:
            if response.status_code != httpx2.codes.OK:
                response.read()
                raise ScoreFailure(response.status_code, _reason(response))
            yield response
        finally:
            response.close()

    def is_ready(self) -> bool:
        """Return True if the server takes batches."""
        try:
            return self._http.get("/health").status_code == httpx2.codes.OK
        except httpx2.TransportError:
            return False

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncScoreClient:
    """As `ScoreClient`, in an event loop; tasks may share it.

    Args:
        address: of the server.
        token: default: the variable BIRD_SERVE_TOKEN, if it is set.
        patience: seconds for which a request is repeated while the server is busy, lost or not up.
        timeout: seconds to wait for a response: more than the deadline of a batch.
    """

    def __init__(
        self,
        address: str = "http://127.0.0.1:8642",
        *,
        token: str | None = None,
        patience: float = 60.0,
        timeout: float = 330.0,
    ) -> None:
        # Each rollout may wait for its own answer, so connections are not limited.
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=100)
        self._http = httpx2.AsyncClient(
            base_url=address, headers=_access(token), timeout=timeout, limits=limits
        )
        self._patience = patience

    async def score(
        self,
        answers: Sequence[Mapping[str, Any]],
        *,
        set_name: str | None = None,
        metrics: Sequence[str] | None = None,
        deadline: float | None = None,
        extract: str | None = None,
    ) -> list[dict[str, Any]]:
        """Return the judgement of each answer, in order; args and errors are those of `ScoreClient.score`."""
        async with self._sent(_batch(answers, set_name, metrics, deadline, extract), {}) as response:
            judged: list[dict[str, Any]] = json.loads(await response.aread())["answers"]
        return judged

    async def stream(
        self,
        answers: Sequence[Mapping[str, Any]],
        *,
        set_name: str | None = None,
        metrics: Sequence[str] | None = None,
        deadline: float | None = None,
        extract: str | None = None,
    ) -> AsyncIterator[tuple[int, dict[str, Any]]]:
        """Yield answers as they are judged: the place of each in `answers`, and its judgement."""
        body = _batch(answers, set_name, metrics, deadline, extract)
        async with self._sent(body, {"Accept": "application/x-ndjson"}) as response:
            async for line in response.aiter_lines():
                judged = json.loads(line)
                yield judged["place"], judged["answer"]

    @asynccontextmanager
    async def _sent(
        self, body: Mapping[str, Any], headers: Mapping[str, str]
    ) -> AsyncIterator[httpx2.Response]:
        """Send a batch; within the block, its response."""
        request = self._http.build_request("POST", "/score", json=body, headers=headers)
        until = time.monotonic() + self._patience
        while True:
            pause = _PAUSE
            try:
                response = await self._http.send(request, stream=bool(headers))
            except _LOST:
                if time.monotonic() + _PAUSE > until:
                    raise
            else:
                again = _pause(response, until)
                if again is None:
                    break
                pause = again
                await response.aread()
                await response.aclose()
            await asyncio.sleep(pause)
        try:
            if response.status_code != httpx2.codes.OK:
                await response.aread()
                raise ScoreFailure(response.status_code, _reason(response))
            yield response
        finally:
            await response.aclose()

    async def is_ready(self) -> bool:
        """Return True if the server takes batches."""
        try:
            return (await self._http.get("/health")).status_code == httpx2.codes.OK
        except httpx2.TransportError:
            return False

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


def _access(token: str | None) -> dict[str, str]:
    token = token or os.environ.get("BIRD_SERVE_TOKEN")
    return {"Authorization": f"Bearer {token}"} if token else {}


def _batch(
    answers: Sequence[Mapping[str, Any]],
    set_name: str | None,
    metrics: Sequence[str] | None,
    deadline: float | None,
    extract: str | None,
) -> dict[str, Any]:
    given = {
        "set": set_name, "metrics": metrics and list(metrics), "deadline": deadline, "extract": extract,
    }  # fmt: skip
    return {"answers": list(answers), **{name: each for name, each in given.items() if each is not None}}


def _pause(response: httpx2.Response, until: float) -> float | None:
    """Return the seconds after which to send a request again; None if its response is final."""
    pause = float(response.headers.get("Retry-After", _PAUSE))
    return pause if response.status_code in _BUSY and time.monotonic() + pause <= until else None


def _reason(response: httpx2.Response) -> str:
    """Return the server's reason, or the beginning of what somebody else, such as a proxy, answered."""
    text = response.content.decode(errors="replace")
    try:
        return str(json.loads(text)["error"])
    except (ValueError, KeyError, TypeError):
        return text[:200]
