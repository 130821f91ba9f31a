"""The commands and the code of docs/how-to/pytest.md and of the example project run."""

import re
import shlex
import shutil
from pathlib import Path

import pytest

from loaders.server import Server
from tests.harness.pytest_plugin.running import counts, name, predictions, run

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "how-to" / "pytest.md").read_text(encoding="utf-8")
EXAMPLE = DOCS / "examples" / "pytest-project"


def _commands(text: str) -> list[str]:
    blocks = re.findall(r"```console\n(.*?)```", text, re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


def _copied(folder: Path) -> Path:
    return Path(
        shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("__pycache__", ".pytest_cache"))
    )


IN_PAGE = {
    "pytest --bird-predictions answers --bird-dialect sqlite": {"match": 88, "mismatch": 27},
    "pytest --bird-predictions answers --bird-dialect sqlite -n 2": {"match": 88, "mismatch": 27},
    'pytest --bird-predictions answers --bird-dialect sqlite -k "careless and challenging" -v': {"match": 9},
    "pytest --bird-coverage --bird-dialect all": {"passed": 132},
}
IN_EXAMPLE = {
    "pytest": {"passed": 12},
    'pytest -k "rows and 4"': {"passed": 1, "deselected": 11},
    "pytest --bird-dialect all": {"passed": 3 * 11 + 1},
}
"""The commands, and some of what pytest counts then."""


def _holds(command: str, expected: dict[str, int], *configuration: str, cwd: Path) -> None:
    done = run(*configuration, *shlex.split(command)[1:], cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr
    assert counts(done).items() >= expected.items(), done.stdout


def test_every_command_is_known_here() -> None:
    assert _commands(PAGE) == list(IN_PAGE)
    assert _commands((EXAMPLE / "README.md").read_text(encoding="utf-8")) == list(IN_EXAMPLE)


@pytest.mark.parametrize("command", [command for command in IN_PAGE if command.find(" sqlite") > 0])
def test_the_pages_commands(command: str, tmp_path: Path) -> None:
    predictions(tmp_path)
    _holds(command, IN_PAGE[command], cwd=tmp_path)


def test_the_example_project_runs_as_it_is(tmp_path: Path) -> None:
    project = _copied(tmp_path / "project")
    for command in list(IN_EXAMPLE)[:2]:
        _holds(command, IN_EXAMPLE[command], "-c", "pytest.ini", cwd=project)


@pytest.mark.engine
def test_the_commands_for_all_engines(
    mysql_server: Server, postgresql_server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for server in (mysql_server, postgresql_server):
        name(server, monkeypatch)
    command = "pytest --bird-coverage --bird-dialect all"
    _holds(command, IN_PAGE[command], cwd=tmp_path)
    command = "pytest --bird-dialect all"
    _holds(command, IN_EXAMPLE[command], "-c", "pytest.ini", cwd=_copied(tmp_path / "project"))


def test_the_pages_code_is_the_examples() -> None:
    (shown,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    real = (EXAMPLE / "test_my_model.py").read_text(encoding="utf-8")
    for part in re.split(r"\n{3,}", shown.strip()):
        assert part in real
