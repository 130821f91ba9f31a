"""What is said of engines that failed again and again: the fault, and what they logged last."""

from collections.abc import Mapping, Sequence

from dialects.enums import Dialect
from harness.provision.logs import last_lines
from loaders.server import Server


def failures(failed: Mapping[Dialect, str], servers: Mapping[Dialect, Sequence[Server]]) -> list[str]:
    """One line for each engine, and its last log lines indented, where they can be had."""
    lines: list[str] = []
    for dialect, why in failed.items():
        lines.append(f"{dialect} failed again and again, so that the rest was not run: {why}")
        for server in servers.get(dialect, ()):
            lines += [f"  {line}" for line in last_lines(server)]
    return lines
