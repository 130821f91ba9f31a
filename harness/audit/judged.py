"""What reading has said about findings: the precision of each probe.

A file of judgements is a list of entries: question, dialect, probe, the sha256 of the gold, whether the
finding is right about a fault, and why in a line. An entry counts in every set that has the gold.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dialects.errors import BadInput
from harness.audit.gold import FoundIn
from harness.data.gold_packs import Status
from loaders.base.paths import FIGURES

PATH = FIGURES / "judged" / "audit.json"
"""The project's own, of published golds."""


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


def read_judged(path: Path | None = None) -> tuple[JudgedFinding, ...]:
    """What a file says of findings; without one, what the project says in a checkout.

    Raises:
        BadInput: the file is no such list.
    """
    if path is None and not PATH.exists():
        return ()
    path = path or PATH
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


def pack_of(name: str, findings: Sequence[FoundIn], known: Sequence[JudgedFinding]) -> dict[str, Any]:
    """A gold pack of the findings that somebody has read and called right; of others nothing is decided.

    A question with one such finding gets its suggestion as gold, if there is one; else it is left out.

    Args:
        name: of the question set.
        findings: what the probes have found.
        known: what reading has said.
    """
    right = {(one.dialect, one.probe, one.sha256): one.why for one in known if one.right}
    of_gold: dict[tuple[str, str, str], list[FoundIn]] = {}
    for one in findings:
        if (one.dialect, one.finding.probe, one.replaces) in right:
            of_gold.setdefault((one.question, one.dialect, one.replaces), []).append(one)
    entries: list[dict[str, Any]] = []
    for (question, dialect, replaces), some in of_gold.items():
        probes = [one.finding.probe for one in some]
        whys = (f"{probe}: {right[dialect, probe, replaces]}" for probe in dict.fromkeys(probes))
        suggestion = some[0].finding.suggestion if len(some) == 1 else None
        entries.append(
            {
                "question_id": question,
                "dialect": str(dialect),
                **({"status": Status.EXCLUDED} if suggestion is None else {"sql": suggestion}),
                "origin": "audit",
                "reason": "; ".join(whys),
                "replaces": replaces,
            }
        )
    return {"name": f"audit-{name}", "version": "1", "set": name, "golds": entries}
