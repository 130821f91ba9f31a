"""The offline baseline: what it makes of questions, of any text, and of the sample."""

# ruff: noqa: E501 - a query is read as a whole

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

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
from harness.labs.predict.offline import open_offline
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


def cinema(dialect: Dialect) -> DatabaseText:
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
            )
            for table, columns, key, keys in _TABLES
        ),
    )


def problem(text: str, evidence: str = "", dialect: Dialect = Dialect.SQLITE) -> Problem:
    """A question about the cinema."""
    return Problem("1", text, evidence, cinema(dialect))


PREDICTOR = open_offline()

# Question, external knowledge, SQLite's SQL without quotes.
SQLITE = [
    ("How many films are there?", "", "SELECT COUNT(*) FROM Films"),
    (
        "How many films have no rating?",
        "have no rating refers to rating IS NULL",
        "SELECT COUNT(*) FROM Films WHERE rating IS NULL",
    ),
    (
        "Which films have a rating?",
        "have a rating refers to rating IS NOT NULL",
        "SELECT Title FROM Films WHERE NOT rating IS NULL",
    ),
    (
        "Please list the full names of the people.",
        "full name refers to first_name, last_name",
        "SELECT first_name, last_name FROM people",
    ),
    (
        "What is the running time (min) of comedies?",
        "comedies refers to genre = 'Comedy'",
        "SELECT Running Time (min) FROM Films WHERE genre = 'Comedy'",
    ),
    ("Which films have the rating 12?", "rating = 12", "SELECT Title FROM Films WHERE rating = '12'"),
    (
        "Which films made 'a lot'?",
        "a lot refers to box_office > 2.5",
        "SELECT Title FROM Films WHERE box_office > 2.5",
    ),
    (
        "Who is the oldest of the people?",
        "oldest refers to MIN(birthday)",
        "SELECT first_name FROM people ORDER BY birthday ASC LIMIT 1",
    ),
    ("Why?", "", "SELECT name FROM studios"),
    ("", "", "SELECT name FROM studios"),
]

# Where dialects differ: question, external knowledge, SQL of each.
EACH = [
    (
        "Which films were released after 2010?",
        r"after 2010 refers to released > '2010\12-31'",
        r"""SELECT "Title" FROM "Films" WHERE CAST("released" AS TEXT) > '2010\12-31'""",
        r"SELECT `Title` FROM `Films` WHERE CAST(`released` AS CHAR) > '2010\\12-31'",
        r"""SELECT "title" FROM "films" WHERE CAST("released" AS TEXT) > '2010\12-31'""",
    ),
    (
        "What is the title of the longest film?",
        "longest refers to MAX(`Running Time (min)`)",
        """SELECT "Title" FROM "Films" ORDER BY "Running Time (min)" DESC LIMIT 1""",
        "SELECT `Title` FROM `Films` ORDER BY `Running Time (min)` DESC LIMIT 1",
        """SELECT "title" FROM "films" ORDER BY "Running Time (min)" DESC NULLS LAST LIMIT 1""",
    ),
]


@pytest.mark.parametrize(("text", "evidence", "expected"), SQLITE, ids=[text for text, _, _ in SQLITE])
def test_a_question_becomes_a_query(text: str, evidence: str, expected: str) -> None:
    assert PREDICTOR.answer(problem(text, evidence)).replace('"', "") == expected


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
    assert reply == Reply('SELECT COUNT(*) FROM "studios"', finish="stop")
    assert (reply.usage.requests, reply.usage.prompt_tokens) == (0, None)
    assert predictor.identity == {"kind": "offline", "version": 3}
    predictor.close()


def test_titles_of_columns_are_names_too() -> None:
    columns = (ColumnText("pk", "INTEGER"), ColumnText("a17", "REAL", title="top speed"))
    tables = (TableText("t", "CREATE TABLE t (...)", columns, ("pk",)),)
    asked = Problem("1", "What is the top speed?", "", DatabaseText("d", Dialect.SQLITE, tables))
    assert PREDICTOR.answer(asked) == 'SELECT "a17" FROM "t"'


def test_a_database_without_tables_gets_a_query_all_the_same() -> None:
    asked = Problem("1", "How many?", "", DatabaseText("d", Dialect.SQLITE, ()))
    assert PREDICTOR.answer(asked) == "SELECT 1"


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


def parsed(dialect: Dialect, text: str, evidence: str) -> exp.Expr:
    sql = PREDICTOR.answer(Problem("1", text, evidence, SCHEMAS[dialect]))
    return sqlglot.parse_one(sql, read=SQLGLOT[dialect])


@pytest.mark.slow
@pytest.mark.parametrize("dialect", list(PUBLISHED))
@given(
    text=st.one_of(st.text(max_size=200), PHRASES),
    evidence=st.one_of(st.text(max_size=200), PHRASES, BODIES),
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
@given(text=PHRASES, evidence=st.one_of(PHRASES, BODIES))
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


def answers(engine: Engine) -> dict[str, str]:
    """The query for every question, by its key."""
    texts = {db_id: read_database(engine, database, rows=0) for db_id, database in DATABASES.items()}
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
    for key, sql in answers(engine).items():
        try:
            with engine.session(DATABASES[SAMPLE.by_key[key].db_id], 10.0) as session:
                for _ in session.batches(sql):
                    pass
        except SqlError as error:
            refused[key] = f"{error.message}: {sql}"
    assert refused == {}


@pytest.mark.slow
def test_some_questions_of_the_sample_are_answered_rightly() -> None:
    found = answers(SQLiteEngine())
    with Evaluator("sample", metrics=["ex"], workers=1) as evaluator:
        judgements = evaluator.score([Answer(key, sql) for key, sql in found.items()])
    assert sum(each.scores["ex"] for each in judgements) >= 5
