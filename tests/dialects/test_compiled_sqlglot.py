"""Where sqlglot's compiled modules are installed next to those in Python, the project uses the latter."""

import os
import shutil
import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest
import sqlglot

ROOT = Path(__file__).parents[2]


@pytest.fixture
def compiled(tmp_path: Path) -> Path:
    """A folder with sqlglot, whose parser has a compiled module, too: one that cannot be loaded."""
    shutil.copytree(Path(sqlglot.__file__).parent, tmp_path / "sqlglot")
    (tmp_path / "sqlglot" / f"parser{EXTENSION_SUFFIXES[0]}").write_text("not a library")
    return tmp_path


def run(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"}
    return subprocess.run(
        [sys.executable, "-P", "-c", code], env=environment, capture_output=True, text=True, check=False
    )


def test_python_would_take_the_compiled_module(compiled: Path) -> None:
    done = run("import sqlglot", compiled)
    assert done.returncode == 1
    assert "ImportError" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "module",
    [
        "dialects",
        "harness.cli",
        "harness.session.evaluator",
        "harness.scoring.worker_process",
        "loaders.bulk_load",
    ],
)
def test_every_entrance_takes_the_one_in_python(compiled: Path, module: str) -> None:
    code = f"import {module}; import sqlglot; print(sqlglot.__file__, sqlglot.parser.__file__)"
    done = run(code, compiled)
    folder = compiled / "sqlglot"
    assert done.stdout.split() == [str(folder / "__init__.py"), str(folder / "parser.py")], done.stderr


def test_a_compiled_module_that_was_imported_before_is_an_error_of_its_own() -> None:
    code = (
        "import sqlglot.parser as parser; from importlib.machinery import EXTENSION_SUFFIXES; "
        "parser.__file__ = 'parser' + EXTENSION_SUFFIXES[0]; import dialects.source"
    )
    done = run(code, ROOT)
    assert done.returncode == 1
    assert done.stderr.endswith(
        "ImportError: sqlglot's compiled modules (sqlglot[c]) were imported, which the project cannot extend;"
        " import dialects before sqlglot, or uninstall sqlglotc\n"
    )
