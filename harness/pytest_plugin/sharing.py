"""Under pytest-xdist the controller has the answers, and tells every worker process each one, once.

So a text is executed once, whatever the number of processes, and they share nothing but pytest's own work.
Answers go in batches as they come: a worker that asked for each would wait for a controller that is busy with
the reports of the others.
"""

import json
import secrets
from collections.abc import Callable, Sequence
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path
from threading import Condition, Thread
from typing import Any

import pytest

from harness.pytest_plugin.items import Answer, Entry, Part, Source

_MOST_AT_ONCE = 5_000

_Message = tuple[int, str, str | None, str | None]


class Announcer:
    """The controller's side; `tell` may be called from any thread."""

    def __init__(self) -> None:
        self._key = secrets.token_hex(16)
        self._listener = Listener(authkey=self._key.encode())
        self._said: list[_Message] = []
        self._new = Condition()
        self._closed = False
        Thread(target=self._accept, name="answers", daemon=True).start()

    def invitation(self, source: Source) -> str:
        """All that a worker process has to know."""
        parts = [[str(part.path), part.name, part.properties, _plain(part.entries)] for part in source.parts]
        return json.dumps([self._listener.address, self._key, source.is_quick, parts])

    def tell(self, place: int, answer: Answer) -> None:
        """Tell everybody, those who come later, too."""
        with self._new:
            self._said.append((place, answer.outcome, answer.failure, answer.gap))
            self._new.notify_all()

    def _accept(self) -> None:
        while True:
            try:
                connection = self._listener.accept()
            except OSError:
                return
            except Exception:  # noqa: BLE001, S112 - somebody who has not the key; those who have it may wait
                continue
            Thread(target=self._serve, args=(connection,), name="answers", daemon=True).start()

    def _serve(self, connection: Connection) -> None:
        told = 0
        with connection:
            while batch := self._after(told):
                try:
                    connection.send_bytes(json.dumps(batch).encode())
                except OSError:
                    # The worker is gone; xdist says so.
                    return
                told += len(batch)

    def _after(self, told: int) -> list[_Message]:
        """What is new since so much was told, as soon as there is something; nothing when closed."""
        with self._new:
            self._new.wait_for(lambda: self._closed or len(self._said) > told)
            return [] if self._closed else self._said[told : told + _MOST_AT_ONCE]

    def close(self) -> None:
        """Tell nobody any more."""
        with self._new:
            self._closed = True
            self._new.notify_all()
        self._listener.close()


class Told:
    """The side of a worker process: a `Source` of what it is told."""

    def __init__(self, invitation: str) -> None:
        self._address, self._key, self.is_quick, parts = json.loads(invitation)
        self.parts: Sequence[Part] = [_part(part) for part in parts]
        self._known: dict[int, Answer] = {}
        self._connection: Connection | None = None

    def begin(self, places: Sequence[int], tell: Callable[[int, Answer], None] | None) -> None:
        """Nothing: the controller knows what was chosen."""

    def answer(self, place: int) -> Answer:
        """See `Source.answer`."""
        while place not in self._known:
            try:
                batch = self._next()
            except (EOFError, OSError):
                pytest.exit("pytest-xdist's controller is gone", returncode=pytest.ExitCode.INTERRUPTED)
            for number, outcome, failure, gap in batch:
                self._known[number] = Answer(outcome, failure, gap)
        return self._known[place]

    def _next(self) -> list[_Message]:
        if self._connection is None:
            self._connection = Client(self._address, authkey=self._key.encode())
        found: list[_Message] = json.loads(self._connection.recv_bytes())
        return found


def _plain(entries: Sequence[Entry]) -> list[list[Any]]:
    return [[each.place, each.name, each.properties, each.gap, each.strict] for each in entries]


def _part(record: Sequence[Any]) -> Part:
    path, name, properties, entries = record
    return Part(
        Path(path),
        name,
        tuple(Entry(place, label, _pairs(more), gap, strict) for place, label, more, gap, strict in entries),
        _pairs(properties),
    )


def _pairs(record: Sequence[Sequence[str]]) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, value in record)
