"""Which texts are sent to a server, where they end their statements, and whose fault an error is."""

import subprocess
import sys

import pymysql
import pytest

from dialects.errors import BadInput
from harness.analyses.coverage.answers import DifferenceReason
from harness.engines import TITLES, in_order, kind_of, kinds, served
from harness.engines.base import EngineLost, SqlError, SqlTimeout, SqlTooLarge, SqlUnreadable
from harness.engines.mysql.connections import translated
from harness.engines.mysql.engine import refused
from harness.engines.postgresql.statements import MOST, statements


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1",
        "select 1",
        " \t\r\n((SELECT 1))",
        "WITH a AS (SELECT 1) SELECT * FROM a",
        "TABLE t",
        "VALUES ROW(1)",
        "SHOW TABLES",
        "EXPLAIN SELECT 1",
        "DESC t",
        "SELECT/* a */1",
        "/* a */ SELECT 1",
        "/* a * / ! */-- b\n# c\n--\nSELECT 1",
        "/*+ a */ SELECT 1",
        "",
        "-- nothing",
    ],
)
def test_queries_and_texts_without_any_statement_are_sent(sql: str) -> None:
    assert refused(sql) is None


@pytest.mark.parametrize(
    ("sql", "begins"),
    [
        ("KILL 5", "KILL"),
        ("kill 5", "kill"),
        ("(KILL 5)", "KILL"),
        ("SELECTED", "SELECTED"),
        ("/*!50000 KILL 5 */", "/*!"),
        ("/*! SELECT 1 */", "/*!"),
        ("/* a */ /*!KILL 5*/", "/*!"),
        ("/* SELECT */ KILL 5", "KILL"),
        ("# SELECT\nKILL 5", "KILL"),
        ("-- SELECT\nKILL 5", "KILL"),
        ("--\x01SELECT\nKILL 5", "KILL"),
        ("--SELECT 1", "-"),
        ("/* open", "/"),
        ("\ufeffSELECT 1", "\ufeff"),
        ("\0KILL 5", "\0"),
        ("```sql\nSELECT 1\n```", "`"),
        ("To answer: SELECT 1", "To"),
        ("x" * 100, "x" * 40),
    ],
)
def test_everything_else_is_refused_with_what_it_begins_with(sql: str, begins: str) -> None:
    assert refused(sql) == f"{begins!r} does not begin a query, and only queries are run"


@pytest.mark.parametrize("piece", ["(", "/*", "/* a */", "-- a\n", "#\n", " ", "KILL "])
def test_long_texts_are_read_once(piece: str) -> None:
    assert (refused(piece * 200_000) is None) == (piece not in ("/*", "KILL "))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [""]),
        ("  -- x", [""]),
        ("; ;", [""]),
        ("select 1", ["SELECT"]),
        ("SELECT 1; -- x", ["SELECT"]),
        ("SELECT 1;;;", ["SELECT"]),
        ("(SELECT 1) UNION (SELECT 2)", ["("]),
        ("```sql\nSELECT 1\n```", [""]),
        ("SELECT 1; DROP TABLE t", ["SELECT", "DROP"]),
        ("/* /* ; */ ; */ SELECT 1; SET a = 1", ["SELECT", "SET"]),
        ("-- ;\rDO $$;$$; SELECT 1", ["DO", "SELECT"]),
        ("SELECT 1 /* a **/; SELECT '/*' --;\n; b", ["SELECT", "SELECT", "B"]),
        ("SELECT ';'; ALTER ROLE r", ["SELECT", "ALTER"]),
        ("SELECT 'it''s;'; y", ["SELECT", "Y"]),
        ("SELECT 'a\\'; DROP TABLE t", ["SELECT", "DROP"]),
        ("SELECT E'\\';'; DO ''", ["SELECT", "DO"]),
        ("SELECT e'a'\n'\\';'; x", ["SELECT", "X"]),
        ("SELECT name'x\\'; y", ["SELECT", "Y"]),
        ('SELECT U&"a;b"; x', ["SELECT", "X"]),
        ("SELECT $a$;$b$;$a$; x", ["SELECT", "X"]),
        ("SELECT $$;$$; x", ["SELECT", "X"]),
        ("SELECT a$b$; x$b$", ["SELECT", "X"]),
        ("SELECT $1; x", ["SELECT", "X"]),
        ("SELECT 5-1/2; x", ["SELECT", "X"]),
    ],
)
def test_a_text_is_cut_as_the_server_reads_it(text: str, expected: list[str]) -> None:
    assert [each.word for each in statements(text)] == expected


@pytest.mark.parametrize("text", ["SELECT 'x; y", 'SELECT "x; y', "SELECT $a$ x; y", "SELECT /* x; y"])
def test_what_is_not_closed_reaches_to_the_end(text: str) -> None:
    assert [each.text for each in statements(text)] == [text]


@pytest.mark.parametrize("text", ["SELECT 1", " SELECT 1 ; ", ";;", "", "SELECT 1; -- no more"])
def test_a_text_of_one_statement_stays_as_it_is(text: str) -> None:
    assert [each.text for each in statements(text)] == [text]


@pytest.mark.parametrize(
    ("word", "is_query", "is_allowed"),
    [
        ("SELECT", True, True), ("WITH", True, True), ("VALUES", True, True), ("(", True, True),
        ("SET", False, True), ("EXPLAIN", False, True), ("COMMIT", False, True),
        ("ALTER", False, False), ("COPY", False, False), ("DO", False, False), ("NOTIFY", False, False),
        ("PREPARE", False, False), ("INSERT", False, False), ("", False, False),
    ],
)  # fmt: skip
def test_only_words_that_can_do_no_harm_are_allowed(word: str, *, is_query: bool, is_allowed: bool) -> None:
    [found] = statements(f"{word} 1")
    assert (found.is_query, found.is_allowed) == (is_query, is_allowed)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1;" * 100_000, "/*" * 500_000 + ";", "/*/**/*/" * 125_000 + ";", ";" * 1_000_000,
        "$" * 1_000_000 + ";", "'" * 999_999 + ";", "E'" + "'\n'" * 300_000 + ";",
    ],
    ids=["statements", "comments", "nested", "semicolons", "dollars", "quotes", "continued"],
)  # fmt: skip
def test_a_million_characters_come_to_few_statements(text: str) -> None:
    assert 1 <= len(statements(text)) <= MOST + 1


@pytest.mark.parametrize(
    ("number", "in_time", "kind"),
    [
        (1064, True, SqlError),
        (1064, False, SqlError),
        (1436, True, SqlError),
        (3636, True, SqlError),
        (3024, True, SqlTimeout),
        (1317, False, SqlTimeout),
        (1317, True, EngineLost),
        (1028, True, EngineLost),
        (2013, False, SqlTimeout),
        (2013, True, EngineLost),
        (2006, True, EngineLost),
        (1040, True, EngineLost),
        (1021, True, EngineLost),
        (4082, True, SqlTooLarge),
        (4082, False, SqlTooLarge),
        (1114, True, SqlTooLarge),
        (1153, True, SqlTooLarge),
        (1038, True, SqlTooLarge),
    ],
)
def test_a_number_means(number: int, in_time: bool, kind: type[Exception]) -> None:  # noqa: FBT001 - a table
    failure = translated(pymysql.OperationalError(number, "words"), in_time=in_time)
    assert type(failure) is kind
    assert "words" in str(failure)
    if isinstance(failure, SqlError):
        assert failure.code == str(number)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (pymysql.InterfaceError(0, ""), EngineLost),
        (BrokenPipeError(32, "Broken pipe"), EngineLost),
        (pymysql.InternalError("Packet sequence number wrong"), SqlError),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"), SqlUnreadable),
        (ValueError("year 0 is out of range"), SqlUnreadable),
        (OverflowError("days=1000000000"), SqlUnreadable),
    ],
)
def test_an_error_of_the_drivers_means(error: Exception, kind: type[Exception]) -> None:
    assert type(translated(error, in_time=True)) is kind


def test_on_a_connection_that_is_gone_any_error_is_the_servers() -> None:
    failure = translated(pymysql.InternalError("Packet sequence number wrong"), in_time=True, is_open=False)
    assert type(failure) is EngineLost
    assert type(translated(ValueError("x"), in_time=False, is_open=False)) is SqlTimeout


def test_engines_come_in_the_order_of_their_records() -> None:
    assert list(TITLES.items()) == [
        ("sqlite", "SQLite"), ("mysql", "MySQL"), ("postgresql", "PostgreSQL"), ("duckdb", "DuckDB"),
        ("mariadb", "MariaDB"),
    ]  # fmt: skip
    assert [kind.name for kind in served()] == ["mysql", "postgresql", "mariadb"]


def test_an_unknown_engine_is_refused_with_all_names() -> None:
    with pytest.raises(
        BadInput, match="engine 'oracle' is not known; choose one of sqlite, mysql, postgresql"
    ):
        kind_of("oracle")


def test_engines_are_put_in_order() -> None:
    assert in_order(["postgresql", "sqlite", "postgresql"]) == ["sqlite", "postgresql"]


def test_reasons_are_those_of_coverage() -> None:
    assert {reason for kind in kinds() for reason in kind.coverage_reasons.values()} <= set(DifferenceReason)


def test_looking_at_all_records_imports_no_driver() -> None:
    look = "import sys; from harness.engines import kinds; kinds()"
    code = f"{look}; print({{'pymysql', 'psycopg'}} & {{*sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
