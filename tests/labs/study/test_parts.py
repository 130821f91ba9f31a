"""Parts of the study on every engine: the paper's cases, and indexes; broken off by a kill, they go on."""

import json
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from dialects.enums import Dialect
from harness.engines import kind_of
from harness.engines.execution import Limits, execute
from harness.labs.study.copies import Keys
from harness.labs.study.parts.paper_cases import CASES, make_coaches, relation
from harness.metrics.comparison import compare
from loaders.namespace import Database
from loaders.server import Server
from tests.every_engine import EVERY_ENGINE, INDEXED
from tests.harness.conftest import Call
from tests.labs.study.rooms import copying_in_turn
from tests.sqlite_files import sqlite_file

ROOT = Path(__file__).parents[3]
SAVED = {case.name: case for case in CASES}

TABLES = {
    "1.1": "CREATE TABLE users (Id INTEGER PRIMARY KEY, Age INTEGER, Location TEXT);"
    " CREATE TABLE badges (Id INTEGER PRIMARY KEY, UserId INTEGER);"
    " INSERT INTO users VALUES (1, 30, 'Vienna, Austria'), (2, NULL, 'Vienna, Austria'), (3, 30, 'Graz');",
    "1.2": "CREATE TABLE member (member_id TEXT PRIMARY KEY, zip INTEGER);"
    " CREATE TABLE zip_code (zip_code INTEGER PRIMARY KEY, state TEXT);"
    " INSERT INTO member VALUES ('a', 1), ('b', 1), ('c', 2), ('d', NULL);"
    " INSERT INTO zip_code VALUES (1, 'Maryland'), (2, 'Ohio');",
    "1.3": "CREATE TABLE client (client_id INTEGER PRIMARY KEY);"
    " CREATE TABLE disp (client_id INTEGER, account_id INTEGER);"
    " CREATE TABLE loan (loan_id INTEGER PRIMARY KEY, account_id INTEGER, amount INTEGER);"
    " INSERT INTO client VALUES (1), (2); INSERT INTO disp VALUES (1, 10), (2, 20);",
}

ROWS = [
    ("1.1", "INSERT INTO badges VALUES (1, 1), (2, 2)", "same rows"),
    ("1.1", "INSERT INTO badges VALUES (1, 1), (2, 2), (3, 1)", "same set, other bag"),
    ("1.1", "INSERT INTO badges VALUES (1, NULL)", "same rows"),
    ("1.2", "INSERT INTO member VALUES ('e', 1)", "same rows"),
    ("1.3", "INSERT INTO loan VALUES (1, 10, 5), (2, 20, 9)", "same rows"),
    ("1.3", "INSERT INTO loan VALUES (1, 10, 9), (2, 20, 9)", "other rows"),
    # Nobody has the largest loan, so that a maximum of all loans finds nobody.
    ("1.3", "INSERT INTO loan VALUES (1, 10, 5), (2, 99, 9)", "other rows"),
    ("1.3", "INSERT INTO loan VALUES (1, 10, NULL)", "other rows"),
]


@pytest.mark.parametrize("dialect", [each for each in EVERY_ENGINE if each.values[0] in INDEXED])
@pytest.mark.parametrize(("name", "more", "expected"), ROWS)
def test_rows_are_held_against_each_other_where_there_are_ties_and_nulls(  # noqa: PLR0913, PLR0917 - fixtures
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    dialect: Dialect,
    name: str,
    more: str,
    expected: str,
) -> None:
    path = sqlite_file(tmp_path / "case.sqlite", f"{TABLES[name]} {more};")
    kind = kind_of(str(dialect))
    servers: dict[str, Server] = {}
    if kind.has_server:
        servers[kind.name] = request.getfixturevalue(f"{dialect}_server")
    monkeypatch.setenv("BIRD_STATE", str(tmp_path / "state"))
    engine, case = kind.make(servers.get(kind.name), pooled=True), SAVED[name]
    with (
        copying_in_turn(servers) as room,
        room.copy(kind.name, Database("t", "t", path), Keys.DECLARED) as copy,
    ):
        texts = case.original, case.rewritten
        original, rewritten = (execute(engine, copy.database, text, Limits(seconds=10)) for text in texts)
    assert (original.error, rewritten.error) == (None, None)
    found = compare(original.rows, rewritten.rows)
    assert relation({"error": None, **vars(found)}) == expected


def test_the_generated_coaches_are_the_same_every_time(tmp_path: Path) -> None:
    paths = [make_coaches(tmp_path / f"{number}.sqlite", 500) for number in range(2)]
    rows = []
    for path in paths:
        with closing(sqlite3.connect(path)) as connection:
            rows.append(connection.execute("SELECT * FROM coaches ORDER BY 1, 2, 3, 5").fetchall())
    assert rows[0] == rows[1]
    assert len(rows[0]) == 500


@pytest.mark.parametrize("part", ["e1", "e3"])
@pytest.mark.slow
@pytest.mark.thorough
def test_each_part_alone(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str) -> None:
    monkeypatch.setenv("BIRD_STATE", str(tmp_path / "state"))
    words = (
        "lab",
        "study",
        "--part",
        part,
        "--dialect",
        "sqlite",
        "--limit",
        "9",
        "--out",
        str(tmp_path / "out"),
    )
    code, out, _ = call(*words)
    assert code == 0
    heads = {line.split(":")[0] for line in out.splitlines() if line[:1] == "E" and ":" in line}
    assert heads == {part.upper()}
    assert list((tmp_path / "state" / "study").iterdir()) == []


@pytest.mark.slow
@pytest.mark.thorough
def test_a_killed_study_goes_on_and_says_the_same(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BIRD_STATE", str(tmp_path / "state"))
    words = ["lab", "study", "--part", "e3", "--dialect", "sqlite", "--limit", "20", "--out"]
    code, whole, _ = call(*words, str(tmp_path / "whole"))
    assert code == 0
    process = subprocess.Popen(
        [sys.executable, "-m", "harness", *words, str(tmp_path / "killed")],
        cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    journal = _begun(tmp_path / "killed", process)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = journal.read_text().splitlines(keepends=True)
    code, again, _ = call("lab", "study", "--resume", str(journal.parent))
    assert code == 0
    after = journal.read_text().splitlines()
    whole_lines = [line for line in before if line.endswith("\n")]
    assert after[: len(whole_lines)] == [line.rstrip("\n") for line in whole_lines]
    keys = [tuple(json.loads(line)["key"]) for line in after]
    assert len(keys) == len(set(keys))
    assert _untimed(again) == _untimed(whole)
    assert list((tmp_path / "state" / "study").iterdir()) == []


def _begun(folder: Path, process: "subprocess.Popen[bytes]") -> Path:
    """The journal, once it has a few units."""
    end = time.monotonic() + 60
    while time.monotonic() < end and process.poll() is None:
        for journal in folder.glob("study-*/journal.jsonl"):
            if journal.read_bytes().count(b"\n") > 5:
                return journal
        time.sleep(0.02)
    raise AssertionError("nothing was measured")


def _untimed(out: str) -> list[str]:
    """The counts that are printed, without what indexes took to make."""
    return [
        " ".join(line.split()[:-1])
        for line in out.splitlines()
        if line.startswith(" sample") and "primary +" not in line and "advised" not in line
    ]
