"""The offline baseline: what it makes of questions, of any text, and of the sample."""

# ruff: noqa: E501, ISC004 - a query is read as a whole

import ast
import re
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
import sqlglot
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlglot import exp

from dialects.enums import Dialect
from dialects.targets import SQLGLOT
from harness import Answer, Evaluator
from harness.data.set_manifest import PUBLISHED
from harness.data.sets.loader import load_set
from harness.engines import on_server
from harness.engines.base import ColumnText, Engine, SqlError, TableText
from harness.engines.sqlite.engine import SQLiteEngine
from harness.labs.predict import offline
from harness.labs.predict.offline import OfflinePredictor, open_offline
from harness.predictors.base import Ask, DatabaseText, Problem, Reply
from harness.predictors.schema import read_database
from loaders.bulk_load import load

_TYPES = {
    Dialect.SQLITE: {"id": "INTEGER", "int": "INTEGER", "real": "REAL", "text": "TEXT", "date": "DATE",
    "moment": "DATETIME"},
    Dialect.MYSQL: {"id": "bigint", "int": "bigint", "real": "double", "text": "text", "date": "date",
    "moment": "datetime"},
    Dialect.POSTGRESQL: {
        "id": "bigint", "int": "bigint", "real": "real", "text": "text", "date": "date",
        "moment": "timestamp with time zone",
    },
}  # fmt: skip

_ROWS: dict[str, tuple[tuple[object, ...], ...]] = {
    "studios": ((1, "Lantern House", "Peru", 1931), (2, "Grey Heron", "Malta", 1975)),
    "Films": (
        (10, "The Quiet Dam", "drama", 118, "1998-05-02", 12.5, 1, "n/a"),
        (11, "Ferrymen", "Comedy", 95, "2004-11-19", 3.25, 2, "12"),
    ),
    "Ticket Sales": (
        (100, 10, "1998-05-03 19:30:00", 4, "adult"),
        (101, 11, "2004-12-01 21:00:00", 2, "child"),
    ),
    "people": ((7, "Ada", "Quill", "1960-01-31", 1),),
}

_TABLES: tuple[tuple[str, tuple[tuple[str, str], ...], str, tuple[tuple[str, str, str], ...]], ...] = (
    ("studios", (("studio_id", "id"), ("name", "text"), ("country", "text"), ("founded", "int")), "studio_id",
    ()),
    (
        "Films",
        (
            ("FilmID", "id"), ("Title", "text"), ("genre", "text"), ("Running Time (min)", "int"),
            ("released", "date"),
            ("box_office", "real"), ("studio_id", "int"), ("rating", "text"),
        ),
        "FilmID",
        (("studio_id", "studios", "studio_id"),),
    ),
    (
        "Ticket Sales",
        (("sale_id", "id"), ("FilmID", "int"), ("sold_at", "moment"), ("seats", "int"), ("category", "text")),
        "sale_id",
        (("FilmID", "Films", "FilmID"),),
    ),
    (
        "people",
        (("person_id", "id"), ("first_name", "text"), ("last_name", "text"), ("birthday", "date"),
        ("studio_id", "int")),
        "person_id",
        (("studio_id", "studios", "studio_id"),),
    ),
)  # fmt: skip


def cinema(dialect: Dialect, *, rows: bool = True) -> DatabaseText:
    """Four tables; on PostgreSQL names that need no quotes in small letters are in small letters."""

    def name(word: str) -> str:
        plain = word.replace("_", "").isalnum()
        return word.lower() if dialect is Dialect.POSTGRESQL and plain else word

    return DatabaseText(
        "cinema",
        dialect,
        tuple(
            TableText(
                name(table),
                f"CREATE TABLE {table} (...)",
                tuple(ColumnText(name(column), _TYPES[dialect][kind]) for column, kind in columns),
                (name(key),),
                tuple(((name(a),), name(other), (name(b),)) for a, other, b in keys),
                _ROWS[table] if rows else (),
            )
            for table, columns, key, keys in _TABLES
        ),
    )


def problem(
    text: str, evidence: str = "", dialect: Dialect = Dialect.SQLITE, *, rows: bool = True
) -> Problem:
    """A question about the cinema."""
    return Problem("1", text, evidence, cinema(dialect, rows=rows))


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
    assert {each: PREDICTOR.answer(problem(text, evidence, each)) for each in PUBLISHED} == expected


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


SCHEMAS = {dialect: cinema(dialect) for dialect in PUBLISHED}


def words(text: str) -> st.SearchStrategy[str]:
    return st.sampled_from(text.split())


WORDS = words(
    "how many what which who when where give list the of in on with each every per most least highest lowest"
    " oldest first second top two 5 2010 2010-05-03 May \"Dam\" 'x' between and or not never both average total"
    " number percentage difference ratio films film's studios studio ticket sales people title titles names name"
    " genre rating released box office running time (min) after before more than at least up to average than"
    " country Peru Ada Quill same as other lower case leaving out separated by , . ? ; & % ( ) '"
)
PHRASES = st.lists(WORDS, max_size=25).map(" ".join)
BODIES = st.lists(
    words(
        "refers to means = is MAX( MIN( SUM( COUNT( AVG( DIVIDE( SUBTRACT( MULTIPLY( STRFTIME('%Y', JULIANDAY("
        " DATE( CAST( SUBSTR( IIF( ) , * 100 / - + > < >= <> AND OR NOT IN ( BETWEEN LIKE IS NULL where genre Title"
        " released sold_at seats `Running Time (min)` \"box_office\" studios.name category 'drama' '%a' 3 2012"
        " '2012-01-01' ; ; CASE WHEN THEN ELSE END DISTINCT spelled films bird_part( unixepoch c0_ s0_ the longest"
    ),
    max_size=30,
).map(" ".join)
COLUMNS = st.one_of(
    words("genre Title released sold_at seats box_office studios.founded rating"),
    st.just("`Running Time (min)`"),
)
LITERALS = words("'drama' 'Comedy' 3 2.5 '12' '' 2012 '2012' '2012-05' '2012-05-01' TRUE NULL")
VALUES = st.recursive(
    COLUMNS,
    lambda inner: st.one_of(
        st.builds("{}({})".format, words("MAX MIN SUM AVG COUNT JULIANDAY YEAR"), inner),
        st.builds("{}({}, {})".format, words("DIVIDE SUBTRACT MULTIPLY ADD"), inner, inner),
        st.builds("STRFTIME('{}', {})".format, words("%Y %m %Y-%m %H %s"), inner),
        st.builds("SUBSTR({}, 1, 4)".format, inner),
        st.builds("{} {} {}".format, inner, words("+ - * /"), st.one_of(inner, st.just("100"))),
    ),
    max_leaves=4,
)
CONDITIONS = st.one_of(
    st.builds("{} {} {}".format, VALUES, words("= <> > >= < LIKE"), LITERALS),
    st.builds("{} {} {}".format, VALUES, words("= > <"), VALUES),
    st.builds("{} IS {}".format, COLUMNS, st.sampled_from(["NULL", "NOT NULL"])),
    st.builds("{} IN ({}, {})".format, COLUMNS, LITERALS, LITERALS),
    st.builds("{} BETWEEN {} AND {}".format, COLUMNS, LITERALS, LITERALS),
)
STATEMENTS = st.lists(
    st.builds(
        "{} {} {}".format,
        st.sampled_from(
            ["films", "highest", "percentage", "Ada Quill", "oldest", "rating above 10", "ratio"]
        ),
        st.sampled_from(["refers to", "=", "means"]),
        st.one_of(
            VALUES,
            CONDITIONS,
            st.builds("COUNT({})".format, CONDITIONS),
            st.builds("DIVIDE(SUM({}), COUNT({})) * 100".format, CONDITIONS, COLUMNS),
            st.builds("{} AND {}".format, CONDITIONS, CONDITIONS),
            st.builds("{} where {}".format, VALUES, CONDITIONS),
        ),
    ),
    max_size=4,
).map("; ".join)


def parsed(dialect: Dialect, text: str, evidence: str) -> exp.Expr:
    sql = PREDICTOR.answer(Problem("1", text, evidence, SCHEMAS[dialect]))
    return sqlglot.parse_one(sql, read=SQLGLOT[dialect])


@pytest.mark.slow
@pytest.mark.parametrize("dialect", list(PUBLISHED))
@given(
    text=st.one_of(st.text(max_size=200), PHRASES),
    evidence=st.one_of(st.text(max_size=200), PHRASES, BODIES, STATEMENTS),
)
def test_any_text_gets_a_query(dialect: Dialect, text: str, evidence: str) -> None:
    assert isinstance(parsed(dialect, text, evidence), exp.Query)


@pytest.fixture(scope="module")
def empty() -> Iterator[sqlite3.Connection]:
    """The schema as empty tables."""
    with closing(sqlite3.connect(":memory:")) as connection:
        for table in SCHEMAS[Dialect.SQLITE].tables:
            columns = ", ".join(f'"{column.name}" {column.type}' for column in table.columns)
            connection.execute(f'CREATE TABLE "{table.name}" ({columns})')
        yield connection


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=PHRASES, evidence=st.one_of(PHRASES, BODIES, STATEMENTS))
def test_any_question_gets_a_query_that_sqlite_runs(
    empty: sqlite3.Connection, text: str, evidence: str
) -> None:
    sql = PREDICTOR.answer(Problem("1", text, evidence, SCHEMAS[Dialect.SQLITE]))
    empty.execute(sql).fetchall()


NAMES = st.text(min_size=1, max_size=12).filter(lambda name: "\0" not in name)


@given(
    names=st.lists(NAMES, min_size=2, max_size=6, unique_by=str.lower),
    types=st.lists(
        st.sampled_from(["INTEGER", "TEXT", "REAL", "DATE", "DATETIME", "", "blob", "point"]),
        min_size=6,
        max_size=6,
    ),
    text=PHRASES,
    dialect=st.sampled_from(list(PUBLISHED)),
)
def test_any_names_get_a_query(names: list[str], types: list[str], text: str, dialect: Dialect) -> None:
    columns = tuple(ColumnText(name, kind) for name, kind in zip(names, types, strict=False))
    table = TableText(names[0], "", columns, (names[1],))
    sql = PREDICTOR.answer(Problem("1", f"{text} {names[1]}", "", DatabaseText("d", dialect, (table,))))
    assert sql.startswith("SELECT ")


@pytest.mark.parametrize(
    "evidence", ["(" * 5000, "x = " + "(" * 25 + "1", "a" * 100_000, "Title = " + "'" * 99]
)
def test_long_and_deep_texts_are_read_as_far_as_they_go(evidence: str) -> None:
    assert isinstance(parsed(Dialect.SQLITE, evidence, evidence), exp.Query)


# Words that are names in some data set, and why the code has them all the same.
ENGLISH = {
    "count": "aggregate, and `count the` asks for it",
    "cross": "a kind of join",
    "group": "`GROUP BY`",
    "name": "what rows are called by",
    "number": "`number of`",
    "order": "`ORDER BY`",
    "stop": "why a reply ended",
    "text": "type",
    "title": "what rows are called by",
}


def literals() -> Iterator[str]:
    """The text of every string in the code that is not documentation."""
    tree = ast.parse(Path(offline.__file__).read_text(encoding="utf-8"))
    shown = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in shown:
            yield node.value.lower()


def names(set_name: str, home: Path | None = None) -> set[str]:
    schemas = load_set(set_name, home).schemas.values()
    tables = {table for schema in schemas for table in schema.tables}
    columns = {column.name for schema in schemas for column in schema.columns}
    return {name.lower() for name in {*tables, *columns, *(schema.db_id for schema in schemas)}}


def found(names: set[str]) -> set[str]:
    words = {word for text in literals() for word in (text, *re.findall(r"\w+", text))}
    return words & names


def test_no_name_of_the_sample_is_in_the_code() -> None:
    assert found(names("sample")) - set(ENGLISH) == set()


@pytest.mark.bird
@pytest.mark.parametrize("set_name", ["mini_dev", "mini_dev_2025"])
def test_no_name_of_the_published_data_is_in_the_code(bird_home: Path, set_name: str) -> None:
    assert found(names(set_name, bird_home)) - set(ENGLISH) == set()


def test_a_name_in_the_code_would_be_found() -> None:
    assert found({"percentage", "share", "no such name"}) == {"percentage", "share"}


SAMPLE = load_set("sample", None)
DATABASES = {
    db_id: replace(SAMPLE.database(db_id), collection="bird_offline_tests") for db_id in SAMPLE.db_ids
}


def engine_of(dialect: Dialect, request: pytest.FixtureRequest) -> Engine:
    if dialect is Dialect.SQLITE:
        return SQLiteEngine()
    server = request.getfixturevalue(f"{dialect}_server")
    load(list(DATABASES.values()), server)
    return on_server(server)


def answers(engine: Engine, rows: int) -> dict[str, str]:
    """The query for every question, by its key."""
    texts = {db_id: read_database(engine, database, rows=rows) for db_id, database in DATABASES.items()}
    predictor = open_offline()
    return {
        each.key: predictor.answer(Problem(each.key, each.text, each.evidence, texts[each.db_id]))
        for each in SAMPLE.questions
    }


@pytest.mark.engine
@pytest.mark.parametrize("dialect", list(PUBLISHED))
def test_every_query_runs_on_its_engine(dialect: Dialect, request: pytest.FixtureRequest) -> None:
    engine = engine_of(dialect, request)
    refused = {}
    for rows in (0, 3):
        for key, sql in answers(engine, rows).items():
            try:
                with engine.session(DATABASES[SAMPLE.by_key[key].db_id], 10.0) as session:
                    for _ in session.batches(sql):
                        pass
            except SqlError as error:
                refused[rows, key] = f"{error.message}: {sql}"
    assert refused == {}


@pytest.mark.slow
def test_a_tenth_of_the_questions_is_answered_rightly() -> None:
    found = answers(SQLiteEngine(), rows=3)
    with Evaluator("sample", metrics=["ex"], workers=1) as evaluator:
        judgements = evaluator.score([Answer(key, sql) for key, sql in found.items()])
    assert sum(each.scores["ex"] for each in judgements) > 0.1 * len(SAMPLE.questions)
