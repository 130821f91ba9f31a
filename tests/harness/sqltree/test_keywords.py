import pytest

from dialects.enums import Dialect
from harness.sqltree.constructs import CATEGORIES, KEYWORDS, count


def keywords(sql: str) -> dict[str, int]:
    found = count(sql)
    assert found is not None
    return dict(found.keywords)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT COUNT(*) FROM t", {"SELECT": 1, "COUNT": 1, "FROM": 1}),
        ("SELECT t.*, *, a * b, 2 * -3", {"SELECT": 1, "*": 2}),
        ("SELECT a - 1, -a, (- 1), a || + 1", {"SELECT": 1, "-": 1}),
        ("FROM a JOIN b LEFT OUTER JOIN c ON x CROSS JOIN d",
         {"FROM": 1, "INNER JOIN": 1, "LEFT JOIN": 1, "ON": 1}),
        ("CASE WHEN a THEN b END + CASE a WHEN b THEN c END", {"CASE": 2, "CASE WHEN": 1, "+": 1}),
        ("group  by a ORDER\nBY b desc", {"GROUP BY": 1, "ORDER BY": 1, "DESC": 1}),
        ("SUM(x) OVER (PARTITION BY y)", {"SUM": 1, "OVER": 1, "PARTITION BY": 1}),
        ("a == 1 OR b <> 2 AND c != 3", {"=": 1, "OR": 1, "!=": 2, "AND": 1}),
        ("count = 1 AND max > \"min\" AND 'SELECT'", {"=": 1, "AND": 2, ">": 1}),
        ("strftime('%Y', 'now') IS NOT NULL", {"STRFTIME": 1, "NOW": 1, "IS": 1, "NOT": 1, "NULL": 1}),
        ("SUBSTRING(a, 1) NOT BETWEEN 1 AND 2", {"SUBSTR": 1, "NOT": 1, "BETWEEN": 1, "AND": 1}),
    ],
)  # fmt: skip
def test_keywords_are_counted_where_they_are_ones(sql: str, expected: dict[str, int]) -> None:
    assert keywords(sql) == expected


def test_tokens_joins_ngrams_and_functions() -> None:
    found = count("SELECT upper(a), upper(a) FROM t JOIN u ON t.a IN (1) GROUP BY a;")
    assert found is not None
    assert (found.tokens, found.joins) == (25, 1)
    # `upper(a` and `(a)` occur twice.
    assert found.ngrams == 25 - 2 - 2
    assert dict(found.functions) == {"UPPER": 2}


def test_a_text_that_cannot_be_cut_is_none() -> None:
    assert count("SELECT 'never closed") is None


@pytest.mark.parametrize(("dialect", "sql"), [
    (Dialect.MYSQL, "SELECT `a b` FROM t LIMIT 1"), (Dialect.POSTGRESQL, "SELECT a::text FROM t LIMIT 1"),
])  # fmt: skip
def test_every_dialect_is_cut(dialect: Dialect, sql: str) -> None:
    found = count(sql, dialect)
    assert found is not None
    assert dict(found.keywords) == {"SELECT": 1, "FROM": 1, "LIMIT": 1}


def test_the_categories_are_seven_and_have_each_keyword_once() -> None:
    assert len(CATEGORIES) == 7
    assert len(set(KEYWORDS)) == len(KEYWORDS) == 54
