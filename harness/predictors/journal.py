"""What was asked of a predictor and what it answered, line by line: nothing that was paid for is asked again.

Promises: a reply is on disk before anything is made of it; a line that a crash cut off is the only one that
can be lost, and is said; equal asks have one reply, whichever run asked.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from threading import Lock
from typing import Any

from harness.data.prediction_names import JOURNAL
from harness.predictors.base import Ask, Reply, Usage
from loaders.base.records import Recorder, to_record

FILE = JOURNAL


class Event(StrEnum):
    """What a line tells of an ask."""

    SENT = "sent"
    """It is on its way; without a later line of the same ask, the process was killed before a reply came."""
    REPLY = "reply"
    FAILED = "failed"


@dataclass(frozen=True)
class JournalState:
    """What a journal holds when it is opened.

    `lost` counts asks that were sent and of which nothing more is known; `failed` those that have no reply;
    `usage` is that of all lines; `cut_off` whether the last line was not whole.
    """

    replies: Mapping[str, Reply]
    failed: int
    lost: int
    usage: Usage
    cut_off: bool


class Journal:
    """The journal of a folder; threads share it, processes do not (the folder is locked by who opens it).

    Args:
        folder: where the file is, or will be.

    Raises:
        BadInput: a line that is not the last one is broken.
    """

    def __init__(self, folder: Path) -> None:
        self._recorder = Recorder(folder / FILE)
        self.known = _state(self._recorder)
        self._replies = dict(self.known.replies)
        self._lock = Lock()

    def reply(self, identity: str) -> Reply | None:
        """The reply to an ask, of this run or an earlier one."""
        with self._lock:
            return self._replies.get(identity)

    def sent(self, ask: Ask, **facts: Any) -> None:
        """Note that an ask is about to be sent, with facts about its messages."""
        self._write(Event.SENT, ask, facts)

    def replied(self, ask: Ask, reply: Reply) -> None:
        """Keep a reply."""
        self._write(Event.REPLY, ask, asdict(reply), durable=reply.usage.requests > 0)
        with self._lock:
            self._replies[ask.identity] = reply

    def failed(self, ask: Ask, reason: str, usage: Usage) -> None:
        """Note that there is no reply, and why; it is asked again when the run goes on."""
        self._write(Event.FAILED, ask, {"reason": reason, "usage": asdict(usage)})

    def _write(self, event: Event, ask: Ask, facts: Mapping[str, Any], *, durable: bool = False) -> None:
        record = {
            "event": event,
            "identity": ask.identity,
            "question": ask.problem.question,
            "dialect": ask.problem.dialect,
            "stage": ask.stage,
            "sample": ask.sample,
            "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
            **facts,
        }
        self._recorder.add(record, durable=durable)

    def close(self) -> None:
        """Let go of the file."""
        self._recorder.close()


@dataclass(frozen=True)
class _Line:
    identity: str
    event: Event


@dataclass(frozen=True)
class _Spent:
    """What every line has that tells how an ask ended."""

    usage: Usage


def _line(content: Any) -> tuple[_Line, Usage, Reply | None]:
    """A line, what it adds to the usage, and its reply."""
    line = to_record(_Line, content, others=True)
    usage = Usage() if line.event is Event.SENT else to_record(_Spent, content, others=True).usage
    return line, usage, to_record(Reply, content, others=True) if line.event is Event.REPLY else None


def _state(recorder: Recorder) -> JournalState:
    """What a file has, without a last line that was not whole: its reply cannot be had."""
    replies: dict[str, Reply] = {}
    last: dict[str, Event] = {}
    usage = Usage()
    remedy = "repair or remove that line, or choose another folder with --out"
    for line, spent, reply in recorder.read(_line, remedy, "line of a journal"):
        usage += spent
        last[line.identity] = line.event
        if reply is not None:
            replies[line.identity] = reply
    waiting = [event for identity, event in last.items() if identity not in replies]
    return JournalState(
        replies,
        failed=waiting.count(Event.FAILED),
        lost=waiting.count(Event.SENT),
        usage=usage,
        cut_off=recorder.was_cut_off,
    )


def tell(state: JournalState, say: Callable[[str], None]) -> None:
    """Say what an earlier run has left."""
    if state.replies:
        say(f"{len(state.replies)} replies are known from earlier: what is the same is not asked again")
    if state.failed:
        say(f"{state.failed} asks had failed, and are asked again")
    if state.lost:
        say(
            f"{state.lost} asks were under way when an earlier run was killed:"
            " they are sent again, under the same idempotency key"
        )
    if state.cut_off:
        say("the last line of the journal was cut off by a crash, and is left out")
