"""A client of `bird-harness serve`, in one file that needs httpx2 alone: copy it, or import it from here.

    from harness.serve.client import ScoreClient, reward

    with ScoreClient("http://127.0.0.1:8642") as client:
        judged = client.score([{"database": "shop", "gold": "SELECT 1", "sql": "SELECT 1"}])
        rewards = [reward(each) for each in judged]

Answers and judgements are the JSON objects of the server's `/openapi.json`.
"""

import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self

import httpx2

_BUSY = (429, 503)
"""Statuses after which the same request may succeed."""
_LOST = (httpx2.NetworkError, httpx2.RemoteProtocolError)
"""No server, or one that ended before it answered: to judge again does no harm."""


class ScoreFailure(Exception):
    """The server gave no scores: `status` is that of HTTP, the text the server's reason."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(f"{status}: {reason}")
        self.status = status


def reward(judgement: Mapping[str, Any], metric: str = "ex") -> float | None:
    """Return a score of a judgement; None if gold, the engine or the deadline failed, not the predictor."""
    return float(judgement["scores"][metric]) if judgement["is_predictors"] else None


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
        token = token or os.environ.get("BIRD_SERVE_TOKEN")
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._http = httpx2.Client(base_url=address, headers=headers, timeout=timeout)
        self._patience = patience

    def score(
        self,
        answers: Sequence[Mapping[str, Any]],
        *,
        set_name: str | None = None,
        metrics: Sequence[str] | None = None,
        deadline: float | None = None,
    ) -> list[dict[str, Any]]:
        """Return the judgement of each answer, in order.

        Args:
            answers: `{"question": ..., "sql": ...}` or `{"database": ..., "gold": ..., "sql": ...}` each.
            set_name: one of the server's sets, if it has several.
            metrics: some of the server's metrics; default: all.
            deadline: seconds for all of them together.

        Raises:
            ScoreFailure: the server refuses the batch, or is busy for longer than the client's patience.
            httpx2.TransportError: no server answers.
        """
        with self._sent(answers, set_name, metrics, deadline, {}) as response:
            judged: list[dict[str, Any]] = json.loads(response.read())["answers"]
        return judged

    def stream(
        self,
        answers: Sequence[Mapping[str, Any]],
        *,
        set_name: str | None = None,
        metrics: Sequence[str] | None = None,
        deadline: float | None = None,
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield answers as they are judged: the place of each in `answers`, and its judgement.

        Args and errors are those of `score`.
        """
        accept = {"Accept": "application/x-ndjson"}
        with self._sent(answers, set_name, metrics, deadline, accept) as response:
            for line in response.iter_lines():
                judged = json.loads(line)
                yield judged["place"], judged["answer"]

    @contextmanager
    def _sent(
        self,
        answers: Sequence[Mapping[str, Any]],
        set_name: str | None,
        metrics: Sequence[str] | None,
        deadline: float | None,
        headers: Mapping[str, str],
    ) -> Iterator[httpx2.Response]:
        """Send a batch; within the block, its response."""
        given = {"set": set_name, "metrics": metrics and list(metrics), "deadline": deadline}
        body = {"answers": list(answers), **{name: each for name, each in given.items() if each is not None}}
        response = self._answered(
            self._http.build_request("POST", "/score", json=body, headers=headers), is_stream=bool(headers)
        )
        try:
            yield response
        finally:
            response.close()

    def _answered(self, request: httpx2.Request, *, is_stream: bool) -> httpx2.Response:
        """Send a request, again while the server is busy, lost or not up; return the response with scores."""
        until = time.monotonic() + self._patience
        while True:
            pause = 1.0
            try:
                response = self._http.send(request, stream=is_stream)
            except _LOST:
                if time.monotonic() + pause > until:
                    raise
            else:
                if response.status_code == httpx2.codes.OK:
                    return response
                reason = _reason(response)
                pause = float(response.headers.get("Retry-After", pause))
                if response.status_code not in _BUSY or time.monotonic() + pause > until:
                    raise ScoreFailure(response.status_code, reason)
            time.sleep(pause)

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


def _reason(response: httpx2.Response) -> str:
    """Return the server's reason, or the beginning of what somebody else, such as a proxy, answered."""
    text = response.read().decode(errors="replace")
    response.close()
    try:
        return str(json.loads(text)["error"])
    except (ValueError, KeyError, TypeError):
        return text[:200]
