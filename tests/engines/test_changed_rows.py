"""Rows that somebody deletes on a server after a load are not used silently."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from dialects.errors import BadInput
from harness import Evaluator, Triple
from harness.cli import app
from harness.data.outcomes import Outcome
from harness.data.sets.loader import load_databases, load_set
from loaders.server import Server
from tests.engines.test_unloadable import found_by_commands
from tests.harness import own_sets
from tests.loaders.servers import ask, drop


@pytest.mark.engine
def test_deleted_rows_stop_a_run_until_they_are_loaded_again(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found_by_commands(server, tmp_path, monkeypatch)
    file = own_sets.database(tmp_path / "shop.sqlite")
    questions = load_databases(file)
    count = Triple("shop", "SELECT COUNT(*) FROM items", "SELECT 3")

    def judged() -> Outcome:
        with Evaluator(databases=file, dialects=server.dialect, workers=1, cache=False) as evaluator:
            return evaluator.score([count])[0].outcome

    try:
        assert judged() is Outcome.MATCH
        assert judged() is Outcome.MATCH
        ask(server, questions.database("shop"), "DELETE FROM sales WHERE day = 2")
        with pytest.raises(BadInput, match="table sales has 2 rows, and 3 were loaded; load"):
            judged()
    finally:
        drop(server, questions.collection)


@pytest.mark.engine
def test_load_replaces_changed_rows(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found_by_commands(server, tmp_path, monkeypatch)
    folder = tmp_path / "store"
    own_sets.database(folder / "shop" / "shop.sqlite")
    asked = [{"question_id": 1, "db_id": "shop", "question": "?", "SQL": "SELECT 1", "difficulty": "simple"}]
    own_sets.write(folder / "store.json", asked)
    questions = load_set(str(folder))
    command = ["load", "--set", str(folder), "--dialect", server.dialect, "--profile", "official", "--verify"]
    try:
        assert CliRunner().invoke(app, command).exit_code == 0
        ask(server, questions.database("shop"), "DELETE FROM sales")
        again = CliRunner().invoke(app, command)
        assert again.exit_code == 0, again.output
        assert "1 of 1 databases loaded" in again.output
        assert "were there already" in CliRunner().invoke(app, command).output
    finally:
        drop(server, questions.collection)
