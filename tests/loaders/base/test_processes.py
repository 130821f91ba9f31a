"""Processes of the project's own: that they end with their parent, and how many processors they may use."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Thread

import pytest

from loaders.base.processes import cpu_quota, processors, start_process

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


@pytest.mark.slow
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


def written(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


GROUPS: dict[str, tuple[str, dict[str, str], float | None]] = {
    "no limit": ("0::/a", {"a/cpu.max": "max 100000\n"}, None),
    "its own": ("0::/a", {"a/cpu.max": "150000 100000\n"}, 1.5),
    "one around it is less": (
        "0::/a/b",
        {"a/cpu.max": "50000 100000\n", "a/b/cpu.max": "200000 100000\n"},
        0.5,
    ),
    "a container sees its own as the root": ("0::/", {"cpu.max": "300000 100000\n"}, 3.0),
    "a path of the host": ("0::/docker/ab", {"cpu.max": "100000 100000\n"}, 1.0),
    "the first version": (
        "3:cpu,cpuacct:/a",
        {"cpu,cpuacct/a/cpu.cfs_quota_us": "250000\n", "cpu,cpuacct/a/cpu.cfs_period_us": "100000\n"},
        2.5,
    ),
    "the first version, linked": (
        "3:cpu,cpuacct:/docker/ab",
        {"cpu/cpu.cfs_quota_us": "100000\n", "cpu/cpu.cfs_period_us": "50000\n"},
        2.0,
    ),
    "the first version without a limit": (
        "3:cpu:/",
        {"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"},
        None,
    ),
    "other controllers": ("4:memory:/a\n5:cpuset:/a", {"memory/a/cpu.max": "1 1"}, None),
    "nonsense": ("::\n\nx", {"cpu.max": "much"}, None),
}


@pytest.mark.parametrize("name", GROUPS)
def test_the_least_quota_counts(name: str, tmp_path: Path) -> None:
    groups, files, expected = GROUPS[name]
    (tmp_path / "cgroup").write_text(groups)
    assert cpu_quota(tmp_path / "cgroup", written(tmp_path / "mounted", files)) == expected


def test_a_system_without_control_groups_has_no_quota(tmp_path: Path) -> None:
    assert cpu_quota(tmp_path / "none", tmp_path) is None


@pytest.mark.slow
def test_affinity_counts() -> None:
    one = min(os.sched_getaffinity(0))
    script = f"import os\nos.sched_setaffinity(0, [{one}])\n"
    script += "from loaders.base.processes import processors\nfrom harness.session.request import Request\n"
    script += "print(processors(), Request().processes)\n"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "1 1\n"
    assert 1 <= processors() <= (os.cpu_count() or 1)


def test_nothing_else_counts_processors() -> None:
    root = Path(__file__).parents[3]
    counting = {
        path.relative_to(root).as_posix()
        for folder in ("harness", "loaders", "dialects", "benchmarks")
        for path in (root / folder).rglob("*.py")
        if "cpu_count" in path.read_text(encoding="utf-8")
    }
    assert counting == set()
