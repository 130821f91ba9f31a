"""pytest's own ways to choose and to stop work on pairs, and node ids are what editors need."""

import re
from pathlib import Path

import pytest

from tests.harness.pytest_plugin.running import counts, item, listed, outcomes, predictions, run, score

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

SOME = ("--bird-limit", "4")


def test_node_ids_are_the_same_in_every_run_and_below_real_files(tmp_path: Path) -> None:
    first = listed(score(*SOME, "--collect-only", "-q", cwd=tmp_path))
    assert first == [item(key, name) for name in ("careless", "every-fifth-wrong") for key in "1234"]
    assert all((tmp_path / name.split("::")[0]).is_file() for name in first)
    assert listed(score(*SOME, "--collect-only", "-q", cwd=tmp_path)) == first
    assert not list(tmp_path.glob("results/*")), "looking is no run"


@pytest.mark.parametrize(
    ("options", "chosen"),
    [
        ([item("2"), item("3", "every-fifth-wrong")], {("careless", "2"), ("every-fifth-wrong", "3")}),
        (["answers/predict_sample_careless_sqlite.json"], {("careless", key) for key in "1234"}),
        ([item("1").rpartition("::")[0]], {("careless", key) for key in "1234"}),
        (["-k", "careless and challenging"], {("careless", "4")}),
        (["-k", "city_library and not careless", "--deselect", item("1", "every-fifth-wrong")],
         {("every-fifth-wrong", key) for key in "234"}),
        (["-k", "careless", "-n", "2"], {("careless", key) for key in "1234"}),
    ],
)  # fmt: skip
def test_items_are_chosen_by_node_ids_as_editors_do_and_by_what_they_are_about(
    options: list[str], chosen: set[tuple[str, str]], tmp_path: Path
) -> None:
    done = score(*SOME, *options, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert outcomes(tmp_path / "results").keys() == chosen


def test_a_node_id_that_names_nothing_is_refused(tmp_path: Path) -> None:
    done = score(*SOME, item("99"), cwd=tmp_path)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert f"not found: {item('99')}" in done.stderr


def test_x_stops_at_the_first_failure_and_the_run_can_be_completed(tmp_path: Path) -> None:
    stopped = score(*SOME, "-x", "--bird-fail-on", "mismatch", cwd=tmp_path)
    assert stopped.returncode == pytest.ExitCode.TESTS_FAILED
    assert counts(stopped) == {"match": 1, "failed": 1}
    (folder,) = re.findall(r"--bird-resume (\S+)", stopped.stdout)
    assert not (tmp_path / folder / "summary.json").exists()
    # What was judged ahead of its turn is there, too.
    lines = (tmp_path / folder / "results.jsonl").read_text(encoding="utf-8").splitlines()
    there = sum('"harness_error"' not in line for line in lines)  # what was stopped is done again
    assert there >= 2
    completed = score(*SOME, "--bird-resume", folder, cwd=tmp_path)
    assert completed.returncode == 0, completed.stdout + completed.stderr
    assert sum(counts(completed).values()) == 8 - there, "what was done is not done again"
    assert len(outcomes(tmp_path / "results")) == 8


def test_lf_runs_what_failed_last_time(tmp_path: Path) -> None:
    failing = (*SOME, "--bird-fail-on", "mismatch", "-k", "careless")
    assert counts(score(*failing, cwd=tmp_path)) == {"match": 2, "failed": 2, "deselected": 4}
    again = score(*failing[:-2], "--lf", cwd=tmp_path)
    assert counts(again) == {"failed": 2, "deselected": 6}
    assert "2 of 8 pairs: a selection by --lf, not the set." in again.stdout


def test_durations_names_the_pairs_that_took_longest(tmp_path: Path) -> None:
    done = score(*SOME, "--durations", "2", "--durations-min", "0", cwd=tmp_path)
    shown = done.stdout.partition("slowest 2 durations")[2]
    assert len(re.findall(r"s call +answers/\S+::\S+::\d", shown)) == 2, done.stdout


def test_without_a_test_file_on_the_command_line_only_pairs_are_run(tmp_path: Path) -> None:
    (tmp_path / "test_own.py").write_text("def test_own():\n    assert False\n")
    assert counts(score(*SOME, "-k", "careless", cwd=tmp_path)) == {
        "match": 2,
        "mismatch": 2,
        "deselected": 4,
    }
    both = score(*SOME, "-k", "careless or own", "test_own.py", cwd=tmp_path)
    assert counts(both) == {"match": 2, "mismatch": 2, "failed": 1, "deselected": 4}
    assert both.returncode == pytest.ExitCode.TESTS_FAILED


def test_a_predictor_in_several_files_and_files_of_several_predictors_have_their_own_ids(
    tmp_path: Path,
) -> None:
    lines = [
        f'{{"question_id": {key}, "predictor": "{name}", "dialect": "sqlite", "sql": "SELECT {key}"}}'
        for name in ("one", "two")
        for key in range(1, 67)
    ]
    (tmp_path / "both.jsonl").write_text("\n".join(lines) + "\n")
    options = ["--bird-predictions", "both.jsonl", "--bird-dialect", "sqlite", "--bird-limit", "1"]
    done = run(*options, "--collect-only", "-q", cwd=tmp_path)
    assert listed(done) == ["both.jsonl::sqlite/one::1", "both.jsonl::sqlite/two::1"], (
        done.stdout + done.stderr
    )


def test_files_outside_pytests_root_have_absolute_ids(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    copied = predictions(tmp_path)
    options = ["--bird-predictions", str(copied), "--bird-dialect", "sqlite", "--bird-limit", "1"]
    done = run(*options, "--collect-only", "-q", cwd=elsewhere)
    assert listed(done)[0] == f"{tmp_path.as_posix()}/{item('1')}"
