"""Worker processes on this machine, supervised: whatever a text does to one, every task is done.

A worker that hangs in a statement ends itself, and the text gets the outcome of a timeout. One that is late
with something else is ended by its supervisor, and what it was at is left out, or its text a timeout. One
that dies is replaced and the rest of its task judged; a text at which a worker crashes twice is to blame,
one at which workers are killed is given up as a harness error. No text decides another's outcome, and nothing
of this reaches the process that asks. Where pairs are timed it is the same: a text that is to blame failed
while it was timed, and a pair whose worker was killed is timed again from its beginning.
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

from harness.cache.codec import encode
from harness.data.outcomes import Judgement, Outcome
from harness.engines.base import EngineLost
from harness.engines.execution import Ending, Execution
from harness.engines.plans import QueryPlan, stopped
from harness.metrics.efficiency import Timing
from harness.scoring.tasks import OPTIONAL, Judged, PlanTask, Progress, Setup, Stage, Task, TimingTask
from harness.scoring.timing import failed_while_timed
from harness.scoring.worker_process import HUNG, NOTE_BYTES, Noted, digest
from loaders.base.processes import start_process

_CRASHES = frozenset({signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGILL, signal.SIGFPE})
"""Signals by which a process ends itself."""

_MOST_DEATHS = 3
"""So many workers may die at one text, or at none, before it is given up."""

_LOOK_SECONDS = 1.0
"""How often a worker that says nothing is looked at."""

_ENDING_SECONDS = 5

_MANY = 4
"""So many tasks that wait start all workers at once."""

_HEAD_START_SECONDS = 1.0
"""How much later the others start for fewer: by then the first has judged what is quick."""


Asked = Task | TimingTask | PlanTask
"""What a worker does."""


class Died(Exception):
    """A worker ended before it had done its task, while it did what it had `noted`."""

    def __init__(self, code: int, noted: Noted, said: str, *, was_late: bool) -> None:
        super().__init__(said)
        self.code = code
        self.noted = noted
        self.was_late = was_late

    @property
    def name(self) -> str:
        """What ended it."""
        return signal.Signals(-self.code).name if self.code < 0 else f"exit code {self.code}"

    @property
    def was_stuck(self) -> bool:
        """Whether it was at something that did not stop in time."""
        return self.was_late or self.code == HUNG

    def blames(self, times: int) -> bool:
        """Whether the text that it was at is to blame, after `times` workers died so."""
        return bool(self.noted.stage) and (self.was_stuck or (-self.code in _CRASHES and times > 1))

    def why_given_up(self) -> str:
        """What is said where no other worker is to try."""
        return f"{_MOST_DEATHS} processes that were to run it have ended: {self.name}; {self}"


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

    def do(self, task: Asked, tell: Callable[[Progress], None]) -> Any:
        """Have it judge a task or time a pair; what comes of it.

        Args:
            task: the task or the pair.
            tell: is given what comes of some texts of a task before.

        Raises:
            Died: it ended, or was ended here because it was late.
        """
        was_late = False
        try:
            if self._setup is not None:
                self._connection.send_bytes(self._setup)
                self._setup = None
            self._connection.send(task)
            while True:
                was_late = not self._is_in_time()
                said = self._connection.recv()
                if not isinstance(said, Progress):
                    return said
                tell(said)
        except (EOFError, OSError):
            code = self._process.wait()
            raise Died(code, Noted.read(self._note), self._last_words(), was_late=was_late) from None

    def _is_in_time(self) -> bool:
        """Wait until it says something; end it, and say no, if it is late with a stage of a text."""
        seen = Noted()
        while not self._connection.poll(_LOOK_SECONDS):
            noted = Noted.read(self._note)
            if noted == seen and 0 < noted.due < time.monotonic():
                self._process.kill()
                return False
            seen = noted
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
        """Tell it, from any thread, to cancel what it is doing and to end; `do` then raises."""
        with (
            contextlib.suppress(OSError),
            socket.socket(fileno=os.dup(self._connection.fileno())) as connection,
        ):
            connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Stop it and wait until it has ended; not while `do` runs."""
        self._connection.close()
        try:
            self._process.wait(_ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._note.close()
        os.close(self._log)


class LocalWorkers:
    """Worker processes on this machine; thread-safe. They are started when they are needed.

    Args:
        setup: what is the same for every task.
        count: how many.
        place: that of the first one, which decides which of several servers it uses.
    """

    def __init__(self, setup: Setup, count: int, place: int = 0) -> None:
        self._setup = setup
        self._questions = {question.key: question for question in setup.questions.questions}
        self._count = count
        self._place = place
        self._queue: SimpleQueue[tuple[Asked, Future[Any]] | None] = SimpleQueue()
        self._lock = Lock()
        self._threads: list[Thread] = []
        self._processes: dict[int, _Process] = {}
        self._busy = {place + number: Lock() for number in range(count)}
        self._closed = False
        self._wanted = Event()

    def submit(self, task: Task) -> Future[Judged]:
        """See `Workers.submit`."""
        return self._put(task)

    def time(self, task: TimingTask) -> Future[Timing]:
        """Have a pair timed; whoever asks sees to it that nothing else runs.

        The future raises EngineLost where no text is to blame that the pair could not be timed.
        """
        return self._put(task)

    def plan(self, task: PlanTask) -> Future[QueryPlan]:
        """Have a text explained.

        The future raises EngineLost where the text is not to blame that it has no plan.
        """
        return self._put(task)

    def _put(self, task: Asked) -> Future[Any]:
        future: Future[Any] = Future()
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

    def at_once(self, task: Task) -> Future[Judged] | None:
        """See `Workers.at_once`."""
        with self._lock:
            started = list(self._processes) if self._queue.empty() and not self._closed else []
        for place in started:
            if self._busy[place].acquire(blocking=False):
                future: Future[Judged] = Future()
                future.set_running_or_notify_cancel()
                try:
                    self._settle(future, place, task)
                finally:
                    self._busy[place].release()
                return future
        return None

    @property
    def processes(self) -> list[int]:
        """The ids of the processes that run now."""
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
        """Have one worker do one task after the other."""
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
            self._bury(place)

    def _settle(self, future: Future[Any], place: int, task: Asked) -> None:
        """Have a task done, and say so to whoever waits; the place is this thread's for so long."""
        try:
            done = self._do(place, task)
        except BaseException as error:  # noqa: BLE001 - whoever waits has to hear of it
            # Its answer to this task must not be taken for that to the next.
            self._bury(place)
            future.set_exception(error)
        else:
            if isinstance(done, EngineLost):
                future.set_exception(done)
            else:
                future.set_result(done)

    def _do(self, place: int, task: Asked) -> Any:
        """What comes of a task.

        Raises:
            EngineLost: the run was stopped.
        """
        match task:
            case Task():
                return self._judge(place, task)
            case TimingTask():
                return self._time(place, task)
            case PlanTask():
                return self._explain(place, task)

    def _judge(self, place: int, task: Task) -> Judged:
        """Have a task judged, by another worker where one dies.

        Raises:
            EngineLost: the run was stopped.
        """
        executed: dict[str, bytes] = {}
        golds: dict[int, bytes] = {}
        works: dict[str, bytes] = {}

        def keep(progress: Progress) -> None:
            nonlocal task
            executed.update(progress.executed)
            golds.update(progress.golds)
            works.update(progress.works)
            task = replace(
                task,
                judged={**task.judged, **progress.judged},
                golds={**golds, **task.golds},
                works={**works, **task.works},
            )

        deaths: Counter[tuple[bytes, int]] = Counter()
        while True:
            try:
                judged: Judged = self._done(place, task, keep)
            except Died as died:
                fate = (died.noted.text, died.noted.stage)
                deaths[fate] += 1
                task = self._after(task, died, deaths[fate])
            else:
                return Judged(
                    judged.judgements,
                    {**executed, **judged.executed},
                    {**golds, **judged.golds},
                    {**works, **judged.works},
                )

    def _time(self, place: int, task: TimingTask) -> Timing | EngineLost:
        """Have a pair timed, by another worker where one dies; or why no text is to blame that it was not.

        Raises:
            EngineLost: the run was stopped.
        """
        deaths: Counter[bytes] = Counter()
        while True:
            try:
                timing: Timing | EngineLost = self._done(place, task, _ignore)
            except Died as died:
                text = died.noted.text
                deaths[text] += 1
                if died.blames(deaths[text]):
                    is_of_gold = text != digest(task.prediction)
                    return failed_while_timed(task.method, _what_it_did(died), is_of_gold=is_of_gold)
                if deaths.total() == _MOST_DEATHS:
                    return EngineLost(died.why_given_up())
            else:
                return timing

    def _explain(self, place: int, task: PlanTask) -> QueryPlan | EngineLost:
        """Have a text explained, by another worker where one dies; without running it where it is to blame.

        Raises:
            EngineLost: the run was stopped.
        """
        blamed: QueryPlan | None = None
        for deaths in count(1):
            try:
                found: QueryPlan | EngineLost = self._done(place, task, _ignore)
            except Died as died:
                if deaths >= _MOST_DEATHS:
                    return blamed or EngineLost(died.why_given_up())
                if died.blames(deaths):
                    is_late = died.was_stuck
                    words = stopped(self._setup.limits.seconds) if is_late else f"it {_what_it_did(died)}"
                    blamed = QueryPlan(Ending.TIMEOUT if is_late else Ending.ERROR, error=words)
                    task = replace(task, is_run=False)
            else:
                if blamed is None or isinstance(found, EngineLost):
                    return blamed or found
                return replace(blamed, root=found.root)
        raise AssertionError

    def _done(self, place: int, task: Asked, tell: Callable[[Progress], None]) -> Any:
        """What comes of a task at the worker of a place.

        Raises:
            Died: it died, and is buried.
            EngineLost: the run was stopped.
        """
        try:
            return self._worker(place).do(task, tell)
        except Died as died:
            self._bury(place)
            if self._closed:
                raise EngineLost("the run was stopped") from died
            raise

    def _after(self, task: Task, died: Died, times: int) -> Task:
        """What is still to be judged after a worker died for the same as `times` workers in all.

        A text that is to blame gets its outcome, and one that is not is given up; the others are judged.
        """
        text = next((each for each in task.texts if digest(each) == died.noted.text), None)
        stage = died.noted.stage
        if died.blames(times) and times < _MOST_DEATHS:
            if stage in OPTIONAL:
                question = task.of or self._questions[task.question]
                texts = {*task.texts, *chain(question.gold.values(), *question.more_gold.values())}
                found = next(each for each in texts if digest(each) == died.noted.text)
                return replace(task, left_out=task.left_out | {(Stage(stage), found)})
            encoded = encode(self._fate(died)) or b""
            if text is not None:
                return replace(task, known={**task.known, text: encoded})
            # Golds run in their order, and what has come of each is told before the next.
            place = next(place for place in count() if place not in task.golds)
            return replace(task, golds={**task.golds, place: encoded})
        if times < _MOST_DEATHS:
            return task
        zero = self._setup.zero(task.dialect)
        judgement = Judgement(Outcome.HARNESS_ERROR, zero, error=died.why_given_up())
        given_up = [text] if text is not None else [each for each in task.texts if each not in task.judged]
        return replace(task, judged={**task.judged, **dict.fromkeys(given_up, judgement)})

    def _fate(self, died: Died) -> Execution:
        """What a text that a worker died of comes to."""
        is_run = died.noted.stage == Stage.RUNNING
        if not died.was_stuck:
            error = "it crashes the process that runs it" if is_run else "its rows crash what scores them"
            return Execution(Ending.ERROR, error=f"{error} ({died.name})")
        if is_run:
            error, seconds = "it did not stop when its time was up", self._setup.limits.seconds
        else:
            error, seconds = f"scoring its rows took longer than {self._setup.scoring_seconds:g} s", 0.0
        return Execution(Ending.TIMEOUT, error=error, seconds=seconds)

    def _worker(self, place: int) -> _Process:
        """The process at a place, which is busy for this thread."""
        process = self._processes.get(place)
        if process is None:
            process = _Process(pickle.dumps((self._setup, place)))
            with self._lock:
                self._processes[place] = process
                if self._closed:
                    process.stop()
        return process

    def _bury(self, place: int) -> None:
        with self._lock:
            process = self._processes.pop(place, None)
        if process is not None:
            process.close()


def _ignore(_progress: Progress) -> None:
    """A pair is timed or is not: nothing comes of it before."""


def _what_it_did(died: Died) -> str:
    """What a text did that was timed and that its worker died of."""
    stuck = "did not stop when its time was up"
    return stuck if died.was_stuck else f"crashed the process that ran it ({died.name})"
