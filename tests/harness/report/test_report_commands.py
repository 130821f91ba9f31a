"""`bird-harness runs` and `report`: every folder is listed, every format goes where it was asked for."""

import csv
import json
import re
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from dialects.enums import Dialect
from harness.report.listing import print_runs, runs_in
from harness.runs.folder import RunFolder
from harness.runs.reading import LATEST, MANIFEST, RESULTS, SUMMARY
from tests.harness.conftest import Call
from tests.harness.report.tables import MANIFEST as ASKED
from tests.harness.report.tables import result, results, write_run

FILES = ["report.html", "tables.csv", "tables.json", "tables.md", "tables.tex"]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return write_run(tmp_path / "results", results(["p", "q"]))


def test_a_run_is_listed_with_what_was_run_and_its_best_ex(run: Path, call: Call) -> None:
    code, output, _ = call("runs")
    assert code == 0
    row = " ".join(next(line for line in output.splitlines() if run.name in line).split())
    assert row.endswith("sample p SQLite complete 66.67")
    assert LATEST not in output


BROKEN = {
    "empty": "damaged: manifest.json: is empty",
    "cut off": "damaged: manifest.json: not valid JSON",
    "another shape": "damaged: manifest.json or summary.json is not as it was written",
    "an old one": "of version 1: run it again",
    "a summary cut off": "damaged: summary.json: not valid JSON",
    "a summary of another shape": "damaged: manifest.json or summary.json is not as it was written",
    "no manifest": "damaged: has no manifest.json",
    "binary": "damaged: manifest.json: byte 0xff in line 1 is not UTF-8",
}


def break_(folder: Path, how: str) -> None:
    match how:
        case "empty":
            (folder / MANIFEST).write_text("")
        case "cut off":
            (folder / MANIFEST).write_text('{"run_id": ')
        case "another shape":
            (folder / MANIFEST).write_text('{"engines": ["oracle"], "predictions": 7}')
        case "an old one":
            (folder / SUMMARY).write_text('{"schema_version": 1}')
        case "a summary cut off":
            (folder / SUMMARY).write_text("{")
        case "a summary of another shape":
            (folder / SUMMARY).write_text('{"schema_version": 3, "scores": [1]}')
        case "no manifest":
            (folder / MANIFEST).unlink()
        case _:
            (folder / MANIFEST).write_bytes(b"\xff")


@pytest.mark.parametrize("how", list(BROKEN))
def test_a_broken_folder_is_a_row_that_says_so_beside_the_others(run: Path, call: Call, how: str) -> None:
    broken = write_run(run.parent, results(["p"]))
    break_(broken, how)
    code, output, errors = call("runs", "--out", str(run.parent))
    assert code == 0, errors
    assert "66.67" in output
    states = {listed.run_id: listed.state for listed in runs_in(run.parent)}
    assert states[run.name] == "complete"
    assert BROKEN[how] in states[broken.name].replace(f"{broken}: ", "")


def test_a_run_that_was_broken_off_says_how_far_it_came(tmp_path: Path, call: Call) -> None:
    with RunFolder(tmp_path / "results", ASKED, ["ex"]) as folder:
        folder.add(result(1, ex=1.0))
    (tmp_path / "results" / "coverage-1").mkdir()
    (tmp_path / "results" / "note.txt").write_text("")
    (listed,) = runs_in(tmp_path / "results")
    assert (listed.state, listed.best) == ("broken off after 1 pair; --resume completes it", None)
    assert call("report", str(folder.path))[0] == 2


def test_the_newest_run_comes_first(tmp_path: Path) -> None:
    folders = [write_run(tmp_path, results(["p"])) for _ in range(2)]
    for folder, started in zip(
        folders, ("2026-01-02T00:00:00+00:00", "2026-01-03T00:00:00+00:00"), strict=True
    ):
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        (folder / MANIFEST).write_text(json.dumps(manifest | {"started": started}), encoding="utf-8")
    assert [listed.run_id for listed in runs_in(tmp_path)] == [folder.name for folder in folders[::-1]]


def test_the_list_fits_into_80_columns_and_no_word_of_ours_is_cut(run: Path) -> None:
    broken = write_run(
        run.parent, results(["p"]), engines={dialect: {} for dialect in Dialect}, set="mini_dev"
    )
    (broken / SUMMARY).unlink()
    output = StringIO()
    print_runs(runs_in(run.parent), Console(file=output, width=80, force_terminal=True, no_color=True))
    text = re.sub(r"\x1b\[[\d;]*m", "", output.getvalue())
    assert max(map(len, text.splitlines())) <= 80
    words = text.replace(",", "").split()
    awaited = [
        run.name,
        "predictors",
        "SQLite",
        "MySQL",
        "PostgreSQL",
        "mini_dev",
        "complete",
        "--resume",
        "66.67",
    ]
    assert [word for word in awaited if word not in words] == []


def test_a_folder_without_runs_is_said_and_none_at_all_is_an_error(tmp_path: Path, call: Call) -> None:
    assert "there are no runs" in call("runs", "--out", str(tmp_path))[2]
    code, _, errors = call("runs", "--out", "nowhere")
    assert (code, len(errors.splitlines())) == (2, 1)


def test_report_alone_prints_the_tables_and_writes_every_file_anew(run: Path, call: Call) -> None:
    code, output, errors = call("report", str(run))
    assert code == 0, errors
    assert output.startswith("EX (%)")
    assert "Outcomes (pairs)" in output
    assert sorted(path.name for path in run.iterdir() if path.name in FILES) == FILES
    before = {name: (run / name).read_bytes() for name in FILES}
    for name in FILES:
        (run / name).write_text("old")
    call("report", str(run.parent / LATEST))
    assert {name: (run / name).read_bytes() for name in FILES} == before


@pytest.mark.parametrize(
    ("form", "beginning"),
    [
        ("console", "EX (%)\n"),
        ("markdown", "# Run "),
        ("csv", "predictor,engine,"),
        ("latex", "% Run "),
        ("json", "{\n"),
    ],
)
def test_a_format_goes_to_standard_output_or_to_a_file(
    run: Path, call: Call, tmp_path: Path, form: str, beginning: str
) -> None:
    code, output, errors = call("report", str(run), "--format", form)
    assert (code, errors) == (0, "")
    assert output.splitlines()[0].rstrip().startswith(beginning.rstrip())
    assert not (run / "tables.md").exists(), "nothing else is written"
    assert call("report", str(run), "--format", form, "--out", "file")[0] == 0
    written = (tmp_path / "file").read_bytes().decode()
    assert [line.rstrip() for line in written.splitlines()] == [line.rstrip() for line in output.splitlines()]


def test_html_goes_into_the_run_folder_or_to_a_file(run: Path, call: Call, tmp_path: Path) -> None:
    assert call("report", str(run), "--format", "html")[0] == 0
    assert call("report", str(run), "--format", "html", "--out", "page.html")[0] == 0
    assert (tmp_path / "page.html").read_bytes() == (run / "report.html").read_bytes()


def test_a_folder_gets_every_file_with_its_name(run: Path, call: Call, tmp_path: Path) -> None:
    (tmp_path / "to").mkdir()
    assert call("report", str(run), "--out", "to")[0] == 0
    assert sorted(path.name for path in (tmp_path / "to").iterdir()) == FILES
    assert call("report", str(run), "--by", "database", "--format", "csv", "--out", "to")[0] == 0
    with (tmp_path / "to" / "tables-by-database.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {(row["by"], row["level"]) for row in rows} == {("database", "shop"), ("database", "zoo")}
    assert {row["engine"] for row in rows} == set(Dialect)


def test_groupings_come_instead_of_the_other_tables(run: Path, call: Call) -> None:
    code, output, _ = call("report", str(run), "--by", "outcome", "--by", "error-class", "--format", "csv")
    assert code == 0
    assert {row["by"] for row in csv.DictReader(StringIO(output))} == {"outcome", "error_class"}
    code, output, _ = call("report", str(run), "--by", "database")
    assert "EX by database (%)" in output
    assert "Outcomes" not in output
    assert not (run / "tables.md").exists(), "the files have no groupings"


@pytest.mark.parametrize(
    ("args", "fragment"),
    [
        (["nowhere"], "has no manifest.json"),
        (["RUN", "--format", "pdf"], "pdf"),
        (["RUN", "--by", "moon"], "moon"),
        (["RUN", "--format", "html", "--by", "database"], "report.html is none"),
        (["RUN", "--format", "csv", "--format", "latex", "--out", "nowhere"], "there are 2 files to write"),
        (["RUN", "--format", "csv", "--out", "no/where.csv"], "cannot be written"),
        (["RUN", "--format", "html", "--out", "no/where.html"], "cannot be written"),
    ],
)
def test_bad_usage_is_one_clear_error(run: Path, call: Call, args: list[str], fragment: str) -> None:
    code, _, errors = call("report", *(str(run) if arg == "RUN" else arg for arg in args))
    assert code == 2
    assert fragment in errors
    assert "Traceback" not in errors


@pytest.mark.parametrize(("option", "expected"), [("--report", FILES), ("--no-report", [])])
def test_an_evaluation_writes_reports_into_its_folder_unless_told_not_to(
    call: Call, tmp_path: Path, option: str, expected: list[str]
) -> None:
    args = ["--dialect", "sqlite", "--limit", "3", "--workers", "1", "--driver", "direct", option]
    code, _, errors = call("eval", *args)
    assert code == 0, errors
    folder = tmp_path / "results" / LATEST
    assert sorted(path.name for path in folder.iterdir() if path.name in FILES) == expected
    if expected:
        assert "careless" in (folder / "tables.md").read_text(encoding="utf-8")


def test_a_damaged_results_file_is_one_clear_error(run: Path, call: Call) -> None:
    (run / RESULTS).write_text("{}\n")
    code, _, errors = call("report", str(run))
    assert (code, len(errors.strip().splitlines())) == (2, 1)


@pytest.mark.parametrize("columns", [60, 80, 100, 150])
def test_columns_are_obeyed_in_a_pipe_and_no_line_ends_with_a_blank(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    run = write_run(
        tmp_path / "runs", results(["a-model-with-a-long-name", "b"]), left_out=["x: " + "long words " * 30]
    )
    monkeypatch.setenv("COLUMNS", str(columns))
    for command in (("report", str(run)), ("report", str(run), "--by", "outcome"), ("runs", "--out", "runs")):
        code, output, _ = call(*command)
        assert code == 0
        lines = output.splitlines()
        assert [line for line in lines if line != line.rstrip()] == []
        assert max(map(len, lines)) <= columns
    code, output, _ = call("report", str(run), "--format", "console", "--out", "tables.txt")
    narrow = (tmp_path / "tables.txt").read_text(encoding="utf-8")
    monkeypatch.delenv("COLUMNS")
    call("report", str(run), "--format", "console", "--out", "tables.txt")
    assert (tmp_path / "tables.txt").read_text(encoding="utf-8") == narrow, "files are no terminals"
