"""A gap as files: tables in every format, `gap.json` with each question, and the page."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.data.outcomes import PairResult
from harness.engines import dialect_of
from harness.gap.causes import ABOUT, Cause
from harness.gap.deciding import Direction
from harness.gap.explaining import Explained, Gap, PredictorGap
from harness.gap.tables import documented, printed_steps
from harness.gap.trying import Trial
from harness.report.formatting import printable_json
from harness.report.texts import csv_text, latex, markdown
from harness.report.writing import write
from harness.runs.reading import read_previews

SCHEMA_VERSION = 1
"""Version of `gap.json`; docs/dialect-gap.md describes it."""

STEM = "gap"
MARKDOWN, CSV, LATEX, JSON = (f"{STEM}.{suffix}" for suffix in ("md", "csv", "tex", "json"))


def as_record(gap: Gap) -> Mapping[str, Any]:
    """What `gap.json` holds."""
    return {
        "schema_version": SCHEMA_VERSION,
        "run_id": gap.run_id,
        "set": gap.set_name,
        "profile": str(gap.profile),
        "left_out": list(gap.left_out),
        "synthetic_databases": sorted(gap.synthetic),
        "causes": {
            str(cause): {
                "title": about.title,
                "meaning": about.meaning,
                "decided_by": about.decided_by,
                "is_dialect": about.is_dialect,
            }
            for cause, about in ABOUT.items()
        },
        "gaps": [_gap(one) for one in gap.gaps],
        "translated": [
            {
                "predictor": one.predictor,
                "dialect": one.target,
                "right_on_sqlite": one.right,
                "translatable": one.translatable,
                "matching": one.matching,
                "exceptions": [vars(each) for each in one.exceptions],
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
    """One question, without rows."""
    decision, mended = one.decision, one.decision.mended
    gold = one.question.gold
    return {
        "predictor": one.predictor,
        "dialect": one.target,
        "question": one.question.key,
        "question_id": one.question.question_id,
        "db_id": one.question.db_id,
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
    return {key: str(value) if isinstance(value, str) else value for key, value in one.to_json().items()}


def write_gap(gap: Gap, folder: Path) -> list[Path]:
    """Write every file of a gap into a run folder, over those that are there.

    Returns:
        The files: `gap.md`, `gap.csv`, `gap.tex`, `gap.json`, `gap.html`.

    Raises:
        BadInput: the folder cannot be written.
    """
    from harness.gap.page import HTML, write_gap_page  # noqa: PLC0415 - the page's template takes a moment

    document = documented(gap)
    title = f"The dialect gap of run {gap.run_id}"
    texts = {
        MARKDOWN: markdown(document, title),
        CSV: csv_text(document),
        LATEX: latex(document, title),
        JSON: f"{printable_json(as_record(gap))}\n",
    }
    written = [write(folder / name, text) for name, text in texts.items()]
    path = folder / HTML
    write_gap_page(gap, read_previews(folder), path)
    return [*written, path]


__all__ = ["CSV", "JSON", "LATEX", "MARKDOWN", "Cause", "as_record", "explained_record", "write_gap"]
