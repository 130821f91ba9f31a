"""What an engine says of a mistake leads to the same class on every engine, as far as it is one there."""

from collections.abc import Mapping

import pytest

from dialects.enums import Dialect
from harness.engines import on_server
from harness.engines.base import Engine
from harness.engines.errors import ErrorClass
from harness.engines.execution import Limits, execute
from harness.engines.postgresql import FUNCTIONS
from harness.engines.sqlite.engine import SQLiteEngine
from harness.sqltree.diagnosis import diagnose, read
from loaders.bulk_load import load
from loaders.namespace import Database
from loaders.server import Server
from tests.every_engine import LOADED
from tests.loaders.servers import ask
from tests.sqlite_files import sqlite_file

SERVERS = LOADED

pytestmark = pytest.mark.engine

COLLECTION = "bird_diagnosis_tests"
GOLD = "SELECT title FROM book WHERE pages > 100"

SYNTAX, TABLE, COLUMN, TYPE = (
    ErrorClass.SYNTAX, ErrorClass.UNKNOWN_TABLE, ErrorClass.UNKNOWN_COLUMN, ErrorClass.TYPE_ERROR
)  # fmt: skip
AGGREGATION, ORDER = ErrorClass.WRONG_AGGREGATION, ErrorClass.WRONG_ORDER

EVERYWHERE: Mapping[str, ErrorClass] = {
    "SELEC title FROM book": SYNTAX,
    "SELECT title FROM book WHERE (pages > 3": SYNTAX,
    "SELECT title, FROM book": SYNTAX,
    "```sql\nSELECT title FROM book\n```": SYNTAX,
    "The answer is SELECT title FROM book": SYNTAX,
    "": SYNTAX,
    "INSERT INTO book (id) VALUES (3)": SYNTAX,
    "DELETE FROM book": SYNTAX,
    "CREATE TABLE more (a INTEGER)": SYNTAX,
    "SELECT title FROM book; DROP TABLE book": SYNTAX,
    "SELECT DIVIDE(pages, 2) FROM book": SYNTAX,
    "SELECT title FROM book UNION SELECT id, name FROM author": SYNTAX,
    "SELECT title FROM book WHERE id = (SELECT id, name FROM author)": SYNTAX,
    "SELECT SUM(pages) OVER w FROM book": SYNTAX,
    "SELECT title FROM books": TABLE,
    "SELECT title FROM other.book": TABLE,
    "SELECT titel FROM book": COLUMN,
    "SELECT T9.title FROM book AS T1": COLUMN,
    "SELECT id FROM book, author": COLUMN,
    "SELECT ROUND(price, 1, 2) FROM book": TYPE,
    "SELECT title FROM book WHERE COUNT(*) > 1": AGGREGATION,
    "SELECT SUM(COUNT(*)) FROM book": AGGREGATION,
    "SELECT SUM(pages) AS s FROM book GROUP BY s": AGGREGATION,
    "SELECT title FROM book GROUP BY COUNT(*)": AGGREGATION,
    "SELECT title FROM book ORDER BY COUNT(*)": AGGREGATION,
    "SELECT title FROM book WHERE ROW_NUMBER() OVER () = 1": AGGREGATION,
    # What fails on rows, and what runs: by the text.
    "SELECT title FROM book WHERE id = (SELECT id FROM author)": ErrorClass.WRONG_CONDITION,
    "SELECT pages + 9223372036854775807 FROM book WHERE pages > 100": ErrorClass.WRONG_COLUMNS,
    "SELECT title FROM book": ErrorClass.WRONG_CONDITION,
    "SELECT title FROM book WHERE pages > 1000": ErrorClass.WRONG_LITERAL,
}

ONE_ENGINES: Mapping[Dialect, Mapping[str, ErrorClass]] = {
    Dialect.SQLITE: {"SELECT YEAR(published) FROM book": SYNTAX},
    Dialect.MYSQL: {
        "SELECT STRFTIME('%Y', published) FROM book": SYNTAX,
        "SELECT TO_CHAR(published, 'YYYY') FROM book": SYNTAX,
        "SELECT title FROM book WHERE id IN (SELECT id FROM author LIMIT 1)": SYNTAX,
        "SELECT x.title FROM (SELECT title FROM book)": SYNTAX,
        "SELECT title COLLATE nope FROM book": SYNTAX,
        "SELECT T9.* FROM book AS T1": TABLE,
        "SELECT T1.title FROM book AS T1 JOIN author AS T1 ON T1.id = T1.id": TABLE,
        "SELECT * FROM (SELECT id, id FROM book) AS t": COLUMN,
        "SELECT title FROM book WHERE published = 'yesterday-ish'": TYPE,
        "SELECT JSON_EXTRACT('{', '$.a')": TYPE,
        "SHOW TABLES": SYNTAX,
    },
    Dialect.MARIADB: {
        "SELECT STRFTIME('%Y', published) FROM book": SYNTAX,
        "SELECT title FROM book WHERE id IN (SELECT id FROM author LIMIT 1)": SYNTAX,
        "SELECT title COLLATE nope FROM book": SYNTAX,
        "SELECT T9.* FROM book AS T1": TABLE,
        "SELECT * FROM (SELECT id, id FROM book) AS t": COLUMN,
        "SELECT title FROM book WHERE id = (SELECT id, name FROM author)": TYPE,
    },
    Dialect.POSTGRESQL: {
        "SELECT STRFTIME('%Y', published) FROM book": SYNTAX,
        "SELECT YEAR(published) FROM book": SYNTAX,
        "SELECT title FROM book LIMIT 1, 1": SYNTAX,
        "SELECT `title` FROM book": SYNTAX,
        "SELECT x.title FROM book WHERE title REGEXP 'x'": SYNTAX,
        "SELECT CAST(pages AS DATETIME) FROM book": SYNTAX,
        'SELECT "Title" FROM book': COLUMN,
        "SELECT T1.title FROM book AS T1 JOIN author AS T1 ON T1.id = T1.id": TABLE,
        "SELECT ROUND(price, 1) FROM book": TYPE,
        "SELECT SUM(title) FROM book": TYPE,
        "SELECT title FROM book WHERE title = 5": TYPE,
        "SELECT title - 1 FROM book": TYPE,
        "SELECT title FROM book WHERE published LIKE '2020%'": TYPE,
        "SELECT title FROM book WHERE pages AND price": TYPE,
        "SELECT title FROM book WHERE pages = 'many'": TYPE,
        "SELECT title FROM book WHERE published = 'yesterday-ish'": TYPE,
        "SELECT COALESCE(pages, 'x') FROM book": TYPE,
        "SELECT TO_DATE('x', 'YYYY')": TYPE,
        "SELECT title, COUNT(*) FROM book": AGGREGATION,
        "SELECT title FROM book ORDER BY 9": ORDER,
        "SELECT DISTINCT title FROM book ORDER BY pages": ORDER,
        "SELECT 100 / (pages - 100) FROM book WHERE pages > 10": ErrorClass.WRONG_COLUMNS,
    },
    Dialect.DUCKDB: {
        "SELECT TO_CHAR(published, 'YYYY') FROM book": SYNTAX,
        "SELECT title, FROM book": ErrorClass.WRONG_CONDITION,  # it may end with a comma
        "SELECT DIVIDE(pages, 2) FROM book": ErrorClass.WRONG_COLUMNS,  # a function that it has
        "COPY book TO 'book.csv'": SYNTAX,
        "SELECT * FROM read_csv('/etc/passwd')": SYNTAX,
        "SET threads = 2": SYNTAX,
        "SELECT SUM(title) FROM book": TYPE,
        "SELECT title FROM book WHERE title = 5": TYPE,
        "SELECT title FROM book WHERE published = 'yesterday-ish'": TYPE,
        "SELECT title, COUNT(*) FROM book": AGGREGATION,
        "SELECT title FROM book ORDER BY 9": ORDER,
    },
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Database:
    path = sqlite_file(
        tmp_path_factory.mktemp("diagnosis") / "library.sqlite",
        "CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT, pages INTEGER, price REAL, published DATE);"
        "CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT);"
        "INSERT INTO book VALUES (1, 'Ash', 100, 9.5, '2020-01-02'), (2, 'Elm', 300, 7.5, '2021-03-04');"
        "INSERT INTO author VALUES (1, 'Ann'), (2, 'Bo');",
    )
    return Database(COLLECTION, "library", path)


def classes(engine: Engine, library: Database) -> dict[str, ErrorClass]:
    """The class of every statement above that is meant for the engine."""
    gold = read(GOLD, engine.dialect)
    found = {}
    for sql in {**EVERYWHERE, **ONE_ENGINES[engine.dialect]}:
        execution = execute(engine, library, sql, Limits(seconds=5))
        found[sql] = diagnose(sql, lambda: gold, engine.dialect, code=execution.code, error=execution.error)
    return found


def test_mistakes_have_their_class_on_sqlite(library: Database) -> None:
    assert classes(SQLiteEngine(), library) == {**EVERYWHERE, **ONE_ENGINES[Dialect.SQLITE]}


def test_mistakes_have_their_class_on_a_server(server: Server, library: Database) -> None:
    load([library], server)
    assert classes(on_server(server), library) == {**EVERYWHERE, **ONE_ENGINES[server.dialect]}


def test_postgresql_has_the_functions_that_it_is_said_to_have(postgresql_server: Server) -> None:
    names = {name for (name,) in ask(postgresql_server, None, "SELECT DISTINCT proname FROM pg_proc")}
    assert FUNCTIONS - names == set()
