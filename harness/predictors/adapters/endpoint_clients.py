"""Which endpoint is meant, with which key: settled before anything is sent, and refused in one line.

Keys come from the environment alone. They are in no repr, no identity and no message.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

from dialects.errors import BadInput
from harness.predictors.adapters.secrets import Secrets, secrets_of
from harness.predictors.adapters.settings import MaxTokensField, Settings

if TYPE_CHECKING:
    from httpx2 import AsyncClient
    from openai import AsyncOpenAI

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
    """An endpoint that can be asked. `url` has neither credentials nor a query."""

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
