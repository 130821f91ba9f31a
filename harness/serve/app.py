"""The application of a reward server: routes, limits and the token."""

import asyncio
import hmac
import json
import re
import time
from collections import Counter
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from ipaddress import ip_address
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

import harness
from dialects.errors import BadInput, HarnessError
from harness.data.answers import Extract
from harness.data.outcomes import Judgement, Outcome
from harness.serve import nemo_gym
from harness.serve.counters import Counters
from harness.serve.messages import (
    NDJSON,
    Health,
    ScoredAnswer,
    ScoredBatch,
    SentAnswer,
    SentOptions,
    SentSingle,
    StreamedAnswer,
    docs_page,
    openapi,
    parse_request,
    scored,
)
from harness.session.batches import BatchEvaluator, Prepared
from harness.session.resolver import Answer, Triple
from loaders.base.errors import brief
from loaders.base.files import one_line, parse_json
from loaders.base.records import encode, to_object

_BODY_SECONDS = 30
"""Seconds that a client has to send a body."""
_PAUSE_SECONDS = 5
"""Seconds that it may pause between two parts."""
_SMALL_BODY = 2**16
"""Bytes of a body that there is always room for, as many as have arrived before anything is refused."""
_BODIES = 64 * 2**20
"""Bytes of larger bodies that are in memory at a time, from their first part to the end of the response."""
_DISCARDED = 4
"""Times the greatest size that are read of a body that is too large: a client reads the refusal after it."""
_RETRY = {"Retry-After": "1"}


@dataclass(frozen=True)
class ServiceLimits:
    """What one process of a server accepts.

    `queue` is the most answers being judged at a time, `body` the most bytes of a request, `deadline` the
    most seconds of a batch and what holds for one without a deadline. `hosts` are the names, in lower case,
    by which a server without a token may be asked, besides those of loopback addresses.
    """

    queue: int
    body: int
    deadline: float
    hosts: Collection[str] = ()


class _Room:
    """The bytes of the bodies of all requests, and those of one of them."""

    def __init__(self, most: int) -> None:
        self.left = most

    @contextmanager
    def share(self) -> Iterator["_Share"]:
        """Provide a share of it, which is given back at the end of the block."""
        share = _Share(self)
        try:
            yield share
        finally:
            self.left += share.taken


class _Share:
    def __init__(self, room: _Room) -> None:
        self._room = room
        self.taken = 0

    def take(self, size: int) -> bool:
        """Take what a body of that size needs beyond what every body has; False if there is no room."""
        more = max(0, size - _SMALL_BODY) - self.taken
        if more > self._room.left:
            return False
        self._room.left -= more
        self.taken += more
        return True


def is_named(name: str, hosts: Collection[str]) -> bool:
    """Return True if a host is this machine by a loopback name or address, or one of `hosts`.

    Args:
        name: a host with or without a port, as in the header `Host` or after the scheme of an `Origin`.
        hosts: other names, in lower case.
    """
    bracketed = _BRACKETED.fullmatch(name)
    host = (bracketed[1] if bracketed else name.partition(":")[0]).lower().removesuffix(".")
    if host == "localhost" or host in hosts:
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


_BRACKETED = re.compile(r"\[([^\[\]]*)\](?::\d*)?")


class Service:
    """Scores requests by evaluators, within limits.

    Args:
        evaluators: by the name of their set.
        limits: what is accepted at a time.
        token: must come with each request but those for health; None where everybody may ask who names the
            server by a loopback name or one of its hosts.
        counters: count what is done.
    """

    def __init__(
        self,
        evaluators: Mapping[str, BatchEvaluator],
        limits: ServiceLimits,
        token: str | None,
        counters: Counters,
    ) -> None:
        self._evaluators = evaluators
        self._limits = limits
        self._token = token
        self.counters = counters
        self.room = _Room(max(_BODIES, 2 * limits.body))
        self._waiting = 0
        """The answers of batches between `_admitted`, which adds them, and the end of `_held`.

        Only the event loop's thread counts. An `await` between the two must return the places if it fails, or
        the request would keep them for ever.
        """
        self._will_note = False
        self.is_stopping = False
        """True once no new batch is accepted."""

    @property
    def _extract(self) -> str:
        return next(iter(self._evaluators.values())).extract

    @property
    def is_idle(self) -> bool:
        """True if no batch is being judged."""
        return not self._waiting

    def check_token(self, scope: Scope) -> None:
        """Refuse a request without the token."""
        if self._token is not None and not hmac.compare_digest(
            dict(scope["headers"]).get(b"authorization", b""), f"Bearer {self._token}".encode()
        ):
            raise HTTPException(
                401,
                "the bearer token is missing or wrong; send `Authorization: Bearer TOKEN`",
                {"WWW-Authenticate": "Bearer"},
            )

    def check_host(self, scope: Scope) -> None:
        """Refuse what a page of another site sends by its visitor's browser, where no token keeps it out.

        Such a page may have its own name lead to this machine, which its `Host` shows.
        """
        if self._token is not None:
            return
        for name, value in scope["headers"]:
            text = value.decode("latin-1")
            host = text.partition("://")[2] if name == b"origin" else text
            if name in {b"host", b"origin"} and not is_named(host, self._limits.hosts):
                raise HTTPException(
                    403,
                    f"{name.decode()} {brief(repr(text))} is no name of this server; ask it as localhost, or"
                    " start it with --allow-host or a token",
                )

    async def health(self, request: Request) -> Response:
        """Tell whether batches are accepted."""
        del request
        status = "stopping" if self.is_stopping else "ok"
        shown = Health(status, harness.__version__, self._extract)
        return _json(asdict(shown), 503 if self.is_stopping else 200)

    async def metrics(self, request: Request) -> Response:
        """Return the counts of all processes."""
        self.check_token(request.scope)
        self._note()
        return PlainTextResponse(self.counters.text(), media_type="text/plain; version=0.0.4")

    async def describe(self, request: Request) -> Response:
        """Return the description of the interface."""
        del request
        return _json(openapi())

    async def reverify_mode(self, request: Request) -> Response:
        """Tell NeMo Gym that responses may be verified again."""
        del request
        return _json("stateless")

    async def docs(self, request: Request) -> Response:
        """Return the same as a page."""
        del request
        page, policy = docs_page()
        return HTMLResponse(page, headers={"Content-Security-Policy": policy})

    async def score(self, scope: Scope, receive: Receive, share: _Share) -> Response:
        """Judge one answer or a batch, whose body has a share of the room."""
        content = await self._content(scope, receive, share)
        try:
            sent = parse_request(content)
        except ValueError as fault:
            raise BadInput(f"the body is not a batch of answers: {brief(fault, 300)}") from None
        parts: Sequence[SentAnswer] = [sent] if isinstance(sent, SentSingle) else sent.answers
        answers = [each.to_answer() for each in parts]
        if NDJSON.encode() in dict(scope["headers"]).get(b"accept", b""):
            evaluator, deadline = self._admitted(len(answers), sent)
            return await self._streamed(evaluator, answers, deadline, sent)
        shown = await self._scores(receive, answers, sent)
        return _json(shown[0] if isinstance(sent, SentSingle) else ScoredBatch(shown))

    async def verify(self, scope: Scope, receive: Receive, share: _Share) -> Response:
        """Judge a response to a row of NeMo Gym's, and return both with the reward."""
        content = await self._object(scope, receive, share)
        row, text = nemo_gym.read_row(content)
        evaluator = self._evaluator(row.set)
        metric, own = row.metric or evaluator.outcome_metric, evaluator.extract
        policy = row.extract or ("answer-1" if own == Extract.NONE else None)
        sent = SentOptions(set=row.set, metrics=[metric], extract=policy)
        [judged] = await self._scores(receive, [row.answer(text)], sent)
        # Not by `_json`: what a model says may be no UTF-8.
        answer = json.dumps({**content, **asdict(nemo_gym.rewarded(metric, judged, judged.sql))})
        return Response(answer, media_type="application/json")

    async def session(self, scope: Scope, receive: Receive, share: _Share) -> Response:
        """Begin or end a session of NeMo Gym's; nothing is kept of it."""
        content = await self._object(scope, receive, share)
        return _json({name: content[name] for name in ("resources_session_id",) if name in content})

    async def aggregate(self, scope: Scope, receive: Receive, share: _Share) -> Response:
        """Return NeMo Gym's metrics of what `verify` returned."""
        return _json(nemo_gym.metrics(await self._object(scope, receive, share)))

    async def _content(self, scope: Scope, receive: Receive, share: _Share) -> Any:
        """Read the JSON of a request that may send it."""
        self.check_token(scope)
        if self.is_stopping:
            raise _stopping()
        kind = dict(scope["headers"]).get(b"content-type", b"")
        if kind.partition(b";")[0].strip().lower() != b"application/json":
            raise HTTPException(415, "the body is not JSON; send it with `Content-Type: application/json`")
        try:
            return parse_json((await self._body(receive, share)).decode())
        except ValueError as fault:
            raise HTTPException(400, f"the body is not JSON: {brief(fault, 300)}") from None

    async def _object(self, scope: Scope, receive: Receive, share: _Share) -> dict[str, Any]:
        try:
            return to_object(await self._content(scope, receive, share))
        except ValueError as fault:
            raise BadInput(f"the body is {fault}") from None

    def _admitted(self, count: int, sent: SentOptions) -> tuple[BatchEvaluator, float]:
        """Check the options of a batch and take places for its answers; `_held` must follow at once.

        Everything that may be refused comes before places are taken.
        """
        evaluator, deadline = self._evaluator(sent.set), self._deadline(sent.deadline)
        if unknown := [each for each in sent.metrics or () if each not in evaluator.metrics]:
            known = ", ".join(evaluator.metrics)
            raise BadInput(
                f"metric {brief(repr(unknown[0]))}: this server computes {known}; choose from them"
            )
        most = self._limits.queue
        if count > most:
            raise HTTPException(413, f"the batch has {count:,} answers; send at most {most:,} at a time")
        if self._waiting + count > most:
            raise HTTPException(429, f"{self._waiting:,} answers are waiting; try again", _RETRY)
        self._waiting += count
        self.counters.waiting(self._waiting)
        return evaluator, deadline

    async def _scores(
        self, receive: Receive, answers: Sequence[Answer | Triple], sent: SentOptions
    ) -> list[ScoredAnswer]:
        evaluator, deadline = self._admitted(len(answers), sent)
        with self._held(len(answers)):
            prepared = evaluator.prepare(answers, sent.extract)
            judged = evaluator.known(prepared)
            if judged is None:
                judged = await _unless_gone(receive, evaluator.ascore(prepared, deadline=deadline))
        message = _scoring(evaluator, answers, prepared, sent)
        return [message(place, each) for place, each in enumerate(judged)]

    async def _body(self, receive: Receive, share: _Share) -> bytearray:
        """Read the body of a request, within its limits of size and time and the room that is left."""
        most, size, body, has_room = self._limits.body, 0, bytearray(), True
        try:
            async with asyncio.timeout(_BODY_SECONDS):
                while size <= _DISCARDED * most:
                    async with asyncio.timeout(_PAUSE_SECONDS):
                        message = await receive()
                    if message["type"] == "http.disconnect":
                        raise HTTPException(400, "the body was not sent completely")
                    size += len(message["body"])
                    has_room = has_room and size <= most and share.take(size)
                    if has_room:
                        body += message["body"]
                    else:
                        body.clear()
                    if not message["more_body"]:
                        break
        except TimeoutError:
            raise HTTPException(
                408,
                f"the body took more than {_BODY_SECONDS} s, or a pause {_PAUSE_SECONDS} s; send it faster",
            ) from None
        if size > most:
            raise HTTPException(413, f"the body has more than {most:,} bytes; send smaller batches")
        if not has_room:
            raise HTTPException(429, "the bodies of others fill the memory; try again", _RETRY)
        return body

    def _evaluator(self, name: str | None) -> BatchEvaluator:
        names = ", ".join(self._evaluators)
        if name is None:
            if len(self._evaluators) > 1:
                raise BadInput(f"no set is named, and this server has {names}; add `set`")
            return next(iter(self._evaluators.values()))
        if name not in self._evaluators:
            raise BadInput(f"set {brief(repr(name))}: this server has {names}; choose from them")
        return self._evaluators[name]

    def _deadline(self, asked: float | None) -> float:
        most = self._limits.deadline
        if asked is not None and not 0 < asked <= most:
            raise BadInput(f"deadline {asked:g}: must be above 0 and at most {most:g} s")
        return most if asked is None else asked

    @contextmanager
    def _held(self, count: int) -> Iterator[None]:
        """Return the places of a batch at the end of the block, whatever ends it."""
        try:
            yield
        finally:
            self._waiting -= count
            if not self._will_note:  # once for all that end at a time
                self._will_note = True
                asyncio.get_running_loop().call_soon(self._note)

    def _note(self) -> None:
        self._will_note = False
        self.counters.waiting(self._waiting)
        outcomes: Counter[Outcome] = Counter()
        cached = executed = late = 0
        for each in self._evaluators.values():
            done = each.statistics
            outcomes.update(done.outcomes)
            cached, executed, late = cached + done.cached, executed + done.executed, late + done.late
        self.counters.judged(outcomes, cached, executed, late)

    async def _streamed(
        self,
        evaluator: BatchEvaluator,
        answers: Sequence[Answer | Triple],
        deadline: float,
        sent: SentOptions,
    ) -> Response:
        try:
            prepared = evaluator.prepare(answers, sent.extract)
            judged = await evaluator.astream(prepared, deadline=deadline)
        except BaseException:
            with self._held(len(answers)):
                raise
        message = _scoring(evaluator, answers, prepared, sent)

        async def lines() -> AsyncIterator[bytes]:
            async for place, judgement in judged:
                yield encode(StreamedAnswer(place, message(place, judgement))) + b"\n"

        return _Stream(lines(), judged, lambda: self._held(len(answers)))


def _scoring(
    evaluator: BatchEvaluator, answers: Sequence[Answer | Triple], prepared: Prepared, sent: SentOptions
) -> Callable[[int, Judgement], ScoredAnswer]:
    """Return what makes the message about an answer, from its place and its judgement."""
    asked = sent.extract or evaluator.extract

    def message(place: int, judgement: Judgement) -> ScoredAnswer:
        policy = asked if isinstance(answers[place].sql, str) else Extract.NONE
        sql = None if policy == Extract.NONE else prepared.sql[place]
        return scored(judgement, sent.metrics, policy, sql)

    return message


class _Stream(StreamingResponse):
    """Streams a batch; whatever becomes of it, its places are returned."""

    def __init__(
        self, lines: AsyncIterator[bytes], judged: AsyncGenerator[Any], held: Callable[[], Any]
    ) -> None:
        super().__init__(lines, media_type=NDJSON)
        self._judged, self._held = judged, held

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._held():
            try:
                await super().__call__(scope, receive, send)
            finally:
                await self._judged.aclose()


async def _unless_gone(receive: Receive, judging: Any) -> list[Judgement]:
    """Return the judgements; if the client goes away, stop judging what has not begun."""
    work: asyncio.Future[list[Judgement]] = asyncio.ensure_future(judging)
    gone: asyncio.Future[Any] = asyncio.ensure_future(receive())
    try:
        await asyncio.wait((work, gone), return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            raise HTTPException(400, "the client has gone")
        return work.result()
    finally:
        for each in (work, gone):
            each.cancel()


_Judging = Callable[[Scope, Receive, _Share], Awaitable[Response]]


class _Scores:
    """An endpoint of scores, which counts how long they take."""

    def __init__(self, service: Service, judge: _Judging) -> None:
        self._service, self._judge = service, judge

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._service.room.share() as share:
            await self._answer(scope, receive, send, share)

    async def _answer(self, scope: Scope, receive: Receive, send: Send, share: _Share) -> None:
        begun = time.monotonic()
        failure: Exception | None = None
        try:
            response = await self._judge(scope, receive, share)
        except HTTPException as error:
            response = await _refused(None, error)
        except HarnessError as error:
            response = await _wrong(None, error)
        except asyncio.CancelledError:  # the second signal
            response = await _refused(None, _stopping())
        except Exception as error:  # noqa: BLE001 - raised again
            response, failure = await _broken(None, error), error
        with suppress(asyncio.CancelledError):
            await response(scope, receive, send)
        if scope["path"].endswith(("/score", "/verify")):
            self._service.counters.seconds(time.monotonic() - begun)
        if failure is not None:
            raise failure


class _Counted:
    """Counts the requests of an application, whose router those for scores pass by, and checks their host."""

    def __init__(self, app: ASGIApp, scores: Mapping[str, ASGIApp], service: Service) -> None:
        self._app, self._scores, self._service = app, scores, service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._service.counters.request(message["status"])
            await send(message)

        try:
            self._service.check_host(scope)
        except HTTPException as error:
            await (await _refused(None, error))(scope, receive, counted)
            return
        app = self._app
        if scope["type"] == "http" and scope["method"] == "POST":
            app = self._scores.get(_ROLLOUT.sub("", scope["path"]), app)
        await app(scope, receive, counted)


_ROLLOUT = re.compile(r"^/ng-rollout/[^/]+(?=/)")
"""NeMo Gym may send the rollout to which a request belongs as the beginning of its path."""


def application(service: Service) -> ASGIApp:
    """Return the application, as a server of ASGI runs it."""
    judging = {
        "/score": service.score,
        "/verify": service.verify,
        "/seed_session": service.session,
        "/close_session": service.session,
        "/aggregate_metrics": service.aggregate,
    }
    scores = {path: _Scores(service, judge) for path, judge in judging.items()}
    app = Starlette(
        routes=[
            # For their 405 and `Allow`.
            *(Route(path, endpoint, methods=["POST"]) for path, endpoint in scores.items()),
            Route("/reverify_mode", service.reverify_mode),
            Route("/health", service.health),
            Route("/metrics", service.metrics),
            Route("/openapi.json", service.describe),
            Route("/docs", service.docs),
        ],
        exception_handlers={
            HTTPException: _refused,
            HarnessError: _wrong,
            Exception: _broken,
        },
    )
    return _Counted(app, scores, service)


def _stopping() -> HTTPException:
    return HTTPException(503, "the server is stopping; try again", _RETRY)


async def _refused(request: Request | None, error: Exception) -> Response:
    del request
    assert isinstance(error, HTTPException)  # noqa: S101 - for the type
    return _json({"error": one_line(error.detail)}, error.status_code, error.headers)


async def _wrong(request: Request | None, error: Exception) -> Response:
    del request
    status = 422 if isinstance(error, BadInput) else 503
    return _json({"error": one_line(str(error))}, status)


async def _broken(request: Request | None, error: Exception) -> Response:
    del request, error
    return _json({"error": "a fault of the server; its log has more"}, 500)


def _json(content: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(encode(content), status, headers, "application/json")
