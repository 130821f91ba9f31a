"""Tables of measures other than scores: error classes, stable times, Spider's measures, usage."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean

from harness.data.outcomes import PairResult
from harness.engines import TITLES, EngineName
from harness.engines.errors import ErrorClass
from harness.metrics import METRICS, Basis, of_basis
from harness.metrics.efficiency import Clock, Timing
from harness.report.table_model import (
    Cell,
    CellKind,
    ColumnGroup,
    TableColumn,
    TableModel,
    TableRow,
    row,
    table,
)
from harness.runs.summary import (
    ALL,
    HARDNESS,
    PARTIAL_FIGURES,
    TOTAL,
    Score,
    UsageTotals,
    by_hardness,
    em,
    error_classes,
    ex,
    percent,
    runs_of,
    structures,
)
from harness.sqltree.spider import SpiderPart, totals


def diagnosis_grid(rows: Iterable[Sequence[PairResult]]) -> TableModel | None:
    """Return a table with a row per predictor and engine and a column per error class; None without any.

    Args:
        rows: the results of one predictor on one engine each.
    """
    counted = [(results[0], error_classes(results)) for results in rows if results]
    seen = [error_class for error_class in ErrorClass if any(counts[error_class] for _, counts in counted)]
    if not seen:
        return None
    columns = tuple(
        TableColumn(name.replace("_", " "), "pairs", "error_class", name, CellKind.COUNT) for name in seen
    )
    return table(
        "Error classes (pairs that are the predictor's and do not match)",
        ("predictor", "engine"),
        columns,
        (
            row(
                (first.predictor, TITLES[first.dialect]),
                [counts[name] for name in seen],
                dialect=first.dialect,
                predictor=first.predictor,
            )
            for first, counts in counted
        ),
    )


_METHOD = "stable"

_HEADS = {
    "pairs timed": CellKind.COUNT,
    "identical": CellKind.COUNT,
    "decided": CellKind.COUNT,
    "undecided": CellKind.COUNT,
    "failed": CellKind.COUNT,
    "samples a pair": CellKind.MEAN,
    "executions": CellKind.COUNT,
}


def timing_grid(scores: Sequence[Score]) -> TableModel | None:
    """Return a table with a row per predictor and engine; None if nothing was timed.

    `identical` pairs are not measured; `samples a pair` is the mean over decided and undecided ones.
    """
    rows = [(score, timings) for score in scores if (timings := _timings(score))]
    if not rows:
        return None
    [metric] = of_basis(METRICS, Basis.STABLE_TIMES)
    columns = tuple(TableColumn(head, metric, "timing", head, kind) for head, kind in _HEADS.items())
    return table(
        f"{METRICS[metric].title} (pairs)",
        ("predictor", "engine", "clock"),
        columns,
        (
            row(
                (score.predictor, TITLES[score.dialect], _clocks(_measured(timings))),
                _counts(timings),
                dialect=score.dialect,
                predictor=score.predictor,
            )
            for score, timings in rows
        ),
    )


def repeated_grid(scores: Sequence[Score], metrics: Sequence[str]) -> TableModel | None:
    """Return a table of the runs of measurements of times that were repeated; None if none was."""
    heads = {"runs": CellKind.COUNT, "best": CellKind.PERCENT, "lowest": CellKind.PERCENT,
             "mean": CellKind.PERCENT, "spread": CellKind.PERCENT}  # fmt: skip
    rows = [
        row(
            (METRICS[metric].title, score.predictor, TITLES[score.dialect]),
            (len(runs), max(runs), min(runs), fmean(runs), max(runs) - min(runs)),
            dialect=score.dialect,
            predictor=score.predictor,
        )
        for metric in metrics
        for score in scores
        if (runs := runs_of(score.results, metric))
    ]
    if not rows:
        return None
    columns = tuple(TableColumn(head, "runs", "run", head, kind) for head, kind in heads.items())
    note = "The other tables have the best run of each predictor, as Mini-Dev's README recommends."
    return table("Repeated timing (%)", ("metric", "predictor", "engine"), columns, rows, note)


def _timings(score: Score) -> list[Timing]:
    return [result.timings[_METHOD] for result in score.results if _METHOD in result.timings]


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


# Spider's measures of a predictor: Exact Matching by hardness, partial matching by component.

_PRINTED = {"accuracy": "accuracy", "recall": "recall", "f1": "F1"}
"""The measures that Spider prints; what it calls accuracy is precision."""


def hardness_grid(rows: Iterable[Sequence[PairResult]]) -> TableModel | None:
    """Return a table of Exact Matching by hardness, and EX if every result has it; None without a structure.

    Args:
        rows: the results of one predictor on one engine each.
    """
    counted = [(results[0], levels) for results in rows if (levels := by_hardness(results))[ALL]]
    if not counted:
        return None
    has_ex = all(ex(levels[ALL]) is not None for _, levels in counted)
    titles = [title for title in _BY_HARDNESS if title == "EM" or has_ex]
    unread = TableColumn("unread", "pairs", "hardness", "unread", CellKind.COUNT)
    groups = tuple(
        ColumnGroup(title, (*_levels(title.lower(), "hardness"), *([unread] if title == "EM" else [])))
        for title in titles
    )
    _, some = counted[0]
    sizes = ", ".join(f"{level} {len(some[level])}" for level in HARDNESS)
    return TableModel(
        f"{' and '.join(titles)} by Spider's hardness (%)",
        ("predictor",),
        groups,
        tuple(
            TableRow(
                (first.predictor,), tuple(_hardness_cells(levels, titles)), first.predictor, first.dialect
            )
            for first, levels in counted
        ),
        (f"questions: {sizes}",),
    )


def partial_grids(rows: Iterable[Sequence[PairResult]]) -> Iterator[TableModel]:
    """Yield a table of partial matching for each predictor with a structure.

    Args:
        rows: the results of one predictor on one engine each.
    """
    for results in rows:
        levels = by_hardness(results)
        if levels[ALL]:
            yield _partial_grid(results[0], levels)


def _hardness_cells(levels: Mapping[str, list[PairResult]], titles: Sequence[str]) -> Iterator[Cell]:
    for title in titles:
        for level in HARDNESS:
            yield Cell(_BY_HARDNESS[title](levels[level]), questions=len(levels[level]))
        if title == "EM":
            yield Cell(sum(not structure.parsed for structure in structures(levels[ALL])))


def _partial_grid(first: PairResult, levels: Mapping[str, list[PairResult]]) -> TableModel:
    found = {level: totals(structures(results)) for level, results in levels.items()}
    groups = tuple(
        ColumnGroup(title, tuple(_levels(f"partial_{name}", "component and hardness")))
        for name, title in _PRINTED.items()
    )
    return TableModel(
        f"Partial matching (%): {first.predictor}",
        ("component",),
        groups,
        tuple(
            TableRow(
                (part.replace("_", " "),),
                tuple(
                    Cell(percent(PARTIAL_FIGURES[name](found[level][part])))
                    for name in _PRINTED
                    for level in HARDNESS
                ),
                first.predictor,
                first.dialect,
                part,
            )
            for part in SpiderPart
        ),
    )


def _levels(metric: str, by: str) -> Iterator[TableColumn]:
    for level in HARDNESS:
        yield TableColumn(level, metric, by, level, is_total=level == ALL)


_BY_HARDNESS: Mapping[str, Callable[[Sequence[PairResult]], float | None]] = {"EM": em, "EX": ex}
"""The metrics next to hardness, by title."""


# The usage of answers as columns next to their scores, if a run knows any.

_BY = "usage"
_COLUMNS = {
    "tokens": TableColumn("tokens / question", "tokens", _BY, "mean", CellKind.TOKENS, "tokens /\nquestion"),
    "seconds": TableColumn("median s", "seconds", _BY, "median", CellKind.SECONDS, "median\ns"),
    "seconds_mean": TableColumn("mean s", "seconds", _BY, "mean", CellKind.SECONDS, "mean\ns"),
    "cost": TableColumn("cost", "cost", _BY, TOTAL, CellKind.COST),
}
USAGE_COLUMNS = ("tokens", "seconds", "cost")
"""Columns of totals, optional in a paper's table: tokens per question, median seconds, total cost."""

_NOTE = (
    "tokens: of prompt and completion, mean of a question; s: from the ask to its reply, with what it waited;"
    " cost: of all questions together, in the currency of the prices."
)


def is_known(scores: Sequence[Score]) -> bool:
    """Return True if the usage of any predictor is known."""
    return any(score.usage is not None and any(score.usage.known.values()) for score in scores)


def usage_grid(scores: Sequence[Score], metrics: Sequence[str]) -> TableModel | None:
    """Return a table with a row per predictor and engine: totals, then usage; None without usage."""
    if not is_known(scores):
        return None
    shown = [name for name in metrics if METRICS[name].has_score]
    columns = (
        *(TableColumn(f"{METRICS[name].title} %", name, _BY, TOTAL) for name in shown),
        *_COLUMNS.values(),
    )
    rows = [
        row(
            (score.predictor, TITLES[score.dialect]),
            [*(score.metrics[name][TOTAL] for name in shown), *_usage_cells(score.usage, tuple(_COLUMNS))],
            dialect=score.dialect,
            predictor=score.predictor,
        )
        for score in scores
    ]
    return table("Scores and usage", ("predictor", "engine"), columns, rows, *notes(scores))


def with_usage(grid: TableModel, scores: Sequence[Score], names: Sequence[str] = USAGE_COLUMNS) -> TableModel:
    """Append columns of usage to those of each engine, or to all columns if rows have the engine."""
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
    """Return the usage of a row: nothing for a predictor not scored there, unknown for published figures."""
    if not there or dialect is None:
        yield from [None] * len(names)
    else:
        yield from _usage_cells(None if row.by else usage.get((row.predictor, dialect)), names)


def _usage_cells(usage: UsageTotals | None, names: Sequence[str]) -> Iterator[Cell]:
    for name in names:
        if usage is None:
            yield Cell(None)
            continue
        value = getattr(usage, "seconds_median" if name == "seconds" else name)
        yield Cell(value, questions=usage.known[name.removesuffix("_mean")] or None)


def notes(scores: Sequence[Score]) -> Iterator[str]:
    """Yield notes: what the figures are, and which predictors have them only in part."""
    yield _NOTE
    for score in scores:
        known = score.usage.known if score.usage is not None else {}
        if any(0 < count < score.questions for count in known.values()):
            part = ", ".join(f"{name} {count}" for name, count in known.items())
            whose = f"{score.predictor} on {TITLES[score.dialect]}"
            yield f"  {whose}: of {score.questions} answers are known, and counted: {part}"
