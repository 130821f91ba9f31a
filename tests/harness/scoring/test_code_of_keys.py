"""Keys have the digest of the code that can change an outcome, and of no other."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.metrics.work import WEIGHTS
from harness.scoring.cache import CODE

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

ROOT = Path(__file__).parents[3]
ROOMS = ("harness", "dialects", "loaders")
JUDGES = (
    "harness.scoring.scheduler",
    "harness.scoring.judge",
    "harness.scoring.worker_process",
    "harness.scoring.workers",
)
BY_NAME = {
    "harness.engines": {
        f"harness.engines.{path.parent.name}" for path in (ROOT / "harness/engines").glob("*/__init__.py")
    }
}
"""What modules import by names that stand in no import."""


def file_of(module: str) -> str | None:
    place = module.replace(".", "/")
    return next((path for path in (f"{place}/__init__.py", f"{place}.py") if (ROOT / path).is_file()), None)


def imported(module: str) -> set[str]:
    """What a module imports of the project, in its functions too."""
    path = file_of(module)
    # What the package offers to its users is imported when they ask for it.
    if path is None or module == "harness":
        return set()
    found = set(BY_NAME.get(module, ()))
    for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return {name for name in found if name.split(".")[0] in ROOMS and file_of(name)}


def closure(*modules: str) -> set[str]:
    """The files of modules and of all that they import, directly or not."""
    known: set[str] = set()
    waiting = set(modules)
    while waiting:
        module = waiting.pop()
        known.add(module)
        waiting |= (imported(module) | {module.rpartition(".")[0]} - {""}) - known
    return {path for path in map(file_of, known) if path}


def test_the_rooms_of_the_key_are_those_that_judging_imports() -> None:
    judging = closure(*JUDGES)
    assert len(judging) > 100
    assert judging - {"harness/__init__.py"} <= CODE.looks.keys()
    rooms = {
        path.split("/")[0] if path.startswith(("dia", "load")) else path.rpartition("/")[0]
        for path in judging
    }
    assert [room for room in CODE.rooms if room not in rooms | judging] == []


def test_data_that_translations_and_functions_are_made_of_are_in_the_key_and_weights_are_not() -> None:
    assert any(path.startswith("loaders/functions/") and path.endswith(".sql") for path in CODE.looks)
    assert WEIGHTS.is_file()
    assert WEIGHTS.relative_to(ROOT).as_posix() not in CODE.looks


SAY = """
from harness.scoring import cache
before = cache.code()
assert cache.is_code_unchanged()
import sys
from pathlib import Path
changed = Path(cache.__file__).parents[2] / sys.argv[1]
changed.write_text(changed.read_text() + "# changed\\n")
print(before)
print(cache.code() == before, cache.is_code_unchanged())
"""


def test_a_change_of_a_help_text_changes_no_key_and_one_of_a_metric_does(tmp_path: Path) -> None:
    for room in ROOMS:
        for path in (ROOT / room).rglob("*"):
            if path.suffix in {".py", ".sql", ".json", ".toml"} and "node_modules" not in path.parts:
                copy = tmp_path / path.relative_to(ROOT)
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(path.read_bytes())

    def said(changed: str) -> tuple[str, str]:
        done = subprocess.run(
            [sys.executable, "-c", SAY, changed],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        )
        key, rest = done.stdout.strip().splitlines()
        return key, rest

    first, while_running = said("harness/cli/console.py")
    assert while_running == "True True"
    second, while_running = said("harness/metrics/accuracy.py")
    assert (second, while_running) == (first, "True False")
    third, _ = said("harness/cli/console.py")
    assert third != second
