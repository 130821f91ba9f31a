"""The peak memory of this process and of the processes that it starts, as Linux counts it.

Read while they run: a process that has ended tells nothing any more, and `getrusage` counts what a forked
process shared with its parent before it became another program.
https://man7.org/linux/man-pages/man5/proc_pid_status.5.html
"""

import os
import re
from pathlib import Path
from threading import Event, Thread
from types import TracebackType
from typing import Self

_EVERY_SECONDS = 0.05


class Memory:
    """Watches from entering it to leaving it.

    After that, `own` is the peak of this process and `worker` that of the largest process below it, in MB
    (10^6 bytes); 0 where the operating system does not tell.
    """

    def __init__(self) -> None:
        self.own = 0.0
        self.worker = 0.0
        self._is_over = Event()
        self._thread = Thread(target=self._watch, daemon=True)

    def _watch(self) -> None:
        while not self._is_over.wait(_EVERY_SECONDS):
            self._look()

    def _look(self) -> None:
        self.worker = max([self.worker, *(peak(process) for process in below(os.getpid()))])

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_over.set()
        self._thread.join()
        self._look()
        self.own = peak(os.getpid())


def peak(process: int) -> float:
    """The largest resident size that a process has had, in MB; 0 if it has ended."""
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    except OSError:
        return 0.0
    found = re.search(r"^VmHWM:\s+(\d+) kB", status, flags=re.MULTILINE)
    return int(found[1]) * 1024 / 1e6 if found else 0.0


def below(process: int) -> list[int]:
    """The processes that a process has started, and that these have started."""
    found = []
    try:
        tasks = list(Path(f"/proc/{process}/task").iterdir())
    except OSError:
        return []  # it has ended
    for task in tasks:
        try:
            children = [int(child) for child in (task / "children").read_text(encoding="utf-8").split()]
        except OSError:
            continue
        found += [*children, *(other for child in children for other in below(child))]
    return found
