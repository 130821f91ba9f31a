"""Golds on databases whose values are escaped: they mean what they mean on SQLite, or they fail by name."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from dialects.enums import Dialect, Profile
from harness import Evaluator, Triple
from harness.data.outcomes import Outcome
from harness.data.sets.loader import load_databases, load_set
from harness.session.plan import prepare
from harness.session.request import Request
from loaders.bulk_load import load
from loaders.server import Server
from tests.engines.test_unloadable import found_by_commands
from tests.evaluating import evaluated
from tests.harness import own_sets
from tests.loaders.servers import drop
from tests.sqlite_files import sqlite_file

SCRIPT = """
CREATE TABLE mixed (id INTEGER PRIMARY KEY, v);
INSERT INTO mixed VALUES (1, 7), (2, '7'), (3, 'x');
CREATE TABLE endless (id INTEGER PRIMARY KEY, v);
INSERT INTO endless VALUES (1, 'inf'), (2, 9e999), (3, 1.5);
CREATE TABLE blobs (id INTEGER PRIMARY KEY, v);
INSERT INTO blobs VALUES (1, x'ff'), (2, 'text');
CREATE TABLE large (id INTEGER PRIMARY KEY, v NUMERIC);
INSERT INTO large VALUES (1, 9007199254740993), (2, 1.5);
CREATE TABLE trees (id INTEGER PRIMARY KEY, n TEXT, height INTEGER);
INSERT INTO trees VALUES (1, CAST(x'54726579657320416C626172726163D14E' AS TEXT), 3),
    (2, CAST(x'54726579D1' AS TEXT), 4), (3, 'Oak', 5);
CREATE TABLE plain (id INTEGER PRIMARY KEY, n TEXT);
INSERT INTO plain VALUES (1, 'a'), (2, 'b');
CREATE VIEW tall AS SELECT n FROM trees WHERE height > 3;
"""

MATCH, WRONG, FAILED = Outcome.MATCH, Outcome.MISMATCH, Outcome.GOLD_ERROR
NOTHING = "SELECT id FROM plain WHERE 1 = 0"

CASES = (
    # gold, prediction, outcome of the translated gold, of the gold as it is, the column that is named
    ("SELECT n FROM plain", "SELECT n FROM plain", MATCH, MATCH, None),
    ("SELECT height FROM trees", "SELECT height FROM trees", MATCH, MATCH, None),
    ("SELECT count(*) FROM trees", "SELECT 3", MATCH, MATCH, None),
    ("SELECT t.n FROM plain t JOIN trees u ON t.id = u.id", "SELECT n FROM plain", MATCH, MATCH, None),
    ("SELECT id FROM trees WHERE n LIKE 'Trey%'", NOTHING, FAILED, FAILED, "trees.n"),
    ("SELECT t.id FROM plain p JOIN trees t ON t.n < p.n", NOTHING, WRONG, FAILED, "trees.n"),
    ("SELECT count(DISTINCT n) FROM trees", "SELECT 3", MATCH, FAILED, "trees.n"),
    ("SELECT * FROM trees WHERE 1 = 0", NOTHING, FAILED, FAILED, "trees.n"),
    ("SELECT id FROM mixed WHERE v = 7", "SELECT id FROM mixed WHERE v = '7'", MATCH, FAILED, "mixed.v"),
    ("SELECT id FROM mixed WHERE v = '7'", "SELECT 1", WRONG, FAILED, "mixed.v"),
    ("SELECT id FROM mixed", "SELECT id FROM mixed", MATCH, MATCH, None),
    ("SELECT id FROM endless WHERE v > 1", NOTHING, FAILED, FAILED, "endless.v"),
    ("SELECT id FROM blobs WHERE v = 'text'", "SELECT 2", MATCH, FAILED, "blobs.v"),
    ("SELECT v || '!' FROM blobs WHERE typeof(v) <> 'blob'", "SELECT 'text!'", MATCH, FAILED, "blobs.v"),
    ("SELECT v || '!' FROM blobs WHERE typeof(v) <> typeof(id)", NOTHING, FAILED, FAILED, "blobs.v"),
    ("SELECT id FROM large WHERE v < 2", "SELECT 2", MATCH, FAILED, "large.v"),
    ("SELECT id FROM large WHERE id NOT IN (SELECT v FROM large)", NOTHING, WRONG, FAILED, "large.v"),
)  # fmt: skip


@pytest.fixture
def file(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A file that is loaded with escaped values on the server that commands find, in both profiles."""
    found_by_commands(server, tmp_path, monkeypatch)
    path = sqlite_file(tmp_path / "databases" / "shop.sqlite", SCRIPT)
    questions = load_databases(path)
    load([questions.database("shop", profile) for profile in Profile], server, escape=True)
    yield path
    drop(server, questions.collection)


@pytest.mark.engine
def test_golds_on_escaped_values_are_exact_or_fail(server: Server, file: Path) -> None:
    triples = [
        Triple("shop", gold, sql, gold_dialect=language)
        for language in (Dialect.SQLITE, server.dialect)
        for gold, sql, *_ in CASES
    ]
    with Evaluator(
        databases=file, dialects=server.dialect, profile="faithful", workers=1, cache=False
    ) as evaluator:
        found = evaluator.score(triples)
    expected = [each[2] for each in CASES] + [each[3] for each in CASES]
    asked = [(triple.gold_dialect, triple.gold) for triple in triples]
    outcomes = [one.outcome for one in found]
    assert list(zip(asked, outcomes, strict=True)) == list(zip(asked, expected, strict=True))
    for (*_, column), judgement in zip(CASES, found[len(CASES) :], strict=True):
        said = judgement.error or ""
        assert column is None or f"it reads {column}, whose values are escaped on {server.dialect}" in said


@pytest.mark.engine
def test_rows_of_sqlite_are_no_reference_for_escaped_values(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found_by_commands(server, tmp_path, monkeypatch)
    folder, views = tmp_path / "grove", [("SELECT n FROM tall", NOTHING, FAILED, FAILED, "trees.n")]
    cases = [*CASES, *views]
    sqlite_file(own_sets.database(folder / "shop" / "shop.sqlite"), SCRIPT)
    asked = [
        {"question_id": place, "db_id": "shop", "question": f"{place}?", "SQL": gold, "difficulty": "simple"}
        for place, (gold, *_) in enumerate(cases)
    ]
    own_sets.write(folder / "grove.json", asked)
    answers = {str(place): f"{sql}\t----- bird -----\tshop" for place, (_, sql, *_) in enumerate(cases)}
    own_sets.write(tmp_path / f"predict_grove_m_{server.dialect}.json", answers)
    questions = load_set(str(folder))
    load([questions.database("shop")], server, escape=True)
    request = Request(
        set_name=str(folder), predictions=[tmp_path / f"predict_grove_m_{server.dialect}.json"],
        predictor="m", dialects=[server.dialect], reference="sqlite", cache=False, out=tmp_path / "out",
    )  # fmt: skip
    try:
        with prepare(request, say=lambda _: None) as plan:
            found = {result.question: result for result in evaluated(plan)}
    finally:
        drop(server, questions.collection)
    for place, (gold, _, _, as_it_is, column) in enumerate(cases):
        result = found[str(place)]
        assert (gold, result.outcome) == (gold, as_it_is)
        assert column is None or f"it reads {column}, " in (result.error or "")
