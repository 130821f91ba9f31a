"""What the tables of a run are made of: its results, its metrics, and what has to be known of it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.data.published import databases_note
from harness.data.questions import in_order
from harness.metrics import METRICS
from harness.outcomes import PairResult
from harness.report.grouped import grouped_grid, shares_grid
from harness.report.overview import extent_lines, marked, noted, overview
from harness.report.reproduction import Reference, reproduction
from harness.report.table_model import Document, TableModel
from harness.runs.groups import By
from harness.runs.reading import Run, read_questions
from harness.runs.summary import Score, summarize
from harness.sqltree.constructs import constructs


def tables(run: Run, by: Iterable[By] = ()) -> Document:
    """The tables of a run, or, with `by`, those of its metrics by these groups instead.

    Raises:
        BadInput: the questions are needed and cannot be read.
    """
    scores, metrics = scores_of(run), _metrics(run)
    groupings = list(dict.fromkeys(by))
    if groupings:
        grids = marked(_grouped(run, scores, metrics, groupings), extent_lines(scores, run.extent))
    else:
        grids = overview(scores, metrics, run.extent)
    grids = noted(grids, databases_note(run.manifest))
    return Document(_run_id(run), tuple(facts(run, scores)), tuple(grids), extent=_extent(scores))


def scores_of(run: Run) -> list[Score]:
    """What `summary.json` has, with the results: equal to the last digit."""
    return summarize(sorted(run.results, key=_place), _metrics(run), run.extent)


def reproduced(run: Run, held: Reference) -> Document:
    """The three tables of a run that is held against published figures."""
    scores = scores_of(run)
    made = reproduction(_run_id(run), facts(run, scores), scores, held)
    grids = marked(made.grids, extent_lines(scores, run.extent))
    return replace(made, grids=tuple(grids), extent=_extent(scores))


def facts(run: Run, scores: Sequence[Score]) -> list[str]:
    """What a reader of tables has to know of the run: how much of it there is, questions, engines, limits."""
    manifest = run.manifest
    engines = manifest.get("engines")
    versions = [
        f"{name} {about.get('version')}"
        for name, about in (engines.items() if isinstance(engines, dict) else ())
        if isinstance(about, dict)
    ]
    limits = manifest.get("limits")
    seconds = limits.get("seconds") if isinstance(limits, dict) else None
    asked = ", ".join(f"{name} {manifest.get(name)}" for name in ("profile", "extract"))
    return [
        *extent_lines(scores, run.extent),
        f"{manifest.get('set')}: {manifest.get('questions')} questions, {asked}, limit {seconds} s",
        *([f"Engines: {'; '.join(versions)}"] if versions else []),
        *_left_out(manifest),
    ]


def cautions(manifest: Mapping[str, Any]) -> list[str]:
    """What has to be known wherever figures of a run stand: the databases, engines that are not in them."""
    return [*databases_note(manifest), *_left_out(manifest)]


def _left_out(manifest: Mapping[str, Any]) -> list[str]:
    left_out = manifest.get("left_out")
    return [f"Left out: {line}" for line in (left_out if isinstance(left_out, list) else ())]


def _extent(scores: Sequence[Score]) -> dict[tuple[str, str], tuple[int, int]]:
    """How many pairs of each predictor on each engine were planned and have a result."""
    return {(score.predictor, score.dialect): (score.planned, score.questions) for score in scores}


def _grouped(run: Run, scores: Sequence[Score], metrics: Sequence[str], by: Sequence[By]) -> list[TableModel]:
    uses: dict[str, Sequence[str]] = {}
    if By.CONSTRUCT in by:
        uses = {
            key: constructs(sql)
            for key, question in read_questions(run.folder).items()
            if (sql := question.gold.get(Dialect.SQLITE)) is not None
        }
    grids: list[TableModel] = []
    for each in by:
        if each.is_of_pairs:
            grids.append(shares_grid(scores, each))
            continue
        made = (grouped_grid(scores, name, each, uses) for name in metrics if METRICS[name].has_score)
        grids += [grid for grid in made if grid is not None]
    return grids


def _run_id(run: Run) -> str:
    return str(run.manifest.get("run_id"))


def _metrics(run: Run) -> list[str]:
    """The metrics that a run was asked for, in the order of the tables.

    Raises:
        BadInput: the manifest does not say.
    """
    asked = run.manifest.get("metrics")
    if not isinstance(asked, list) or not asked or any(name not in METRICS for name in asked):
        raise BadInput(
            f"{run.folder}: its manifest does not say which metrics it has; take the folder as it was written"
        )
    return [name for name in METRICS if name in asked]


def _place(result: PairResult) -> tuple[tuple[bool, int, str], str]:
    return in_order(result.question_id), result.question
