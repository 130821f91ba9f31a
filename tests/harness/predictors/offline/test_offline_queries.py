"""What the baseline makes of questions about a schema of the tests' own, in each dialect."""

# ruff: noqa: E501, ISC004 - a query is read as a whole

from concurrent.futures import ThreadPoolExecutor

import pytest

from dialects.enums import Dialect
from harness.engines.base import ColumnText, TableText
from harness.predictors.base import Ask, DatabaseText, Problem, Reply
from harness.predictors.offline import OfflinePredictor, open_offline
from tests.harness.predictors.offline.schemas import problem

PREDICTOR = open_offline()

# Question, external knowledge, SQLite's SQL without quotes and tables' names before columns' names.
SQLITE = [
    ("How many films are there?", "", "SELECT COUNT(FilmID) FROM Films"),
    ("How many different categories are there?", "", "SELECT COUNT(DISTINCT category) FROM Ticket Sales"),
    (
        "How many comedies did studios from Peru release?",
        "comedies refers to genre = 'Comedy'; from Peru refers to country = 'Peru'",
        "SELECT COUNT(studio_id) FROM studios INNER JOIN Films ON studio_id = studio_id"
        " WHERE genre = 'Comedy' AND country = 'Peru'",
    ),
    (
        "Please list the full names of the people of Lantern House.",
        "full name refers to first_name, last_name; Lantern House refers to studios.name = 'Lantern House'",
        "SELECT first_name, last_name FROM people INNER JOIN studios ON studio_id = studio_id"
        " WHERE name = 'Lantern House'",
    ),
    (
        "Which films are between 90 and 100 minutes long?",
        "between 90 and 100 minutes long refers to `Running Time (min)` BETWEEN 90 AND 100",
        "SELECT Title FROM Films WHERE Running Time (min) BETWEEN 90 AND 100",
    ),
    (
        "How many films have no rating?",
        "have no rating refers to rating IS NULL",
        "SELECT COUNT(FilmID) FROM Films WHERE rating IS NULL",
    ),
    (
        "What is the average running time (min) of a comedy?",
        "comedy refers to genre = 'Comedy'",
        "SELECT AVG(Running Time (min)) FROM Films WHERE genre = 'Comedy'",
    ),
    (
        "Give the total box office for each genre.",
        "",
        "SELECT genre, SUM(box_office) FROM Films GROUP BY genre",
    ),
    (
        "How many films has each studio?",
        "",
        "SELECT name, COUNT(FilmID) FROM Films INNER JOIN studios ON studio_id = studio_id GROUP BY name",
    ),
    (
        "What are the titles of the 3 films with the highest box office?",
        "",
        "SELECT Title FROM Films ORDER BY box_office DESC LIMIT 1",
    ),
    (
        "What are the titles of the two highest box office films?",
        "highest box office refers to MAX(box_office)",
        "SELECT Title FROM Films ORDER BY box_office DESC LIMIT 2",
    ),
    (
        "Who is the oldest of the people?",
        "oldest refers to MIN(birthday)",
        "SELECT last_name FROM people ORDER BY birthday LIMIT 1",
    ),
    (
        "Which films were seen by an adult?",
        "adult refers to category = 'adult'",
        "SELECT Title FROM Films INNER JOIN Ticket Sales ON FilmID = FilmID WHERE category = 'adult'",
    ),
    (
        "How many films have the rating 12?",
        "rating = 12",
        "SELECT COUNT(FilmID) FROM Films WHERE rating = '12'",
    ),
    (
        "How many films made 'a lot'?",
        "a lot refers to box_office = 'a lot'",
        "SELECT COUNT(FilmID) FROM Films WHERE box_office = 'a lot'",
    ),
    ("Why?", "", "SELECT name FROM studios"),
    ("", "", "SELECT name FROM studios"),
    ("How many films are good?", "good refers to nothing that is known", "SELECT COUNT(FilmID) FROM Films"),
]

# Where dialects differ: question, external knowledge, SQL of each.
EACH = [
    (
        "Which films were released after 2010?",
        "after 2010 refers to released > '2010-12-31'",
        """SELECT "Films"."Title" FROM "Films" WHERE "Films"."released" > '2010-12-31'""",
        "SELECT `Films`.`Title` FROM `Films` WHERE CAST(`Films`.`released` AS CHAR) > '2010-12-31'",
        """SELECT "films"."title" FROM "films" WHERE CAST("films"."released" AS TEXT) > '2010-12-31'""",
    ),
    (
        "What percentage of films are dramas?",
        "dramas refers to genre = 'drama'; percentage = DIVIDE(COUNT(genre = 'drama'), COUNT(FilmID)) * 100",
        """SELECT SUM(CASE WHEN "Films"."genre" = 'drama' THEN 1 ELSE 0 END) * 100.0 / NULLIF(COUNT(*), 0) """
        """FROM "Films\"""",
        "SELECT SUM(CASE WHEN `Films`.`genre` = 'drama' THEN 1 ELSE 0 END) * 100.0 / NULLIF(COUNT(*), 0) "
        "FROM `Films`",
        """SELECT SUM(CASE WHEN "films"."genre" = 'drama' THEN 1 ELSE 0 END) * 100.0 / NULLIF(COUNT(*), 0) """
        """FROM "films\"""",
    ),
    (
        "What is the title of the longest film?",
        "longest refers to MAX(`Running Time (min)`)",
        """SELECT "Films"."Title" FROM "Films" ORDER BY "Films"."Running Time (min)" DESC LIMIT 1""",
        "SELECT `Films`.`Title` FROM `Films` ORDER BY `Films`.`Running Time (min)` DESC LIMIT 1",
        """SELECT "films"."title" FROM "films" ORDER BY "films"."Running Time (min)" DESC NULLS LAST LIMIT 1""",
    ),
    (
        "How many comedies are there among the films?",
        r"comedies refers to genre LIKE '%com\edy'",
        r"""SELECT COUNT("Films"."FilmID") FROM "Films" WHERE "Films"."genre" LIKE '%com\edy'""",
        r"SELECT COUNT(`Films`.`FilmID`) FROM `Films` WHERE `Films`.`genre` LIKE '%com\\edy'",
        r"""SELECT COUNT("films"."filmid") FROM "films" WHERE "films"."genre" ILIKE '%com\edy'""",
    ),
]


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
def test_a_query_is_written_as_its_engine_has_it(
    text: str, evidence: str, sqlite: str, mysql: str, postgresql: str
) -> None:
    expected = {Dialect.SQLITE: sqlite, Dialect.MYSQL: mysql, Dialect.POSTGRESQL: postgresql}
    assert {each: PREDICTOR.answer(problem(text, evidence, each)) for each in Dialect} == expected


def test_an_ask_gets_plain_sql_and_takes_no_request() -> None:
    predictor = open_offline()
    reply = predictor.ask(Ask(problem("How many studios are there?"), (), "sql", 0, "an identity"))
    assert reply == Reply('SELECT COUNT("studios"."studio_id") FROM "studios"', finish="stop")
    assert (reply.usage.requests, reply.usage.prompt_tokens) == (0, None)
    assert predictor.identity == {"kind": "offline", "version": 2}
    predictor.close()


def test_threads_share_a_predictor() -> None:
    asked = [problem(text, evidence) for text, evidence, _ in SQLITE for _ in range(4)]
    one = OfflinePredictor()
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(one.answer, asked)) == [OfflinePredictor().answer(each) for each in asked]


def test_first_rows_change_nothing() -> None:
    for text, evidence, _ in SQLITE:
        without = PREDICTOR.answer(problem(text, evidence, rows=False))
        assert PREDICTOR.answer(problem(text, evidence)) == without


def test_titles_of_columns_are_names_too() -> None:
    table = TableText(
        "t",
        "CREATE TABLE t (...)",
        (ColumnText("pk", "INTEGER"), ColumnText("a17", "REAL", title="top speed")),
        ("pk",),
    )
    asked = Problem("1", "What is the average top speed?", "", DatabaseText("d", Dialect.SQLITE, (table,)))
    assert PREDICTOR.answer(asked) == 'SELECT AVG("t"."a17") FROM "t"'


def test_tables_that_nothing_links_are_crossed() -> None:
    boats = TableText("boats", "", (ColumnText("boat_id", "INTEGER"), ColumnText("sail", "TEXT")))
    ports = TableText("ports", "", (ColumnText("port_id", "INTEGER"), ColumnText("name", "TEXT")))
    database = DatabaseText("d", Dialect.SQLITE, (boats, ports))
    sql = PREDICTOR.answer(Problem("1", "List the sails of the boats of Nes.", "Nes: name = 'Nes'", database))
    assert sql == """SELECT "boats"."sail" FROM "boats" CROSS JOIN "ports" WHERE "ports"."name" = 'Nes'"""


def test_a_database_without_tables_gets_a_query_all_the_same() -> None:
    assert (
        PREDICTOR.answer(Problem("1", "How many?", "", DatabaseText("d", Dialect.SQLITE, ()))) == "SELECT 1"
    )
