"""`bird-harness runs` and `report`: every folder is listed, every format goes where it was asked for."""

import csv
import json
import re
import shutil
from collections.abc import Mapping
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from dialects.errors import BadInput
from harness.data.questions import Difficulty
from harness.data.set_manifest import PUBLISHED
from harness.report.console import loading_bar
from harness.report.documents import tables
from harness.report.files import ReportFormat, file_name, write_reports
from harness.report.run_list import print_runs, runs_in
from harness.runs.folder import RunFolder
from harness.runs.reader import LATEST, MANIFEST, QUESTIONS, RESULTS, SUMMARY, read_run
from harness.runs.summary import By
from loaders.base.files import one_line
from loaders.namespace import Database
from tests.harness.conftest import Call
from tests.harness.report.tables import HOSTILE, result, results, write_run
from tests.harness.report.tables import MANIFEST as ASKED

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


@pytest.mark.parametrize(
    ("asked", "by", "state"),
    [
        (3, "", "complete"),
        (66, "", "complete, --limit 3"),
        (66, "--question 1", "complete, 3 of 66 questions (--question 1)"),
        (4500, "--sample 3 --seed 0", "complete, 3 of 4,500 questions (--sample 3 --seed 0)"),
        (66, "--question 1 --question 2 --question 3", "complete, 3 of 66 questions (--question 1 ...)"),
        (66, f"--db {'d' * 99}", f"complete, 3 of 66 questions (--db {'d' * 25} ...)"),
    ],
)
def test_a_finished_run_says_which_questions_were_chosen(
    tmp_path: Path, asked: int, by: str, state: str
) -> None:
    scores = [{"predictor": "p", "dialect": "sqlite", "questions": 3}]
    planned = {"pairs": 3, "questions": 3, "set_questions": asked, "by": by, "scores": scores}
    write_run(tmp_path, results(["p"]), planned=planned)
    (listed,) = runs_in(tmp_path)
    assert listed.state == state


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
            (folder / SUMMARY).write_text('{"schema_version": 4, "scores": [1]}')
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
        run.parent, results(["p"]), engines={dialect: {} for dialect in PUBLISHED}, set="mini_dev"
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
    assert "has no runs" in call("runs", "--out", str(tmp_path))[2]
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
    assert {(row["by"], row["level"]) for row in rows} == {
        ("database", f"{name}{level}")
        for name in ("shop", "zoo")
        for level in ("", ", simple", ", moderate", ", challenging")
    }
    assert {row["engine"] for row in rows} == set(PUBLISHED)


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
        (["RUN", "--format", "html", "--by", "database"], "report.html has none to group"),
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


@pytest.mark.slow
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


def shown(text: str) -> str:
    """What has been on the terminal at any time."""
    return " ".join(text.split())


def test_all_databases_have_one_bar_with_the_time_that_is_left() -> None:
    file = StringIO()
    console = Console(file=file, force_terminal=True, width=100, height=50)
    first, second = (Database("c", name, Path()) for name in ("one", "two"))
    with loading_bar(console, 2) as bars:
        bars(first, 1, 4)
        bars._bar.refresh()
        assert "databases" in shown(file.getvalue())
        assert "loading one (official)" in shown(file.getvalue())
        bars(first, 4, 4)
        bars._bar.refresh()
        assert "50%" in shown(file.getvalue())
        bars(second, 4, 4)
        bars.count(1, 4)
        bars._bar.refresh()
        assert "golds" in shown(file.getvalue())
        assert "25%" in shown(file.getvalue())


def test_where_there_is_no_terminal_nothing_is_shown() -> None:
    file = StringIO()
    with loading_bar(Console(file=file), 2) as bars:
        bars(Database("c", "one", Path()), 1, 4)
        bars.count(1, 2)
    assert file.getvalue() == "" or not file.getvalue().strip()


KEPT = {"tables.md", "tables.csv", "tables.tex", "tables.json", "report.html"}
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
    assert {path.name for path in written} == KEPT
    before = {path.name: path.read_bytes() for path in written}
    moved = tmp_path / "elsewhere" / "renamed"
    shutil.copytree(folder, moved)
    shutil.rmtree(folder)
    for name in KEPT:
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
