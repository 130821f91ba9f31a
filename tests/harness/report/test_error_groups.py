"""The paper's groups of a run's failed answers, by what its SQLite files hold."""

import csv
import json
import sqlite3
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest

from harness.analyses.error_groups import _holds
from harness.runs.reader import LATEST, MANIFEST
from harness.sqltree.diagnosis.differences import Equated
from tests.harness import own_sets
from tests.harness.conftest import Call


@pytest.fixture(scope="module")
def stored() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:")
    connection.executescript(
        "CREATE TABLE t (a TEXT, `b (c)` INTEGER);"
        " INSERT INTO t VALUES ('France', 7), ('07.50', NULL), ('2012-01-01', 8)"
    )
    yield connection
    connection.close()


@pytest.mark.parametrize(
    ("column", "text", "is_pattern", "expected"),
    [
        ("t.a", "France", False, True),
        ("t.a", "france", False, False),
        ("t.a", "%ranc_", True, True),
        ("t.a", "%rancy", True, False),
        ("t.a", "7.5", False, True),
        ("t.a", "2012", False, False),
        ("t.b (c)", "7", False, True),
        ("t.b (c)", "9", False, False),
        ("t.a", "%r%y", True, None),
        ("t.a", "\ud800", False, None),
        ("t.a\0", "7", False, None),
        ("t.nope", "7", False, None),
        ("nope", "7", False, None),
    ],
)
def test_a_literal_is_looked_up_in_its_column(
    stored: sqlite3.Connection, column: str, text: str, *, is_pattern: bool, expected: bool | None
) -> None:
    assert _holds(stored, Equated(column, text, is_pattern), ignores_case=False) is expected


def test_an_engine_that_ignores_case_finds_more(stored: sqlite3.Connection) -> None:
    assert _holds(stored, Equated("t.a", "france", is_pattern=False), ignores_case=True) is True


ANSWERS = {
    "SELECT id FROM items WHERE name = 'cup'": "SELECT id FROM items WHERE name = 'a cup'",
    "SELECT price FROM items": "SELECT id FROM items",
    "SELECT id FROM items": "SELECT nope FROM items",
    "SELECT COUNT(*) FROM items": "SELECT COUNT(",
    "SELECT MAX(price) FROM items": "SELECT MIN(price) FROM items",
}
GROUPS = ["schema_linking", "database_content", "syntax", "unassigned"]


@pytest.mark.slow
@pytest.mark.thorough
def test_a_run_is_sorted_by_its_databases_beside_the_papers_shares(tmp_path: Path, call: Call) -> None:
    folder = tmp_path / "shop"
    own_sets.database(folder / "databases" / "shop" / "shop.sqlite")
    asked = [
        {"question_id": key, "db_id": "shop", "question": "?", "SQL": gold, "difficulty": "simple"}
        for key, gold in enumerate(ANSWERS)
    ]
    own_sets.write(folder / "dev.json", asked)
    manifest = 'name = "shop"\ndatabases = "databases"\n[questions]\nsqlite = "dev.json"\n'
    own_sets.write(folder / "benchmark.toml", manifest)
    answers = [{"question_id": key, "sql": sql} for key, sql in enumerate(ANSWERS.values())]
    own_sets.write(tmp_path / "p.jsonl", own_sets.lines(answers))
    given = ("--set", str(folder), "--predictions", "p.jsonl", "--predictor", "p", "--dialect", "sqlite")
    code, _, err = call("eval", *given, "--driver", "direct")
    assert code == 0, err
    run = tmp_path / "results" / LATEST
    found = by_group(call, run)
    assert {group: found["pairs", group] for group in GROUPS} == dict(zip(GROUPS, "1211", strict=True))
    assert found["pairs_percent", "database_content"] == "40.0"
    assert found["paper_percent", "database_content"] == "40.8"

    begun = json.loads((run / MANIFEST).read_text(encoding="utf-8"))
    begun["databases"]["shop"] = "0" * 64
    own_sets.write(run / MANIFEST, begun)
    found = by_group(call, run)
    assert (found["pairs", "database_content"], found["pairs", "unassigned"]) == ("1", "2")
    assert "to look values up in: shop." in call("report", str(run), "--by", "error-group")[1]


def by_group(call: Call, run: Path) -> dict[tuple[str, str], str]:
    """The figures by metric and group."""
    code, text, err = call("report", str(run), "--by", "error-group", "--format", "csv")
    assert code == 0, err
    return {(row["metric"], row["level"]): row["value"] for row in csv.DictReader(StringIO(text))}
