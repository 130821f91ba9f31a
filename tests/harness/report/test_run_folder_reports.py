"""Reports of a run folder: the same figures as its summary, the same bytes again, wherever it stands."""

import csv
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from dialects.errors import BadInput
from harness.data.questions import Difficulty
from harness.report.documents import tables
from harness.report.writing import ReportFormat, file_name, write_reports
from harness.runs.groups import By
from harness.runs.reading import MANIFEST, QUESTIONS, RESULTS, SUMMARY, read_run
from loaders.base.files import one_line
from tests.harness.report.tables import HOSTILE, results, write_run

FILES = {"tables.md", "tables.csv", "tables.tex", "tables.json", "report.html"}
NAMES = ["b", *(name for name in HOSTILE if "\ud83d" not in name)]

Key = tuple[str, str, str, str, str]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_run(tmp_path / "runs", results(NAMES))


def expected(summary: Mapping[str, Any]) -> dict[Key, tuple[float | None, float | None, float | None]]:
    """What `summary.json` says, as the tables name it."""
    found: dict[Key, tuple[float | None, float | None, float | None]] = {}
    for score in summary["scores"]:
        who = score["predictor"], score["dialect"]
        for metric, levels in score["metrics"].items():
            for level, value in levels.items():
                low, high = score["intervals"][metric] if level == "total" else (None, None)
                found[*who, metric, "difficulty", level] = value, low, high
        for outcome, count in score["outcomes"].items():
            if count:
                found[*who, "pairs", "outcome", outcome] = count, None, None
    return found


def test_json_and_csv_read_back_have_every_figure_of_the_summary_to_the_last_digit(folder: Path) -> None:
    write_reports(folder)
    awaited = expected(json.loads((folder / SUMMARY).read_text(encoding="utf-8")))
    content = json.loads((folder / "tables.json").read_text(encoding="utf-8"))
    figures = [figure for table in content["tables"] for figure in table["figures"]]
    from_json = {
        tuple(f[name] for name in ("predictor", "engine", "metric", "by", "level")): (
            f["value"], f["low"], f["high"]
        )
        for f in figures
    }  # fmt: skip
    assert from_json == awaited
    assert len(figures) == len(from_json), "no figure is there twice"
    with (folder / "tables.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [
        tuple(None if row[name] == "" else float(row[name]) for name in ("value", "low", "high"))
        for row in rows
    ] == list(from_json.values())
    assert [row["predictor"].removeprefix("'") for row in rows] == [one_line(f["predictor"]) for f in figures]
    assert {row["questions"] for row in rows if row["level"] == "total"} == {"12"}
    assert {row["questions"] for row in rows if row["level"] == Difficulty.SIMPLE} == {"4"}


def test_reports_are_made_again_to_the_byte_from_a_folder_that_was_moved_and_nothing_else(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = write_reports(folder)
    assert {path.name for path in written} == FILES
    before = {path.name: path.read_bytes() for path in written}
    moved = tmp_path / "elsewhere" / "renamed"
    shutil.copytree(folder, moved)
    shutil.rmtree(folder)
    for name in FILES:
        (moved / name).unlink()
    monkeypatch.setenv("BIRD_HOME", str(tmp_path / "nothing"))
    monkeypatch.chdir(tmp_path / "elsewhere")
    again = {path.name: path.read_bytes() for path in write_reports(moved)}
    assert again == before
    assert not list(moved.glob(".*")), "nothing half-written is left"


def test_the_order_of_results_changes_no_report(tmp_path: Path) -> None:
    of = results(["p", "q"])
    folders = [write_run(tmp_path / name, each) for name, each in (("a", of), ("b", of[::-1]))]
    documents = [tables(read_run(folder)) for folder in folders]
    assert documents[0].grids == documents[1].grids


def test_the_facts_of_the_run_stand_above_the_tables(folder: Path) -> None:
    write_reports(folder)
    head = (folder / "tables.md").read_text(encoding="utf-8").splitlines()[:5]
    assert head == [
        f"# Run {folder.name}",
        "",
        "- sample: 12 questions, profile official, extract none, limit 30.0 s",
        "- Engines: sqlite 3.50 \\| \\_x\\_",
        "",
    ]


@pytest.mark.parametrize(
    ("name", "content", "fragment"),
    [
        (SUMMARY, None, "broken off"),
        (MANIFEST, None, "has no manifest.json"),
        (MANIFEST, "{}", "does not say which metrics"),
        (RESULTS, "", "is empty"),
        (QUESTIONS, None, "questions.jsonl"),
        (QUESTIONS, "{}\n", "line 1: has no key"),
    ],
)
def test_a_folder_that_is_no_finished_run_is_one_clear_error(
    folder: Path, name: str, content: str | None, fragment: str
) -> None:
    (folder / name).unlink()
    if content is not None:
        (folder / name).write_text(content, encoding="utf-8")
    with pytest.raises(BadInput, match=fragment):
        write_reports(folder)


def test_files_of_groupings_have_names_of_their_own() -> None:
    assert file_name(ReportFormat.MARKDOWN) == "tables.md"
    assert (
        file_name(ReportFormat.LATEX, [By.DATABASE, By.ERROR_CLASS])
        == "tables-by-database-by-error-class.tex"
    )
