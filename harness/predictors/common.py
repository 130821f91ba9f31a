"""What the adapters share: options, JSON that nobody vouches for, users' functions, messages without keys."""

import importlib
import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from operator import attrgetter
from pathlib import Path
from typing import Any
from urllib.parse import quote

from dialects.errors import BadInput
from loaders.base.errors import within
from loaders.base.files import one_line

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


def parsed(text: str | bytes, *, strict: bool = True) -> Any:
    """The value of a JSON text from elsewhere, whose objects may name a key twice.

    Raises:
        ValueError: it is none; unless `strict`, its strings may have line breaks.
    """
    try:
        return json.loads(text if isinstance(text, str) else text.decode("utf-8-sig"), strict=strict)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def dumped(value: Any, *, is_sorted: bool = False) -> str:
    """A value as JSON in ASCII."""
    return json.dumps(value, sort_keys=is_sorted)


def count_or_none(value: object) -> int | None:
    """A number of tokens or requests as somebody told it; None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def text_or_none(value: object) -> str | None:
    """A text as somebody told it; None for anything else."""
    return writable(value) if isinstance(value, str) else None


def find_function(option: str, target: str, example: str) -> tuple[Callable[[Any], object], Path | None]:
    """A function of the user's, and the file of its module; the current directory is searched, too.

    Args:
        option: what stands before the name where the user gave it.
        target: MODULE:FUNCTION.
        example: what such a name looks like.

    Raises:
        BadInput: it cannot be imported, or is none that can be called.
    """
    name, _, attribute = target.partition(":")
    if not name or not attribute:
        raise BadInput(f"{option}{target}: names no function; write it as {example}")
    # At the end of the path, so that a file of the current directory hides no other module.
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
    try:
        module = importlib.import_module(name)
    except (Exception, SystemExit) as error:
        said = shortened(f"{type(error).__name__}: {error}")
        remedy = "modules are looked for in the current directory, too; set PYTHONPATH for other places"
        raise BadInput(f"{option}{target}: {name} cannot be imported ({said}); {remedy}") from error
    file = getattr(module, "__file__", None)
    try:
        function = attrgetter(attribute)(module)
    except AttributeError:
        place = file or "a module without a file"
        raise BadInput(f"{option}{target}: {place} has no {attribute}; name a function of it") from None
    if not callable(function):
        raise BadInput(f"{option}{target}: {type(function).__name__} cannot be called; name a function")
    return function, Path(file) if file else None


_LIMIT = 300
_SURROGATES = re.compile("[\ud800-\udfff]")


def shortened(text: str, limit: int = _LIMIT) -> str:
    """The text in one line of printable characters, its middle left out where it is longer than `limit`."""
    # A text of megabytes is cut before it is looked at.
    start, end = text[: 2 * limit], text[2 * limit :][-2 * limit :]
    line = one_line(" ".join(writable(start + end).split()))
    half = (limit - 5) // 2
    return line if len(line) <= limit else f"{line[:half]} ... {line[-half:]}"


def writable(text: str) -> str:
    """The text with U+FFFD for half surrogates, which no file in UTF-8 can hold."""
    return _SURROGATES.sub("\ufffd", text)


_VARIABLES = (
    "OPENAI_API_KEY",
    "OPENAI_ADMIN_KEY",
    "AZURE_OPENAI_API_KEY",
    "AZURE_OPENAI_AD_TOKEN",
)
_NAMED = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL)S?$", flags=re.IGNORECASE)
_LEAST = 4
"""A shorter one is a placeholder, and would be found in ordinary words."""
_LEAST_NAMED = 8
LEAST_IN_ANSWERS = 16
"""In answers, which are kept as they came, only what can be nothing but a key is looked for."""
_HIDDEN = "[key]"


class Secrets:
    """The values that must not be seen, also where a server sends them back. Its repr shows none."""

    def __init__(self, values: Iterable[str]) -> None:
        spelled = {form for value in values for form in (value, quote(value, safe=""))}
        # The longest first: one may be a part of another.
        self._values = sorted((value for value in spelled if len(value) >= _LEAST), key=len, reverse=True)

    def hidden(self, text: str) -> str:
        """A text for a message, without them."""
        for value in self._values:
            text = text.replace(value, _HIDDEN)
        return text

    def hidden_in(self, body: bytes, least: int = _LEAST) -> bytes:
        """The same of what a message will be made of later, which may cut it, and a key in it with it.

        Those shorter than `least` may stand there by chance, and stay.
        """
        for value in self._values:
            if len(value) >= least:
                body = body.replace(value.encode(), _HIDDEN.encode())
        return body

    def __repr__(self) -> str:
        return f"Secrets({len(self._values)})"


def secrets_of(environment: Mapping[str, str], key: str | None) -> Secrets:
    """The keys that an endpoint's client may send: the one given, and those it finds in the environment."""
    values = [environment[name].strip() for name in _VARIABLES if name in environment]
    # Lines of `name: value`, which the client adds to each request.
    for line in environment.get("OPENAI_CUSTOM_HEADERS", "").splitlines():
        value = line.partition(":")[2].strip()
        values += [value, value.rpartition(" ")[2]]
    return Secrets([*values, *([key] if key else [])])


def secrets_by_name(environment: Mapping[str, str]) -> Secrets:
    """What is a key by the name of its variable: what programs and functions of the user's may let slip."""
    named = (value.strip() for name, value in environment.items() if _NAMED.search(name))
    return Secrets(value for value in named if len(value) >= _LEAST_NAMED)
