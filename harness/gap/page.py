"""The page of a gap: tables and waterfalls without a script, and each question with what was executed for it.

It asks for nothing from outside. Data stand in it gzipped, in base64; script and style are named by their
digests in the page's policy.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from harness.data.outcomes import PairResult
from harness.data.preview import Preview
from harness.engines import TITLES
from harness.gap.causes import ABOUT
from harness.gap.explaining import Explained, Gap, PredictorGap
from harness.gap.tables import documented, printed_steps
from harness.gap.trying import Trial
from harness.report.formatting import heads, printable, spelled, texts
from harness.report.html.columns import MOST_CHARACTERS, Texts
from harness.report.html.page import packed, policy
from harness.report.table_model import CellKind, TableModel
from harness.report.writing import write
from harness.runs.extent import Key

HTML = "gap.html"

_PLACE = files("harness.gap")
_ROOM = 520
"""Width of the bars, in units of the picture."""
_LINE = 22


@dataclass(frozen=True)
class _Bar:
    """One bar of a waterfall: where it begins, how long it is, and what is said of it."""

    name: str
    x: float
    width: float
    y: int
    figure: str
    kind: str


@dataclass(frozen=True)
class _Waterfall:
    """The bars of one predictor on one engine."""

    title: str
    bars: Sequence[_Bar]

    @property
    def height(self) -> int:
        return len(self.bars) * _LINE


@dataclass(frozen=True)
class _PlainTable:
    """A table as texts."""

    title: str
    heads: Sequence[str]
    labels: int
    rows: Sequence[Sequence[str]]
    notes: Sequence[str]


def write_gap_page(gap: Gap, previews: Mapping[Key, Preview], path: Path) -> None:
    """Write the page of a gap, whole or not at all.

    Args:
        gap: what it shows.
        previews: rows of the pairs, as the run has them.
        path: the file.

    Raises:
        BadInput: the file cannot be written.
    """
    style, script = _read("page.css"), _read("page.js")
    document = documented(gap)
    template = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined).from_string(
        _read("page.html.jinja")
    )
    text = template.render(
        title=printable(f"The dialect gap of run {gap.run_id}"),
        policy=policy(style, script),
        style=Markup(style),  # noqa: S704 - the project's own
        script=Markup(script),  # noqa: S704 - the project's own
        facts=[printable(fact) for fact in document.facts],
        tables=[_plain(grid) for grid in document.grids],
        waterfalls=[_waterfall(one) for one in gap.gaps],
        causes=[
            (about.title, about.meaning, about.decided_by)
            for cause, about in ABOUT.items()
            if any(one.decision.cause is cause for one in gap.explained)
        ],
        data=packed(_content(gap, previews)),
    )
    write(path, text)


@cache
def _read(name: str) -> str:
    return (_PLACE / name).read_text(encoding="utf-8").strip()


def _plain(grid: TableModel) -> _PlainTable:
    names = [
        f"{group.head} {head}".strip()
        for group in grid.groups
        for column in group.columns
        for head in heads(column)
    ]
    rows = [[printable(text) for text in (*row.labels, *texts(grid, row))] for row in grid.rows]
    return _PlainTable(grid.title, [*grid.labels, *names], len(grid.labels), rows, grid.notes)


def _waterfall(one: PredictorGap) -> _Waterfall:
    """From SQLite's score down and up to the target's; the whole width is 100 %."""

    def percent(count: int) -> float:
        return 100 * count / one.questions if one.questions else 0.0

    bars: list[_Bar] = []

    def add(name: str, start: float, end: float, figure: str, kind: str) -> None:
        low, high = sorted((start, end))
        width = max(round((high - low) * _ROOM / 100, 1), 1)
        bars.append(_Bar(name, round(low * _ROOM / 100, 1), width, len(bars) * _LINE, figure, kind))

    begin, end = percent(one.on_sqlite), percent(one.on_target)
    add("SQLite", 0, begin, spelled(begin, CellKind.PERCENT), "total")
    at = begin
    for cause, points in printed_steps(one):
        step = percent(one.step(cause))
        if any(each.decision.cause is cause for each in one.explained):
            kind = "won" if step > 0 else "lost"
            add(ABOUT[cause].title, at, at + step, spelled(points, CellKind.DIFFERENCE), kind)
        at += step
    add(TITLES[one.target], 0, end, spelled(end, CellKind.PERCENT), "total")
    return _Waterfall(printable(f"{one.predictor} on {TITLES[one.target]}"), bars)


def _content(gap: Gap, previews: Mapping[Key, Preview]) -> dict[str, Any]:
    """What the script shows; texts stand once each and are named by their places."""
    known = Texts()
    entries = [_entry(one, previews, known) for one in gap.explained]
    return {
        "causes": {str(cause): about.title for cause, about in ABOUT.items()},
        "directions": {"loss": "right on SQLite alone", "gain": "right there alone"},
        "questions": entries,
        "most": MOST_CHARACTERS,
        **known.to_json(),
    }


def _entry(one: Explained, previews: Mapping[Key, Preview], known: Texts) -> dict[str, Any]:
    decision, question = one.decision, one.question
    golds = {
        TITLES[answer.dialect]: known.of(question.gold.get(dialect))
        for answer in (one.sqlite, one.native)
        for dialect in question.gold
        if dialect == answer.dialect
    }
    return {
        "predictor": one.predictor,
        "engine": TITLES[one.target],
        "question": question.key,
        "db_id": question.db_id,
        "text": known.of(question.text),
        "evidence": known.of(question.evidence or None),
        "direction": str(one.direction),
        "cause": str(decision.cause),
        "says": known.of(decision.says),
        "synthetic": one.synthetic,
        "edits": [] if decision.mended is None else [known.of(edit.what) for edit in decision.mended.edits],
        "answers": [_answer(each, previews, known) for each in (one.sqlite, one.native)],
        "golds": golds,
        "decisive": None if decision.decisive is None else _trial(decision.decisive, known, rows=True),
        "tried": [_trial(each, known) for each in decision.tried],
    }


def _answer(result: PairResult, previews: Mapping[Key, Preview], known: Texts) -> dict[str, Any]:
    preview = previews.get((result.dialect, result.predictor, result.question))
    return {
        "engine": TITLES[result.dialect],
        "sql": known.of(result.sql),
        "outcome": str(result.outcome),
        "error": known.of(result.error),
        "rows": known.of(None if preview is None else preview.to_text()),
    }


def _trial(trial: Trial, known: Texts, *, rows: bool = False) -> dict[str, Any]:
    return {
        "what": known.of(trial.what),
        "engine": TITLES[trial.dialect],
        "profile": str(trial.profile),
        "against": known.of(trial.against),
        "sql": known.of(trial.sql),
        "outcome": str(trial.outcome),
        "error": known.of(trial.error),
        **({"rows": known.of(trial.preview)} if rows else {}),
    }
