"""Trouble made for single texts on real servers: connections and statements killed, none left, no server."""

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from threading import Event, Thread
from typing import Any

import psycopg
import pymysql
import pytest

from dialects.enums import Dialect
from harness.engines import on_server
from harness.engines.base import Engine, EngineLost, Session
from harness.engines.execution import Ending, Limits
from harness.engines.retry import Backoff, administrating, execute_patiently
from loaders.bulk_load import load
from loaders.namespace import Database
from loaders.server import Server

pytestmark = [pytest.mark.engine, pytest.mark.thorough]

LIMITS = Limits(seconds=20.0)
WITHOUT_BACKOFF = Backoff(total=0.3, first=0.05, probe=3600.0)
QUICK = "SELECT legs FROM animal ORDER BY legs"
ROWS = ((2,), (4,))
MARK = "the one to be killed"
SLOW = {
    Dialect.MYSQL: f"SELECT legs FROM animal WHERE SLEEP(0.4) = 0 AND '{MARK}' <> '' ORDER BY legs",
    Dialect.POSTGRESQL: f"SELECT legs FROM animal, pg_sleep(0.8) WHERE '{MARK}' <> '' ORDER BY legs",
}
TARGETS = {
    Dialect.MYSQL: "SELECT id FROM information_schema.processlist"
    f" WHERE info LIKE '%{MARK}%' AND id <> CONNECTION_ID()",
    Dialect.POSTGRESQL: "SELECT pid FROM pg_stat_activity"
    f" WHERE query LIKE '%{MARK}%' AND state = 'active' AND pid <> pg_backend_pid()",
}
CONNECTION = {Dialect.MYSQL: "KILL {}", Dialect.POSTGRESQL: "SELECT pg_terminate_backend({})"}
STATEMENT = {Dialect.MYSQL: "KILL QUERY {}", Dialect.POSTGRESQL: "SELECT pg_cancel_backend({})"}


@pytest.fixture
def animals(tmp_path_factory: pytest.TempPathFactory, server: Server) -> Database:
    path = tmp_path_factory.mktemp("zoo") / "zoo.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE animal (name TEXT, legs INTEGER)")
        connection.executemany("INSERT INTO animal VALUES (?, ?)", [("cat", 4), ("hen", 2)])
    connection.close()
    database = Database("bird_recovery_tests", "zoo", path)
    load([database], server)
    if server.dialect is Dialect.POSTGRESQL:
        # Lets the tests see what runs, which the reading role itself may not.
        place = database.postgresql_database
        ask(server, f"ALTER ROLE {server.reader_user} IN DATABASE {place} SET track_activities = on")
    return database


def ask(server: Server, sql: str) -> list[Any]:
    """What an administrator's own connection answers."""
    connection = administrating(server)
    try:
        with connection.cursor() as cursor:
            cursor.execute(sql)
            return [row[0] for row in cursor.fetchall()] if cursor.description else []
    finally:
        connection.close()


@contextmanager
def killing(server: Server, kill: str, times: int) -> Iterator[list[int]]:
    """Kill what runs the marked text as soon as it is seen, so often; the ids that were killed."""
    stop = Event()
    killed: list[int] = []

    def watch() -> None:
        while not stop.is_set() and len(killed) < times:
            for target in ask(server, TARGETS[server.dialect]):
                if target not in killed and len(killed) < times:
                    with suppress(pymysql.Error, psycopg.Error):
                        ask(server, kill.format(target))
                        killed.append(target)
            time.sleep(0.05)

    thread = Thread(target=watch)
    thread.start()
    try:
        yield killed
    finally:
        stop.set()
        thread.join()


class Counting:
    """A real engine that counts how often a session was asked for."""

    def __init__(self, server: Server) -> None:
        self.dialect = server.dialect
        self.server = server
        self._engine = on_server(server)
        self.asked = 0

    def session(self, database: Database, seconds: float) -> Session:
        self.asked += 1
        return self._engine.session(database, seconds)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)


def counting(server: Server) -> tuple[Engine, Callable[[], int]]:
    engine: Any = Counting(server)
    return engine, lambda: int(engine.asked)


def test_a_text_whose_connection_was_killed_by_others_is_run_again(server: Server, animals: Database) -> None:
    sql = SLOW[server.dialect]
    with killing(server, CONNECTION[server.dialect], 1) as killed:
        execution = execute_patiently(on_server(server), animals, sql, LIMITS)
    assert len(killed) == 1
    assert (execution.ending, execution.rows) == (Ending.ROWS, ROWS)


def test_a_text_that_was_stopped_by_others_has_not_timed_out(server: Server, animals: Database) -> None:
    sql = SLOW[server.dialect]
    with killing(server, STATEMENT[server.dialect], 1) as killed:
        execution = execute_patiently(on_server(server), animals, sql, LIMITS)
    assert len(killed) == 1
    assert (execution.ending, execution.rows) == (Ending.ROWS, ROWS)


def test_a_text_whose_connection_breaks_whenever_it_runs_is_to_blame(
    server: Server, animals: Database
) -> None:
    sql = SLOW[server.dialect]
    with killing(server, CONNECTION[server.dialect], 9) as killed:
        execution = execute_patiently(on_server(server), animals, sql, LIMITS)
    assert len(killed) == 3, "once beside others, and twice alone"
    assert execution.ending is Ending.ERROR
    assert (execution.error or "").startswith("it breaks its connection: ")
    assert execution.code is None


def test_a_text_that_is_late_on_a_server_that_answers_has_timed_out(
    server: Server, animals: Database
) -> None:
    execution = execute_patiently(on_server(server), animals, SLOW[server.dialect], Limits(seconds=0.2))
    assert execution.ending is Ending.TIMEOUT


def test_connections_that_waited_and_were_closed_by_the_server_blame_nobody(
    server: Server, animals: Database
) -> None:
    engine = on_server(server)
    with ExitStack() as stack:
        for _ in range(4):
            session = stack.enter_context(engine.session(animals, LIMITS.seconds))
            assert list(session.batches(QUICK))
    others = {
        Dialect.MYSQL: "SELECT CONCAT('KILL ', id) FROM information_schema.processlist WHERE user LIKE '{}%'",
        Dialect.POSTGRESQL: "SELECT 'SELECT pg_terminate_backend(' || pid || ')' FROM pg_stat_activity"
        " WHERE usename = '{}'",
    }[server.dialect]
    for kill in ask(server, others.format(server.reader_user)):
        with suppress(pymysql.Error):
            ask(server, kill)
    for _ in range(5):
        execution = execute_patiently(engine, animals, QUICK, LIMITS)
        assert (execution.ending, execution.rows) == (Ending.ROWS, ROWS)


def _first_session(server: Server, database: Database) -> Session:
    """The one session that is allowed, as soon as those of earlier tests are gone."""
    deadline = time.monotonic() + 20
    while True:
        try:
            return on_server(server).session(database, 1.0)
        except EngineLost:
            if time.monotonic() > deadline:
                raise
        time.sleep(0.05)


@pytest.fixture
def crowded(server: Server, animals: Database) -> Iterator[tuple[Server, Callable[..., None]]]:
    """A server that takes one connection of the reading role, which is held; and what lets it go."""
    # On MySQL the administrator's own connection is one, and that which claims an account another.
    limit, unlimited = {
        Dialect.MYSQL: ("SET GLOBAL max_connections = 3", "SET GLOBAL max_connections = 200"),
        Dialect.POSTGRESQL: tuple(
            f'ALTER ROLE "{server.reader_user}" CONNECTION LIMIT {number}' for number in (1, -1)
        ),
    }[server.dialect]
    with closing(administrating(server)) as administrator, administrator.cursor() as cursor:
        cursor.execute(limit)
        # What other tests have left waiting counts, too.
        if server.dialect is Dialect.POSTGRESQL:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = %s",
                (server.reader_user,),
            )
        else:
            cursor.execute(
                "SELECT CONCAT('KILL ', id) FROM information_schema.processlist"
                " WHERE id <> CONNECTION_ID() AND user NOT IN ('event_scheduler', 'system user')"
            )
            for (kill,) in cursor.fetchall():
                with suppress(pymysql.Error):
                    cursor.execute(kill)

        def let_go(after: float = 0.0) -> None:
            time.sleep(after)
            cursor.execute(unlimited)

        try:
            with ExitStack() as stack:
                held = stack.enter_context(_first_session(server, animals))
                assert next(iter(held.batches(QUICK)))
                yield server, let_go
        finally:
            let_go()


def test_a_server_without_a_connection_left_is_waited_for(
    crowded: tuple[Server, Callable[..., None]], animals: Database
) -> None:
    server, let_go = crowded
    engine, asked = counting(server)
    with pytest.raises(EngineLost):
        engine.session(animals, 1.0)
    helper = Thread(target=let_go, kwargs={"after": 0.5})
    helper.start()
    execution = execute_patiently(engine, animals, QUICK, LIMITS)
    helper.join()
    assert (execution.ending, execution.rows) == (Ending.ROWS, ROWS)
    assert asked() >= 2


def test_a_server_that_was_given_up_holds_nobody_up_until_it_answers(
    crowded: tuple[Server, Callable[..., None]], animals: Database
) -> None:
    server, let_go = crowded
    engine, asked = counting(server)
    with pytest.raises(EngineLost):
        execute_patiently(engine, animals, QUICK, LIMITS, WITHOUT_BACKOFF)
    tried = asked()
    for _ in range(50):
        with pytest.raises(EngineLost):
            execute_patiently(engine, animals, QUICK, LIMITS, WITHOUT_BACKOFF)
    assert asked() == tried, "the next probe is an hour away"

    engine, asked = counting(server)
    at_once = replace(WITHOUT_BACKOFF, probe=0.0)
    for _ in range(3):
        with pytest.raises(EngineLost):
            execute_patiently(engine, animals, QUICK, LIMITS, at_once)
    let_go()
    for _ in range(2):
        assert execute_patiently(engine, animals, QUICK, LIMITS, at_once).rows == ROWS


def test_what_waiting_cannot_change_is_said_at_once(server: Server, animals: Database) -> None:
    engine, asked = counting(server)
    for database, reader in (
        (replace(animals, collection="not_loaded"), server),
        (animals, replace(server, reader_user="nobody_we_know")),
    ):
        engine, asked = counting(reader)
        with pytest.raises(EngineLost):
            execute_patiently(engine, database, QUICK, LIMITS)
        assert asked() == 1
    assert execute_patiently(on_server(server), animals, QUICK, LIMITS).rows == ROWS


def test_a_server_that_is_not_there_is_an_engine_lost(server: Server, animals: Database) -> None:
    engine, asked = counting(replace(server, port=1))
    for _ in range(3):
        with pytest.raises(EngineLost):
            execute_patiently(engine, animals, QUICK, LIMITS, WITHOUT_BACKOFF)
    assert asked() == 1, "then the sentinel finds nobody, and nobody asks again"
