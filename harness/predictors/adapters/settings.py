"""What can be set of a predictor, checked before anything is asked."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from dialects.errors import BadInput
from loaders.base.errors import within

_OWN_FIELDS = frozenset({"model", "messages", "input", "stream", "n", "background"})
"""Fields of a request that the adapter itself decides, or whose answers it could not read."""

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
"""What each may be at least and at most, and in which unit."""


class Api(StrEnum):
    """Which of an endpoint's two interfaces is asked."""

    CHAT = "chat"
    """Chat completions: what every OpenAI-compatible server has."""
    RESPONSES = "responses"


class MaxTokensField(StrEnum):
    """The name under which chat completions get the limit on an answer's tokens."""

    AUTO = "auto"
    """`max_completion_tokens` for OpenAI and Azure, where the older name is refused by reasoning models;
    `max_tokens` for every other address: some servers ignore the newer name without a word
    (https://github.com/ggml-org/llama.cpp/issues/13700)."""
    MAX_TOKENS = "max_tokens"
    MAX_COMPLETION_TOKENS = "max_completion_tokens"


@dataclass(frozen=True)
class Settings:
    """The options of every kind of predictor; what a kind has no use for, it ignores.

    Raises:
        BadInput: a value is out of its range.
    """

    concurrency: int = 4
    """How many asks are answered at once: requests, processes of a command, calls of a function."""
    timeout: float = 120.0
    """Seconds for one whole answer. A function cannot be stopped, and so has no limit."""
    start_timeout: float = 300.0
    """Seconds more for the first answer of each process of a command, which may have a model to load."""
    connect_timeout: float = 10.0
    """Seconds to reach an endpoint."""
    retries: int = 6
    """How often a request is sent again after 408, 409, 429, 5xx, a timeout or a lost connection. Waits grow
    from 0.5 to 8 seconds; where an endpoint says how long to wait, it is that, up to two minutes."""
    requests_per_minute: int | None = None
    """No more requests than this, spread evenly."""
    tokens_per_minute: int | None = None
    """No more tokens than this: those of the prompt as estimated, with the most that the answer may have."""
    base_url: str | None = None
    """The address of an OpenAI-compatible endpoint, as http://localhost:8000/v1; unless given that in
    OPENAI_BASE_URL, else OpenAI's own."""
    key_variable: str | None = None
    """The environment variable that has the key, instead of OPENAI_API_KEY (Azure: AZURE_OPENAI_API_KEY)."""
    api: Api = Api.CHAT
    """Which interface of the endpoint is asked."""
    temperature: float | None = None
    """Left to the endpoint unless given; many reasoning models refuse it."""
    top_p: float | None = None
    """Left to the endpoint unless given."""
    max_tokens: int | None = None
    """The most tokens that an answer may have, with those of reasoning. Left to the endpoint unless given."""
    max_tokens_field: MaxTokensField = MaxTokensField.AUTO
    """How the endpoint calls that limit."""
    seed: int | None = None
    """The seed of the first sample; the next has the next. Chat completions alone."""
    stop: tuple[str, ...] = ()
    """Texts at which an answer ends. Chat completions alone."""
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    """More fields for the JSON of each request, as {"reasoning_effort": "low"}."""
    predictor: str | None = None
    """Whose answers ready-made files have, instead of what their names tell."""
    allow_missing: bool = True
    """Whether ready-made files may leave questions out."""

    def __post_init__(self) -> None:
        for name, (least, most, unit) in _RANGES.items():
            within(name.replace("_", " "), getattr(self, name), least, most, unit)
        if own := sorted(_OWN_FIELDS & self.extra_body.keys()):
            raise BadInput(f"extra body: {', '.join(own)} cannot be set; leave it out")
        if self.api is Api.RESPONSES and (self.seed is not None or self.stop):
            given = "seed" if self.seed is not None else "stop"
            raise BadInput(f"{given}: the interface `responses` has none; leave it out, or ask by `chat`")
