"""What scripts and CI use of the command line: JSON, JUnit, thresholds, runs that their folder completes."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from dialects.enums import Dialect, Profile
from harness.cli.commands import resumed
from harness.runs.reader import LATEST, MANIFEST, RESULTS, SUMMARY
from harness.session.request import Request
from tests.harness.conftest import Call

EVAL = ("eval", "--dialect", "sqlite", "--limit", "4", "--no-report")


@pytest.mark.parametrize("driver", ["pytest", "direct"])
def test_json_is_the_summary_and_nothing_else_is_on_standard_output(call: Call, driver: str) -> None:
    code, output, errors = call(*EVAL, "--json", "--driver", driver)
    assert code == 0, errors
    found = json.loads(output)
    folder = Path(found.pop("folder"))
    assert found == json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
    assert "EX (%)" not in errors
    assert str(folder.name) in errors


@pytest.mark.parametrize(("percent", "expected"), [("ex=40", 0), ("60", 1)])
@pytest.mark.parametrize("driver", ["pytest", "direct"])
def test_a_total_below_what_is_asked_for_exits_with_1(
    call: Call, driver: str, percent: str, expected: int
) -> None:
    code, output, errors = call(*EVAL, "--fail-under", percent, "--driver", driver)
    assert code == expected, output + errors
    said = "--fail-under: EX of careless on sqlite is 50.00, below 60"
    assert (said in output + errors) is bool(expected)


def test_a_threshold_that_is_none_is_refused_before_anything_runs(call: Call) -> None:
    for text, says in (("soon", "PERCENT or METRIC=PERCENT"), ("r_ves=5", "or add it to --metrics")):
        code, _, errors = call(*EVAL, "--fail-under", text)
        assert (code, says in errors) == (2, True), errors


def test_junit_has_a_case_for_each_pair(call: Call) -> None:
    code, _, errors = call(*EVAL, "--junit", "pairs.xml")
    assert code == 0, errors
    cases = ET.parse("pairs.xml").findall(".//testcase")  # noqa: S314 - our own
    assert len(cases) == 8
    code, _, errors = call(*EVAL, "--junit", "pairs.xml", "--driver", "direct")
    assert (code, "leave out --driver direct" in errors) == (2, True)


def test_the_folder_of_a_run_alone_completes_it(call: Call) -> None:
    assert call(*EVAL, "--metrics", "ex")[0] == 0
    folder = Path("results", LATEST).resolve()
    complete = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
    (folder / SUMMARY).unlink()
    lines = (folder / RESULTS).read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / RESULTS).write_text("".join(lines[:3]), encoding="utf-8")
    code, output, errors = call("eval", "--resume", str(folder))
    assert code == 0, output + errors
    assert json.loads((folder / SUMMARY).read_text(encoding="utf-8")) == complete
    assert len(json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["resumed"]) == 1


def test_a_run_says_by_which_words_it_can_be_asked_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("answers").mkdir()
    request = Request(
        predictions=[Path("answers")], dialects=[Dialect.MYSQL, Dialect.SQLITE], profile=Profile.FAITHFUL,
        cache=False, allow_missing=True, seconds=2.5, keys=["1", "2"], out=Path("elsewhere"), sample=3,
    )  # fmt: skip
    assert request.command == [
        "bird-harness", "eval", f"--predictions={tmp_path}/answers", "--dialect=mysql,sqlite",
        "--allow-missing", "--profile=faithful", "--question=1", "--question=2", "--sample=3",
        "--timeout=2.5", "--no-cache",
    ]  # fmt: skip
    assert Request().command == ["bird-harness", "eval"]


def test_what_is_given_anew_takes_the_place_of_what_the_run_was_asked_for(tmp_path: Path) -> None:
    words = ["bird-harness", "eval", "--set=dev", "--question=1", "--question=2", "--no-cache", "--workers=2"]
    (tmp_path / MANIFEST).write_text(json.dumps({"command": words}), encoding="utf-8")
    known = {"--set", "--question", "--cache", "--no-cache", "--resume"}
    given = ["--resume", str(tmp_path), "--cache", "--question", "3"]
    assert resumed(given, known) == ["--set=dev", *given]
    assert resumed(["--limit", "3"], known) == ["--limit", "3"]
    (tmp_path / MANIFEST).write_text("{}", encoding="utf-8")
    assert resumed(given, known) == given
    assert resumed(["--resume"], known) == ["--resume"]


def test_what_reports_prints_json_to_standard_output_alone(call: Call) -> None:
    assert call(*EVAL, "--driver", "direct")[0] == 0
    folder = f"results/{LATEST}"
    for words, key in (
        (("report", folder, "--json"), "tables"),
        (("compare", f"{folder}:careless", f"{folder}:every-fifth-wrong", "--json"), "comparisons"),
        (("cache", "--json"), "file_bytes"),
        (("status", "--json"), "engines"),
        (("describe", "--json"), "sets"),
        (("compare", "--golds", folder, folder, "--json"), "tables"),
    ):
        code, output, errors = call(*words)
        assert code == 0, errors
        assert key in json.loads(output), words
    [listed] = json.loads(call("runs", "--json")[1])
    assert (listed["set_name"], listed["state"]) == ("sample", "complete, --limit 4")
    assert json.loads(call("runs", "--json", "--out", ".")[1]) == []
