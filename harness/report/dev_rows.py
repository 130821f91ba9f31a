"""BIRD's paper's own rows, EX and VES by difficulty, beside those of a run of its dev set."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from dialects.enums import Dialect
from harness.data.published import databases_note
from harness.data.questions import BIRD_LEVELS
from harness.metrics import METRICS
from harness.report.documents import facts, run_id_of, scores_of
from harness.report.overview import extent_lines, marked
from harness.report.table_model import (
    Cell,
    CellKind,
    ColumnGroup,
    Document,
    TableColumn,
    TableModel,
    TableRow,
)
from harness.runs.reading import Run
from harness.runs.summary import TOTAL, Score

DEV = "dev"
"""The set that the rows are of."""
_METRICS = ("ex", "ves")
_LEVELS = (*BIRD_LEVELS, TOTAL)
_SHORT = dict(zip(_LEVELS, ("simp", "mod", "chall", "total"), strict=True))


@dataclass(frozen=True)
class PaperRow:
    """One row of the paper, in percent by metric and level; of the dev set unless `of` says otherwise."""

    predictor: str
    file_stem: str | None
    of: str
    figures: Mapping[tuple[str, str], float]


@cache
def _paper() -> tuple[str, tuple[PaperRow, ...]]:
    """The source and the rows."""
    text = (files("harness.data") / "published_dev.toml").read_text(encoding="utf-8")
    content: dict[str, Any] = tomllib.loads(text)
    return str(content["source"]), tuple(map(_row, content["rows"]))


def _row(record: Mapping[str, Any]) -> PaperRow:
    figures: dict[tuple[str, str], float] = {}
    for metric in _METRICS:
        values = record.get(metric, [])
        levels = _LEVELS if len(values) == len(_LEVELS) else (TOTAL,)
        figures |= {(metric, level): float(value) for level, value in zip(levels, values, strict=False)}
    return PaperRow(record["predictor"], record.get("file_stem"), record.get("of", DEV), figures)


def dev_rows(run: Run) -> Document:
    """The rows of the paper, each beside the run's where the run has predictions of that name for SQLite.

    The paper's figures are SQLite's.
    """
    source, rows = _paper()
    scores = {score.predictor: score for score in scores_of(run) if score.dialect == Dialect.SQLITE}
    published = {row.file_stem for row in rows}
    own = [name for name in scores if name not in published]
    grids = []
    for metric in _METRICS:
        made = [_table_row(row, metric, scores.get(row.file_stem or "")) for row in rows]
        made += [_own_row(name, metric, scores[name]) for name in own]
        shown = [row for row in made if any(cell is not None for cell in row.cells)]
        groups = (
            ColumnGroup("paper", _columns(metric, "published")),
            ColumnGroup("ours", _columns(metric, "ours")),
        )
        notes = tuple(_notes(run, metric, source, rows, scores))
        title = f"{METRICS[metric].title} on SQLite: the paper's rows and ours (%)"
        grids.append(TableModel(title, ("predictor",), groups, tuple(shown), notes))
    lines = extent_lines(list(scores.values()), run.extent)
    return Document(run_id_of(run), tuple(facts(run, list(scores.values()))), tuple(marked(grids, lines)))


def _columns(metric: str, by: str) -> tuple[TableColumn, ...]:
    return tuple(
        TableColumn(level, metric, by, level, CellKind.PERCENT, _SHORT[level], is_total=level == TOTAL)
        for level in _LEVELS
    )


def _table_row(row: PaperRow, metric: str, score: Score | None) -> TableRow:
    printed = [row.figures.get((metric, level)) for level in _LEVELS]
    cells = [None if value is None else Cell(value) for value in printed]
    name = row.predictor if row.of == DEV else f"{row.predictor} ({row.of} set)"
    return TableRow((name,), (*cells, *_ours(metric, score)), row.file_stem or row.predictor)


def _own_row(name: str, metric: str, score: Score) -> TableRow:
    return TableRow((name,), (*(None for _ in _LEVELS), *_ours(metric, score)), name)


def _ours(metric: str, score: Score | None) -> Sequence[Cell | None]:
    if score is None or metric not in score.metrics:
        return [None] * len(_LEVELS)
    return [Cell(score.metrics[metric].get(level)) for level in _LEVELS]


def _notes(
    run: Run, metric: str, source: str, rows: Sequence[PaperRow], scores: Mapping[str, Score]
) -> Sequence[str]:
    absent = [row.predictor for row in rows if row.file_stem is not None and row.file_stem not in scores]
    unmeasured = all(metric not in score.metrics for score in scores.values())
    return [
        f"Paper: {source}. What stands in no source at hand is left out; people answered the test set.",
        *([f"There are no predictions here of {', '.join(absent)}."] if absent else []),
        *([f"Ours is not measured: add --metrics ex,{metric}."] if unmeasured else []),
        *databases_note(run.manifest),
    ]
