"""Spider's documented criteria, case by case.

https://github.com/taoyds/spider/tree/master/evaluation_examples, "SQL Hardness Criteria": components 1 are
WHERE, GROUP BY, ORDER BY, LIMIT, JOIN, OR, LIKE; components 2 are EXCEPT, UNION, INTERSECT, NESTED; others
are more than one aggregate, column of SELECT, condition of WHERE, term of GROUP BY.
"""

from itertools import product

import pytest

from harness.sqltree.spider import Hardness, hardness
from tests.harness.metrics.spider.library import query

EASY, MEDIUM, HARD, EXTRA = Hardness


@pytest.mark.parametrize(
    ("sql", "level"),
    [
        # Easy: none or exactly one of components 1, none of the others, none of components 2.
        ("SELECT name FROM Author", EASY),
        ("SELECT count(*) FROM Author", EASY),
        ("SELECT name FROM Author WHERE born > 1900", EASY),
        ("SELECT count(*) FROM Book GROUP BY author_id", EASY),
        ("SELECT name FROM Author ORDER BY born", EASY),
        ("SELECT name FROM Author LIMIT 3", EASY),
        ("SELECT title FROM Book AS T1 JOIN Author AS T2 ON T1.author_id = T2.id", EASY),
        # Medium: at most two of the others with at most one of components 1,
        ("SELECT name, born FROM Author", MEDIUM),
        ("SELECT name, born FROM Author WHERE born > 1900 AND country = 'PT'", MEDIUM),
        ("SELECT max(born), min(born) FROM Author", MEDIUM),
        ("SELECT count(*) FROM Author GROUP BY born, country", MEDIUM),
        # or exactly two of components 1 with less than two of the others.
        ("SELECT name FROM Author ORDER BY born LIMIT 1", MEDIUM),
        (
            "SELECT title FROM Book AS T1 JOIN Author AS T2 ON T1.author_id = T2.id WHERE T2.born > 1900",
            MEDIUM,
        ),
        ("SELECT name, born FROM Author WHERE country LIKE 'P%'", MEDIUM),
        (
            "SELECT name, count(*) FROM Book AS T1 JOIN Author AS T2 ON T1.author_id = T2.id GROUP BY T2.id",
            MEDIUM,
        ),
        # Hard: more than two of the others with at most two of components 1,
        ("SELECT max(born), min(born) FROM Author WHERE born > 1900 AND country = 'PT'", HARD),
        # or three of components 1 with at most two of the others,
        ("SELECT name FROM Author WHERE born > 1900 ORDER BY born LIMIT 1", HARD),
        ("SELECT name FROM Author WHERE name LIKE 'A%' OR born = 1900", HARD),
        (
            "SELECT T1.name FROM Author AS T1 JOIN Book AS T2 JOIN Loan AS T3 GROUP BY T1.id",
            HARD,
        ),
        # or at most one of components 1 with none of the others and exactly one of components 2.
        ("SELECT name FROM Author WHERE born = (SELECT max(born) FROM Author)", HARD),
        ("SELECT name FROM Author UNION SELECT name FROM Reader", HARD),
        ("SELECT name FROM Author INTERSECT SELECT name FROM Reader WHERE city = 'Faro'", HARD),
        # Extra hard: all that is left.
        ("SELECT name FROM Author WHERE born > 1900 EXCEPT SELECT name FROM Reader ORDER BY name", HARD),
        ("SELECT name, born FROM Author UNION SELECT name, born FROM Reader", EXTRA),
        ("SELECT name FROM Author WHERE id NOT IN (SELECT author_id FROM Book) ORDER BY born", EXTRA),
        ("SELECT name FROM Author WHERE born > 1900 OR born < 1800 OR name LIKE 'A%' ORDER BY born", EXTRA),
        ("SELECT name FROM Author WHERE id IN (SELECT id FROM Book) AND id IN (SELECT id FROM Loan)", EXTRA),
    ],
)
def test_the_documented_criteria(sql: str, level: Hardness) -> None:
    assert hardness(query(sql)) is level


CLAUSES = ("", " WHERE born = 1", " WHERE born = 1 ORDER BY born", " WHERE born = 1 ORDER BY born LIMIT 1")
"""None to three of components 1."""
OTHERS = (
    "SELECT name FROM Author{}",
    "SELECT name, born FROM Author{}",
    "SELECT max(name), min(born) FROM Author{}",
)
"""None, one and two of the others."""
BY_COUNTS = {
    (0, 0): EASY, (1, 0): EASY, (2, 0): MEDIUM, (3, 0): HARD,
    (0, 1): MEDIUM, (1, 1): MEDIUM, (2, 1): MEDIUM, (3, 1): HARD,
    (0, 2): MEDIUM, (1, 2): MEDIUM, (2, 2): EXTRA, (3, 2): HARD,
}  # fmt: skip


@pytest.mark.parametrize(("clauses", "others"), list(product(range(4), range(3))))
def test_levels_by_how_many_components_there_are(clauses: int, others: int) -> None:
    sql = OTHERS[others].format(CLAUSES[clauses])
    assert hardness(query(sql)) is BY_COUNTS[clauses, others]


@pytest.mark.parametrize(
    ("sql", "level"),
    [
        ("SELECT born FROM Author GROUP BY born HAVING count(*) > 1", EASY),  # HAVING is no component
        # Every NOT counts as an aggregate: one and one are more than one, as in the query of Spider's README.
        ("SELECT avg(born) FROM Author WHERE name IN (SELECT name FROM Reader)", HARD),
        ("SELECT avg(born) FROM Author WHERE name NOT IN (SELECT name FROM Reader)", EXTRA),
        ("SELECT name, born FROM Author WHERE name IN (1) AND born IN (1)", MEDIUM),
        ("SELECT name, born FROM Author WHERE name NOT IN (1) AND born NOT IN (1)", HARD),
        # So does every AND or OR of HAVING, but no aggregate in there.
        ("SELECT born FROM Author GROUP BY born HAVING count(*) > 1 AND max(id) > 1", EASY),
        ("SELECT count(*) FROM Author GROUP BY born HAVING count(*) > 1 AND max(id) > 1", MEDIUM),
        ("SELECT name, born - max(id) FROM Author ORDER BY max(id)", MEDIUM),  # the inner one does not count
        ("SELECT count(*) FROM (SELECT * FROM Author WHERE born > 1900)", EASY),  # nor does FROM
    ],
)
def test_the_published_script_decides_where_it_counts_otherwise(sql: str, level: Hardness) -> None:
    assert hardness(query(sql)) is level


@pytest.mark.parametrize(
    ("sql", "level"),
    [
        ("SELECT 100.0 * sum(born) / count(*) FROM Author", MEDIUM),  # two aggregates in one column
        ("SELECT CAST(sum(born) AS REAL) FROM Author", EASY),
        ("SELECT name FROM Author WHERE born = 1 AND (country = 'PT' OR country = 'ES')", MEDIUM),
        ("SELECT name FROM (SELECT name FROM Author) AS a", HARD),  # a query with a name is nested
        ("WITH a AS (SELECT name FROM Author) SELECT name FROM a", HARD),
        ("SELECT (SELECT max(born) FROM Author)", HARD),
        ("SELECT name FROM Author WHERE EXISTS (SELECT 1 FROM Book)", HARD),
        ("SELECT name FROM Author UNION ALL SELECT name FROM Reader", HARD),
        ("SELECT title FROM Book LEFT JOIN Author ON author_id = Author.id, Loan", MEDIUM),
    ],
)
def test_beyond_spiders_grammar_the_same_things_count(sql: str, level: Hardness) -> None:
    assert hardness(query(sql)) is level
