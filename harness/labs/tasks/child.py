"""Child processes that judge: forked, without rights and environment, with little memory, killed in time."""

import ctypes
import os
import pickle
import resource
import select
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self, TypeVar

from harness.labs.tasks.engine import NOBODY
from loaders.base.errors import EngineUnavailable
from loaders.base.files import ascii_json, parse_json
from loaders.base.processes import end_with

_MEMORY_BYTES = 4 * 2**30
_FILE_BYTES = 2 * 2**30

Made = TypeVar("Made")


class Ended(Exception):
    """A child was ended: by its limit of time, or by itself."""

    def __init__(self, message: str, *, is_timeout: bool) -> None:
        super().__init__(message)
        self.is_timeout = is_timeout


def in_child(
    work: Callable[[], Made],
    seconds: float,
    *,
    is_plain: bool = True,
    meanwhile: Callable[[], None] | None = None,
) -> Made:
    """Do work in a forked child that has no rights, no environment and little memory.

    Args:
        work: what the child does.
        seconds: after which the child is killed.
        is_plain: True if the result comes back as JSON, which executes nothing: required where code of test
           cases runs. Else it comes back as it is.
        meanwhile: what this process does at the same time.

    Raises:
        Ended: it was killed, or ended without a result.
        EngineUnavailable: `work` raised; this is the harness's fault or the server's, and no verdict.
    """
    data = b""
    with _Child(lambda file: file.write(_content(work, is_plain=is_plain))) as child:
        deadline = time.monotonic() + seconds
        try:
            if meanwhile is not None:
                meanwhile()
            data = _received(child.reading, deadline)
        except TimeoutError as error:
            raise Ended(f"it was not judged within {seconds:g} s", is_timeout=True) from error
    if not data:
        raise Ended(f"its process ended ({child.exit_code})", is_timeout=False)
    kind, content = data[:1], bytes(data[1:])
    if kind == _FAULT:
        raise EngineUnavailable(f"a task cannot be judged: {content.decode(errors='replace')}")
    if not is_plain:
        # Only statements ran in it.
        return pickle.loads(content)  # type: ignore[no-any-return]  # noqa: S301
    try:
        return parse_json(content.decode())  # type: ignore[no-any-return]
    except ValueError as error:
        raise Ended(f"its process wrote no verdict ({error})", is_timeout=False) from error


def _received(reading: int, deadline: float) -> bytes:
    """Read to the end; raise TimeoutError at the deadline."""
    data = bytearray()
    while piece := _piece(reading, deadline):
        data += piece
    return bytes(data)


def _piece(reading: int, deadline: float) -> bytes:
    """Read what is there, nothing at the end; raise TimeoutError at the deadline."""
    left = deadline - time.monotonic()
    if left <= 0 or not select.select([reading], [], [], left)[0]:
        raise TimeoutError
    return os.read(reading, 2**20)


_RESULT, _FAULT = b"r", b"f"
"""The first byte of what a child writes."""


def _content(work: Callable[[], Made], *, is_plain: bool) -> bytes:
    """Do the work of a child; return what it writes."""
    try:
        result = work()
        return _RESULT + (ascii_json(result).encode() if is_plain else pickle.dumps(result))
    except Exception as error:  # noqa: BLE001 - it is raised in the parent
        return _FAULT + f"{type(error).__name__}: {error}".encode(errors="replace")


class _Child:
    """A forked process that works and writes, and is killed at the end of the block.

    Args:
        work: gets the file whose bytes come out of `reading`.
    """

    exit_code: int | None = None

    def __init__(self, work: Callable[[BinaryIO], object]) -> None:
        self.reading, writing = os.pipe()
        parent = os.getpid()
        self._process = os.fork()
        if self._process == 0:
            self._be_it(work, writing, parent)
        os.close(writing)

    def _be_it(self, work: Callable[[BinaryIO], object], writing: int, parent: int) -> None:
        try:
            end_with(parent, grace=False)
            os.close(self.reading)
            os.setsid()
            _confine()
            with os.fdopen(writing, "wb") as file:
                work(file)
        finally:
            os._exit(0)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self.reading)
        for kill in (os.killpg, os.kill):
            with suppress(ProcessLookupError):
                kill(self._process, signal.SIGKILL)
        _, status = os.waitpid(self._process, 0)
        self.exit_code = os.waitstatus_to_exitcode(status)


def lines_of_child(work: Callable[[], Iterable[Any]], seconds: float) -> Iterator[Any]:
    """Yield what a child yields, as JSON: it ends after the last, and may end before it.

    Args:
        work: what the child does; no code of test cases may run in it.
        seconds: after which the child is killed if it yields nothing.

    Raises:
        Ended: it was killed.
    """

    def lines(file: BinaryIO) -> None:
        # What raises is found out when the rest is judged one by one.
        for each in work():
            file.write(ascii_json(each).encode() + b"\n")
            file.flush()

    with _Child(lines) as child:
        data = bytearray()
        deadline = time.monotonic() + seconds
        while True:
            try:
                piece = _piece(child.reading, deadline)
            except TimeoutError as error:
                raise Ended(f"it was not judged within {seconds:g} s", is_timeout=True) from error
            if not piece:
                return
            *whole, rest = (data + piece).split(b"\n")
            data = bytearray(rest)
            if whole:
                deadline = time.monotonic() + seconds
            yield from (parse_json(bytes(line).decode()) for line in whole)


_NEW_NETWORK = 0x40000000
"""CLONE_NEWNET, https://man7.org/linux/man-pages/man2/unshare.2.html."""


def _confine() -> None:
    """Take from this process the environment, memory, big files and, from root's, all rights."""
    os.environ.clear()
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    sys.stdout = sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - to the end
    for what, most in (
        (resource.RLIMIT_AS, _MEMORY_BYTES),
        (resource.RLIMIT_FSIZE, _FILE_BYTES),
        (resource.RLIMIT_CORE, 0),
    ):
        with suppress(ValueError, OSError):
            resource.setrlimit(what, (most, most))


def lose_rights() -> None:
    """Leave the network, if the system lets this process, and root's account."""
    if sys.platform == "linux":
        ctypes.CDLL(None).unshare(_NEW_NETWORK)
    if os.geteuid() == 0:
        parent = os.getppid()
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        # The kernel forgets about the parent of a process that changes its account.
        end_with(parent, grace=False)
