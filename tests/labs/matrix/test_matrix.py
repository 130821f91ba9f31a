"""Coverage on every version: what is chosen, what is said of the rest, and the exit code."""

import json
import sys
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.analyses.coverage import expectations
from harness.cli import main
from harness.data.set_manifest import LAYOUTS
from harness.labs.matrix.matrix import MatrixRequest, Result, Row, exit_code, print_matrix, run_matrix
from harness.labs.matrix.versions import SETS, VERSIONS, MatrixCell, cells
from harness.provision import dsn
from loaders.server import Origin, Server

DONE = Row(Dialect.MYSQL, "9.7", "sample", Result.AS_EXPECTED, "native, 9.7.4", 66, 66)
WORSE = Row(
    Dialect.MYSQL,
    "8.4",
    "sample",
    Result.REGRESSION,
    "mysql:8.4",
    65,
    66,
    ("mysql 1: was covered, is error",),
)
BROKEN = Row(Dialect.MYSQL, "8.4", "mini_dev", Result.BROKE, "mysql:8.4", why="the connection was lost")
MISSING = Row(Dialect.POSTGRESQL, "14", "sample", Result.NOT_RUN, why="no image postgres:14 on this machine")


@pytest.mark.parametrize(
    ("images", "chosen"),
    [
        ([], None),
        (["postgres:18"], "postgres:18"),
        (["postgres:18.1-bookworm", "postgres:1"], "postgres:18.1-bookworm"),
        (["bird-harness/postgresql:18.6"], "bird-harness/postgresql:18.6"),
        (["bird-harness/postgresql:18.6", "postgres:18"], "postgres:18"),
        (["bird-harness/postgresql-sample:18.6", "other/postgres:18", "postgres:180", "mysql:18"], None),
    ],
)
def test_a_version_is_run_by_an_image_of_that_version(images: list[str], chosen: str | None) -> None:
    assert MatrixCell(Dialect.POSTGRESQL, "18").image_here(images) == chosen


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        ([DONE], 0),
        ([DONE, MISSING], 0),
        ([DONE, WORSE, MISSING], 1),
        ([WORSE, BROKEN], 1),
        ([DONE, BROKEN], 3),
        ([MISSING], 3),
        ([], 3),
    ],
)
def test_a_regression_is_1_and_nothing_is_3(rows: list[Row], code: int) -> None:
    assert exit_code(rows) == code


def test_the_table_says_what_is_covered_what_got_worse_and_what_could_not_be_run() -> None:
    output = StringIO()
    print_matrix([DONE, WORSE, MISSING], Console(file=output))
    shown = [" ".join(line.split()) for line in output.getvalue().splitlines()]
    assert "MySQL 9.7 sample native, 9.7.4 66 of 66 0 as expected" in shown
    assert "MySQL 8.4 sample mysql:8.4 65 of 66 1 regression" in shown
    assert "PostgreSQL 14 sample - - - not run" in shown
    assert "MySQL 8.4, sample: mysql 1: was covered, is error" in shown
    assert "PostgreSQL 14: not run: no image postgres:14 on this machine" in shown


def test_the_matrix_is_printed_for_programs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["bird-harness", "lab", "matrix", "--json"])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 0
    content = json.loads(capsys.readouterr().out)
    assert content["sets"] == list(SETS)
    assert content["engines"] == [cell.to_json() for cell in cells()]
    assert {"dialect": "postgresql", "version": "14", "image": "postgres:14"} in content["engines"]


def test_the_sets_are_ones_that_there_are() -> None:
    assert set(SETS) <= LAYOUTS.keys()


def test_a_set_that_was_asked_for_has_to_be_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("BIRD_HOME", str(tmp_path))
    with pytest.raises(BadInput, match="mini_dev"):
        run_matrix(MatrixRequest(sets=["mini_dev"]), print)


@pytest.fixture
def named(server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Server:
    """A server that the matrix finds by its address, and no published data."""
    address = f"{server.dialect}://{server.user}:{server.password}@{server.address}"
    monkeypatch.setenv(dsn.variable(server.dialect), address)
    monkeypatch.setenv("BIRD_PROVISION", Origin.DSN)
    monkeypatch.setenv("BIRD_HOME", str(tmp_path))
    return server


@pytest.mark.engine
@pytest.mark.thorough
def test_the_server_that_is_there_is_covered_and_the_other_versions_are_named(
    named: Server, tmp_path: Path
) -> None:
    said: list[str] = []
    # Folders may be named as lines that are meant for people.
    out = tmp_path / f"written to {named.dialect}: 1"
    rows = run_matrix(MatrixRequest(dialects=[named.dialect], limit=3, out=out), said.append)
    first, *others = rows
    assert first.faults == ()
    assert (first.result, first.covered, first.questions) == (Result.AS_EXPECTED, 3, 3)
    assert first.where.startswith("dsn, ")
    assert {row.result for row in others} == {Result.NOT_RUN}
    assert {row.version for row in rows} >= set(VERSIONS[named.dialect])
    assert all("the one server that is here has" in row.why for row in others)
    assert any(line.startswith("mini_dev is left out") for line in said)


@pytest.mark.engine
@pytest.mark.thorough
def test_an_answer_that_was_other_is_a_regression(
    named: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "expectations"
    home.mkdir()
    text = (expectations.HOME / "sample.json").read_text(encoding="utf-8")
    (home / "sample.json").write_text(text.replace('"1": ["covered", "', '"1": ["tie", "0'), encoding="utf-8")
    monkeypatch.setattr(expectations, "HOME", home)
    first, *_ = run_matrix(
        MatrixRequest(dialects=[named.dialect], sets=["sample"], limit=3, out=tmp_path), print
    )
    assert first.result is Result.REGRESSION
    assert f"{named.dialect} 1: was tie, is covered" in first.faults
    assert exit_code([first]) == 1
