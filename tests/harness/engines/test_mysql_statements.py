"""Which texts are sent to MySQL."""

import pytest

from harness.engines.mysql.engine import refused


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
    assert refused(sql) == f"{begins!r} begins no query, and only queries are run"


@pytest.mark.parametrize("piece", ["(", "/*", "/* a */", "-- a\n", "#\n", " ", "KILL "])
def test_long_texts_are_read_once(piece: str) -> None:
    assert (refused(piece * 200_000) is None) == (piece not in ("/*", "KILL "))
