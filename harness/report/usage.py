"""What answers took as columns beside their scores: tokens, seconds and cost; only where a run knows any."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from harness.engines import EngineName
from harness.metrics import METRICS
from harness.report.table_model import Cell, CellKind, ColumnGroup, TableColumn, TableModel, TableRow
from harness.report.tables import NAMES
from harness.runs.summary import TOTAL, Score, UsageTotals

_BY = "usage"
_COLUMNS = {
    "tokens": TableColumn("tokens / question", "tokens", _BY, "mean", CellKind.TOKENS, "tokens /\nquestion"),
    "seconds": TableColumn("median s", "seconds", _BY, "median", CellKind.SECONDS, "median\ns"),
    "seconds_mean": TableColumn("mean s", "seconds", _BY, "mean", CellKind.SECONDS, "mean\ns"),
    "cost": TableColumn("cost", "cost", _BY, TOTAL, CellKind.COST),
}
USAGE_COLUMNS = ("tokens", "seconds", "cost")
"""What a table of totals has, and one for a paper may have: tokens a question, median seconds, total cost."""

_NOTE = (
    "tokens: of prompt and completion, mean of a question; s: from the ask to its reply, with what it waited;"
    " cost: of all questions together, in the currency of the prices."
)


def is_known(scores: Sequence[Score]) -> bool:
    """Whether the run knows of any predictor what its answers took."""
    return any(score.usage is not None and any(score.usage.known.values()) for score in scores)


def usage_grid(scores: Sequence[Score], metrics: Sequence[str]) -> TableModel | None:
    """A row per predictor and engine: the totals of its metrics, then what its answers took; None without."""
    if not is_known(scores):
        return None
    shown = [name for name in metrics if METRICS[name].has_score]
    columns = (
        *(TableColumn(f"{METRICS[name].title} %", name, _BY, TOTAL) for name in shown),
        *_COLUMNS.values(),
    )
    rows = [
        TableRow(
            (score.predictor, NAMES[score.dialect]),
            (
                *(Cell(score.metrics[name][TOTAL]) for name in shown),
                *_cells(score.usage, tuple(_COLUMNS)),
            ),
            score.predictor,
            score.dialect,
        )
        for score in scores
    ]
    head = (ColumnGroup("", columns),)
    return TableModel("Scores and usage", ("predictor", "engine"), head, tuple(rows), tuple(notes(scores)))


def with_usage(grid: TableModel, scores: Sequence[Score], names: Sequence[str] = USAGE_COLUMNS) -> TableModel:
    """The table with these columns at the end of each engine's, or of all where rows have the engine."""
    if not names or not is_known(scores):
        return grid
    usage = {(score.predictor, score.dialect): score.usage for score in scores}
    columns = tuple(_COLUMNS[name] for name in names)
    if any(group.dialect is None for group in grid.groups):
        groups = (*grid.groups, ColumnGroup("", columns))
        rows = [
            replace(row, cells=(*row.cells, *_of(row, row.dialect, usage, names, there=True)))
            for row in grid.rows
        ]
    else:
        groups = tuple(replace(group, columns=(*group.columns, *columns)) for group in grid.groups)
        rows = [replace(row, cells=tuple(_widened(grid, row, usage, names))) for row in grid.rows]
    return replace(grid, groups=groups, rows=tuple(rows), notes=(*grid.notes, *notes(scores)))


_Usage = Mapping[tuple[str, EngineName], UsageTotals | None]


def _widened(grid: TableModel, row: TableRow, usage: _Usage, names: Sequence[str]) -> Iterator[Cell | None]:
    first = 0
    for group in grid.groups:
        own = row.cells[first : first + len(group.columns)]
        first += len(group.columns)
        there = not own or any(cell is not None for cell in own)
        yield from (*own, *_of(row, group.dialect, usage, names, there=there))


def _of(
    row: TableRow, dialect: EngineName | None, usage: _Usage, names: Sequence[str], *, there: bool
) -> Iterator[Cell | None]:
    """Nothing is shown of a predictor that was not scored there; of a published figure nothing is known."""
    if not there or dialect is None:
        yield from [None] * len(names)
    else:
        yield from _cells(None if row.by else usage.get((row.predictor, dialect)), names)


def _cells(usage: UsageTotals | None, names: Sequence[str]) -> Iterator[Cell]:
    for name in names:
        if usage is None:
            yield Cell(None)
            continue
        value = getattr(usage, "seconds_median" if name == "seconds" else name)
        yield Cell(value, questions=usage.known[name.removesuffix("_mean")] or None)


def notes(scores: Sequence[Score]) -> Iterator[str]:
    """What the figures are, and of whom they are known in part."""
    yield _NOTE
    for score in scores:
        known = score.usage.known if score.usage is not None else {}
        if any(0 < count < score.questions for count in known.values()):
            part = ", ".join(f"{name} {count}" for name, count in known.items())
            whose = f"{score.predictor} on {NAMES[score.dialect]}"
            yield f"  {whose}: of {score.questions} answers are known, and counted: {part}"
