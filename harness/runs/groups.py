"""Groups of pairs: by difficulty, database, outcome, error class, or what gold uses."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from harness.data.outcomes import Outcome, PairResult
from harness.data.questions import levels_of
from harness.engines.errors import ErrorClass
from harness.metrics.statistics import Interval
from harness.runs.summary import interval, mean
from harness.sqltree.constructs import Construct

NO_CLASS = "none"
"""The group of pairs without an error class."""


class By(StrEnum):
    """What makes the groups."""

    DIFFICULTY = "difficulty"
    DATABASE = "database"
    OUTCOME = "outcome"
    ERROR_CLASS = "error-class"
    CONSTRUCT = "construct"

    @property
    def is_of_pairs(self) -> bool:
        """Whether it tells what became of a pair, so that within a group every pair has the same EX."""
        return self in (By.OUTCOME, By.ERROR_CLASS)

    def order(self, groups: Iterable[str]) -> list[str]:
        """Each group once: in the order of its vocabulary, databases in that of the alphabet."""
        there = dict.fromkeys(groups)
        usual = levels_of(there) if self is By.DIFFICULTY else sorted(there)
        return sorted(there, key=[*map(str, _VOCABULARIES.get(self, usual))].index)


_VOCABULARIES: Mapping[By, Sequence[str]] = {
    By.OUTCOME: tuple(Outcome),
    By.ERROR_CLASS: (*ErrorClass, NO_CLASS),
    By.CONSTRUCT: tuple(Construct),
}


@dataclass(frozen=True)
class Share:
    """One group: how many pairs have the metric, their mean and its 95 % interval in percent."""

    questions: int
    percent: float | None
    interval: Interval | None


def shares(
    results: Sequence[PairResult], metric: str, by: By, constructs: Mapping[str, Sequence[str]]
) -> dict[str, Share]:
    """The mean of a metric over each group that has a pair with it, in the groups' order.

    Args:
        results: of one predictor on one engine.
        metric: its name; pairs without a score by it are in no group.
        by: what makes the groups.
        constructs: what each question's gold uses, by the question's key; for `By.CONSTRUCT` alone, where a
            pair is in several groups.
    """
    members: dict[str, list[PairResult]] = {}
    for result in results:
        if metric in result.scores:
            for group in _groups(result, by, constructs):
                members.setdefault(group, []).append(result)
    return {
        group: Share(len(members[group]), mean(members[group], metric), interval(members[group], metric))
        for group in by.order(members)
    }


def pairs(results: Sequence[PairResult], by: By) -> dict[str, int]:
    """How many pairs each group has, in the groups' order."""
    counts = Counter(group for result in results for group in _groups(result, by, {}))
    return {group: counts[group] for group in by.order(counts)}


def _groups(result: PairResult, by: By, constructs: Mapping[str, Sequence[str]]) -> Sequence[str]:
    match by:
        case By.DIFFICULTY:
            return (result.difficulty,)
        case By.DATABASE:
            return (result.db_id,)
        case By.OUTCOME:
            return (result.outcome,)
        case By.ERROR_CLASS:
            return (result.error_class or NO_CLASS,)
        case By.CONSTRUCT:
            return constructs.get(result.question) or (Construct.UNREADABLE,)
