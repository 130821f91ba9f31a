"""What is wrong with predictions that do not match: counts by class and by group."""

from collections import Counter
from collections.abc import Iterable, Mapping

from harness.data.outcomes import PairResult
from harness.engines.error_classes import ErrorClass
from harness.sqltree.diagnosis import GROUPS, ErrorGroup


def summary(results: Iterable[PairResult]) -> Mapping[str, int]:
    """How many pairs there are of each class: all classes, also those of none."""
    counts = Counter(result.error_class for result in results)
    return {error_class: counts[error_class] for error_class in ErrorClass}


def groups(results: Iterable[PairResult]) -> Mapping[str, int]:
    """The same by the groups of the BIRD paper, as far as rules tell them (`sqltree.diagnosis.GROUPS`)."""
    counts = Counter(GROUPS[result.error_class] for result in results if result.error_class is not None)
    return {group: counts[group] for group in ErrorGroup}
