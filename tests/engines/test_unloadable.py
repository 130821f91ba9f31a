"""What no server can hold, or not as declared, is said once, and the rest is loaded."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest
from typer.testing import CliRunner

from dialects.enums import Dialect, Profile
from harness import Answer, Evaluator
from harness.cli import app
from harness.data.outcomes import Outcome
from harness.data.questions import QuestionSet
from harness.data.sets.loader import load_set
from harness.provision import dsn
from harness.session.plan import Plan, equip, open_scheduler
from harness.session.request import Request
from loaders.bulk_load import load_each
from loaders.server import Server
from tests.harness import small_sets as small
from tests.loaders.servers import drop
from tests.sqlite_files import sqlite_file

SPOILT = {
    "nameless": 'CREATE TABLE t ("" TEXT)',
    "blob": "CREATE TABLE t (a); INSERT INTO t VALUES ('text'), (x'00ff')",
    "long": f"CREATE TABLE {'t' * 70} (a INTEGER)",
    "bytes": "CREATE TABLE t (a TEXT); INSERT INTO t VALUES (CAST(x'ff' AS TEXT))",
}


def written(folder: Path) -> Path:
    """A set of two good databases and those that are spoilt."""
    contents = {"bank": "CREATE TABLE t (a TEXT); INSERT INTO t VALUES ('x')", **SPOILT}
    contents["zoo"] = contents["bank"]
    for name, script in contents.items():
        sqlite_file(folder / "dev_databases" / name / f"{name}.sqlite", script)
    asked = [
        small.question(place, name, Dialect.SQLITE, 0) | {"SQL": "SELECT 'x'"}
        for place, name in enumerate(contents)
    ]
    small.write_lines(folder / "dev.json", asked)
    return folder


def found_by_commands(server: Server, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the set in `home` the one that is there, and this server."""
    monkeypatch.setenv("BIRD_HOME", str(home))
    address = f"{server.dialect}://{server.user}:{server.password}@{server.address}"
    monkeypatch.setenv(dsn.variable(server.dialect), address)
    monkeypatch.setenv("BIRD_PROVISION", "dsn")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, set[Server]]]:
    """A set that no test changes, which stays loaded on the servers that are put into the set beside it."""
    home, servers = written(tmp_path_factory.mktemp("unloadable")), set[Server]()
    yield home, servers
    for server in servers:
        drop(server, load_set("dev", home).collection)


@pytest.fixture
def home(server: Server, shared: tuple[Path, set[Server]], monkeypatch: pytest.MonkeyPatch) -> Path:
    """The shared set, and the one server that is there."""
    found, servers = shared
    servers.add(server)
    found_by_commands(server, found, monkeypatch)
    return found


@pytest.fixture
def own(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Such a set of one test's own."""
    found = written(tmp_path)
    found_by_commands(server, found, monkeypatch)
    yield found
    drop(server, load_set("dev", found).collection)


@pytest.mark.engine
@pytest.mark.thorough
def test_the_load_of_the_others_goes_on_and_says_what_is_missing(server: Server, home: Path) -> None:
    command = ["load", "--set", "dev", "--dialect", server.dialect, "--profile", "faithful"]
    for _ in range(2):
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 1, done.output
        missing = [line for line in done.output.splitlines() if line.startswith("not loaded: ")]
        assert sorted(map(_of, missing)) == sorted(SPOILT)
    questions = load_set("dev", home)
    kept, left = load_each([questions.database("zoo"), questions.database("blob")], server)
    assert [one.database.db_id for one in kept] == ["zoo"]
    assert [one.database.db_id for one in left] == ["blob"]
    assert "a blob in a column that holds other values, too" in left[0].reason


def _of(line: str) -> str:
    return next(name for name in SPOILT if f"{name}.sqlite" in line)


@pytest.mark.engine
@pytest.mark.thorough
def test_answers_about_what_is_not_loaded_count_against_nobody(server: Server, home: Path) -> None:
    said: list[str] = []
    questions = load_set("dev", home)
    with Evaluator("dev", dialects=[server.dialect], workers=1, say=said.append) as evaluator:
        asked = [Answer(each.key, "SELECT 'x'", server.dialect) for each in questions.questions]
        judged = evaluator.score(asked)
    for question, found in zip(questions.questions, judged, strict=True):
        if question.db_id in SPOILT:
            assert found.outcome is Outcome.GOLD_ERROR
            assert found.error is not None
            assert f"the database {question.db_id} is not loaded: " in found.error
            assert any(f"{server.dialect}, {question.db_id}: not loaded" in line for line in said)
        else:
            assert found.outcome is Outcome.MATCH


@pytest.mark.engine
@pytest.mark.thorough
def test_coverage_is_measured_of_the_others(server: Server, home: Path, tmp_path: Path) -> None:
    command = ["coverage", "--set", "dev", "--dialect", server.dialect, "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    written = next((tmp_path / "out").rglob("coverage.json")).read_text(encoding="utf-8")
    answers = {each["question"]: each for each in json.loads(written)["answers"]}
    for question in load_set("dev", home).questions:
        found = answers[question.key]
        if question.db_id in SPOILT:
            assert found["reason"] == "not_loaded"
            assert f"{question.db_id}.sqlite" in found["detail"]
        else:
            assert found["reason"] is None


@pytest.mark.engine
@pytest.mark.thorough
def test_what_an_earlier_load_left_is_not_asked_instead(server: Server, own: Path) -> None:
    with Evaluator("dev", dialects=[server.dialect], workers=1) as evaluator:
        assert evaluator.score([Answer("0", "SELECT 'x'", server.dialect)])[0].outcome is Outcome.MATCH
    sqlite_file(
        own / "dev_databases" / "bank" / "bank.sqlite",
        "CREATE TABLE worse (a); INSERT INTO worse VALUES (x'00'), ('text')",
    )
    with Evaluator("dev", dialects=[server.dialect], workers=1) as evaluator:
        assert evaluator.score([Answer("0", "SELECT 'x'", server.dialect)])[0].outcome is Outcome.GOLD_ERROR


NOTE = "t.a, declared INTEGER, is text: it holds text and numbers"


def _questions(folder: Path) -> QuestionSet:
    """A set of one question about a database that cannot be loaded as declared."""
    sample = load_set("sample")
    [question, *_] = sample.questions
    sqlite_file(
        folder / question.db_id / f"{question.db_id}.sqlite",
        "CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1), ('n/a')",
    )
    return replace(sample, questions=(question,), databases=folder, collection=f"test_{uuid4().hex[:8]}")


@pytest.mark.engine
@pytest.mark.thorough
def test_notes_of_the_load_are_said_and_kept(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BIRD_PROVISION", "dsn")
    name = f"BIRD_{server.dialect.upper()}_DSN"
    monkeypatch.setenv(name, f"{server.dialect}://{server.user}:{server.password}@{server.address}")
    questions = _questions(tmp_path / "databases")
    [db_id] = questions.db_ids
    request = Request(dialects=[server.dialect], profile=Profile.FAITHFUL, out=tmp_path, cache=False)
    said: list[str] = []
    try:
        first = equip(request, questions, [server.dialect], say=said.append)
        assert said == [f"{server.dialect}, {db_id}: {NOTE}"]
        second = equip(request, questions, [server.dialect], say=said.append)
        assert len(said) == 1
        assert first.notes == second.notes == {server.dialect: {db_id: (NOTE,)}}
        scheduler = open_scheduler(request, second.setup, said.append)
        plan = Plan(request, second.setup, scheduler, [], (), notes=second.notes)
        with plan, plan.open_run() as folder:
            manifest = json.loads((folder.path / "manifest.json").read_text(encoding="utf-8"))
        assert manifest["load_notes"] == {server.dialect: {db_id: [NOTE]}}
    finally:
        drop(server, questions.collection)
