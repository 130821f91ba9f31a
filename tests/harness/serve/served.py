"""Real servers of scores on loopback ports, each a process that ends with its block."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx2

from tests.engines.victims import children

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
PATIENT_SECONDS = 60
SERVERS, WORKERS = b"multiprocessing.spawn", b"harness.scoring.worker_process"
"""Words in the commands of a server's processes."""


@dataclass
class Served:
    """A server: its address and its first process."""

    address: str
    process: "subprocess.Popen[str]"

    def below(self, words: bytes) -> list[int]:
        """The running processes below the first whose commands have some words."""
        found, left = list[int](), [self.process.pid]
        while left:
            left += (started := children(left.pop()))
            with suppress(OSError):  # one has ended
                found += [each for each in started if words in Path(f"/proc/{each}/cmdline").read_bytes()]
        return found

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send a signal and return the exit code."""
        self.process.send_signal(number)
        return self.process.wait(PATIENT_SECONDS)


@contextmanager
def served(*options: str, **environment: str) -> Iterator[Served]:
    process = subprocess.Popen(
        [sys.executable, "-m", "harness", "serve", "--port", "0", "--workers", "1", *options],
        env=os.environ | environment, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    try:
        for line in process.stderr:
            if found := re.search(r"http://\S+", line):
                yield Served(found[0], process)
                break
        else:
            raise AssertionError(f"no server has started: exit code {process.wait()}")
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def metrics(server: Served) -> dict[str, float]:
    """Every sample of /metrics, whose text follows Prometheus' grammar."""
    answer = httpx2.get(f"{server.address}/metrics", timeout=PATIENT_SECONDS)
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    found: dict[str, float] = {}
    kinds: dict[str, str] = {}
    for line in answer.text.splitlines():
        if about := re.fullmatch(r"# (?:HELP (\w+) \S.*|TYPE (\w+) (counter|gauge|histogram))", line):
            kinds |= {about[2]: about[3]} if about[2] else {}
            continue
        sample = re.fullmatch(r'((\w+?)(?:_bucket|_sum|_count)?(?:\{\w+="[^"\\]*"\})?) (\S+)', line)
        assert sample, line
        assert sample[2] in kinds
        assert sample[1] not in found
        found[sample[1]] = float(sample[3])
    return found
