"""Real servers of scores on loopback ports, each a process that ends with its block."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
PATIENT_SECONDS = 60


@dataclass
class Served:
    """A server: its address and its first process."""

    address: str
    process: "subprocess.Popen[str]"

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
