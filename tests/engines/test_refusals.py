"""An error on reading a text is told from one while it runs, which the text may not end with next time."""

import pytest

from dialects.enums import Dialect
from harness.engines import on_server
from harness.engines.base import Engine
from harness.engines.execution import Ending, Limits, execute, refuses
from harness.engines.sqlite.engine import SQLiteEngine
from loaders.bulk_load import load
from loaders.namespace import Database
from loaders.server import Server
from tests.sqlite_files import sqlite_file

pytestmark = pytest.mark.engine

REFUSED = {
    "every engine": [
        "SELECT nme, CURRENT_TIMESTAMP FROM animal",
        "SELECT CURRENT_TIMESTAMP FROM nowhere",
        "SELECT CURRENT_TIMESTAMP FROM animal WHERE",
        "SELECT undefined_function(name), CURRENT_TIMESTAMP FROM animal",
        "SELECT 'it''s \\', nme FROM animal",
    ],
    Dialect.SQLITE: ["SELECT datetime('now'); SELECT 2", "SELECT datetime('now'"],
    Dialect.MYSQL: ["SELECT NOW(); SELECT 2", "SELECT name, COUNT(*) FROM animal WHERE SUM(id) > NOW()"],
    Dialect.POSTGRESQL: ["SELECT now() - id FROM animal", "SELECT 1 +* now()"],
    Dialect.MARIADB: ["SELECT NOW(); SELECT 2", "SELECT name, COUNT(*) FROM animal WHERE SUM(id) > NOW()"],
    Dialect.DUCKDB: ["SELECT now(); SELECT 2", "SELECT now() FROM animal ORDER BY 9"],
}
RUNS = {
    "every engine": ["SELECT CURRENT_TIMESTAMP", "SELECT id FROM animal"],
    Dialect.SQLITE: ["SELECT abs(-9223372036854775808)", "SELECT json('x')"],
    Dialect.MYSQL: ["SELECT (SELECT id FROM animal)", "SELECT ~0 + id FROM animal"],
    Dialect.POSTGRESQL: [
        "SELECT 1 / (id - 1) FROM animal",
        "SELECT 1; SELECT 1 / (id - 1) FROM animal",
        "SELECT name::date FROM animal",
        "SELECT query_to_xml('SELECT nme FROM ' || name, true, true, '') FROM animal",
    ],
    Dialect.MARIADB: ["SELECT (SELECT id FROM animal)", "SELECT ~0 + id FROM animal"],
    Dialect.DUCKDB: ["SELECT (SELECT id FROM animal)", "SELECT CAST(name AS date) FROM animal"],
}


@pytest.fixture(scope="module")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Database:
    path = sqlite_file(
        tmp_path_factory.mktemp("refusals") / "zoo.sqlite",
        "CREATE TABLE animal (id INTEGER, name TEXT); INSERT INTO animal VALUES (1, 'cat'), (2, 'hen');",
    )
    return Database("bird_refusals", "zoo", path)


LONG = {
    Dialect.SQLITE: "SELECT json_extract('{}', printf('%.*c', 15000000, '['))",
    Dialect.MYSQL: "SELECT JSON_EXTRACT('{}', REPEAT('[', 1000000))",
    Dialect.POSTGRESQL: "SELECT CAST(repeat('a', 60000000) AS int)",
    Dialect.DUCKDB: "SELECT CAST(repeat('a', 6000000) AS int)",
}
"""Errors that quote a long value."""


def check_long(engine: Engine, database: Database) -> None:
    """The same text comes to the same each time, and what it says is cut."""
    executions = [execute(engine, database, LONG[engine.dialect], Limits()) for _ in range(3)]
    assert {each.ending for each in executions} == {Ending.ERROR}, executions[0]
    assert {len(each.error or "") < 2_100 for each in executions} == {True}
    assert len({each.error for each in executions}) == 1
    # MySQL itself cuts what it says.
    assert (executions[0].error or "").endswith(" characters)") or engine.dialect is Dialect.MYSQL


def check(engine: Engine, database: Database) -> None:
    for cases, expected in ((REFUSED, True), (RUNS, False)):
        for sql in (*cases["every engine"], *cases[engine.dialect]):
            execution = execute(engine, database, sql, Limits())
            assert refuses(engine, database, sql, execution, Limits()) == expected, (sql, execution)
            assert execution.ending is Ending.ERROR or not expected, sql


def test_sqlite(zoo: Database) -> None:
    check(SQLiteEngine(pooled=True), zoo)
    check_long(SQLiteEngine(pooled=True), zoo)


def test_mariadb(zoo: Database, mariadb_server: Server) -> None:
    load([zoo], mariadb_server)
    check(on_server(mariadb_server), zoo)


def test_mysql(zoo: Database, mysql_server: Server) -> None:
    load([zoo], mysql_server)
    check(on_server(mysql_server), zoo)
    check_long(on_server(mysql_server), zoo)


def test_postgresql(zoo: Database, postgresql_server: Server) -> None:
    load([zoo], postgresql_server)
    check(on_server(postgresql_server), zoo)
    check_long(on_server(postgresql_server), zoo)


def test_duckdb(zoo: Database, duckdb_server: Server) -> None:
    load([zoo], duckdb_server)
    check(on_server(duckdb_server), zoo)
    check_long(on_server(duckdb_server), zoo)
