"""The seam between the harness and whoever writes SQL.

A *problem* is a question with its database's schema in the asked dialect, and without gold. A *method* turns
a problem into one or more *asks*, each a list of messages for one *reply*. A *predictor* answers asks: a
model behind HTTP, a command, a Python function, a file. None of them knows of scores.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from harness.engines import EngineName
from harness.engines.base import TableText


@dataclass(frozen=True)
class Message:
    """One turn of a conversation, in the words of chat completions."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class DatabaseText:
    """The schema of one database as it stands on an engine, tables in the order of the SQLite file.

    `version` is the engine's, as far as it decides what SQL it takes: `3.46`, `9.7`, `18`.
    """

    db_id: str
    dialect: EngineName
    tables: tuple[TableText, ...]
    version: str = ""


@dataclass(frozen=True)
class Problem:
    """What a predictor may know of a question. `evidence` is empty where external knowledge is off."""

    question: str
    """The key of the question within its set."""
    text: str
    evidence: str
    database: DatabaseText

    @property
    def dialect(self) -> EngineName:
        """The dialect that is asked for."""
        return self.database.dialect


@dataclass(frozen=True)
class Ask:
    """One request to a predictor.

    `stage` names the step of the method (`sql`, `linking`, `correction-1`, ...); `sample` counts from 0
    where several answers are asked for. `identity` is the digest of everything that decides the reply: equal
    asks have equal ones.
    """

    problem: Problem
    messages: tuple[Message, ...]
    stage: str
    sample: int
    identity: str


@dataclass(frozen=True)
class Usage:
    """What a reply took: requests sent (with failed ones), tokens as the predictor counted them, or None."""

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
    """An answer, as it came.

    `finish` is what the predictor says of why it ended (`stop`, `length`, ...), where it says so; `model` is
    the name that the endpoint gives the model that answered. `seconds` is the wall-clock time from the ask to
    the reply, with waiting for limits and other attempts; None where it was not measured.
    """

    text: str
    usage: Usage = field(default_factory=Usage)
    finish: str | None = None
    model: str | None = None
    seconds: float | None = None


class RequestFailed(Exception):
    """No reply to one ask, after all attempts; the next ask may well be answered.

    `reason` is one line without keys, `usage` what the attempts took all the same.
    """

    def __init__(self, reason: str, usage: Usage | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.usage = usage or Usage()


class PredictorBroken(Exception):
    """No ask will be answered (wrong key, unknown model, command not found): asking on is of no use.

    The message is one line: what, where, what to do; without keys.
    """


class BudgetSpent(Exception):
    """The next request would cost more than allowed. The message says which limit, and how to raise it."""


class Predictor(Protocol):
    """Whoever answers asks. Threads share one."""

    @property
    def identity(self) -> Mapping[str, Any]:
        """What decides its replies (kind, model, address, parameters), as plain JSON values. Never a key."""
        ...

    def ask(self, ask: Ask) -> Reply:
        """Answer; blocks.

        Raises:
            RequestFailed: there is no answer to this ask.
            PredictorBroken: there will be none to any.
            BudgetSpent: asking would cost more than allowed.
        """
        ...

    def close(self) -> None:
        """Let go of processes and connections; asks that wait fail."""
        ...


@dataclass(frozen=True)
class Prompt:
    """The messages of one ask, and what a reader of the run has to know of how they came to be.

    `tokens` are those of the messages' texts by the counter that was chosen; `estimated` says that it
    guesses. `dropped` is what was left out to keep within the limit of tokens, in that order; `notes` is
    what else is not as the method would have it. All are short phrases.
    """

    messages: tuple[Message, ...]
    tokens: int
    estimated: bool
    dropped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class PromptTooLong(Exception):
    """A problem whose prompt stays too long whatever is left out: it is not asked. `reason` is one line."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
