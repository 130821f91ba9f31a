"""What the page of a comparison shows: totals, and both sides of every question that flipped."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.data.outcomes import PairResult, Preview
from harness.data.questions import Question
from harness.metrics import METRICS, OUTCOME_METRIC
from harness.report.comparison import RunSide, SideComparison, printed
from harness.report.html.columns import Numbering, Pairs, Questions
from harness.report.html.page import PageTable, write_page
from harness.report.tables import figure
from harness.runs.summary import TOTAL, Key


@dataclass(frozen=True)
class Material:
    """What one side of a comparison has to show: results and previews of pairs, and the questions."""

    results: Mapping[Key, PairResult]
    questions: Mapping[str, Question] = field(default_factory=dict)
    previews: Mapping[Key, Preview] = field(default_factory=dict)


def write_comparison_html(  # noqa: PLR0913 - what a comparison consists of
    comparisons: Sequence[SideComparison],
    sides: Mapping[str, Material],
    path: Path,
    *,
    notes: Sequence[str] = (),
    failures: Sequence[str] = (),
    manifests: Mapping[str, Mapping[str, Any]] | None = None,
) -> None:
    """Write a comparison as one file: the totals, and both sides of every question that flipped.

    Args:
        comparisons: in the order of the page.
        sides: by letter what the pairs of each side are: A's, and those of what is compared with it.
        path: the file, which is replaced whole.
        notes: what a reader has to know beforehand, a line each.
        failures: the thresholds that failed, a line each.
        manifests: of both runs, by what they are called.

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
        "comparisons": [_comparison(one) for one in comparisons],
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


def _comparison(one: SideComparison) -> dict[str, Any]:
    found = one.differences
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
    }


def _side(side: RunSide) -> dict[str, Any]:
    return {
        "predictor": side.predictor,
        "dialect": side.dialect,
        "run_id": side.run_id,
        "folder": side.folder,
    }
