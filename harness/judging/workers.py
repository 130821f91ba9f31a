"""Worker processes on this machine, supervised: whatever a text does to one, every sheet is judged.

A worker that hangs in a statement ends itself, and the text gets the outcome of a timeout. One that dies is
replaced and its sheet judged again; a text at which a worker crashes twice is to blame, one at which workers
are killed is not. Nothing of this reaches the process that asks.
"""

import contextlib
import os
import pickle
import signal
import socket
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import Future
from dataclasses import replace
from mmap import mmap
from multiprocessing.connection import Connection
from queue import SimpleQueue
from threading import Event, Lock, Thread

from harness.engines.base import EngineLost
from harness.execution import Ending, Execution
from harness.judging.process import DIGEST_BYTES, HUNG, digest
from harness.judging.sheets import Judged, Setup, Sheet
from harness.known.codec import encode

_CRASHES = frozenset({signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGILL, signal.SIGFPE})
"""Signals by which a process ends itself."""

_MOST_DEATHS = 3
"""How often a sheet is given to another worker after one has died."""

_ENDING_SECONDS = 5

_MANY = 4
"""So many sheets that wait start all workers at once."""

_HEAD_START_SECONDS = 1.0
"""How much later the others start for fewer: by then the first has judged what is quick."""


class Died(Exception):
    """A worker ended before it had judged its sheet. `text` is the digest of what it executed."""

    def __init__(self, code: int, text: bytes, said: str) -> None:
        super().__init__(said)
        self.code = code
        self.text = text

    @property
    def name(self) -> str:
        """What ended it."""
        return signal.Signals(-self.code).name if self.code < 0 else f"exit code {self.code}"


class _Process:
    """One worker process, from its start to its end."""

    def __init__(self, setup: bytes) -> None:
        ours, theirs = socket.socketpair()
        with tempfile.TemporaryFile() as note, theirs, tempfile.TemporaryFile() as log:
            note.truncate(DIGEST_BYTES)
            self._note = mmap(note.fileno(), DIGEST_BYTES)
            self._log = os.dup(log.fileno())
            self._process = subprocess.Popen(
                [sys.executable, "-m", "harness.judging.process", str(theirs.fileno()), str(note.fileno())],
                pass_fds=(theirs.fileno(), note.fileno()),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                # Ctrl-C is for the process that asks: it decides what is to be done.
                start_new_session=True,
            )
        self._connection = Connection(ours.detach())
        self._setup: bytes | None = setup

    def judge(self, sheet: Sheet) -> Judged:
        """Have it judge a sheet.

        Raises:
            Died: it ended.
        """
        try:
            if self._setup is not None:
                self._connection.send_bytes(self._setup)
                self._setup = None
            self._connection.send(sheet)
            judged: Judged = self._connection.recv()
        except (EOFError, OSError):
            code = self._process.wait()
            raise Died(code, self._note[:DIGEST_BYTES], self._last_words()) from None
        return judged

    def _last_words(self) -> str:
        size = os.fstat(self._log).st_size
        lines = os.pread(self._log, size, 0).decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else ""

    @property
    def id(self) -> int:
        """The process id."""
        return self._process.pid

    def stop(self) -> None:
        """Tell it, from any thread, to cancel what it is doing and to end; `judge` then raises."""
        with (
            contextlib.suppress(OSError),
            socket.socket(fileno=os.dup(self._connection.fileno())) as connection,
        ):
            connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Stop it and wait until it has ended; not while `judge` runs."""
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
        setup: what is the same for every sheet.
        count: how many.
        place: that of the first one, which decides which of several servers it uses.
    """

    def __init__(self, setup: Setup, count: int, place: int = 0) -> None:
        self._setup = setup
        self._count = count
        self._place = place
        self._tasks: SimpleQueue[tuple[Sheet, Future[Judged]] | None] = SimpleQueue()
        self._lock = Lock()
        self._threads: list[Thread] = []
        self._processes: dict[int, _Process] = {}
        self._busy = {place + number: Lock() for number in range(count)}
        self._closed = False
        self._wanted = Event()

    def submit(self, sheet: Sheet) -> Future[Judged]:
        """See `Workers.submit`."""
        future: Future[Judged] = Future()
        with self._lock:
            if self._closed:
                future.cancel()
                return future
            self._tasks.put((sheet, future))
            if self._tasks.qsize() >= _MANY:
                self._wanted.set()
            if len(self._threads) < self._count:
                place = self._place + len(self._threads)
                thread = Thread(target=self._serve, args=(place,), name=f"bird-worker-{place}", daemon=True)
                self._threads.append(thread)
                thread.start()
        return future

    def at_once(self, sheet: Sheet) -> Future[Judged] | None:
        """See `Workers.at_once`."""
        with self._lock:
            started = list(self._processes) if self._tasks.empty() and not self._closed else []
        for place in started:
            if self._busy[place].acquire(blocking=False):
                future: Future[Judged] = Future()
                future.set_running_or_notify_cancel()
                try:
                    self._settle(future, place, sheet)
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
            self._tasks.put(None)
        for thread in self._threads:
            thread.join()

    def _serve(self, place: int) -> None:
        """Have one worker judge one sheet after the other."""
        if place != self._place:
            self._wanted.wait(_HEAD_START_SECONDS)
        while (task := self._tasks.get()) is not None:
            sheet, future = task
            if self._closed:
                future.cancel()
            if not future.set_running_or_notify_cancel():
                continue
            with self._busy[place]:
                self._settle(future, place, sheet)
        with self._busy[place]:
            self._bury(place)

    def _settle(self, future: Future[Judged], place: int, sheet: Sheet) -> None:
        """Have a sheet judged, and say so to whoever waits; the place is this thread's for so long."""
        try:
            judged = self._judge(place, sheet)
        except BaseException as error:  # noqa: BLE001 - whoever waits has to hear of it
            future.set_exception(error)
        else:
            future.set_result(judged)

    def _judge(self, place: int, sheet: Sheet) -> Judged:
        """Have a sheet judged, by another worker where one dies.

        Raises:
            EngineLost: they all die, and no text is to blame.
        """
        deaths: Counter[bytes] = Counter()
        while True:
            try:
                return self._worker(place).judge(sheet)
            except Died as died:
                self._bury(place)
                if self._closed:
                    raise EngineLost("the run was stopped") from died
                deaths[died.text] += 1
                fate = _fate(died, deaths[died.text], self._setup.limits.seconds)
                if deaths.total() == _MOST_DEATHS:
                    raise EngineLost(
                        f"{_MOST_DEATHS} processes that were to run it have ended: {died.name}; {died}"
                    ) from died
                if fate is not None:
                    sheet = _decided(sheet, died.text, fate)

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


def _fate(died: Died, times: int, limit: float) -> Execution | None:
    """What a text that a worker died of comes to, if it is to blame."""
    if died.text == bytes(DIGEST_BYTES):
        return None
    if died.code == HUNG:
        return Execution(Ending.TIMEOUT, error="it did not stop when its time was up", seconds=limit)
    if -died.code in _CRASHES and times > 1:
        return Execution(Ending.ERROR, error=f"it crashes the process that runs it ({died.name})")
    return None


def _decided(sheet: Sheet, text: bytes, execution: Execution) -> Sheet:
    """The sheet with the execution of a text, or of gold, that is not to be tried again."""
    encoded = encode(execution) or b""
    for each in sheet.texts:
        if digest(each) == text:
            return replace(sheet, known={**sheet.known, each: encoded})
    return replace(sheet, gold=encoded)
