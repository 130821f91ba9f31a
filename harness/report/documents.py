"""Build the documents of a run: its tables, with the facts that a reader needs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dialects.errors import BadInput
from harness.data.published_scores import (
    PUBLISHED_SET,
    SOURCES,
    PublishedScore,
    PublishedTotals,
    birds_paper,
    published_scores,
    read_published_folder,
)
from harness.data.published_sets import Provenance
from harness.data.questions import BIRD_LEVELS, SPIDER_LEVELS, levels_of
from harness.engines import TITLES, EngineName, in_order
from harness.lab import sections
from harness.metrics import METRICS
from harness.report.overview import dialects_of, extent_lines, level_columns, marked, noted, overview
from harness.report.table_model import (
    Cell,
    CellKind,
    ColumnGroup,
    Document,
    TableColumn,
    TableModel,
    TableRow,
)
from harness.runs.reader import AGAIN, Run, notes_of, read_labels
from harness.runs.summary import TOTAL, By, Key, Score, Share, pairs, place_of, shares, summarize
from harness.sqltree.diagnosis import ErrorGroup
from loaders.base.records import read_record, to_record

TEST = "test"
"""BIRD's hidden test set: only published figures exist."""


@dataclass(frozen=True)
class PublishedReference:
    """The published figures that a run is compared with.

    `databases` tells for each database if it is the published one.
    """

    published: Sequence[PublishedTotals]
    databases: Mapping[str, Provenance]


def published_tables(set_name: str) -> list[TableModel]:
    """Return the published figures of a set: a table for each metric; none for an unknown set.

    The figures of the test set are `published_test` in files, as those of dev are next to them.
    """
    figures = [one for one in published_scores() if one.set == set_name]
    metrics = dict.fromkeys(one.metric for one in figures)
    return [
        _published_table(set_name, metric, [one for one in figures if one.metric == metric])
        for metric in metrics
    ]


def _published_table(set_name: str, metric: str, figures: Sequence[PublishedScore]) -> TableModel:
    found = {one.level for one in figures}
    scale = next(each for each in (BIRD_LEVELS, SPIDER_LEVELS) if found <= {*each, TOTAL})
    levels = (*(scale if found != {TOTAL} else ()), TOTAL)
    engines = in_order(one.engine for one in figures)
    rows = tuple(
        TableRow((name,), cells, stem or name)
        for name, stem, cells in published_rows(figures, engines, levels)
    )
    columns = level_columns(levels, metric, "published_test" if set_name == TEST else "published")
    groups = tuple(ColumnGroup(TITLES[engine], columns, engine) for engine in engines)
    title = f"{_title(metric)} on {set_name}, as published (%)"
    return TableModel(title, ("predictor",), groups, rows, (source_note(figures),))


def _title(metric: str) -> str:
    return METRICS[metric].title if metric in METRICS else metric.replace("_", " ")


def published_rows(
    figures: Sequence[PublishedScore], engines: Iterable[EngineName], levels: Sequence[str]
) -> Iterator[tuple[str, str, tuple[Cell | None, ...]]]:
    """Yield name, file stem and the cells of each predictor, by engine and level."""
    places = [(engine, level) for engine in engines for level in levels]
    cells: dict[tuple[str, EngineName, str], Cell] = {
        (one.predictor, one.engine, one.level): Cell(one.value) for one in figures
    }
    for name, stem in dict.fromkeys((one.predictor, one.file_stem) for one in figures):
        yield name, stem, tuple(cells.get((name, *place)) for place in places)


def source_note(figures: Sequence[PublishedScore]) -> str:
    """Return where figures are published."""
    return (
        f"Published in: {'; '.join(SOURCES[each] for each in dict.fromkeys(one.source for one in figures))}."
    )


NOTES = {
    By.OUTCOME: ("In percent of all pairs of the predictor on the engine.",),
    By.ERROR_CLASS: (
        "In percent of all pairs of the predictor on the engine.",
        "none: pairs that match, or whose outcome is not the predictor's.",
    ),
    By.ERROR_GROUP: (
        "In percent of the predictor's failed answers on the engine. Rules: docs/reference/error-classes.md.",
        "BIRD's paper: of 500 wrong answers of ChatGPT, by reading. unassigned: in none of its groups.",
    ),
    By.CONSTRUCT: (
        "What the gold for SQLite uses, on every engine. Groups overlap: a gold may use several.",
        "plain: none of the others; unreadable: the gold cannot be read here.",
    ),
    By.TYPE: ("Groups overlap: a question may be of several types. none: of no type.",),
}
"""What a reader of groups needs to know."""


def grouped_grid(
    scores: Sequence[Score], metric: str, by: By, labels: Mapping[str, Sequence[str]]
) -> TableModel | None:
    """Return a table with a row per predictor and group, engines side by side; None without the metric.

    Columns are the levels of difficulty, unless they are the groups, and the total.

    Args:
        scores: of a run.
        metric: the metric to show the mean of.
        by: the criterion of the groups.
        labels: the groups of each question, by its key, where they are constructs or types.
    """
    found = {(score.predictor, score.dialect): shares(score.results, metric, by, labels) for score in scores}
    having = [score for score in scores if found[score.predictor, score.dialect]]
    if not having:
        return None
    dialects = dialects_of(having)
    name = by.replace("-", " ")
    title = METRICS[metric].title
    kind = by.replace("-", "_")
    levels = (
        () if by is By.DIFFICULTY else levels_of(one.difficulty for each in having for one in each.results)
    )
    total = TableColumn(
        TOTAL if levels else title, metric, kind, is_total=True, has_interval=True, has_questions=True
    )
    rows = []
    for predictor in dict.fromkeys(score.predictor for score in having):
        each = [found.get((predictor, dialect), {}) for dialect in dialects]
        for group in by.order(group for one in each for group in one):
            cells = tuple(cell for one in each for cell in _cells(one.get(group), levels))
            shown = group if by is By.DATABASE else group.replace("_", " ")
            rows.append(TableRow((predictor, shown), cells, predictor, level=group))
    columns = (*level_columns(levels, metric, kind), total)
    groups = tuple(ColumnGroup(TITLES[dialect], columns, dialect) for dialect in dialects)
    return TableModel(f"{title} by {name} (%)", ("predictor", name), groups, tuple(rows), NOTES.get(by, ()))


@dataclass(frozen=True)
class ErrorGroups:
    """The group of each failed answer of a run in the BIRD paper's error analysis.

    `without` are the databases in which nothing could be looked up.
    """

    groups: Mapping[Key, ErrorGroup]
    without: Sequence[str]


def shares_grid(scores: Sequence[Score], by: By, errors: ErrorGroups | None = None) -> TableModel:
    """Return a table of the number of pairs and the share of each group, for outcomes and errors.

    Args:
        scores: of a run.
        by: what makes the groups.
        errors: the groups of failed answers, for `By.ERROR_GROUP`.
    """
    dialects = dialects_of(scores)
    groups_of_errors = errors.groups if errors else None
    counted = {
        (score.predictor, score.dialect): pairs(score.results, by, groups_of_errors) for score in scores
    }
    totals = {whose: sum(found.values()) for whose, found in counted.items()}
    name = by.replace("-", " ")
    columns = (
        TableColumn("pairs", "pairs", by.replace("-", "_"), kind=CellKind.COUNT),
        TableColumn("% of pairs", "pairs_percent", by.replace("-", "_")),
    )
    rows = []
    for predictor in dict.fromkeys(score.predictor for score in scores):
        own = [counted.get((predictor, dialect)) for dialect in dialects]
        for group in by.order(group for found in own for group in found or ()):
            cells: list[Cell | None] = []
            for dialect, found in zip(dialects, own, strict=True):
                if found is None:
                    cells += [None, None]
                    continue
                count, total = found.get(group, 0), totals[predictor, dialect]
                cells += [Cell(count), Cell(100 * count / total if total else None, questions=total)]
            rows.append(TableRow((predictor, group.replace("_", " ")), tuple(cells), predictor, level=group))
    groups = tuple(ColumnGroup(TITLES[dialect], columns, dialect) for dialect in dialects)
    grid = TableModel(f"Pairs by {name}", ("predictor", name), groups, tuple(rows), NOTES[by])
    return grid if errors is None else _beside_paper(grid, errors)


def _beside_paper(grid: TableModel, errors: ErrorGroups) -> TableModel:
    """Add the paper's percentages to a table of groups of errors, and what could not be looked up."""
    printed = birds_paper().errors
    column = TableColumn("% of answers", "paper_percent", "error_group")
    rows = (
        replace(row, cells=(*row.cells, Cell(printed[row.level]) if row.level in printed else None))
        for row in grid.rows
    )
    lines = [f"No file of the run's databases to look values up in: {', '.join(errors.without)}."]
    notes = (*grid.notes, *(lines if errors.without else ()))
    groups = (*grid.groups, ColumnGroup("BIRD's paper", (column,)))
    return replace(grid, groups=groups, rows=tuple(rows), notes=notes)


def _cells(share: Share | None, levels: Sequence[str]) -> Iterator[Cell | None]:
    """Yield the cells of the levels and of the total; empty ones without a share."""
    if share is None:
        yield from [None] * (len(levels) + 1)
        return
    for level in levels:
        questions, percent = share.levels[level]
        yield Cell(percent, questions=questions)
    yield Cell(share.percent, share.interval, share.questions)


def tables(run: Run, by: Iterable[By] = (), errors: ErrorGroups | None = None) -> Document:
    """Return the tables of a run, or, with `by`, those of its metrics by these groups instead.

    Args:
        run: the run.
        by: the criteria of the groups.
        errors: the groups of its failed answers, for `By.ERROR_GROUP`.

    Raises:
        BadInput: the questions are needed but cannot be read.
    """
    scores, metrics = scores_of(run), _metrics(run)
    groupings = list(dict.fromkeys(by))
    if groupings:
        grids = marked(_grouped(run, scores, metrics, groupings, errors), extent_lines(scores, run.extent))
    else:
        grids = [*overview(scores, metrics, run.extent), *sections(run)]
    grids = noted(grids, notes_of(run.manifest))
    return Document(run_id_of(run), tuple(facts(run, scores)), tuple(grids), extent=extents(scores))


def scores_of(run: Run) -> list[Score]:
    """Return the scores of `summary.json`, equal to the last digit, with their results."""
    return summarize(sorted(run.results, key=place_of), _metrics(run), run.extent, run.usage)


def facts(run: Run, scores: Sequence[Score]) -> list[str]:
    """Return the facts that a reader of tables needs: the extent of the run, questions, engines, limits."""
    manifest = run.manifest
    engines = manifest.get("engines")
    versions = [
        f"{name} {about.get('version')}"
        for name, about in (engines.items() if isinstance(engines, dict) else ())
        if isinstance(about, dict)
    ]
    limits = manifest.get("limits")
    seconds = limits.get("seconds") if isinstance(limits, dict) else None
    asked = ", ".join(f"{name} {manifest.get(name)}" for name in ("profile", "extract") if name in manifest)
    return [
        *extent_lines(scores, run.extent),
        f"{manifest.get('set')}: {manifest.get('questions')} questions, {asked}, limit {seconds} s",
        *([f"Engines: {'; '.join(versions)}"] if versions else []),
        *_translated(manifest),
        *_left_out(manifest),
    ]


def cautions(manifest: Mapping[str, Any]) -> list[str]:
    """Return the notes that belong with any figures of a run: on databases, golds, and engines left out."""
    return [*notes_of(manifest), *_translated(manifest), *_left_out(manifest)]


def _translated(manifest: Mapping[str, Any]) -> list[str]:
    names = [TITLES.get(name, name) for name in manifest.get("translated") or ()]
    which = " and ".join(names)
    return [f"Golds on {which} are translated from SQLite's, in profile faithful"] if names else []


def _left_out(manifest: Mapping[str, Any]) -> list[str]:
    left_out = manifest.get("left_out")
    return [f"Left out: {line}" for line in (left_out if isinstance(left_out, list) else ())]


def extents(scores: Sequence[Score]) -> dict[tuple[str, ...], tuple[int, int]]:
    """Return the numbers of planned and completed pairs of each predictor on each engine."""
    return {(score.predictor, score.dialect): (score.planned, score.questions) for score in scores}


def _grouped(
    run: Run,
    scores: Sequence[Score],
    metrics: Sequence[str],
    by: Sequence[By],
    errors: ErrorGroups | None,
) -> list[TableModel]:
    grids: list[TableModel] = []
    for each in by:
        if each.is_of_pairs:
            grids.append(shares_grid(scores, each, errors if each is By.ERROR_GROUP else None))
            continue
        labels = read_labels(run.folder, each)
        made = (grouped_grid(scores, name, each, labels) for name in metrics if METRICS[name].has_score)
        grids += [grid for grid in made if grid is not None]
    return grids


def run_id_of(run: Run) -> str:
    """Return the id of a run from its manifest."""
    return str(run.manifest.get("run_id"))


def _metrics(run: Run) -> list[str]:
    """Return the requested metrics of a run, in the order of the tables.

    Raises:
        BadInput: the manifest lacks them.
    """
    asked = run.manifest.get("metrics")
    if not isinstance(asked, list) or not asked or any(name not in METRICS for name in asked):
        raise BadInput(
            f"{run.folder}: its manifest does not say which metrics it has; take the folder as it was written"
        )
    return [name for name in METRICS if name in asked]


# Published figures that a run was compared with.

REPRODUCED = "reproduce"
"""Stem of the files of a run that lab `reproduce` has compared with published figures."""


def published_beside(run: Run, folder: Path | None = None) -> Sequence[PublishedTotals]:
    """Return the published figures to show next to those of a run.

    Args:
        run: the run.
        folder: the folder of the figures; default: those that the run was compared with, if any.

    Raises:
        BadInput: their file cannot be read, or they are of another set than the run.
    """
    if folder is None:
        return reference_of(run.folder).published if (run.folder / f"{REPRODUCED}.json").exists() else ()
    set_name = run.manifest.get("set")
    if set_name != PUBLISHED_SET:
        raise BadInput(
            f"--published {folder}: the published figures are of {PUBLISHED_SET}, and {run.folder} is of"
            f" {set_name}; leave them out"
        )
    return read_published_folder(folder)


def reference_of(folder: Path) -> PublishedReference:
    """Return the published figures that the run of a folder was compared with.

    Raises:
        BadInput: its file cannot be read.
    """
    path = folder / f"{REPRODUCED}.json"
    return read_record(path, lambda content: to_record(PublishedReference, content, others=True), AGAIN)
