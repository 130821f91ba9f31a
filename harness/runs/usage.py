"""What the answers of a run took: `usage.jsonl` in its folder, a line for each answer where any is known."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from harness.data.usage import AnswerUsage
from harness.runs.extent import Key, key_in
from loaders.base.files import as_json, replace
from loaders.base.records import read_records, to_plain

USAGE_FILE = "usage.jsonl"
_REMEDY = "the run folder was changed: run it again"

UsageByPair = Mapping[Key, AnswerUsage]


@dataclass(frozen=True)
class UsageTotals:
    """What the answers of one predictor on one engine took; None where it is not known of any answer.

    `tokens` (of prompt and completion) and `seconds_mean` are means a question, `seconds_median` the median,
    `cost` is the sum. `known` has for each of `tokens`, `seconds` and `cost` how many answers it stands on.
    """

    tokens: float | None
    seconds_median: float | None
    seconds_mean: float | None
    cost: float | None
    known: Mapping[str, int]

    @classmethod
    def of(cls, answers: Iterable[AnswerUsage]) -> "UsageTotals":
        """The totals of some answers."""
        some = list(answers)
        tokens = [one.tokens for one in some if one.tokens is not None]
        seconds = [one.seconds for one in some if one.seconds is not None]
        costs = [one.cost for one in some if one.cost is not None]
        return cls(
            _mean(tokens),
            median(seconds) if seconds else None,
            _mean(seconds),
            math.fsum(costs) if costs else None,
            {"tokens": len(tokens), "seconds": len(seconds), "cost": len(costs)},
        )

    def to_json(self) -> dict[str, Any]:
        """As `summary.json` has it."""
        plain: dict[str, Any] = to_plain(self)
        return plain


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def write_usage(folder: Path, usage: UsageByPair) -> None:
    """Write the file, where anything is known.

    Raises:
        OSError: it cannot be written.
    """
    lines = (
        f"{as_json({'dialect': dialect, 'predictor': predictor, 'question': question, **one.to_json()})}\n"
        for (dialect, predictor, question), one in usage.items()
    )
    if usage:
        replace(folder / USAGE_FILE, lines)


def read_usage(folder: Path) -> dict[Key, AnswerUsage]:
    """What is known; nothing where the run has no such file.

    Raises:
        BadInput: a line is not as it was written.
    """
    path = folder / USAGE_FILE
    return dict(read_records(path, _answer, _REMEDY)) if path.exists() else {}


def _answer(record: Any) -> tuple[Key, AnswerUsage]:
    key = key_in(record)
    return key, AnswerUsage.from_json(record)
