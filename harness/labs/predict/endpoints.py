"""`openai:MODEL` and `azure:DEPLOYMENT`: any OpenAI-compatible endpoint, by the official client.

Each ask is one request, with the header `Idempotency-Key: IDENTITY-STAGE`, by which a server can recognise a
repetition. The client retries what may be retried, and waits as long as the endpoint says; every HTTP request
is subject to budget, pace and a timeout.

Imported only if an endpoint is used: the client takes more than a second to import.
"""

import asyncio
import os
from collections.abc import Mapping
from contextlib import ExitStack
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field, replace
from http import HTTPStatus
from typing import Any, Literal
from urllib.parse import SplitResult, quote, urlsplit

import httpx2
import openai
from anyio import CancelScope
from anyio.from_thread import start_blocking_portal

from dialects.errors import BadInput
from harness.data.responses import chat_response, member, responses_response
from harness.labs.predict.budget import CLOSED, Bill, Meter, prompt_tokens
from harness.labs.predict.settings import (
    LEAST_IN_ANSWERS,
    Api,
    MaxTokensField,
    Secrets,
    Settings,
    count_or_none,
    parsed,
    secrets_of,
    text_or_none,
)
from harness.predictors.base import (
    Ask,
    BudgetSpent,
    PredictorBroken,
    Reply,
    RequestFailed,
    Usage,
    shortened,
    writable,
)
from loaders.base.files import ascii_json

Service = Literal["openai", "azure"]
"""Who runs the endpoint, which decides its address format."""
_OPENAI = "https://api.openai.com/v1"
_NEWER_FIELDS = (".openai.com", ".azure.com")
"""Hosts that require `max_completion_tokens`."""
_NO_KEY = "none"
"""Sent to a user's own server that needs no key: the client requires one."""


def _find(
    service: Service, model: str, settings: Settings, environment: Mapping[str, str]
) -> tuple[str, str | None, str, str]:
    """Return the endpoint's address, the version of its interface, the key and its variable."""
    if not model.strip():
        example = "openai:gpt-5-mini" if service == "openai" else "azure:my-deployment"
        raise BadInput(f"{service}: no model is named; write it as {example}")
    variable = settings.key_variable or {"openai": "OPENAI_API_KEY", "azure": "AZURE_OPENAI_API_KEY"}[service]
    key = environment.get(variable, "").strip()
    if not key.isascii() or not key.isprintable():
        raise BadInput(f"{variable}: has characters that no key has; set it again")
    version: str | None = None
    if service == "azure":
        named = settings.base_url or environment.get("AZURE_OPENAI_ENDPOINT", "").strip()
        version = environment.get("OPENAI_API_VERSION", "").strip()
        if not named:
            raise BadInput("azure: no address; set AZURE_OPENAI_ENDPOINT to that of the resource")
        if not version:
            raise BadInput("azure: no API version; set OPENAI_API_VERSION, for example to 2024-10-21")
        url = _checked(named, "AZURE_OPENAI_ENDPOINT")
    else:
        named = settings.base_url or environment.get("OPENAI_BASE_URL", "").strip() or _OPENAI
        url = _checked(named, "base URL")
    if not key and (settings.key_variable or service == "azure" or url == _OPENAI):
        remedy = f"set {variable} in the environment"
        other = ", or give the base URL of another endpoint" if url == _OPENAI else ""
        raise BadInput(f"{service}:{model}: no key; {remedy}{other}")
    return url, version, key, variable


def _checked(url: str, name: str) -> str:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        parts = SplitResult("", "", "", "", "")
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise BadInput(f"{name}: not an address; write it as http://localhost:8000/v1")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise BadInput(
            f"{name}: contains credentials or a query; give only the address, and the key in a variable"
        )
    return url.rstrip("/")


def _max_tokens_field(settings: Settings, service: Service, url: str) -> MaxTokensField:
    if settings.max_tokens_field is not MaxTokensField.AUTO:
        return settings.max_tokens_field
    host = f".{urlsplit(url).hostname or ''}"
    newer = service == "azure" or host.endswith(_NEWER_FIELDS)
    return MaxTokensField.MAX_COMPLETION_TOKENS if newer else MaxTokensField.MAX_TOKENS


MOST_BYTES = 16 * 1024 * 1024
"""The longest body that is accepted."""
_UNREACHED = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.UnsupportedProtocol)
"""Raised if nothing was sent."""


@dataclass
class AskAccount:
    """One ask: estimated cost of a request, actual cost of all of them, and how the last one ended."""

    prompt_tokens: int
    completion_tokens: int
    usage: Usage = field(default_factory=Usage)
    ended: str = ""


_ACCOUNT: ContextVar[AskAccount] = ContextVar("account")
"""Account of the ask for which the running task sends requests."""


class PaidClient(httpx2.AsyncClient):
    """The HTTP client under the official one: sends requests of the ask in `_ACCOUNT`.

    `answered` is True if the server has ever answered anything.
    """

    def __init__(self, meter: Meter, secrets: Secrets, settings: Settings) -> None:
        super().__init__(
            timeout=httpx2.Timeout(settings.timeout, connect=settings.connect_timeout, pool=None),
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=None, keepalive_expiry=30),
        )
        self.answered = False
        self._meter = meter
        self._secrets = secrets
        self._seconds = settings.timeout

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send one request and read its whole answer.

        Raises:
            BudgetSpent: it would go beyond the budget.
            PredictorBroken: the answer shows that none can be better, which the client would not know.
            RequestFailed: its answer is too long.
            httpx2.RequestError: there is no whole answer.
        """
        account = _ACCOUNT.get()
        with self._meter.settling(Bill(account.prompt_tokens, account.completion_tokens)) as bill:
            for seconds in self._meter.waits(bill):
                await asyncio.sleep(seconds)
            # Without an answer its cost is unknown: the estimate counts.
            bill.usage = Usage(1)
            account.usage += Usage(1)
            try:
                async with asyncio.timeout(self._seconds):
                    response = await self._whole(request, {**options, "stream": True})
            except _UNREACHED as error:
                bill.usage, account.ended = Usage(1, 0, 0), _said(error)
                raise
            except TimeoutError as error:
                account.ended = f"no whole answer within {self._seconds:g} s"
                raise httpx2.ReadTimeout(account.ended, request=request) from error
            except Exception as error:
                account.ended = _said(error)
                raise
            self.answered = True
            if not response.is_success:
                bill.usage = Usage(1, 0, 0)
                refusal = refusal_of(response.status_code, self._secrets.hidden_in(response.content))
                account.ended = str(refusal)
                if response.status_code == HTTPStatus.TOO_MANY_REQUESTS and isinstance(
                    refusal, PredictorBroken
                ):
                    raise refusal
                return response
            bill.usage, bill.text = usage_of(response.content), response.content.decode("utf-8", "replace")
            account.usage += replace(bill.usage, requests=0)
        return response

    async def _whole(self, request: httpx2.Request, options: Mapping[str, Any]) -> httpx2.Response:
        came = await super().send(request, **options)
        body = bytearray()
        try:
            async for piece in came.aiter_raw():
                body += piece
                if len(body) > MOST_BYTES:
                    raise RequestFailed(f"the answer has more than {MOST_BYTES} bytes")
        finally:
            await came.aclose()
        return httpx2.Response(
            came.status_code,
            headers=came.headers,
            content=bytes(body),
            request=request,
            extensions=came.extensions,
        )


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


_USUAL_TEMPERATURE = "0, unless the model refuses it"
_REASON = 600
"""Maximum characters of a reason: the endpoint's words and those around them."""


class EndpointPredictor:
    """Asks a model behind HTTP, in its own event loop.

    Raises:
        BadInput: the key or the address is missing.
    """

    def __init__(self, service: Service, model: str, settings: Settings, meter: Meter) -> None:
        self._service = service
        self._model = model
        self._settings = settings
        # The address has neither credentials nor a query; only the client holds the key.
        self._url, self._version, key, self._variable = _find(service, model, settings, os.environ)
        self._secrets = secrets_of(os.environ, key or None)
        self._parameters = _parameters(settings, service, self._url)
        self._takes_temperature = True
        self._http = PaidClient(meter, self._secrets, settings)
        common: dict[str, Any] = {
            "api_key": key or _NO_KEY,
            "max_retries": settings.retries,
            "http_client": self._http,
        }
        self._client = (
            openai.AsyncOpenAI(base_url=self._url, **common)
            if service == "openai"
            else openai.AsyncAzureOpenAI(
                azure_endpoint=self._url, azure_deployment=model, api_version=self._version, **common
            )
        )
        self._open = ExitStack()
        self._portal = self._open.enter_context(start_blocking_portal())
        self._open.enter_context(self._portal.wrap_async_context_manager(self._http))
        self._running: set[CancelScope] = set()
        self._closed = False

    @property
    def identity(self) -> Mapping[str, Any]:
        """Return the model, its address, and every parameter that was set."""
        usual = {} if self._settings.temperature is not None else {"temperature": _USUAL_TEMPERATURE}
        facts: dict[str, Any] = {
            **usual,
            "kind": self._service,
            "model": self._model,
            "base_url": self._url,
            "api_version": self._version,
            "api": str(self._settings.api),
            "seed": self._settings.seed,
            "extra_body": dict(self._settings.extra_body) or None,
            **self._parameters,
        }
        return {name: value for name, value in facts.items() if value is not None}

    def ask(self, ask: Ask) -> Reply:
        """Send the messages, and read the answer."""
        try:
            reply = self._portal.call(self._asked, ask)
        except RuntimeError:  # raised by a closed portal
            raise RequestFailed(CLOSED) from None
        if isinstance(reply, Exception):  # raised here, without an exception of the client as its context
            raise reply
        return reply

    def close(self) -> None:
        """Cancel requests in flight, and close connections."""
        if not self._closed:
            self._portal.call(self._break_off)
            self._open.close()

    def _break_off(self) -> None:
        self._closed = True
        for scope in self._running:
            scope.cancel()

    async def _asked(self, ask: Ask) -> Reply | Exception:
        account = AskAccount(prompt_tokens(ask), self._settings.max_tokens or 0)
        _ACCOUNT.set(account)
        with CancelScope() as scope:
            self._running.add(scope)
            try:
                if not self._closed:
                    return reply_of(await self._taken(ask), self._settings.api, account.usage)
            except Exception as error:  # noqa: BLE001 - anything the client raises fails this ask only
                return self._failure(error, account)
            finally:
                self._running.discard(scope)
        return RequestFailed(CLOSED, account.usage)

    async def _taken(self, ask: Ask) -> bytes:
        """Return the answer's body; ask again without the usual temperature if the model refuses that."""
        try:
            return await self._body(ask)
        except openai.BadRequestError as error:
            is_usual = self._settings.temperature is None and self._takes_temperature
            if not is_usual or b"temperature" not in error.response.content:
                raise
            self._takes_temperature = False
            return await self._body(ask)

    async def _body(self, ask: Ask) -> bytes:
        messages: list[Any] = [asdict(message) for message in ask.messages]
        parameters = dict(self._parameters)
        if self._settings.temperature is None and self._takes_temperature:
            parameters["temperature"] = 0.0
        if self._settings.seed is not None:
            parameters["seed"] = self._settings.seed + ask.sample
        options: dict[str, Any] = {
            **parameters,
            "model": self._model,
            "extra_headers": {"Idempotency-Key": f"{ask.identity}-{quote(ask.stage, safe='')}"},
            "extra_body": dict(self._settings.extra_body) or None,
        }
        if self._settings.api is Api.CHAT:
            chat = await self._client.chat.completions.with_raw_response.create(messages=messages, **options)
            content = chat.http_response.content
        else:
            answer = await self._client.responses.with_raw_response.create(
                input=messages, store=False, **options
            )
            content = answer.http_response.content
        return self._secrets.hidden_in(content, LEAST_IN_ANSWERS)

    def _failure(self, error: Exception, account: AskAccount) -> Exception:
        hidden = self._secrets.hidden
        place = f"{self._model} at {self._url}"
        sent = account.usage.requests
        tries = f" ({sent} requests)" if sent > 1 else ""
        if isinstance(error, BudgetSpent):
            # Report what the requests cost; the next ask will find the budget spent.
            reason = hidden(f"{account.ended}; not sent again: {error}")
            return RequestFailed(reason, account.usage) if sent else BudgetSpent(str(error))
        broken, reason = "", f"{type(error).__name__}: {error}"
        if isinstance(error, RequestFailed):
            reason = error.reason
        elif isinstance(error, PredictorBroken):
            broken = f"{place}: {error}"
        elif isinstance(error, openai.APIStatusError):
            refusal = refusal_of(error.status_code, self._secrets.hidden_in(error.response.content))
            reason = f"{refusal}{tries}"
            if isinstance(refusal, PredictorBroken):
                broken = f"{place}, key in {self._variable}: {refusal}"
        elif isinstance(error, openai.APIConnectionError):
            reason = f"{account.ended or error}{tries}"
            if isinstance(error.__cause__, _UNREACHED) and not self._http.answered:
                remedy = "start the server, or check the base URL and the network"
                broken = f"{place}: never reached ({reason}); {remedy}"
        if broken:
            return PredictorBroken(shortened(hidden(broken), _REASON))
        return RequestFailed(shortened(hidden(reason), _REASON), account.usage)


def _parameters(settings: Settings, service: Service, url: str) -> dict[str, Any]:
    """Return the parameters that were set, under the interface's names."""
    chat = settings.api is Api.CHAT
    most = str(_max_tokens_field(settings, service, url)) if chat else "max_output_tokens"
    given = {
        "temperature": settings.temperature,
        "top_p": settings.top_p,
        most: settings.max_tokens,
        "stop": list(settings.stop) or None,
    }
    return {name: value for name, value in given.items() if value is not None}


# Read an endpoint's untrusted answers. The fields are those of
# https://platform.openai.com/docs/api-reference; servers may leave out those that are not needed here.

_QUOTA = frozenset({"insufficient_quota", "billing_hard_limit_reached", "insufficient_balance"})
_EVERY_ASK = frozenset(
    {
        "invalid_api_key",
        "invalid_model",
        "model_not_found",
        "DeploymentNotFound",
        "unknown_parameter",
        "unsupported_parameter",
        "unsupported_value",
    }
)
"""Error codes of HTTP 400 that every question would get."""

_REMEDIES: Mapping[int, str] = {
    HTTPStatus.UNAUTHORIZED: "the key was refused; check its environment variable",
    HTTPStatus.PAYMENT_REQUIRED: "the account has no credit; add some and resume",
    HTTPStatus.FORBIDDEN: "the key may not do this; check its rights and the model's name",
    HTTPStatus.NOT_FOUND: "no such model or address; check the model's name and the base URL",
    HTTPStatus.METHOD_NOT_ALLOWED: "not such an endpoint; check the base URL, which usually ends with /v1",
}


def usage_of(body: bytes) -> Usage:
    """Read the tokens that an answer reports, by either interface; None if it doesn't."""
    told = member(_parsed(body), "usage")
    if not isinstance(told, dict):
        return Usage(1)
    prompt = count_or_none(told.get("prompt_tokens", told.get("input_tokens")))
    return Usage(1, prompt, count_or_none(told.get("completion_tokens", told.get("output_tokens"))))


def reply_of(body: bytes, api: Api, usage: Usage) -> Reply:
    """Read the reply from the body of a successful answer.

    Raises:
        RequestFailed: it has none. The reason may quote the server.
    """
    answer = _parsed(body)
    if not isinstance(answer, dict):
        raise RequestFailed(f"the answer is {_kind(body)} instead of a JSON object: {_shown(body)}", usage)
    if answer.get("error"):
        raise RequestFailed(f"the answer is an error: {_error(answer)[1]}", usage)
    response = chat_response(answer) if api is Api.CHAT else responses_response(answer)
    finish = text_or_none(response.finish)
    if response.text is None:
        raise RequestFailed(response.fault or _without_text(finish), usage)
    return Reply(writable(response.text), usage, finish, text_or_none(answer.get("model")))


def refusal_of(status: int, body: bytes) -> RequestFailed | PredictorBroken:
    """Return the error for a status of 300 or more: PredictorBroken if every ask would get it."""
    code, message = _error(_parsed(body), body)
    remedy = _REMEDIES.get(status)
    if status < HTTPStatus.BAD_REQUEST:
        remedy = "the address redirects elsewhere; give the right base URL"
    elif status == HTTPStatus.TOO_MANY_REQUESTS and code in _QUOTA:
        remedy = "the account's quota is used up; raise it and resume"
    elif status == HTTPStatus.BAD_REQUEST and code in _EVERY_ASK:
        remedy = "omit or change the refused option"
    said = f"HTTP {status}" + (f": {message}" if message else "")
    return PredictorBroken(f"{said} ({remedy})") if remedy else RequestFailed(said)


def _without_text(finish: str | None) -> str:
    if finish == "length":
        return "the answer has no text: all its tokens went into reasoning (allow more tokens)"
    return f"the answer has no text (finished by {shortened(finish)})" if finish else "the answer has no text"


def _parsed(body: bytes) -> Any:
    try:
        return parsed(body)
    except ValueError:
        return None


def _error(answer: object, body: bytes = b"") -> tuple[str | None, str]:
    """Return the code of an error, and its message in one line."""
    first = answer[0] if isinstance(answer, list) and answer else answer
    if not isinstance(first, dict):
        return None, _shown(body)
    error = first.get("error", first)
    if not isinstance(error, dict):
        return None, shortened(error if isinstance(error, str) else ascii_json(error))
    code = text_or_none(error.get("code")) or text_or_none(error.get("type"))
    message = error.get("message", error.get("detail"))
    said = message if isinstance(message, str) else ascii_json(error)
    return code, shortened(said if code is None or code in said else f"{code}: {said}")


def _kind(body: bytes) -> str:
    if not body.strip():
        return "empty"
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return "not UTF-8"
    return "HTML" if text.lstrip().lower().startswith(("<!doctype", "<html")) else "something else"


def _shown(body: bytes) -> str:
    return shortened(body[:2000].decode("utf-8", "replace"), 120)
