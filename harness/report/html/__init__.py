"""Write the report of a run folder, and that of a comparison, as one HTML file each.

The page is a small program with its data: `web/` has the sources, `bundle/` the build.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.data.outcomes import Outcome, PairResult, Preview
from harness.data.questions import Question, id_order
from harness.engines import TITLES, kinds_by_name
from harness.metrics import METRICS, OUTCOME_METRIC
from harness.report.comparison import RunSide, SideComparison, group_grids, printed, tests_note
from harness.report.console import figure
from harness.report.documents import cautions
from harness.report.html.page import PageTable, write_page
from harness.report.html.pairs import Numbering, Pairs, Plans, Questions
from harness.report.measures import usage_grid
from harness.report.overview import dialects_of, extent_lines, is_partial, scored, versions
from harness.report.table_model import CellKind, spelled, spelled_range, texts
from harness.report.table_model import heads as column_heads
from harness.report.table_model import names as column_names
from harness.runs.plans import ExplainedText, TextKey
from harness.runs.reader import Run, read_witness
from harness.runs.summary import TOTAL, By, Key, Score, error_classes, summarize

_MEASURED = (
    "The prediction's time divided by gold's, for pairs that match, as measured for R-VES."
    " Slower is to the right."
)
_ONCE = (
    "The prediction's time divided by gold's, for pairs that match; slower is to the right. Each was run"
    " once, for EX: this shows orders of magnitude, not which one is faster."
)


def write_html(
    run: Run,
    questions: Mapping[str, Question],
    previews: Mapping[Key, Preview],
    path: Path,
    plans: Mapping[TextKey, ExplainedText] | None = None,
) -> None:
    """Write the report of a run as one file.

    Args:
        run: the run.
        questions: its questions by key; missing ones are shown as not recorded.
        previews: its previews; pairs may lack one.
        path: the file, which is replaced as a whole.
        plans: the execution plans of some of its pairs.

    Raises:
        BadInput: the file cannot be written, or a witness of the run cannot be read.
    """
    metrics = _metrics(run)
    scores = summarize(run.results, metrics, usage=run.usage)
    named = Numbering(score.predictor for score in scores)
    pairs = Pairs(
        Questions(
            questions, {result.db_id for result in run.results}, (result.difficulty for result in run.results)
        ),
        named,
        metrics,
    )
    shown = Plans(plans or {})
    for result in _in_order(run.results, named.values):
        whose = (result.dialect, result.predictor, result.question)
        preview = previews.get(whose)
        place = pairs.add(result, preview, run.usage.get(whose), read_witness(run.folder, result))
        shown.add(place, result, pairs.gold(result, preview))
    core = pairs.core()
    details = pairs.details()
    if plans:
        details["plans"] = shown.to_json()
    partial = [name for name in metrics if is_partial(scores, name)]
    title = str(run.manifest.get("run_id") or run.folder.name)
    core |= {
        "kind": "run",
        "title": title,
        "facts": _facts(run, scores),
        "notes": [*_notes(run, scores), *shown.notes()],
        "pages": _pages(run),
        "metrics": {name: METRICS[name].title for name in metrics},
        "scores": [_score(score, named.values, partial) for score in scores],
        "usage": _usage(scores),
        "times_note": _MEASURED if any(result.timings for result in run.results) else _ONCE,
        "manifests": {"Run": run.manifest},
    }
    table = PageTable(
        ("predictor", "engine", *(f"{METRICS[name].title} (%)" for name in metrics)),
        [
            (
                score.predictor,
                TITLES[score.dialect],
                *(figure(score.metrics[name][TOTAL]) for name in metrics),
            )
            for score in scores
        ],
    )
    write_page(path, f"bird-harness: {title}", table, core, details)


def _metrics(run: Run) -> list[str]:
    """Return the metrics with scores: those in the manifest, and any in a result."""
    named = run.manifest.get("metrics") or ()
    found = {name for result in run.results for name in result.scores}
    return [name for name, metric in METRICS.items() if metric.has_score and (name in named or name in found)]


def _in_order(results: Sequence[PairResult], predictors: Sequence[str]) -> list[PairResult]:
    """Sort by question, in the order of first appearance, then by predictor and engine."""
    questions = {
        question: place for place, question in enumerate(dict.fromkeys(one.question for one in results))
    }
    names = {name: place for place, name in enumerate(predictors)}
    dialects = list(kinds_by_name())
    return sorted(
        results,
        key=lambda one: (
            id_order(one.question_id),
            questions[one.question],
            names[one.predictor],
            dialects.index(one.dialect),
        ),
    )


def _score(score: Score, predictors: Sequence[str], partial: Collection[str]) -> dict[str, Any]:
    return {
        "predictor": predictors.index(score.predictor),
        "dialect": list(kinds_by_name()).index(score.dialect),
        "questions": score.questions,
        "planned": score.planned,
        "metrics": score.metrics,
        "intervals": {name: interval and list(interval) for name, interval in score.intervals.items()},
        # Numbers are for charts, texts for reading: rounding in the page might differ from the tables.
        "printed": {
            name: {level: spelled(value, CellKind.PERCENT) for level, value in levels.items()}
            | {"interval": spelled_range(score.intervals[name])}
            | ({"questions": str(scored(score, name))} if name in partial else {})
            for name, levels in score.metrics.items()
        },
        "outcomes": [score.outcomes.get(outcome, 0) for outcome in Outcome],
        "error_classes": list(error_classes(score.results).values()),
    }


def _usage(scores: Sequence[Score]) -> dict[str, Any] | None:
    """Return the usage of answers, a row for each score; None if unknown."""
    grid = usage_grid(scores, ())
    if grid is None:
        return None
    heads = [head for column in grid.columns for head in column_heads(column)]
    return {"heads": heads, "rows": [list(texts(grid, row)) for row in grid.rows], "notes": grid.notes}


def _facts(run: Run, scores: Sequence[Score]) -> list[tuple[str, str]]:
    questions = {result.question for result in run.results}
    facts = [
        ("question set", str(run.manifest.get("set") or "")),
        ("questions", f"{len(questions):,}"),
        ("predictors", f"{len({score.predictor for score in scores}):,}"),
        ("pairs", _pairs(len(run.results), run.extent.pairs)),
        ("engines", ", ".join(versions(run.manifest, dialects_of(scores)))),
        ("profile", str(run.manifest.get("profile") or "")),
        ("started", str(run.manifest.get("started") or "")[:16].replace("T", " ")),
    ]
    return [(name, value) for name, value in facts if value]


_BESIDE = {"gap.html": "Why scores differ between engines: the dialect gap, question by question"}
"""Other pages that a run folder may have, and the text of the link to each."""


def _pages(run: Run) -> list[dict[str, str]]:
    return [{"file": name, "title": title} for name, title in _BESIDE.items() if (run.folder / name).exists()]


def _pairs(completed: int, planned: int) -> str:
    return f"{completed:,} of {planned:,}" if planned > completed else f"{completed:,}"


def _notes(run: Run, scores: Sequence[Score]) -> list[str]:
    broken = sum(score.outcomes.get(Outcome.HARNESS_ERROR, 0) for score in scores)
    golds = sorted({question for score in scores for question in score.gold_failures})
    notes = []
    if broken:
        notes.append(f"{broken:,} pairs are harness errors: the engine could not be used, and they count 0.")
    if golds:
        notes.append(
            f"Gold failed for {len(golds):,} questions on some engine; they count 0 for everybody there."
        )
    return [*cautions(run.manifest), *extent_lines(scores, run.extent), *notes]


# The page of a comparison: totals, and both sides of every question that flipped.


@dataclass(frozen=True)
class Material:
    """The data of one side of a comparison: results and previews of pairs, and the questions."""

    results: Mapping[Key, PairResult]
    questions: Mapping[str, Question] = field(default_factory=dict)
    previews: Mapping[Key, Preview] = field(default_factory=dict)


def write_comparison_html(  # noqa: PLR0913 - the parts of a comparison
    comparisons: Sequence[SideComparison],
    sides: Mapping[str, Material],
    path: Path,
    *,
    notes: Sequence[str] = (),
    failures: Sequence[str] = (),
    manifests: Mapping[str, Mapping[str, Any]] | None = None,
    by: By | None = None,
) -> None:
    """Write a comparison as one file: the totals, and both sides of every question that flipped.

    Args:
        comparisons: in the order of the page.
        sides: the data of each side, by letter.
        path: the file, which is replaced as a whole.
        notes: the notes to read first, a line each.
        failures: the thresholds that failed, a line each.
        manifests: the manifests of the runs, by title.
        by: what makes the groups of questions, if they are compared, too.

    Raises:
        BadInput: the file cannot be written.
    """
    metrics = [
        name
        for name in METRICS
        if any(change.metric == name for one in comparisons for change in one.differences.changes)
    ]
    databases = {flip.db_id for one in comparisons for flip in one.differences.flips}
    difficulties = (result.difficulty for side in sides.values() for result in side.results.values())
    known = {key: one for side in [*sides.values()][::-1] for key, one in side.questions.items()}
    questions = Questions(known, databases, difficulties)
    pairs = Pairs(questions, Numbering(), metrics)
    flips = []
    for place, one in enumerate(comparisons):
        for flip in one.differences.flips:
            added = []
            for side, material in ((one.a, sides["A"]), (one.b, sides[one.letter])):
                key = side.dialect, side.predictor, flip.question
                added.append((material.results[key], material.previews.get(key)))
            places = dict(zip("ab", (pairs.add(*each) for each in added), strict=True))
            flips.append({"comparison": place, **places, "lost": flip.lost, "won": flip.won})
    core = pairs.core()
    core |= {
        "kind": "comparison",
        "title": "comparison",
        "notes": list(notes),
        "failures": list(failures),
        "metrics": {name: METRICS[name].title for name in (OUTCOME_METRIC, *metrics)},
        "comparisons": [_comparison(one, by) for one in comparisons],
        "tests_notes": tests_note(comparisons),
        "flips": flips,
        "manifests": dict(manifests or {}),
    }
    table = PageTable(
        ("comparison", "metric", "A", "B"),
        [
            (one.name, METRICS[change.metric].title, figure(change.a[TOTAL]), figure(change.b[TOTAL]))
            for one in comparisons
            for change in one.differences.changes
        ],
    )
    write_page(path, "bird-harness: comparison", table, core, pairs.details())


def _comparison(one: SideComparison, by: By | None) -> dict[str, Any]:
    found = one.differences
    grids = () if by is None else group_grids(one, by)
    return {
        "a": _side(one.a),
        "b": _side(one.b),
        "letter": one.letter,
        "questions": found.questions,
        "only_a": found.only_a,
        "only_b": found.only_b,
        "outcomes": found.to_json()["outcomes"],
        "metrics": [
            {
                "metric": change.metric,
                "total": change.total,
                "interval": change.interval and list(change.interval),
                "is_proven": change.is_proven,
                "printed": printed(change),
                "mcnemar": change.to_json()["mcnemar"],
            }
            for change in found.changes
        ],
        "groups": [
            {
                "title": grid.title,
                "heads": [*grid.labels, *column_names(grid)],
                "rows": [[*row.labels, *texts(grid, row)] for row in grid.rows],
                "notes": grid.notes,
            }
            for grid in grids
        ],
    }


def _side(side: RunSide) -> dict[str, Any]:
    return {
        "predictor": side.predictor,
        "dialect": side.dialect,
        "run_id": side.run_id,
        "folder": side.folder,
    }
