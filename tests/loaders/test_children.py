"""Processes of the project's own: where they import from, and that they end with their parent."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Thread

import pytest

from loaders.base.processes import start_process

_PARENT = """
import os, sys, time
from threading import Thread
from loaders.base.processes import start_process

ours, theirs = os.pipe()
started = []
# Not the thread's child: that would end with it.
thread = Thread(target=lambda: started.append(start_process("tests.harness.spinning", [theirs], grace={})))
thread.start()
thread.join()
os.read(ours, 5)
time.sleep(0.5)
assert started[0].poll() is None
print(started[0].pid, flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("grace", [True, False])
def test_a_process_that_holds_pythons_lock_ends_with_its_parent(grace: bool) -> None:  # noqa: FBT001
    command = [sys.executable, "-c", _PARENT.format(grace)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert Path(f"/proc/{child}").exists()
        parent.send_signal(signal.SIGKILL)
    until = time.monotonic() + 60
    while _runs(child) and time.monotonic() < until:
        time.sleep(0.05)
    assert not _runs(child)


def _runs(process: int) -> bool:
    """Whether it is there, and not only waits for its exit code to be read."""
    try:
        return "State:\tZ" not in Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_processes_are_started_by_a_thread_that_stays_also_in_a_forked_child() -> None:
    def begin() -> None:
        ours, theirs = os.pipe()
        process = start_process("tests.harness.spinning", [theirs])
        os.close(theirs)
        assert os.read(ours, 5) == b"at it"
        os.close(ours)
        process.kill()
        process.wait()

    thread = Thread(target=begin)
    thread.start()
    thread.join()
    code = "import os; from loaders.base import processes; processes._starter.call(os.getpid)\n"
    code += "pid = os.fork()\nif not pid: os._exit(processes._starter.call(os.getpid) != os.getpid())\n"
    code += "raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))"
    assert subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=False).returncode == 0
