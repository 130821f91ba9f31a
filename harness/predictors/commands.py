"""`command:WORDS`: a program answers JSON lines, and is kept running.

The words are split as a shell would, but no shell runs. As many processes as `Settings.concurrency` says
are started when they are needed, each with one ask at a time. An ask is one line on the program's stdin, an
object with `id`, `question` (its key), `db_id`, `dialect`, `text`, `evidence`, `schema` (a list of CREATE
TABLE statements), `messages` (of `role` and `content`), `stage` and `sample`. The answer is one line on its
stdout, flushed:

    {"id": ..., "sql": "SELECT 1"}          or "text" instead of "sql", for an answer with more in it than SQL
    {"id": ..., "error": "what went wrong"} when there is no answer

Beside `sql` or `text` it may have `usage` ({"requests", "prompt_tokens", "completion_tokens"}), `finish`
and `model`. Whatever else the program has to say belongs on stderr; at the end of its stdin it has to end.
Its environment is this one's, with PYTHONUNBUFFERED unless that is set.

A process that dies is started again, and the ask that was in it tried once more. One that does not answer
in time, or answers with something else, is killed and started again: nobody knows what it would answer
next.
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
from harness.predictors.base import Ask, PredictorBroken, Reply, RequestFailed, Usage
from harness.predictors.budget import CLOSED, Meter
from harness.predictors.common import (
    Settings,
    count_or_none,
    dumped,
    parsed,
    secrets_by_name,
    shortened,
    text_or_none,
)

MOST_BYTES = 16 * 1024 * 1024
"""The longest line that is read as an answer."""

_CHUNK = 65536
_STDERR_BYTES = 8192
_STDERR_LINES = 5
_GRACE = 1.0
"""Seconds from the end of its input to its being killed."""
_LOOK = 0.5
"""Every so many seconds it is looked whether it is still there: a child of its may keep its stdout open."""


class ProcessDied(Exception):
    """The process ended, or closed a pipe, while an answer was waited for. The message says how.

    It has in it what the process wrote, as it came: whoever shows it makes it fit for that.
    """


class CommandProcess:
    """A running command. One thread at a time exchanges lines with it; any may end it.

    A thread of its own reads stderr away and keeps the end of it. Ending it kills its whole process group.

    Raises:
        OSError: it cannot be started.
    """

    def __init__(self, words: Sequence[str]) -> None:
        # A session of its own, so that its group can be killed, and Ctrl-C does not reach it.
        self._process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
            env={"PYTHONUNBUFFERED": "1", **os.environ},  # most programs are Python's, and forget to flush
        )
        pipes = self._process.stdin, self._process.stdout, self._process.stderr
        self._stdin, self._stdout, self._stderr = (pipe for pipe in pipes if pipe is not None)
        os.set_blocking(self._stdin.fileno(), False)
        os.set_blocking(self._stdout.fileno(), False)
        self.has_answered = False
        """Whether it has answered anything; whoever asks it says so."""
        self._said = b""
        self._unread = bytearray()
        self._exchanging = threading.Lock()
        self._ending = threading.Lock()
        self._killed = False
        self._reader = threading.Thread(target=self._read_stderr, name="stderr of a predictor", daemon=True)
        self._reader.start()

    def exchange(self, line: bytes, timeout: float) -> bytes:
        """Write a line and read one, within so many seconds.

        Raises:
            ProcessDied: it ended first.
            RequestFailed: the line did not come in time, is too long, or stood there before.
        """
        with self._exchanging, selectors.DefaultSelector() as selector:
            deadline = time.monotonic() + timeout
            rest = memoryview(line)
            answer = self._unread
            if answer:
                raise RequestFailed(
                    f"more on stdout than one line for each ask: {answer.decode('utf-8', 'replace')}"
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
            half = f"half a line came: {answer.decode('utf-8', 'replace')}" if answer else None
            seen = half or "nothing came: a program has to flush what it prints"
            raise RequestFailed(f"no answer within {timeout:g} s; {seen}")

    def end(self) -> None:
        """End it and everything that it started: by the end of its input where it is idle, then by force."""
        if self._exchanging.acquire(blocking=False):
            try:
                self._stdin.close()
                self._await_exit()
            finally:
                self._exchanging.release()
        self.kill()

    def kill(self) -> None:
        """End it and everything that it started by force."""
        self._kill_group()
        # Not under the hands of a thread that exchanges lines: the numbers of its pipes could be given anew.
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
            raise RequestFailed(f"an answer of more than {MOST_BYTES} bytes in one line")
        return False

    def _death(self) -> ProcessDied:
        # Whoever closes a pipe has ended: nothing can be asked any more.
        self._await_exit()
        code = self._code()
        self._kill_group()
        how = "closed its stdin or stdout" if code is None else _how(code)
        lines = self._said.decode("utf-8", "replace").split("\n")
        if len(self._said) == _STDERR_BYTES:
            del lines[0]  # its beginning is lost, and what was in it can no more be known
        last = " | ".join([stripped for text in lines if (stripped := text.strip())][-_STDERR_LINES:])
        return ProcessDied(f"{how}; its stderr ends with: {last}" if last else f"{how}; nothing on stderr")

    def _code(self) -> int | None:
        # Without reaping it, where the system lets that be: its number, which is its group's, must be nobody
        # else's before the group is killed.
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
"""So many processes in a row that end without an answer, and the command is taken for broken."""


class CommandPredictor:
    """Asks a command.

    Raises:
        BadInput: the words cannot be split, or the program is not there.
    """

    def __init__(self, command: str, settings: Settings, meter: Meter) -> None:
        self._words = _split(command)
        self._settings = settings
        self._meter = meter
        self._secrets = secrets_by_name(os.environ)
        self._closed = threading.Event()
        self._running: set[CommandProcess] = set()
        # A place is a process, or None where one can be started; the one that was used last comes first.
        self._places: queue.LifoQueue[CommandProcess | None] = queue.LifoQueue()
        for _ in range(settings.concurrency):
            self._places.put(None)
        self._lock = threading.Lock()
        self._fruitless = 0

    @property
    def identity(self) -> Mapping[str, Any]:
        """The program's name and the digest of the whole command, which may have a secret in it."""
        digest = hashlib.sha256(dumped(self._words).encode()).hexdigest()
        return {"kind": "command", "program": self._words[0].rpartition("/")[2], "sha256": digest}

    def ask(self, ask: Ask) -> Reply:
        """Give the ask to a process that is free, and once more to another one if that ends over it."""
        line = dumped(_asked(ask)).encode() + b"\n"
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
        """End all processes, with those that they have started."""
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
        # Under the lock, so that none is started that `close` does not see.
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
                    f"({self._shown(died)}); run it by hand, and give it a line of JSON"
                ) from None

    def _shown(self, error: Exception) -> str:
        return shortened(self._secrets.hidden(str(error)))


def _split(command: str) -> Sequence[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise BadInput(f"command:{command}: cannot be split into words ({error}); check its quotes") from None
    if not words:
        raise BadInput(f"command: names no program; write it as {EXAMPLE}")
    if shutil.which(words[0]) is None:
        raise BadInput(
            f"command: {words[0]} is not found or may not be run; check its name, or give its whole path"
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
    """The reply of a line, or RequestFailed where the command says itself that it has none.

    Raises:
        RequestFailed: the line is no answer, and nobody knows what the next one would be.
    """
    shown = line.decode("utf-8", "replace")
    try:
        answer = parsed(line)
    except ValueError:
        raise RequestFailed(f"a line on stdout is not JSON: {shown}") from None
    if not isinstance(answer, dict) or answer.get("id") != ask.identity:
        raise RequestFailed(f"a line on stdout is no answer to the ask (its `id` is another): {shown}")
    told = answer.get("usage")
    counts = told if isinstance(told, dict) else {}
    usage = Usage(
        count_or_none(counts.get("requests")) or 1,
        count_or_none(counts.get("prompt_tokens")),
        count_or_none(counts.get("completion_tokens")),
    )
    if (error := answer.get("error")) is not None:
        said = error if isinstance(error, str) else dumped(error)
        return RequestFailed(f"the command says: {said}", usage)
    text = answer["sql"] if answer.get("sql") is not None else answer.get("text")
    if text is None:
        return RequestFailed("the command gave no answer (neither `sql` nor `text`)", usage)
    if not isinstance(text, str):
        raise RequestFailed(f"an answer has to be a text: {shown}")
    return Reply(text, usage, text_or_none(answer.get("finish")), text_or_none(answer.get("model")))
