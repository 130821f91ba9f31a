"""Few connections wait, however many databases there are; what is kept of one, and how one ends."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pymysql
import pytest

from dialects.enums import Dialect, Profile
from harness.engines import on_server
from harness.engines.base import MOST_IDLE, EngineLost, Pool
from harness.engines.execution import Ending, Limits, execute
from harness.engines.mariadb.engine import MariaDBEngine
from harness.engines.mysql.engine import MySQLEngine
from loaders.bulk_load import load
from loaders.namespace import Database
from loaders.server import READER_CONNECTIONS, Server
from tests.loaders.servers import ask
from tests.sqlite_files import sqlite_file

COLLECTION = "bird_pool_tests"
DATABASES = 25
PROCESSES = 2
"""Each has an engine of its own; here they are threads."""

LIMIT = {
    Dialect.MYSQL: "SET GLOBAL max_connections = {}",
    Dialect.POSTGRESQL: "ALTER ROLE bird_reader CONNECTION LIMIT {}",
}
OPEN = {
    Dialect.MYSQL: "SELECT COUNT(*) FROM information_schema.processlist WHERE user LIKE 'bird_reader%'",
    Dialect.POSTGRESQL: "SELECT COUNT(*) FROM pg_stat_activity WHERE usename = 'bird_reader'",
}


class Thing:
    """What is pooled."""

    def __init__(self) -> None:
        self.is_closed = False

    def close(self) -> None:
        self.is_closed = True


def test_the_longest_unused_is_closed_first() -> None:
    pool: Pool[Thing] = Pool(Thing.close, 3)
    things = {name: Thing() for name in "abcd"}
    for name in "abc":
        pool.give(name, things[name])
    assert pool.take("a") is things["a"]
    pool.give("a", things["a"])
    pool.give("d", things["d"])
    assert [name for name, thing in things.items() if thing.is_closed] == ["b"]
    assert pool.take("b") is None
    assert pool.take("c") is things["c"]
    assert pool.take("c") is None, "the caller has it"
    assert pool.close()
    assert not pool.close()
    assert [name for name, thing in things.items() if not thing.is_closed] == ["c"]


def test_of_several_for_one_database_the_last_is_taken() -> None:
    pool: Pool[Thing] = Pool(Thing.close, 2)
    first, second, third = Thing(), Thing(), Thing()
    for thing in (first, second, third):
        pool.give("a", thing)
    assert first.is_closed
    assert pool.take("a") is third
    assert pool.take("a") is second


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Database]:
    folder = tmp_path_factory.mktemp("many")
    databases = []
    for number in range(DATABASES):
        path = sqlite_file(folder / f"db{number}.sqlite", "CREATE TABLE t (a INTEGER)", t=[[number]])
        databases.append(Database(COLLECTION, f"db{number}", path, Profile.FAITHFUL))
    return databases


@pytest.fixture
def many(server: Server, files: list[Database]) -> Iterator[list[Database]]:
    load(files, server)
    most = PROCESSES * (MOST_IDLE + 1)
    ask(server, None, LIMIT[server.dialect].format(most))
    try:
        yield files
    finally:
        restored = 200 if server.dialect is Dialect.MYSQL else READER_CONNECTIONS
        ask(server, None, LIMIT[server.dialect].format(restored))


@pytest.mark.engine
def test_many_databases_take_no_more_connections_than_the_role_may_have(
    server: Server, many: list[Database]
) -> None:
    before = _open(server)
    engines = [on_server(server) for _ in range(PROCESSES)]

    def work(place: int) -> list[object]:
        seen: list[object] = []
        for database in [*many, *reversed(many)]:
            execution = execute(engines[place], database, "SELECT a FROM t", Limits())
            assert execution.ending is Ending.ROWS, execution.error
            seen += execution.rows
        return seen

    with ThreadPoolExecutor(PROCESSES) as threads:
        found = list(threads.map(work, range(PROCESSES)))
    numbers = [(number,) for number in range(DATABASES)]
    assert found == [[*numbers, *reversed(numbers)]] * PROCESSES
    assert _open(server) - before <= PROCESSES * MOST_IDLE


@pytest.mark.engine
def test_what_waits_for_other_databases_makes_way(server: Server, many: list[Database]) -> None:
    if server.dialect is Dialect.POSTGRESQL:
        while _open(server) > 0:
            ask(
                server,
                None,
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'bird_reader'",
            )
        ask(server, None, LIMIT[server.dialect].format(1))
    engine = on_server(server)
    for database in many[:5]:
        assert execute(engine, database, "SELECT a FROM t", Limits()).ending is Ending.ROWS


def _open(server: Server) -> int:
    [(number,)] = ask(server, None, OPEN[server.dialect])
    return int(number)


KEPT = "bird_kept"
MINE = "SELECT CONNECTION_ID()"


@pytest.fixture(scope="module")
def database(mysql_server: Server, tmp_path_factory: pytest.TempPathFactory) -> Database:
    path = sqlite_file(Path(tmp_path_factory.mktemp("kept")) / "kept.sqlite", "CREATE TABLE t (a INTEGER)")
    found = Database(KEPT, "kept", path)
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
@pytest.mark.engine
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
@pytest.mark.engine
def test_a_connection_is_not_kept_after_one_that_was_stopped(
    engine: MySQLEngine, database: Database, sql: str
) -> None:
    before = _mine(engine, database)
    assert execute(engine, database, sql, Limits(seconds=0.3, rows=2000)).ending is not Ending.ROWS
    assert _mine(engine, database) != before


@pytest.mark.engine
def test_a_kept_connection_is_as_new(engine: MySQLEngine, database: Database) -> None:
    asked = (
        "SELECT @a, IS_USED_LOCK('a'), LAST_INSERT_ID(), @@max_execution_time, @@transaction_read_only,"
        " DATABASE()"
    )
    before = execute(engine, database, asked, Limits())
    execute(engine, database, "SELECT @a := 1, GET_LOCK('a', 1), LAST_INSERT_ID(5)", Limits(seconds=7))
    assert execute(engine, database, asked, Limits()).rows == before.rows
    assert before.rows == ((None, None, 0, 30_000, 1, KEPT),)


VALUES = (
    "0", "-9223372036854775808", "18446744073709551615", "1.50", "1e300", "-0e0", "CAST(0.1 AS FLOAT)",
    "NULL", "TRUE", "''", "'ä€😀'", "X'00ff'", "b'101'", "CAST('2024-02-29' AS DATE)",
    "CAST('-838:59:59.5' AS TIME(1))", "CAST('2024-02-29 23:59:59.25' AS DATETIME(2))",
    "CAST(2024 AS YEAR)", """CAST('{"a": [1]}' AS JSON)""",
    *(f"REPEAT('x', {length})" for length in (250, 251, 65_535, 65_536, 17_000_000)),
)  # fmt: skip
"""Of each type and each length of a length in the protocol; the last takes two packets."""


@pytest.mark.engine
def test_values_are_those_of_the_driver(engine: MySQLEngine, database: Database, administrator: Any) -> None:
    administrator.execute("SET NAMES utf8mb4")
    administrator.execute(f"SELECT {', '.join(VALUES)}")
    [theirs] = administrator.fetchall()
    [ours] = execute(engine, database, f"SELECT {', '.join(VALUES)}", Limits()).rows
    assert [(type(value), value) for value in ours] == [(type(value), value) for value in theirs]


@pytest.mark.engine
def test_a_kept_connection_has_the_settings_of_its_profile_alone(
    mariadb_server: Server, database: Database
) -> None:
    asked = "SELECT CONNECTION_ID(), @@max_recursive_iterations, @@collation_connection"
    engine, seen = MariaDBEngine(mariadb_server), []
    for profile in (Profile.OFFICIAL, Profile.FAITHFUL, Profile.OFFICIAL, Profile.FAITHFUL):
        each = replace(database, profile=profile)
        load([each], mariadb_server)
        [[connection, *settings]] = execute(engine, each, asked, Limits()).rows
        seen.append((connection, settings))
    assert len({connection for connection, _ in seen}) == 1
    assert seen[0] == seen[2] != seen[1] == seen[3]


@pytest.mark.engine
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
@pytest.mark.engine
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
