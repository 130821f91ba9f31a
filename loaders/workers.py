"""Tasks done in worker processes or, where those do not pay, in this one; results as they come.

The processes end with the one that started them, however that ends.
"""

import heapq
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from multiprocessing.connection import Connection, wait
from typing import Any, Protocol

from harness.errors import HarnessError
from loaders.tasks import Task

_ENDING_SECONDS = 5

Advance = Callable[[Task[Any], int], None]
"""Told, in the thread that asks for results, how many more rows a task has sent."""


Urgency = tuple[float, float]
"""Of the tasks that wait the one with the largest is next, and of several the one that was given first."""


class Workers(Protocol):
    """Takes tasks at any time, also between two results."""

    def give(self, task: Task[Any], urgency: Urgency) -> None:
        """Have a task done."""
        ...

    def results(self, advance: Advance) -> Iterator[tuple[Task[Any], Any]]:
        """Each task with its result, as they finish, until none is left.

        Raises:
            HarnessError: a task raised it, or its process died.
        """
        ...

    def end(self) -> None:
        """End what is under way; nothing can be given any more. May be called twice."""
        ...


@contextmanager
def workers(number: int) -> Iterator[Workers]:
    """As many worker processes, started when needed and ended at the end; 1 means none beside this one."""
    hands = _Processes(number) if number > 1 else _Here()
    try:
        yield hands
    finally:
        hands.end()


class _Waiting:
    """Tasks by urgency."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, float, int, Task[Any]]] = []
        self._numbers = count()

    def put(self, task: Task[Any], urgency: Urgency) -> None:
        heapq.heappush(self._heap, (-urgency[0], -urgency[1], next(self._numbers), task))

    def take(self) -> Task[Any]:
        return heapq.heappop(self._heap)[-1]

    def __len__(self) -> int:
        return len(self._heap)


class _Here:
    """See `Workers`: one task after the other, in this process."""

    def __init__(self) -> None:
        self._waiting = _Waiting()

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
        self._number = number
        self._waiting = _Waiting()
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
        while self._waiting and (idle or len(self._processes) < self._number):
            connection = idle.pop() if idle else self._started()
            task = self._busy[connection] = self._waiting.take()
            try:
                connection.send(task)
            except OSError:
                raise self._death(connection, task) from None

    def _started(self) -> Connection:
        ours, theirs = socket.socketpair()
        with theirs:
            process = subprocess.Popen(
                [sys.executable, "-m", "loaders.process", str(theirs.fileno())],
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                # Ctrl-C is for the process that loads: it ends the others.
                start_new_session=True,
            )
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
