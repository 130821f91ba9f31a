import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from dialects.enums import Dialect, Profile
from dialects.identifiers import FUNCTIONS_NAMESPACE
from harness.analyses.coverage.command import CoverageRequest, measure
from harness.analyses.coverage.golds import GoldTranslator, TranslationProof
from harness.analyses.coverage.plain import Style, plain_texts
from harness.data.sets.loader import load_set
from harness.engines import on_server
from harness.engines.execution import Limits, execute
from harness.scoring.chance.search import unlike_databases
from harness.scoring.chance.shape import of_file
from loaders.file_census import census
from loaders.namespace import Database
from loaders.server import Server
from tests.harness import own_sets
from tests.harness.conftest import Call

ITEMS = ((1, "2.5", 2), (2, "7", 7), (3, "10", 7))
LIKE = "SELECT id FROM items WHERE name LIKE 'pe%' ORDER BY id"
SUM = "SELECT SUM(CAST(name AS REAL)) FROM items WHERE price > 2"
FIRST = "SELECT (SELECT price FROM items WHERE name = '7') AS cost"
GOLDS = {
    "sum": SUM,
    "first": FIRST,
    "bare": "SELECT name, price, MIN(id) + MAX(id) FROM items",
    "short": "SELECT name FROM items WHERE id = 1",
}


@pytest.fixture
def golds(tmp_path: Path) -> Path:
    folder = tmp_path / "golds"
    own_sets.database(folder / "files" / "shop" / "shop.sqlite", ITEMS)
    own_sets.write(
        folder / "questions.json",
        [{"question_id": key, "db_id": "shop", "question": key, "SQL": gold} for key, gold in GOLDS.items()],
    )
    own_sets.write(
        folder / "benchmark.toml", 'name = "golds"\nquestions = "questions.json"\ndatabases = "files"\n'
    )
    return folder


@pytest.mark.parametrize(
    ("gold", "target", "text"),
    [
        (LIKE, "mysql", LIKE),
        (LIKE.replace("LIKE", "like"), "postgresql", LIKE + " NULLS FIRST"),
        ("SELECT IIF(id = 1, 2, 3) FROM items", "mysql", "SELECT IF(id = 1, 2, 3) FROM items"),
        ("SELECT strftime('%Y', name) FROM items", "duckdb", "SELECT SUBSTR(name, 1, 4) FROM items"),
        ("SELECT date(substr(name, 1, 10)) FROM items", "mariadb", "SELECT SUBSTR(name, 1, 10) FROM items"),
        ("SELECT `ID` FROM ITEMS WHERE NAME = 7", "postgresql", "SELECT id FROM items WHERE name = '7'"),
        ("SELECT price / id FROM items", "postgresql", "SELECT price / id FROM items"),
        ("SELECT price / id FROM items", "mysql", "SELECT price DIV id FROM items"),
        ("SELECT price / id FROM items", "duckdb", "SELECT price // id FROM items"),
        ("SELECT SUM(name) FROM items", "duckdb", "SELECT SUM(CAST(name AS DOUBLE)) FROM items"),
        (SUM, "postgresql", SUM.replace("REAL", "DOUBLE PRECISION")),
    ],
)
def test_the_shortest_plain_text_says_it_as_a_person_would(
    golds: Path, gold: str, target: str, text: str
) -> None:
    schema = census(golds / "files" / "shop" / "shop.sqlite")
    assert plain_texts(gold, schema, Dialect(target))[0] == text


@pytest.mark.parametrize("gold", ["SELECT 1; SELECT 2", "SELECT", "PRAGMA table_info(items)"])
def test_what_is_no_query_has_no_plain_text_that_is_wrong(golds: Path, gold: str) -> None:
    schema = census(golds / "files" / "shop" / "shop.sqlite")
    assert len(plain_texts(gold, schema, Dialect.MYSQL)) <= 1


def test_small_databases_differ_in_what_a_query_returns(golds: Path) -> None:
    shape = of_file(golds / "files" / "shop" / "shop.sqlite")
    found = list(unlike_databases(shape, FIRST, 5))
    assert found[0][1] == {table.key: [] for table in found[0][0].tables}
    assert 2 <= len(found) <= 5
    assert not list(unlike_databases(shape, "SELECT random()", 5))


@pytest.mark.engine
def test_a_plain_form_replaces_the_exact_one_where_both_proofs_hold(golds: Path, server: Server) -> None:
    questions, target = load_set(str(golds)), server.dialect
    translator = GoldTranslator(questions, [target], {target: server}, Limits(seconds=10), style=Style.PLAIN)
    found = {one.question.key: one for one in translator.golds(target, 1)}
    assert {one.certificate.proof for one in found.values()} == {TranslationProof.PROVEN}

    plain = found["sum"].certificate
    assert plain.style is Style.PLAIN
    assert FUNCTIONS_NAMESPACE not in found["sum"].sql
    assert FUNCTIONS_NAMESPACE in (plain.exact or "")
    assert plain.witnesses
    for key in ("first", "bare", "short"):
        kept = found[key].certificate
        assert (kept.style, kept.exact, kept.witnesses) == (Style.EXACT, None, None), key

    # On the loaded database alone this one would have passed: it fails where two names are equal.
    path = golds / "files" / "shop" / "shop.sqlite"
    text = plain_texts(FIRST, census(path), target)[0]
    database = Database("golds", "shop", path, Profile.FAITHFUL)
    with closing(sqlite3.connect(path)) as connection:
        expected = connection.execute(FIRST).fetchall()
    there = questions.database("shop", Profile.FAITHFUL)
    assert database.db_id == there.db_id
    assert list(execute(on_server(server), there, text, Limits(seconds=10)).rows) == expected
    assert found["first"].sql != text


@pytest.mark.engine
def test_coverage_measures_plain_forms(golds: Path, tmp_path: Path, server: Server) -> None:
    request = CoverageRequest(str(golds), style=Style.PLAIN, out=tmp_path / "out", workers=1)
    measured = measure(request, {server.dialect: server})
    assert measured.title.endswith(", 1 as plain forms")
    written = json.loads((measured.folder / "coverage.json").read_text(encoding="utf-8"))
    assert written["style"] == "plain"
    answers = {each["question"]: each for each in written["answers"]}
    assert all(each["covered"] for each in answers.values())
    assert answers["sum"]["witnesses"] >= 1
    assert FUNCTIONS_NAMESPACE in answers["sum"]["exact"]
    assert "exact" not in answers["short"]


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (("translate", "SELECT 1", "--database", "x.sqlite", "--dialect", "mysql"), "leave out the rest"),
        (("coverage", "--gold", "dataset"), "--style plain: is for translated golds"),
        (
            ("translate", "--set", "sample", "--dialect", "mysql", "--out", "x", "--predictions", "y"),
            "--style plain: is for golds",
        ),
    ],
)
def test_plain_is_for_translated_golds(call: Call, command: tuple[str, ...], says: str) -> None:
    code, printed, said = call(*command, "--style", "plain")
    assert (code, printed) == (2, "")
    assert says in said
