"""Supervise worker processes on this machine: whatever a text does to one, every task gets done.

A worker that hangs in a statement ends itself, and the text gets the outcome of a timeout. The supervisor
ends a worker that is late in another stage, and the stage is skipped, or its text gets a timeout. A worker
that dies is replaced, and the rest of its task judged; a text that crashes a worker twice is to blame, one
whose workers are killed is given up as a harness error. No text affects another's outcome or the calling
process. Timing works alike: a text to blame counts as failed while it was timed, and a pair whose worker was
killed is timed again from the start.
"""

import contextlib
import os
import pickle
import signal
import socket
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from itertools import chain, count
from mmap import mmap
from multiprocessing.connection import Connection
from queue import SimpleQueue
from threading import Event, Lock, Thread
from typing import Any

from harness.engines.base import EngineLost
from harness.engines.execution import Ending, Execution
from harness.engines.plans import QueryPlan, stopped
from harness.metrics.efficiency import Timing
from harness.scoring.tasks import (
    OPTIONAL,
    ExecuteTask,
    ExplainTask,
    JudgeResult,
    JudgeTask,
    Result,
    Setup,
    Stage,
    TimeTask,
    WorkerTask,
    encode_execution,
)
from harness.scoring.timing import failed_while_timed
from harness.scoring.worker_process import HUNG, NOTE_BYTES, SPENT, Activity, digest
from loaders.base.processes import start_process

_CRASHES = frozenset({signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGILL, signal.SIGFPE})
"""Signals of a crash."""

_MOST_DEATHS = 3
"""Deaths of workers at one text, or outside of any text, before it is given up."""

_LOOK_SECONDS = 1.0
"""Seconds between checks of a silent worker."""

_ENDING_SECONDS = 5

_MANY = 4
"""Number of waiting tasks that starts all workers at once."""

_HEAD_START_SECONDS = 1.0
"""Delay of all but the first worker if fewer tasks wait: the first may finish quick ones meanwhile."""


class WorkerDied(Exception):
    """A worker ended before it finished its task, during its last announced activity."""

    def __init__(self, code: int, activity: Activity, said: str, *, was_late: bool) -> None:
        super().__init__(said)
        self.code = code
        self.activity = activity
        self.was_late = was_late

    @property
    def name(self) -> str:
        """The signal or exit code that ended it."""
        return signal.Signals(-self.code).name if self.code < 0 else f"exit code {self.code}"

    @property
    def was_stuck(self) -> bool:
        """True if it was doing something that did not stop in time."""
        return self.was_late or self.code == HUNG

    def blames(self, times: int) -> bool:
        """Return True if the current text is to blame, after `times` such deaths."""
        return bool(self.activity.stage) and (self.was_stuck or (-self.code in _CRASHES and times > 1))

    @property
    def why_given_up(self) -> str:
        """The message when no other worker will try."""
        return f"{_MOST_DEATHS} processes that were to run it have ended: {self.name}; {self}"

    @property
    def text_fault(self) -> str:
        """The message about a text that is to blame while being timed or explained, as a predicate."""
        stuck = "did not stop when its time was up"
        return stuck if self.was_stuck else f"crashed the process that ran it ({self.name})"


class _Process:
    """One worker process, from its start to its end."""

    def __init__(self, setup: bytes) -> None:
        ours, theirs = socket.socketpair()
        with tempfile.TemporaryFile() as note, theirs, tempfile.TemporaryFile() as log:
            note.truncate(NOTE_BYTES)
            self._note = mmap(note.fileno(), NOTE_BYTES)
            self._log = os.dup(log.fileno())
            descriptors = theirs.fileno(), note.fileno()
            self._process = start_process(
                "harness.scoring.worker_process", descriptors, output=log, grace=True
            )
        self._connection = Connection(ours.detach())
        self._setup: bytes | None = setup

    def _ended(self) -> int:
        """Wait for a process whose connection is closed; one that hangs is killed."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._process.wait(_ENDING_SECONDS)
        self._process.kill()
        return self._process.wait()

    def do(self, task: WorkerTask[Result], report: Callable[[JudgeResult], None]) -> Result:
        """Have the process do a task; return the result.

        Args:
            task: the task.
            report: called with intermediate results.

        Raises:
            WorkerDied: the process ended, or was ended because it was late.
            EngineLost: the task failed without a text to blame.
        """
        was_late = False
        try:
            if self._setup is not None:
                self._connection.send_bytes(self._setup)
                self._setup = None
            self._connection.send(task)
            while True:
                was_late = not self._is_in_time()
                is_last, said = self._connection.recv()
                if is_last:
                    break
                report(said)
        except (EOFError, OSError):
            code = self._ended()
            raise WorkerDied(code, Activity.read(self._note), self._last_words(), was_late=was_late) from None
        if isinstance(said, EngineLost):
            raise said
        found: Result = said
        return found

    def _is_in_time(self) -> bool:
        """Wait for a message; if a stage of a text is late, end the process and return False."""
        seen = Activity()
        while not self._connection.poll(_LOOK_SECONDS):
            activity = Activity.read(self._note)
            if activity == seen and 0 < activity.due < time.monotonic():
                self._process.kill()
                return False
            seen = activity
        return True

    def _last_words(self) -> str:
        size = os.fstat(self._log).st_size
        lines = os.pread(self._log, size, 0).decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else ""

    @property
    def id(self) -> int:
        """The process id."""
        return self._process.pid

    def stop(self) -> None:
        """Make it cancel its work and end; `do` then raises. May be called from any thread."""
        with (
            contextlib.suppress(OSError),
            socket.socket(fileno=os.dup(self._connection.fileno())) as connection,
        ):
            connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Stop it and wait until it has ended; do not call it while `do` runs."""
        self._connection.close()
        self._ended()
        self._note.close()
        os.close(self._log)


class LocalWorkers:
    """Worker processes on this machine, started on demand; thread-safe.

    Args:
        setup: what all tasks share.
        count: the number of workers.
        place: the index of the first one; the index decides which of several servers a worker uses.
    """

    def __init__(self, setup: Setup, count: int, place: int = 0) -> None:
        self._setup = setup
        self._count = count
        self._place = place
        self._queue: SimpleQueue[tuple[WorkerTask[Any], Future[Any]] | None] = SimpleQueue()
        self._lock = Lock()
        self._threads: list[Thread] = []
        self._processes: dict[int, _Process] = {}
        self._busy = {place + number: Lock() for number in range(count)}
        """Held while a process does a task: its thread does those of the queue, a caller those at once."""
        self._closed = False
        self._wanted = Event()
        """Set once all workers are to start."""

    def submit(self, task: WorkerTask[Result]) -> Future[Result]:
        """Submit a task; for judging see `Workers.submit`.

        A caller that times a pair must make sure that nothing else runs. If timing, explaining or executing
        fails without a text to blame, the future raises EngineLost.
        """
        future: Future[Result] = Future()
        with self._lock:
            if self._closed:
                future.cancel()
                return future
            self._queue.put((task, future))
            if self._queue.qsize() >= _MANY:
                self._wanted.set()
            if len(self._threads) < self._count:
                place = self._place + len(self._threads)
                thread = Thread(target=self._serve, args=(place,), name=f"bird-worker-{place}", daemon=True)
                self._threads.append(thread)
                thread.start()
        return future

    def at_once(self, task: JudgeTask) -> Future[JudgeResult] | None:
        """See `Workers.at_once`."""
        with self._lock:
            started = list(self._processes) if self._queue.empty() and not self._closed else []
        for place in started:
            if self._busy[place].acquire(blocking=False):
                future: Future[JudgeResult] = Future()
                future.set_running_or_notify_cancel()
                try:
                    self._settle(future, place, task)
                finally:
                    self._busy[place].release()
                return future
        return None

    @property
    def processes(self) -> list[int]:
        """The ids of the running processes."""
        with self._lock:
            return [process.id for process in self._processes.values()]

    def close(self) -> None:
        """See `Workers.close`."""
        with self._lock:
            self._closed = True
            for process in self._processes.values():
                process.stop()
        self._wanted.set()
        for _ in self._threads:
            self._queue.put(None)
        for thread in self._threads:
            thread.join()

    def _serve(self, place: int) -> None:
        """Serve tasks with one worker, in turn."""
        if place != self._place:
            self._wanted.wait(_HEAD_START_SECONDS)
        while (entry := self._queue.get()) is not None:
            task, future = entry
            if self._closed:
                future.cancel()
            if not future.set_running_or_notify_cancel():
                continue
            with self._busy[place]:
                self._settle(future, place, task)
        with self._busy[place]:
            self._end(place)

    def _settle(self, future: Future[Result], place: int, task: WorkerTask[Result]) -> None:
        """Do a task and settle its future; the place belongs to this thread meanwhile."""
        try:
            result = self._do(place, task)
        except EngineLost as error:
            future.set_exception(error)
        except BaseException as error:  # noqa: BLE001 - the caller must get it
            # Its answer to this task must not be mistaken for that to the next.
            self._end(place)
            future.set_exception(error)
        else:
            future.set_result(result)

    def _do(self, place: int, task: WorkerTask[Any]) -> Any:
        """Do a task, continuing with another worker if one dies; return the result.

        Raises:
            EngineLost: it failed without a text to blame, or the run was stopped.
        """
        found = JudgeResult()

        def keep(part: JudgeResult) -> None:
            nonlocal found, task
            found |= part
            if isinstance(task, JudgeTask):
                task = replace(task, reusable=task.reusable | part)

        deaths: Counter[tuple[bytes, int]] = Counter()
        while True:
            try:
                result = self._worker(place).do(task, keep)
            except WorkerDied as died:
                self._end(place)
                if self._closed:
                    raise EngineLost("the run was stopped") from died
                deaths[died.activity.text, died.activity.stage] += died.code != SPENT
                rest = task if died.code == SPENT else after_death(self._setup, task, died, deaths)
                if not isinstance(rest, WorkerTask):
                    return rest
                task = rest
            else:
                if not isinstance(task, JudgeTask):
                    return result
                keep(result)
                if found.judgements.keys() >= set(task.texts):
                    return found

    def _worker(self, place: int) -> _Process:
        """Return the process at a place, reserved for this thread."""
        process = self._processes.get(place)
        if process is None:
            process = _Process(pickle.dumps((self._setup, place)))
            with self._lock:
                self._processes[place] = process
                if self._closed:
                    process.stop()
        return process

    def _end(self, place: int) -> None:
        with self._lock:
            process = self._processes.pop(place, None)
        if process is not None:
            process.close()


def after_death(
    setup: Setup, task: WorkerTask[Any], died: WorkerDied, deaths: Counter[tuple[bytes, int]]
) -> WorkerTask[Any] | Timing | QueryPlan | Execution:
    """Return the rest of a task whose worker died, or its result if nothing remains.

    Args:
        setup: what all tasks share.
        task: the task.
        died: how the worker died.
        deaths: the number of workers that died at it, including this one, by text and stage.

    Raises:
        EngineLost: too many have died without a text to blame.
    """
    times = deaths[died.activity.text, died.activity.stage]
    match task:
        case JudgeTask():
            return _rest_to_judge(setup, task, died, times)
        case TimeTask() if died.blames(times):
            is_of_gold = died.activity.text != digest(task.prediction)
            return failed_while_timed(task.method, died.text_fault, is_of_gold=is_of_gold)
        case ExecuteTask() if died.blames(times):
            return _execution_of(setup, died)
        case ExplainTask(failure=QueryPlan() as failure) if deaths.total() >= _MOST_DEATHS:
            return failure
        case ExplainTask() if deaths.total() < _MOST_DEATHS and died.blames(deaths.total()):
            ending = Ending.TIMEOUT if died.was_stuck else Ending.ERROR
            words = stopped(setup.limits.seconds) if died.was_stuck else f"it {died.text_fault}"
            return replace(task, failure=QueryPlan(ending, error=words))
    if deaths.total() >= _MOST_DEATHS:
        raise EngineLost(died.why_given_up)
    return task


def _rest_to_judge(setup: Setup, task: JudgeTask, died: WorkerDied, times: int) -> JudgeTask:
    """Give a text to blame its outcome, give up one that is not, and return the task with the others."""
    stage, known = died.activity.stage, task.reusable
    text = next((each for each in task.texts if digest(each) == died.activity.text), None)
    if times >= _MOST_DEATHS:
        broken = setup.broken(task.dialect, died.why_given_up)
        given_up = (
            [text] if text is not None else [each for each in task.texts if each not in known.judgements]
        )
        return replace(task, reusable=known | JudgeResult(dict.fromkeys(given_up, broken)))
    if not died.blames(times):
        return task
    if stage in OPTIONAL:
        texts = {*task.texts, *task.question.gold.values(), *chain(*task.question.more_gold.values())}
        found = next(each for each in texts if digest(each) == died.activity.text)
        return replace(task, left_out=task.left_out | {(Stage(stage), found)})
    encoded = encode_execution(_execution_of(setup, died)) or b""
    if text is not None:
        return replace(task, reusable=known | JudgeResult(executions={text: encoded}))
    # Golds run in order, and the result of each is reported before the next starts.
    place = next(place for place in count() if place not in known.golds)
    return replace(task, reusable=known | JudgeResult(golds={place: encoded}))


def _execution_of(setup: Setup, died: WorkerDied) -> Execution:
    """Return the execution of a text that ended its worker."""
    is_run = died.activity.stage == Stage.RUNNING
    if not died.was_stuck:
        error = "it crashes the process that runs it" if is_run else "its rows crash what scores them"
        return Execution(Ending.ERROR, error=f"{error} ({died.name})")
    if is_run:
        error = "it did not stop when its time was up"
        return Execution(Ending.TIMEOUT, error=error, seconds=setup.limits.seconds)
    return Execution(Ending.TIMEOUT, error=f"scoring its rows took longer than {setup.scoring_seconds:g} s")
