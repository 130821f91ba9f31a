"""The analysis of docs/how-to/extend.md runs on the sample, goes on, and is found in a package."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.blocks import ROOT, blocks

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

PAGE = ROOT / "docs" / "how-to" / "extend.md"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with the module, which is installed there by its entry point, too."""
    titled = {block.title: block for block in blocks(PAGE)}
    module, points = titled["empty_golds.py"], titled["pyproject.toml"]
    assert module.title
    assert module.text.count("\n") <= 80
    (tmp_path / module.title).write_text(module.text, encoding="utf-8")
    information = tmp_path / "empty_golds-1.0.dist-info"
    information.mkdir()
    name, _, value = points.text.splitlines()[1].partition(" = ")
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: empty_golds\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(
        f"[bird_harness.analyses]\n{name} = {value.strip(chr(34))}\n"
    )
    return tmp_path


def called(place: Path, words: str) -> "subprocess.CompletedProcess[str]":
    path = os.pathsep.join((str(ROOT), str(place)))
    environment = {**os.environ, "PYTHONPATH": path, "BIRD_STORE": str(place / "store.sqlite")}
    command = [sys.executable, "-m", "harness", *words.split()]
    return subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=False)


def test_the_analysis_of_the_page_measures_once_and_is_found_by_both_names(place: Path) -> None:
    command = re.search(r"```console\nbird-harness (lab study .*?)\n```", PAGE.read_text(encoding="utf-8"))
    assert command
    by_module = called(place, f"{command[1]} --limit 10 --out first")
    assert by_module.returncode == 0, by_module.stderr
    assert "EMPTY: How many" in by_module.stdout
    [folder] = (place / "first").iterdir()
    assert "# Golds without rows of sample" in (folder / "tables.md").read_text(encoding="utf-8")
    units = (folder / "journal.jsonl").read_text(encoding="utf-8")
    assert len(units.splitlines()) == 10
    again = called(place, f"lab study --resume {folder}")
    assert (again.returncode, again.stdout) == (0, by_module.stdout)
    assert (folder / "journal.jsonl").read_text(encoding="utf-8") == units
    installed = called(place, "lab study --part empty --dialect sqlite --limit 10 --out second --json")
    assert installed.returncode == 0, installed.stderr
    figures = json.loads(installed.stdout)["tables"][0]["figures"]
    assert {figure["metric"]: figure["value"] for figure in figures} == {"golds": 10, "empty": 0}


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("nothing:ANALYSIS", "analysis nothing:ANALYSIS: cannot be imported (ModuleNotFoundError"),
        ("empty_golds:NOTHING", "cannot be imported (AttributeError"),
        ("empty_golds:units", "analysis empty_golds:units: is not an Analysis"),
    ],
)
def test_what_is_no_analysis_is_refused_in_a_line(place: Path, name: str, told: str) -> None:
    done = called(place, f"lab study --part {name} --dialect sqlite --out out")
    assert done.returncode == 2
    assert told in done.stderr
    assert done.stderr.count("\n") == 1
