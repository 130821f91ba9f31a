"""What could not be loaded as declared is said once, and stands in the manifest of every run."""

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from dialects.enums import Profile
from harness.data.questions import QuestionSet
from harness.data.sets.loading import load_set
from harness.session.evaluation import Evaluation
from harness.session.plan import Plan, equip, open_judging
from harness.session.request import Request
from loaders.server import Server
from tests.loaders.servers import drop

pytestmark = pytest.mark.engine

NOTE = "t.a, declared INTEGER, is text: it holds text and numbers"


def _questions(folder: Path) -> QuestionSet:
    """A set of one question about a database that cannot be loaded as declared."""
    sample = load_set("sample")
    [question, *_] = sample.questions
    path = folder / question.db_id / f"{question.db_id}.sqlite"
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1), ('n/a')")
    return replace(sample, questions=(question,), databases=folder, collection=f"test_{uuid4().hex[:8]}")


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
        judging = open_judging(request, second.setup, said.append)
        evaluation = Evaluation(second.setup, [], judging)
        plan = Plan(request, questions, second.setup, evaluation, {}, [], [], notes=second.notes)
        with plan, plan.open_run() as folder:
            manifest = json.loads((folder.path / "manifest.json").read_text(encoding="utf-8"))
        assert manifest["load_notes"] == {server.dialect: {db_id: [NOTE]}}
    finally:
        drop(server, questions.collection)
