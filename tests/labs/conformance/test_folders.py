from pathlib import Path

import pytest

from dialects.errors import BadInput
from harness.engines.base import statements
from harness.labs.conformance.folders import scripts
from harness.labs.conformance.sqllogictest import QueryRecord, StatementRecord
from tests.sqlite_files import sqlite_file


def put(folder: Path, **files: str) -> None:
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def database(path: Path) -> None:
    sqlite_file(path, "CREATE TABLE t(a)")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("SELECT 1;\nSELECT 2", [(1, "SELECT 1"), (2, "SELECT 2")]),
        ("SELECT ';';SELECT \";\"", [(1, "SELECT ';'"), (1, 'SELECT ";"')]),
        ("\n\n  SELECT\n1;\n\nSELECT 2;", [(3, "SELECT\n1"), (6, "SELECT 2")]),
        ("-- only; a comment\n;;/* ; */", []),
        ("SELECT 1 -- a;b\n, 2;", [(1, "SELECT 1 -- a;b\n, 2")]),
        (
            "CREATE TRIGGER x AFTER INSERT ON t BEGIN SELECT 1; SELECT 2; END; SELECT 3",
            [(1, "CREATE TRIGGER x AFTER INSERT ON t BEGIN SELECT 1; SELECT 2; END"), (1, "SELECT 3")],
        ),
        ("SELECT 'open;", [(1, "SELECT 'open;")]),
    ],
)
def test_statements_end_where_sqlite_ends_them(text: str, found: list[tuple[int, str]]) -> None:
    assert list(statements(text)) == found


def test_a_suite_is_files_and_folders_at_any_depth(tmp_path: Path) -> None:
    put(
        tmp_path,
        a_dot_test="query I\nSELECT 1\n",
        deep__er__b_dot_slt="query I\nSELECT 1\n",
        shop__schema_dot_sql="CREATE TABLE t(a);\nINSERT INTO t VALUES (1);",
        shop__one_dot_sql="SELECT 1;\nSELECT 2",
        shop__two_dot_sql="SELECT 3",
        shop__notes_dot_txt="nothing",
        made__queries_dot_sql="SELECT a FROM t",
    )
    database(tmp_path / "made" / "m.sqlite")
    found = {script.name: script for script in scripts(tmp_path)}
    assert list(found) == ["a.test", "deep/er/b.slt", "made", "shop"]
    shop = list(found["shop"].read())
    assert shop == [
        StatementRecord(1, "CREATE TABLE t(a)"),
        StatementRecord(2, "INSERT INTO t VALUES (1)"),
        QueryRecord(1, "SELECT 1", file="one.sql"),
        QueryRecord(2, "SELECT 2", file="one.sql"),
        QueryRecord(1, "SELECT 3", file="two.sql"),
    ]
    last = shop[-1]
    assert isinstance(last, QueryRecord)
    assert found["shop"].key(last) == "shop/two.sql:1"
    assert found["made"].base == tmp_path / "made" / "m.sqlite"
    assert [script.name for script in scripts(tmp_path / "a.test")] == ["a.test"]
    assert [script.name for script in scripts(tmp_path / "shop")] == ["shop"]


PARAMETERS = """\
-- params: {":low": 1, "name": "Ann"}
-- What the query is for.
SELECT a FROM t WHERE a > :low;
-- params: [7, null, {"hex": "00fF"}]
SELECT a FROM t WHERE a IN (?, ?, ?) AND name = $name;
SELECT a FROM t;
-- params: {"low": 2.5}
SELECT a FROM t WHERE a = @low
  -- params: [1]
"""


def test_values_of_parameters_are_in_comments_before_the_queries(tmp_path: Path) -> None:
    put(tmp_path, x__schema_dot_sql="CREATE TABLE t(a)", x__q_dot_sql=PARAMETERS)
    [script] = scripts(tmp_path)
    values = [record.values for record in script.read() if isinstance(record, QueryRecord)]
    assert values == [
        {"low": 1},
        {"1": 7, "2": None, "3": b"\x00\xff", "name": "Ann"},
        {},
        {"low": 2.5},
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("-- params: [1, 2]\nSELECT ?", "q.sql:1: the query has no parameter 2"),
        ('SELECT 1;\n-- params: {"a": 1}\nSELECT 2', "q.sql:2: no query after it has a parameter a"),
        ("-- params: [1\nSELECT ?", "q.sql:1: params: is not JSON in one line"),
        ("-- params: 7\nSELECT ?", "q.sql:1: params: write an array for [?], or an object"),
        ("\n-- params: [[1]]\nSELECT ?", r"q.sql:2: params: \[1\] is no value"),
        ('-- params: [{"hex": "0"}]\nSELECT ?', "q.sql:1: params: {'hex': '0'} is no value"),
    ],
)
def test_values_that_are_none_are_refused_with_their_line(tmp_path: Path, text: str, says: str) -> None:
    put(tmp_path, x__schema_dot_sql="CREATE TABLE t(a)", x__q_dot_sql=text)
    [script] = scripts(tmp_path)
    with pytest.raises(BadInput, match=says) as refused:
        list(script.read())
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({}, "is not a suite"),
        ({"notes_dot_txt": "nothing"}, "is not a suite"),
        ({"x__queries_dot_sql": "SELECT 1"}, "no schema.sql and no SQLite file next to it"),
        ({"x__schema_dot_sql": "SELECT 1"}, "a database and no queries"),
        (
            {"x__schema_dot_sql": "SELECT 1", "x__m_dot_sqlite": "", "x__q_dot_sql": "SELECT 1"},
            "schema.sql and m.sqlite",
        ),
        ({"x__n_dot_db": "", "x__m_dot_sqlite": "", "x__q_dot_sql": "SELECT 1"}, "has 2 SQLite files"),
    ],
)
def test_what_is_no_suite_is_refused_in_one_line(tmp_path: Path, files: dict[str, str], says: str) -> None:
    put(tmp_path, **files)
    with pytest.raises(BadInput, match=says) as refused:
        scripts(tmp_path)
    assert "\n" not in str(refused.value)


def test_a_suite_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        scripts(tmp_path / "nowhere")
