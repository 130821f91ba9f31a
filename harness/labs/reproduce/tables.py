"""The tables of a run beside published figures, and their files in its folder."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from dialects.enums import Dialect
from harness.data.published_scores import birds_paper, published_scores
from harness.data.published_sets import provenance_sentence
from harness.data.questions import BIRD_LEVELS
from harness.engines import TITLES, EngineName, in_order
from harness.metrics import METRICS
from harness.report.documents import (
    REPRODUCED,
    TEST,
    PublishedReference,
    extents,
    facts,
    published_rows,
    published_tables,
    reference_of,
    run_id_of,
    scores_of,
    source_note,
)
from harness.report.files import write, write_document
from harness.report.overview import extent_lines, level_columns, marked
from harness.report.paper import PaperRequest, paper
from harness.report.table_model import (
    Cell,
    CellKind,
    ColumnGroup,
    Document,
    TableColumn,
    TableModel,
    TableRow,
)
from harness.report.texts import json_text, latex
from harness.runs.reader import Run, databases_note, read_labels, read_questions
from harness.runs.summary import TOTAL, By, Score, by_level
from harness.sqltree.constructs import OF_EVIDENCE, QuestionType
from loaders.base.records import to_plain

# Published rows of BIRD, EX and VES by difficulty, next to those of a run of its dev set.

DEV = "dev"
"""The set of the rows."""
_METRICS = ("ex", "ves")
_LEVELS = (*BIRD_LEVELS, TOTAL)


def dev_rows(run: Run) -> Document:
    """Return the published rows of BIRD's dev set, each next to the run's if it has predictions of that name.

    The figures are SQLite's. Those of the hidden test set follow, and EX by type of question.
    """
    scores = {score.predictor: score for score in scores_of(run) if score.dialect == Dialect.SQLITE}
    grids = [_beside_ours(run, metric, scores) for metric in _METRICS]
    grids += [*published_tables(TEST), _types_grid(run, list(scores.values()))]
    lines = extent_lines(list(scores.values()), run.extent)
    return Document(run_id_of(run), tuple(facts(run, list(scores.values()))), tuple(marked(grids, lines)))


def _beside_ours(run: Run, metric: str, scores: Mapping[str, Score]) -> TableModel:
    """Return the published figures of dev by one metric, and those of a run."""
    figures = [one for one in published_scores() if one.set == DEV and one.metric == metric]
    empty = (None,) * len(_LEVELS)
    rows = [
        TableRow((name,), (*cells, *_ours(metric, scores.get(stem))), stem or name)
        for name, stem, cells in published_rows(figures, [Dialect.SQLITE], _LEVELS)
    ]
    stems = {one.file_stem for one in figures if one.file_stem}
    rows += [
        TableRow((name,), (*empty, *_ours(metric, score)), name)
        for name, score in scores.items()
        if name not in stems and metric in score.metrics
    ]
    absent = [one.predictor for one in figures if one.file_stem and one.file_stem not in scores]
    unmeasured = all(metric not in score.metrics for score in scores.values())
    notes = [
        source_note(figures),
        *([f"There are no predictions here of {', '.join(dict.fromkeys(absent))}."] if absent else []),
        *([f"Ours is not measured: add --metrics ex,{metric}."] if unmeasured else []),
        *databases_note(run.manifest),
    ]
    groups = (
        ColumnGroup("published", level_columns(_LEVELS, metric, "published")),
        ColumnGroup("ours", level_columns(_LEVELS, metric, "ours")),
    )
    title = f"{METRICS[metric].title} on SQLite: published rows and ours (%)"
    return TableModel(title, ("predictor",), groups, tuple(rows), tuple(notes))


def _ours(metric: str, score: Score | None) -> Sequence[Cell | None]:
    if score is None or metric not in score.metrics:
        return [None] * len(_LEVELS)
    return [Cell(score.metrics[metric].get(level)) for level in _LEVELS]


def _types_grid(run: Run, scores: Sequence[Score]) -> TableModel:
    """Return EX by type and level: for each type a row of the paper's predictor and one of each of ours."""
    paper, metric = birds_paper(), "ex"
    labels = read_labels(run.folder, By.TYPE)
    is_known = any(question.evidence.strip() for question in read_questions(run.folder).values())
    printed = {
        one.level: one.value
        for one in published_scores()
        if (one.set, one.predictor, one.metric) == (DEV, paper.typed, metric)
    }
    totals = tuple(printed[level] for level in _LEVELS)
    cells = {TOTAL: totals, **{str(one.type): one.ex for one in paper.types}}
    rows = []
    for group in (TOTAL, *QuestionType):
        name, theirs = group.replace("_", " "), tuple(map(Cell, cells[group]))
        rows.append(TableRow((name, paper.typed), theirs, paper.typed, level=group, by="published"))
        decided = is_known or group not in OF_EVIDENCE
        for score in scores:
            some = [each for each in score.results if group in (TOTAL, *labels[each.question])]
            found = by_level(some if decided else (), metric, BIRD_LEVELS)
            ours = tuple(Cell(found[level], questions=len(some) if decided else None) for level in _LEVELS)
            rows.append(TableRow((name, score.predictor), ours, score.predictor, level=group, by="ours"))
    *levels, total = level_columns(_LEVELS, metric, "type")
    notes = [f"{paper.typed}: {paper.source}. A question may be of several types; ours are by our rules."]
    if not is_known:
        undecided = ", ".join(each.replace("_", " ") for each in OF_EVIDENCE)
        notes.append(f"No question here has evidence, so it is not known which are of the types {undecided}.")
    notes += databases_note(run.manifest)
    groups = (ColumnGroup("", (*levels, replace(total, has_questions=True))),)
    title = "EX on SQLite by type: the paper's predictor and ours (%)"
    return TableModel(title, ("type", "predictor"), groups, tuple(rows), tuple(notes))


# Published figures, ours and the difference: three tables, which can be written again from those in JSON.


def reproduced(run: Run, held: PublishedReference) -> Document:
    """Return the three tables of a run that is compared with published figures."""
    scores = scores_of(run)
    made = reproduction(run_id_of(run), facts(run, scores), scores, held)
    grids = marked(made.grids, extent_lines(scores, run.extent))
    return replace(made, grids=tuple(grids), extent=extents(scores))


def reproduction(
    run_id: str, facts: Sequence[str], scores: Sequence[Score], held: PublishedReference
) -> Document:
    """Return the three tables: published, ours with 95 % intervals, ours minus published.

    Every table has a row for every published or scored predictor, and a dash for missing figures. Published
    figures are included if their engine and metric were scored.
    """
    by_name = {(score.predictor, score.dialect): score for score in scores}
    dialects = {score.dialect for score in scores}
    metrics = [
        name for name in METRICS if METRICS[name].published_as and any(name in s.metrics for s in scores)
    ]
    estimated = [name for name in METRICS if name in {METRICS[metric].published_as for metric in metrics}]
    totals: dict[_Key, float] = {
        (metric, one.file_stem, dialect): total
        for metric in METRICS
        for one in held.published
        if METRICS[metric].published_as == one.metric
        for dialect, total in one.totals.items()
        if dialect in dialects and (metric in metrics or metric in estimated)
    }
    ours = {
        (metric, stem, dialect): Cell(total, score.intervals[metric], score.questions)
        for (stem, dialect), score in by_name.items()
        for metric in metrics
        if (total := score.metrics[metric][TOTAL]) is not None
    }
    names = {one.file_stem: one.predictor for one in held.published}
    absent = [name for stem, name in names.items() if all(score.predictor != stem for score in scores)]
    others = [score.predictor for score in scores if score.predictor not in names]
    # Distinguish an own predictor from a published one of the same name by their names in files.
    taken = set(names.values())
    names |= {stem: f"{stem} (own)" if stem in taken else stem for stem in others}
    differences = {
        key: Cell(value - totals[key], questions=cell.questions)
        for key, cell in ours.items()
        if key in totals and (value := cell.value) is not None
    }
    published = {key: Cell(total) for key, total in totals.items()}
    return Document(
        run_id,
        (*facts, provenance_sentence(held.databases)),
        (
            _grid("published", names, estimated, published, dialects),
            _grid("ours", names, metrics, ours, dialects, _others(absent, others)),
            _grid("difference", names, metrics, differences, dialects, _within(ours, totals)),
        ),
    )


_TITLES = {
    "published": "Published (%)",
    "ours": "Ours (%)",
    "difference": "Ours \N{MINUS SIGN} published",
}
"""The titles of the three tables."""

_Key = tuple[str, str, EngineName]
"""Metric, predictor as in file names, dialect."""


def _grid(  # noqa: PLR0913, PLR0917 - what a table is made of
    by: str,
    names: Mapping[str, str],
    metrics: Sequence[str],
    cells: Mapping[_Key, Cell],
    asked: Collection[EngineName],
    notes: Iterable[str] = (),
) -> TableModel:
    kind = CellKind.DIFFERENCE if by == "difference" else CellKind.PERCENT
    dialects = in_order(asked)
    columns = tuple(
        TableColumn(METRICS[metric].title, metric, by, TOTAL, kind, has_interval=by == "ours")
        for metric in metrics
    )
    rows = (
        TableRow((name,), tuple(cells.get((m, stem, d), Cell(None)) for d in dialects for m in metrics), stem)
        for stem, name in names.items()
    )
    groups = tuple(ColumnGroup(TITLES[dialect], columns, dialect) for dialect in dialects)
    return TableModel(_TITLES[by], ("predictor",), groups, tuple(rows), tuple(notes))


def _others(absent: Sequence[str], others: Sequence[str]) -> Iterator[str]:
    if absent:
        yield f"There are no predictions here of {', '.join(absent)}."
    if others:
        yield f"No figures are published for {', '.join(dict.fromkeys(others))}."


def _within(ours: Mapping[_Key, Cell], totals: Mapping[_Key, float]) -> Iterator[str]:
    both = [(cell.interval, totals[key]) for key, cell in ours.items() if key in totals]
    inside = sum(i is not None and i[0] <= total <= i[1] for i, total in both)
    if both:
        yield f"{inside} of {len(both)} published figures lie within the 95 % interval of ours."


def write_reproduction(run: Run, held: PublishedReference) -> list[Path]:
    """Write the three tables of a run that is compared with published figures to its folder.

    Returns:
        The files: `reproduce.md`, `reproduce.csv`, `reproduce.json`, and `reproduce.tex` for a paper.

    Raises:
        BadInput: the folder cannot be written.
    """
    document = reproduced(run, held)
    title = f"Published figures and run {document.run_id}"
    as_json = json_text(document, **to_plain(held))
    written = write_document(run.folder, REPRODUCED, document, title, as_json=as_json)
    table = latex(paper(run, PaperRequest(), held.published), f"Run {document.run_id}")
    return [*written, write(run.folder / f"{REPRODUCED}.tex", table)]


DEV_ROWS = "reproduce-dev"
"""Stem of the files with the rows of BIRD's paper."""


def write_dev_rows(run: Run) -> list[Path]:
    """Write the rows of BIRD's paper, next to those of a run, to its folder.

    Returns:
        The files: `reproduce-dev.md`, `reproduce-dev.csv` and `reproduce-dev.json`.

    Raises:
        BadInput: the folder cannot be written.
    """
    document = dev_rows(run)
    return write_document(run.folder, DEV_ROWS, document, f"BIRD's paper and run {document.run_id}")


def write_again(run: Run) -> list[Path]:
    """Write those of both kinds of tables again that are in a run folder.

    Raises:
        BadInput: the published figures there cannot be read, or a file cannot be written.
    """
    written: list[Path] = []
    if (run.folder / f"{DEV_ROWS}.json").exists():
        written += write_dev_rows(run)
    if (run.folder / f"{REPRODUCED}.json").exists():
        written += write_reproduction(run, reference_of(run.folder))
    return written
