"""A gap as files: tables in every format, `gap.json` with each question, and the page."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from harness.analyses.bench import synthetic_databases
from harness.data.outcomes import PairResult, Preview
from harness.engines import TITLES, dialect_of
from harness.labs.gap.cause_rules import ABOUT, Direction
from harness.labs.gap.experiments import Trial
from harness.labs.gap.explanations import Explained, Gap, PredictorGap
from harness.labs.gap.tables import documented, printed_steps
from harness.report.files import write, write_document
from harness.report.html.page import own_page, packed
from harness.report.html.pairs import MOST_CHARACTERS, Texts
from harness.report.table_model import CellKind, TableModel, names, printable, spelled, texts
from harness.runs.reader import read_previews
from harness.runs.summary import Key
from loaders.base.files import printable_json
from loaders.base.records import to_plain

# The page of a gap: tables and waterfalls without a script, and each question with what was executed for
# it.
#
# It requests nothing from outside. Data are in it gzipped, in base64; script and style are named by their
# digests in the page's policy.

HTML = "gap.html"

_ROOM = 520
"""Width of the bars, in units of the picture."""
_LINE = 22


class _Bar(NamedTuple):
    """One bar of a waterfall: its beginning, its length, and its label."""

    name: str
    x: float
    width: float
    y: int
    figure: str
    kind: str


def write_gap_page(gap: Gap, previews: Mapping[Key, Preview], path: Path) -> None:
    """Write the page of a gap, whole or not at all.

    Args:
        gap: what it shows.
        previews: rows of the pairs, as the run has them.
        path: the file.

    Raises:
        BadInput: the file cannot be written.
    """
    document = documented(gap)
    text = own_page(
        "harness.labs.gap",
        title=printable(f"The dialect gap of run {gap.run_id}"),
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


def _plain(grid: TableModel) -> Mapping[str, Any]:
    """Return a table as texts."""
    return {
        "title": grid.title,
        "heads": [*grid.labels, *names(grid)],
        "labels": len(grid.labels),
        "rows": [[printable(text) for text in (*row.labels, *texts(grid, row))] for row in grid.rows],
        "notes": grid.notes,
    }


def _waterfall(one: PredictorGap) -> Mapping[str, Any]:
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
    title = printable(f"{one.predictor} on {TITLES[one.target]}")
    return {"title": title, "bars": bars, "height": len(bars) * _LINE}


_LONG = frozenset({"sql", "error", "says", "text", "evidence", "rows", "what", "against", "gold"})
"""Fields whose texts the page replaces by their places."""


def _content(gap: Gap, previews: Mapping[Key, Preview]) -> dict[str, Any]:
    """Return the data of the script: the questions of `gap.json` with rows; each text is stored once."""
    known = Texts()

    def placed(value: Any, key: str) -> Any:
        if isinstance(value, dict):
            return {name: placed(one, key if key == "gold" else name) for name, one in value.items()}
        if isinstance(value, list):
            return [placed(one, key) for one in value]
        return known.of(value) if key in _LONG else value

    questions = [placed(_with_rows(one, previews), "") for one in gap.explained]
    return {
        "causes": {str(cause): about.title for cause, about in ABOUT.items()},
        "engines": dict(TITLES),
        "directions": {"loss": "right on SQLite alone", "gain": "right there alone"},
        "questions": questions,
        "most": MOST_CHARACTERS,
        **known.to_json(),
    }


def _with_rows(one: Explained, previews: Mapping[Key, Preview]) -> dict[str, Any]:
    record = explained_record(one)
    for side, result in (("sqlite", one.sqlite), ("native", one.native)):
        preview = previews.get((result.dialect, result.predictor, result.question))
        rows = None if preview is None else preview.to_text()
        record[side] = {**record[side], "dialect": str(result.dialect), "rows": rows}
    if one.decision.decisive is not None:
        record["decisive"] = {**record["decisive"], "rows": one.decision.decisive.preview}
    del record["edits"], record["repaired"]
    return {**record, "text": one.question.text, "evidence": one.question.evidence or None}


SCHEMA_VERSION = 1
"""Version of `gap.json`; docs/how-to/compare.md describes it."""

STEM = "gap"


def as_record(gap: Gap) -> Mapping[str, Any]:
    """Return the content of `gap.json`."""
    return {
        "schema_version": SCHEMA_VERSION,
        "run_id": gap.run_id,
        "set": gap.set_name,
        "profile": str(gap.profile),
        "left_out": list(gap.left_out),
        "synthetic_databases": sorted(synthetic_databases(gap.provenance)),
        "causes": to_plain(ABOUT),
        "gaps": [_gap(one) for one in gap.gaps],
        "translated": [
            {
                "predictor": one.predictor,
                "dialect": one.target,
                "right_on_sqlite": one.right,
                "translatable": one.translatable,
                "matching": one.matching,
                "exceptions": to_plain(one.exceptions),
            }
            for one in gap.translated
        ],
        "questions": [explained_record(one) for one in gap.explained],
    }


def _gap(one: PredictorGap) -> Mapping[str, Any]:
    return {
        "predictor": one.predictor,
        "dialect": one.target,
        "questions": one.questions,
        "right_on_sqlite": one.on_sqlite,
        "right": one.on_target,
        "steps": [
            {
                "cause": str(cause),
                "lost": one.count(cause, Direction.LOSS),
                "won": one.count(cause, Direction.GAIN),
                "points": points,
            }
            for cause, points in printed_steps(one)
        ],
        "right_if": vars(one.what_if),
    }


def explained_record(one: Explained) -> dict[str, Any]:
    """Return one question, without rows."""
    decision, mended = one.decision, one.decision.mended
    gold = one.question.gold
    return {
        "predictor": one.predictor,
        "dialect": one.target,
        "question": one.question.key,
        "question_id": one.question.question_id,
        "db_id": one.question.db_id,
        "types": list(one.question.types),
        "direction": str(one.direction),
        "cause": str(decision.cause),
        "says": decision.says,
        "edits": []
        if mended is None
        else [{"kind": str(each.kind), "what": each.what} for each in mended.edits],
        "repaired": None if mended is None else mended.trial.sql,
        "synthetic": one.synthetic,
        "sqlite": _answer(one.sqlite),
        "native": _answer(one.native),
        "gold": {
            str(dialect): gold[dialect]
            for dialect in (dialect_of(one.sqlite.dialect), dialect_of(one.target))
            if dialect in gold
        },
        "decisive": None if decision.decisive is None else _trial(decision.decisive),
        "tried": [_trial(each) for each in decision.tried],
    }


def _answer(one: PairResult) -> Mapping[str, Any]:
    return {"sql": one.sql, "outcome": str(one.outcome), "error": one.error, "code": one.code}


def _trial(one: Trial) -> Mapping[str, Any]:
    """Return a text that was run, without its rows."""
    record: dict[str, Any] = to_plain(one)
    del record["preview"]
    return record


def write_gap(gap: Gap, folder: Path) -> list[Path]:
    """Write every file of a gap into a run folder, over those that are there.

    Returns:
        The files: `gap.md`, `gap.csv`, `gap.tex`, `gap.json`, `gap.html`.

    Raises:
        BadInput: the folder cannot be written.
    """
    title = f"The dialect gap of run {gap.run_id}"
    as_json = f"{printable_json(as_record(gap))}\n"
    written = write_document(folder, STEM, documented(gap), title, as_json=as_json, is_paper=True)
    path = folder / HTML
    write_gap_page(gap, read_previews(folder), path)
    return [*written, path]
