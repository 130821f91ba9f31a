"""Gold packs and SQLite's rows as gold, through runs on every engine."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from harness import Answer, Evaluator
from harness.data.gold_packs import with_golds
from harness.data.outcomes import Outcome
from harness.data.set_manifest import PUBLISHED
from harness.data.sets.loader import load_set
from harness.engines import dialect_of
from harness.provision import dsn
from harness.runs.reader import MANIFEST
from loaders.server import Server
from tests.harness import own_sets
from tests.harness.conftest import Call
from tests.loaders.servers import drop

GOLDS = {
    1: ("SELECT name FROM items WHERE price > 3", "any of two"),
    2: ("SELECT COUNT(*) FROM items", "excluded"),
    3: ("SELECT AVG(price) FROM items", "corrected"),
    4: ("SELECT MAX(price) FROM items", "as published"),
}
ANSWERS = {
    1: "SELECT name FROM items WHERE price < 3",
    2: "SELECT 3",
    3: "SELECT AVG(day) FROM sales",
    4: "SELECT 7",
}
PACK = [
    {"question_id": 1, "sql": ["SELECT 'no'", "SELECT name FROM items WHERE id = 1"]},
    {"question_id": 2, "status": "excluded", "reason": "the question can be read in any way"},
    {"question_id": 3, "sql": "SELECT AVG(day * 1.0) FROM sales", "reason": "it asks for days"},
]


@pytest.fixture
def asked(tmp_path: Path) -> Path:
    """A set with gold in every dialect, and a predictor's answers."""
    folder = tmp_path / "asked"
    own_sets.database(folder / "dev_databases" / "shop" / "shop.sqlite")
    questions = [
        {"question_id": key, "db_id": "shop", "question": about, "SQL": gold, "difficulty": "simple"}
        for key, (gold, about) in GOLDS.items()
    ]
    for dialect in PUBLISHED:
        own_sets.write(folder / f"{dialect}.json", questions)
    files = "".join(f'{dialect} = "{dialect}.json"\n' for dialect in PUBLISHED)
    own_sets.write(
        folder / "benchmark.toml", f'name = "asked"\ndatabases = "dev_databases"\n[questions]\n{files}'
    )
    lines = [
        {"question_id": key, "dialect": dialect, "sql": sql}
        for dialect in PUBLISHED
        for key, sql in ANSWERS.items()
    ]
    own_sets.write(tmp_path / "answers.jsonl", own_sets.lines(lines))
    own_sets.write(tmp_path / "fix.json", {"name": "fix", "version": "1", "set": "asked", "golds": PACK})
    return folder


def in_time(results: Path) -> list[Path]:
    """The runs, the earliest first; two of one second have names in any order."""
    runs = [path for path in results.iterdir() if not path.is_symlink()]
    return sorted(runs, key=lambda run: json.loads((run / MANIFEST).read_text(encoding="utf-8"))["started"])


def outcomes(folder: Path) -> Mapping[int, Any]:
    lines = (folder / "results.jsonl").read_text(encoding="utf-8").splitlines()
    return {one["question_id"]: one for one in map(json.loads, lines)}


@pytest.fixture
def served(server: Server, asked: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server that commands find."""
    monkeypatch.setenv("BIRD_PROVISION", "dsn")
    address = f"{server.dialect}://{server.user}:{server.password}@{server.address}"
    monkeypatch.setenv(dsn.variable(server.dialect), address)
    yield server
    drop(server, load_set(str(asked)).collection)


@pytest.mark.engine
@pytest.mark.thorough
def test_runs_under_two_golds_stand_side_by_side(
    asked: Path, tmp_path: Path, served: Server, call: Call
) -> None:
    dialect = served.dialect
    usual = ("--set", str(asked), "--predictions", str(tmp_path / "answers.jsonl"), "--predictor", "own")
    how = ("--dialect", f"sqlite,{dialect}", "--gold", "published", "--gold", str(tmp_path / "fix.json"))
    code, printed, said = call("eval", *usual, *how, "--no-report")
    assert code == 0, said
    assert "3 compared on servers" not in said
    first, second = in_time(tmp_path / "results")
    assert {key: one["outcome"] for key, one in outcomes(first).items()} == {
        1: "mismatch", 2: "match", 3: "mismatch", 4: "match",
    }  # fmt: skip
    held = outcomes(second)
    assert {key: one["outcome"] for key, one in held.items()} == {1: "match", 3: "match", 4: "match"}
    assert {key: one["gold_origin"] for key, one in held.items()} == {
        1: "sqlite_rows", 3: "sqlite_rows", 4: "dataset",
    }  # fmt: skip
    assert held[1]["gold_index"] == 1
    manifest = json.loads((second / "manifest.json").read_text(encoding="utf-8"))
    assert {name: manifest["gold"][name] for name in ("name", "version", "corrected", "by_rows")} == {
        "name": "fix", "version": "1", "corrected": 2, "by_rows": 2,
    }  # fmt: skip
    assert "Questions that moved" in printed
    assert "Not asked under fix 1: 2." in printed
    assert json.loads((second / "golds.json").read_text(encoding="utf-8"))
    line = "Gold pack fix 1: 2 questions with another gold, 1 of them with several golds"
    code, printed, _ = call("compare", f"{first}:{dialect}", f"{second}:{dialect}")
    assert code == 0
    assert f"B: {line}" in " ".join(printed.split())
    code, printed, _ = call("report", str(second), "--format", "markdown", "--table", "paper")
    assert code == 0
    assert line in printed
    code, printed, _ = call("compare", "--golds", str(first), str(second), "--format", "csv")
    assert code == 0
    assert "fix 1" in printed


@pytest.mark.engine
@pytest.mark.thorough
def test_answers_are_held_against_the_rows_of_sqlite(
    asked: Path, tmp_path: Path, served: Server, call: Call
) -> None:
    """The average is a decimal there, and another number than Python's of SQLite's."""
    answers = [
        {"question_id": key, "dialect": served.dialect, "sql": gold} for key, (gold, _) in GOLDS.items()
    ]
    own_sets.write(tmp_path / "answers.jsonl", own_sets.lines(answers))
    usual = ("--set", str(asked), "--predictions", str(tmp_path / "answers.jsonl"), "--predictor", "own")
    how = ("--dialect", served.dialect, "--reference", "sqlite", "--no-report")
    code, printed, said = call("eval", *usual, *how)
    assert code == 0, said
    assert "are compared with the rows of SQLite's golds" in printed
    [folder] = (path for path in (tmp_path / "results").iterdir() if not path.is_symlink())
    found = outcomes(folder)
    assert {one["outcome"] for one in found.values()} == {"match"}
    assert {one["gold_origin"] for one in found.values()} == {"sqlite_rows"}
    code, _, said = call("eval", *usual, *how, "--metrics", "ex,r_ves")
    assert code == 2
    assert "4 questions (1, ...) are compared with the rows of SQLite's gold" in said


@pytest.mark.slow
def test_the_library_takes_a_pack(asked: Path, tmp_path: Path) -> None:
    with Evaluator(str(asked), gold=tmp_path / "fix.json", cache=False, workers=1) as evaluator:
        first, third = evaluator.score([Answer(1, ANSWERS[1]), Answer(3, "SELECT 2.0")])
    assert (first.outcome, first.gold_index, third.outcome) == (Outcome.MATCH, 1, Outcome.MATCH)


@pytest.mark.engine
@pytest.mark.thorough
def test_golds_of_a_pack_are_translated_and_proven(
    asked: Path, tmp_path: Path, served: Server, call: Call
) -> None:
    dialect, pack, out = served.dialect, str(tmp_path / "fix.json"), tmp_path / "out"
    how = ("--set", str(asked), "--gold", pack, "--dialect", dialect)
    code, _, said = call("translate", *how, "--out", str(out))
    assert code == 0, said
    assert "2 lists of several golds" in said
    found = (out / f"asked_{dialect}_certificates.jsonl").read_text(encoding="utf-8").splitlines()
    assert [
        (one["question"], one["gold_index"], one["proof"]) for one in map(json.loads, found)
    ] == [("1", 0, "proven"), ("1", 1, "proven"), ("3", 0, "proven"), ("4", 0, "proven")]  # fmt: skip
    again = with_golds(load_set(str(out)), str(out))
    assert len(again.by_key["1"].each(dialect_of(dialect))) == 2
    assert not again.by_key["1"].by_rows
    code, printed, said = call("coverage", *how, "--out", str(tmp_path / "coverage"))
    assert code == 0, said
    assert "Translated golds of fix 1 of asked" in printed
    [report] = (tmp_path / "coverage").glob("*/coverage.json")
    code, printed, said = call("coverage", *how, "--out", str(tmp_path / "again"), "--json")
    assert code == 0, said
    answers = json.loads(printed)["answers"]
    written = json.loads(report.read_text(encoding="utf-8"))["answers"]
    assert [one["sql"] for one in answers] == [one["sql"] for one in written]
    assert [(one["question"], one["covered"]) for one in answers] == [
        ("1", True), ("1 (2)", True), ("3", True), ("4", True),
    ]  # fmt: skip


def test_two_packs_are_two_runs_and_not_to_be_resumed(asked: Path, call: Call) -> None:
    code, _, said = call("eval", "--set", str(asked), "--gold", "a", "--gold", "b", "--resume", "results/x")
    assert (code, said.count("\n")) == (2, 1)
    assert "--resume: completes one run" in said
