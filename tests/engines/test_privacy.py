"""Nobody reads what another worker runs: neither golds nor the texts of other predictors."""

import sqlite3
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from dialects.enums import Dialect
from harness.engines import on_server
from harness.engines.execution import Ending, Execution, Limits, execute, execute_patiently
from harness.engines.mysql.engine import MySQLEngine
from loaders.load import load
from loaders.namespace import Database
from loaders.server import Server
from tests.loaders.servers import ask

pytestmark = pytest.mark.engine

SECRET = "what nobody else may read"
LIMITS = Limits(seconds=20)
SLOW = {
    Dialect.MYSQL: f"SELECT SLEEP(3), '{SECRET}' FROM t",
    Dialect.POSTGRESQL: f"SELECT pg_sleep(3), '{SECRET}' FROM t",
}
RUNS = {
    Dialect.MYSQL: f"SELECT id FROM information_schema.processlist WHERE info LIKE '%{SECRET[:9]}%'"
    " AND user LIKE 'bird_reader%'",
    Dialect.POSTGRESQL: "SELECT pid FROM pg_stat_activity"
    " WHERE usename = 'bird_reader' AND wait_event = 'PgSleep'",
}
SPYING = {
    Dialect.MYSQL: (
        "SHOW PROCESSLIST",
        "SHOW FULL PROCESSLIST",
        "SELECT * FROM information_schema.processlist",
        "SELECT * FROM performance_schema.processlist",
        "SELECT * FROM performance_schema.threads",
        "SELECT * FROM performance_schema.events_statements_current",
        "SELECT * FROM performance_schema.events_statements_history",
        "SELECT * FROM performance_schema.events_statements_history_long",
        "SELECT * FROM performance_schema.events_statements_summary_by_digest",
        "SELECT * FROM performance_schema.prepared_statements_instances",
        "SELECT * FROM performance_schema.session_account_connect_attrs",
        "SELECT * FROM performance_schema.user_variables_by_thread",
        "SELECT * FROM sys.processlist",
        "SELECT * FROM sys.session",
        "SELECT * FROM sys.`x$session`",
        "SELECT * FROM sys.statement_analysis",
        "SELECT * FROM information_schema.innodb_trx",
        "SHOW ENGINE INNODB STATUS",
        "EXPLAIN FOR CONNECTION {}",
        "EXPLAIN FORMAT=JSON FOR CONNECTION {}",
        "EXPLAIN FORMAT=TREE FOR CONNECTION {}",
        "SHOW OPEN TABLES",
    ),
    Dialect.POSTGRESQL: (
        "SELECT * FROM pg_stat_activity",
        "SELECT pg_stat_get_activity(NULL)",
        "SELECT * FROM pg_stat_get_activity({})",
        "SELECT pg_stat_get_backend_activity(id) FROM pg_stat_get_backend_idset() AS id",
        "SET track_activities = on; SELECT * FROM pg_stat_activity",
        "SELECT * FROM pg_stat_statements",
        "SELECT * FROM public.pg_stat_statements",
        "SELECT * FROM pg_prepared_statements",
        "SELECT * FROM pg_cursors",
        "SELECT * FROM pg_locks",
    ),
}


@pytest.fixture
def database(server: Server, tmp_path: Path) -> Database:
    path = tmp_path / "secrets.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (a INTEGER)")
        connection.execute("INSERT INTO t VALUES (1)")
        connection.commit()
    found = Database("bird_privacy_tests", "secrets", path)
    load([found], server)
    return found


@contextmanager
def another(server: Server, database: Database) -> Iterator[int]:
    """Another worker, who runs the secret; its connection's id."""
    with ThreadPoolExecutor(1) as thread:
        slow = SLOW[server.dialect]
        running = thread.submit(execute, on_server(server), database, slow, LIMITS)
        until = time.monotonic() + 20
        while not (found := ask(server, None, RUNS[server.dialect])):
            assert time.monotonic() < until, "it does not run"
        yield int(found[0][0])
        assert running.result().ending is Ending.ROWS


def spied(server: Server, database: Database) -> Sequence[tuple[str, Execution]]:
    """What each way of looking shows while another worker runs the secret."""
    engine = on_server(server)
    with another(server, database) as connection:
        found = [
            (text, execute_patiently(engine, database, text.format(connection), LIMITS))
            for text in SPYING[server.dialect]
        ]
        assert ask(server, None, RUNS[server.dialect]), "it ran all the while"
    return found


def test_what_another_worker_runs_is_not_to_be_seen(server: Server, database: Database) -> None:
    seen = spied(server, database)
    assert [text for text, execution in seen if SECRET in str(execution)] == []
    # A view of everybody's sessions shows none of them, or not what they run.
    assert any(execution.ending is Ending.ROWS for _, execution in seen)
    if server.dialect is Dialect.MYSQL:
        [of_sessions] = [execution.rows for text, execution in seen if text == "SHOW FULL PROCESSLIST"]
        assert len(of_sessions) == 1
    else:
        [of_sessions] = [execution.rows for text, execution in seen if text == SPYING[server.dialect][0]]
        assert not any(word in str(of_sessions) for word in ("SELECT", "pg_sleep"))


def test_two_sessions_of_mysql_are_of_two_accounts_and_errors_name_neither(
    mysql_server: Server, tmp_path: Path
) -> None:
    database = _loaded(mysql_server, tmp_path)
    engine = on_server(mysql_server)
    who = "SELECT SUBSTRING_INDEX(USER(), '@', 1), CURRENT_ROLE()"
    with engine.session(database, 5.0) as first, engine.session(database, 5.0) as second:
        [[(one, role)]] = first.batches(who)
        [[(other, _)]] = second.batches(who)
    assert one != other
    assert role == "`bird_reader`@`%`"
    denied = [execute(on_server(mysql_server), database, "SELECT * FROM mysql.user", LIMITS) for _ in "ab"]
    assert {execution.error for execution in denied} == {
        "SELECT command denied to user 'bird_reader'@'" + _address(denied[0]) + "' for table 'user'"
    }


def test_an_administrator_who_may_not_end_others_statements_has_one_account_for_all(
    mysql_server: Server, tmp_path: Path
) -> None:
    database = _loaded(mysql_server, tmp_path)
    limited = replace(
        mysql_server, user="bird_limited", password="limited", reader_user="bird_limited_reader"
    )
    for statement in (
        f"CREATE USER '{limited.user}'@'%' IDENTIFIED BY '{limited.password}'",
        f"GRANT CREATE USER ON *.* TO '{limited.user}'@'%'",
        f"CREATE USER '{limited.reader_user}'@'%' IDENTIFIED BY '{limited.reader_password}'",
        f"GRANT SELECT ON {database.mysql_database}.* TO '{limited.reader_user}'@'%'",
    ):
        ask(mysql_server, None, statement)
    try:
        engine = MySQLEngine(limited)
        with engine.session(database, 5.0) as first, engine.session(database, 5.0) as second:
            for session in (first, second):
                assert list(session.batches("SELECT SUBSTRING_INDEX(USER(), '@', 1)")) == [
                    [(limited.reader_user,)]
                ]
        stopped = execute(engine, database, "SELECT /*+ MAX_EXECUTION_TIME(60000) */ SLEEP(60)", Limits(0.5))
        assert stopped.ending is Ending.TIMEOUT
    finally:
        ask(mysql_server, None, "DROP USER bird_limited, bird_limited_reader")


@pytest.mark.parametrize(
    "before", ["DROP USER {}", "ALTER USER {} IDENTIFIED BY 'another one' WITH MAX_USER_CONNECTIONS 0"]
)
def test_an_account_that_is_not_there_or_has_another_password_is_put_right(
    mysql_server: Server, tmp_path: Path, before: str
) -> None:
    database = _loaded(mysql_server, tmp_path)
    who = "SELECT SUBSTRING_INDEX(USER(), '@', 1)"
    with on_server(mysql_server).session(database, 5.0) as session:
        [[(account,)]] = session.batches(who)
    assert str(account).startswith("bird_reader_")
    ask(mysql_server, None, before.format(account))
    engine = on_server(mysql_server)
    with engine.session(database, 5.0) as first, engine.session(database, 5.0) as second:
        [[(one,)]] = first.batches(who)
        [[(other,)]] = second.batches(who)
    assert str(one).startswith("bird_reader_")
    assert str(other).startswith("bird_reader_")
    assert one != other


def test_the_server_itself_may_still_say_what_runs_to_its_administrator(
    postgresql_server: Server, tmp_path: Path
) -> None:
    database = _loaded(postgresql_server, tmp_path)
    with psycopg.connect(
        host=postgresql_server.host, port=postgresql_server.port, user=postgresql_server.user,
        password=postgresql_server.password, dbname=database.postgresql_database,
    ) as connection:  # fmt: skip
        found = connection.execute(
            "SELECT query FROM pg_stat_activity WHERE pid = pg_backend_pid()"
        ).fetchone()
    assert found is not None
    assert "pg_backend_pid" in found[0]


def _loaded(server: Server, folder: Path) -> Database:
    path = folder / "t.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (a INTEGER)")
        connection.commit()
    database = Database("bird_privacy_tests", "secrets", path)
    load([database], server)
    return database


def _address(execution: Execution) -> str:
    return (execution.error or "").partition("'@'")[2].partition("'")[0]
