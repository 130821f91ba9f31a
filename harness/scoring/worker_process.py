"""A worker process: judge tasks, time pairs, explain and execute texts from a socket, until it is closed.

`harness.scoring.workers` starts it, and replaces it when it ends. Damage that the SQL of a prediction can do
to a process is limited to this one: a statement that cannot be stopped or crashes ends it; its memory is
limited.
"""

import contextlib
import ctypes
import gc
import hashlib
import mmap
import os
import resource
import select
import struct
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple, NoReturn

from harness.engines import plans
from harness.engines.base import Engine, EngineLost, SqlError
from harness.engines.execution import WATCHDOG, Ending, Execution, Limits, NotCounted, count_work
from harness.engines.plans import QueryPlan
from harness.engines.retry import execute_patiently
from harness.metrics.efficiency import Timing
from harness.scoring.judge import Judge
from harness.scoring.tasks import (
    Announce,
    ExecuteTask,
    ExplainTask,
    JudgeTask,
    Setup,
    Stage,
    TimeTask,
    error_message,
)
from harness.scoring.timing import measure
from loaders.base.processes import collect_rarely
from loaders.namespace import Database

HUNG = 71
"""Exit code of a worker that ended itself because a statement did not stop."""

SPENT = 72
"""Exit code of a worker that ended itself between two texts, which had left it too little memory."""

MOST_MEMORY = 600 * 2**20
"""Bytes of memory for statements and their rows, beyond the worker's own needs."""

MOST_RETAINED = MOST_MEMORY // 3
"""Bytes of address space that texts may leave behind before another process takes over.

An allocator may keep what it has freed, and the limit counts it: the next text would have less than the last.
"""

MOST_FREE = 64 * 2**20
"""Bytes by which an idle worker may have grown since its start before it releases free memory."""

DIGEST_BYTES = 32

_ACTIVITY = struct.Struct(f"=dB{DIGEST_BYTES}s")

NOTE_BYTES = _ACTIVITY.size


def digest(sql: str) -> bytes:
    """Return the digest by which a worker announces a text."""
    return hashlib.sha256(sql.encode("utf-8", "surrogatepass")).digest()


class Activity(NamedTuple):
    """What a worker is doing: its deadline (0: none), the stage, and the text."""

    due: float = 0.0
    stage: int = 0
    text: bytes = bytes(DIGEST_BYTES)

    @classmethod
    def read(cls, memory: mmap.mmap) -> "Activity":
        """Read the announcement of a process."""
        return cls(*_ACTIVITY.unpack(memory[:NOTE_BYTES]))


class Announcer:
    """Announces the activity of this process in memory shared with its supervisor.

    The time of a stage stops while a stage within it runs.
    """

    def __init__(self, memory: mmap.mmap) -> None:
        self._memory = memory
        self._due, self._stage, self._text = Activity()
        self._waiting = 0.0, 0.0
        self._last = "", bytes(DIGEST_BYTES)

    @contextlib.contextmanager
    def announce(self, stage: Stage, text: str, seconds: float | None) -> Iterator[None]:
        """See `Announce`."""
        if self._last[0] is not text:
            self._last = text, digest(text)
        due, outer, its_text, began = self._due, self._stage, self._text, time.monotonic()
        self._write(0.0 if seconds is None else began + seconds, stage, self._last[1])
        try:
            yield
        finally:
            self._write(due and due + time.monotonic() - began, outer, its_text)

    def until(self, due: float | None) -> None:
        """Announce the deadline of a statement, whatever the stage; None once it has ended."""
        if due is not None:
            self._waiting = self._due, time.monotonic()
            self._write(due, self._stage, self._text)
        else:
            before, began = self._waiting
            self._write(before and before + time.monotonic() - began, self._stage, self._text)

    def _write(self, due: float, stage: int, text: bytes) -> None:
        self._due, self._stage, self._text = due, stage, text
        self._memory[:NOTE_BYTES] = _ACTIVITY.pack(due, stage, text)


def _limit_memory() -> None:
    """Limit the memory of the process, on systems that enforce it."""
    if not (allocated := _counted_bytes()):
        return
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = allocated + MOST_MEMORY
    if hard == resource.RLIM_INFINITY or most < hard:
        resource.setrlimit(resource.RLIMIT_DATA, (most, hard))


def resident() -> int:
    """Return the resident bytes of this process; 0 if the operating system does not report them."""
    return _bytes_of_memory(1)


def _counted_bytes() -> int:
    """Return the bytes of address space that the limit of memory counts; 0 if they are not reported."""
    return _bytes_of_memory(5)


def _bytes_of_memory(column: int) -> int:
    """Return a column of https://man7.org/linux/man-pages/man5/proc_pid_statm.5.html in bytes, or 0."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[column]) * mmap.PAGESIZE
    except (OSError, IndexError, ValueError):
        return 0


def give_back(at_start: int) -> None:
    """Return free memory to the operating system if this process has grown by `MOST_FREE`.

    glibc keeps all free memory below a live block: after rows of hundreds of megabytes, one small block may
    keep them all.
    https://man7.org/linux/man-pages/man3/malloc_trim.3.html

    Args:
        at_start: the value of `resident` at the start.
    """
    if resident() - at_start > MOST_FREE:
        with contextlib.suppress(OSError, AttributeError):  # another library than glibc
            ctypes.CDLL(None).malloc_trim(0)


def _serve(connection: Connection, memory: mmap.mmap) -> None:
    setup, place = connection.recv()
    announcer = Announcer(memory)
    announce = announcer.announce
    judge = Judge(setup, setup.engines(place), announce)
    # Separate engines for timing: new connections, on the first server.
    engine = cache(setup.engine)
    WATCHDOG.supervise(announcer.until, partial(os._exit, HUNG))
    _limit_memory()
    # Everything allocated so far lives to the end: exclude it from collections.
    gc.freeze()
    collect_rarely()
    at_start, counted_at_start = resident(), _counted_bytes()
    Thread(target=_await_end, args=(connection,), name="bird-end", daemon=True).start()
    while True:
        try:
            task: JudgeTask | TimeTask | ExplainTask | ExecuteTask = connection.recv()
        except (EOFError, OSError):
            _end()
        if isinstance(task, JudgeTask):
            found: Any = judge.judge(task, lambda part: connection.send((False, part)), _Retained().is_much)
        else:
            found = _result_of(task, setup, engine(task.dialect), announce)
        connection.send((True, found))
        # The caller has the answer. Release memory, so that every task starts alike.
        del task, found
        give_back(at_start)
        if _counted_bytes() - counted_at_start > MOST_RETAINED:
            _end(SPENT)


class _Retained:
    """Tells whether the texts of a task have left much address space behind."""

    def __init__(self) -> None:
        self._at_first: int | None = None

    def is_much(self) -> bool:
        """True if another process has to continue; False when asked for the first time."""
        if self._at_first is None:
            self._at_first = _counted_bytes()
        return _counted_bytes() - self._at_first > MOST_RETAINED


def _result_of(
    task: TimeTask | ExplainTask | ExecuteTask, setup: Setup, engine: Engine, announce: Announce
) -> Timing | QueryPlan | Execution | EngineLost:
    """Time a pair, explain or execute a text; return EngineLost if that fails without a text to blame."""
    database = setup.database(task.db_id, task.dialect)
    try:
        if isinstance(task, ExplainTask):
            return _explained(task, setup, engine, database, announce)
        if isinstance(task, ExecuteTask):
            limits = Limits(setup.limits.seconds, task.rows, task.bytes, keeps_first=True)
            with announce(Stage.RUNNING, task.sql, None):
                return execute_patiently(engine, database, task.sql, limits)
        return measure(engine, database, task.prediction, task.gold, task.method, setup.limits, announce)
    except Exception as error:  # noqa: BLE001 - a fault of ours or a driver's is one task's, not the run's
        return EngineLost(error_message(error))


def _explained(
    task: ExplainTask, setup: Setup, engine: Engine, database: Database, announce: Announce
) -> QueryPlan:
    from harness.sqltree.parser import with_tables  # noqa: PLC0415 - sqlglot takes as long as 500 pairs

    is_run = task.failure is None
    with announce(Stage.RUNNING, task.sql, None):
        plan = plans.explain(engine, database, task.sql, setup.limits, is_run=is_run)
        if task.counts and is_run and plan.ending is Ending.ROWS:
            plan = _counted(plan, engine, database, task.sql, setup.limits)
    with announce(Stage.RUNNING, task.sql, setup.scoring_seconds):
        plan = with_tables(plan, task.sql, task.dialect)
    return plan if task.failure is None else replace(task.failure, root=plan.root)


def _counted(plan: QueryPlan, engine: Engine, database: Database, sql: str, limits: Limits) -> QueryPlan:
    """Add the work of the text to its plan, running it once more."""
    try:
        work = count_work(engine, database, sql, limits)
    except SqlError as error:
        return replace(plan, uncounted=error.message)
    if isinstance(work, NotCounted):
        return replace(plan, uncounted=work.reason)
    return replace(plan, counters=work.counters)


def _await_end(connection: Connection) -> None:
    """End the process with the connection, even during a task; new tasks do not wake this thread."""
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLHUP)
    poll.poll()
    _end()


def _end(code: int = 0) -> NoReturn:
    # Leave nothing running on a server.
    WATCHDOG.cancel_all()
    os._exit(code)


def main() -> None:
    """Entry point of the process; its arguments are the descriptors of the socket and the shared memory."""
    # Each thread of it has address space of its own, which would count as left behind by the first text
    # that is scored with numpy; workers have the processors already.
    # http://openmathlib.org/OpenBLAS/docs/runtime_variables
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    socket, note = map(int, sys.argv[1:])
    _serve(Connection(socket), mmap.mmap(note, NOTE_BYTES))
