"""A run of a part of its pairs says so wherever its figures stand, whatever left the others out."""

import csv
import json
from pathlib import Path

import pytest

from harness.runs.reader import LATEST, SUMMARY
from tests.harness.conftest import Call
from tests.harness.pytest_plugin.running import item, run, score, summary

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

SOME = ("--bird-limit", "12")
OF_SET = "The first 12 of 66 questions: a selection by --limit, not the set."
Selection = tuple[Path, str]
FORMS = ("tables.md", "tables.tex", "tables.json")


def _plain(text: str) -> str:
    """A text without what Markdown, LaTeX and JSON write for the same characters."""
    for written, meant in (("{-}", "-"), ("\\textquotesingle{}", "'"), ("\\_", "_"), ("\\", "")):
        text = text.replace(written, meant)
    return text


@pytest.fixture(scope="module")
def selection(tmp_path_factory: pytest.TempPathFactory) -> Selection:
    """A run of 5 of its 24 pairs, and what it printed."""
    cwd = tmp_path_factory.mktemp("selection")
    done = score(*SOME, "-k", "careless and simple", cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr
    return cwd / "results", done.stdout


def test_a_selection_is_said_in_every_form_of_the_tables(selection: Selection) -> None:
    out, printed = selection
    said = (
        "5 of 24 pairs: a selection by -k 'careless and simple', not the set.",
        "Not scored at all: every-fifth-wrong on SQLite (0 of 12).",
        OF_SET,
    )
    folder = out / LATEST
    tables = printed.count("(%)") + printed.count("(pairs")
    for line in said:
        assert printed.count(line) == tables == 4, "below each table"
        for name in FORMS:
            assert _plain((folder / name).read_text(encoding="utf-8")).count(line) >= tables, name
    with (folder / "tables.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {(row["predictor"], row["planned"], row["completed"]) for row in rows} == {
        ("careless", "12", "5"),
        ("every-fifth-wrong", "12", "0"),
    }


def test_the_summary_counts_what_was_planned_and_names_who_was_not_scored(selection: Selection) -> None:
    found = json.loads(summary(selection[0]))
    assert found["pairs"] == {"planned": 24, "completed": 5}
    assert (found["questions"], found["set_questions"]) == (12, 66)
    assert found["chosen"] == ["-k 'careless and simple'"]
    assert [(one["predictor"], one["planned"], one["questions"]) for one in found["scores"]] == [
        ("careless", 12, 5),
        ("every-fifth-wrong", 12, 0),
    ]


def test_runs_and_compare_say_it(selection: Selection, call: Call) -> None:
    out, _ = selection
    code, output, _ = call("runs", "--out", str(out))
    row = " ".join(output.split())
    assert code == 0
    assert "5 of 24 pairs: -k 'careless and simple'" in row
    assert "careless, every-fifth-wrong (0 of 12)" in row
    assert "complete " not in row
    folder = str(out / LATEST)
    code, output, _ = call("compare", folder, folder)
    assert code == 0
    for side in ("A", "B"):
        assert f"note: {side}: 5 of 24 pairs: a selection by -k 'careless and simple'" in output


def test_a_run_of_every_pair_of_its_questions_is_complete_and_says_its_limit(
    tmp_path: Path, call: Call
) -> None:
    done = score(*SOME, cwd=tmp_path)
    assert OF_SET in done.stdout
    assert "pairs: a selection" not in done.stdout
    assert "complete, --limit 12" in " ".join(call("runs", "--out", str(tmp_path / "results"))[1].split())


ITS = "a plugin or conftest.py"
DROPS = {
    "drops": "def pytest_collection_modifyitems(items):\n    items[:] = items[::2]\n",
    "deselects": (
        "def pytest_collection_modifyitems(config, items):\n"
        "    config.hook.pytest_deselected(items=items[1::2])\n"
        "    items[:] = items[::2]\n"
    ),
}


@pytest.mark.parametrize(
    ("conftest", "options", "completed", "ways"),
    [
        ("", [item("2"), item("3", "every-fifth-wrong")], 2, "node ids"),
        ("", ["--deselect", item("5"), "-k", "careless"], 11, "-k careless and --deselect"),
        ("", ["-k", "simple and not every", "-n", "2"], 5, "-k 'simple and not every'"),
        (DROPS["drops"], [], 12, ITS),
        (DROPS["deselects"], ["-n", "2"], 12, ITS),
        (
            "import pytest\n\n@pytest.hookimpl(trylast=True)\n" + DROPS["drops"],
            ["-k", "careless"],
            6,
            f"-k careless and {ITS}",
        ),
    ],
)
def test_what_chose_is_named(
    conftest: str, options: list[str], completed: int, ways: str, tmp_path: Path
) -> None:
    (tmp_path / "conftest.py").write_text(conftest)
    done = score(*SOME, *options, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{completed} of 24 pairs: a selection by {ways}, not the set." in done.stdout
    assert json.loads(summary(tmp_path / "results"))["pairs"] == {"planned": 24, "completed": completed}


@pytest.mark.parametrize("parallel", [(), ("-n", "2")], ids=["alone", "xdist"])
def test_where_nothing_is_chosen_that_is_said_and_no_run_is_written(
    parallel: tuple[str, ...], tmp_path: Path
) -> None:
    done = score(*SOME, *parallel, "-k", "nothing_is_called_so", cwd=tmp_path)
    assert done.returncode == pytest.ExitCode.NO_TESTS_COLLECTED, done.stdout
    assert "nothing is scored: 0 of 24 pairs were selected" in done.stdout
    assert not list(tmp_path.glob("results/*"))


def test_a_selection_is_the_same_to_the_byte_under_xdist(tmp_path: Path) -> None:
    for out, parallel in (("alone", []), ("xdist", ["-n", "2"])):
        score(*SOME, "-k", "challenging", "--bird-out", out, *parallel, cwd=tmp_path)
    assert summary(tmp_path / "alone") == summary(tmp_path / "xdist")


def test_a_selection_is_completed_by_resuming_it_and_then_says_nothing_of_it(tmp_path: Path) -> None:
    score(*SOME, "--bird-out", "whole", cwd=tmp_path)
    score(*SOME, "-k", "careless", cwd=tmp_path)
    folder = (tmp_path / "results" / LATEST).resolve()
    more = score(*SOME, "-k", "simple", "--bird-resume", str(folder), cwd=tmp_path)
    assert "a selection by -k careless and -k simple, not the set" in more.stdout
    rest = score(*SOME, "--bird-resume", str(folder), cwd=tmp_path)
    assert "pairs: a selection" not in rest.stdout
    assert summary(tmp_path / "results") == summary(tmp_path / "whole")


def test_an_item_that_a_plugin_repeats_is_one_pair_also_in_a_run_that_is_broken_off(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(
        "def pytest_collection_modifyitems(items):\n    items[:] = [one for one in items for _ in range(2)]\n"
    )
    # What a store knows would be judged before the first item ends.
    stopped = score(*SOME, "--bird-no-cache", "-x", "--bird-fail-on", "mismatch", cwd=tmp_path)
    (folder,) = (path for path in (tmp_path / "results").iterdir() if not path.is_symlink())
    assert not (folder / SUMMARY).exists(), stopped.stdout
    (tmp_path / "conftest.py").unlink()
    done = score(*SOME, "--bird-resume", str(folder), cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(summary(tmp_path / "results"))["pairs"] == {"planned": 24, "completed": 24}


def test_looking_at_items_says_nothing_of_scores(tmp_path: Path) -> None:
    done = score(*SOME, "--collect-only", "-q", "-k", "careless", cwd=tmp_path)
    assert "pairs" not in done.stdout
    assert run("--version", cwd=tmp_path).returncode == 0
