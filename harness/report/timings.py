"""What R-VES stable measured, as a table: how much of it is decided, and what it took."""

from collections.abc import Sequence

from harness.metrics.efficiency import Clock, Timing
from harness.report.table_model import Cell, Column, Group, Kind, Row, TableModel
from harness.report.tables import NAMES
from harness.runs.summary import Score

METHOD = "stable"

_HEADS = {
    "pairs timed": Kind.COUNT,
    "identical": Kind.COUNT,
    "decided": Kind.COUNT,
    "undecided": Kind.COUNT,
    "failed": Kind.COUNT,
    "samples a pair": Kind.MEAN,
    "executions": Kind.COUNT,
}


def timing_grid(scores: Sequence[Score]) -> TableModel | None:
    """One row per predictor and engine; None where nothing was timed.

    `identical` pairs are not measured; `samples a pair` is the mean over those that are decided or undecided.
    """
    rows = [(score, timings) for score in scores if (timings := _timings(score))]
    if not rows:
        return None
    columns = tuple(Column(head, "r_ves_stable", "timing", head, kind) for head, kind in _HEADS.items())
    return TableModel(
        "R-VES stable (pairs)",
        ("predictor", "engine", "clock"),
        (Group("", columns),),
        tuple(
            Row(
                (score.predictor, NAMES[score.dialect], _clocks(_measured(timings))),
                tuple(map(Cell, _counts(timings))),
                score.predictor,
                score.dialect,
            )
            for score, timings in rows
        ),
    )


def _timings(score: Score) -> list[Timing]:
    return [result.timings[METHOD] for result in score.results if METHOD in result.timings]


def _measured(timings: Sequence[Timing]) -> list[Timing]:
    return [timing for timing in timings if timing.error is None and timing.clock is not Clock.IDENTICAL]


def _clocks(measured: Sequence[Timing]) -> str:
    return ", ".join(clock for clock in Clock if any(timing.clock is clock for timing in measured)) or "-"


def _counts(timings: Sequence[Timing]) -> tuple[float | None, ...]:
    measured = _measured(timings)
    failed = sum(timing.error is not None for timing in timings)
    decided = sum(timing.decided for timing in measured)
    return (
        len(timings),
        len(timings) - failed - len(measured),
        decided,
        len(measured) - decided,
        failed,
        sum(timing.samples for timing in measured) / len(measured) if measured else None,
        sum(timing.executions for timing in timings),
    )
