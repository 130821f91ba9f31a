"""Counts the lines of a run: verdicts by translator and engine, and by reason what was not compared."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dialects.enums import Dialect
from harness.conformance.checking import Verdict, without_names
from harness.conformance.running import Line
from harness.conformance.translators import OURS
from harness.conformance.witness import Witness


@dataclass
class Counts:
    """What became of the queries by one translator on one engine."""

    verdicts: Counter[Verdict] = field(default_factory=Counter)
    reasons: dict[Verdict, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    """Of each verdict that has them: what was said, without names and numbers."""
    examples: dict[tuple[Verdict, str], list[tuple[str, str, str]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    """Of each fault and reason: key, query and what was said."""

    def share(self, verdict: Verdict) -> float:
        """Percent of all queries."""
        return 100 * self.verdicts[verdict] / max(1, self.verdicts.total())

    def to_json(self) -> dict[str, Any]:
        """The counts, and the reasons of what has some."""
        return {
            "verdicts": {verdict: self.verdicts[verdict] for verdict in Verdict},
            "reasons": {verdict: dict(found.most_common()) for verdict, found in self.reasons.items()},
        }


@dataclass
class Board:
    """The counts of a run."""

    queries: int = 0
    """That were asked for, whatever became of them."""
    compared: int = 0
    left: Counter[str] = field(default_factory=Counter)
    """Queries that nothing was compared of, by reason."""
    statements: Counter[str] = field(default_factory=Counter)
    witness: Counter[Witness] = field(default_factory=Counter)
    disagreements: list[str] = field(default_factory=list)
    """Keys of queries whose rows in the suite are not SQLite's, and labels with several results."""
    counts: dict[tuple[str, Dialect], Counts] = field(default_factory=dict)

    @property
    def faults(self) -> int:
        """How often the project itself broke its promise."""
        return sum(
            count
            for (translator, _), found in self.counts.items()
            if translator == OURS
            for verdict, count in found.verdicts.items()
            if verdict.is_fault
        )

    def to_json(self) -> dict[str, Any]:
        """`report.json`, without what the run was asked."""
        return {
            "queries": self.queries,
            "compared": self.compared,
            "left": dict(self.left.most_common()),
            "statements": dict(self.statements.most_common()),
            "witness": {each: self.witness[each] for each in Witness},
            "disagreements": self.disagreements,
            "counts": [
                {"translator": translator, "engine": engine, **found.to_json()}
                for (translator, engine), found in self.counts.items()
            ],
        }


_MOST_EXAMPLES = 3
_WITH_REASONS = frozenset(Verdict) - {Verdict.SAME, Verdict.SLOW}


def count(lines: Iterable[Line]) -> Board:
    """Count the lines of a run."""
    board, labels = Board(), defaultdict[tuple[str, str], set[str]](set)
    for line in lines:
        if "script" in line:
            board.statements.update(line["statements"])
            continue
        board.queries += 1
        if "left" in line:
            board.left[line["left"]] += 1
            continue
        board.compared += 1
        witness = Witness(line["witness"])
        board.witness[witness] += 1
        if witness is Witness.DIFFERS:
            board.disagreements.append(line["query"])
        if "label" in line:
            label, rows = line["label"]
            labels[line["query"].rpartition(":")[0], label].add(rows)
        for answer in line["answers"]:
            key = answer["translator"], Dialect(answer["engine"])
            _add(board.counts.setdefault(key, Counts()), line, answer)
    board.disagreements += [
        f"{script}: label {label}" for (script, label), rows in labels.items() if len(rows) > 1
    ]
    return board


def _add(counts: Counts, line: Line, answer: Mapping[str, Any]) -> None:
    verdict, said = Verdict(answer["verdict"]), answer.get("detail", "")
    counts.verdicts[verdict] += 1
    if verdict not in _WITH_REASONS:
        return
    # What differs, differs in its rows: the kind of difference is the reason.
    reason = said.partition(":")[0] if verdict is Verdict.SILENT else without_names(said)
    counts.reasons[verdict][reason] += 1
    examples = counts.examples[verdict, reason]
    if verdict is Verdict.SILENT or (verdict.is_fault and len(examples) < _MOST_EXAMPLES):
        examples.append((line["query"], line["sql"], said))
