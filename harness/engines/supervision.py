"""End on the server what continues after its time limit, and start a server that has died.

A function of a server may compute for minutes without looking whether it was told to stop. A server that the
harness has started as a process of this machine, or in a container, is then ended: the backend where each
connection has a process (PostgreSQL starts its others anew by itself), else the server, which is started
again. The harness may not do that to a server known by its address, and only reports it.

All processes of this machine that use a server take turns by locks of files. Texts run side by side; one
under which the server fell runs again alone, so that it is clear which of them ends the server.
"""

import contextlib
import fcntl
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from signal import SIGKILL

from dialects.errors import HarnessError
from harness.engines.base import ServerSession
from loaders.base import paths
from loaders.base.processes import working_in
from loaders.server import Origin, Server

GRACE_SECONDS = 1.5
"""Seconds that a server has to end a statement after its connection was closed."""

_ENDED_SECONDS = 30.0
"""Seconds to wait until what was ended by force has gone."""

_FIRST_PAUSE, _LONGEST_PAUSE = 0.01, 0.25

_RETRY_SECONDS = 5.0
"""Seconds after which a server that could not be started is tried again."""

_RESTARTS = "harness.provision.restarts"
"""The module that starts a server again. It has a process of its own, which a server outlives: the caller may
be a worker, which ends with the run."""


def can_end(server: Server) -> bool:
    """Return True if the harness may end a server by force, because it has started it to keep running."""
    return bool(server.home) or server.origin is Origin.COMPOSE


def settle(server: Server, session: ServerSession, limit: float) -> float:
    """Wait until a server does nothing more for a closed session; end it by force where that takes too long.

    Args:
        server: where the session was.
        session: the session.
        limit: when the time of its statement was up, on the monotonic clock.

    Returns:
        For how many seconds after its limit the server went on, if it did not stop by itself; else 0. Where
        the server is not the harness's, it goes on after that.
    """
    began, pause = time.monotonic(), _FIRST_PAUSE
    while session.lingers():
        if time.monotonic() - began > GRACE_SECONDS:
            overrun = _end(server, session.backend, began) - limit
            restart(server)
            return overrun
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)
    # It may have gone with a server that another text's worker has ended.
    return time.monotonic() - limit if was_ended(server, limit) else 0.0


def _end(server: Server, backend: int, since: float) -> float:
    """End by force what a server does for one connection, if the server is the harness's.

    A container is restarted once for all texts that go on in it, so by the first of them: `since` is when
    this one was told to stop.

    Returns:
        When it was over, on the monotonic clock; now where the server is not the harness's.
    """
    if server.origin is Origin.COMPOSE:
        with _locked(server, "restart", fcntl.LOCK_EX):
            if not was_ended(server, since):
                _record_end(server)
                _start_again(server)
            return _last_end(server) or time.monotonic()
    if not server.home:
        return time.monotonic()
    found = set(working_in(Path(server.home) / "data"))
    # Where each connection has a process, the server starts the others anew. Else the server goes as a whole.
    chosen = found & {backend} if len(found) > 1 else found
    _record_end(server)
    for process in chosen:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(process, SIGKILL)
    # The port is the last that a process lets go of.
    until = time.monotonic() + _ENDED_SECONDS
    while chosen == found and _listens(server) and time.monotonic() < until:
        time.sleep(_FIRST_PAUSE)
    return time.monotonic()


def restart(server: Server) -> None:
    """Start a native server again that has died, unless it was stopped on purpose; by one process at a time.

    Does nothing if it answers, or is not the harness's. Docker restarts its containers itself.
    """
    if server.home and time.monotonic() >= _NEXT_TRY.get(server, 0.0):
        with _locked(server, "restart", fcntl.LOCK_EX):
            if not _listens(server) and not _start_again(server):
                _NEXT_TRY[server] = time.monotonic() + _RETRY_SECONDS


def _start_again(server: Server) -> bool:
    arguments = [server.origin, server.dialect, server.home, str(server.port)]
    done = subprocess.run(
        [sys.executable, "-P", "-m", _RESTARTS, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        check=False,
    )
    return done.returncode == 0


def _listens(server: Server) -> bool:
    try:
        socket.create_connection((server.host, server.port), timeout=1).close()
    except OSError:
        return False
    return True


@contextlib.contextmanager
def beside_others(server: Server) -> Iterator[None]:
    """Within the block, a text runs next to others on a server."""
    with _turn(server, fcntl.LOCK_SH):
        yield


@contextlib.contextmanager
def alone(server: Server) -> Iterator[None]:
    """Within the block, no other text runs on a server, of all processes of this machine."""
    with _turn(server, fcntl.LOCK_EX):
        yield


class _File:
    """A file that is only locked, and closed when its thread has ended."""

    def __init__(self, path: str) -> None:
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._close = os.close

    def fileno(self) -> int:
        """Return the descriptor."""
        return self._descriptor

    def __del__(self) -> None:
        if hasattr(self, "_close"):
            self._close(self._descriptor)


class _Files(threading.local):
    """This thread's open files of the locks of servers, by process: a forked one would share the locks."""

    def __init__(self) -> None:
        self.of: dict[tuple[Server, int], tuple[_File, _File] | None] = {}


_FILES = _Files()


@contextlib.contextmanager
def _turn(server: Server, kind: int) -> Iterator[None]:
    """Hold the turn of a server; see `_locked`. Whoever waits to be alone holds the gate, so none begins."""
    key = server, os.getpid()
    if key not in _FILES.of:
        try:
            _FILES.of[key] = _File(_file(server, "gate")), _File(_file(server, "turn"))
        except (OSError, HarnessError):
            _FILES.of[key] = None
    files = _FILES.of[key]
    if files is None:
        yield
        return
    gate, turn = files
    fcntl.flock(gate, kind)
    try:
        fcntl.flock(turn, kind)
    finally:
        fcntl.flock(gate, fcntl.LOCK_UN)
    try:
        yield
    finally:
        fcntl.flock(turn, fcntl.LOCK_UN)


@contextlib.contextmanager
def _locked(server: Server, name: str, kind: int) -> Iterator[None]:
    """Hold a lock of a server. Where there is no place for its file, nothing is locked."""
    try:
        descriptor = os.open(_file(server, name), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except (OSError, HarnessError):
        yield
        return
    try:
        fcntl.flock(descriptor, kind)
        yield
    finally:
        os.close(descriptor)


def _file(server: Server, name: str) -> str:
    folder = _FOLDERS.get(server)
    if folder is None:
        place = paths.state() / "turns"
        place.mkdir(mode=0o700, exist_ok=True)
        folder = _FOLDERS[server] = str(place / f"{server.dialect}-{server.address.replace('/', '_')}")
    return f"{folder}.{name}"


_FOLDERS: dict[Server, str] = {}
_NEXT_TRY: dict[Server, float] = {}


def _record_end(server: Server) -> None:
    """Let all processes of this machine see that a server is about to be ended by the harness."""
    with contextlib.suppress(OSError, HarnessError):
        Path(_file(server, "ended")).write_text(repr(time.monotonic()), encoding="ascii")


def was_ended(server: Server, since: float) -> bool:
    """Return True if the harness has ended a server by force since a time on the monotonic clock."""
    return _last_end(server) >= since


def _last_end(server: Server) -> float:
    """Return when the harness ended a server by force, on the monotonic clock; 0 if it did not."""
    try:
        found = float(Path(_file(server, "ended")).read_text(encoding="ascii"))
    except (OSError, ValueError, HarnessError):
        return 0.0
    # The clock starts anew with the machine.
    return found if found <= time.monotonic() else 0.0
