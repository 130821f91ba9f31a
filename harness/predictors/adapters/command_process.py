"""One process of a command that answers lines: whatever it does, who asks it comes back.

What it writes on stderr is read away by a thread of its own, and the end of it kept; a line on stdout has a
limit in bytes and in time. Ending it kills its whole process group.
"""

import contextlib
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from typing import IO

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

    Messages have in them what the process wrote, as it came: whoever shows them makes them fit for it.
    """


class ProcessFaulty(Exception):
    """It did not answer with one line in time. The message says what came instead."""


class CommandProcess:
    """A running command. One thread at a time exchanges lines with it; any may end it.

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
        self._stdin = _pipe(self._process.stdin)
        self._stdout = _pipe(self._process.stdout)
        self._stderr = _pipe(self._process.stderr)
        os.set_blocking(self._stdin.fileno(), False)
        os.set_blocking(self._stdout.fileno(), False)
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
            ProcessFaulty: the line did not come in time, is too long, or stood there before.
        """
        with self._exchanging, selectors.DefaultSelector() as selector:
            deadline = time.monotonic() + timeout
            rest = memoryview(line)
            answer = self._unread
            if answer:
                raise ProcessFaulty(
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
            raise ProcessFaulty(f"no answer within {timeout:g} s; {seen}")

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
            raise ProcessFaulty(f"an answer of more than {MOST_BYTES} bytes in one line")
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


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None  # noqa: S101 - all three were asked for
    return pipe


def _how(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"
