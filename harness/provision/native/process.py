"""A server process that outlives the process that started it, and is never mistaken for another one."""

import atexit
import contextlib
import os
import pwd
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from signal import Signals

_PAUSE_SECONDS = 0.05
_STARTED_FIELD = 19  # of /proc/PID/stat, counted from the state, which is the first after the name

_children: dict[int, subprocess.Popen[bytes]] = {}
"""Servers that this process started: only their parent can clear them away when they end."""


@atexit.register
def _let_go() -> None:
    """They go on running on purpose: keep Popen from warning about it."""
    for child in _children.values():
        child.returncode = 0


@dataclass(frozen=True)
class SystemAccount:
    """An account of the machine."""

    name: str
    user: int
    group: int


def account(names: Sequence[str]) -> SystemAccount | None:
    """The first of `names` that this machine knows."""
    for name in names:
        with contextlib.suppress(KeyError):
            entry = pwd.getpwnam(name)
            return SystemAccount(name, entry.pw_uid, entry.pw_gid)
    return None


def start(command: Sequence[str], folder: Path, log: Path, runs_as: SystemAccount | None) -> int:
    """Start `command` in a session of its own.

    Args:
        command: the command line.
        folder: working folder.
        log: file for both output streams; what it held is gone.
        runs_as: who to become, or None to stay who we are.

    Returns:
        The process id.
    """
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("PG", "MYSQL_", "LC_", "LANG"))}
    with log.open("wb") as output:
        child = subprocess.Popen(
            command,
            cwd=folder,
            env={**inherited, "HOME": str(folder), "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            user=runs_as.user if runs_as else None,
            group=runs_as.group if runs_as else None,
            extra_groups=[] if runs_as else None,
        )
    _children[child.pid] = child
    return child.pid


def wait(pid: int) -> int:
    """Wait for a process that `start` started in this process; its exit code."""
    return _children.pop(pid).wait()


def identity(pid: int) -> str | None:
    """What tells a process from a later one with the same id; None when it is not running.

    A process that has ended but whose parent has not cleared it away is not running.
    """
    child = _children.get(pid)
    if child and child.poll() is not None:
        del _children[pid]
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="utf-8").strip()
    except (FileNotFoundError, ProcessLookupError):
        return _identity_by_ps(pid)
    if fields[0] in "ZX":
        if pid in _children:
            wait(pid)
        return None
    return f"{boot} {fields[_STARTED_FIELD]}"


def _identity_by_ps(pid: int) -> str | None:
    """The same where there is no /proc."""
    if Path("/proc/self/stat").exists():
        return None
    said = subprocess.run(
        ["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return said.stdout.strip() or None


def stop(pid: int, expected: str, signal: Signals, seconds: float) -> None:
    """End the process whose `identity` was `expected`: in good order if it does so in time."""
    for each in (signal, Signals.SIGKILL):
        if identity(pid) != expected:
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, each)
        deadline = time.monotonic() + seconds
        while identity(pid) == expected and time.monotonic() < deadline:
            time.sleep(_PAUSE_SECONDS)
