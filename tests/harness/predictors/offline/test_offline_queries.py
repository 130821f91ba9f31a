"""What the baseline makes of questions about a schema of the tests' own, in each dialect."""

# ruff: noqa: E501, ISC004 - a query is read as a whole

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from dialects.enums import Dialect
from harness.predictors.base import Ask, ColumnText, DatabaseText, Problem, Reply, TableText
from harness.predictors.offline import OfflinePredictor, open_offline
from tests.harness.predictors.offline.schemas import problem

PREDICTOR = open_offline()

# Question, external knowledge, SQLite's SQL without quotes and tables' names before columns' names.
SQLITE = [
    ("How many films are there?", "", "SELECT COUNT(FilmID) FROM Films"),
    ("How many different categories are there?", "", "SELECT COUNT(DISTINCT category) FROM Ticket Sales"),
    (
        "How many comedies did studios from Peru release?",
        "comedies refers to genre = 'Comedy'",
        "SELECT COUNT(FilmID) FROM studios INNER JOIN Films ON studio_id = studio_id"
        " WHERE genre = 'Comedy' AND country = 'Peru'",
    ),
    (
        "How many different studios released a drama?",
        "drama refers to genre = 'drama'",
        "SELECT COUNT(DISTINCT studio_id) FROM studios INNER JOIN Films ON studio_id = studio_id WHERE genre = 'drama'",
    ),
    (
        "In which country is the studio Grey Heron?",
        "",
        "SELECT country FROM studios WHERE name = 'Grey Heron'",
    ),
    (
        'Give the name and the country of the studio of "The Quiet Dam".',
        "",
        "SELECT DISTINCT name, country FROM studios INNER JOIN Films ON studio_id = studio_id"
        " WHERE Title = 'The Quiet Dam'",
    ),
    (
        "Please list the full names of the people of Lantern House.",
        "full name refers to first_name, last_name",
        "SELECT first_name, last_name FROM people INNER JOIN studios ON studio_id = studio_id"
        " WHERE name = 'Lantern House'",
    ),
    (
        "When was Ada Quill born?",
        "born refers to birthday",
        "SELECT birthday FROM people WHERE first_name = 'Ada' AND last_name = 'Quill'",
    ),
    (
        'Which films have "Dam" in their title?',
        "",
        "SELECT Title FROM Films WHERE Title LIKE '%Dam%'",
    ),
    (
        "Which films with a rating above 10 have the highest box office?",
        "",
        "SELECT Title FROM Films WHERE CAST(rating AS REAL) > 10 ORDER BY box_office DESC LIMIT 1",
    ),
    (
        "Which films earned more than the average box office?",
        "",
        "SELECT Title FROM Films WHERE box_office > (SELECT AVG(box_office) FROM Films)",
    ),
    (
        "Leaving out dramas, what is the average running time?",
        "dramas refers to genre = 'drama'",
        "SELECT AVG(Running Time (min)) FROM Films WHERE (NOT (genre = 'drama') OR genre IS NULL)",
    ),
    (
        "Which studios never released a comedy?",
        "comedy refers to genre = 'Comedy'",
        "SELECT name FROM studios WHERE NOT studio_id IN"
        " (SELECT studio_id FROM Films WHERE NOT studio_id IS NULL AND genre = 'Comedy')",
    ),
    (
        "Which studios made both dramas and comedies?",
        "dramas refers to genre = 'drama'; comedies refers to genre = 'Comedy'",
        "SELECT DISTINCT name FROM studios INNER JOIN Films ON studio_id = studio_id WHERE genre = 'drama' INTERSECT"
        " SELECT DISTINCT name FROM studios INNER JOIN Films ON studio_id = studio_id WHERE genre = 'Comedy'",
    ),
    (
        "Which studios have more than 3 films?",
        "",
        "SELECT name FROM studios INNER JOIN Films ON studio_id = studio_id GROUP BY studio_id, name"
        " HAVING COUNT(FilmID) > 3",
    ),
    (
        "Which studio has the most films?",
        "",
        "SELECT name FROM studios INNER JOIN Films ON studio_id = studio_id GROUP BY studio_id, name"
        " ORDER BY COUNT(FilmID) DESC LIMIT 1",
    ),
    (
        "For each studio, how many films are there?",
        "",
        "SELECT name, COUNT(FilmID) FROM Films INNER JOIN studios ON studio_id = studio_id GROUP BY studio_id, name",
    ),
    (
        "What are the five shortest films?",
        "shortest refers to MIN(`Running Time (min)`)",
        "SELECT Title FROM Films ORDER BY Running Time (min) ASC LIMIT 5",
    ),
    (
        "Which are the second and the third longest films?",
        "longest refers to MAX(`Running Time (min)`)",
        "SELECT Title FROM Films ORDER BY Running Time (min) DESC LIMIT 2 OFFSET 1",
    ),
    (
        "List the people, the oldest first.",
        "oldest refers to MIN(birthday)",
        "SELECT first_name FROM people ORDER BY birthday ASC",
    ),
    (
        "What is the longest film of each genre? Give the genre and the title.",
        "longest refers to MAX(`Running Time (min)`)",
        "SELECT genre, Title FROM Films WHERE Running Time (min) ="
        " (SELECT MAX(peer.Running Time (min)) FROM Films AS peer WHERE peer.genre = genre)",
    ),
    (
        "How many full hours does each drama take? List the titles with the hours.",
        "drama refers to genre = 'drama'; full hours = `Running Time (min)` / 60",
        "SELECT Title, Running Time (min) / 60 FROM Films WHERE genre = 'drama'",
    ),
    (
        "How many sales of category adult were there?",
        "category is spelled in upper and lower case; adult refers to category = 'adult'",
        "SELECT COUNT(sale_id) FROM Ticket Sales WHERE LOWER(category) = 'adult'",
    ),
    (
        "Which films are longer than usual?",
        "longer than usual refers to `Running Time (min)` > AVG(`Running Time (min)`)",
        "SELECT Title FROM Films WHERE Running Time (min) > (SELECT AVG(Running Time (min)) FROM Films)",
    ),
    (
        "What is the percentage of films with a running time over 100 minutes?",
        "",
        "SELECT CAST(SUM(CASE WHEN Running Time (min) > 100 THEN 1 ELSE 0 END) AS REAL) * 100 / COUNT(*) FROM Films",
    ),
    (
        "What is the ratio of dramas to comedies?",
        "dramas refers to genre = 'drama'; comedies refers to genre = 'Comedy'",
        "SELECT CAST(SUM(CASE WHEN genre = 'drama' THEN 1 ELSE 0 END) AS REAL)"
        " / SUM(CASE WHEN genre = 'Comedy' THEN 1 ELSE 0 END) FROM Films",
    ),
    (
        "Which other films have the same genre as Ferrymen?",
        "",
        "SELECT Title FROM Films WHERE genre IN (SELECT genre FROM Films WHERE Title = 'Ferrymen')"
        " AND NOT (Title = 'Ferrymen')",
    ),
    (
        "How many films are longer than 100 minutes?",
        "`Running Time (min)` > 100 means longer than 100 minutes",
        "SELECT COUNT(FilmID) FROM Films WHERE Running Time (min) > 100",
    ),
    (
        "What is the country of the studio that has the highest total box office?",
        "highest total box office refers to MAX(SUM(box_office))",
        "SELECT country FROM studios INNER JOIN Films ON studio_id = studio_id GROUP BY studio_id, country"
        " ORDER BY SUM(box_office) DESC LIMIT 1",
    ),
    (
        "How many films have such a running time?",
        "such a running time refers to `Running Time (min)` IN (95, 'long')",
        "SELECT COUNT(FilmID) FROM Films WHERE (Running Time (min) = 95 OR CAST(Running Time (min) AS TEXT) = 'long')",
    ),
    ("Why?", "", "SELECT name FROM studios"),
    ("", "", "SELECT name FROM studios"),
]

# Where dialects differ: question, external knowledge, SQL of each.
EACH = [
    (
        "List the titles of films released after 2010.",
        "",
        """SELECT "Films"."Title" FROM "Films" WHERE STRFTIME('%Y', "Films"."released") > '2010'""",
        "SELECT `Films`.`Title` FROM `Films` WHERE DATE_FORMAT(`Films`.`released`, '%Y') > '2010'",
        """SELECT "films"."title" FROM "films" WHERE TO_CHAR("films"."released", 'YYYY') > '2010'""",
    ),
    (
        "How many seats were sold on 1998-05-03?",
        "",
        """SELECT SUM("Ticket Sales"."seats") FROM "Ticket Sales" """
        """WHERE STRFTIME('%Y-%m-%d', "Ticket Sales"."sold_at") = '1998-05-03'""",
        "SELECT SUM(`Ticket Sales`.`seats`) FROM `Ticket Sales` "
        "WHERE DATE_FORMAT(`Ticket Sales`.`sold_at`, '%Y-%m-%d') = '1998-05-03'",
        """SELECT SUM("Ticket Sales"."seats") FROM "Ticket Sales" """
        """WHERE TO_CHAR("Ticket Sales"."sold_at", 'YYYY-MM-DD') = '1998-05-03'""",
    ),
    (
        "What percentage of films are dramas?",
        "dramas refers to genre = 'drama'; percentage = DIVIDE(COUNT(genre = 'drama'), COUNT(FilmID)) * 100",
        """SELECT CAST(SUM(CASE WHEN "Films"."genre" = 'drama' THEN 1 ELSE 0 END) AS REAL) * 100 """
        """/ COUNT("Films"."FilmID") FROM "Films\"""",
        "SELECT CAST(SUM(CASE WHEN `Films`.`genre` = 'drama' THEN 1 ELSE 0 END) AS DOUBLE) * 100 "
        "/ COUNT(`Films`.`FilmID`) FROM `Films`",
        """SELECT CAST(SUM(CASE WHEN "films"."genre" = 'drama' THEN 1 ELSE 0 END) AS DOUBLE PRECISION) * 100 """
        """/ NULLIF(COUNT("films"."filmid"), 0) FROM "films\"""",
    ),
    (
        'How many days after its release was the last ticket of "Ferrymen" sold?',
        "days = MAX(JULIANDAY(sold_at) - JULIANDAY(released))",
        """SELECT MAX(JULIANDAY("Ticket Sales"."sold_at") - JULIANDAY("Films"."released")) FROM "Films" """
        """INNER JOIN "Ticket Sales" ON "Ticket Sales"."FilmID" = "Films"."FilmID" """
        """WHERE "Films"."Title" = 'Ferrymen'""",
        "SELECT MAX(TIMESTAMPDIFF(SECOND, '1970-01-01', `Ticket Sales`.`sold_at`) / 86400e0"
        " - TIMESTAMPDIFF(SECOND, '1970-01-01', `Films`.`released`) / 86400e0) FROM `Films` "
        "INNER JOIN `Ticket Sales` ON `Ticket Sales`.`FilmID` = `Films`.`FilmID` "
        "WHERE `Films`.`Title` = 'Ferrymen'",
        """SELECT MAX(EXTRACT(EPOCH FROM "Ticket Sales"."sold_at") / 86400.0"""
        """ - EXTRACT(EPOCH FROM "films"."released") / 86400.0) FROM "films" """
        """INNER JOIN "Ticket Sales" ON "Ticket Sales"."filmid" = "films"."filmid" """
        """WHERE "films"."title" = 'Ferrymen'""",
    ),
    (
        "What is the title of the longest film?",
        "longest refers to MAX(`Running Time (min)`)",
        """SELECT "Films"."Title" FROM "Films" ORDER BY "Films"."Running Time (min)" DESC LIMIT 1""",
        "SELECT `Films`.`Title` FROM `Films` ORDER BY `Films`.`Running Time (min)` DESC LIMIT 1",
        """SELECT "films"."title" FROM "films" ORDER BY "films"."Running Time (min)" DESC NULLS LAST LIMIT 1""",
    ),
    (
        "Which films have a rating above 10?",
        "rating above 10 refers to rating > 10",
        """SELECT "Films"."Title" FROM "Films" WHERE CAST("Films"."rating" AS REAL) > 10""",
        "SELECT `Films`.`Title` FROM `Films` WHERE CAST(`Films`.`rating` AS DOUBLE) > 10",
        """SELECT "films"."title" FROM "films" """
        r"""WHERE CAST(SUBSTRING("films"."rating", '^-?[0-9]+(?:\.[0-9]+)?') AS DOUBLE PRECISION) > 10""",
    ),
    (
        "What is the average running time of comedies, rounded to one decimal place?",
        "comedies refers to genre LIKE 'comedy'",
        """SELECT ROUND(AVG("Films"."Running Time (min)"), 1) FROM "Films" WHERE "Films"."genre" LIKE 'comedy'""",
        "SELECT ROUND(AVG(`Films`.`Running Time (min)`), 1) FROM `Films` WHERE `Films`.`genre` LIKE 'comedy'",
        """SELECT ROUND(CAST(AVG("films"."Running Time (min)") AS DECIMAL), 1) FROM "films" """
        """WHERE "films"."genre" ILIKE 'comedy'""",
    ),
]  # fmt: skip


def plain(sql: str) -> str:
    """SQLite's SQL without quotes around names and tables before columns."""
    for table in ("studios", "Films", "Ticket Sales", "people"):
        sql = sql.replace(f'"{table}".', "")
    return sql.replace('"', "")


@pytest.mark.parametrize(("text", "evidence", "expected"), SQLITE, ids=[text for text, _, _ in SQLITE])
def test_a_question_becomes_a_query(text: str, evidence: str, expected: str) -> None:
    assert plain(PREDICTOR.answer(problem(text, evidence))) == expected


@pytest.mark.parametrize(
    ("text", "evidence", "sqlite", "mysql", "postgresql"), EACH, ids=[each[0] for each in EACH]
)
def test_a_query_is_spelled_as_its_engine_has_it(
    text: str, evidence: str, sqlite: str, mysql: str, postgresql: str
) -> None:
    expected = {Dialect.SQLITE: sqlite, Dialect.MYSQL: mysql, Dialect.POSTGRESQL: postgresql}
    assert {each: PREDICTOR.answer(problem(text, evidence, each)) for each in Dialect} == expected


def test_an_ask_gets_plain_sql_and_takes_no_request() -> None:
    predictor = open_offline()
    reply = predictor.ask(Ask(problem("How many studios are there?"), (), "sql", 0, "an identity"))
    assert reply == Reply('SELECT COUNT("studios"."studio_id") FROM "studios"', finish="stop")
    assert (reply.usage.requests, reply.usage.prompt_tokens) == (0, None)
    assert predictor.identity == {"kind": "offline", "version": 1}
    predictor.close()


def test_equal_problems_get_equal_answers_whatever_was_asked_before() -> None:
    texts = [(text, evidence) for text, evidence, _ in SQLITE]
    first = [OfflinePredictor().answer(problem(*each)) for each in texts]
    one = OfflinePredictor()
    assert [one.answer(problem(*each)) for each in reversed(texts)] == first[::-1]


def test_threads_share_a_predictor() -> None:
    asked = [problem(text, evidence) for text, evidence, _ in SQLITE for _ in range(4)]
    one = OfflinePredictor()
    database = asked[0].database
    same = [replace(each, database=database) for each in asked]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(one.answer, same)) == [OfflinePredictor().answer(each) for each in asked]


def test_titles_of_columns_are_names_too() -> None:
    table = TableText(
        "t",
        "CREATE TABLE t (...)",
        (ColumnText("pk", "INTEGER"), ColumnText("a17", "REAL", title="top speed")),
        ("pk",),
    )
    asked = Problem("1", "What is the average top speed?", "", DatabaseText("d", Dialect.SQLITE, (table,)))
    assert PREDICTOR.answer(asked) == 'SELECT AVG("t"."a17") FROM "t"'


def test_without_foreign_keys_columns_of_one_name_join() -> None:
    children = TableText("boats", "", (ColumnText("harbour_id", "INTEGER"), ColumnText("sail", "TEXT")))
    parents = TableText(
        "harbours", "", (ColumnText("harbour_id", "INTEGER"), ColumnText("name", "TEXT")), ("harbour_id",)
    )
    database = DatabaseText("d", Dialect.SQLITE, (children, parents))
    sql = PREDICTOR.answer(Problem("1", "Give the sails of the boats of harbour 'Nes'.", "", database))
    assert 'INNER JOIN "harbours" ON "boats"."harbour_id" = "harbours"."harbour_id"' in sql


def test_a_database_without_tables_gets_a_query_all_the_same() -> None:
    assert (
        PREDICTOR.answer(Problem("1", "How many?", "", DatabaseText("d", Dialect.SQLITE, ()))) == "SELECT 1"
    )
