"""Start and end the project's processes and threads, and determine their share of the machine.

Promises: nothing is imported from the user's working folder; and a process started here ends with the one
that started it, however that ends and whatever it is doing. The kernel ends even a loop in C that never
releases Python's lock.
"""

import contextlib
import ctypes
import gc
import math
import os
import platform
import signal
import subprocess
import sys
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import SimpleQueue
from threading import Lock, Thread, get_ident
from typing import IO, Any, TypeVar

Made = TypeVar("Made")

_ROOT = str(Path(__file__).parents[2])

_MAIN = (
    "import sys; sys.path.append({root!r}); "
    "from loaders.base.processes import end_with; end_with({parent}, {grace}); "
    "from {module} import main; main()"
)

_SET_DEATH_SIGNAL = 1
"""PR_SET_PDEATHSIG, https://man7.org/linux/man-pages/man2/pr_set_pdeathsig.2const.html."""

_PATIENT = signal.SIGQUIT
"""The signal's handler is `alarm`, called with its number, 3: the process ends three seconds later."""


def start_process(
    module: str, arguments: Sequence[int], *, output: IO[bytes] | None = None, grace: bool = False
) -> subprocess.Popen[bytes]:
    """Start `main` of a module in a process that ends with this one.

    It has its own session: Ctrl-C reaches only the starting process, which decides what to do.

    Args:
        module: the module's name.
        arguments: descriptors that it inherits and gets as arguments.
        output: the file for its output.
        grace: whether it gets three seconds to finish after this process has ended.
    """
    code = _MAIN.format(root=_ROOT, parent=os.getpid(), grace=grace, module=module)

    def begin() -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-P", "-c", code, *map(str, arguments)],
            pass_fds=arguments,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )

    return _starter.call(begin)


def end_with(parent: int, grace: bool) -> None:  # noqa: FBT001 - called by the line above alone
    """Let the kernel end this process after its parent; does nothing on systems other than Linux."""
    if sys.platform != "linux":
        return
    library = ctypes.CDLL(None)
    if grace:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        # Python's handlers run only after a loop in C: this handler is C code.
        library.signal(int(_PATIENT), ctypes.cast(library.alarm, ctypes.c_void_p))
    library.prctl(_SET_DEATH_SIGNAL, int(_PATIENT if grace else signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:
        os._exit(0)


_TERMINAL_FIELD = 4
"""Of /proc/PID/stat, counted from the state, which is the first after the name; 0 without a terminal."""


def working_in(folder: Path) -> Iterator[int]:
    """Yield the processes without a terminal whose working folder is `folder`.

    Those are a server's, if it is its data folder; somebody's shell may be there, too. None on a system
    without /proc; those of other accounts are left out unless this is root's.
    """
    wanted = str(folder.resolve())
    for process in Path("/proc").glob("[0-9]*"):
        # It may have ended meanwhile.
        with suppress(OSError):
            if str((process / "cwd").readlink()) == wanted:
                status = (process / "stat").read_text(encoding="utf-8", errors="replace")
                if status.rpartition(")")[2].split()[_TERMINAL_FIELD] == "0":
                    yield int(process.name)


@contextlib.contextmanager
def safe_path() -> Iterator[None]:
    """Within the block, keep processes of other libraries from importing from the working folder."""
    name = "PYTHONSAFEPATH"
    before = os.environ.get(name)
    os.environ[name] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


class _Starter:
    """Starts processes from one thread, which lives as long as this process.

    For the kernel, the parent is the thread that started a process, so only this thread may do so.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._calls: SimpleQueue[tuple[Callable[[], Any], Future[Any]]] = SimpleQueue()
        self._thread: Thread | None = None

    def call(self, function: Callable[[], Made]) -> Made:
        """Call the function in that thread, and return its result."""
        future: Future[Made] = Future()
        with self._lock:
            if self._thread is None:
                self._thread = Thread(target=self._work, name="bird-start", daemon=True)
                self._thread.start()
        self._calls.put((function, future))
        return future.result()

    def _work(self) -> None:
        while True:
            function, future = self._calls.get()
            try:
                future.set_result(function())
            except BaseException as error:  # noqa: BLE001 - raised in the caller
                future.set_exception(error)
            del function, future


_starter = _Starter()


def _forked() -> None:
    global _starter  # noqa: PLW0603 - threads stay behind in the parent
    _starter = _Starter()


os.register_at_fork(after_in_child=_forked)


_LOCK = Lock()
_ENDS: dict[Callable[[], None], int] = {}


@contextmanager
def ended_by(end: Callable[[], None]) -> Iterator[None]:
    """Within the block, let `end_threads` call `end`, which makes this thread's pending operation fail."""
    with _LOCK:
        _ENDS[end] = get_ident()
    try:
        yield
    finally:
        with _LOCK:
            del _ENDS[end]


def end_threads(threads: Collection[int | None]) -> None:
    """Make the pending operations of these threads fail."""
    with _LOCK:
        for stop, thread in _ENDS.items():
            if thread in threads:
                stop()


def collect_rarely() -> None:
    """Collect garbage rarely in this process: its many values have no cycles.

    With Python's thresholds, each of a million rows or ten thousand results is visited several times.
    """
    gc.set_threshold(50_000, 20, 20)


def processors() -> int:
    """Return how many processors this process may use, by its affinity and its control group's quota."""
    quota = cpu_quota()
    allowed = len(os.sched_getaffinity(0))
    return allowed if quota is None else max(1, min(allowed, math.ceil(quota)))


def cpu_quota(proc: Path = Path("/proc/self/cgroup"), mounted: Path = Path("/sys/fs/cgroup")) -> float | None:
    """Return the processor time per second that this process's control groups allow; None without a limit.

    The least quota of its group and the groups above counts, in both versions of control groups:
    https://docs.kernel.org/admin-guide/cgroup-v2.html#cpu-interface-files (`cpu.max`),
    https://docs.kernel.org/scheduler/sched-bwc.html (`cpu.cfs_quota_us`).

    Args:
        proc: the file with the groups of the process.
        mounted: where control groups are mounted.
    """
    try:
        lines = proc.read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    quotas = []
    for line in lines:
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        if controllers == "":
            quotas += [_unified(group) for group in _around(mounted, path)]
        elif "cpu" in controllers.split(","):
            folders = [mounted / name for name in dict.fromkeys((controllers, "cpu", "cpu,cpuacct"))]
            quotas += [_legacy(group) for folder in folders for group in _around(folder, path)]
    return min((quota for quota in quotas if quota is not None), default=None)


def _around(mounted: Path, path: str) -> Iterator[Path]:
    """Yield a group and the groups above; in a container its path may be the host's."""
    inner = mounted / path.strip("/")
    yield from (group for group in (inner, *inner.parents) if group.is_relative_to(mounted))


def _unified(group: Path) -> float | None:
    with suppress(OSError, ValueError):
        quota, period = (group / "cpu.max").read_text(encoding="utf-8").split()
        if quota != "max" and int(period) > 0:
            return int(quota) / int(period)
    return None


def _legacy(group: Path) -> float | None:
    with suppress(OSError, ValueError):
        quota = int((group / "cpu.cfs_quota_us").read_text(encoding="utf-8"))
        period = int((group / "cpu.cfs_period_us").read_text(encoding="utf-8"))
        if quota > 0 and period > 0:
            return quota / period
    return None


def machine() -> dict[str, Any]:
    """Return the machine's properties for a manifest."""
    about = Path("/proc/cpuinfo")
    lines = about.read_text(encoding="utf-8").splitlines() if about.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return {
        "cpu": models[0] if models else platform.processor() or None,
        "cpus": processors(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
    }


class Memo:
    """Computes the value of a key once, even if several threads ask for it at the same time.

    An exception is raised in all waiting threads and then forgotten, since the next attempt may succeed.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._futures: dict[Hashable, Future[object]] = {}

    def __call__(self, key: Hashable, compute: Callable[[], Made]) -> Made:
        """Return the value of `key`, computed now if it is not known."""
        with self._lock:
            future = self._futures.get(key)
            is_mine = future is None
            if future is None:
                future = self._futures[key] = Future()
        if is_mine:
            try:
                future.set_result(compute())
            except BaseException as error:  # noqa: BLE001 - raised in waiting threads
                with self._lock:
                    del self._futures[key]
                future.set_exception(error)
        return future.result()  # type: ignore[return-value]  # the key decides the type
