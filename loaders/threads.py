"""Tasks done in threads, which start at once: for those that wait for SQLite and a server."""

from collections.abc import Iterator
from queue import SimpleQueue
from threading import Thread
from typing import Any

from loaders import ending
from loaders.task_queue import Advance, TaskQueue, Urgency
from loaders.tasks import Task

_AGAIN_SECONDS = 0.05


class _Over(Exception):
    """Nobody wants the result any more."""


class Threads:
    """See `Workers` in `loaders.task_queue`."""

    def __init__(self, number: int) -> None:
        self.number = number
        self._waiting = TaskQueue()
        self._heard: SimpleQueue[tuple[Task[Any], Any]] = SimpleQueue()
        self._busy: dict[Task[Any], Thread] = {}
        self._is_over = False

    def give(self, task: Task[Any], urgency: Urgency) -> None:
        """See `Workers.give`."""
        self._waiting.put(task, urgency)

    def results(self, advance: Advance) -> Iterator[tuple[Task[Any], Any]]:
        """See `Workers.results`."""
        self._hand_out()
        while self._busy:
            task, said = self._heard.get()
            if isinstance(said, int):
                advance(task, said)
                continue
            self._busy.pop(task).join()
            if isinstance(said, BaseException):
                raise said
            self._hand_out()
            yield task, *said
            self._hand_out()

    def _hand_out(self) -> None:
        while self._waiting and len(self._busy) < self.number:
            task = self._waiting.take()
            thread = self._busy[task] = Thread(target=self._do, args=(task,), name="bird-load", daemon=True)
            thread.start()

    def _do(self, task: Task[Any]) -> None:
        try:
            self._heard.put((task, (task.do(lambda rows: self._advance(task, rows)),)))
        except BaseException as error:  # noqa: BLE001 - it goes on in the thread that asks for results
            self._heard.put((task, error))

    def _advance(self, task: Task[Any], rows: int) -> None:
        if self._is_over:
            raise _Over
        self._heard.put((task, rows))

    def end(self) -> None:
        """See `Workers.end`."""
        self._is_over = True
        for thread in self._busy.values():
            while thread.is_alive():
                ending.end([thread.ident])
                thread.join(_AGAIN_SECONDS)
