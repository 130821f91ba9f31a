"""The tables of codes hold the engines' own names, and SQLite's messages are met by real statements."""

import sqlite3
from pathlib import Path

import psycopg.errors
import pytest
from pymysql.constants import ER

from dialects.enums import Dialect
from harness.engines import kind_of
from harness.engines.errors import ErrorClass
from harness.engines.execution import Ending, Limits, execute
from harness.engines.mysql import ERRORS as MYSQL
from harness.engines.postgresql import ERRORS as POSTGRESQL
from harness.engines.sqlite.engine import SQLiteEngine
from harness.sqltree.diagnosis import GROUPS, ErrorGroup, diagnose
from loaders.namespace import Database


def test_postgresqls_codes_have_their_names() -> None:
    for codes in POSTGRESQL.codes.values():
        for code, each in codes.items():
            assert psycopg.errors.lookup(code).__name__.lower() == each.name.replace("_", "")


def test_mysqls_numbers_have_their_names_as_far_as_the_driver_knows_them() -> None:
    known = {f"ER_{name}": str(number) for name, number in vars(ER).items()}
    named = {each.name: code for codes in MYSQL.codes.values() for code, each in codes.items()}
    assert len(named.keys() & known.keys()) >= 25
    assert {name: code for name, code in named.items() if known.get(name, code) != code} == {}


def test_no_code_stands_for_two_classes() -> None:
    for table in (POSTGRESQL, MYSQL):
        codes = [code for codes in table.codes.values() for code in codes]
        assert len(codes) == len(set(codes))


@pytest.fixture(scope="module")
def lib(tmp_path_factory: pytest.TempPathFactory) -> Database:
    path: Path = tmp_path_factory.mktemp("lib") / "lib.sqlite"
    connection = sqlite3.connect(path)
    connection.executescript("CREATE TABLE t (a INTEGER, b TEXT); CREATE TABLE u (a INTEGER, c TEXT);")
    connection.executescript("INSERT INTO t VALUES (1, 'x');")
    connection.close()
    return Database("lib", "lib", path)


REFUSED = {
    ErrorClass.SYNTAX: (
        "SELEC a FROM t",
        "SELECT (a FROM t",
        "SELECT (1",
        "SELECT 'a FROM t",
        "```sql\nSELECT a FROM t\n```",
        "The answer is 42",
        "SELECT a FROM t; SELECT b FROM t",
        "SELECT YEAR(b) FROM t",
        "SELECT a FROM t WHERE b REGEXP 'x'",
        "SELECT a FROM t WHERE b MATCH 'x'",
        "SELECT a::int FROM t",
        "SELECT EXTRACT(YEAR FROM b) FROM t",
        "SELECT SUM(a) OVER w FROM t",
        "SELECT *",
        "SELECT a FROM t UNION SELECT a, c FROM u",
        "SELECT a FROM t WHERE a = (SELECT a, c FROM u)",
        "SELECT a FROM t WHERE a IN (SELECT a, c FROM u)",
        "SELECT a FROM t ORDER BY a UNION SELECT a FROM u",
        "SELECT a FROM t LIMIT 1 UNION SELECT a FROM u",
        "SELECT * FROM t FULL FOO JOIN u",
        "SELECT * FROM t NATURAL JOIN u ON t.a = u.a",
        "VALUES (1), (1, 2)",
        "WITH r(a) AS (SELECT 1, 2) SELECT * FROM r",
        "WITH r AS (SELECT * FROM r) SELECT * FROM r",
        "SELECT SUM(a) OVER (ROWS BETWEEN 1 FOLLOWING AND 1 PRECEDING) FROM t",
        "SELECT SUM(a) OVER (ORDER BY a, b RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM t",
        "INSERT INTO t VALUES (1, 'x')",
        "DROP TABLE t",
        "PRAGMA table_info(t)",
        "SELECT load_extension('x')",
        "SELECT '\0'",
    ),
    ErrorClass.UNKNOWN_TABLE: (
        "SELECT a FROM nope",
        "SELECT a FROM other.t",
        "SELECT x.* FROM t",
    ),
    ErrorClass.UNKNOWN_COLUMN: (
        "SELECT nope FROM t",
        "SELECT T9.a FROM t AS T1",
        "SELECT a FROM t, u",
        "SELECT t.a FROM t JOIN u USING (b)",
        "SELECT t.a FROM t LEFT JOIN u ON t.a = v.a JOIN t AS v",
    ),
    ErrorClass.TYPE_ERROR: (
        "SELECT LENGTH(b, 2) FROM t",
        "SELECT COUNT(DISTINCT a, b) FROM t",
        "SELECT GROUP_CONCAT(DISTINCT b, '/') FROM t",
        "SELECT a FROM t LIMIT 'x'",
        "SELECT JSON_EXTRACT('{', '$.a')",
        "SELECT JSON_EXTRACT('{}', 'a')",
        "SELECT a FROM t WHERE b LIKE 'x' ESCAPE 'yy'",
    ),
    ErrorClass.WRONG_AGGREGATION: (
        "SELECT a FROM t WHERE COUNT(*) > 1",
        "SELECT SUM(COUNT(*)) FROM t",
        "SELECT SUM(a) AS s FROM t WHERE s > 1",
        "SELECT a FROM t WHERE ROW_NUMBER() OVER () = 1",
        "SELECT a FROM t GROUP BY COUNT(*)",
        "SELECT a FROM t GROUP BY 5",
        "SELECT a FROM t HAVING a > 1",
    ),
    ErrorClass.WRONG_ORDER: (
        "SELECT a FROM t ORDER BY 5",
        "SELECT a FROM t UNION SELECT a FROM u ORDER BY nope",
    ),
}


@pytest.mark.parametrize(
    ("expected", "sql"), [(expected, sql) for expected, texts in REFUSED.items() for sql in texts]
)
def test_what_sqlite_refuses_has_the_class_of_its_message(
    lib: Database, expected: ErrorClass, sql: str
) -> None:
    execution = execute(SQLiteEngine(), lib, sql, Limits(seconds=5))
    assert execution.ending is Ending.ERROR
    assert execution.error is not None
    assert kind_of(Dialect.SQLITE).class_of_error(execution.code, execution.error) is expected


@pytest.mark.parametrize(
    ("dialect", "code", "error"),
    [
        (Dialect.SQLITE, "SQLITE_ERROR", "integer overflow"),
        (Dialect.SQLITE, "SQLITE_INTERRUPT", "interrupted"),
        (Dialect.SQLITE, None, "more than 1,000,000 rows"),
        (Dialect.MYSQL, "1242", "Subquery returns more than 1 row"),
        (Dialect.MYSQL, "3024", "Query execution was interrupted, maximum statement execution time exceeded"),
        (Dialect.MYSQL, None, "more than 1,000,000 rows"),
        (Dialect.POSTGRESQL, "22012", "division by zero"),
        (Dialect.POSTGRESQL, "57014", "canceling statement due to statement timeout"),
        (Dialect.POSTGRESQL, None, "more than 268,435,456 bytes"),
    ],
)
def test_an_error_that_depends_on_rows_or_limits_leaves_it_to_the_text(
    dialect: Dialect, code: str | None, error: str
) -> None:
    assert kind_of(dialect).class_of_error(code, error) is None
    prediction = "SELECT a FROM t WHERE b = 'y'"
    assert diagnose(prediction, lambda: None, dialect, code=code, error=error) is ErrorClass.OTHER


def test_what_runs_and_is_no_query_is_syntax() -> None:
    assert diagnose("", lambda: None, Dialect.SQLITE) is ErrorClass.SYNTAX
    assert diagnose("SHOW TABLES", lambda: None, Dialect.MYSQL) is ErrorClass.SYNTAX


def test_every_class_has_a_group() -> None:
    assert GROUPS.keys() == set(ErrorClass)
    assert set(GROUPS.values()) == set(ErrorGroup)
