import json
from collections.abc import Sequence
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from harness.errors import BadInput
from harness.outcomes import GoldOrigin, Outcome, PairResult
from harness.report.console import print_tables
from harness.report.summary import summarize
from harness.runs import LATEST, SUMMARY, RunFolder, read_results
from harness.words import Dialect, Difficulty


def result(
    outcome: Outcome,
    difficulty: Difficulty = Difficulty.SIMPLE,
    predictor: str = "p",
    dialect: Dialect = Dialect.SQLITE,
) -> PairResult:
    return PairResult(
        dialect=dialect,
        predictor=predictor,
        question="1",
        question_id=1,
        db_id="d",
        difficulty=difficulty,
        outcome=outcome,
        scores={"ex": float(outcome is Outcome.MATCH)},
        gold_origin=GoldOrigin.DATASET,
        error={Outcome.PREDICTION_ERROR: "été \n", Outcome.GOLD_ERROR: "no such table"}.get(outcome),
    )


MIXED = [
    result(Outcome.MATCH),
    result(Outcome.MISMATCH),
    result(Outcome.MATCH, Difficulty.MODERATE),
    result(Outcome.GOLD_ERROR, Difficulty.MODERATE),
    result(Outcome.PREDICTION_ERROR, Difficulty.MODERATE),
]


def printed(results: Sequence[PairResult], width: int = 160, *, terminal: bool = False) -> str:
    console = Console(file=StringIO(), width=width, force_terminal=terminal, no_color=True)
    print_tables(summarize(results, ["ex"]), ["ex"], console)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert isinstance(text, str)
    return text


def test_official_figures_count_every_question_and_scored_ones_leave_out_what_is_nobodys_fault() -> None:
    (score,) = summarize(MIXED, ["ex"])
    assert score.metrics["ex"] == {
        "simple": 50.0,
        "moderate": pytest.approx(100 / 3),
        "challenging": None,
        "total": 40.0,
    }
    assert score.scored_metrics["ex"]["moderate"] == 50.0
    assert (score.questions, score.scored_questions) == (5, 4)
    counts = score.to_json()["outcomes"]
    assert list(counts) == list(Outcome)
    assert sum(counts.values()) == 5


def test_a_summary_has_one_entry_per_predictor_and_engine_in_a_fixed_order() -> None:
    results = [
        result(Outcome.MATCH, predictor=predictor, dialect=dialect)
        for dialect in (Dialect.POSTGRESQL, Dialect.SQLITE)
        for predictor in ("b", "a")
    ]
    keys = [(score.predictor, score.dialect) for score in summarize(results, ["ex"])]
    assert keys == [("a", "sqlite"), ("a", "postgresql"), ("b", "sqlite"), ("b", "postgresql")]


def test_the_table_shows_engines_side_by_side_and_below_each_other_on_a_narrow_terminal() -> None:
    both = [*MIXED, result(Outcome.MATCH, dialect=Dialect.MYSQL)]
    wide = printed(both)
    assert wide.count("EX (%)") == 1
    assert any("SQLite" in line and "MySQL" in line for line in wide.splitlines())
    narrow = printed(both, width=60, terminal=True)
    assert narrow.count("EX (%)") == 2
    assert "40.00" in narrow


def test_gold_that_failed_is_listed_and_the_figures_without_it_stand_beside_the_counts() -> None:
    lines = [line.split() for line in printed(MIXED).splitlines()]
    assert ["p", "SQLite", "2", "1", "1", "1", "50.00"] in lines
    assert ["1:", "no", "such", "table"] in lines
    assert "of scored" not in " ".join(printed(MIXED[:3]).split())


def test_a_run_folder_reads_back_as_it_was_written(tmp_path: Path) -> None:
    with RunFolder(tmp_path / "runs", {"set": "sample"}, ["ex"]) as folder:
        for one in MIXED:
            folder.add(one)
    assert not (folder.path / SUMMARY).exists(), "only a complete run has a summary"
    folder.finish()
    assert read_results(folder.path) == MIXED
    assert (tmp_path / "runs" / LATEST).resolve() == folder.path
    manifest = json.loads((folder.path / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["run_id"] == folder.run_id
    assert manifest["set"] == "sample"
    assert manifest["seconds"] >= 0


def test_a_folder_that_cannot_be_written_is_one_clear_error(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(BadInput, match="choose another with --out"):
        RunFolder(blocked, {}, ["ex"])
