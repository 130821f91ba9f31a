"""What takes longer than a blink says so, and what fails is quoted."""

import re
import sys

from loaders.textfiles import one_line

_LINES = 3
_COMPLAINT = re.compile(r"error|fatal|panic|abort", re.IGNORECASE)


def say(line: str) -> None:
    """Tell whoever waits what is being done: one line on standard error, never on standard output."""
    sys.stderr.write(f"{one_line(line)}\n")
    sys.stderr.flush()


def last_words(log: str) -> str:
    """The last lines of a server's log in one line: its complaints, or else whatever it said last."""
    lines = [" ".join(line.split()) for line in log.splitlines() if line.strip()]
    complaints = [line for line in lines if _COMPLAINT.search(line)]
    return "its log ends: " + (" / ".join((complaints or lines)[-_LINES:]) or "with nothing")
