"""Blocks of the documentation that are no commands: code runs, data can be read."""

import importlib
import inspect
import json
import os
import re
import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from dialects.enums import Dialect
from harness.provision import dsn
from tests import forked
from tests.docs.blocks import LANGUAGES, ROOT, Block, every_block
from tests.sqlite_files import sqlite_file

_BLOCKS = every_block()

EXAMPLE = ROOT / "docs" / "examples" / "pytest-project"
"""What docs/how-to/pytest.md speaks of."""


def of_language(*languages: str) -> list[Any]:
    """Those of a language; tests/harness/adapters/test_frameworks.py runs what our own environment cannot."""
    blocks = [block for block in _BLOCKS if block.language in languages and block.framework is None]
    return [pytest.param(block, id=block.where) for block in blocks]


def is_of_readme(block: Block) -> bool:
    return block.page == ROOT / "README.md"


def test_every_block_says_what_it_is() -> None:
    assert [block.where for block in _BLOCKS if block.language not in LANGUAGES] == []


PROGRAMS = [
    pytest.param(*each.values, id=each.id, marks=() if is_of_readme(each.values[0]) else pytest.mark.thorough)
    for each in of_language("python")
    if each.values[0].page.name != "target.md"  # tests/docs/test_target.py puts them into a checkout
]
"""Those of the README are promises: the others take a process each."""


@pytest.mark.slow
@pytest.mark.parametrize("block", PROGRAMS)
def test_python_runs(block: Block, tmp_path: Path) -> None:
    """As a program, or as tests where it has any; beside a SQLite file and the page's other files."""
    sqlite_file(tmp_path / "database.sqlite", "CREATE TABLE t (a INTEGER)")
    for other in _BLOCKS:
        if other.page == block.page and other.title and other.title != "output":
            (tmp_path / other.title).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / other.title).write_text(other.text, encoding="utf-8")
    if block.page.name == "pytest.md":
        shutil.copytree(EXAMPLE, tmp_path, dirs_exist_ok=True)
    path = tmp_path / (block.title or "block.py")
    path.write_text(block.text, encoding="utf-8")
    has_tests = re.search(r"^\s*def test_", block.text, re.MULTILINE)
    command = ["pytest", "-q", "-p", "no:cacheprovider", str(path)] if has_tests else [str(path)]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = forked.run(*command, cwd=tmp_path, env=clean)
    assert done.returncode == 0, done.stdout + done.stderr


READERS: dict[str, Callable[[str], Any]] = {
    "json": json.loads,
    "jsonl": lambda text: [json.loads(line) for line in text.splitlines()],
    "toml": tomllib.loads,
    "yaml": yaml.safe_load,
}


@pytest.mark.parametrize("block", of_language(*READERS))
def test_data_can_be_read(block: Block) -> None:
    assert READERS[block.language](block.text)


@pytest.mark.parametrize("block", of_language("ini"))
def test_variables_are_ones_that_the_code_reads(block: Block, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "harness").rglob("*.py"))
    outside = {"HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "PIP_INDEX_URL", "UV_DEFAULT_INDEX"}
    for line in block.text.splitlines():
        name, _, value = line.partition("=")
        monkeypatch.setenv(name, value.strip('"'))
        assert name in outside or name in code or name in {dsn.variable(each) for each in Dialect}, line
    for dialect in (Dialect.MYSQL, Dialect.POSTGRESQL):
        dsn.servers_from_environment(dialect)


_IMPORTS = re.compile(r"^[ ]*from ((?:harness|dialects|loaders)[\w.]*) import", re.MULTILINE)

_FACES = frozenset({"harness", "dialects", "loaders"})

_CONTRACTS = {
    "docs/how-to/engine.md": {"harness.engines.sqlite", "harness.engines.sqlite.engine"},
    "docs/how-to/extend.md": {
        "harness.labs.study.base",
        "harness.data.questions",
        "harness.engines",
        "harness.metrics.soft_f1",
        "harness.report.table_model",
    },
    "docs/how-to/target.md": {
        "dialects.duckdb",
        "dialects.duckdb.generator",
        "dialects.duckdb.lowerings",
        "dialects.enums",
        "harness.engines.base",
        "harness.engines.duckdb",
        "harness.engines.duckdb.engine",
        "harness.engines.toy.engine",
        "loaders.base",
        "loaders.duckdb",
        "loaders.duckdb.session",
        "loaders.duckdb.target",
        "loaders.duckdb.verify",
        "loaders.server",
    },
    "docs/how-to/migration.md": {"harness.provision"},
    "docs/how-to/lab.md": {
        "harness.cli.commands",
        "harness.lab",
        "harness.metrics",
        "harness.metrics.soft_f1",
        "harness.report.table_model",
        "harness.runs.reader",
    },
    "docs/how-to/reports.md": {"harness.labs.log.trackers"},
    "docs/how-to/predictors.md": {"harness.predictors.base", "harness.labs.predict.offline"},
    "docs/explanation/efficiency.md": {"harness.labs.study.rewriting"},
    "docs/explanation/tasks.md": {
        "harness.labs.tasks.evaluator",
        "harness.labs.tasks.judging",
        "harness.labs.tasks.sample",
    },
}
"""The pages for those who add an engine, an analysis or a predictor, and the modules that they extend."""


@pytest.mark.parametrize("face", sorted(_FACES))
def test_a_face_exports_what_it_names(face: str) -> None:
    module = importlib.import_module(face)
    for name in module.__all__:
        exported = getattr(module, name)
        assert not inspect.ismodule(exported), f"{face}.{name} is a module"
    with pytest.raises(AttributeError, match="no_such_name"):
        module.no_such_name  # noqa: B018 - the access is what is tested


def test_documentation_imports_from_the_faces_alone() -> None:
    """Beside them, adapters: each is a module of its own, since it imports a framework."""
    others = {
        f"{block.where}: {module}"
        for block in _BLOCKS
        for module in _IMPORTS.findall(block.text)
        if module not in _FACES
        and not module.startswith("harness.adapters.")
        and module not in _CONTRACTS.get(str(block.page.relative_to(ROOT)), ())
    }
    assert others == set()
