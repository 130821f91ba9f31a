"""A gold that nothing can read is one failed gold: every command goes on with the others."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from dialects import translation
from dialects.base_generator import spell
from harness import Answer, Evaluator
from harness.data.outcomes import Outcome
from loaders.server import Server
from tests.engines.test_unloadable import found_by_commands
from tests.harness import own_sets
from tests.harness.conftest import Call
from tests.sqlite_files import sqlite_file

GOLDS = (
    "SELECT name FROM items",
    "SELECT id::text FROM items",
    "SELECT name FROM items WHERE name ILIKE 'p%'",
    "SELECT ((((",
    "SELECT 'abc",
    "SELECT group_concat() FROM items",
    "SELECT " + "(" * 3000 + "1" + ")" * 3000,
    "DELETE FROM items",
    "SELECT price FROM items",
)
READABLE = {"0", "8"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A set with these golds."""
    asked = [
        {"question_id": place, "db_id": "shop", "question": f"{place}?", "SQL": gold, "difficulty": "simple"}
        for place, gold in enumerate(GOLDS)
    ]
    own_sets.write(tmp_path / "odd" / "odd.json", asked)
    own_sets.database(tmp_path / "odd" / "shop" / "shop.sqlite")
    return tmp_path / "odd"


def _judged(folder: Path, dialect: str) -> dict[str, tuple[Outcome, str]]:
    with Evaluator(str(folder), dialects=dialect, workers=1, cache=False) as evaluator:
        asked = [Answer(str(place), gold) for place, gold in enumerate(GOLDS)]
        found = zip(asked, evaluator.score(asked), strict=True)
        return {str(answer.question): (one.outcome, one.error or "") for answer, one in found}


def _check(judged: dict[str, tuple[Outcome, str]]) -> None:
    for key, (outcome, error) in judged.items():
        assert outcome is (Outcome.MATCH if key in READABLE else Outcome.GOLD_ERROR), (key, error)
        assert "\n" not in error
    assert ":: is PostgreSQL syntax" in judged["1"][1]
    assert "ILIKE is PostgreSQL syntax" in judged["2"][1]


def test_on_sqlite_it_is_a_gold_error(folder: Path) -> None:
    _check(_judged(folder, "sqlite"))


@pytest.mark.engine
@pytest.mark.thorough
def test_on_a_server_it_is_a_gold_error(
    server: Server, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found_by_commands(server, folder, monkeypatch)
    _check(_judged(folder, server.dialect))


@pytest.mark.slow
@pytest.mark.thorough
def test_commands_on_the_whole_set_go_on(folder: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BIRD_PROVISION", "dsn")

    def broken(*spelled: Any) -> str:
        text = spell(*spelled)
        if "price" in text:
            raise KeyError("kind")
        return text

    monkeypatch.setattr(translation, "spell", broken)
    code, _, said = call("translate", "--set", str(folder), "--dialect", "mysql", "--out", "translated")
    assert code == 1
    assert "mysql: 9 golds" in said
    assert "mysql 1: untranslatable" in said
    assert "mysql 8: untranslatable: the statement: the translator failed (KeyError: 'kind')" in said
    assert call("lab", "audit", "--set", str(folder), "--out", "audit")[0] == 0
    assert call("describe", "--set", str(folder))[0] == 0
    asked = ("lab", "predict", "command:cat", "--set", str(folder), "--dialect", "sqlite", "--out", "asked")
    assert call(*asked)[0] == 0
    found = [json.loads(line) for line in Path("asked/answers.jsonl").read_text().splitlines()]
    assert len(found) == len(GOLDS)


@pytest.mark.parametrize(("more", "outcome"), [((), "gold_error"), (("--reference", "sqlite"), "mismatch")])
def test_a_gold_of_several_types_names_what_compares_it(
    tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch, more: Sequence[str], outcome: str
) -> None:
    monkeypatch.chdir(tmp_path)
    gold = "SELECT a FROM t"
    sqlite_file(
        tmp_path / "mine" / "databases" / "m.sqlite", "CREATE TABLE t (a); INSERT INTO t VALUES (7), ('x')"
    )
    (tmp_path / "mine" / "q.json").write_text(json.dumps([{"db_id": "m", "question": "q", "SQL": gold}]))
    (tmp_path / "p.json").write_text(json.dumps([{"question_id": 0, "sql": gold}]))
    asked = ("--set", "mine", "--predictions", "p.json", "--predictor", "p", "--dialect", "duckdb")
    code, _, said = call("eval", *asked, "--driver", "direct", "--profile", "faithful", *more)
    assert code == 0, said
    [line] = (tmp_path / "results" / "latest" / "results.jsonl").read_text().splitlines()
    found = json.loads(line)
    assert found["outcome"] == outcome
    assert ("eval --reference sqlite" in (found["error"] or "")) == (outcome == "gold_error")
