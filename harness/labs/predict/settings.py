"""What adapters share: the settings of an answer, untrusted JSON, and messages without keys."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any
from urllib.parse import quote

from dialects.errors import BadInput
from harness.predictors.base import writable
from harness.session.request import within

_OWN_FIELDS = frozenset({"model", "messages", "input", "stream", "n", "background"})
"""Fields of a request that the adapter sets itself, or whose answers it could not read."""

_DAY = 86_400
_RANGES: Mapping[str, tuple[float, float, str]] = {
    "concurrency": (1, 1000, ""),
    "retries": (0, 100, ""),
    "requests_per_minute": (1, 10**9, ""),
    "tokens_per_minute": (1, 10**12, ""),
    "max_tokens": (1, 10**9, ""),
    "timeout": (0.001, _DAY, "seconds"),
    "start_timeout": (0.0, _DAY, "seconds"),
    "connect_timeout": (0.001, _DAY, "seconds"),
    "temperature": (0.0, 2, ""),
    "top_p": (0.0, 1, ""),
}
"""Least and greatest value of each, and its unit."""


class Api(StrEnum):
    """Which of an endpoint's two interfaces is used."""

    CHAT = "chat"
    """Chat completions: every OpenAI-compatible server has them."""
    RESPONSES = "responses"


class MaxTokensField(StrEnum):
    """The field of chat completions that limits an answer's tokens."""

    AUTO = "auto"
    """`max_completion_tokens` for OpenAI and Azure, whose reasoning models refuse the older name;
    `max_tokens` for every other address: some servers silently ignore the newer name
    (https://github.com/ggml-org/llama.cpp/issues/13700)."""
    MAX_TOKENS = "max_tokens"
    MAX_COMPLETION_TOKENS = "max_completion_tokens"


@dataclass(frozen=True)
class Settings:
    """The options of every kind of predictor; each kind ignores those it does not need.

    Raises:
        BadInput: a value is out of its range.
    """

    concurrency: int = 4
    """How many asks run at once: requests, processes of a command, calls of a function."""
    timeout: float = 120.0
    """Seconds for one whole answer. A function cannot be stopped, and so has no limit."""
    start_timeout: float = 300.0
    """Additional seconds for the first answer of each process of a command, which may load a model."""
    connect_timeout: float = 10.0
    """Seconds to reach an endpoint."""
    retries: int = 6
    """How often a request is sent again after 408, 409, 429, 5xx, a timeout or a lost connection. Waits grow
    from 0.5 to 8 seconds; an endpoint's own wait is respected, up to two minutes."""
    requests_per_minute: int | None = None
    """Maximum rate of requests, spread evenly."""
    tokens_per_minute: int | None = None
    """Maximum rate of tokens: those of the prompt, estimated, plus the most that the answer may have."""
    base_url: str | None = None
    """Address of an OpenAI-compatible endpoint, such as http://localhost:8000/v1; default: OPENAI_BASE_URL,
    else OpenAI's own."""
    key_variable: str | None = None
    """Environment variable with the key, instead of OPENAI_API_KEY (Azure: AZURE_OPENAI_API_KEY)."""
    api: Api = Api.CHAT
    """Which interface of the endpoint is used."""
    temperature: float | None = None
    """None is 0, as in the BIRD paper, and the endpoint's own where the model refuses that, as many reasoning
    models do."""
    top_p: float | None = None
    """Left to the endpoint unless given."""
    max_tokens: int | None = None
    """Maximum tokens of an answer, reasoning included. Left to the endpoint unless given."""
    max_tokens_field: MaxTokensField = MaxTokensField.AUTO
    """The endpoint's name for that limit."""
    seed: int | None = None
    """Seed of the first sample; each further sample adds 1. Chat completions only."""
    stop: tuple[str, ...] = ()
    """Texts at which an answer ends. Chat completions only."""
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    """Additional fields for the JSON of each request, such as {"reasoning_effort": "low"}."""
    predictor: str | None = None
    """Predictor whose answers ready-made files have, instead of the one in their names."""
    answer_keys: Sequence[str] = ()
    """Keys of the records of ready-made files, `FIELD=KEY` each."""
    allow_missing: bool = True
    """Whether ready-made files may leave questions out."""

    def __post_init__(self) -> None:
        for name, (least, most, unit) in _RANGES.items():
            within(name.replace("_", " "), getattr(self, name), least, most, unit)
        if own := sorted(_OWN_FIELDS & self.extra_body.keys()):
            raise BadInput(f"extra body: {', '.join(own)} cannot be set; remove it")
        if self.api is Api.RESPONSES and (self.seed is not None or self.stop):
            given = "seed" if self.seed is not None else "stop"
            raise BadInput(f"{given}: not supported by the interface `responses`; omit it, or use `chat`")


def parsed(text: str | bytes, *, strict: bool = True) -> Any:
    """Parse untrusted JSON, whose objects may repeat a key.

    Raises:
        ValueError: it is not JSON; unless `strict`, its strings may have line breaks.
    """
    try:
        return json.loads(text if isinstance(text, str) else text.decode("utf-8-sig"), strict=strict)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def count_or_none(value: object) -> int | None:
    """Return an untrusted value if it is a number of tokens or requests, else None."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def text_or_none(value: object) -> str | None:
    """Return an untrusted value if it is a text, else None."""
    return writable(value) if isinstance(value, str) else None


_VARIABLES = (
    "OPENAI_API_KEY",
    "OPENAI_ADMIN_KEY",
    "AZURE_OPENAI_API_KEY",
    "AZURE_OPENAI_AD_TOKEN",
)
_NAMED = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL)S?$", flags=re.IGNORECASE)
_LEAST = 4
"""A shorter one is a placeholder, and would match ordinary words."""
_LEAST_NAMED = 8
LEAST_IN_ANSWERS = 16
"""In answers, which are kept unchanged, only values that can only be keys are hidden."""
_HIDDEN = "[key]"


class Secrets:
    """Values that must never be shown, even if a server sends them back. The repr shows none."""

    def __init__(self, values: Iterable[str]) -> None:
        spelled = {form for value in values for form in (value, quote(value, safe=""))}
        # Longest first: one may be a part of another.
        self._values = sorted((value for value in spelled if len(value) >= _LEAST), key=len, reverse=True)

    def hidden(self, text: str) -> str:
        """Return a text for a message without the secrets."""
        for value in self._values:
            text = text.replace(value, _HIDDEN)
        return text

    def hidden_in(self, body: bytes, least: int = _LEAST) -> bytes:
        """Return a body without the secrets, before a message cuts it, and possibly a key, short.

        Secrets shorter than `least` may occur by chance, and are kept.
        """
        for value in self._values:
            if len(value) >= least:
                body = body.replace(value.encode(), _HIDDEN.encode())
        return body

    def __repr__(self) -> str:
        return f"Secrets({len(self._values)})"


def secrets_of(environment: Mapping[str, str], key: str | None) -> Secrets:
    """Collect the keys that an endpoint's client may send: the one given, and those in the environment."""
    values = [environment[name].strip() for name in _VARIABLES if name in environment]
    # Lines of `name: value` that the client adds to each request.
    for line in environment.get("OPENAI_CUSTOM_HEADERS", "").splitlines():
        value = line.partition(":")[2].strip()
        values += [value, value.rpartition(" ")[2]]
    return Secrets([*values, *([key] if key else [])])


def secrets_by_name(environment: Mapping[str, str]) -> Secrets:
    """Collect the variables named like keys, which a user's programs and functions may leak."""
    named = (value.strip() for name, value in environment.items() if _NAMED.search(name))
    return Secrets(value for value in named if len(value) >= _LEAST_NAMED)
