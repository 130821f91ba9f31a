"""`openai:MODEL` and `azure:DEPLOYMENT`: any OpenAI-compatible endpoint, by the official client.

Each ask is a request of its own, with the header `Idempotency-Key: IDENTITY-STAGE`, by which a server can
know a repeated one. The client repeats what may be repeated, and waits as long as the endpoint says; every
HTTP request is held against budget and pace.
"""

import asyncio
import concurrent.futures
import os
import threading
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import SplitResult, quote, urlsplit

from dialects.errors import BadInput
from harness.predictors.adapters.common import (
    CLOSED,
    Api,
    MaxTokensField,
    Secrets,
    Settings,
    prompt_tokens,
    secrets_of,
    shortened,
)
from harness.predictors.adapters.endpoint_answers import refusal_of, reply_of
from harness.predictors.base import Ask, BudgetSpent, PredictorBroken, Reply, RequestFailed
from harness.predictors.budget import Meter, Pace

if TYPE_CHECKING:
    from httpx2 import AsyncClient
    from openai import APIConnectionError, APIStatusError, AsyncOpenAI

    from harness.predictors.adapters.endpoint_http import AskAccount

_OPENAI = "https://api.openai.com/v1"
_NEWER_FIELDS = (".openai.com", ".azure.com")
"""Hosts that want `max_completion_tokens`."""
_NO_KEY = "none"
"""Sent where a server of the user's own asks for no key: the client wants one."""


class Service(StrEnum):
    """Who runs the endpoint, which decides how it is addressed."""

    OPENAI = "openai"
    AZURE = "azure"


@dataclass(frozen=True)
class Endpoint:
    """An endpoint that can be asked, known before it is. `url` has neither credentials nor a query.

    The key comes from the environment alone, and is in no repr, no identity and no message.
    """

    service: Service
    model: str
    url: str
    max_tokens_field: MaxTokensField
    api_version: str | None = None
    key_variable: str | None = None
    key: str = field(default=_NO_KEY, repr=False)
    secrets: Secrets = field(default_factory=lambda: Secrets(()), repr=False)

    def client(self, http: "AsyncClient", retries: int) -> "AsyncOpenAI":
        """The official client, sending through `http`."""
        from openai import AsyncAzureOpenAI, AsyncOpenAI  # noqa: PLC0415 - takes more than a second

        if self.service is Service.OPENAI:
            return AsyncOpenAI(api_key=self.key, base_url=self.url, max_retries=retries, http_client=http)
        return AsyncAzureOpenAI(
            api_key=self.key,
            azure_endpoint=self.url,
            azure_deployment=self.model,
            api_version=self.api_version,
            max_retries=retries,
            http_client=http,
        )


def find_endpoint(
    service: Service, model: str, settings: Settings, environment: Mapping[str, str] = os.environ
) -> Endpoint:
    """The endpoint that is meant.

    Raises:
        BadInput: a name, an address or a key is missing or wrong.
    """
    if not model.strip():
        example = "openai:gpt-5-mini" if service is Service.OPENAI else "azure:my-deployment"
        raise BadInput(f"{service}: names no model; write it as {example}")
    own = {Service.OPENAI: "OPENAI_API_KEY", Service.AZURE: "AZURE_OPENAI_API_KEY"}[service]
    variable = settings.key_variable or own
    key = environment.get(variable, "").strip()
    if not key.isascii() or not key.isprintable():
        raise BadInput(f"{variable}: has characters that no key has; set it anew")
    if service is Service.AZURE:
        url, version = _azure(settings, environment)
    else:
        named = settings.base_url or environment.get("OPENAI_BASE_URL", "").strip() or _OPENAI
        url, version = _checked(named, "base URL"), None
    if not key and (settings.key_variable or service is Service.AZURE or url == _OPENAI):
        remedy = f"set {variable} in the environment"
        other = ", or give the base URL of another endpoint" if url == _OPENAI else ""
        raise BadInput(f"{service}:{model}: no key; {remedy}{other}")
    return Endpoint(
        service=service,
        model=model,
        url=url,
        max_tokens_field=_max_tokens_field(settings, service, url),
        api_version=version,
        key_variable=variable,
        key=key or _NO_KEY,
        secrets=secrets_of(environment, key or None),
    )


def _azure(settings: Settings, environment: Mapping[str, str]) -> tuple[str, str]:
    named = settings.base_url or environment.get("AZURE_OPENAI_ENDPOINT", "").strip()
    version = environment.get("OPENAI_API_VERSION", "").strip()
    if not named:
        raise BadInput("azure: no address; set AZURE_OPENAI_ENDPOINT to that of the resource")
    if not version:
        raise BadInput("azure: no version of its interface; set OPENAI_API_VERSION, as 2024-10-21")
    return _checked(named, "AZURE_OPENAI_ENDPOINT"), version


def _checked(url: str, name: str) -> str:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        parts = SplitResult("", "", "", "", "")
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise BadInput(f"{name}: is no address; write it as http://localhost:8000/v1")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise BadInput(
            f"{name}: has credentials or a query in it; give the address alone, and the key in a variable"
        )
    return url.rstrip("/")


def _max_tokens_field(settings: Settings, service: Service, url: str) -> MaxTokensField:
    if settings.max_tokens_field is not MaxTokensField.AUTO:
        return settings.max_tokens_field
    host = f".{urlsplit(url).hostname or ''}"
    newer = service is Service.AZURE or host.endswith(_NEWER_FIELDS)
    return MaxTokensField.MAX_COMPLETION_TOKENS if newer else MaxTokensField.MAX_TOKENS


_Result = TypeVar("_Result")


class _Background:
    """A loop of its own in a thread. Runs coroutines until it is closed."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._lock = threading.Lock()
        self._closed = False
        self._thread = threading.Thread(target=self._loop.run_forever, name="endpoint", daemon=True)
        self._thread.start()

    def run(self, coroutine: Coroutine[Any, Any, _Result]) -> _Result:
        """Run a coroutine and wait for it.

        Raises:
            RequestFailed: closed, before or while it ran.
        """
        with self._lock:
            if self._closed:
                coroutine.close()
                raise RequestFailed(CLOSED)
            future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            return future.result()
        except concurrent.futures.CancelledError:
            raise RequestFailed(CLOSED) from None
        finally:
            future.cancel()  # where waiting was broken off, as by Ctrl-C

    def close(self, last: Coroutine[Any, Any, None]) -> None:
        """Break off what runs, run a last coroutine, end the thread."""
        with self._lock:
            if self._closed:
                last.close()
                return
            self._closed = True
        asyncio.run_coroutine_threadsafe(_cancelled_others(), self._loop).result()
        asyncio.run_coroutine_threadsafe(last, self._loop).result()
        asyncio.run_coroutine_threadsafe(self._loop.shutdown_default_executor(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _cancelled_others() -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


EXAMPLE = "openai:gpt-5-mini"
EXAMPLE_AZURE = "azure:my-deployment"
_REASON = 600
"""Characters of a reason: what the endpoint says, and what is said around it."""


class EndpointPredictor:
    """Asks a model behind HTTP.

    Raises:
        BadInput: the key, the address or the client is missing.
    """

    def __init__(self, service: Service, model: str, settings: Settings, meter: Meter) -> None:
        self._settings = settings
        self._endpoint = find_endpoint(service, model, settings)
        self._parameters = _parameters(settings, self._endpoint)
        try:
            from harness.predictors.adapters.endpoint_http import PaidClient  # noqa: PLC0415 - slow to import
        except ImportError as error:
            remedy = "pip install 'bird-harness[models]'"
            raise BadInput(f"{service}:{model}: the client is not installed ({error}); {remedy}") from None
        pace = Pace(settings.requests_per_minute, settings.tokens_per_minute)
        self._http = PaidClient(
            meter, pace, self._endpoint.secrets, settings.timeout, settings.connect_timeout
        )
        self._client = self._endpoint.client(self._http, settings.retries)
        self._background = _Background()

    @property
    def identity(self) -> Mapping[str, Any]:
        """The model, its address, and every parameter that was set."""
        endpoint, settings = self._endpoint, self._settings
        facts: dict[str, Any] = {
            "kind": str(endpoint.service),
            "model": endpoint.model,
            "base_url": endpoint.url,
            "api_version": endpoint.api_version,
            "api": str(settings.api),
            "seed": settings.seed,
            "extra_body": dict(settings.extra_body) or None,
            **self._parameters,
        }
        return {name: value for name, value in facts.items() if value is not None}

    def ask(self, ask: Ask) -> Reply:
        """Send the messages, and read the answer."""
        reply = self._background.run(self._asked(ask))
        if isinstance(reply, Exception):  # raised here, where no exception of the client hangs on it
            raise reply
        return reply

    def close(self) -> None:
        """Break off what is under way, and close connections."""
        self._background.close(self._client.close())

    async def _asked(self, ask: Ask) -> Reply | Exception:
        from harness.predictors.adapters.endpoint_http import ACCOUNT, AskAccount  # noqa: PLC0415

        account = AskAccount(prompt_tokens(ask), self._settings.max_tokens or 0)
        ACCOUNT.set(account)
        hidden = self._endpoint.secrets.hidden
        try:
            body = await self._body(ask)
            return reply_of(body, self._settings.api, account.usage)
        except asyncio.CancelledError:
            return RequestFailed(CLOSED, account.usage)
        except RequestFailed as failed:
            return RequestFailed(shortened(hidden(failed.reason), _REASON), failed.usage)
        except BudgetSpent as spent:
            if not account.usage.requests:
                return BudgetSpent(str(spent))
            # What the requests took is told; that the budget is spent, the next ask will find.
            return RequestFailed(hidden(f"{account.ended}; not sent again: {spent}"), account.usage)
        except Exception as error:  # noqa: BLE001 - whatever the client raises is this ask's
            failure = self._failure(error, account)
            reason = shortened(hidden(str(failure)), _REASON)
            return (
                PredictorBroken(reason)
                if isinstance(failure, PredictorBroken)
                else RequestFailed(reason, account.usage)
            )

    async def _body(self, ask: Ask) -> bytes:
        messages: list[Any] = [{"role": str(m.role), "content": m.content} for m in ask.messages]
        parameters = dict(self._parameters)
        if self._settings.seed is not None:
            parameters["seed"] = self._settings.seed + ask.sample
        options: dict[str, Any] = {
            **parameters,
            "model": self._endpoint.model,
            "extra_headers": {"Idempotency-Key": f"{ask.identity}-{quote(ask.stage, safe='')}"},
            "extra_body": dict(self._settings.extra_body) or None,
        }
        if self._settings.api is Api.CHAT:
            chat = await self._client.chat.completions.with_raw_response.create(messages=messages, **options)
            return self._endpoint.secrets.hidden_in_answer(chat.http_response.content)
        answer = await self._client.responses.with_raw_response.create(input=messages, store=False, **options)
        return self._endpoint.secrets.hidden_in_answer(answer.http_response.content)

    def _failure(self, error: Exception, account: "AskAccount") -> Exception:
        import openai  # noqa: PLC0415

        if isinstance(error, PredictorBroken):
            return PredictorBroken(f"{self._place}: {error}")
        if isinstance(error, openai.APIStatusError):
            return self._refused(error, account)
        if isinstance(error, openai.APIConnectionError):
            return self._unreached(error, account)
        return RequestFailed(f"{type(error).__name__}: {error}")

    def _refused(self, error: "APIStatusError", account: "AskAccount") -> Exception:
        body = self._endpoint.secrets.hidden_bytes(error.response.content)
        refusal = refusal_of(error.status_code, body)
        if refusal.final:
            return PredictorBroken(f"{self._place}, key in {self._endpoint.key_variable}: {refusal.reason}")
        return RequestFailed(f"{refusal.reason}{_tries(account)}")

    def _unreached(self, error: "APIConnectionError", account: "AskAccount") -> Exception:
        from harness.predictors.adapters.endpoint_http import UNREACHED  # noqa: PLC0415

        reason = f"{account.ended or error}{_tries(account)}"
        if isinstance(error.__cause__, UNREACHED) and not self._http.answered:
            remedy = "start the server, or check the base URL and the network"
            return PredictorBroken(f"{self._place}: never reached ({reason}); {remedy}")
        return RequestFailed(reason)

    @property
    def _place(self) -> str:
        return f"{self._endpoint.model} at {self._endpoint.url}"


def _parameters(settings: Settings, endpoint: Endpoint) -> dict[str, Any]:
    """The parameters that were set, by the names that the interface gives them."""
    chat = settings.api is Api.CHAT
    most = str(endpoint.max_tokens_field) if chat else "max_output_tokens"
    given = {
        "temperature": settings.temperature,
        "top_p": settings.top_p,
        most: settings.max_tokens,
        "stop": list(settings.stop) or None,
    }
    return {name: value for name, value in given.items() if value is not None}


def _tries(account: "AskAccount") -> str:
    count = account.usage.requests
    return f" ({count} requests)" if count > 1 else ""
