"""Nobody reads what another worker runs or ran: neither golds nor the texts of other predictors."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import psycopg
import pymysql
import pytest

from dialects.enums import Dialect
from harness.engines import on_server
from harness.engines.base import Engine, EngineLost, SqlError
from harness.engines.execution import Ending, Execution, Limits, execute
from harness.engines.mariadb.engine import MariaDBEngine
from harness.engines.mysql.engine import MySQLEngine
from harness.engines.retry import execute_patiently
from harness.engines.sqlite.engine import SQLiteEngine
from loaders.bulk_load import load
from loaders.namespace import Database
from loaders.server import Server
from tests.engines.hostile.cases import Absent
from tests.engines.hostile.privacy_cases import CHANNELS, PLACES, Channel, Place
from tests.loaders.servers import ask
from tests.sqlite_files import sqlite_file

pytestmark = [pytest.mark.engine, pytest.mark.thorough]

LIMITS = Limits(seconds=20)
MARKER = "bird_gold_7c1e"
"""In a literal, in a name and in a temporary name of what others run."""
_MARKED = f"WITH {MARKER} AS (SELECT {{}} AS {MARKER}, '{MARKER}' AS m FROM t) SELECT * FROM {MARKER}"
SLOW = {
    Dialect.MYSQL: _MARKED.format("SLEEP(0.2)"),
    Dialect.MARIADB: _MARKED.format("SLEEP(0.2)"),
    Dialect.POSTGRESQL: _MARKED.format("pg_sleep(0.2)"),
    # What runs in this process runs before, too: the next session has the same instance.
    Dialect.DUCKDB: _MARKED.format("(SELECT sum(range) FROM range(1000000))"),
    Dialect.SQLITE: _MARKED.format(
        "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100000) SELECT sum(i) FROM n)"
    ),
}
_PROCESSES = (
    f"SELECT id FROM information_schema.processlist WHERE info LIKE '%{MARKER}%' AND user LIKE 'bird_reader%'"
)
RUNS = {
    Dialect.MYSQL: _PROCESSES,
    Dialect.MARIADB: _PROCESSES,
    Dialect.POSTGRESQL: "SELECT pid FROM pg_stat_activity"
    " WHERE usename = 'bird_reader' AND wait_event = 'PgSleep'",
}
SERVERS = (Dialect.MYSQL, Dialect.POSTGRESQL, Dialect.MARIADB)


def _engine(dialect: Dialect, request: pytest.FixtureRequest) -> tuple[Engine, Server | None]:
    """Return an engine as a worker has it, and its server, if it has one."""
    if dialect is Dialect.SQLITE:
        return SQLiteEngine(), None
    server = request.getfixturevalue(f"{dialect}_server")
    return on_server(server), server


def _database(folder: Path, server: Server | None) -> Database:
    path = sqlite_file(folder / "secrets.sqlite", "CREATE TABLE t (a INTEGER)", "INSERT INTO t VALUES (1)")
    found = Database("bird_privacy_tests", "secrets", path)
    if server is not None:
        load([found], server)
    return found


@contextmanager
def _neighbour(engine: Engine, database: Database) -> Iterator[None]:
    """Another worker, which runs one marked text after the other."""
    stop, failed = threading.Event(), list[Execution]()

    def work() -> None:
        while not stop.is_set():
            execution = execute(engine, database, SLOW[engine.dialect], LIMITS)
            if execution.ending is not Ending.ROWS:
                failed.append(execution)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
    assert failed == []


def _running(server: Server) -> int:
    """Wait until a marked text runs, and return the number of its session."""
    until = time.monotonic() + 20
    while not (found := ask(server, None, RUNS[server.dialect])):
        assert time.monotonic() < until, "it does not run"
    return int(found[0][0])


@pytest.mark.parametrize(
    ("dialect", "place"),
    [
        pytest.param(dialect, place, id=f"{dialect}-{place.name}")
        for place, of in PLACES.items()
        for dialect, cell in of.items()
        if not isinstance(cell, Absent)
    ],
)
def test_no_place_shows_what_others_run_or_ran(
    request: pytest.FixtureRequest, tmp_path: Path, dialect: Dialect, place: Place
) -> None:
    spy, server = _engine(dialect, request)
    database = _database(tmp_path, server)
    texts = PLACES[place][dialect]
    assert not isinstance(texts, Absent)
    seen = []
    if server is None or dialect is Dialect.DUCKDB:
        for text in texts:
            assert execute(spy, database, SLOW[dialect], LIMITS).ending is Ending.ROWS
            with spy.session(database, 5) as other:
                rows = other.batches(SLOW[dialect])
                next(rows)
                seen.append((text, execute(spy, database, text.format(1), LIMITS)))
    else:
        neighbour = on_server(server)
        # Its connection is kept and reset before this worker takes one: MariaDB forgets to count it then.
        assert execute(neighbour, database, SLOW[dialect], LIMITS).ending is Ending.ROWS
        with _neighbour(neighbour, database):
            _running(server)
            for text in texts:
                # This worker's own gold, whose connection is kept.
                marked = f"SELECT '{MARKER}' AS {MARKER} FROM t"
                assert execute_patiently(spy, database, marked, LIMITS).ending is Ending.ROWS
                number = _running(server)
                seen.append((text, execute_patiently(spy, database, text.format(number), LIMITS)))
    assert [text for text, execution in seen if MARKER in str(execution)] == []
    # A hash of a password is as good as none, and nobody's business.
    assert [text for text, execution in seen if "PASSWORD '*" in str(execution.rows)] == []


@pytest.mark.parametrize(
    ("dialect", "channel"),
    [
        pytest.param(dialect, channel, id=f"{dialect}-{channel.mark[:40]}")
        for dialect, channels in CHANNELS.items()
        for channel in channels
    ],
)
def test_no_text_leaves_a_mark_that_another_sees(
    request: pytest.FixtureRequest, tmp_path: Path, dialect: Dialect, channel: Channel
) -> None:
    one, server = _engine(dialect, request)
    other = _engine(dialect, request)[0]
    database = _database(tmp_path, server)

    def seen() -> object:
        execution = execute(other, database, channel.look, LIMITS)
        return execution.ending, execution.rows, execution.error

    before = seen()
    with one.session(database, 5) as session:
        with suppress(SqlError):
            list(session.batches(channel.mark))
        assert seen() == before
    assert seen() == before


WHO = "SELECT SUBSTRING_INDEX(USER(), '@', 1)"
OF_ACCOUNTS = pytest.mark.parametrize("server", [Dialect.MYSQL, Dialect.MARIADB], indirect=True)


def _account(engine: Engine, database: Database) -> str:
    [[account]] = execute_patiently(engine, database, WHO, LIMITS).rows
    return str(account)


@OF_ACCOUNTS
def test_workers_that_start_at_once_make_an_account_each_and_keep_it(server: Server, tmp_path: Path) -> None:
    database = _database(tmp_path, server)
    count, rounds = 4, 3
    for number in range(1, count + 1):
        ask(server, None, f"DROP USER IF EXISTS bird_reader_{number}")
    started = threading.Barrier(count)

    def work(_: int) -> set[str]:
        engine = on_server(server)
        started.wait()
        found = set()
        for _ in range(rounds):
            found.add(_account(engine, database))
            started.wait()  # all of them have a connection that was reset, and none has closed it
        return found

    with ThreadPoolExecutor(count) as threads:
        found = list(threads.map(work, range(count)))
    assert [len(accounts) for accounts in found] == [1] * count
    assert len(set.union(*found)) == count
    assert all(name.startswith("bird_reader_") for name in set.union(*found))


@OF_ACCOUNTS
def test_no_text_runs_while_another_session_has_its_account(server: Server, tmp_path: Path) -> None:
    database = _database(tmp_path, server)
    engine = on_server(server)
    account = _account(engine, database)
    own = replace(server, reader_user=account)
    # MySQL refuses it; MariaDB has forgotten that the first one is there.
    with suppress(pymysql.OperationalError):
        other = pymysql.connect(
            host=own.host, port=own.port, user=account, password=own.reader_password,
            ssl_disabled=own.is_local,
        )  # fmt: skip
        with closing(other):
            assert _account(engine, database) != account
    if server.dialect is Dialect.MYSQL:
        assert _account(engine, database) == account


@OF_ACCOUNTS
def test_a_reading_role_that_sees_everybody_runs_nothing(server: Server, tmp_path: Path) -> None:
    database = _database(tmp_path, server)
    _account(on_server(server), database)
    role = "bird_reader" if server.dialect is Dialect.MARIADB else "bird_reader@'%'"
    ask(server, None, f"GRANT PROCESS ON *.* TO {role}")
    try:
        with pytest.raises(EngineLost, match="revoke PROCESS from bird_reader"):
            on_server(server).session(database, 5)
    finally:
        ask(server, None, f"REVOKE PROCESS ON *.* FROM {role}")


@OF_ACCOUNTS
@pytest.mark.parametrize("sql", [
    "SELECT info FROM information_schema.processlist", "SELECT * FROM performance_schema.threads",
    "SELECT info FROM information_schema.PROCE\u017f\u017fLIST",
    "SELECT * FROM `sys` . session", "EXPLAIN FORMAT=JSON FOR CONNECTION 1", "SHOW FULL PROCESSLIST",
])  # fmt: skip
def test_on_a_shared_account_the_lists_of_its_sessions_are_refused(
    server: Server, tmp_path: Path, sql: str
) -> None:
    database = _database(tmp_path, server)
    private = replace(server, user=server.reader_user, password=server.reader_password, is_private=True)
    kind = {Dialect.MYSQL: MySQLEngine, Dialect.MARIADB: MariaDBEngine}[server.dialect]
    execution = execute(kind(private), database, sql, LIMITS)
    assert (execution.ending, execution.code) == (Ending.ERROR, "1227")


@pytest.mark.parametrize("sql", ["SELECT * FROM pg_stat_activity", 'SELECT "pg_stat_get_activity"(NULL)'])
def test_on_anothers_role_the_lists_of_its_sessions_are_refused(
    postgresql_server: Server, tmp_path: Path, sql: str
) -> None:
    server = postgresql_server
    database = _database(tmp_path, server)
    private = replace(server, user=server.reader_user, password=server.reader_password, is_private=True)
    execution = execute(on_server(private), database, sql, LIMITS)
    assert (execution.ending, execution.code) == (Ending.ERROR, "42501")


def test_two_sessions_of_mysql_are_of_two_accounts_and_errors_name_neither(
    mysql_server: Server, tmp_path: Path
) -> None:
    database = _database(tmp_path, mysql_server)
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
    database = _database(tmp_path, mysql_server)
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


@OF_ACCOUNTS
@pytest.mark.parametrize(
    "before",
    [
        "DROP USER {}",
        "ALTER USER {} IDENTIFIED BY 'another one' WITH MAX_USER_CONNECTIONS 0",
        "REVOKE bird_reader FROM {}",
        "ALTER USER {} ACCOUNT LOCK",
    ],
)
def test_an_account_that_is_not_there_or_not_as_it_should_be_is_put_right(
    server: Server, tmp_path: Path, before: str
) -> None:
    database = _database(tmp_path, server)
    account = _account(on_server(server), database)
    assert account.startswith("bird_reader_")
    ask(server, None, before.format(account))
    engine = on_server(server)
    with engine.session(database, 5.0) as first, engine.session(database, 5.0) as second:
        [[(one, rows)]] = first.batches("SELECT SUBSTRING_INDEX(USER(), '@', 1), COUNT(*) FROM t")
        [[(other,)]] = second.batches(WHO)
    assert rows == 1
    assert str(one).startswith("bird_reader_")
    assert str(other).startswith("bird_reader_")
    assert one != other


def test_the_server_itself_may_still_say_what_runs_to_its_administrator(
    postgresql_server: Server, tmp_path: Path
) -> None:
    database = _database(tmp_path, postgresql_server)
    with psycopg.connect(
        host=postgresql_server.host, port=postgresql_server.port, user=postgresql_server.user,
        password=postgresql_server.password, dbname=database.postgresql_database,
    ) as connection:  # fmt: skip
        found = connection.execute(
            "SELECT query FROM pg_stat_activity WHERE pid = pg_backend_pid()"
        ).fetchone()
    assert found is not None
    assert "pg_backend_pid" in found[0]


def _address(execution: Execution) -> str:
    return (execution.error or "").partition("'@'")[2].partition("'")[0]
