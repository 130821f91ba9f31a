"""What R-VES stable measured, as a table: how much of it is decided, and what it took."""

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from harness.metrics.efficiency import Clock, Timing
from harness.report.summary import Score
from harness.report.tables import NAMES, table_of_predictors

METHOD = "stable"

_HEADS = ("pairs\ntimed", "identical", "decided", "undecided", "failed", "samples\na pair", "executions")


def timing_table(scores: Sequence[Score]) -> Table | None:
    """One row per predictor and engine; None where nothing was timed.

    `identical` pairs are not measured; `samples a pair` is the mean over those that are decided or undecided.
    """
    rows = [(score, timings) for score in scores if (timings := _timings(score))]
    if not rows:
        return None
    table = table_of_predictors("R-VES stable (pairs)")
    table.add_column("engine")
    table.add_column("clock")
    for head in _HEADS:
        table.add_column(head, justify="right")
    for score, timings in rows:
        table.add_row(Text(score.predictor), NAMES[score.dialect], *_cells(timings))
    return table


def _timings(score: Score) -> list[Timing]:
    return [result.timings[METHOD] for result in score.results if METHOD in result.timings]


def _cells(timings: Sequence[Timing]) -> tuple[str, ...]:
    timed = [timing for timing in timings if timing.error is None]
    measured = [timing for timing in timed if timing.clock is not Clock.IDENTICAL]
    decided = sum(timing.decided for timing in measured)
    counts = (
        len(timings), len(timed) - len(measured), decided, len(measured) - decided, len(timings) - len(timed)
    )  # fmt: skip
    clocks = ", ".join(clock for clock in Clock if any(timing.clock is clock for timing in measured))
    samples = f"{sum(timing.samples for timing in measured) / len(measured):.1f}" if measured else "-"
    executions = sum(timing.executions for timing in timings)
    return clocks or "-", *map(str, counts), samples, str(executions)
