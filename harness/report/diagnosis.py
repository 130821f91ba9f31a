"""What is wrong with predictions that do not match, as a table."""

from collections.abc import Iterable, Sequence

from harness.engines.error_classes import ErrorClass
from harness.outcomes import PairResult
from harness.report.table_model import Cell, Column, Group, Kind, Row, TableModel
from harness.report.tables import NAMES
from harness.runs.error_counts import summary


def diagnosis_grid(rows: Iterable[Sequence[PairResult]]) -> TableModel | None:
    """One row per predictor and engine, one column per class that occurs; None where none does.

    Args:
        rows: the results of one predictor on one engine each.
    """
    counted = [(results[0], summary(results)) for results in rows if results]
    seen = [error_class for error_class in ErrorClass if any(counts[error_class] for _, counts in counted)]
    if not seen:
        return None
    columns = tuple(Column(name.replace("_", " "), "pairs", "error_class", name, Kind.COUNT) for name in seen)
    return TableModel(
        "Error classes (pairs that are the predictor's and do not match)",
        ("predictor", "engine"),
        (Group("", columns),),
        tuple(
            Row(
                (first.predictor, NAMES[first.dialect]),
                tuple(Cell(counts[name]) for name in seen),
                first.predictor,
                first.dialect,
            )
            for first, counts in counted
        ),
    )
