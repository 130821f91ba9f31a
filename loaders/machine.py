"""What this process may use of the machine: processors, by affinity and by the limits of its container."""

import math
import os
import platform
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any


def processors() -> int:
    """How many processors this process may keep busy: its affinity, and the quota of its control group."""
    quota = cpu_quota()
    allowed = len(os.sched_getaffinity(0))
    return allowed if quota is None else max(1, min(allowed, math.ceil(quota)))


def cpu_quota(proc: Path = Path("/proc/self/cgroup"), mounted: Path = Path("/sys/fs/cgroup")) -> float | None:
    """The processor time a second that the control groups of this process allow; None without a limit.

    The least of its own group and those around it counts, in both versions of control groups:
    https://docs.kernel.org/admin-guide/cgroup-v2.html#cpu-interface-files (`cpu.max`),
    https://docs.kernel.org/scheduler/sched-bwc.html (`cpu.cfs_quota_us`).

    Args:
        proc: says which groups the process is in.
        mounted: where the groups are.
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
    """A group and the groups around it; within a container its path may be one of the host's."""
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


def described() -> dict[str, Any]:
    """What a manifest says of the machine."""
    about = Path("/proc/cpuinfo")
    lines = about.read_text(encoding="utf-8").splitlines() if about.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return {
        "cpu": models[0] if models else platform.processor() or None,
        "cpus": processors(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
    }
