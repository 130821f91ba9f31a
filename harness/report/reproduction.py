"""Published figures, ours and the difference: three tables, and the files of a run folder that hold them."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dialects.errors import BadInput
from harness.data.published import PUBLISHED_SET, Provenance, Published, read_published_folder, said_of
from harness.engines import EngineName, in_order
from harness.metrics import METRICS
from harness.report.table_model import (
    Cell,
    CellKind,
    ColumnGroup,
    Document,
    TableColumn,
    TableModel,
    TableRow,
)
from harness.report.tables import NAMES
from harness.runs.reading import AGAIN, Run
from harness.runs.summary import TOTAL, Score
from loaders.base.records import read_record, to_record

REPRODUCED = "reproduce"
"""Stem of the files that hold the tables; the one in JSON is what they can be made of again."""


@dataclass(frozen=True)
class PublishedReference:
    """What a run is held against.

    `databases` says of each whether it is the published one.
    """

    published: Sequence[Published]
    databases: Mapping[str, Provenance]


def reproduction(
    run_id: str, facts: Sequence[str], scores: Sequence[Score], held: PublishedReference
) -> Document:
    """The three tables: published, ours with 95 % intervals, ours minus published.

    Every table has a row for every predictor that is published or scored, and a dash where there is nothing.
    Of the published figures those stand here that what was scored can be held against: by engine and metric.
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
    # Two rows of one name, an own predictor's and a published one's, are told apart by how files name them.
    taken = set(names.values())
    names |= {stem: f"{stem} (own)" if stem in taken else stem for stem in others}
    differences = {
        key: Cell(value - totals[key], questions=cell.questions)
        for key, cell in ours.items()
        if key in totals and (value := cell.value) is not None
    }
    return Document(
        run_id,
        (*facts, said_of(held.databases)),
        (
            _grid("published", names, estimated, _cells(totals), dialects),
            _grid("ours", names, metrics, ours, dialects, _others(absent, others)),
            _grid("difference", names, metrics, differences, dialects, _within(ours, totals)),
        ),
    )


def published_beside(run: Run, folder: Path | None = None) -> Sequence[Published]:
    """The published figures to show beside those of a run.

    Args:
        run: the run.
        folder: where they are; without one they are those that the run was held against, if it was.

    Raises:
        BadInput: their file cannot be read, or the run is of another set than they are.
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
    """What the run of a folder was held against.

    Raises:
        BadInput: its file cannot be read.
    """
    path = folder / f"{REPRODUCED}.json"
    return read_record(path, lambda content: to_record(PublishedReference, content, others=True), AGAIN)


_TITLES = {
    "published": "Published (%)",
    "ours": "Ours (%)",
    "difference": "Ours \N{MINUS SIGN} published",
}
"""The three tables, by what their figures are."""

_Key = tuple[str, str, EngineName]
"""Metric, predictor as files name it, dialect."""


def _cells(totals: Mapping[_Key, float]) -> dict[_Key, Cell]:
    return {key: Cell(total) for key, total in totals.items()}


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
    groups = tuple(ColumnGroup(NAMES[dialect], columns, dialect) for dialect in dialects)
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
