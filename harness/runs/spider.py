"""Spider's measures of a predictor: Exact Matching by hardness, and partial matching by component.

A result counts where it has a `structure`: a prediction for SQLite whose gold could be read.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from harness.data.outcomes import PairResult
from harness.metrics import OUTCOME_METRIC
from harness.sqltree.spider import Hardness, SpiderPart, Structure, Total, totals

ALL = "all"
LEVELS = (*Hardness, ALL)
"""The sub-columns of every table here; `all` is every question."""

FIGURES: Mapping[str, Callable[[Total], float | None]] = {
    "accuracy": lambda total: total.accuracy,
    "recall": lambda total: total.recall,
    "precision": lambda total: total.precision,
    "f1": lambda total: total.f1,
}


def summary(results: Iterable[PairResult]) -> Mapping[str, Any]:
    """What `summary.json` says of one predictor; every figure in percent, None where there is none.

    Returns:
        `hardness`: level to `questions`, `unread` (predictions that count as empty), `em`, and `ex`, None
        unless every result has it. `partial`: component to level to `accuracy`, `recall`, `precision` and
        `f1`. Levels are those of `LEVELS`. Empty where no result has a structure.
    """
    levels = levels_of(results)
    if not levels[ALL]:
        return {}
    by_level = {level: totals(structures(found)) for level, found in levels.items()}
    return {
        "hardness": {
            level: {
                "questions": len(found),
                "unread": sum(not structure.parsed for structure in structures(found)),
                "em": em(found),
                "ex": ex(found),
            }
            for level, found in levels.items()
        },
        "partial": {
            part.value: {
                level: {name: percent(read(parts[part])) for name, read in FIGURES.items()}
                for level, parts in by_level.items()
            }
            for part in SpiderPart
        },
    }


def levels_of(results: Iterable[PairResult]) -> Mapping[str, list[PairResult]]:
    """The results that have a structure, by level."""
    found = [result for result in results if result.structure is not None]
    return {
        str(level): [
            result
            for result in found
            if level == ALL or (result.structure is not None and result.structure.hardness is level)
        ]
        for level in LEVELS
    }


def structures(results: Iterable[PairResult]) -> list[Structure]:
    """What Spider's measures found, where they found anything."""
    return [result.structure for result in results if result.structure is not None]


def em(results: Sequence[PairResult]) -> float | None:
    """Exact Matching in percent; None where no result has a structure."""
    exact = [structure.exact for structure in structures(results)]
    return 100 * sum(exact) / len(exact) if exact else None


def ex(results: Sequence[PairResult]) -> float | None:
    """EX in percent; None unless every result has it."""
    scores = [result.scores[OUTCOME_METRIC] for result in results if OUTCOME_METRIC in result.scores]
    return 100 * sum(scores) / len(scores) if results and len(scores) == len(results) else None


def percent(share: float | None) -> float | None:
    """A share of 1 in percent."""
    return None if share is None else 100 * share
