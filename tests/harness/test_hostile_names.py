"""Names, texts and paths that mean harm, through the command line and pytest: nothing of them is obeyed."""

import csv
import json
import os
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from loaders.sample import PREDICTIONS
from tests import forked
from tests.harness.conftest import Call

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

ANSWERS = "predict_sample_careless_sqlite.json"

NO_NAMES = {
    "escape": "a\x1b[31mred",
    "bell": "a\x07b",
    "newline": "a\nb",
    "return": "a\rb",
    "tab": "a\tb",
    "C1": "a\x9b31mb",
    "override": "a\u202eb",
    "isolate": "a\u2066b",
    "line": "a\u2028b",
    "no character": "a\ufffeb",
    "half": "a\udcffb",
    "blank": " a",
    "wide blank": "a\u3000",
}
STRANGE = (
    "=1+1",
    "+1",
    "-2",
    "@SUM(1)",
    "a;=1",
    "<b>&\"'",
    "a|b",
    "[red]x",
    "\\input{x}",
    "模型 😀",
    "'q",
)


def answers(folder: Path, predictor: str, sql: str | None = None) -> Path:
    """The sample's careless answers as another predictor's; with `sql`, that is every answer."""
    path = folder / f"predict_sample_{predictor}_sqlite.json"
    content = json.loads((PREDICTIONS / ANSWERS).read_text(encoding="utf-8"))
    if sql is not None:
        content = {key: f"{sql}\t----- bird -----\t{text.split(chr(9))[-1]}" for key, text in content.items()}
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def harmless(text: str) -> bool:
    return all(each.isprintable() or each == "\n" for each in text)


@pytest.mark.parametrize("name", NO_NAMES.values(), ids=NO_NAMES)
def test_a_file_whose_name_calls_the_predictor_so_is_one_clear_line(
    call: Call, tmp_path: Path, name: str
) -> None:
    path = answers(tmp_path, name)
    code, printed, errors = call("eval", "--predictions", str(path), "--dialect", "sqlite")
    assert (code, printed) == (2, "")
    assert len(errors.splitlines()) == 1
    assert "is not a valid name" in errors
    assert "--predictor" in errors
    assert harmless(errors)
    if name.isprintable():
        return
    out = ("--limit", "2", "--driver", "direct", "--out", str(tmp_path / f"out{name}"))
    code, printed, errors = call(
        "eval", "--predictions", str(path), "--dialect", "sqlite", "--predictor", "p", *out
    )
    assert code == 0, errors
    assert harmless(printed + errors)


def test_names_that_print_stand_in_every_file_without_being_anything_else(call: Call, tmp_path: Path) -> None:
    folder = tmp_path / "answers"
    folder.mkdir()
    for name in STRANGE:
        answers(folder, name)
    code, printed, errors = call(
        "eval", "--predictions", str(folder), "--dialect", "sqlite", "--limit", "3", "--driver", "direct"
    )
    assert code == 0, errors
    assert [name for name in STRANGE if name not in printed] == []
    run = tmp_path / "results" / "latest"
    with (run / "tables.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["predictor"].removeprefix("'") for row in rows} == set(STRANGE)
    assert not [row for row in rows if row["predictor"].startswith(("=", "+", "-", "@"))]
    for kind in ("console", "markdown", "csv", "latex", "json"):
        code, printed, _ = call("report", str(run), "--format", kind)
        assert code == 0
        assert harmless(printed)
    code, printed, errors = call("compare", f"{run}:sqlite/=1+1", f"{run}:sqlite/@SUM(1)")
    assert code == 0, errors


SQL = "SELECT '\x1b[31m\x07 \x9b1m \u202e \u2028 \ufffe \uffff \x0b </failure> ]]> & \x00'"


@pytest.mark.parametrize("parallel", [(), ("-n", "1")], ids=["alone", "xdist"])
@pytest.mark.parametrize("family", ["xunit1", "xunit2"])
def test_what_pytest_prints_and_files_is_harmless_whatever_is_predicted(
    tmp_path: Path, parallel: tuple[str, ...], family: str
) -> None:
    folder = tmp_path / "ans\x1b[31m\u202e\ufffe\nwers"
    folder.mkdir()
    answers(folder, "p", SQL)
    environment = forked.environment_without("PYTEST_")
    junit = tmp_path / "junit.xml"
    done = forked.run(
        "pytest", "-c", os.devnull, "--rootdir", str(tmp_path), "-vv", "-rA",
        "-p", "no:cacheprovider", *parallel,
        "--bird-predictions", str(folder), "--bird-dialect", "sqlite", "--bird-limit", "2",
        "--bird-fail-on", "mismatch,prediction_error", "--bird-out", str(tmp_path / "out"),
        "--junitxml", str(junit), "-o", f"junit_family={family}",
        cwd=tmp_path, env=environment,
    )  # fmt: skip
    printed = done.stdout
    assert done.returncode == 1, printed + done.stderr
    assert harmless(printed), [line for line in printed.splitlines() if not line.isprintable()]
    cases = ET.parse(junit).getroot().findall(".//testcase")  # noqa: S314 - our own file
    assert len(cases) == 2
    assert all(case.find("failure") is not None for case in cases)
    filed = junit.read_text(encoding="utf-8")
    assert not [each for each in filed if not each.isprintable() and each != "\n"]
