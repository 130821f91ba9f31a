"""Where a PostgreSQL text ends its statements, and which words begin them."""

import pytest

from harness.engines.postgresql.statements import MOST, statements


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
