"""What is kept of a session on MySQL, and what the harness makes of connections that end."""

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pymysql
import pytest

from harness.engines.base import EngineLost
from harness.engines.execution import Ending, Limits, execute
from harness.engines.mysql.engine import MySQLEngine
from loaders.load import load
from loaders.namespace import Database
from loaders.server import Server

pytestmark = pytest.mark.engine

COLLECTION = "bird_kept"
MINE = "SELECT CONNECTION_ID()"


@pytest.fixture(scope="module")
def database(mysql_server: Server, tmp_path_factory: pytest.TempPathFactory) -> Database:
    path = Path(tmp_path_factory.mktemp("kept")) / "kept.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (a INTEGER)")
        connection.commit()
    found = Database(COLLECTION, "kept", path)
    load([found], mysql_server)
    return found


@pytest.fixture
def engine(mysql_server: Server) -> MySQLEngine:
    return MySQLEngine(mysql_server)


@pytest.fixture
def administrator(mysql_server: Server) -> Iterator[Any]:
    server = mysql_server
    with (
        pymysql.connect(
            host=server.host, port=server.port, user=server.user, password=server.password,
            ssl_disabled=server.is_local,
        ) as connection,
        connection.cursor() as cursor,
    ):  # fmt: skip
        yield cursor


def _mine(engine: MySQLEngine, database: Database) -> int:
    execution = execute(engine, database, MINE, Limits())
    assert execution.ending is Ending.ROWS, execution.error
    return int(str(execution.rows[0][0]))


@pytest.mark.parametrize(
    "sql", ["SELECT 1", "SELECT nothing", "SELECT 1 FROM t", "KILL 1", "SELECT '\ud800'"]
)
def test_a_connection_is_kept_after_a_statement_that_ended(
    engine: MySQLEngine, database: Database, sql: str
) -> None:
    before = _mine(engine, database)
    execute(engine, database, sql, Limits())
    assert _mine(engine, database) == before


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT /*+ MAX_EXECUTION_TIME(600000) */ SLEEP(60)",
        "SELECT a.* FROM information_schema.columns a, information_schema.columns b",
    ],
)
def test_a_connection_is_not_kept_after_one_that_was_stopped(
    engine: MySQLEngine, database: Database, sql: str
) -> None:
    before = _mine(engine, database)
    assert execute(engine, database, sql, Limits(seconds=0.3, rows=2000)).ending is not Ending.ROWS
    assert _mine(engine, database) != before


def test_a_kept_connection_is_as_new(engine: MySQLEngine, database: Database) -> None:
    asked = (
        "SELECT @a, IS_USED_LOCK('a'), LAST_INSERT_ID(), @@max_execution_time, @@transaction_read_only,"
        " DATABASE()"
    )
    before = execute(engine, database, asked, Limits())
    execute(engine, database, "SELECT @a := 1, GET_LOCK('a', 1), LAST_INSERT_ID(5)", Limits(seconds=7))
    assert execute(engine, database, asked, Limits()).rows == before.rows
    assert before.rows == ((None, None, 0, 30_000, 1, COLLECTION),)


def test_a_kept_connection_that_the_server_has_closed_is_replaced(
    engine: MySQLEngine, database: Database, administrator: Any
) -> None:
    before = _mine(engine, database)
    until = time.monotonic() + 30
    while administrator.execute(f"SELECT 1 FROM performance_schema.processlist WHERE id = {before}"):
        assert time.monotonic() < until, "the connection is still there"
        # More than once: a connection that is just made as new forgets that it was killed.
        with suppress(pymysql.Error):
            administrator.execute(f"KILL CONNECTION {before}")
        time.sleep(0.01)
    assert _mine(engine, database) != before


@pytest.mark.parametrize("what", ["QUERY", "CONNECTION"])
def test_what_the_administrator_ends_is_not_the_predictions_fault(
    engine: MySQLEngine, database: Database, administrator: Any, what: str
) -> None:
    thread = _mine(engine, database)
    killer = threading.Timer(0.3, administrator.execute, [f"KILL {what} {thread}"])
    killer.start()
    tables = ", ".join(f"information_schema.collations AS t{n}" for n in range(3))
    long = f"SELECT COUNT(SHA2(REPEAT('a', 1000), 512)) FROM {tables}"
    with pytest.raises(EngineLost):
        execute(engine, database, long, Limits(seconds=20))
    killer.join()
