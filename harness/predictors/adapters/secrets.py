"""Keeps keys out of everything that is shown, logged or written, also where a server sends them back."""

import re
from collections.abc import Iterable, Mapping
from urllib.parse import quote

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
_LEAST_IN_ANSWERS = 16
"""In answers, which are kept as they came, only what can be nothing but a key is looked for."""
_HIDDEN = "[key]"


class Secrets:
    """The values that must not be seen. Its repr shows none."""

    def __init__(self, values: Iterable[str]) -> None:
        spelled = {form for value in values for form in (value, quote(value, safe=""))}
        # The longest first: one may be a part of another.
        self._values = sorted((value for value in spelled if len(value) >= _LEAST), key=len, reverse=True)

    def hidden(self, text: str) -> str:
        """A text for a message, without them."""
        for value in self._values:
            text = text.replace(value, _HIDDEN)
        return text

    def hidden_bytes(self, body: bytes) -> bytes:
        """What a message will be made of, without them: it may be cut later, and a key in it with it."""
        return self._without(body, _LEAST)

    def hidden_in_answer(self, body: bytes) -> bytes:
        """An answer without those that are too long to stand there by chance."""
        return self._without(body, _LEAST_IN_ANSWERS)

    def __repr__(self) -> str:
        return f"Secrets({len(self._values)})"

    def _without(self, body: bytes, least: int) -> bytes:
        for value in self._values:
            if len(value) >= least:
                body = body.replace(value.encode(), _HIDDEN.encode())
        return body


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
