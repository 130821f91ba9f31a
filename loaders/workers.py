"""Run the tasks of a load in worker processes, in threads or, if those do not pay, in this process.

Turning SQLite's rows into Python values needs the interpreter's lock, so threads would not run in parallel.
Threads start immediately and suffice for tasks that mostly wait for SQLite and a server. The processes end
with the one that started them, however that ends.
"""

import heapq
import os
import socket
import sqlite3
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import count
from multiprocessing.connection import Connection, wait
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any

from dialects.errors import HarnessError
from dialects.schema import Schema
from dialects.server_schema import ServerTable
from loaders.base.processes import end_threads, start_process
from loaders.file_census import census
from loaders.namespace import Database
from loaders.server import Server
from loaders.source import opened, refuse_numbers
from loaders.target import FilledTable, LoadSource, target


@dataclass(frozen=True)
class Survey:
    """The census of a file."""

    path: Path
    jobs: int = field(default=1, compare=False)
    """Number of threads."""
    escape: bool = field(default=False, compare=False)
    """See `loaders.census`."""

    def do(self, advance: Callable[[int], None]) -> Schema:  # noqa: ARG002 - nothing is sent
        """See `loaders.census`."""
        return census(self.path, jobs=self.jobs, escape=self.escape)

    @property
    def name(self) -> str:
        """The task's name in messages."""
        return str(self.path)


@dataclass(frozen=True)
class Fill:
    """Loading one table of a database."""

    server: Server
    database: Database
    source: LoadSource
    table: ServerTable
    staging: str

    def do(self, advance: Callable[[int], None]) -> FilledTable:
        """See `Target.fill`; `advance` is called with the number of additional rows sent."""
        dialect, path = self.server.dialect, self.source.path
        advance(0)
        with opened(path) as connection:
            refuse_numbers(connection, path, self.table, dialect, self.database.profile)
            return target(dialect).fill(
                self.server, self.database, self.source, self.table, self.staging, connection, advance
            )

    @property
    def name(self) -> str:
        """The task's name in messages."""
        return f"{self.source.path}: table {self.table.source.name}"


@dataclass(frozen=True)
class Link:
    """Adding the foreign keys of a database, once all its tables are filled."""

    server: Server
    database: Database
    source: LoadSource
    staging: str

    def do(self, advance: Callable[[int], None]) -> list[str]:  # noqa: ARG002 - nothing is sent
        """See `Target.link`."""
        if not any(table.source.foreign_keys for table in self.source.tables):
            return []
        return target(self.server.dialect).link(self.server, self.database, self.source, self.staging)

    @property
    def name(self) -> str:
        """The task's name in messages."""
        return f"{self.source.path}: foreign keys"


LoadTask = Survey | Fill | Link
"""A task for any process; all its parts can be pickled."""

_ENDING_SECONDS = 5
_AGAIN_SECONDS = 0.05

Advance = Callable[[LoadTask, int], None]
"""Called, in the thread that reads results, with a task and the number of additional rows it has sent."""


class LoadWorkers:
    """Runs `number` tasks at once, and accepts more at any time, also between two results.

    This class runs one after the other, in this process.
    """

    def __init__(self, number: int) -> None:
        self.number = number
        self._heap: list[tuple[float, float, int, LoadTask]] = []
        self._given = count()

    def give(self, task: LoadTask, urgency: tuple[float, float]) -> None:
        """Add a task: the most urgent task runs first, of equally urgent ones the first added."""
        heapq.heappush(self._heap, (-urgency[0], -urgency[1], next(self._given), task))

    def _next(self) -> LoadTask:
        return heapq.heappop(self._heap)[-1]

    def results(self, advance: Advance) -> Iterator[tuple[LoadTask, Any]]:
        """Yield each task with its result, as they finish, until none is left.

        Raises:
            HarnessError: a task raised it, or its process died.
        """
        while self._heap:
            task = self._next()
            yield task, task.do(lambda rows, task=task: advance(task, rows))  # type: ignore[misc]

    def end(self) -> None:
        """Stop running tasks; no more can be added. May be called twice."""


@contextmanager
def workers(number: int, *, processes: bool = True, alone: bool = False) -> Iterator[LoadWorkers]:
    """Yield `number` worker processes or threads, started when needed and stopped at the end; 1 means none.

    Always uses processes if this process limits SQLite's memory, as running predictions does: the limit
    applies to the whole process, and long values may need more. With `alone` there is one process at most.
    """
    pool: LoadWorkers
    if (processes and number > 1) or _is_limited():
        pool = _Processes(1 if alone else number)
    else:
        pool = LoadWorkers(1) if number == 1 else _Threads(number)
    try:
        yield pool
    finally:
        pool.end()


def _is_limited() -> bool:
    with closing(sqlite3.connect(":memory:")) as connection:
        [limit] = connection.execute("PRAGMA hard_heap_limit").fetchone()
    return bool(limit)


class _Processes(LoadWorkers):
    def __init__(self, number: int) -> None:
        super().__init__(number)
        self._processes: dict[Connection, subprocess.Popen[bytes]] = {}
        self._busy: dict[Connection, LoadTask] = {}

    def results(self, advance: Advance) -> Iterator[tuple[LoadTask, Any]]:
        self._hand_out()
        while self._busy:
            for connection in wait(list(self._busy)):
                assert isinstance(connection, Connection)  # noqa: S101 - for the type checker
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
        while self._heap and (idle or len(self._processes) < self.number):
            connection = idle.pop() if idle else self._started()
            task = self._busy[connection] = self._next()
            try:
                connection.send(task)
            except OSError:
                raise self._death(connection, task) from None

    def _started(self) -> Connection:
        ours, theirs = socket.socketpair()
        with theirs:
            process = start_process("loaders.workers", [theirs.fileno()])
        connection = Connection(ours.detach())
        self._processes[connection] = process
        return connection

    def _heard(self, connection: Connection, task: LoadTask) -> Any:
        try:
            return connection.recv()
        except (EOFError, OSError):
            raise self._death(connection, task) from None

    def _death(self, connection: Connection, task: LoadTask) -> HarnessError:
        code = self._processes[connection].wait()
        return HarnessError(
            f"{task.name}: the process that loaded it ended with exit code {code}; "
            "load again, with fewer --workers if memory is short"
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


class _Cancelled(Exception):
    """The result is no longer needed."""


class _Threads(LoadWorkers):
    def __init__(self, number: int) -> None:
        super().__init__(number)
        self._heard: SimpleQueue[tuple[LoadTask, Any]] = SimpleQueue()
        self._busy: dict[LoadTask, Thread] = {}
        self._is_over = False

    def results(self, advance: Advance) -> Iterator[tuple[LoadTask, Any]]:
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
        while self._heap and len(self._busy) < self.number:
            task = self._next()
            thread = self._busy[task] = Thread(target=self._do, args=(task,), name="bird-load", daemon=True)
            thread.start()

    def _do(self, task: LoadTask) -> None:
        try:
            self._heard.put((task, (task.do(lambda rows: self._advance(task, rows)),)))
        except BaseException as error:  # noqa: BLE001 - it goes on in the thread that asks for results
            self._heard.put((task, error))

    def _advance(self, task: LoadTask, rows: int) -> None:
        if self._is_over:
            raise _Cancelled
        self._heard.put((task, rows))

    def end(self) -> None:
        self._is_over = True
        for thread in self._busy.values():
            while thread.is_alive():
                end_threads([thread.ident])
                thread.join(_AGAIN_SECONDS)


def _serve(connection: Connection) -> None:
    tasks: SimpleQueue[LoadTask] = SimpleQueue()

    def receive() -> None:
        try:
            while True:
                tasks.put(connection.recv())
        except (EOFError, OSError):
            # The load or its process has ended: nothing more must be written.
            os._exit(0)

    Thread(target=receive, name="bird-receive", daemon=True).start()
    while True:
        connection.send(_outcome(tasks.get(), connection))


def _outcome(task: LoadTask, connection: Connection) -> object:
    """Return a tuple of only the result, or an error; numbers of rows are sent before it."""
    try:
        return (task.do(connection.send),)
    except HarnessError as error:
        return error
    except Exception:  # noqa: BLE001 - it goes on in the process that loads
        return RuntimeError(traceback.format_exc())


def main() -> None:
    """Run a worker process; its argument is the descriptor of the socket."""
    _serve(Connection(int(sys.argv[1])))
