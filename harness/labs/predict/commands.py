"""`command:WORDS`: a program that answers JSON lines and is kept running.

The words are split as a shell would, but no shell runs. Up to `Settings.concurrency` processes are started as
needed, each with one ask at a time. An ask is one line on the program's stdin, an object with `id`,
`question` (its key), `db_id`, `dialect`, `text`, `evidence`, `schema` (a list of CREATE TABLE statements),
`messages` (of `role` and `content`), `stage` and `sample`. The answer is one line on its stdout, flushed:

    {"id": ..., "sql": "SELECT 1"}          or "text" instead of "sql", for an answer with more in it than SQL
    {"id": ..., "error": "what went wrong"} when there is no answer

It may also have `usage` ({"requests", "prompt_tokens", "completion_tokens"}), `finish` and `model`. All other
output belongs on stderr; at the end of its stdin the program must exit. It inherits the environment, with
PYTHONUNBUFFERED unless that is set.

A process that dies is started again, and its ask tried once more. One that does not answer in time, or
answers with something else, is killed and started again: its next line could belong to any ask.
"""

import contextlib
import hashlib
import os
import queue
import selectors
import shlex
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from typing import Any

from dialects.errors import BadInput
from harness.labs.predict.budget import CLOSED, Meter
from harness.labs.predict.settings import (
    Settings,
    count_or_none,
    parsed,
    secrets_by_name,
    text_or_none,
)
from harness.predictors.base import Ask, PredictorBroken, Reply, RequestFailed, Usage, shortened
from loaders.base.files import ascii_json

MOST_BYTES = 16 * 1024 * 1024
"""The longest line read as an answer."""

_CHUNK = 65536
_STDERR_BYTES = 8192
_STDERR_LINES = 5
_GRACE = 1.0
"""Seconds from the end of its input until it is killed."""
_LOOK = 0.5
"""Seconds between checks that it is still running: a child process may keep its stdout open."""


class ProcessDied(Exception):
    """The process ended, or closed a pipe, before it answered. The message says how.

    It contains what the process wrote, unchanged: callers clean it before they show it.
    """


class CommandProcess:
    """A running command. One thread at a time exchanges lines with it; any may end it.

    A separate thread drains stderr and keeps the end of it. Ending the command kills its whole process group.

    Raises:
        OSError: it cannot be started.
    """

    def __init__(self, words: Sequence[str]) -> None:
        # A new session, so that its group can be killed, and Ctrl-C does not reach it.
        self._process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
            env={"PYTHONUNBUFFERED": "1", **os.environ},  # most programs are in Python, and forget to flush
        )
        pipes = self._process.stdin, self._process.stdout, self._process.stderr
        self._stdin, self._stdout, self._stderr = (pipe for pipe in pipes if pipe is not None)
        os.set_blocking(self._stdin.fileno(), False)
        os.set_blocking(self._stdout.fileno(), False)
        self.has_answered = False
        """True if it has answered anything; set by the caller."""
        self._said = b""
        self._unread = bytearray()
        self._exchanging = threading.Lock()
        self._ending = threading.Lock()
        self._killed = False
        self._reader = threading.Thread(target=self._read_stderr, name="stderr of a predictor", daemon=True)
        self._reader.start()

    def exchange(self, line: bytes, timeout: float) -> bytes:
        """Write a line and read one, within `timeout` seconds.

        Raises:
            ProcessDied: it ended first.
            RequestFailed: the line is late or too long, or was there before the ask.
        """
        with self._exchanging, selectors.DefaultSelector() as selector:
            deadline = time.monotonic() + timeout
            rest = memoryview(line)
            answer = self._unread
            if answer:
                raise RequestFailed(
                    f"more than one line on stdout for an ask: {answer.decode('utf-8', 'replace')}"
                )
            selector.register(self._stdin, selectors.EVENT_WRITE)
            selector.register(self._stdout, selectors.EVENT_READ)
            while (left := deadline - time.monotonic()) > 0:
                ready = selector.select(min(left, _LOOK))
                if not ready and self._code() is not None:
                    raise self._death()
                for key, _ in ready:
                    if key.fileobj is self._stdin:
                        rest = rest[self._written(rest) :]
                        if not rest:
                            selector.unregister(self._stdin)
                    elif self._read(answer):
                        whole, _, self._unread = answer.partition(b"\n")
                        return bytes(whole)
            half = f"an unfinished line: {answer.decode('utf-8', 'replace')}" if answer else None
            seen = half or "nothing on stdout: the program must flush its output"
            raise RequestFailed(f"no answer within {timeout:g} s; {seen}")

    def end(self) -> None:
        """End it and everything it started: by closing its input if it is idle, then by force."""
        if self._exchanging.acquire(blocking=False):
            try:
                self._stdin.close()
                self._await_exit()
            finally:
                self._exchanging.release()
        self.kill()

    def kill(self) -> None:
        """Kill it and everything it started."""
        self._kill_group()
        # Not while a thread exchanges lines: the numbers of its pipes could be reused.
        if self._exchanging.acquire(timeout=2 * _LOOK):
            try:
                self._stdin.close()
                self._stdout.close()
            finally:
                self._exchanging.release()
        if not self._reader.is_alive():
            self._stderr.close()

    def _kill_group(self) -> None:
        with self._ending:
            if not self._killed:
                self._killed = True
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()
        self._reader.join(_GRACE)

    def _written(self, rest: memoryview) -> int:
        try:
            return os.write(self._stdin.fileno(), rest[:_CHUNK])
        except BlockingIOError:
            return 0
        except (OSError, ValueError):  # ValueError: it is closed
            raise self._death() from None

    def _read(self, answer: bytearray) -> bool:
        try:
            piece = os.read(self._stdout.fileno(), _CHUNK)
        except BlockingIOError:
            return False
        if not piece:
            raise self._death()
        answer += piece
        if b"\n" in piece:
            return True
        if len(answer) > MOST_BYTES:
            raise RequestFailed(f"the answer has more than {MOST_BYTES} bytes in one line")
        return False

    def _death(self) -> ProcessDied:
        # A process that closes a pipe counts as ended: it cannot be asked any more.
        self._await_exit()
        code = self._code()
        self._kill_group()
        how = "closed its stdin or stdout" if code is None else _how(code)
        lines = self._said.decode("utf-8", "replace").split("\n")
        if len(self._said) == _STDERR_BYTES:
            del lines[0]  # its beginning is lost, and could have held a key
        last = " | ".join([stripped for text in lines if (stripped := text.strip())][-_STDERR_LINES:])
        return ProcessDied(f"{how}; its stderr ends with: {last}" if last else f"{how}; nothing on stderr")

    def _code(self) -> int | None:
        # Without reaping it, if the system allows that: its number, which is its group's, must not be reused
        # before the group is killed.
        with self._ending:
            if self._killed or not hasattr(os, "waitid"):
                return self._process.poll()
            state = os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if state is None:
                return None
            return state.si_status if state.si_code == os.CLD_EXITED else -state.si_status

    def _await_exit(self) -> None:
        deadline = time.monotonic() + _GRACE
        while self._code() is None and time.monotonic() < deadline:
            time.sleep(0.01)

    def _read_stderr(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            while piece := self._stderr.read(_CHUNK):
                self._said = (self._said + piece)[-_STDERR_BYTES:]


def _how(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"


EXAMPLE = 'command:"python my_predictor.py --beam 4"'
MOST_DEATHS = 3
"""After so many processes in a row that end without an answer, the command is broken."""


class CommandPredictor:
    """Asks a command.

    Raises:
        BadInput: the words cannot be split, or the program does not exist.
    """

    def __init__(self, command: str, settings: Settings, meter: Meter) -> None:
        self._words = _split(command)
        self._settings = settings
        self._meter = meter
        self._secrets = secrets_by_name(os.environ)
        self._closed = threading.Event()
        self._running: set[CommandProcess] = set()
        # A place is a process, or None if one can be started; the one used last is first.
        self._places: queue.LifoQueue[CommandProcess | None] = queue.LifoQueue()
        for _ in range(settings.concurrency):
            self._places.put(None)
        self._lock = threading.Lock()
        self._fruitless = 0

    @property
    def identity(self) -> Mapping[str, Any]:
        """Return the program's name and the digest of the whole command, which may contain a secret."""
        digest = hashlib.sha256(ascii_json(self._words).encode()).hexdigest()
        return {"kind": "command", "program": self._words[0].rpartition("/")[2], "sha256": digest}

    def ask(self, ask: Ask) -> Reply:
        """Send the ask to a free process, and once more to another if that one dies."""
        line = ascii_json(_asked(ask)).encode() + b"\n"
        try:
            return self._tried(ask, line)
        except ProcessDied:
            pass
        try:
            reply = self._tried(ask, line)
        except ProcessDied as died:
            reason = f"{self._words[0]} ended twice over this ask: {self._shown(died)}"
            raise RequestFailed(reason, Usage(2)) from None
        except RequestFailed as failed:
            raise RequestFailed(failed.reason, failed.usage + Usage(1)) from None
        return replace(reply, usage=reply.usage + Usage(1))

    def close(self) -> None:
        """End all processes, and those that they have started."""
        with self._lock:
            self._closed.set()
            running = list(self._running)
        with ThreadPoolExecutor(max(len(running), 1)) as pool:
            list(pool.map(CommandProcess.end, running))

    def _tried(self, ask: Ask, line: bytes) -> Reply:
        process = self._places.get()
        try:
            with self._meter.paying(ask, self._closed) as bill:
                process = process or self._started()
                timeout = self._settings.timeout + (
                    0 if process.has_answered else self._settings.start_timeout
                )
                try:
                    reply = _reply(process.exchange(line, timeout), ask)
                except (ProcessDied, RequestFailed) as error:
                    self._end(process)
                    process = None
                    if self._closed.is_set():
                        raise RequestFailed(CLOSED, Usage(1)) from None
                    if isinstance(error, RequestFailed):
                        raise RequestFailed(f"{self._words[0]}: {self._shown(error)}", Usage(1)) from None
                    self._count_death(error)
                    raise
                process.has_answered = True
                with self._lock:
                    self._fruitless = 0
                if isinstance(reply, RequestFailed):
                    bill.usage = reply.usage
                    raise RequestFailed(self._shown(reply), reply.usage)
                return bill.answered(reply)
        finally:
            self._places.put(process)

    def _started(self) -> CommandProcess:
        # Under the lock, so that `close` sees every process.
        with self._lock:
            if self._closed.is_set():
                raise RequestFailed(CLOSED)
            try:
                process = CommandProcess(self._words)
            except OSError as error:
                remedy = f"cannot be started ({error.strerror}); check the command"
                raise PredictorBroken(f"{self._words[0]} {remedy}") from None
            self._running.add(process)
            return process

    def _end(self, process: CommandProcess) -> None:
        process.kill()
        with self._lock:
            self._running.discard(process)

    def _count_death(self, died: Exception) -> None:
        with self._lock:
            self._fruitless += 1
            if self._fruitless >= MOST_DEATHS:
                raise PredictorBroken(
                    f"{self._words[0]} ended {self._fruitless} times in a row without an answer "
                    f"({self._shown(died)}); run it by hand with a line of JSON on its stdin"
                ) from None

    def _shown(self, error: Exception) -> str:
        return shortened(self._secrets.hidden(str(error)))


def _split(command: str) -> Sequence[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise BadInput(f"command:{command}: cannot be split into words ({error}); check its quotes") from None
    if not words:
        raise BadInput(f"command: no program is named; write it as {EXAMPLE}")
    if shutil.which(words[0]) is None:
        raise BadInput(
            f"command: {words[0]} is not found or not executable; check its name, or give its full path"
        )
    return words


def _asked(ask: Ask) -> Mapping[str, Any]:
    problem = ask.problem
    return {
        "id": ask.identity,
        "question": problem.question,
        "db_id": problem.database.db_id,
        "dialect": problem.dialect,
        "text": problem.text,
        "evidence": problem.evidence,
        "schema": [table.create for table in problem.database.tables],
        "messages": [asdict(message) for message in ask.messages],
        "stage": ask.stage,
        "sample": ask.sample,
    }


def _reply(line: bytes, ask: Ask) -> Reply | RequestFailed:
    """Parse the reply of a line; RequestFailed is returned if the command itself reports that it has none.

    Raises:
        RequestFailed: the line is not an answer, so that the next one may belong to any ask.
    """
    shown = line.decode("utf-8", "replace")
    try:
        answer = parsed(line)
    except ValueError:
        raise RequestFailed(f"a line on stdout is not JSON: {shown}") from None
    if not isinstance(answer, dict) or answer.get("id") != ask.identity:
        raise RequestFailed(f"a line on stdout does not answer the ask (its `id` differs): {shown}")
    told = answer.get("usage")
    counts = told if isinstance(told, dict) else {}
    usage = Usage(
        count_or_none(counts.get("requests")) or 1,
        count_or_none(counts.get("prompt_tokens")),
        count_or_none(counts.get("completion_tokens")),
    )
    if (error := answer.get("error")) is not None:
        said = error if isinstance(error, str) else ascii_json(error)
        return RequestFailed(f"the command reports: {said}", usage)
    text = answer["sql"] if answer.get("sql") is not None else answer.get("text")
    if text is None:
        return RequestFailed("the command gave no answer (neither `sql` nor `text`)", usage)
    if not isinstance(text, str):
        raise RequestFailed(f"an answer must be a string: {shown}")
    return Reply(text, usage, text_or_none(answer.get("finish")), text_or_none(answer.get("model")))
