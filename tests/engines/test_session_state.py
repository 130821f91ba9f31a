"""The next text sees nothing of what a text changes in its session: a table of kinds, engine by engine.

Each kind also runs on a plain connection, where its change stays: one that changes nothing would show none.
"""

import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import Any

import duckdb
import psycopg
import pymysql
import pytest

from dialects.enums import Dialect
from harness.engines import on_server
from harness.engines.base import Engine
from harness.engines.execution import Ending, Limits, execute
from harness.engines.sqlite.engine import SQLiteEngine
from loaders.bulk_load import load
from loaders.namespace import Database
from loaders.server import Server
from tests.sqlite_files import sqlite_file

DB_ID = "state"
LIMITS = Limits(seconds=20)


@dataclass(frozen=True)
class Kind:
    """A kind of session state: its name, a text that changes it, and a query that sees the change."""

    name: str
    text: str
    probe: str
    is_run: bool = True
    """False if the engine or the harness refuses the text."""
    first: str | None = None
    """What a plain connection needs first, to be like the harness's."""


REFUSED = False

_IN_TRANSACTION = "SELECT transaction_timestamp() = statement_timestamp()"

POSTGRESQL = (
    Kind("setting", "SET work_mem = '1MB'; SELECT 1", "SHOW work_mem"),
    Kind("setting by a function", "SELECT set_config('work_mem', '1MB', false)", "SHOW work_mem"),
    Kind("own setting", "SET my.own = 'x'; SELECT 1", "SELECT current_setting('my.own', true)"),
    Kind("local setting", "BEGIN; SET LOCAL work_mem = '1MB'; SELECT 1", "SHOW work_mem"),
    Kind("planner", "SET enable_seqscan = off; SELECT 1", "SHOW enable_seqscan"),
    Kind("time limit", "SET statement_timeout = 0; SELECT 1", "SHOW statement_timeout"),
    Kind("search path", "SET search_path = pg_catalog; SELECT 1", "SHOW search_path"),
    Kind("time zone", "SET TIME ZONE 'Asia/Tokyo'; SELECT 1", "SHOW timezone"),
    Kind("form of dates", "SET datestyle = 'German'; SELECT 1", "SELECT DATE '2001-02-03'::text"),
    Kind("form of intervals", "SET intervalstyle = 'iso_8601'; SELECT 1", "SELECT INTERVAL '1 day'::text"),
    Kind("form of bytes", "SET bytea_output = 'escape'; SELECT 1", "SHOW bytea_output"),
    Kind("digits", "SET extra_float_digits = -5; SELECT 1", "SELECT (1.0::float8 / 3)::text"),
    Kind("encoding", "SET client_encoding = 'LATIN1'; SELECT 1", "SHOW client_encoding"),
    Kind("backslashes", "SET standard_conforming_strings = off; SELECT 1", r"SELECT 'a\\b'"),
    Kind("may write", "SET default_transaction_read_only = off; SELECT 1", "SHOW transaction_read_only",
         first="SET default_transaction_read_only = on"),
    Kind("isolation", "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE; SELECT 1",
         "SHOW transaction_isolation"),
    Kind("role", "SET ROLE pg_monitor; SELECT 1", "SELECT current_user", REFUSED),
    Kind("role for good", "SET SESSION AUTHORIZATION pg_monitor; SELECT 1", "SELECT session_user", REFUSED),
    Kind("open transaction", "BEGIN; SELECT 1", _IN_TRANSACTION),
    Kind("failed transaction", "BEGIN; SELECT 1 / 0", "SELECT 1", REFUSED),
    Kind("savepoint", "BEGIN; SAVEPOINT s; SELECT 1", _IN_TRANSACTION),
    Kind("cursor", "BEGIN; DECLARE c CURSOR WITH HOLD FOR SELECT 1; COMMIT; SELECT 1",
         "SELECT count(*) FROM pg_cursors WHERE is_holdable"),
    Kind("prepared statement", "PREPARE p AS SELECT 1; SELECT 1",
         "SELECT count(*) FROM pg_prepared_statements WHERE name = 'p'", REFUSED),
    Kind("temporary table", "CREATE TEMPORARY TABLE made (a int); SELECT 1",
         "SELECT to_regclass('pg_temp.made') IS NULL", REFUSED),
    Kind("temporary table by SELECT", "SELECT 1 AS a INTO TEMPORARY made",
         "SELECT to_regclass('pg_temp.made') IS NULL", REFUSED),
    Kind("advisory lock", "SELECT pg_advisory_lock(77)",
         "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()", REFUSED),
    Kind("listening", "LISTEN x; SELECT 1", "SELECT count(*) FROM pg_listening_channels()", REFUSED),
    Kind("random numbers", "SELECT setseed(0.5)", "SELECT random() = 0.9851677175347999"),
)  # fmt: skip

MYSQL = (
    Kind("variable", "SELECT @a := 1", "SELECT @a"),
    Kind("variable by INTO", "SELECT 1 INTO @a", "SELECT @a"),
    Kind("named lock", "SELECT GET_LOCK('bird_state', 1)",
         "SELECT IS_USED_LOCK('bird_state') = CONNECTION_ID()", REFUSED),
    Kind("last key", "SELECT LAST_INSERT_ID(5)", "SELECT LAST_INSERT_ID()"),
    Kind("number of rows", "SELECT 1 UNION SELECT 2 UNION SELECT 3", "SELECT FOUND_ROWS(), ROW_COUNT()"),
    Kind("number of rows found", "SELECT SQL_CALC_FOUND_ROWS 1 UNION SELECT 2 LIMIT 1",
         "SELECT Found_Rows ( )"),
    Kind("warnings", "SELECT CAST('x' AS SIGNED)", "SHOW WARNINGS"),
    *(
        Kind(name, f"SET {text}", probe, REFUSED)
        for name, text, probe in (
            ("variable by SET", "@a = 1", "SELECT @a"),
            ("SQL mode", "SESSION sql_mode = 'ANSI_QUOTES'", "SELECT @@sql_mode"),
            ("time limit", "SESSION max_execution_time = 0", "SELECT @@max_execution_time"),
            ("isolation", "SESSION transaction_isolation = 'SERIALIZABLE'", "SELECT @@transaction_isolation"),
            ("time zone", "SESSION time_zone = '+09:00'", "SELECT @@time_zone"),
            ("time", "SESSION timestamp = 1", "SELECT YEAR(NOW()) < 2000"),
            ("names", "NAMES latin1", "SELECT @@character_set_client, @@character_set_results"),
            ("collation", "SESSION collation_connection = 'utf8mb4_bin'", "SELECT @@collation_connection"),
            ("planner", "SESSION optimizer_switch = 'hash_join=off'", "SELECT @@optimizer_switch"),
            ("length of lists", "SESSION group_concat_max_len = 4", "SELECT @@group_concat_max_len"),
            ("digits of quotients", "SESSION div_precision_increment = 0", "SELECT 1 / 3"),
            ("most rows", "SESSION sql_select_limit = 1", "SELECT 1 UNION ALL SELECT 2"),
            ("random numbers", "SESSION rand_seed1 = 1, SESSION rand_seed2 = 1", "SELECT RAND() < 1e-6"),
            ("autocommit", "SESSION autocommit = 0", "SELECT @@autocommit"),
        )
    ),
    Kind("may write", "SET SESSION transaction_read_only = 0", "SELECT @@transaction_read_only", REFUSED,
         "SET SESSION transaction_read_only = 1"),
    Kind("database", "USE information_schema", "SELECT DATABASE()", REFUSED),
    Kind("transaction", "START TRANSACTION", "SET TRANSACTION READ ONLY", REFUSED),
    Kind("distributed transaction", "XA START 'x'", "SET TRANSACTION READ ONLY", REFUSED),
    Kind("prepared statement", "PREPARE p FROM 'SELECT 1'", "EXECUTE p", REFUSED),
    Kind("temporary table", "CREATE TEMPORARY TABLE made (a INT)", "SELECT COUNT(*) FROM made", REFUSED),
    Kind("locked table", "LOCK TABLES t READ", "SELECT COUNT(*) FROM mysql.user", REFUSED),
    Kind("handler", "HANDLER t OPEN", "HANDLER t READ FIRST", REFUSED),
)  # fmt: skip

_NAMED_OTHERWISE = {"time limit", "may write", "isolation", "planner"}

MARIADB = (
    *(kind for kind in MYSQL if kind.name not in _NAMED_OTHERWISE),
    Kind("time limit", "SET SESSION max_statement_time = 0", "SELECT @@max_statement_time", REFUSED),
    Kind("isolation", "SET SESSION tx_isolation = 'SERIALIZABLE'", "SELECT @@tx_isolation", REFUSED),
    Kind("may write", "SET SESSION tx_read_only = 0", "SELECT @@tx_read_only", REFUSED,
         "SET SESSION tx_read_only = 1"),
    Kind("steps of a recursion", "SET SESSION max_recursive_iterations = 1",
         "SELECT @@max_recursive_iterations", REFUSED),
    Kind("memory", "SET SESSION max_session_mem_used = 1000000000", "SELECT @@max_session_mem_used", REFUSED),
    Kind("planner", "SET SESSION optimizer_switch = 'index_merge=off'", "SELECT @@optimizer_switch", REFUSED),
    Kind("immediate", "EXECUTE IMMEDIATE 'SET @a = 1'", "SELECT @a", REFUSED),
    Kind("block", "BEGIN NOT ATOMIC SET @a = 1; END", "SELECT @a", REFUSED),
    Kind("oracle's mode", "SET SESSION sql_mode = 'ORACLE'", "SELECT @@sql_mode", REFUSED),
    Kind("last value", "SELECT LAST_VALUE(@a := 1, 2)", "SELECT @a"),
)  # fmt: skip

DUCKDB = (
    Kind("variable", "SET VARIABLE v = 1", "SELECT getvariable('v')", REFUSED),
    Kind("setting", "SET threads = 7", "SELECT current_setting('threads')", REFUSED),
    Kind("order of NULLs", "SET default_null_order = 'nulls_first'",
         "SELECT x FROM (VALUES (1), (NULL)) AS v(x) ORDER BY x", REFUSED),
    Kind("schema", "SET schema = 'information_schema'", "SELECT current_schema()", REFUSED),
    Kind("random numbers", "SELECT setseed(0.5)", "SELECT random() = 0.8511131886287325"),
    Kind("temporary table", "CREATE TEMP TABLE made (a INT)", "SELECT count(*) FROM made", REFUSED),
    Kind("temporary view", "CREATE TEMP VIEW t AS SELECT 7 AS a", "SELECT a FROM temp.t", REFUSED),
    Kind("macro", "CREATE TEMP MACRO own(x) AS x + 1", "SELECT own(1)", REFUSED),
    Kind("attached database", "ATTACH ':memory:' AS other",
         "SELECT count(*) FROM duckdb_databases() WHERE database_name = 'other'", REFUSED),
    Kind("prepared statement", "PREPARE p AS SELECT 1", "EXECUTE p", REFUSED),
    Kind("transaction", "BEGIN", "BEGIN", REFUSED),
)  # fmt: skip

SQLITE = (
    Kind("pragma", "PRAGMA case_sensitive_like = 1", "SELECT 'a' LIKE 'A'", REFUSED),
    Kind("may write", "PRAGMA query_only = 1", "PRAGMA query_only", REFUSED),
    Kind("attached database", "ATTACH ':memory:' AS other",
         "SELECT count(*) FROM pragma_database_list", REFUSED),
    Kind("temporary table", "CREATE TEMP TABLE made (a)", "SELECT count(*) FROM temp.sqlite_schema", REFUSED),
    Kind("temporary view", "CREATE TEMP VIEW t AS SELECT 7 AS a", "SELECT a FROM t", REFUSED),
    Kind("transaction", "BEGIN", "BEGIN", REFUSED),
    Kind("savepoint", "SAVEPOINT s", "RELEASE s", REFUSED),
)  # fmt: skip

_TIME_LIMIT = {
    Dialect.MYSQL: "max_execution_time = 20000",
    Dialect.MARIADB: "max_statement_time = 20",
}

Plain = Callable[[str], object]
"""Runs a text on a plain connection, and returns its rows or the driver's error."""


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Database:
    path = sqlite_file(
        tmp_path_factory.mktemp(DB_ID) / f"{DB_ID}.sqlite",
        "CREATE TABLE t (a INTEGER)",
        "INSERT INTO t VALUES (1)",
    )
    return Database("bird_state_tests", DB_ID, path)


@pytest.mark.parametrize("kind", SQLITE, ids=lambda kind: kind.name)
def test_sqlite(database: Database, kind: Kind) -> None:
    with closing(sqlite3.connect(database.sqlite_path, isolation_level=None)) as connection:
        _check(SQLiteEngine(pooled=True), database, kind, _plain(connection.cursor))


Loaded = Callable[[Server], Engine]


@pytest.fixture(scope="module")
def loaded(database: Database) -> Loaded:
    """The engine of a server that has the database; one for all kinds, so that its connection is kept."""
    engines: dict[str, Engine] = {}

    def engine(server: Server) -> Engine:
        if server.dialect not in engines:
            load([database], server)
            engines[server.dialect] = on_server(server)
        return engines[server.dialect]

    return engine


@pytest.mark.engine
@pytest.mark.parametrize("kind", POSTGRESQL, ids=lambda kind: kind.name)
def test_postgresql(postgresql_server: Server, loaded: Loaded, database: Database, kind: Kind) -> None:
    server = postgresql_server
    engine = loaded(server)
    with psycopg.connect(
        host=server.host, port=server.port, user=server.user, password=server.password,
        dbname=database.postgresql_database, autocommit=True,
        options="-c statement_timeout=20000",
    ) as connection:  # fmt: skip
        _check(engine, database, kind, _plain(connection.cursor))


@pytest.mark.engine
@pytest.mark.parametrize(
    ("server", "kind"),
    [
        pytest.param(dialect, kind, id=f"{dialect}-{kind.name}")
        for dialect, kinds in ((Dialect.MYSQL, MYSQL), (Dialect.MARIADB, MARIADB))
        for kind in kinds
    ],
    indirect=["server"],
)
def test_mysql_and_mariadb(server: Server, loaded: Loaded, database: Database, kind: Kind) -> None:
    engine = loaded(server)
    with closing(
        pymysql.connect(
            host=server.host, port=server.port, user=server.user, password=server.password,
            database=database.mysql_database, autocommit=True, ssl_disabled=server.is_local,
            init_command=f"SET SESSION {_TIME_LIMIT[server.dialect]}",
        )
    ) as connection:  # fmt: skip
        _check(engine, database, kind, _plain(connection.cursor))


@pytest.mark.engine
@pytest.mark.parametrize("kind", DUCKDB, ids=lambda kind: kind.name)
def test_duckdb(duckdb_server: Server, loaded: Loaded, database: Database, kind: Kind) -> None:
    engine = loaded(duckdb_server)
    with closing(duckdb.connect(":memory:")) as connection:  # its cursors are sessions of their own
        _check(engine, database, kind, _plain(lambda: connection))


def _check(engine: Engine, database: Database, kind: Kind, plain: Plain) -> None:
    if kind.first is not None:
        plain(kind.first)
    before = plain(kind.probe)
    plain(kind.text)
    assert plain(kind.probe) != before, "the text changes nothing that the query sees"

    def asked() -> object:
        execution = execute(engine, database, kind.probe, LIMITS)
        return execution.ending, execution.rows, execution.error

    expected = asked()
    execution = execute(engine, database, kind.text, LIMITS)
    assert (execution.ending is Ending.ROWS) == kind.is_run, execution.error
    assert asked() == expected


def _plain(cursor_of: Callable[[], Any]) -> Plain:
    def run(text: str) -> object:
        cursor = cursor_of()
        try:
            cursor.execute(text)
            with suppress(AttributeError):  # SQLite takes one statement
                while cursor.nextset():
                    pass
            return cursor.fetchall() if cursor.description else None
        except (psycopg.Error, pymysql.Error, sqlite3.Error, duckdb.Error) as error:
            return str(error)

    return run
