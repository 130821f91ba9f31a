"""Tasks done in worker processes, in threads or, where those do not pay, in this one; results as they come.

Threads start at once, and do for tasks that wait for SQLite and a server, and hardly hold Python's lock. The
processes end with the one that started them, however that ends.
"""

import socket
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from multiprocessing.connection import Connection, wait
from typing import Any

from dialects.errors import HarnessError
from loaders import children
from loaders.task_queue import Advance, TaskQueue, Urgency, Workers
from loaders.tasks import Task
from loaders.threads import Threads

__all__ = ["Workers", "workers"]

_ENDING_SECONDS = 5


@contextmanager
def workers(number: int, *, processes: bool = True) -> Iterator[Workers]:
    """As many worker processes or threads, started when needed and ended at the end; 1 means none.

    Processes in any case where SQLite may not take all the memory that long values need: its limit is one for
    the whole process, and whoever has run predictions in this one has set it.
    """
    hands: Workers
    if (processes and number > 1) or _is_limited():
        hands = _Processes(number)
    else:
        hands = _Here() if number == 1 else Threads(number)
    try:
        yield hands
    finally:
        hands.end()


def _is_limited() -> bool:
    with closing(sqlite3.connect(":memory:")) as connection:
        [limit] = connection.execute("PRAGMA hard_heap_limit").fetchone()
    return bool(limit)


class _Here:
    """See `Workers`: one task after the other, in this process."""

    number = 1

    def __init__(self) -> None:
        self._waiting = TaskQueue()

    def give(self, task: Task[Any], urgency: Urgency) -> None:
        self._waiting.put(task, urgency)

    def results(self, advance: Advance) -> Iterator[tuple[Task[Any], Any]]:
        while self._waiting:
            task = self._waiting.take()
            yield task, task.do(lambda rows, task=task: advance(task, rows))  # type: ignore[misc]

    def end(self) -> None:
        pass


class _Processes:
    """See `Workers`."""

    def __init__(self, number: int) -> None:
        self.number = number
        self._waiting = TaskQueue()
        self._processes: dict[Connection, subprocess.Popen[bytes]] = {}
        self._busy: dict[Connection, Task[Any]] = {}

    def give(self, task: Task[Any], urgency: Urgency) -> None:
        self._waiting.put(task, urgency)

    def results(self, advance: Advance) -> Iterator[tuple[Task[Any], Any]]:
        self._hand_out()
        while self._busy:
            for connection in wait(list(self._busy)):
                assert isinstance(connection, Connection)  # noqa: S101 - for the type alone
                task = self._busy[connection]
                said = self._heard(connection, task)
                if isinstance(said, int):
                    advance(task, said)
                    continue
                if isinstance(said, Exception):
                    raise said
                del self._busy[connection]
                self._hand_out()
                yield task, *said
                self._hand_out()

    def _hand_out(self) -> None:
        idle = [connection for connection in self._processes if connection not in self._busy]
        while self._waiting and (idle or len(self._processes) < self.number):
            connection = idle.pop() if idle else self._started()
            task = self._busy[connection] = self._waiting.take()
            try:
                connection.send(task)
            except OSError:
                raise self._death(connection, task) from None

    def _started(self) -> Connection:
        ours, theirs = socket.socketpair()
        with theirs:
            process = children.start("loaders.process", [theirs.fileno()])
        connection = Connection(ours.detach())
        self._processes[connection] = process
        return connection

    def _heard(self, connection: Connection, task: Task[Any]) -> Any:
        try:
            return connection.recv()
        except (EOFError, OSError):
            raise self._death(connection, task) from None

    def _death(self, connection: Connection, task: Task[Any]) -> HarnessError:
        code = self._processes[connection].wait()
        return HarnessError(
            f"{task.name}: the process that loaded it ended with exit code {code}; "
            "load again, with a smaller --jobs if memory is short"
        )

    def end(self) -> None:
        for connection in self._processes:
            connection.close()
        for process in self._processes.values():
            try:
                process.wait(_ENDING_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
