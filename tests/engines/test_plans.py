"""Execution plans on real engines: every gold's is read whole, and nothing but a query is ever explained."""

import sqlite3
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from dialects.enums import Dialect, Profile
from harness.data.questions import QuestionSet
from harness.data.set_manifest import PUBLISHED
from harness.data.sets.loader import load_set
from harness.engines import kind_of, on_server
from harness.engines.base import Engine
from harness.engines.execution import Ending, Limits, execute
from harness.engines.plans import Operator, PlanNode, QueryPlan, explain, stopped
from loaders.bulk_load import load
from loaders.namespace import Database
from loaders.server import Server
from tests.engines.hostile.cases import Hostile
from tests.engines.hostile.duckdb_cases import CROWDED as DUCKDB_CASES
from tests.engines.hostile.mariadb_cases import CASES as MARIADB_CASES
from tests.engines.hostile.mysql_cases import CASES as MYSQL_CASES
from tests.engines.hostile.postgresql_cases import CASES as POSTGRESQL_CASES
from tests.loaders.servers import drop

pytestmark = [pytest.mark.engine, pytest.mark.thorough]

LIMITS = Limits(seconds=20.0)
SHORT = Limits(seconds=0.2)
SHORTER = Limits(seconds=0.1)
"""For each of many texts."""
GENEROUS_SECONDS = 15.0
"""Of a text that is stopped, and then explained without being run, on a busy machine."""

COLLECTION = "bird_plans"
SCRIPT = """
CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE book (id INTEGER PRIMARY KEY, author_id INTEGER REFERENCES author (id), pages INTEGER);
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("plans") / "shelf.sqlite"
    with sqlite3.connect(found) as connection:
        connection.executescript(SCRIPT)
        connection.executemany("INSERT INTO author VALUES (?, ?)", [(n, f"name {n}") for n in range(50)])
        books = [(n, n % 50, n % 7) for n in range(2_000)]
        connection.executemany("INSERT INTO book VALUES (?, ?, ?)", books)
        connection.execute("CREATE INDEX by_author ON book (author_id)")
    connection.close()
    return found


@pytest.fixture(scope="module", params=Dialect)
def dialect(request: pytest.FixtureRequest) -> Dialect:
    assert isinstance(request.param, Dialect)
    return request.param


@pytest.fixture(scope="module")
def engine(dialect: Dialect, request: pytest.FixtureRequest) -> Engine:
    kind = kind_of(dialect)
    if not kind.has_server:
        return kind.make(None, pooled=True)
    server: Server = request.getfixturevalue(f"{dialect}_server")
    return on_server(server)


@pytest.fixture(scope="module")
def shelf(dialect: Dialect, path: Path, request: pytest.FixtureRequest, engine: Engine) -> Iterator[Database]:
    del engine  # comes first: it starts the server
    database = Database(COLLECTION, "shelf", path, Profile.OFFICIAL)
    if not kind_of(dialect).has_server:
        yield database
        return
    server: Server = request.getfixturevalue(f"{dialect}_server")
    load([database], server)
    yield database
    drop(server, COLLECTION)


def golds_of(questions: QuestionSet, dialect: Dialect) -> Iterator[tuple[str, Database, str]]:
    for question in questions.questions:
        for sql in (question.gold[dialect], *question.more_gold.get(dialect, ())):
            yield question.key, questions.database(question.db_id, Profile.OFFICIAL), sql


def plans_of(
    questions: QuestionSet, engine: Engine, dialect: Dialect, request: pytest.FixtureRequest
) -> Iterator[tuple[str, QueryPlan]]:
    if kind_of(dialect).has_server:
        databases = [questions.database(db_id, Profile.OFFICIAL) for db_id in questions.db_ids]
        load(databases, request.getfixturevalue(f"{dialect}_server"))
    for key, database, sql in golds_of(questions, dialect):
        yield key, explain(engine, database, sql, LIMITS)


def unknown(plan: QueryPlan) -> list[str]:
    nodes = plan.root.walk() if plan.root else ()
    return [node.words for node in nodes if node.operator is Operator.UNKNOWN]


def test_the_plans_of_all_golds_of_the_sample_are_read_without_an_unknown_operator(
    engine: Engine, dialect: Dialect, request: pytest.FixtureRequest
) -> None:
    found = dict(plans_of(load_set("sample"), engine, dialect, request))
    assert len(found) == 66
    assert {key: plan.error for key, plan in found.items() if plan.ending is not Ending.ROWS} == {}
    assert {key: words for key, plan in found.items() if (words := unknown(plan))} == {}


@pytest.mark.bird
@pytest.mark.parametrize("dialect", PUBLISHED, indirect=True, scope="module")
def test_the_plans_of_every_third_gold_of_mini_dev_are_read_without_an_unknown_operator(
    engine: Engine, dialect: Dialect, request: pytest.FixtureRequest, bird_home: Path
) -> None:
    questions = load_set("mini_dev", bird_home)
    some = replace(questions, questions=questions.questions[::3])
    found = dict(plans_of(some, engine, dialect, request))
    assert len(found) == 167
    assert {key: words for key, plan in found.items() if (words := unknown(plan))} == {}
    # Where a gold fails when it is run, its plan is the engine's words.
    failed = [plan.error for plan in found.values() if plan.root is None]
    assert len(failed) <= 5
    assert all(failed)


JOIN = "SELECT a.name FROM author AS a JOIN book AS b ON b.author_id = a.id WHERE a.id = 7"


def steps(plan: QueryPlan) -> Sequence[PlanNode]:
    assert plan.root is not None, plan.error
    return list(plan.root.walk())


def test_a_plan_tells_tables_indexes_and_rows(engine: Engine, dialect: Dialect, shelf: Database) -> None:
    plan = explain(engine, shelf, JOIN, LIMITS)
    assert plan.ending is Ending.ROWS
    found = steps(plan)
    # A row that is found by its key alone is read before, on MySQL, and no part of the plan.
    assert {node.table for node in found if node.table} in ({"author", "book"}, {"book"}, {"a", "b"})
    assert found[0].all_rows == 40
    if kind_of(dialect).has_server:
        assert (plan.cost is None) == (dialect is Dialect.DUCKDB)
        assert all(node.estimated_rows is not None for node in found if node.table)
        # MariaDB tells aliases alone.
        by_book = next(node for node in found if node.table in {"book", "b"})
        assert by_book.all_rows == 40
        assert by_book.operator in {
            Operator.SCAN, Operator.INDEX_SEARCH, Operator.COVERING_SEARCH, Operator.BITMAP_SCAN,
        }  # fmt: skip
    else:
        # SQLite says neither what it expects nor what single steps return: nothing is made up.
        assert all(node.estimated_rows is node.cost is None for node in found)
        assert all(node.real_rows is None for node in found[1:])


def test_a_plan_is_the_same_when_it_is_written_and_read_back(engine: Engine, shelf: Database) -> None:
    plan = explain(engine, shelf, JOIN, LIMITS)
    assert plan.root is not None
    assert QueryPlan.from_json(plan.to_json()).root == plan.root


@pytest.mark.parametrize(
    "dialect", [each for each in Dialect if each is not Dialect.DUCKDB], indirect=True, scope="module"
)
def test_what_is_run_once_and_what_for_each_row_are_told_apart(engine: Engine, shelf: Database) -> None:
    once = "SELECT id FROM author WHERE id NOT IN (SELECT author_id FROM book WHERE pages > 3)"
    for_each = "SELECT a.name, (SELECT MAX(b.pages) FROM book AS b WHERE b.author_id = a.id) FROM author AS a"
    assert Operator.SUBQUERY in {node.operator for node in steps(explain(engine, shelf, once, LIMITS))}
    found = {node.operator for node in steps(explain(engine, shelf, for_each, LIMITS))}
    assert Operator.CORRELATED_SUBQUERY in found


def test_duckdb_makes_joins_of_subqueries(duckdb_server: Server, path: Path) -> None:
    shelf = Database(COLLECTION, "shelf", path)
    load([shelf], duckdb_server)
    sql = "SELECT a.name, (SELECT MAX(b.pages) FROM book AS b WHERE b.author_id = a.id) FROM author AS a"
    found = {node.operator for node in steps(explain(on_server(duckdb_server), shelf, sql, LIMITS))}
    assert Operator.HASH_JOIN in found
    assert not {Operator.SUBQUERY, Operator.CORRELATED_SUBQUERY} & found


def test_a_quote_in_a_condition_of_mariadb_s_does_not_break_the_plan(
    mariadb_server: Server, path: Path
) -> None:
    shelf = Database(COLLECTION, "shelf", path, Profile.OFFICIAL)
    load([shelf], mariadb_server)
    sql = "SELECT id FROM author WHERE name = CONCAT(name, '\"\\\\d') OR name LIKE '\"\\\\z%'"
    [scan] = steps(explain(on_server(mariadb_server), shelf, sql, LIMITS))
    assert (scan.operator, scan.estimated_rows is None, scan.all_rows) == (Operator.SCAN, False, 0)
    assert '"' in (scan.condition or "")


def test_a_text_that_fails_has_the_words_of_its_engine_instead(engine: Engine, shelf: Database) -> None:
    for sql in ("SELECT nothing FROM book", "SELECT FROM WHERE", "SELECT COUNT(* FROM book"):
        plan = explain(engine, shelf, sql, LIMITS)
        said = execute(engine, shelf, sql, LIMITS)
        if said.ending is Ending.ERROR:
            assert (plan.ending, plan.root) == (Ending.ERROR, None)
            assert plan.error is not None
            assert said.error is not None
            assert plan.error[:20] == said.error[:20]


ENDLESS = {
    Dialect.SQLITE: "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT COUNT(*) FROM c",
    Dialect.MYSQL: "SELECT COUNT(*) FROM book a, book b, book c, book d WHERE a.pages + b.id + c.id > d.id",
    Dialect.POSTGRESQL: "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n FROM c) SELECT COUNT(*) FROM c",
    Dialect.DUCKDB: "SELECT COUNT(*) FROM range(1000000000000)",
    Dialect.MARIADB: "SELECT COUNT(*) FROM book a, book b, book c, book d WHERE a.pages + b.id + c.id > d.id",
}


def test_a_text_that_does_not_end_has_estimates_and_a_sentence(
    engine: Engine, dialect: Dialect, shelf: Database
) -> None:
    began = time.monotonic()
    plan = explain(engine, shelf, ENDLESS[dialect], SHORT)
    assert time.monotonic() - began < GENEROUS_SECONDS
    assert plan.ending is Ending.TIMEOUT
    assert plan.error == stopped(0.2)
    assert all(node.real_rows is None for node in steps(plan))
    assert len(steps(plan)) > 1


NO_QUERIES = (
    "", ";", "  -- nothing\n", "/* nothing */",
    "DROP TABLE book", "DELETE FROM book", "INSERT INTO book VALUES (1, 1, 1)", "UPDATE book SET pages = 1",
    "CREATE TABLE grown (x INTEGER)", "CREATE TABLE grown AS SELECT 1", "ALTER TABLE book ADD COLUMN x TEXT",
    "WITH gone AS (SELECT 1) DELETE FROM book", "EXPLAIN SELECT 1", "EXPLAIN ANALYZE DELETE FROM book",
    "ANALYZE DELETE FROM book", "ANALYZE SELECT 1", "(ANALYZE) DELETE FROM book", "ANALYZE", "ANALYZE book",
    "(ANALYZE false) SELECT 1", "(FORMAT TEXT) SELECT 1", "VERBOSE SELECT 1", "FORMAT=TREE SELECT 1",
    "QUERY PLAN SELECT 1", "FOR CONNECTION 1", "INTO @x SELECT 1", "FOR SCHEMA mysql SELECT 1",
    "SELECT 1; DROP TABLE book", "SELECT 1; SELECT 2", "SELECT 1;;DROP TABLE book;", ";DROP TABLE book",
    "SELECT 1 /* ; */ ; DROP TABLE book", "SELECT 1; COMMIT; DROP TABLE book", "BEGIN", "COMMIT", "SET x = 1",
    "SELECT ';' ; DELETE FROM book -- '", "EXECUTE x", "DECLARE x CURSOR FOR SELECT 1", "CALL x()", "DO 1",
    "PREPARE x AS SELECT 1", "DESCRIBE book", "SHOW TABLES", "PRAGMA user_version = 7", "VACUUM", "REINDEX",
    "ATTACH 'x' AS y", "SELECT 1 INTO grown", "CREATE MATERIALIZED VIEW grown AS SELECT 1",
    "SELECT 1 INTO OUTFILE '/tmp/bird-plan-grown'", "REFRESH MATERIALIZED VIEW x", "COPY book TO '/tmp/x'",
    "TRUNCATE book", "LOCK TABLES book WRITE", "KILL 1", "HANDLER book OPEN", "TABLE book; DROP TABLE book",
    "WITH x AS (INSERT INTO book VALUES (9, 9, 9) RETURNING id) SELECT * FROM x",
    "WITH x AS (DELETE FROM book RETURNING id) SELECT COUNT(*) FROM x",
    "/*! DROP TABLE book */", "/*!50000 DELETE */ FROM book", "SELECT 1 \x00; DROP TABLE book", "\ud800",
)  # fmt: skip


def test_what_is_no_query_comes_to_one_sentence_and_does_nothing(
    engine: Engine, dialect: Dialect, shelf: Database
) -> None:
    began = shelf.sqlite_path.read_bytes()
    for sql in NO_QUERIES:
        if dialect is Dialect.DUCKDB and sql == "/*!50000 DELETE */ FROM book":
            continue  # a query
        plan = explain(engine, shelf, sql, LIMITS)
        assert plan.error, (sql, plan)
        assert "\n" not in plan.error.strip(), sql
        assert (plan.ending, plan.root) == (Ending.ERROR, None), sql
        # PostgreSQL plans a SELECT INTO that it would refuse to run; that does nothing.
        explain(engine, shelf, sql, LIMITS, is_run=False)
        rows = execute(engine, shelf, "SELECT COUNT(*), SUM(pages) FROM book", LIMITS).rows
        assert rows == ((2_000, sum(n % 7 for n in range(2_000))),), sql
        assert execute(engine, shelf, "SELECT * FROM grown", LIMITS).ending is Ending.ERROR, sql
        if not kind_of(dialect).has_server:
            assert shelf.sqlite_path.read_bytes() == began, sql


DEEP = {
    "parentheses": "SELECT " + "(" * 5_000 + "1" + ")" * 5_000,
    "subqueries": "SELECT 1" + "".join(f" FROM (SELECT {n}" for n in range(400)) + ") AS t" * 400,
    "unions": " UNION ALL ".join(["SELECT id FROM book"] * 1_500),
    "except": " EXCEPT ".join(["SELECT id FROM book WHERE pages = 9"] * 300),
    "scalars": "SELECT " + "(SELECT " * 300 + "1" + ")" * 300,
    "text": "SELECT '" + "x" * 2_000_000 + "'",
}


@pytest.mark.parametrize("name", DEEP)
def test_texts_of_any_size_have_a_plan_or_a_sentence(engine: Engine, shelf: Database, name: str) -> None:
    plan = explain(engine, shelf, DEEP[name], Limits(seconds=5.0))
    assert plan.root is not None or plan.error


def test_hostile_texts_end_in_time_when_they_are_explained(
    engine: Engine, dialect: Dialect, shelf: Database
) -> None:
    cases: Sequence[Hostile] = {
        Dialect.SQLITE: (), Dialect.MYSQL: MYSQL_CASES, Dialect.POSTGRESQL: POSTGRESQL_CASES,
        Dialect.MARIADB: MARIADB_CASES,
        Dialect.DUCKDB: [Hostile(name, *case) for name, case in DUCKDB_CASES.items()],
    }[dialect]  # fmt: skip
    slow = {}
    # All of them are executed, within as short a limit, where they are at home.
    for case in cases[::3]:
        began = time.monotonic()
        plan = explain(engine, shelf, case.sql, SHORTER)
        assert plan.root is not None or plan.error, case.name
        if (took := time.monotonic() - began) > GENEROUS_SECONDS:
            slow[case.name] = took
    assert slow == {}
    assert execute(engine, shelf, "SELECT COUNT(*) FROM book", LIMITS).rows == ((2_000,),)
