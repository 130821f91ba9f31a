"""What is wrong with predictions that do not match: counts by class, for `summary.json` and as a table."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from rich.table import Table
from rich.text import Text

from harness.diagnosis import GROUPS, Group
from harness.outcomes import ErrorClass, PairResult
from harness.report.tables import NAMES, table_of_predictors


def summary(results: Iterable[PairResult]) -> Mapping[str, int]:
    """How many pairs there are of each class: all classes, also those of none."""
    counts = Counter(result.error_class for result in results)
    return {error_class: counts[error_class] for error_class in ErrorClass}


def groups(results: Iterable[PairResult]) -> Mapping[str, int]:
    """The same by the groups of the BIRD paper, as far as rules tell them (`harness.diagnosis.GROUPS`)."""
    counts = Counter(GROUPS[result.error_class] for result in results if result.error_class is not None)
    return {group: counts[group] for group in Group}


def diagnosis_table(rows: Iterable[Sequence[PairResult]]) -> Table | None:
    """One row per predictor and engine, one column per class that occurs; None where none does.

    Args:
        rows: the results of one predictor on one engine each.
    """
    counted = [(results[0], summary(results)) for results in rows if results]
    seen = [error_class for error_class in ErrorClass if any(counts[error_class] for _, counts in counted)]
    if not seen:
        return None
    table = table_of_predictors("Error classes (pairs that are the predictor's and do not match)")
    table.add_column("engine")
    for error_class in seen:
        table.add_column(error_class.replace("_", "\n"), justify="right")
    for first, counts in counted:
        cells = (str(counts[error_class]) for error_class in seen)
        table.add_row(Text(first.predictor), NAMES[first.dialect], *cells)
    return table
