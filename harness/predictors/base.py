"""The interface between the harness and the predictors that write SQL.

A *problem* is a question with its database's schema in the requested dialect, without gold. A *method* turns
a problem into one or more *asks*, each a list of messages for one *reply*. A *predictor* answers asks: a
model behind HTTP, a command, a Python function, a file. None of them sees scores.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from harness.engines import EngineName
from harness.engines.base import TableText
from loaders.base.files import one_line


@dataclass(frozen=True)
class Message:
    """One turn of a conversation, with the fields of chat completions."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class DatabaseText:
    """The schema of one database on an engine, tables in the order of the SQLite file.

    `version` is the engine's, as far as it decides which SQL it accepts: `3.46`, `9.7`, `18`.
    """

    db_id: str
    dialect: EngineName
    tables: tuple[TableText, ...]
    version: str = ""


@dataclass(frozen=True)
class Problem:
    """What a predictor may know about a question. `evidence` is empty if external knowledge is off."""

    question: str
    """The key of the question within its set."""
    text: str
    evidence: str
    database: DatabaseText

    @property
    def dialect(self) -> EngineName:
        """The dialect of the requested SQL."""
        return self.database.dialect


@dataclass(frozen=True)
class Ask:
    """One request to a predictor.

    `stage` names the step of the method (`sql`, `linking`, `correction-1`, ...); `sample` counts from 0 if
    several answers are requested. `identity` is the digest of everything that decides the reply: equal asks
    have the same identity.
    """

    problem: Problem
    messages: tuple[Message, ...]
    stage: str
    sample: int
    identity: str


@dataclass(frozen=True)
class Usage:
    """What a reply cost: requests sent, failed ones included, and tokens as the predictor counts them."""

    requests: int = 0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.requests + other.requests,
            _sum(self.prompt_tokens, other.prompt_tokens),
            _sum(self.completion_tokens, other.completion_tokens),
        )


def _sum(a: int | None, b: int | None) -> int | None:
    return b if a is None else a if b is None else a + b


@dataclass(frozen=True)
class Reply:
    """An answer as received.

    `finish` is the predictor's reason for ending it (`stop`, `length`, ...), if it has one; `model` is the
    endpoint's name for the model that answered. `seconds` is the wall-clock time from the ask to the reply,
    including waits for limits and other attempts; None if not measured. `is_ready`: the answer was there
    before it was asked for, so that no time tells anything.
    """

    text: str
    usage: Usage = field(default_factory=Usage)
    finish: str | None = None
    model: str | None = None
    seconds: float | None = None
    is_ready: bool = False


class RequestFailed(Exception):
    """No reply to one ask, after all attempts; other asks may still be answered.

    `reason` is one line without keys, `usage` what the attempts cost.
    """

    def __init__(self, reason: str, usage: Usage | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.usage = usage or Usage()


class PredictorBroken(Exception):
    """No ask can be answered (wrong key, unknown model, command not found), so that asking on is pointless.

    The message is one line: what, where, what to do; without keys.
    """


class BudgetSpent(Exception):
    """The next request would cost more than allowed. The message names the limit, and how to raise it."""


class Predictor(Protocol):
    """Answers asks. Threads share one."""

    @property
    def identity(self) -> Mapping[str, Any]:
        """Return what decides its replies (kind, model, address, parameters), as JSON values. Never a key."""
        ...

    def ask(self, ask: Ask) -> Reply:
        """Answer an ask; blocks.

        Raises:
            RequestFailed: there is no answer to this ask.
            PredictorBroken: no ask can be answered.
            BudgetSpent: the ask would cost more than allowed.
        """
        ...

    def close(self) -> None:
        """Close processes and connections; waiting asks fail."""
        ...


@dataclass(frozen=True)
class Prompt:
    """The messages of one ask, and what a reader of the run must know about their making.

    `tokens` counts the messages' texts by the chosen counter; `estimated` is True if that is an estimate.
    `dropped` lists what was left out to keep within the limit of tokens, in that order; `notes` lists other
    deviations from the method. All are short phrases.
    """

    messages: tuple[Message, ...]
    tokens: int
    estimated: bool
    dropped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class PromptTooLong(Exception):
    """A prompt is too long whatever is left out, so the problem is not asked. `reason` is one line."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


_LIMIT = 300
_SURROGATES = re.compile("[\ud800-\udfff]")


def shortened(text: str, limit: int = _LIMIT) -> str:
    """Return the text in one line of printable characters, without its middle if longer than `limit`."""
    # Megabytes of text are cut before they are processed.
    start, end = text[: 2 * limit], text[2 * limit :][-2 * limit :]
    line = one_line(" ".join(writable(start + end).split()))
    half = (limit - 5) // 2
    return line if len(line) <= limit else f"{line[:half]} ... {line[-half:]}"


def writable(text: str) -> str:
    """Replace lone surrogates, which UTF-8 cannot encode, by U+FFFD."""
    return _SURROGATES.sub("\ufffd", text)
