"""Counts of error classes, for `summary.json` and as a table."""

from collections.abc import Sequence
from io import StringIO

from rich.console import Console

from dialects.enums import Dialect
from harness.data.outcomes import GoldOrigin, Outcome, PairResult
from harness.data.questions import Difficulty
from harness.engines.errors import ErrorClass
from harness.report.console import print_grids
from harness.report.measures import diagnosis_grid
from harness.runs.summary import error_classes


def result(error_class: ErrorClass | None, dialect: Dialect = Dialect.SQLITE) -> PairResult:
    return PairResult(
        dialect=dialect,
        predictor="p[1]",
        question="1",
        question_id=1,
        db_id="d",
        difficulty=Difficulty.SIMPLE,
        outcome=Outcome.MATCH if error_class is None else Outcome.MISMATCH,
        scores={},
        gold_origin=GoldOrigin.DATASET,
        error_class=error_class,
    )


ON_SQLITE = [
    result(ErrorClass.SYNTAX),
    result(None),
    result(ErrorClass.WRONG_ORDER),
    result(ErrorClass.SYNTAX),
]
ON_MYSQL = [result(ErrorClass.OTHER, Dialect.MYSQL)]


def printed(rows: Sequence[Sequence[PairResult]]) -> list[list[str]]:
    grid = diagnosis_grid(rows)
    assert grid is not None
    console = Console(file=StringIO(), width=200, no_color=True)
    print_grids([grid], console)
    return [line.split() for line in console.file.getvalue().splitlines()]  # type: ignore[attr-defined]


def test_a_summary_counts_every_class_also_those_of_no_pair() -> None:
    counts = error_classes(ON_SQLITE)
    assert list(counts) == list(ErrorClass)
    assert {name: count for name, count in counts.items() if count} == {"syntax": 2, "wrong_order": 1}


def test_a_table_has_a_row_per_predictor_and_engine_and_a_column_per_class_that_occurs() -> None:
    lines = printed([ON_SQLITE, ON_MYSQL])
    assert ["predictor", "engine", "syntax", "order", "other"] in lines
    assert ["p[1]", "SQLite", "2", "1", "0"] in lines
    assert ["p[1]", "MySQL", "0", "0", "1"] in lines


def test_there_is_no_table_where_everything_matches() -> None:
    assert diagnosis_grid([[result(None)], []]) is None
