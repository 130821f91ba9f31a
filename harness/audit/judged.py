"""What reading has said about findings: the precision of each probe.

`judged.json` is a list of entries: question, dialect, probe, the sha256 of the gold, whether the finding is
right about a fault, and why in a line. It holds no text of any gold. An entry counts in every set that has
the gold.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from dialects.errors import BadInput
from harness.audit.finding import FoundIn

PATH = Path(__file__).with_name("judged.json")
"""The project's own."""


@dataclass(frozen=True)
class JudgedFinding:
    """A finding that somebody has read; `right` where it tells of a fault."""

    question: str
    dialect: str
    probe: str
    sha256: str
    right: bool
    why: str


@dataclass(frozen=True)
class Precision:
    """How many findings have been read, and how many of these are right."""

    judged: int = 0
    right: int = 0

    def __str__(self) -> str:
        return (
            f"{100 * self.right / self.judged:.0f} % ({self.right} of {self.judged})" if self.judged else "-"
        )


@cache
def read_judged(path: Path = PATH) -> tuple[JudgedFinding, ...]:
    """What is known of findings.

    Raises:
        BadInput: the file is no such list.
    """
    try:
        return tuple(JudgedFinding(**entry) for entry in json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise BadInput(f"{path}: is no list of judged findings ({error}); see docs/gold-audit.md") from error


def precision(findings: Sequence[FoundIn], known: Sequence[JudgedFinding]) -> Precision:
    """How many of the findings have been read, and are right; of a gold that has changed nothing is known."""
    right = {(one.dialect, one.probe, one.sha256): one.right for one in known}
    keys = dict.fromkeys((one.dialect, one.finding.probe, one.replaces) for one in findings)
    read = [right[key] for key in keys if key in right]
    return Precision(len(read), sum(read))
