"""What was asked of a predictor and what it answered, line by line: nothing that was paid for is asked again.

Promises: a reply is on disk before anything is made of it; a line that a crash cut off is the only one that
can be lost, and is said; equal asks have one reply, whichever run asked.
"""

import io
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from threading import Lock
from typing import Any

from harness.data.prediction_names import JOURNAL
from harness.predictors.base import Ask, Reply, Usage
from loaders.base.files import as_json, refuse

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
        self._path = folder / FILE
        self.known = _read(self._path)
        self._replies = dict(self.known.replies)
        self._lock = Lock()
        self._file: io.FileIO | None = None

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
        line = (as_json(record) + "\n").encode()
        with self._lock:
            if self._file is None:
                # Unbuffered: what is written is the system's, whatever becomes of this process.
                self._file = io.FileIO(self._path, "a")
            _write_whole(self._file.fileno(), line)
            if durable:
                os.fsync(self._file.fileno())

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()


def _write_whole(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _read(path: Path) -> JournalState:
    """What a file has; a last line that is not whole is cut away, since its reply cannot be had."""
    if not path.exists():
        return JournalState({}, 0, 0, Usage(), cut_off=False)
    raw = path.read_bytes()
    whole = raw[: raw.rfind(b"\n") + 1]
    if len(whole) < len(raw):
        os.truncate(path, len(whole))
    replies: dict[str, Reply] = {}
    last: dict[str, Event] = {}
    usage = Usage()
    for number, line in enumerate(whole.split(b"\n")[:-1], start=1):
        try:
            record = json.loads(line)
            identity, event = record["identity"], Event(record["event"])
            if event is Event.REPLY:
                replies[identity] = _reply(record)
            if event is not Event.SENT:
                usage += Usage(**record["usage"])
        except (KeyError, TypeError, ValueError) as error:
            detail = f"line {number} is none of a journal ({type(error).__name__}: {error})"
            refuse(path, detail, "repair or remove that line, or choose another folder with --out")
        last[identity] = event
    waiting = [event for identity, event in last.items() if identity not in replies]
    return JournalState(
        replies,
        failed=waiting.count(Event.FAILED),
        lost=waiting.count(Event.SENT),
        usage=usage,
        cut_off=len(whole) < len(raw),
    )


def _reply(record: Mapping[str, Any]) -> Reply:
    return Reply(
        str(record["text"]),
        Usage(**record["usage"]),
        record["finish"],
        record["model"],
        record.get("seconds"),
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
