"""What is the same question reads the same, however it is written."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialects.enums import Dialect
from harness.engines.errors import ErrorClass
from harness.sqltree import DatabaseSchema
from harness.sqltree.diagnosis import is_query, read
from tests.harness.sqltree.diagnosis.library import LIBRARY, diagnosed
from tests.sides import sides

EVERYWHERE = tuple(Dialect)
SQLITE, MYSQL, POSTGRESQL, *_ = ((dialect,) for dialect in Dialect)

SAME: Sequence[tuple[Any, ...]] = [
    # Spelling.
    (EVERYWHERE, "SELECT Title FROM Book", "select  TITLE\nfrom BOOK ;"),
    (EVERYWHERE, "SELECT {Title|b.title AS t} FROM Book{| AS b -- the title}"),
    (SQLITE, 'SELECT {`Shelf Mark` FROM Book|[shelf mark] FROM "Book"}'),
    (MYSQL, "SELECT `Title` FROM `Book` WHERE `Pages` = 3", "SELECT Title FROM Book WHERE 3 = Pages"),
    (POSTGRESQL, 'SELECT {"title"|book.Title} FROM book'),
    # Literals.
    (EVERYWHERE, "SELECT Title FROM Book WHERE {Pages > 100|1e2 < Pages}"),
    (EVERYWHERE, "SELECT Title FROM Book WHERE Price = {5|'5.0'}"),
    (EVERYWHERE, "SELECT Title FROM Book WHERE Price > {-5|'-5'}"),
    (SQLITE, "SELECT Title FROM Book WHERE Title = {'Ash'|\"Ash\"}"),
    (MYSQL, "SELECT Title FROM Book WHERE Title = {'Ash'|\"ash\"}"),
    (POSTGRESQL, "SELECT Title FROM Book WHERE Published = {DATE '2020-01-01'|'2020-01-01'::date}"),
    # Conditions.
    (EVERYWHERE, "SELECT Title FROM Book WHERE {Pages > 5 AND Price < 3|(3 > Price) AND (5 < Pages)}"),
    (EVERYWHERE, "SELECT Title FROM Book WHERE Pages {BETWEEN 5 AND 9|<= 9 AND Pages >= 5}"),
    (
        EVERYWHERE,
        "SELECT Title FROM Book WHERE NOT (Pages = 5 OR Price IS NULL)",
        "SELECT Title FROM Book WHERE Pages <> 5 AND Price IS NOT NULL",
    ),
    (EVERYWHERE, "SELECT Title FROM Book WHERE Title {IN ('Ash')|= 'Ash'}"),
    (EVERYWHERE, "SELECT Title FROM Book WHERE {Title NOT IN ('Ash', 'Elm')|NOT Title IN ('Elm', 'Ash')}"),
    # Joins.
    (
        EVERYWHERE,
        "SELECT T1.Title FROM Book AS T1 JOIN Author AS T2 ON T1.AuthorID = T2.AuthorID WHERE T2.Name = 'A'",
        "SELECT b.Title FROM Author a, Book b WHERE a.Name = 'A' AND a.AuthorID = b.AuthorID",
    ),
    (
        EVERYWHERE,
        "SELECT Title FROM Book JOIN Author USING (AuthorID) WHERE Name = 'A'",
        "SELECT Title FROM Book WHERE AuthorID IN (SELECT AuthorID FROM Author WHERE Name = 'A')",
    ),
    (
        EVERYWHERE,
        "SELECT T1.AuthorID FROM Book AS T1 JOIN Author AS T2 ON T1.AuthorID = T2.AuthorID",
        "SELECT T2.AuthorID FROM Book AS T1 JOIN Author AS T2 ON T1.AuthorID = T2.AuthorID",
    ),
    # Subqueries and WITH.
    (
        EVERYWHERE,
        "SELECT Title FROM Book WHERE Pages > 5",
        "SELECT t FROM (SELECT Title AS t FROM Book WHERE Pages > 5) AS x",
    ),
    (
        EVERYWHERE,
        "SELECT AuthorID, COUNT(*) FROM Book GROUP BY AuthorID HAVING COUNT(*) > 2",
        "WITH c(a, n) AS (SELECT AuthorID, COUNT(*) FROM Book GROUP BY 1) SELECT a, n FROM c WHERE n > 2",
    ),
    (EVERYWHERE, "SELECT {*|id, genre} FROM Genre"),
    (EVERYWHERE, "SELECT {T1.*|genre.id, genre.genre} FROM Genre{ AS T1|}"),
    # Functions.
    (EVERYWHERE, "SELECT {SUM|COUNT}(CASE WHEN Pages > 5 THEN {1 ELSE 0|Title} END) FROM Book"),
    (SQLITE, "SELECT {SUM(IIF(Pages > 5, 1, 0))|COUNT(*) FILTER (WHERE Pages > 5)} FROM Book"),
    (MYSQL, "SELECT SUM({IF(Pages > 5, 1, 0)|Pages > 5}) FROM Book"),
    (
        POSTGRESQL,
        "SELECT COUNT(CASE WHEN Pages > 5 THEN 1 ELSE NULL END) FROM Book",
        "SELECT COUNT(*) FILTER (WHERE Pages > 5) FROM Book",
    ),
    (POSTGRESQL, "SELECT {CAST(SUM(Pages) AS REAL)|SUM(Pages)::double precision} / COUNT(*) FROM Book"),
    (POSTGRESQL, "SELECT Title || ' ' || Price FROM Book", "SELECT CONCAT(Title, ' ', Price) FROM Book"),
    # Order.
    (EVERYWHERE, "SELECT Title FROM Book{ ORDER BY Pages|}"),
    (EVERYWHERE, "SELECT DISTINCT Title FROM Book", "SELECT Title FROM Book GROUP BY Title"),
    (EVERYWHERE, "SELECT Title, Pages{ AS p|} FROM Book ORDER BY {p|2} DESC LIMIT 3"),
    (SQLITE + MYSQL, "SELECT Title FROM Book ORDER BY Pages LIMIT {2, 3|3 OFFSET 2}"),
    (POSTGRESQL, "SELECT Title FROM Book ORDER BY Pages {FETCH FIRST 3 ROWS ONLY|LIMIT 3}"),
]


@pytest.mark.parametrize(
    ("dialect", "one", "other"),
    [
        (dialect, *(texts if texts[1:] else sides(*texts)))
        for dialects, *texts in SAME
        for dialect in dialects
    ],
)
def test_what_is_written_in_another_way_is_no_difference(dialect: Dialect, one: str, other: str) -> None:
    assert diagnosed(one, other, dialect) is ErrorClass.OTHER
    assert diagnosed(other, one, dialect) is ErrorClass.OTHER


@pytest.mark.parametrize("dialect", Dialect)
def test_without_a_schema_columns_are_known_by_their_names(dialect: Dialect) -> None:
    gold = "SELECT T1.Title FROM Book AS T1 JOIN Author AS T2 ON T1.AuthorID = T2.AuthorID WHERE Name = 'A'"
    same = "SELECT Title FROM Book b JOIN Author a ON a.AuthorID = b.AuthorID WHERE a.Name = 'A'"
    assert diagnosed(same, gold, dialect, None) is ErrorClass.OTHER
    assert diagnosed(same.replace("Title", "Pages"), gold, dialect, None) is ErrorClass.WRONG_COLUMNS


QUERIES = (
    "SELECT 1",
    "  (SELECT 1) UNION SELECT 2",
    "WITH a AS (SELECT 1) SELECT * FROM a",
    "VALUES (1)",
    "SET x = 1; SELECT 2",  # the last statement's rows count on PostgreSQL
    "SELECT (",
)
NO_QUERIES = (
    "",
    ";",
    "-- nothing",
    "SHOW TABLES",
    "EXPLAIN SELECT 1",
    "DROP TABLE a",
    "The answer is SELECT 1",
    "I don't know",
)


@pytest.mark.parametrize("dialect", Dialect)
def test_a_query_is_told_from_other_statements_and_from_prose(dialect: Dialect) -> None:
    assert [sql for sql in (*QUERIES, *NO_QUERIES) if is_query(sql, dialect)] == list(QUERIES)
    assert [read(sql, dialect) for sql in NO_QUERIES] == [None] * len(NO_QUERIES)


WORDS = """
SELECT FROM WHERE GROUP BY HAVING ORDER LIMIT OFFSET UNION ALL WITH RECURSIVE AS JOIN LEFT ON USING Book
Author T1 T1.Title * , ( ) . ; = <> < > || + - / % 'a' 1 2.5 NULL NOT AND OR IN LIKE IS BETWEEN CASE WHEN
THEN ELSE END COUNT( MAX( DISTINCT EXISTS CAST( :: INTERVAL OVER ( PARTITION [ ] ` " ``` -- EXTRACT( YEAR
FILTER ESCAPE VALUES
"""


@pytest.mark.parametrize("schema", [LIBRARY, None])
@given(words=st.lists(st.sampled_from(WORDS.split()), max_size=25), dialect=st.sampled_from(Dialect))
def test_no_text_breaks_the_reader(schema: DatabaseSchema | None, words: list[str], dialect: Dialect) -> None:
    sql = " ".join(["SELECT", *words])
    reading = read(sql, dialect, schema)
    assert reading is None or reading == read(sql, dialect, schema)


@given(sql=st.text(max_size=60), dialect=st.sampled_from(Dialect))
def test_no_characters_break_the_reader(sql: str, dialect: Dialect) -> None:
    assert not is_query(f"x{sql}", dialect) or ";" in sql
    read(f"SELECT {sql}", dialect, LIBRARY)


def test_a_text_that_is_nested_too_deeply_is_not_read() -> None:
    assert read("SELECT " + "(" * 5000 + "1" + ")" * 5000, Dialect.SQLITE) is None


DOUBLING = ", ".join(f"t{n + 1} AS (SELECT x + x AS x FROM t{n})" for n in range(200))
HOSTILE = {
    "10 MB": ("SELECT '" + "x" * 10_000_000 + "'", ErrorClass.OTHER),
    "10 MB behind a comment": ("/* a */ -- b\n SELECT '" + "x" * 10_000_000 + "'", ErrorClass.OTHER),
    "10 MB of prose": ("I am sorry. " * 900_000, ErrorClass.SYNTAX),
    "10 MB of open comments": ("/*" * 5_000_000, ErrorClass.SYNTAX),
    "100,000 parentheses": ("SELECT " + "(" * 100_000 + "1" + ")" * 100_000, ErrorClass.OTHER),
    "5,000 parentheses": ("SELECT " + "(" * 5_000 + "1" + ")" * 5_000, ErrorClass.OTHER),
    "parsed twice at each level": ("SELECT " + "DATE(" * 40 + "1" + ")" * 40, ErrorClass.OTHER),
    "doubled by each subquery": (
        f"WITH t0 AS (SELECT 1 AS x), {DOUBLING} SELECT x FROM t200",
        ErrorClass.OTHER,
    ),
    "an operand for each branch": (
        "SELECT " + "CASE " * 40 + "1" + " WHEN 1 THEN 2 WHEN 3 THEN 4 END" * 40,
        ErrorClass.OTHER,
    ),
    "stars of many tables": (f"SELECT *{', *' * 4_000} FROM Book{', Book' * 400}", ErrorClass.OTHER),
    "an error of another kind": ("(SELECT 1 CONNECT BY " * 3 + "1", ErrorClass.OTHER),
}


@pytest.mark.slow
@pytest.mark.parametrize(("sql", "found"), HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("dialect", Dialect)
def test_a_text_that_takes_too_long_to_read_is_not_read(
    sql: str, found: ErrorClass, dialect: Dialect
) -> None:
    assert read(sql, dialect, LIBRARY) is None
    assert diagnosed(sql, "SELECT 1", dialect) is found
