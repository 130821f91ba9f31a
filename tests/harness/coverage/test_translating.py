import hashlib
import io
import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from dialects.enums import Dialect, Profile
from dialects.translation import Untranslatable, translate
from harness.analyses.coverage import expectations
from harness.data.outcomes import AnswerUsage
from harness.data.prediction_files import Label, label
from harness.data.predictions import read_predictions
from harness.data.set_manifest import PUBLISHED
from harness.data.sets.loader import load_set
from harness.engines import on_server
from harness.engines.execution import Limits, execute
from harness.provision import dsn
from harness.runs.reader import golds_note
from loaders.bulk_load import load
from loaders.file_census import census
from loaders.namespace import Database
from loaders.server import Server
from tests.harness import own_sets
from tests.harness.conftest import Call
from tests.sqlite_files import sqlite_file

SERVERS = ("mysql", "postgresql")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return own_sets.database(tmp_path / "shop.sqlite")


@pytest.mark.engine
def test_what_is_printed_gives_sqlites_rows_on_the_server(shop: Path, server: Server, call: Call) -> None:
    query = "SELECT name, price / 2, name || price FROM items WHERE name LIKE 'P%' OR price > '5' ORDER BY id"
    code, printed, said = call("translate", query, "--database", str(shop), "--dialect", server.dialect)
    assert (code, said) == (0, "")
    database = Database("translate_text", "shop", shop, Profile.FAITHFUL)
    load([database], server)
    with closing(sqlite3.connect(shop)) as connection:
        expected = connection.execute(query).fetchall()
    assert len(expected) == 3
    found = execute(on_server(server), database, printed, Limits(seconds=10))
    assert list(found.rows) == expected


@pytest.mark.parametrize("dialect", SERVERS)
def test_a_warning_stands_beside_the_translation(shop: Path, call: Call, dialect: str) -> None:
    query = "SELECT name, SUM(price) FROM items"
    code, printed, said = call("translate", query, "--database", str(shop), "--dialect", dialect)
    assert code == 0
    assert printed.startswith("SELECT ")
    assert said.startswith("warning: a column is neither grouped nor aggregated")
    asked = ("--database", str(shop), "--dialect", dialect, "--json")
    found = json.loads(call("translate", query, *asked)[1])
    assert found["sql"] == printed.removesuffix("\n")
    assert found["dialect"] == dialect
    assert len(found["warnings"]) == 1


def test_a_text_is_read_from_standard_input(shop: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = ("--database", str(shop), "--dialect", "mysql")
    query = "SELECT 'Ž'\nFROM items;\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(query.encode())))
    assert call("translate", "-", *asked) == call("translate", query, *asked)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"SELECT '\xff'")))
    code, printed, said = call("translate", "-", *asked)
    assert (code, printed) == (2, "")
    assert "standard input: is not UTF-8" in said


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("SELECT ? FROM items", "the parameter 1: its place does not tell its type; give a sample value"),
        ("DELETE FROM items", "DELETE is no query"),
        ("UPDATE items SET id = id", "UPDATE is no query"),
        ("EXPLAIN SELECT 1", "EXPLAIN is no query: only queries are translated"),
        ("EXPLAIN QUERY PLAN SELECT 1", "EXPLAIN is no query: only queries are translated"),
        ("PRAGMA table_info(items)", "PRAGMA is no query: only queries are translated"),
        ("/* x */ vacuum", "VACUUM is no query: only queries are translated"),
        ("BEGIN", "BEGIN is no query: only queries are translated"),
        ("WITH c AS (SELECT 1) DELETE FROM items", "DELETE is no query: only queries are translated"),
        (
            "WITH c AS (SELECT 1) REPLACE INTO items SELECT * FROM items",
            "after WITH is no query: only queries",
        ),
        ("SELECT id FROM items WHERE name MATCH 'x'", "MATCH at character 32: it searches a full-text index"),
        ("SELECT id FROM items WHERE name NOT MATCH 'x'", "MATCH at character 36: it searches a full-text"),
        ("SELECT match('x', name) FROM items", "match() at character 7: it searches a full-text index"),
        ("SELECT printf('%c', id) FROM items", "no rewrite knows this conversion"),
    ],
)
def test_what_has_no_translation_exits_with_1(shop: Path, call: Call, query: str, says: str) -> None:
    asked = ("--database", str(shop), "--dialect", "postgresql")
    code, printed, said = call("translate", query, *asked)
    assert (code, printed) == (1, "")
    assert said.startswith("no translation: ")
    assert says in said
    code, printed, _ = call("translate", query, *asked, "--json")
    assert code == 1
    refused = json.loads(printed)
    assert refused["sql"] is None
    assert says in refused["refusal"]
    with closing(sqlite3.connect(shop)) as connection:
        assert connection.execute("SELECT COUNT(*) FROM items").fetchone() == (3,)


def test_a_file_has_a_translation_for_each_statement(shop: Path, call: Call) -> None:
    path = own_sets.write(
        shop.parent / "queries.sql",
        "-- by id\nSELECT name FROM items WHERE id = ?;\n\n/* all;\n of them */ SELECT 'a;--b'"
        " FROM items /*! 1 */\n"
        "WHERE name LIKE :p;\nUPDATE items SET id = 1;\nDELETE FROM items;\nSELECT cost FROM items",
    )
    asked = (str(path), "--database", str(shop), "--dialect", "postgresql")
    code, printed, said = call("translate", *asked)
    assert code == 1
    assert printed.startswith(
        "-- by id\n-- parameters: 1 (integer)\n"
        "SELECT name FROM items WHERE id = CAST(%s AS BIGINT);\n\n"
        "-- all;\n-- of them\n-- ! 1\n-- parameters: p (text)\nSELECT 'a;--b' FROM"
    )
    assert (
        "-- no translation: the statement: UPDATE is no query: only queries are translated\n-- UPDATE"
        in printed
    )
    assert f"{path}:7: no translation: the statement: UPDATE is no query" in said
    assert "2 of 5 statements translated" in said
    for kind in ("UPDATE is no query", "DELETE is no query", "SQLite does not take the text"):
        assert f"  1 refused: {kind}" in said
    code, printed, _ = call("translate", *asked, "--json")
    lines = [json.loads(line) for line in printed.split("\n") if line]
    assert [(each["line"], each["sql"] is None) for each in lines][:3] == [(1, False), (4, False), (7, True)]
    path.write_text("SELECT 1;\nSELECT 2;\n")
    assert call("translate", *asked) == (
        0,
        "SELECT 1;\n\nSELECT 2;\n\n",
        f"{path}: 2 of 2 statements translated\n",
    )


def test_a_column_of_blobs_and_texts_is_translated_for_databases_loaded_with_escape(
    shop: Path, call: Call
) -> None:
    sqlite_file(shop, "UPDATE items SET name = x'00ff' WHERE id = (SELECT min(id) FROM items)")
    asked = ("--database", str(shop), "--dialect", "mysql")
    assert call("translate", "SELECT id FROM items", *asked)[0] == 0
    code, _, said = call("translate", "SELECT name FROM items", *asked)
    assert code == 1
    assert "the column name" in said
    assert "load the database with --escape" in said
    assert call("translate", "SELECT name FROM items", *asked, "--escape")[0] == 0


def test_parameters_are_written_for_the_driver(shop: Path, call: Call) -> None:
    asked = ("--database", str(shop), "--dialect", "mysql")
    code, printed, said = call(
        "translate", "SELECT ?, :b FROM items", *asked, "--param", "1=x", "--param", ":b=2"
    )
    assert (code, printed) == (0, "SELECT %(p1)s, CAST(%(b)s AS SIGNED) FROM items\n")
    assert said == "parameters, pyformat: 1 (text), b (integer)\n"
    path = own_sets.write(shop.parent / "values.json", ["x", 2.5])
    code, printed, _ = call(
        "translate", "SELECT ?, ?", *asked, "--params", str(path), "--json", "--paramstyle", "qmark"
    )
    found = json.loads(printed)
    assert found["sql"] == "SELECT ?, CAST(? AS DOUBLE)"
    assert found["parameters"] == [{"name": "1", "type": "text"}, {"name": "2", "type": "real"}]
    assert found["paramstyle"] == "qmark"


@pytest.mark.parametrize("query", ["name REGEXP 'x'", "name NOT REGEXP 'x'", "regexp('x', name)"])
def test_regexp_is_refused_for_one_reason(shop: Path, call: Call, query: str) -> None:
    says = "SQLite has it only with an extension"
    query = f"SELECT {query} FROM items"
    with pytest.raises(Untranslatable, match=says):
        translate(query, census(shop), Dialect.POSTGRESQL)
    code, printed, said = call("translate", query, "--database", str(shop), "--dialect", "postgresql")
    assert (code, printed) == (2, "")
    assert said.count(says) == 1


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("SELECT 1; SELECT 2",), "several statements"),
        (("SELECT FROM",), "syntax error"),
        (("SELECT cost FROM items",), "no such column: cost"),
        (("SELECT 1 FROM orders",), "no such table: orders"),
        (("",), "incomplete input"),
        (("/* nothing */",), "incomplete input"),
        (("SELECT '\udcff'",), "characters that no text has"),
        (("SELECT 1", "--database", "text.txt"), "file is not a database"),
        (("SELECT 1", "--database", "missing.sqlite"), "unable to open database file"),
        (("SELECT 1", "--database", "."), "give the path of a complete SQLite file"),
        (("SELECT 1", "--dialect", "sqlite"), "name mysql, postgresql, duckdb or mariadb"),
        (("SELECT 1", "--dialect", "all"), "name mysql, postgresql, duckdb or mariadb"),
        (("SELECT 1", "--dialect", "oracle"), "is not a dialect"),
        (("SELECT :a", "--param", "a"), "--param a: is not NAME=VALUE"),
        (("SELECT :a", "--params", "text.json"), "text.json: is a number; write an object of values"),
        (("missing.sql",), "missing.sql: cannot be read (No such file"),
    ],
)
def test_bad_input_is_one_line_and_exits_with_2(
    shop: Path, call: Call, args: tuple[str, ...], says: str
) -> None:
    (shop.parent / "text.txt").write_text("no database " * 200)
    (shop.parent / "text.json").write_text("7")
    usual = ("--database", str(shop), "--dialect", "mysql")
    code, printed, said = call("translate", *usual, *args)
    assert (code, printed) == (2, "")
    assert says in said
    assert said.count("\n") == 1


ASKED = (
    ("most", "SELECT name FROM items ORDER BY price DESC LIMIT 1"),
    ("two", "SELECT 1; SELECT 2"),
    ("lines", "SELECT name || '\n' FROM items ORDER BY id"),
    ("bare", "SELECT name, COUNT(*) FROM items"),
)


@pytest.fixture
def asked(tmp_path: Path) -> Path:
    """A set of four questions: one has no translation, one a text of two lines, one a warning."""
    folder = tmp_path / "asked"
    own_sets.database(folder / "files" / "shop" / "shop.sqlite")
    own_sets.write(
        folder / "questions.json",
        [
            {
                "question_id": key,
                "db_id": "shop",
                "question": key,
                "SQL": gold,
                "difficulty": "any",
                "types": key,
            }
            for key, gold in ASKED
        ],
    )
    manifest = 'name = "asked"\nquestions = "questions.json"\ndatabases = "files"\n'
    own_sets.write(folder / "benchmark.toml", f"{manifest}types = {json.dumps([key for key, _ in ASKED])}\n")
    return folder


def certificates(folder: Path, dialect: str, name: str = "asked") -> list[dict[str, object]]:
    text = (folder / f"{name}_{dialect}_certificates.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.engine
def test_a_translated_set_is_evaluated_with_its_golds(
    asked: Path, tmp_path: Path, server: Server, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"{server.dialect}://{server.user}:{server.password}@{server.address}"
    monkeypatch.setenv(dsn.variable(server.dialect), address)
    monkeypatch.setenv("BIRD_PROVISION", "dsn")
    out, dialect = tmp_path / "translated", server.dialect
    usual = ("--set", str(asked), "--dialect", dialect, "--out", str(out))
    code, printed, said = call("translate", *usual)
    assert (code, printed) == (1, "")
    assert f"{dialect} two: untranslatable: " in said
    assert f"asked_{dialect}_gold.sql: question lines: it holds a line break" in said
    found = certificates(out, dialect)
    assert [one["question"] for one in found] == [key for key, _ in ASKED]
    assert [one["proof"] for one in found][:3] == ["proven", "untranslatable", "proven"]
    assert found[3]["warnings"]
    lines = (out / f"asked_{dialect}_gold.sql").read_text(encoding="utf-8").splitlines()
    assert [line.split("\t")[1] for line in lines] == ["shop"] * len(ASKED)
    assert [line.startswith("UNTRANSLATABLE: ") for line in lines] == [False, True, True, False]

    translated = load_set(str(out))
    assert translated.name == "asked_translated"
    assert translated.profile is Profile.FAITHFUL
    assert [one.own_types for one in translated.questions] == [(key,) for key, _ in ASKED]
    assert label(
        Path("predict_asked_mine_mysql.json"), translated.name, None, None, translated.questions_of
    ) == (Label("mine", "mysql", None))
    answers = own_sets.write(
        tmp_path / "answers.jsonl",
        own_sets.lines(
            [
                {"question_id": one.key, "dialect": dialect, "sql": one.gold[dialect]}
                for one in translated.questions
            ]
        ),
    )
    scored = ("--predictions", str(answers), "--predictor", "gold", "--dialect", dialect)
    code, _, said = call(
        "eval", "--set", str(out), *scored, "--out", str(tmp_path / "results"), "--no-report"
    )
    assert code == 0
    assert "asked_translated: loaded in profile faithful" in said
    [run] = (tmp_path / "results").glob("2*")
    results = (run / "results.jsonl").read_text(encoding="utf-8").splitlines()
    outcomes = {one["question"]: one["outcome"] for one in map(json.loads, results)}
    assert outcomes == {"most": "match", "two": "gold_error", "lines": "match", "bare": "match"}


ANSWERS = {
    "most": "SELECT name FROM items WHERE price = 7 ORDER BY id LIMIT 1",
    "two": "SELECT nme FROM items",
    "lines": None,
    "bare": "SELECT name FROM pragma_function_list()",
}


def test_answers_are_translated_and_marked_as_such(asked: Path, tmp_path: Path, call: Call) -> None:
    lines: list[dict[str, object]] = [
        {"question_id": key, "sql": sql, **({} if sql else {"reason": "it was silent"})}
        for key, sql in ANSWERS.items()
    ]
    lines[0] |= {"prompt_tokens": 80, "seconds": 1.5}
    given = own_sets.write(tmp_path / "predict_asked_ours_sqlite.jsonl", own_sets.lines(lines))
    how = ("--set", str(asked), "--predictions", str(given), "--dialect", "mysql", "--out", "translated")
    code, printed, said = call("translate", *how)
    assert (code, printed) == (0, "")
    assert "4 answers, 3 of them missing, with the reason" in said
    assert "--profile faithful --reference sqlite --allow-missing" in said
    [file] = read_predictions([tmp_path / "translated"], load_set(str(asked)), allow_missing=True)
    assert (file.predictor, file.dialect, file.translated_from) == ("ours-translated", "mysql", "sqlite")
    assert "ORDER BY" in (file.predictions["most"] or "")
    assert file.usage == {lines[0]["question_id"]: AnswerUsage(prompt_tokens=80, seconds=1.5)}
    assert {key: why[:40] for key, why in file.reasons.items()} == {
        "two": "SQLite does not take the answer: no such",
        "lines": "it was silent",
        "bare": file.reasons["bare"][:40],
    }
    assert file.reasons["bare"].startswith("no translation: ")
    [note] = golds_note(
        {"predictions": [{"predictor": "a", "dialect": "mysql", "translated_from": "sqlite"}]}
    )
    assert note == "a in mysql: its answers in sqlite, translated by bird-harness; it did not write these."
    code, _, said = call("translate", *how, "--gold", "x")
    assert (code, said) == (
        2,
        "bird-harness: --gold: selects golds to translate; leave out --gold or --predictions\n",
    )


@pytest.fixture
def no_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for dialect in (Dialect.MYSQL, Dialect.POSTGRESQL):
        monkeypatch.delenv(dsn.variable(dialect), raising=False)
    monkeypatch.setenv("BIRD_PROVISION", "native")
    monkeypatch.setenv("BIRD_STATE", str(tmp_path / "state"))


@pytest.mark.usefixtures("no_server")
def test_without_a_server_golds_are_written_and_not_proven(asked: Path, tmp_path: Path, call: Call) -> None:
    out = tmp_path / "translated"
    usual = ("translate", "--set", str(asked), "--out", str(out))
    code, _, said = call(*usual, "--dialect", "mysql")
    assert code == 1
    assert "mysql: 4 golds: 0 proven, 0 expected, 3 unproven, 1 untranslatable\n" in said
    assert {one["detail"] for one in certificates(out, "mysql") if one["sql_sha256"]} == {"no server was up"}
    before = (out / "asked_mysql.json").read_bytes()
    assert call(*usual, "--dialect", "postgresql")[0] == 1
    assert (out / "asked_mysql.json").read_bytes() == before
    assert set(load_set(str(out)).questions[0].gold) == set(PUBLISHED)


@pytest.mark.slow
@pytest.mark.usefixtures("no_server")
def test_what_is_expected_of_the_sample_is_said_without_a_server(tmp_path: Path, call: Call) -> None:
    out = tmp_path / "out"
    assert call("translate", "--set", "sample", "--dialect", "mysql", "--out", str(out))[0] == 0
    covered = {one.sha256 for one in expectations.read("sample")[Dialect.MYSQL].values()}
    found = certificates(out, "mysql", "sample")
    assert {one["proof"] for one in found if one["sql_sha256"] in covered} == {"expected"}
    assert {one["proof"] for one in found if one["sql_sha256"] not in covered} <= {"unproven"}


def test_a_folder_of_others_is_left_alone(asked: Path, call: Call) -> None:
    usual = ("translate", "--set", str(asked), "--dialect", "mysql", "--out")
    for out in (asked, asked / "questions.json", asked / "files"):
        code, _, said = call(*usual, str(out))
        assert code == 2
        assert "holds something else" in said
    assert sorted(path.name for path in asked.iterdir()) == ["benchmark.toml", "files", "questions.json"]


@pytest.mark.parametrize(
    "args",
    [
        ("SELECT 1",),
        ("--set", "sample"),
        ("--out", "there"),
        ("SELECT 1", "--set", "sample", "--out", "there"),
        ("--set", "sample", "--out", "there", "--json"),
    ],
)
def test_a_query_and_a_set_are_told_apart(call: Call, args: tuple[str, ...]) -> None:
    code, printed, said = call("translate", *args, "--dialect", "mysql")
    assert (code, printed) == (2, "")
    assert "give a query and --database, or --set and --out" in said


def test_a_translated_set_can_be_published_beside_its_databases(
    tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BIRD_PROVISION", "dsn")
    folder = tmp_path / "work" / "mine"
    own_sets.database(folder / "files" / "shop.sqlite")
    asked = [
        {"question_id": 7, "db_id": "shop", "question": "?", "SQL": "SELECT name FROM items",
         "difficulty": "hard", "types": "b"}
    ]  # fmt: skip
    own_sets.write(folder / "asked.json", asked)
    tables = own_sets.write(folder / "tables.json", [own_sets.schema()])
    own_sets.write(
        folder / "benchmark.toml",
        'name = "mine"\ntitle = "Mine"\nquestions = "asked.json"\ndatabases = "files"\n'
        'tables = "tables.json"\nlevels = ["easy", "hard"]\ntypes = ["a", "b"]\n'
        '[domains]\nshop = "retail: \\"small\\""\n'
        f'[digests]\n"tables.json" = "{hashlib.sha256(tables.read_bytes()).hexdigest()}"\n',
    )
    out = tmp_path / "work" / "mine_translated"
    code, _, said = call("translate", "--set", str(folder), "--dialect", "mysql", "--out", str(out))
    assert code == 0, said
    manifest = (out / "benchmark.toml").read_text(encoding="utf-8")
    assert str(tmp_path) not in manifest
    # Whoever unpacks both folders elsewhere has the whole set.
    (tmp_path / "work").rename(tmp_path / "published")
    before = load_set(str(tmp_path / "published" / "mine"))
    after = load_set(str(tmp_path / "published" / "mine_translated"))
    assert after.database("shop").sqlite_path.is_file()
    assert after.domains == before.domains == {"shop": 'retail: "small"'}
    assert after.schemas == before.schemas != {}
    assert (after.levels, after.own_types) == (before.levels, before.own_types)
    assert [*after.digests.values()] == [*before.digests.values()]
    assert after.questions[0].gold.keys() == {Dialect.SQLITE, Dialect.MYSQL}


def test_a_table_whose_name_has_a_blank_is_named_for_one_without(tmp_path: Path, call: Call) -> None:
    path = sqlite_file(tmp_path / "shop.sqlite", 'CREATE TABLE "Order Details" (id INTEGER)')
    where = ("--database", str(path), "--dialect", "postgresql")
    code, _, said = call("translate", "SELECT id FROM OrderDetails", *where)
    assert (code, said.count("\n")) == (2, 1)
    assert 'no such table: OrderDetails; write "Order Details", if that table is meant' in said
    assert "no such table: Orders; correct it" in call("translate", "SELECT id FROM Orders", *where)[2]
