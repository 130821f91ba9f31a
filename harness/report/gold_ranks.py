"""Compare the same predictors under several golds: totals, ranks, and the questions that moved."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from dialects.errors import BadInput
from harness.data.gold_packs import PUBLISHED
from harness.data.outcomes import Outcome
from harness.data.questions import PackUse
from harness.engines import TITLES, EngineName, in_order
from harness.metrics import METRICS
from harness.report.documents import scores_of
from harness.report.files import write_document
from harness.report.table_model import (
    Cell,
    CellKind,
    ColumnGroup,
    Document,
    TableColumn,
    TableModel,
    TableRow,
)
from harness.runs.reader import Run, notes_of
from harness.runs.summary import TOTAL, Score

STEM = "golds"
"""Stem of the files with these tables in a run folder."""

Whose = tuple[str, EngineName]
"""A predictor and an engine."""

_SCORES = "Scores under several golds"


def gold_ranks(runs: Sequence[Run]) -> Document:
    """Return the tables of runs of the same predictors under several golds, relative to the first.

    Raises:
        BadInput: there are fewer than two, they are of different question sets, or have no metric in common.
    """
    if len(runs) < 2:  # noqa: PLR2004 - a single run has nothing to compare with
        raise BadInput("--golds: name two runs or more, each under other golds")
    sets = {(str(run.manifest.get("set")), str(run.manifest.get("collection"))) for run in runs}
    if len(sets) > 1:
        names = " and ".join(sorted({name for name, _ in sets}))
        raise BadInput(f"--golds: the runs are of different question sets ({names}); name runs of one")
    labels = _labels(runs)
    scored = [{(one.predictor, one.dialect): one for one in scores_of(run)} for run in runs]
    metrics = [
        name
        for name, metric in METRICS.items()
        if metric.has_score and all(name in one.metrics for some in scored for one in some.values())
    ]
    if not metrics:
        raise BadInput("--golds: the runs have no metric in common; score them with the same --metrics")
    tables = [_totals(name, labels, scored) for name in metrics]
    moved = _moved(runs, labels)
    facts = [f"{label}: {line}" for label, run in zip(labels, runs, strict=True) for line in _facts(run)]
    return Document(
        " and ".join(str(run.manifest.get("run_id")) for run in runs), tuple(facts), (*tables, moved)
    )


def write_gold_ranks(document: Document, folder: Path) -> list[Path]:
    """Write the tables to a run folder.

    Returns:
        The files: `golds.md`, `golds.csv`, `golds.json`.

    Raises:
        BadInput: one cannot be written.
    """
    return write_document(folder, STEM, document, _SCORES)


def _labels(runs: Sequence[Run]) -> list[str]:
    """Return the name of each run's golds, with the run's id if two names are equal."""
    packs = [PackUse.of(run.manifest) for run in runs]
    names = [PUBLISHED if pack is None else pack.label for pack in packs]
    names = [
        f"{name}, SQLite's rows" if run.manifest.get("reference") == "sqlite" else name
        for name, run in zip(names, runs, strict=True)
    ]
    return [
        f"{name} ({run.manifest.get('run_id')})" if names.count(name) > 1 else name
        for name, run in zip(names, runs, strict=True)
    ]


def _facts(run: Run) -> list[str]:
    return [
        f"run {run.manifest.get('run_id')}, {run.manifest.get('questions')} questions",
        *notes_of(run.manifest),
    ]


def _totals(metric: str, labels: Sequence[str], scored: Sequence[Mapping[Whose, Score]]) -> TableModel:
    """Return a table with a row per predictor: total, interval, rank and its change by engine and golds."""
    predictors = list(dict.fromkeys(predictor for some in scored for predictor, _ in some))
    cells: dict[str, list[Cell | None]] = {predictor: [] for predictor in predictors}
    groups = []
    for dialect in in_order(dialect for some in scored for _, dialect in some):
        columns: list[TableColumn] = []
        first: Mapping[str, int] = {}
        for place, (label, some) in enumerate(zip(labels, scored, strict=True)):
            found = {name: one for (name, of), one in some.items() if of == dialect}
            totals = {name: one.metrics[metric][TOTAL] for name, one in found.items()}
            placed = ranks({name: total for name, total in totals.items() if total is not None})
            first = first or placed
            columns += _heads(metric, label, is_first=not place)
            for predictor, row in cells.items():
                score, rank, before = found.get(predictor), placed.get(predictor), first.get(predictor)
                row.append(
                    None
                    if score is None
                    else Cell(totals[predictor], score.intervals[metric], score.questions)
                )
                row.append(None if rank is None else Cell(rank))
                if place:
                    row.append(None if rank is None or before is None else Cell(before - rank))
        groups.append(ColumnGroup(TITLES[dialect], tuple(columns), dialect))
    rows = tuple(TableRow((predictor,), tuple(row), predictor) for predictor, row in cells.items())
    notes = ("A change of rank is against the first golds: +1 is one place better.",)
    return TableModel(f"{METRICS[metric].title} (%)", ("predictor",), tuple(groups), rows, notes)


def _heads(metric: str, label: str, *, is_first: bool) -> Iterator[TableColumn]:
    yield TableColumn(label, metric, "gold", label, is_total=True, has_interval=True)
    yield TableColumn("rank", f"{metric}_rank", "gold", label, CellKind.COUNT)
    if not is_first:
        yield TableColumn("change", f"{metric}_rank_change", "gold", label, CellKind.CHANGE)


def ranks(totals: Mapping[str, float]) -> dict[str, int]:
    """Return the rank of each predictor: 1 plus the number of better ones."""
    return {name: 1 + sum(other > total for other in totals.values()) for name, total in totals.items()}


def _moved(runs: Sequence[Run], labels: Sequence[str]) -> TableModel:
    """Return a table with a row per engine and question that moved: how many predictors won and lost it."""
    right = [
        {(one.dialect, one.question, one.predictor): one.outcome is Outcome.MATCH for one in run.results}
        for run in runs
    ]
    changes: dict[tuple[EngineName, str], list[tuple[int, int]]] = {}
    for place, later in enumerate(right[1:]):
        for key in right[0].keys() & later.keys():
            if right[0][key] != later[key]:
                counts = changes.setdefault(key[:2], [(0, 0)] * (len(runs) - 1))
                won, lost = counts[place]
                counts[place] = (won + later[key], lost + right[0][key])
    order = {key: place for place, key in enumerate(dict.fromkeys(key[:2] for key in right[0]))}
    rows = [
        TableRow((TITLES[dialect], question), tuple(_counts(counts)), "", dialect, question)
        for (dialect, question), counts in sorted(changes.items(), key=lambda one: order[one[0]])
    ]
    groups = tuple(
        ColumnGroup(
            label,
            (
                TableColumn("won", "won", "gold", kind=CellKind.COUNT),
                TableColumn("lost", "lost", "gold", kind=CellKind.COUNT),
            ),
        )
        for label in labels[1:]
    )
    left = tuple(_left_out(runs, labels))
    return TableModel(
        "Questions that moved, in predictors", ("engine", "question"), groups, tuple(rows), left
    )


def _counts(counts: Sequence[tuple[int, int]]) -> Iterator[Cell]:
    for won, lost in counts:
        yield Cell(won)
        yield Cell(lost)


def _left_out(runs: Sequence[Run], labels: Sequence[str]) -> Iterator[str]:
    everything = dict.fromkeys(one.question for run in runs for one in run.results)
    for label, run in zip(labels, runs, strict=True):
        there = {one.question for one in run.results}
        gone = [question for question in everything if question not in there]
        if gone:
            yield f"Not asked under {label}: {', '.join(gone)}."
