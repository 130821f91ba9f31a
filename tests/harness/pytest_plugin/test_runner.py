"""The same run by pytest items and directly, on the sample and SQLite."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import harness
from harness.data.outcomes import Outcome
from harness.runs.reader import LATEST, read_results
from tests import forked

pytestmark = pytest.mark.slow


def run(*args: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
    return forked.run(*args, cwd=cwd, env=forked.environment_without("PYTEST_"))


def summary(out: Path) -> Mapping[str, Any]:
    content = json.loads((out / LATEST / "summary.json").read_text(encoding="utf-8"))
    assert isinstance(content, dict)
    return content


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which `bird-harness eval` scored the sample on SQLite, through pytest."""
    cwd = tmp_path_factory.mktemp("evaluated")
    # The folder's own pytest configuration must not matter to an evaluation.
    (cwd / "pytest.ini").write_text("[pytest]\naddopts = --nonsense\n")
    done = run("harness", "eval", "--dialect", "sqlite", cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "EX (%)" in done.stdout
    assert "every-fifth-wrong" in done.stdout
    return cwd


def test_every_pair_has_one_outcome_and_mismatches_fail_nothing(evaluated: Path) -> None:
    results = read_results(evaluated / "results" / LATEST)
    pairs = {(result.predictor, result.question) for result in results}
    assert len(pairs) == len(results) > 120
    outcomes = {result.outcome for result in results}
    assert {Outcome.MATCH, Outcome.MISMATCH, Outcome.PREDICTION_ERROR} <= outcomes
    assert Outcome.HARNESS_ERROR not in outcomes


def test_pytest_and_the_direct_driver_time_the_same_pairs(tmp_path: Path) -> None:
    timed = ["--dialect", "sqlite", "--limit", "6", "--metrics", "ex,r_ves_stable"]
    for driver in ("pytest", "direct"):
        done = run("harness", "eval", *timed, "--driver", driver, "--out", driver, cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "R-VES stable (%)" in done.stdout
    timings = [
        {(result.predictor, result.question): set(result.timings) for result in read_results(folder / LATEST)}
        for folder in (tmp_path / "pytest", tmp_path / "direct")
    ]
    assert timings[0] == timings[1]
    assert set(map(tuple, timings[0].values())) == {("stable",), ()}


BREAK_AND_RUN = """
import sys
from harness.pytest_plugin.pairs import run_with_pytest
from harness.session.plan import prepare
from harness.session.request import Request
from harness.session.evaluation import run_directly
from dialects.enums import Dialect
from rich.console import Console

plan = prepare(Request(dialects=[Dialect.SQLITE]), say=print)
plan.questions.database("city_library").sqlite_path.unlink()
sys.exit(run_with_pytest(plan) if sys.argv[1] == "pytest" else run_directly(plan, Console()))
"""


@pytest.mark.parametrize("driver", ["pytest", "direct"])
def test_an_engine_that_breaks_in_mid_run_exits_with_3(
    driver: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BIRD_CACHE", str(tmp_path / "cache"))
    script = tmp_path / "break_and_run.py"
    script.write_text(BREAK_AND_RUN)
    done = subprocess.run(  # noqa: PLW1510 - the exit code is what is tested
        [sys.executable, script, driver], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 3, done.stdout + done.stderr
    outcomes = [result.outcome for result in read_results(tmp_path / "results" / LATEST)]
    assert 0 < outcomes.count(Outcome.HARNESS_ERROR) < len(outcomes), "the rest is kept"
    assert "Traceback" not in done.stdout


def test_the_library_calls_of_the_docstring_work(tmp_path: Path) -> None:
    lines = (harness.__doc__ or "").split("from Python")[1].splitlines()
    code = "\n".join(line.removeprefix("    ") for line in lines if line.startswith("    ") or not line)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "mismatch 0.0" in done.stdout
    assert "every-fifth-wrong sqlite 80.3" in done.stdout


DROPS = "def pytest_collection_modifyitems(items):\n    items[:] = items[::2]\n"


def _installed(folder: Path) -> Path:
    """A folder with a plugin as `pip` would have installed it, which pytest loads unasked."""
    about = folder / "dropper-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: dropper\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[pytest11]\ndropper = dropper\n")
    (folder / "dropper.py").write_text(DROPS)
    return folder


@pytest.mark.parametrize("how", ["installed", "PYTEST_PLUGINS", "PYTEST_ADDOPTS", "conftest", "pyproject"])
def test_no_foreign_plugin_or_setting_has_a_part_in_eval(how: str, tmp_path: Path) -> None:
    installed = _installed(tmp_path / "installed")
    here = tmp_path / "here"
    here.mkdir()
    added: dict[str, str] = {}
    match how:
        case "installed":
            added = {"PYTHONPATH": str(installed)}
        case "PYTEST_PLUGINS":
            (here / "another.py").write_text(DROPS)
            added = {"PYTHONPATH": str(here), "PYTEST_PLUGINS": "another"}
        case "PYTEST_ADDOPTS":
            added = {"PYTEST_ADDOPTS": "-k challenging -x"}
        case "conftest":
            for folder in (here, tmp_path):
                (folder / "conftest.py").write_text(DROPS)
            added = {"TMPDIR": str(here)}
        case _:
            (here / "pyproject.toml").write_text('[tool.pytest.ini_options]\naddopts = "-k challenging"\n')
    command = ["harness", "eval", "--dialect", "sqlite", "--limit", "6"]
    done = forked.run(*command, cwd=here, env=forked.environment_without("PYTEST_") | added)
    assert done.returncode == 0, done.stdout + done.stderr
    assert summary(here / "results")["pairs"] == {"planned": 12, "completed": 12}
    assert "deselected" not in done.stdout


def test_what_the_environment_says_to_pytest_is_there_again_after_an_evaluation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_PLUGINS", "nothing_is_called_so")
    monkeypatch.setenv("PYTEST_ADDOPTS", "--nonsense")
    before = {name: value for name, value in os.environ.items() if name.startswith("PYTEST_")}
    script = (
        "import os\n"
        "from harness.pytest_plugin.pairs import run_with_pytest\n"
        "from harness.session.plan import prepare\n"
        "from harness.session.request import Request\n"
        "from dialects.enums import Dialect\n"
        "code = run_with_pytest(prepare(Request(dialects=[Dialect.SQLITE], limit=2), say=print))\n"
        "print(code, *sorted(name for name in os.environ if name.startswith('PYTEST_')))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.stdout.splitlines()[-1].split() == ["0", *sorted(before)], done.stderr
