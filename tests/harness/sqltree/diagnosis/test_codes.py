"""The tables of codes hold the engines' own names, and SQLite's messages are met by real statements."""

from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path

import psycopg.errors
import pytest
from pymysql.constants import ER
from rich.console import Console

from dialects.enums import Dialect
from harness.data.outcomes import GoldOrigin, Outcome, PairResult
from harness.data.questions import Difficulty
from harness.engines import kind_of
from harness.engines.errors import ErrorClass
from harness.engines.execution import Ending, Limits, execute
from harness.engines.mysql import ERRORS as MYSQL
from harness.engines.postgresql import ERRORS as POSTGRESQL
from harness.engines.sqlite.engine import SQLiteEngine
from harness.report.console import print_grids
from harness.report.measures import diagnosis_grid
from harness.runs.summary import error_classes
from harness.sqltree.diagnosis import diagnose, read
from harness.sqltree.diagnosis.differences import RULES
from loaders.namespace import Database
from tests.harness.sqltree.diagnosis.library import diagnosed
from tests.sqlite_files import sqlite_file


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
    sqlite_file(
        path,
        "CREATE TABLE t (a INTEGER, b TEXT); CREATE TABLE u (a INTEGER, c TEXT);",
        "INSERT INTO t VALUES (1, 'x');",
    )
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
        (Dialect.SQLITE, "SQLITE_INTERRUPT", "stopped after 30 s, the time limit"),
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


@pytest.mark.parametrize(
    ("prediction", "expected"),
    [
        ("SELECT Title FROM Author WHERE (", ErrorClass.WRONG_TABLES),
        ("SELECT Title FROM [BOOK], Author WHERE (", ErrorClass.OTHER),
        ("SELECT 1; SELECT Title FROM Author WHERE (", ErrorClass.OTHER),
        ("DELETE FROM Author", ErrorClass.SYNTAX),
    ],
)
def test_a_text_that_cannot_be_read_lacks_the_tables_that_it_does_not_name(
    prediction: str, expected: ErrorClass
) -> None:
    assert read(prediction, Dialect.SQLITE) is None
    assert diagnosed(prediction, "SELECT Title FROM Book", Dialect.SQLITE) is expected


def result(error_class: ErrorClass | None, dialect: Dialect = Dialect.SQLITE) -> PairResult:
    return PairResult(
        dialect=dialect,
        predictor="p[1]",
        question="1",
        question_id=1,
        db_id="d",
        difficulty=Difficulty.SIMPLE,
        outcome=Outcome.MATCH if error_class is None else Outcome.MISMATCH,
        scores={},
        gold_origin=GoldOrigin.DATASET,
        error_class=error_class,
    )


ON_SQLITE = [
    result(ErrorClass.SYNTAX),
    result(None),
    result(ErrorClass.WRONG_ORDER),
    result(ErrorClass.SYNTAX),
]
ON_MYSQL = [result(ErrorClass.OTHER, Dialect.MYSQL)]


def printed(rows: Sequence[Sequence[PairResult]]) -> list[list[str]]:
    grid = diagnosis_grid(rows)
    assert grid is not None
    console = Console(file=StringIO(), width=200, no_color=True)
    print_grids([grid], console)
    return [line.split() for line in console.file.getvalue().splitlines()]  # type: ignore[attr-defined]


def test_a_summary_counts_every_class_also_those_of_no_pair() -> None:
    counts = error_classes(ON_SQLITE)
    assert list(counts) == list(ErrorClass)
    assert {name: count for name, count in counts.items() if count} == {"syntax": 2, "wrong_order": 1}


def test_a_table_has_a_row_per_predictor_and_engine_and_a_column_per_class_that_occurs() -> None:
    lines = printed([ON_SQLITE, ON_MYSQL])
    assert ["predictor", "engine", "syntax", "order", "other"] in lines
    assert ["p[1]", "SQLite", "2", "1", "0"] in lines
    assert ["p[1]", "MySQL", "0", "0", "1"] in lines


def test_there_is_no_table_where_everything_matches() -> None:
    assert diagnosis_grid([[result(None)], []]) is None


GOLD = (
    "SELECT T1.Title, T2.Name FROM Book AS T1 INNER JOIN Author AS T2 ON T1.AuthorID = T2.AuthorID "
    "WHERE T1.Pages > 100 AND T2.Country = 'France' ORDER BY T1.Price DESC LIMIT 3"
)
GROUPED = (
    "SELECT T2.Name, SUM(T1.Price), COUNT(*) FROM Book AS T1 INNER JOIN Author AS T2 "
    "ON T1.AuthorID = T2.AuthorID GROUP BY T2.AuthorID HAVING COUNT(*) > 2"
)
SHARE = "SELECT SUM(CASE WHEN Pages > 100 THEN 1 ELSE 0 END) * 100.0 / COUNT(*) FROM Book"
TOP = "SELECT Title FROM Book WHERE Pages = (SELECT MAX(Pages) FROM Book)"
UNION = "SELECT Title FROM Book UNION SELECT Name FROM Author"

EDITS: Mapping[ErrorClass, Sequence[tuple[str, str, str]]] = {
    ErrorClass.WRONG_TABLES: [
        (GOLD, "Author AS T2", "Genre AS T2"),
        (GOLD, " INNER JOIN Author AS T2 ON T1.AuthorID = T2.AuthorID", ""),
        (GOLD, " WHERE", " INNER JOIN Loan AS T3 ON T3.Book = T1.BookID WHERE"),
        (GOLD, " WHERE", " INNER JOIN Loan AS T3 ON T3.Book = T1.BookID WHERE T3.Fine > 0 AND"),
        (UNION, " UNION SELECT Name FROM Author", ""),
    ],
    ErrorClass.WRONG_COLUMNS: [
        (GOLD, "T1.Title, T2.Name", "T1.Title"),
        (GOLD, "T1.Title, T2.Name", "T2.Name, T1.Title"),
        (GOLD, "T1.Title, T2.Name", "T1.Title, T2.Country"),
        (GOLD, "T1.Title, T2.Name", "*"),
        (GOLD, "T1.Title", "T1.Title, T1.Price"),
        (GOLD, "T1.Title", "UPPER(T1.Title)"),
        (GOLD, "T1.Title, T2.Name", "CONCAT(T1.Title, T2.Name)"),
        (GROUPED, "SUM(T1.Price)", "SUM(T1.Pages)"),
        (GROUPED, "SUM(T1.Price), COUNT(*)", "COUNT(*), SUM(T1.Price)"),
    ],
    ErrorClass.WRONG_AGGREGATION: [
        (GROUPED, "SUM(T1.Price)", "AVG(T1.Price)"),
        (GROUPED, "SUM(T1.Price)", "T1.Price"),
        (GROUPED, "SUM(T1.Price)", "SUM(DISTINCT T1.Price)"),
        (GROUPED, "SUM(T1.Price)", "SUM(T1.Price) / 12"),
        (GROUPED, "COUNT(*) FROM", "COUNT(DISTINCT T1.BookID) FROM"),
        (GROUPED, "COUNT(*) FROM", "COUNT(T1.Published) FROM"),
        (GROUPED, "GROUP BY T2.AuthorID", "GROUP BY T2.Country"),
        (GROUPED, " GROUP BY T2.AuthorID", ""),
        (GROUPED, "GROUP BY T2.AuthorID", "GROUP BY T2.AuthorID, T2.Country"),
        (SHARE, "* 100.0 /", "/"),
        (SHARE, "THEN 1", "THEN Pages"),
    ],
    ErrorClass.WRONG_CONDITION: [
        (GOLD, "T1.Pages > 100 AND ", ""),
        (GOLD, "WHERE", "WHERE T1.Published IS NOT NULL AND"),
        (GOLD, "WHERE T1.Pages", "WHERE T1.Price"),
        (GOLD, "Pages > 100", "Pages >= 100"),
        (GOLD, "T1.Pages > 100", "NOT T1.Pages > 100"),
        (GOLD, "T2.Country = 'France'", "T2.Country <> 'France'"),
        (GOLD, "T2.Country = 'France'", "T2.Country NOT LIKE 'France'"),
        (GOLD, "T2.Country = 'France'", "T2.Country NOT IN ('France')"),
        (GOLD, "T2.Country = 'France'", "NOT EXISTS (SELECT * FROM Author WHERE Country = 'France')"),
        (GOLD, "T1.Pages > 100 AND", "T1.Pages > 100 OR"),
        (GOLD, "T2.Country = 'France'", "UPPER(T2.Country) = 'France'"),
        (GOLD, "T1.AuthorID = T2.AuthorID", "T1.BookID = T2.AuthorID"),
        (GOLD, "INNER JOIN", "LEFT JOIN"),
        (GROUPED, " HAVING COUNT(*) > 2", ""),
        (GROUPED, "HAVING COUNT(*) > 2", "HAVING SUM(T1.Price) > 2"),
        (SHARE, "Pages > 100", "Price > 100"),
        (SHARE, "FROM Book", "FROM Book WHERE Price IS NOT NULL"),
        (UNION, "UNION", "EXCEPT"),
    ],
    ErrorClass.WRONG_LITERAL: [
        (GOLD, "'France'", "'FR'"),
        (GOLD, "= 'France'", "LIKE '%Fran%'"),
        (GOLD, "= 'France'", "IN ('France', 'Italy')"),
        (GOLD, "100", "1000"),
        (GROUPED, "> 2", "> 3"),
        (SHARE, "> 100 THEN", "> 200 THEN"),
        (SHARE, "100.0", "1000.0"),
    ],
    ErrorClass.WRONG_ORDER: [
        (GOLD, "DESC", "ASC"),
        (GOLD, "LIMIT 3", "LIMIT 1"),
        (GOLD, "LIMIT 3", "LIMIT 3 OFFSET 1"),
        (GOLD, " LIMIT 3", ""),
        (GOLD, " ORDER BY T1.Price DESC", ""),
        (GOLD, "ORDER BY T1.Price DESC", "ORDER BY T1.Pages DESC"),
        (GOLD, "ORDER BY T1.Price", "ORDER BY ABS(T1.Price)"),
        (GOLD, "SELECT", "SELECT DISTINCT"),
        (TOP, "MAX", "MIN"),
        (TOP, "WHERE Pages = (SELECT MAX(Pages) FROM Book)", "ORDER BY Pages LIMIT 1"),
        (TOP, "WHERE Pages = (SELECT MAX(Pages) FROM Book)", "ORDER BY Pages DESC LIMIT 1"),
    ],
    ErrorClass.OTHER: [
        (GOLD, "INNER JOIN", "JOIN"),
        (GOLD, "T1.Pages > 100", "T1.Pages > 100 AND TRUE"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("expected", "gold", "old", "new"),
    [(expected, *edit) for expected, edits in EDITS.items() for edit in edits],
)
@pytest.mark.parametrize("dialect", Dialect)
def test_an_edit_of_one_kind_has_its_class(
    dialect: Dialect, expected: ErrorClass, gold: str, old: str, new: str
) -> None:
    prediction = gold.replace(old, new, 1)
    assert prediction != gold
    assert diagnosed(prediction, gold, dialect) is expected


FIRST_ROUND = [
    (ErrorClass.WRONG_TABLES, "Author AS T2", "Genre AS T2"),
    (ErrorClass.WRONG_COLUMNS, "T1.Title, T2.Name", "T1.Title"),
    (ErrorClass.WRONG_AGGREGATION, "FROM Book", ", COUNT(*) FROM Book"),
    (ErrorClass.WRONG_CONDITION, "T1.Pages > 100 AND ", ""),
    (ErrorClass.WRONG_LITERAL, "'France'", "'FR'"),
    (ErrorClass.WRONG_ORDER, "DESC LIMIT 3", "LIMIT 3"),
]


def test_of_several_differences_the_first_in_order_counts() -> None:
    gold = GOLD.replace("FROM Book", ", MAX(T1.Price) FROM Book", 1)
    for place, (expected, *_) in enumerate(FIRST_ROUND):
        prediction = gold
        for error_class, old, new in FIRST_ROUND[place:]:
            if error_class is ErrorClass.WRONG_AGGREGATION:
                prediction = prediction.replace("MAX(T1.Price)", "MIN(T1.Price)")
            else:
                prediction = prediction.replace(old, new, 1)
        assert diagnosed(prediction, gold, Dialect.SQLITE) is expected
    assert [error_class for error_class, *_ in FIRST_ROUND] == [found for found, _ in RULES[:6]]


def test_a_table_that_is_only_joined_comes_after_what_decides_rows() -> None:
    joined = GOLD.replace(" WHERE", " JOIN Loan AS T3 ON T3.Book = T1.BookID WHERE")
    assert diagnosed(joined, GOLD, Dialect.SQLITE) is ErrorClass.WRONG_TABLES
    assert diagnosed(joined.replace("'France'", "'FR'"), GOLD, Dialect.SQLITE) is ErrorClass.WRONG_LITERAL


@pytest.mark.parametrize("gold", [GOLD, GROUPED, SHARE, TOP, UNION])
@pytest.mark.parametrize("dialect", Dialect)
def test_a_prediction_that_says_what_gold_says_has_no_class_of_its_own(dialect: Dialect, gold: str) -> None:
    assert diagnosed(gold, gold, dialect) is ErrorClass.OTHER
