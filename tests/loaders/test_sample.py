"""The sample benchmark holds what its README promises, and its generated files are current."""

import csv
import hashlib
import json
import re
import sqlite3
import struct
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import sqlglot
from sqlglot import exp
from sqlglot.optimizer.scope import traverse_scope

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.engines import on_server
from harness.engines.execution import Limits, execute
from loaders.bulk_load import load
from loaders.namespace import Database
from loaders.sample import PREDICTIONS, build, sample_folder, table_names
from loaders.server import Server
from tests.every_engine import LOADED
from tests.loaders import sample_baselines as baselines
from tests.loaders import sample_tables as tables

SERVERS = LOADED

Question = dict[str, Any]
DATABASES = ("botanic_garden", "city_library", "island_ferries", "mountain_weather")
STORED_AS = {"INTEGER": "integer", "REAL": "real", "TEXT": "text", "DATE": "text", "DATETIME": "text"}


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("sample"))


WRITTEN = [dialect for dialect in Dialect if dialect is not Dialect.MARIADB]
"""The dialects that the sample has golds in; MySQL's are MariaDB's, too."""


def questions(folder: Path, dialect: Dialect = Dialect.SQLITE) -> list[Question]:
    written = Dialect.MYSQL if dialect is Dialect.MARIADB else dialect
    loaded: list[Question] = json.loads((folder / f"sample_{written}.json").read_text(encoding="utf-8"))
    return loaded


def database(folder: Path, db_id: str) -> Path:
    return folder / "dev_databases" / db_id / f"{db_id}.sqlite"


def rows(folder: Path, db_id: str, sql: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(database(folder, db_id))) as connection:
        return connection.execute(sql).fetchall()


def columns(folder: Path) -> Iterator[tuple[str, str, str, str]]:
    """Database, table, column and declared type of every column."""
    for db_id in DATABASES:
        with closing(sqlite3.connect(database(folder, db_id))) as connection:
            for table in table_names(connection):
                for name, declared in connection.execute(
                    "SELECT name, type FROM PRAGMA_TABLE_INFO(?)", [table]
                ):
                    yield db_id, table, name, declared


def digests(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_holds_four_databases_and_66_questions(sample: Path) -> None:
    asked = questions(sample)
    assert [question["question_id"] for question in asked] == list(range(1, 67))
    assert Counter(question["difficulty"] for question in asked) == {
        "simple": 24,
        "moderate": 24,
        "challenging": 18,
    }
    assert {question["db_id"] for question in asked} == set(DATABASES)
    assert sorted(path.name for path in (sample / "dev_databases").iterdir()) == list(DATABASES)
    assert sum(not question["evidence"] for question in asked) >= 3


def test_dialects_ask_the_same_questions_in_the_same_order(sample: Path) -> None:
    without_sql = [
        [{key: value for key, value in question.items() if key != "SQL"} for question in questions(sample, d)]
        for d in WRITTEN
    ]
    assert all(each == without_sql[0] for each in without_sql)


@pytest.mark.parametrize("dialect", WRITTEN)
def test_gold_lines_agree_with_the_questions(sample: Path, dialect: Dialect) -> None:
    lines = (sample / f"sample_{dialect}_gold.sql").read_text(encoding="utf-8").splitlines()
    assert lines == [f"{question['SQL']}\t{question['db_id']}" for question in questions(sample, dialect)]


def test_every_gold_answers_with_more_than_null_or_zero(sample: Path) -> None:
    empty = [
        question["question_id"]
        for question in questions(sample)
        if not any(value for row in rows(sample, question["db_id"], question["SQL"]) for value in row)
    ]
    assert empty == []


def test_table_names_are_unique_over_all_databases(sample: Path) -> None:
    names = Counter(table.lower() for _, table in {(db_id, table) for db_id, table, _, _ in columns(sample)})
    assert names.total() == 24
    assert set(names.values()) == {1}


def test_columns_store_what_they_declare(sample: Path) -> None:
    for db_id, table, name, declared in columns(sample):
        stored = rows(sample, db_id, f'SELECT DISTINCT TYPEOF("{name}") FROM "{table}"')
        assert {kind for (kind,) in stored} <= {STORED_AS[declared], "null"}, (db_id, table, name)


def test_foreign_keys_hold(sample: Path) -> None:
    for db_id in DATABASES:
        assert rows(sample, db_id, "PRAGMA foreign_key_check") == []


def test_reals_are_exact_in_four_bytes(sample: Path) -> None:
    for db_id, table, name, declared in columns(sample):
        if declared == "REAL":
            values = [v for (v,) in rows(sample, db_id, f'SELECT "{name}" FROM "{table}"') if v is not None]
            assert [struct.unpack("f", struct.pack("f", value))[0] for value in values] == values


def test_data_holds_what_makes_dialects_differ(sample: Path) -> None:
    stored: dict[str, list[Any]] = {"INTEGER": [], "REAL": [], "TEXT": [], "DATE": [], "DATETIME": []}
    for db_id, table, name, declared in columns(sample):
        stored[declared] += [value for (value,) in rows(sample, db_id, f'SELECT "{name}" FROM "{table}"')]
    assert all(None in values for values in stored.values())
    assert max(value or 0 for value in stored["INTEGER"]) > 2**32
    texts = [text for text in stored["TEXT"] if text is not None]
    assert {"", "007", "7", "ro-ro", "Ro-Ro", "Col de l'Âne"} <= set(texts)
    assert any(ord(character) > 0xFFFF for text in texts for character in text)
    identifiers = {name for _, table, column, _ in columns(sample) for name in (table, column)}
    assert {"order", "group", "Opening Hours", "Germination Rate (%)", "Storm Alerts"} <= identifiers


def test_descriptions_name_every_column(sample: Path) -> None:
    described = []
    for db_id in DATABASES:
        for path in (sample / "dev_databases" / db_id / "database_description").iterdir():
            with path.open(newline="", encoding="utf-8") as file:
                for row in csv.DictReader(file, strict=True):
                    assert row["column_description"]
                    described.append((db_id, path.stem, row["original_column_name"], row["data_format"]))
    assert sorted(described) == sorted(
        (d, t, name, declared.lower()) for d, t, name, declared in columns(sample)
    )


def test_tables_file_is_current() -> None:
    assert json.loads(tables.PATH.read_text(encoding="utf-8")) == tables.describe_all()


def test_tables_file_says_keys_by_position() -> None:
    ferries = next(entry for entry in tables.describe_all() if entry["db_id"] == "island_ferries")
    names = [name for _, name in ferries["column_names_original"]]
    assert [[names[at] for at in key] for key in ferries["primary_keys"] if isinstance(key, list)] == [
        ["RouteID", "order"],
        ["RouteID", "category"],
    ]
    assert ["from_port", "port_id"] in [[names[at], names[to]] for at, to in ferries["foreign_keys"]]


def test_building_again_gives_the_same_bytes(sample: Path, tmp_path: Path) -> None:
    assert digests(build(tmp_path / "again")) == digests(sample)


@pytest.mark.slow
def test_cache_is_built_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BIRD_CACHE", str(tmp_path))
    folder = sample_folder()
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    assert sample_folder() == folder
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before
    assert folder.parent == tmp_path / "sample"


@pytest.mark.slow
def test_rest_of_an_interrupted_build_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BIRD_CACHE", str(tmp_path / "first"))
    name = sample_folder().name
    staging = tmp_path / "second" / "sample" / f"{name}.staging"
    (staging / "dev_databases" / DATABASES[0]).mkdir(parents=True)
    monkeypatch.setenv("BIRD_CACHE", str(tmp_path / "second"))
    assert len(questions(sample_folder())) == 66
    assert not staging.exists()


@pytest.mark.slow
def test_several_processes_may_build_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BIRD_CACHE", str(tmp_path))
    command = [sys.executable, "-c", "from loaders.sample import sample_folder; print(sample_folder())"]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    answers = {process.communicate()[0].strip() for process in running}
    assert [process.returncode for process in running] == [0, 0, 0]
    assert answers == {str(sample_folder())}
    assert len(questions(sample_folder())) == 66


def test_cache_that_cannot_be_written_is_bad_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("BIRD_CACHE", str(tmp_path / "file"))
    with pytest.raises(BadInput, match="set BIRD_CACHE to a writable folder"):
        sample_folder()


def test_predictions_are_current() -> None:
    committed = {path.name: path.read_text(encoding="utf-8") for path in PREDICTIONS.glob("*.json")}
    assert committed == baselines.prediction_files()


def test_predictions_are_in_the_official_format() -> None:
    for path in PREDICTIONS.glob("*.json"):
        answers = json.loads(path.read_text(encoding="utf-8"))
        assert list(answers) == [str(position) for position in range(66)]
        assert all(answer.count(baselines.SEPARATOR) == 1 for answer in answers.values())


def _outcomes(sample: Path, predictor: str) -> Counter[tuple[str, str]]:
    """How often each outcome happens in each difficulty on SQLite."""
    path = PREDICTIONS / f"predict_sample_{predictor}_sqlite.json"
    counts: Counter[tuple[str, str]] = Counter()
    answers = json.loads(path.read_text(encoding="utf-8")).values()
    for question, answer in zip(questions(sample), answers, strict=True):
        gold = set(rows(sample, question["db_id"], question["SQL"]))
        try:
            same = set(rows(sample, question["db_id"], answer.split(baselines.SEPARATOR)[0])) == gold
        except sqlite3.Error:
            outcome = "error"
        else:
            outcome = "match" if same else "mismatch"
        counts[question["difficulty"], outcome] += 1
    return counts


def test_baselines_match_miss_and_fail_in_every_difficulty(sample: Path) -> None:
    every_fifth_wrong = _outcomes(sample, "every-fifth-wrong")
    assert sum(count for (_, outcome), count in every_fifth_wrong.items() if outcome == "match") == 53
    assert sum(count for (_, outcome), count in every_fifth_wrong.items() if outcome == "mismatch") == 13
    assert len(_outcomes(sample, "careless")) == 9


def _unified(value: Any) -> Any:
    """Numbers by value and times as SQLite keeps them, so that the engines' answers can be compared."""
    if isinstance(value, int | float | Decimal):
        return round(float(value), 9)
    if isinstance(value, datetime):
        return value.replace(tzinfo=None).isoformat(" ")
    return value.isoformat() if isinstance(value, date) else value


@pytest.mark.engine
def test_every_gold_answers_as_on_sqlite(sample: Path, server: Server) -> None:
    databases = {db_id: Database("bird_sample", db_id, database(sample, db_id)) for db_id in DATABASES}
    load(list(databases.values()), server)
    engine = on_server(server)
    different: dict[int, object] = {}
    for question, original in zip(questions(sample, server.dialect), questions(sample), strict=True):
        answer = execute(engine, databases[question["db_id"]], question["SQL"], Limits())
        expected = rows(sample, original["db_id"], original["SQL"])
        got, wanted = (
            {tuple(map(_unified, row)) for row in answered} for answered in (answer.rows, expected)
        )
        if answer.error is not None or got != wanted:
            different[question["question_id"]] = answer.error or got ^ wanted
    assert different == {}


GOLDS = [
    entry["SQL"]
    for entry in json.loads(
        (PREDICTIONS.parent / "questions" / "sample_sqlite.json").read_text(encoding="utf-8")
    )
]


def _bare_columns(select: exp.Select) -> bool:
    group = select.args.get("group")
    return group is not None and any(
        isinstance(item, exp.Column) and item not in group.expressions for item in select.selects
    )


def _self_join(select: exp.Select) -> bool:
    sources = [select.args.get("from_"), *select.args.get("joins", [])]
    names = Counter(
        source.this.name for source in sources if source is not None and isinstance(source.this, exp.Table)
    )
    return any(count > 1 for count in names.values())


def _each_select(test: Callable[[exp.Select], bool]) -> Callable[[exp.Expr], bool]:
    return lambda tree: any(test(select) for select in tree.find_all(exp.Select))


def _correlated(tree: exp.Expr) -> bool:
    return any(scope.is_correlated_subquery for scope in traverse_scope(tree))


PATTERNS: dict[str, tuple[str, int]] = {
    "IIF": (r"\bIIF\(", 2),
    "CAST AS REAL": (r"\bCAST\(.* AS REAL\)", 3),
    "SUBSTR": (r"\bSUBSTR\(", 2),
    "LIKE": (r" LIKE ", 3),
    "INSTR": (r"\bINSTR\(", 2),
    "STRFTIME": (r"\bSTRFTIME\(", 4),
    "JULIANDAY": (r"\bJULIANDAY\(", 3),
    "DATE()": (r"\bDATE\(", 3),
    "integer division": (r"(Pages|capacity|strike_ms|\)\)?|0\)) / \w", 4),
    "window function": (r" OVER \(", 4),
    "CTE": (r"^WITH (?!RECURSIVE)", 2),
    "recursive CTE": (r"^WITH RECURSIVE", 4),
    "UNION": (r" UNION SELECT", 2),
    "UNION ALL": (r" UNION ALL SELECT", 2),
    "INTERSECT": (r" INTERSECT ", 2),
    "EXCEPT": (r" EXCEPT ", 2),
    "EXISTS": (r"(?<!NOT )EXISTS \(", 2),
    "NOT EXISTS": (r"NOT EXISTS \(", 1),
    "NOT IN": (r" NOT IN \(SELECT", 3),
    "CASE": (r"\bCASE WHEN", 2),
    "HAVING": (r" HAVING ", 2),
    "GROUP_CONCAT": (r"GROUP_CONCAT\(", 2),
    "ROUND": (r"ROUND\(", 2),
    "COALESCE": (r"COALESCE\(", 2),
    "IFNULL": (r"IFNULL\(", 2),
    "NULLIF": (r"NULLIF\(", 2),
    "ORDER BY a column with NULLs": (r"ORDER BY (population|elevation_m|current_ka)", 3),
    "LIMIT m, n": (r"LIMIT \d+, \d+", 2),
    "OFFSET": (r"OFFSET \d", 1),
    "LEFT JOIN": (r" LEFT JOIN ", 2),
    "backticks": (r"`", 10),
    "double quotes": (r'"', 5),
    "brackets": (r"\[", 3),
    "COUNT(DISTINCT)": (r"COUNT\(DISTINCT", 2),
    "AVG": (r"AVG\(", 5),
    "text compared with a number": (r'("Shelf Mark"|imo) = \d', 2),
    "||": (r"\|\|", 2),
    "sum of a condition": (r"SUM\((LOWER\(status\)|alive) =|SUM\(patron_id IN", 3),
    "mixed case": (r"\bLOWER\(", 4),
}

TREES: dict[str, tuple[Callable[[exp.Expr], bool], int]] = {
    "bare column in GROUP BY": (_each_select(_bare_columns), 5),
    "bare column with MAX": (
        _each_select(
            lambda select: _bare_columns(select) and any(isinstance(i, exp.Max) for i in select.selects)
        ),
        2,
    ),
    "self join": (_each_select(_self_join), 2),
    "correlated subquery": (_correlated, 3),
}


@pytest.mark.parametrize("construct", PATTERNS)
def test_golds_exercise(construct: str) -> None:
    pattern, least = PATTERNS[construct]
    assert sum(bool(re.search(pattern, sql)) for sql in GOLDS) >= least


@pytest.mark.parametrize("construct", TREES)
def test_golds_exercise_the_shape(construct: str) -> None:
    shape, least = TREES[construct]
    assert sum(shape(sqlglot.parse_one(sql, read="sqlite")) for sql in GOLDS) >= least
