"""The metric that docs/how-to/extend.md adds is computed, and is in every table."""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.blocks import ROOT

PAGE = ROOT / "docs" / "how-to" / "extend.md"


@pytest.mark.slow
@pytest.mark.thorough
def test_the_metric_of_the_page_is_computed(tmp_path: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    written = re.search(r'```python title="([^"]+)"\n(.*?)```', page, re.DOTALL)
    row = re.search(r"```text\n(.*?)```", page, re.DOTALL)
    command = re.search(r"```console\nbird-harness (.*?)\n```", page)
    assert written
    assert row
    assert command
    for room in ("harness", "loaders", "dialects"):
        shutil.copytree(
            ROOT / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__", "node_modules")
        )
    (tmp_path / written[1]).write_text(written[2], encoding="utf-8")
    rows = tmp_path / "harness" / "metrics" / "__init__.py"
    text = rows.read_text(encoding="utf-8")
    start = "from harness.metrics.work import r_ves_work, ves_work\n"
    end = ")\n\n_OWN: "
    assert text.count(start) == text.count(end) == 1
    text = text.replace(start, f"{start}from harness.metrics.row_recall import row_recall\n")
    rows.write_text(text.replace(end, f"    {row[1].strip()}\n{end}"), encoding="utf-8")

    options = ("--dialect", "sqlite", "--limit", "10", "--out", "out")
    done = subprocess.run(
        [sys.executable, "-m", "harness", *command[1].split(), *options],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path), "BIRD_STORE": str(tmp_path / "store.sqlite")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Row recall (%)" in done.stdout
    run = tmp_path / "out" / "latest"
    results = [json.loads(line) for line in (run / "results.jsonl").read_text(encoding="utf-8").splitlines()]
    found = {(each["outcome"], each["scores"]["row_recall"]) for each in results}
    assert ("match", 1.0) in found
    assert any(outcome == "mismatch" and score < 1 for outcome, score in found)
    with (run / "tables.csv").open(encoding="utf-8", newline="") as file:
        assert "row_recall" in {line["metric"] for line in csv.DictReader(file)}
