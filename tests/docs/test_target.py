"""The target of docs/how-to/target.md is a line and three folders: golds run on it as on SQLite."""

import json
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.docs.blocks import ROOT, blocks, commands
from tests.forked import environment_without

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

PAGE = ROOT / "docs" / "how-to" / "target.md"
PACKAGES = ("dialects", "loaders", "harness")


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository's packages after the steps of the page."""
    folder = tmp_path_factory.mktemp("checkout")
    for package in PACKAGES:
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    for block in blocks(PAGE):
        if block.language == "python":
            path = folder / str(block.title)
            path.parent.mkdir(exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
        elif block.title:
            path, last = folder / block.title, '    MARIADB = "mariadb"\n'
            written = path.read_text(encoding="utf-8")
            path.write_text(written.replace(last, last + block.text), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def printed(checkout: Path) -> dict[str, str]:
    """What the commands of the page print, by the command; none fails."""
    environment = environment_without("PYTEST_") | {
        "PYTHONPATH": str(checkout),
        "BIRD_CACHE": str(checkout / "cache"),
        "BIRD_STORE": str(checkout / "store.sqlite"),
    }
    [console] = [block for block in blocks(PAGE) if block.language == "console"]
    found = {}
    for command in commands(console):
        program, *words = command.split()
        assert program == "bird-harness"
        done = subprocess.run(
            [sys.executable, "-m", "harness", *words],
            cwd=checkout,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        found[words[0]] = done.stdout
    return found


def test_nothing_else_of_the_code_names_it(checkout: Path) -> None:
    named = {block.title for block in blocks(PAGE) if block.title}
    changed = set()
    for package in PACKAGES:
        for path in (checkout / package).rglob("*"):
            ours = ROOT / path.relative_to(checkout)
            if path.is_file() and (not ours.exists() or ours.read_bytes() != path.read_bytes()):
                changed.add(path.relative_to(checkout).as_posix())
    assert changed == named
    assert {"/".join(name.split("/")[:-1]) for name in named} == {
        "dialects", "dialects/toy", "loaders/toy", "harness/engines/toy"
    }  # fmt: skip


def test_it_returns_the_rows_of_sqlite(printed: dict[str, str]) -> None:
    assert "Toy: every answer is SQLite's" in printed["coverage"]


def test_as_many_answers_are_right_as_on_sqlite(printed: dict[str, str], checkout: Path) -> None:
    assert "Toy" in printed["eval"]
    lines = (checkout / "results/latest/results.jsonl").read_text(encoding="utf-8").splitlines()
    outcomes = Counter(json.loads(line)["outcome"] for line in lines)
    assert outcomes == {"match": 53, "mismatch": 13}
