"""Dialect coverage as items: what is expected passes, known gaps are strict xfails, everything else fails."""

import re
from pathlib import Path

import pytest

from dialects.enums import Dialect
from harness.analyses.coverage import expectations
from loaders.server import Server
from tests.harness.pytest_plugin.running import counts, listed, name, run

pytestmark = pytest.mark.engine

GAPS = """
import os
from pathlib import Path
from harness.analyses.coverage import expectations, proof
from dialects.translation import Untranslatable

expectations.HOME = Path(__file__).parent / "expectations"


def refuse(sql, schema, target):
    raise Untranslatable("not today", sql)


if "REFUSE" in os.environ:
    proof.translate = refuse
"""
"""A conftest.py by which other things are expected, and nothing can be translated if that is asked for."""


@pytest.fixture
def options(server: Server, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    name(server, monkeypatch)
    return ["--bird-coverage", "--bird-dialect", str(server.dialect), "--bird-limit", "4"]


@pytest.mark.parametrize("server", [Dialect.MYSQL], indirect=True)
def test_every_engine_and_question_is_an_item_and_the_table_is_printed(
    options: list[str], server: Server, tmp_path: Path
) -> None:
    root = f"{expectations.HOME.as_posix()}/sample.json::coverage/{server.dialect}"
    assert listed(run(*options, "--collect-only", "-q", cwd=tmp_path)) == [f"{root}::{key}" for key in "1234"]
    done = run(*options, cwd=tmp_path)
    assert counts(done) == {"passed": 4}, done.stdout + done.stderr
    assert "Translated golds of sample compared with SQLite, profile faithful" in done.stdout
    shared = run(*options, "-n", "2", "-k", "challenging or 3", cwd=tmp_path)
    assert counts(shared) == {"passed": 2}, shared.stdout + shared.stderr


@pytest.mark.parametrize("server", [Dialect.POSTGRESQL], indirect=True)
def test_known_gaps_are_xfails_and_what_is_not_as_expected_fails(
    options: list[str], server: Server, tmp_path: Path
) -> None:
    (tmp_path / "conftest.py").write_text(GAPS)
    (tmp_path / "expectations").mkdir()
    file = tmp_path / "expectations" / "sample.json"
    real = (expectations.HOME / "sample.json").read_text(encoding="utf-8")

    gap = r'("[1-4]"): \["covered", "\w+"'
    file.write_text(re.sub(gap, r'\1: ["untranslatable", null', real), encoding="utf-8")
    done = run(*options, "-rx", cwd=tmp_path, REFUSE="1")
    assert counts(done) == {"xfailed": 4}, done.stdout + done.stderr
    assert f"XFAIL expectations/sample.json::coverage/{server.dialect}::1 - untransl" in done.stdout

    closed = run(*options, cwd=tmp_path)
    assert counts(closed) == {"failed": 4}, "a gap that is closed has to be written down"
    assert f"{server.dialect} 1: was untranslatable, is covered" in closed.stdout
    assert "bird-harness coverage --set sample, then python -m benchmarks.figures" in closed.stdout

    file.write_text(re.sub(r'("1"): \["covered", "', r'\1: ["covered", "0', real), encoding="utf-8")
    changed = run(*options, cwd=tmp_path)
    assert counts(changed) == {"passed": 3, "failed": 1}
    assert f"{server.dialect} 1: its translation has changed" in changed.stdout

    file.write_text(real, encoding="utf-8")
    regressed = run(*options, "-n", "1", cwd=tmp_path, REFUSE="1")
    assert counts(regressed) == {"failed": 4}
    assert f"{server.dialect} 1: was covered, is untranslatable" in regressed.stdout
