"""What is imported, and by whom: commands take what they need, the library and the plugin what is used."""

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from harness.cli.commands import COMMANDS, app, command
from harness.lab import lab_commands

SLOW = {"numpy", "psycopg", "pymysql", "pytest", "ray", "requests", "rich", "scipy", "sqlglot"}
OF_THE_COMMAND_LINE = {
    "dialects", "dialects.errors", "loaders", "loaders.base", "loaders.base.errors",
    "harness", "harness.cli", "harness.cli.commands", "harness.lab",
}  # fmt: skip
"""What is imported before a command is called."""


def imported(code: str, *arguments: str, **environment: str) -> set[str]:
    """The modules that a program has imported when it ends."""
    at_exit = (
        r"import atexit, sys; atexit.register(lambda: print('', *sys.modules, sep='\n', file=sys.stderr))"
    )
    program = f"{at_exit}\n{code}"
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    return set(done.stderr.splitlines())


def of_the_project(modules: set[str]) -> set[str]:
    return {name for name in modules if name.partition(".")[0] in {"dialects", "harness", "loaders"}}


MAIN = "from harness.cli import main; main()"


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_version_and_help_import_neither_commands_nor_what_they_need(option: str) -> None:
    modules = imported(MAIN, option)
    assert of_the_project(modules) == OF_THE_COMMAND_LINE
    assert not modules & SLOW


def test_completing_the_name_of_a_command_imports_none() -> None:
    asked = {
        "_BIRD_HARNESS_COMPLETE": "complete_bash",
        "COMP_WORDS": "bird-harness re",
        "COMP_CWORD": "1",
    }
    assert of_the_project(imported(MAIN, **asked)) == OF_THE_COMMAND_LINE


@pytest.mark.parametrize("name", [*COMMANDS, *lab_commands()])
def test_a_command_is_listed_as_it_describes_itself(name: str) -> None:
    described = command(name)
    listed: Any = COMMANDS.get(name) or lab_commands()[name]
    assert described.name == name
    assert described.hidden is getattr(listed, "hidden", False)
    assert described.help.partition("\n")[0] == f"{listed.summary}."


def test_every_command_that_is_declared_is_listed() -> None:
    there = set()
    root = Path(__file__).parents[1]
    for path in (root / "harness").rglob("*.py"):
        if "@app.command" in path.read_text(encoding="utf-8"):
            there.add(".".join(path.relative_to(root).with_suffix("").parts))
    listed = {each.module for listed in (COMMANDS, lab_commands()) for each in listed.values()}
    assert there == listed
    for module in listed:
        import_module(module)
    names = {each.name or getattr(each.callback, "__name__", "") for each in app.registered_commands}
    assert names == {*COMMANDS, *lab_commands()}


@pytest.mark.slow
@pytest.mark.thorough
def test_cheap_commands_do_without_what_others_need() -> None:
    assert not imported(MAIN, "cache", "--help") & {"pytest", "ray", "scipy", "sqlglot", "pymysql", "psycopg"}
    for name in ("eval", "load", "status"):
        assert not imported(MAIN, name, "--help") & {"numpy", "ray", "scipy", "sqlglot"}
    assert not imported(MAIN, "report", "--help") & {"pytest", "ray", "scipy", "pymysql", "psycopg"}


def test_the_package_imports_the_library_when_it_is_used() -> None:
    assert of_the_project(imported("import harness")) == {"dialects", "harness"}
    assert "harness.session.evaluator" in imported("from harness import Evaluator")


def test_a_process_that_judges_imports_no_driver_before_it_knows_the_engine() -> None:
    modules = imported("import harness.scoring.worker_process")
    assert "harness.engines.sqlite.engine" in modules
    assert not modules & (SLOW | {"duckdb"})


def test_translating_imports_neither_the_harness_nor_the_loaders() -> None:
    modules = of_the_project(imported("import dialects.translation"))
    assert "dialects.translation" in modules
    assert [name for name in modules if not name.startswith("dialects")] == []


@pytest.mark.slow
@pytest.mark.thorough
def test_an_evaluation_whose_results_are_cached_parses_no_gold(tmp_path: Path) -> None:
    asked = ("eval", "--dialect", "sqlite", "--driver", "direct", "--workers", "1", "--out", str(tmp_path))
    first, second = (imported(MAIN, *asked, BIRD_CACHE=str(tmp_path / "cache")) for _ in range(2))
    assert "harness.sqltree.question_types" in first
    assert "harness.report.html" in second
    assert "sqlglot" not in second
