"""Few connections wait, however many databases there are."""

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from dialects.enums import Dialect, Profile
from harness.engines import on_server
from harness.engines.execution import Ending, Limits, execute
from harness.engines.pool import MOST_IDLE, Pool
from loaders.load import load
from loaders.namespace import Database
from loaders.server import READER_CONNECTIONS, Server
from tests.loaders.servers import ask

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
        path = folder / f"db{number}.sqlite"
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE t (a INTEGER)")
            connection.execute("INSERT INTO t VALUES (?)", [number])
            connection.commit()
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
