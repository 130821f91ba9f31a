"""Nothing is imported from the folder in which somebody works."""

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from loaders.workers import Survey, workers
from tests.forked import environment_without

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

PROGRAM = [str(Path(sys.executable).with_name("bird-harness"))]
MODULE = [sys.executable, "-m", "harness"]

FOREIGN = ("sqlglot", "numpy", "scipy", "psycopg", "pymysql", "random", "socket", "conftest", "sitecustomize")
OWN = ("harness", "loaders", "dialects")


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A folder with modules that would be taken for others: each says that it was imported, and fails."""
    folder = tmp_path / "working"
    folder.mkdir()
    code = f"open({str(tmp_path / 'imported')!r}, 'a').write(__file__)\nraise SystemExit('foreign')\n"
    for name in FOREIGN:
        (folder / f"{name}.py").write_text(code, encoding="utf-8")
    for name in OWN:
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text(code, encoding="utf-8")
    return folder


def evaluated(command: list[str], cwd: Path, *options: str) -> object:
    """What is in the summary, without the run's own name."""
    done = subprocess.run(
        [*command, "eval", "--dialect", "sqlite", "--limit", "6", "--no-cache", "--workers", "1", *options],
        cwd=cwd, env=environment_without("PYTEST_"), capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    summary = json.loads((cwd / "results" / "latest" / "summary.json").read_text(encoding="utf-8"))
    del summary["run_id"]
    return summary


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> object:
    """The summary of an evaluation in an empty folder."""
    return evaluated(PROGRAM, tmp_path_factory.mktemp("empty"))


@pytest.mark.parametrize("options", [[], ["--driver", "direct"], ["--ray", "local"]])
def test_an_evaluation_is_the_same_wherever_it_is_called(
    hostile: Path, tmp_path: Path, elsewhere: object, options: list[str]
) -> None:
    assert evaluated(PROGRAM, hostile, *options) == elsewhere
    assert not (tmp_path / "imported").exists()


def test_neither_does_the_module_that_is_the_command_import_from_there(hostile: Path, tmp_path: Path) -> None:
    # What Python itself is asked for by name it looks for there first.
    for name in OWN:
        (hostile / name / "__init__.py").unlink()
        (hostile / name).rmdir()
    evaluated(MODULE, hostile)
    assert not (tmp_path / "imported").exists()


def test_nor_do_the_processes_of_a_load(
    hostile: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with sqlite3.connect(tmp_path / "zoo.sqlite") as connection:
        connection.execute("CREATE TABLE animal (name TEXT)")
    connection.close()
    monkeypatch.chdir(hostile)
    with workers(2) as hands:
        hands.give(Survey(tmp_path / "zoo.sqlite"), (1.0, 1.0))
        [(_, found)] = hands.results(lambda _task, _rows: None)
    assert [table.name for table in found.tables] == ["animal"]
    assert not (tmp_path / "imported").exists()
