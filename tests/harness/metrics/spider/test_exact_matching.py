import pytest

from harness.sqltree.spider import structure
from tests.harness.metrics.spider.library import LIBRARY, is_exact

SAME_FOR_SPIDER = {
    "values": (
        "SELECT name FROM Author WHERE born > 1900 AND country = 'PT'",
        "SELECT name FROM Author WHERE born > 2 AND country = 'x'",
    ),
    "the number of LIMIT": ("SELECT name FROM Author LIMIT 3", "SELECT name FROM Author LIMIT 5"),
    "values of BETWEEN": (
        "SELECT name FROM Author WHERE born BETWEEN 1 AND 2",
        "SELECT name FROM Author WHERE born BETWEEN 3 AND 4",
    ),
    "case": ("select NAME from AUTHOR", "SELECT name FROM author"),
    "aliases": (
        "SELECT T1.name FROM Author AS T1 JOIN Book AS T2 ON T1.id = T2.author_id",
        "SELECT b.name FROM Author AS b JOIN Book AS a ON b.id = a.author_id",
    ),
    "no aliases": ("SELECT T1.name FROM Author AS T1", "SELECT name FROM Author"),
    "the order of columns": ("SELECT name, born FROM Author", "SELECT born, name FROM Author"),
    "the order of conditions": (
        "SELECT name FROM Author WHERE born = 1 AND country = 'PT'",
        "SELECT name FROM Author WHERE country = 'PT' AND born = 1",
    ),
    "which of them OR joins": (
        "SELECT name FROM Author WHERE born = 1 AND country = 'PT' OR id = 1",
        "SELECT name FROM Author WHERE born = 1 OR country = 'PT' AND id = 1",
    ),
    "the order of tables": (
        "SELECT T1.name FROM Author AS T1 JOIN Book AS T2 ON T1.id = T2.author_id",
        "SELECT T2.name FROM Book AS T1 JOIN Author AS T2 ON T1.author_id = T2.id",
    ),
    "what tables are joined on": (
        "SELECT T1.name FROM Author AS T1 JOIN Book AS T2 ON T1.id = T2.author_id",
        "SELECT T1.name FROM Author AS T1 JOIN Book AS T2 ON T1.born = T2.year",
    ),
    "a foreign key and what it refers to": (
        "SELECT T2.author_id, max(born) FROM Author AS T1 JOIN Book AS T2 GROUP BY T2.author_id",
        "SELECT T1.id, max(born) FROM Author AS T1 JOIN Book AS T2 GROUP BY T1.id",
    ),
    "DISTINCT": ("SELECT DISTINCT name FROM Author", "SELECT name FROM Author"),
    "DISTINCT in an aggregate": (
        "SELECT count(DISTINCT name) FROM Author",
        "SELECT count(name) FROM Author",
    ),
    "a column and a value on the right": (
        "SELECT title FROM Book AS T1 JOIN Loan AS T2 WHERE T1.year = T2.day",
        "SELECT title FROM Book AS T1 JOIN Loan AS T2 WHERE T1.year = 1900",
    ),
    "every direction but the last": (
        "SELECT name FROM Author ORDER BY born DESC, name ASC",
        "SELECT name FROM Author ORDER BY born, name ASC",
    ),
    "values in a nested query": (
        "SELECT name FROM Author WHERE id IN (SELECT author_id FROM Book WHERE year = 1 LIMIT 2)",
        "SELECT name FROM Author WHERE id IN (SELECT author_id FROM Book WHERE year = 2 LIMIT 3)",
    ),
    "the order of columns behind a set operation": (
        "SELECT id FROM Author UNION SELECT id, born FROM Reader WHERE city = 'Faro'",
        "SELECT id FROM Author UNION SELECT born, id FROM Reader WHERE city = 'Beja'",
    ),
}
"""What Spider's script does not see: a query of its grammar, and another that is the same to it."""

DIFFERENT_FOR_SPIDER = {
    "column": ("SELECT name FROM Author", "SELECT born FROM Author"),
    "a column more": ("SELECT name, born FROM Author", "SELECT name FROM Author"),
    "a column twice": ("SELECT name, name FROM Author", "SELECT name, born FROM Author"),
    "aggregate": ("SELECT max(born) FROM Author", "SELECT min(born) FROM Author"),
    "no aggregate": ("SELECT born FROM Author", "SELECT max(born) FROM Author"),
    "what is counted": ("SELECT count(*) FROM Author", "SELECT count(id) FROM Author"),
    "table": ("SELECT count(*) FROM Author", "SELECT count(*) FROM Book"),
    "a table more": (
        "SELECT T1.name FROM Author AS T1 JOIN Book AS T2 ON T1.id = T2.author_id",
        "SELECT name FROM Author",
    ),
    "a table joined to itself": (
        "SELECT T1.name FROM Author AS T1 JOIN Author AS T2 ON T1.born = T2.born",
        "SELECT name FROM Author",
    ),
    "the same name in another table": (
        "SELECT T1.name FROM Author AS T1 JOIN Reader AS T2 ON T1.born = T2.born",
        "SELECT T2.name FROM Author AS T1 JOIN Reader AS T2 ON T1.born = T2.born",
    ),
    "operator": ("SELECT name FROM Author WHERE born > 1", "SELECT name FROM Author WHERE born >= 1"),
    "LIKE": ("SELECT name FROM Author WHERE name LIKE 'a'", "SELECT name FROM Author WHERE name = 'a'"),
    "BETWEEN": (
        "SELECT name FROM Author WHERE born BETWEEN 1 AND 2",
        "SELECT name FROM Author WHERE born >= 1 AND born <= 2",
    ),
    "NOT IN": (
        "SELECT name FROM Author WHERE id NOT IN (SELECT author_id FROM Book)",
        "SELECT name FROM Author WHERE id IN (SELECT author_id FROM Book)",
    ),
    "NOT LIKE": (
        "SELECT name FROM Author WHERE name NOT LIKE 'a'",
        "SELECT name FROM Author WHERE name LIKE 'a'",
    ),
    "a condition more": ("SELECT name FROM Author WHERE born = 1", "SELECT name FROM Author"),
    "AND and OR": (
        "SELECT name FROM Author WHERE born = 1 AND id = 1",
        "SELECT name FROM Author WHERE born = 1 OR id = 1",
    ),
    "a value and a nested query": (
        "SELECT name FROM Author WHERE born = 1",
        "SELECT name FROM Author WHERE born = (SELECT max(born) FROM Author)",
    ),
    "a nested query": (
        "SELECT name FROM Author WHERE id IN (SELECT author_id FROM Book WHERE year > 1)",
        "SELECT name FROM Author WHERE id IN (SELECT author_id FROM Book WHERE pages > 1)",
    ),
    "the order within a nested query": (
        "SELECT name FROM Author WHERE id IN (SELECT author_id FROM Book WHERE year = 1 AND pages = 1)",
        "SELECT name FROM Author WHERE id IN (SELECT author_id FROM Book WHERE pages = 1 AND year = 1)",
    ),
    "DISTINCT within a nested query": (
        "SELECT name FROM Author WHERE id IN (SELECT DISTINCT author_id FROM Book)",
        "SELECT name FROM Author WHERE id IN (SELECT author_id FROM Book)",
    ),
    "the terms of GROUP BY": (
        "SELECT count(*) FROM Author GROUP BY born",
        "SELECT count(*) FROM Author GROUP BY country",
    ),
    "their order": (
        "SELECT count(*) FROM Author GROUP BY born, country",
        "SELECT count(*) FROM Author GROUP BY country, born",
    ),
    "HAVING": (
        "SELECT born FROM Author GROUP BY born HAVING count(*) > 1",
        "SELECT born FROM Author GROUP BY born HAVING count(*) >= 1",
    ),
    "no HAVING": (
        "SELECT born FROM Author GROUP BY born HAVING count(*) > 1",
        "SELECT born FROM Author GROUP BY born",
    ),
    "the direction": (
        "SELECT name FROM Author ORDER BY born DESC",
        "SELECT name FROM Author ORDER BY born",
    ),
    "what is sorted by": (
        "SELECT name FROM Author ORDER BY born",
        "SELECT name FROM Author ORDER BY name",
    ),
    "LIMIT": ("SELECT name FROM Author ORDER BY born LIMIT 1", "SELECT name FROM Author ORDER BY born"),
    "the set operation": (
        "SELECT id FROM Author UNION SELECT id FROM Reader",
        "SELECT id FROM Author EXCEPT SELECT id FROM Reader",
    ),
    "what follows a set operation": (
        "SELECT id FROM Author UNION SELECT id FROM Reader",
        "SELECT id FROM Author UNION SELECT born FROM Reader",
    ),
    "its sides": (
        "SELECT id FROM Author EXCEPT SELECT id FROM Reader",
        "SELECT id FROM Reader EXCEPT SELECT id FROM Author",
    ),
    "an operator between columns": (
        "SELECT year - pages FROM Book",
        "SELECT pages - year FROM Book",
    ),
}

SAME_BEYOND = {
    "parentheses that change nothing": (
        "SELECT name FROM Author WHERE (born = 1) AND (country = 'PT' AND (id = 1))",
        "SELECT name FROM Author WHERE born = 1 AND country = 'PT' AND id = 1",
    ),
    "the order within a group": (
        "SELECT name FROM Author WHERE born = 1 AND (country = 'PT' OR id = 1)",
        "SELECT name FROM Author WHERE (id = 2 OR country = 'ES') AND born = 1",
    ),
    "how many values IN has": (
        "SELECT name FROM Author WHERE born IN (1, 2, 3)",
        "SELECT name FROM Author WHERE born IN (4)",
    ),
    "a value on the left": (
        "SELECT name FROM Author WHERE 1900 < born",
        "SELECT name FROM Author WHERE born > 1900",
    ),
    "<> and !=": ("SELECT name FROM Author WHERE born <> 1", "SELECT name FROM Author WHERE born != 1"),
    "INNER JOIN, comma and JOIN": (
        "SELECT T1.name FROM Author AS T1 INNER JOIN Book AS T2 ON T1.id = T2.author_id",
        "SELECT T1.name FROM Author AS T1, Book AS T2",
    ),
    "aliases of columns": (
        "SELECT count(*) AS n, born AS b FROM Author GROUP BY b ORDER BY n",
        "SELECT count(*), born FROM Author GROUP BY born ORDER BY count(*)",
    ),
    "numbers of columns": (
        "SELECT born, count(*) FROM Author GROUP BY 1 ORDER BY 2",
        "SELECT born, count(*) FROM Author GROUP BY born ORDER BY count(*)",
    ),
    "values in a function": (
        "SELECT substr(name, 1, 2) FROM Author WHERE length(name) > 1",
        "SELECT substr(name, 3, 4) FROM Author WHERE length(name) > 9",
    ),
    "names of a query in FROM": (
        "SELECT a.n FROM (SELECT count(*) AS n FROM Author) AS a",
        "SELECT b.m FROM (SELECT count(*) AS m FROM Author) AS b",
    ),
    "a common table expression and a query in FROM": (
        "WITH a AS (SELECT count(*) AS n FROM Author) SELECT max(n) FROM a",
        "SELECT max(n) FROM (SELECT count(*) AS n FROM Author)",
    ),
    "values of a query in FROM": (
        "SELECT count(*) FROM (SELECT * FROM Author WHERE born > 1)",
        "SELECT count(*) FROM (SELECT * FROM Author WHERE born > 2)",
    ),
    "a column that a * passes on": (
        "SELECT a.name FROM (SELECT * FROM Author) AS a",
        "SELECT name FROM (SELECT * FROM Author)",
    ),
    "where a compound SELECT is sorted by": (
        "SELECT id AS x FROM Author UNION SELECT born FROM Reader ORDER BY x",
        "SELECT id FROM Author UNION SELECT born FROM Reader ORDER BY 1",
    ),
    "quotes of a name": ('SELECT "Shelf No" FROM Book', "SELECT `shelf no` FROM Book"),
    "a string in double quotes": (
        'SELECT name FROM Author WHERE country = "Nowhere"',
        "SELECT name FROM Author WHERE country = 'PT'",
    ),
    "comments and a semicolon": ("SELECT name -- of them\nFROM Author;", "SELECT name FROM Author"),
    "NOT in front": (
        "SELECT name FROM Author WHERE NOT id IN (SELECT author_id FROM Book)",
        "SELECT name FROM Author WHERE id NOT IN (SELECT author_id FROM Book)",
    ),
}
"""What is the same beyond Spider's grammar."""

DIFFERENT_BEYOND = {
    "what a group holds together": (
        "SELECT name FROM Author WHERE born = 1 AND (country = 'PT' OR id = 1)",
        "SELECT name FROM Author WHERE (born = 1 AND country = 'PT') OR id = 1",
    ),
    "NOT before a group": (
        "SELECT name FROM Author WHERE born = 1 AND NOT (country = 'PT' OR id = 1)",
        "SELECT name FROM Author WHERE born = 1 AND (country = 'PT' OR id = 1)",
    ),
    "IS NULL and IS NOT NULL": (
        "SELECT name FROM Author WHERE born IS NULL",
        "SELECT name FROM Author WHERE born IS NOT NULL",
    ),
    "IS NULL and IS a value": (
        "SELECT name FROM Author WHERE born IS NULL",
        "SELECT name FROM Author WHERE born IS 1",
    ),
    "LEFT JOIN": (
        "SELECT T1.name FROM Author AS T1 LEFT JOIN Book AS T2 ON T1.id = T2.author_id",
        "SELECT T1.name FROM Author AS T1 JOIN Book AS T2 ON T1.id = T2.author_id",
    ),
    "OFFSET": (
        "SELECT name FROM Author ORDER BY born LIMIT 1 OFFSET 1",
        "SELECT name FROM Author ORDER BY born LIMIT 1",
    ),
    "UNION ALL": (
        "SELECT id FROM Author UNION ALL SELECT id FROM Reader",
        "SELECT id FROM Author UNION SELECT id FROM Reader",
    ),
    "the type of CAST": (
        "SELECT CAST(born AS REAL) FROM Author",
        "SELECT CAST(born AS INTEGER) FROM Author",
    ),
    "function": ("SELECT upper(name) FROM Author", "SELECT lower(name) FROM Author"),
    "CASE": (
        "SELECT sum(CASE WHEN born = 1 THEN 1 ELSE 0 END) FROM Author",
        "SELECT sum(CASE WHEN id = 1 THEN 1 ELSE 0 END) FROM Author",
    ),
    "where NULLs sort": (
        "SELECT name FROM Author ORDER BY born NULLS LAST",
        "SELECT name FROM Author ORDER BY born",
    ),
    "EXISTS": (
        "SELECT name FROM Author WHERE EXISTS (SELECT * FROM Book)",
        "SELECT name FROM Author WHERE EXISTS (SELECT * FROM Loan)",
    ),
    "a query in FROM": (
        "SELECT count(*) FROM (SELECT born FROM Author)",
        "SELECT count(*) FROM (SELECT name FROM Author)",
    ),
    "which of two queries in FROM": (
        "SELECT a.n FROM (SELECT count(*) AS n FROM Author) AS a, (SELECT count(*) AS n FROM Book) AS b",
        "SELECT b.n FROM (SELECT count(*) AS n FROM Author) AS a, (SELECT count(*) AS n FROM Book) AS b",
    ),
    "what a window goes over": (
        "SELECT rank() OVER (ORDER BY born) FROM Author",
        "SELECT rank() OVER (ORDER BY name) FROM Author",
    ),
    "which tables a * is of": (
        "SELECT Author.* FROM Author, Book",
        "SELECT Book.* FROM Author, Book",
    ),
}


def _rows(table: dict[str, tuple[str, str]]) -> list[object]:
    return [pytest.param(*pair, id=name) for name, pair in table.items()]


@pytest.mark.parametrize(("prediction", "gold"), _rows(SAME_FOR_SPIDER | SAME_BEYOND))
def test_exact_matching_does_not_see(prediction: str, gold: str) -> None:
    assert is_exact(prediction, gold)
    assert is_exact(gold, prediction)


@pytest.mark.parametrize(("prediction", "gold"), _rows(DIFFERENT_FOR_SPIDER | DIFFERENT_BEYOND))
def test_exact_matching_sees(prediction: str, gold: str) -> None:
    assert not is_exact(prediction, gold)
    assert not is_exact(gold, prediction)


@pytest.mark.parametrize(
    "gold",
    [
        "",
        "SELECT",
        "SELECT name FROM",
        "SELECT name FROM Author; SELECT name FROM Author",
        "DELETE FROM Author",
        "VALUES (1)",
        "SELECT name FROM Nothing",
        "SELECT nothing FROM Author",
        "SELECT T1.title FROM Author AS T1",
        "SELECT T9.name FROM Author AS T1",
        "SELECT 1" + " UNION SELECT 1" * 5000,
        "SELECT " + "(" * 5000 + "1" + ")" * 5000,
    ],
)
def test_what_is_no_query_over_the_schema_is_never_exact(gold: str) -> None:
    found = structure(gold, "SELECT name FROM Author", LIBRARY)
    assert not found.exact
    assert not found.parsed
    with pytest.raises(ValueError, match="the gold query is no SELECT over the schema"):
        structure("SELECT name FROM Author", gold, LIBRARY)
