"""Hostile answers to tasks, with rights to write: nothing outside their copies changes, no honest verdict.

Each family of texts comes in every shape. Between hostile answers stand honest ones, right and wrong, whose
verdicts are known; what is outside of the copies is compared before and after.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from harness.labs.tasks.families import FAMILIES
from harness.labs.tasks.judging import judge
from harness.labs.tasks.layouts import Task, TaskAnswers, TaskSet
from loaders.server import Server
from tests.labs.tasks.shop import make_dumps, make_sqlite

Answer = tuple[str, ...]

SQLITE = {
    "attach": "ATTACH '{folder}/evil' AS e",
    "attach by a URI": "ATTACH 'file:{folder}/evil?mode=rwc' AS e",
    "attach another database": "ATTACH '{folder}/databases/other.sqlite' AS e",
    "attach the template": "ATTACH '{folder}/databases/shop/shop_template.sqlite' AS e",
    "attach by an expression": "ATTACH '{folder}' || '/evil' AS e",
    "write a copy": "VACUUM INTO '{folder}/evil'",
    "write a copy by an expression": "VACUUM INTO '{folder}' || char(47) || 'evil'",
    "extension": "SELECT load_extension('{folder}/evil')",
    "file function": "SELECT writefile('{folder}/evil', 'x')",
    "file read": "SELECT readfile('/etc/passwd')",
    "edit": "SELECT edit('x', 'touch {folder}/evil')",
    "temporary folder": "PRAGMA temp_store_directory = '{folder}'",
    "data folder": "PRAGMA data_store_directory = '{folder}'",
    "journal off": "PRAGMA journal_mode = OFF",
    "journal of the copy": "PRAGMA journal_mode = DELETE",
    "exclusive lock": "PRAGMA locking_mode = EXCLUSIVE",
    "writable schema": "PRAGMA writable_schema = ON",
    "broken schema": "UPDATE sqlite_master SET sql = 'broken'",
    "trusted schema": "PRAGMA trusted_schema = ON",
    "busy time": "PRAGMA busy_timeout = 2147483647",
    "cache": "PRAGMA cache_size = 1000000",
    "page size": "PRAGMA page_size = 65536",
    "heap": "PRAGMA hard_heap_limit = 1",
    "largest file": "PRAGMA max_page_count = 1",
    "user version": "PRAGMA user_version = 7",
    "application": "PRAGMA application_id = 1",
    "checkpoint": "PRAGMA wal_checkpoint(TRUNCATE)",
    "all rows": "DELETE FROM orders",
    "a table": "DROP TABLE orders",
    "hidden by a temporary table": "CREATE TEMP TABLE orders(id INTEGER)",
    "hidden by a view": "CREATE TEMP VIEW orders AS SELECT 1 AS id",
    "a trigger": "CREATE TRIGGER t AFTER INSERT ON orders BEGIN DELETE FROM customers; END",
    "an unfinished transaction": "BEGIN EXCLUSIVE",
    "a savepoint": "SAVEPOINT s",
    "huge value": "SELECT hex(zeroblob(400000000))",
    "huge row kept": "INSERT INTO customers(name) SELECT hex(zeroblob(40000000))",
    "deep expression": "SELECT " + "(" * 2_000 + "1" + ")" * 2_000,
    "many columns": "SELECT " + ", ".join(["1"] * 3_000),
    "sequence": "CREATE TABLE numbered(id INTEGER PRIMARY KEY AUTOINCREMENT)",
    "virtual table": "CREATE VIRTUAL TABLE v USING fts5(x)",
    "file system table": "CREATE VIRTUAL TABLE v USING fsdir('/')",
    "not UTF-8": "SELECT CAST(x'ff' AS TEXT)",
    "NUL": "SELECT 'a\0b'",
    "empty": "",
    "comment alone": "-- nothing",
    "several": "DELETE FROM orders; DROP TABLE customers",
    "reindex": "REINDEX; ANALYZE",
    "detach": "DETACH main",
}

POSTGRESQL = {
    "file written": "COPY customers TO '{folder}/evil'",
    "file read": "COPY customers(name) FROM '/etc/passwd'",
    "program": "COPY customers TO PROGRAM 'touch {folder}/evil'",
    "program read": "COPY customers(name) FROM PROGRAM 'id'",
    "file function": "SELECT pg_read_file('postgresql.conf')",
    "folder function": "SELECT pg_ls_dir('.')",
    "large object to file": "SELECT lo_export(lo_from_bytea(0, 'x'), '{folder}/evil')",
    "large object from file": "SELECT lo_import('/etc/passwd')",
    "large object": "SELECT lo_from_bytea(0, 'x')",
    "role": "CREATE ROLE evil SUPERUSER LOGIN",
    "role of the owner": "ALTER ROLE bird_task_owner LOGIN PASSWORD 'x'",
    "role of its own": "ALTER ROLE CURRENT_USER CREATEDB CREATEROLE",
    "setting of its role": "ALTER ROLE CURRENT_USER SET statement_timeout = 0",
    "setting as the owner": "SET ROLE bird_task_owner; ALTER ROLE bird_task_owner SET work_mem = '1GB'",
    "password of its own": "ALTER ROLE CURRENT_USER PASSWORD 'x'",
    "member": "GRANT bird_task_owner TO postgres",
    "superuser": "SET SESSION AUTHORIZATION postgres",
    "role of others": "SET ROLE postgres",
    "read everything": "GRANT pg_read_all_data TO CURRENT_USER",
    "database": "CREATE DATABASE evil",
    "drop a database": "DROP DATABASE postgres WITH (FORCE)",
    "rename a database": "ALTER DATABASE postgres RENAME TO evil",
    "setting of a database": "ALTER DATABASE postgres SET work_mem = '1GB'",
    "setting of the copy": "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET work_mem = ''1GB''',"
    " current_database()); END $$",
    "server setting": "ALTER SYSTEM SET work_mem = '1GB'",
    "reload": "SELECT pg_reload_conf()",
    "log": "SELECT pg_rotate_logfile()",
    "backup": "SELECT pg_create_restore_point('evil')",
    "slot": "SELECT pg_create_logical_replication_slot('evil', 'test_decoding')",
    "publication": "CREATE PUBLICATION evil FOR ALL TABLES",
    "subscription": "CREATE SUBSCRIPTION evil CONNECTION 'host=127.0.0.1' PUBLICATION p",
    "tablespace": "CREATE TABLESPACE evil LOCATION '{folder}'",
    "extension": "CREATE EXTENSION dblink",
    "extension of files": "CREATE EXTENSION file_fdw",
    "extension for everybody": "CREATE EXTENSION IF NOT EXISTS hstore",
    "library": "LOAD 'auto_explain'",
    "language": "CREATE FUNCTION f() RETURNS int LANGUAGE c AS '/lib/x86_64-linux-gnu/libc.so.6', 'getpid'",
    "untrusted language": "CREATE FUNCTION f() RETURNS int LANGUAGE plpython3u AS 'return 1'",
    "other sessions": "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()",
    "other queries": "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()",
    "its own session": "SELECT pg_terminate_backend(pg_backend_pid())",
    "notify": "NOTIFY evil, 'x'",
    "listen": "LISTEN evil",
    "advisory lock": "SELECT pg_advisory_lock(1112101444)",
    "advisory lock of the harness": "SELECT pg_advisory_lock(k) FROM generate_series(1, 200) k",
    "temporary table": "CREATE TEMP TABLE orders AS SELECT 1 AS id",
    "search path": "CREATE SCHEMA evil; CREATE VIEW evil.orders AS SELECT 1 AS id; SET search_path = evil",
    "sequence": "CREATE SEQUENCE s; SELECT nextval('s') FROM generate_series(1, 1000)",
    "prepared transaction": "BEGIN; DELETE FROM orders; PREPARE TRANSACTION 'evil'",
    "prepared statement": "PREPARE p AS DELETE FROM orders; EXECUTE p",
    "cursor": "DECLARE c CURSOR WITH HOLD FOR SELECT * FROM orders",
    "no limit": "SET statement_timeout = 0",
    "no limit for the transaction": "BEGIN; SET LOCAL statement_timeout = 0",
    "unfinished transaction": "BEGIN; LOCK TABLE orders IN ACCESS EXCLUSIVE MODE",
    "all rows": "DELETE FROM orders",
    "tables": "DROP TABLE orders, customers CASCADE",
    "the schema": "DROP SCHEMA public CASCADE",
    "everything owned": "DROP OWNED BY CURRENT_USER CASCADE",
    "everything of the owner": "SET ROLE bird_task_owner; DROP OWNED BY bird_task_owner CASCADE",
    "given away": "REASSIGN OWNED BY CURRENT_USER TO bird_task_owner",
    "privileges": "ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO PUBLIC",
    "trigger of events": "CREATE EVENT TRIGGER e ON ddl_command_start EXECUTE FUNCTION pg_sleep()",
    "catalog": "DELETE FROM pg_catalog.pg_class",
    "catalog of roles": "UPDATE pg_authid SET rolsuper = true",
    "huge value": "SELECT repeat('x', 200000000)",
    "memory": "SET work_mem = '1GB'; SELECT length(string_agg(repeat('x', 1000), '')) FROM"
    " generate_series(1, 100000)",
    "many connections": "SELECT 1 FROM generate_series(1, 3)",
    "comment on a database": "COMMENT ON DATABASE postgres IS 'evil'",
    "comment on a role": "COMMENT ON ROLE bird_task_owner IS 'evil'",
    "replica": "SET session_replication_role = replica",
    "zone": "SET TimeZone = 'UTC'",
    "import": "CREATE SERVER s FOREIGN DATA WRAPPER postgres_fdw",
    "not UTF-8": "SET client_encoding = 'LATIN1'",
    "NUL": "SELECT 'a\0b'",
    "empty": "",
    "vacuum": "VACUUM FULL",
}

ENDLESS = {
    "sqlite": (
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n",
        "INSERT INTO orders(day) WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT 2 FROM n) SELECT x FROM n",
    ),
    "postgresql": (
        "SET statement_timeout = 0; SELECT pg_sleep(100)",
        "DO $$ BEGIN LOOP END LOOP; END $$",
        "SET statement_timeout = 0; WITH RECURSIVE n(x) AS (VALUES(1) UNION ALL TABLE n) TABLE n",
    ),
}
"""Texts that end at a limit alone; they take their time, so that each has one shape."""

SECONDS = 8.0
"""The limit of a task here."""

ALL = 2
"""The steps up to which a run is of all answers."""

HONEST = "SELECT COUNT(id) FROM orders"
WRONG = "SELECT COUNT(id) - 1 FROM orders"
FAKED = "SELECT 299"


def shapes(text: str, dialect: str) -> Iterator[Answer]:
    """An answer of each shape that a text can have."""
    yield (text,)
    yield (text, HONEST)
    yield (text, FAKED)
    yield (HONEST, text)
    yield ("BEGIN", text, "COMMIT")
    yield ("BEGIN", text)
    yield (f"/* SELECT */ {text}", HONEST)
    yield (f"{text};",)
    yield (text.swapcase() if "'" not in text else f" \n{text}\n",)
    yield (text, text)
    if dialect == "postgresql":
        yield (f"SET statement_timeout = 0; {text}",)
        yield ("DO $evil$ BEGIN EXECUTE $text$" + text + "$text$; END $evil$", HONEST)
        yield (f"BEGIN; {text}; COMMIT; {HONEST}",)
    else:
        yield ("PRAGMA journal_mode = MEMORY", text)
        yield ("SAVEPOINT evil", text, "ROLLBACK TO evil", HONEST)


def hostile_answers(dialect: str, texts: Mapping[str, str], folder: Path, step: int) -> list[Answer]:
    """Every `step`-th answer, and with all of them, or every second one, the endless ones."""
    made = [
        tuple(part.replace("{folder}", str(folder)) for part in answer)
        for text in texts.values()
        for answer in shapes(text, dialect)
    ]
    endless = [(text,) for text in ENDLESS[dialect]]
    return [*made[::step], *(endless if step <= ALL else ())]


def judged(
    folder: Path, family: str, hostile: Sequence[Answer], server: Server | None = None
) -> dict[tuple[str, int], tuple[bool, bool | None]]:
    """Judge hostile answers, each between honest ones to its task; return official and strict verdicts."""
    own = replace(FAMILIES[family], task_seconds=SECONDS)
    tasks = [
        Task(
            {
                "instance_id": f"t{number}",
                "selected_database": "shop",
                "query": "How many orders?",
                "preprocess_sql": [],
                "clean_up_sql": [],
                "sol_sql": [f"SELECT COUNT(*) FROM orders WHERE id <> {number + 1000}"],
                "category": "Query",
                "conditions": {},
            },
            own,
        )
        for number in range(len(hostile))
    ]
    predictors = [
        TaskAnswers("hostile", {f"t{number}": answer for number, answer in enumerate(hostile)}),
        TaskAnswers("right", {one.id: (f"{HONEST} WHERE '{one.id}' <> ''",) for one in tasks[::2]}),
        TaskAnswers("wrong", {one.id: (f"{WRONG} WHERE '{one.id}' <> ''",) for one in tasks[1::2]}),
    ]
    found = judge(TaskSet(folder / "tasks.jsonl", own, tasks, folder / "databases"), predictors, 2, server)
    return {(one.predictor, int(one.task[1:])): (one.official.passes, one.strict.passes) for one in found}


def faults(found: Mapping[tuple[str, int], tuple[bool, bool | None]], count: int) -> list[Any]:
    """Honest verdicts that a hostile answer has changed, and judgements that are missing."""
    yes, no = (True, True), (False, False)
    awaited = {"gold": (yes, yes), "right": (yes, no), "wrong": (no, no)}
    changed = [
        (whose, verdicts)
        for whose, verdicts in found.items()
        if whose[0] in awaited and awaited[whose[0]][whose[1] % 2] != verdicts
    ]
    missing = [number for number in range(count) if ("hostile", number) not in found]
    return [*changed, *missing]


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def check_sqlite(folder: Path, step: int) -> int:
    make_sqlite(folder / "databases")
    (folder / "databases" / "other.sqlite").write_bytes(
        (folder / "databases/shop/shop_template.sqlite").read_bytes()
    )
    # Where a file may be created by anybody.
    folder.chmod(0o777)
    before = files(folder)
    hostile = hostile_answers("sqlite", SQLITE, folder, step)
    found = judged(folder, "livesqlbench-sqlite", hostile)
    assert faults(found, len(hostile)) == []
    assert files(folder) == before
    return len(hostile)


@pytest.mark.slow
def test_a_sample_of_hostile_answers_on_sqlite(tmp_path: Path) -> None:
    assert check_sqlite(tmp_path, 71) >= 8


@pytest.mark.slow
@pytest.mark.thorough
def test_hostile_answers_on_sqlite(tmp_path: Path) -> None:
    assert check_sqlite(tmp_path, 1) >= 500


_SNAPSHOTS = (
    "SELECT rolname, rolsuper, rolcreaterole, rolcreatedb, rolcanlogin, rolpassword FROM pg_authid",
    "SELECT member::regrole::text, roleid::regrole::text FROM pg_auth_members",
    "SELECT datname, datacl::text, datallowconn FROM pg_database",
    "SELECT setdatabase, setrole, setconfig::text FROM pg_db_role_setting",
    "SELECT name, setting FROM pg_settings WHERE name <> 'transaction_isolation' AND context <> 'internal'",
    "SELECT spcname FROM pg_tablespace",
    "SELECT gid FROM pg_prepared_xacts",
    "SELECT objid FROM pg_locks WHERE locktype = 'advisory'",
    "SELECT slot_name FROM pg_replication_slots",
    "SELECT oid FROM pg_largeobject_metadata",
    "SELECT objoid::text, description FROM pg_shdescription",
    "SELECT extname FROM pg_extension",
    "SELECT nspname FROM pg_namespace WHERE nspname NOT LIKE 'pg_%'",
    "SELECT usename::text FROM pg_stat_activity WHERE starts_with(usename, 'bird_task')",
    "SELECT pg_read_file('postgresql.auto.conf', 0, 100000, true)",
    "SELECT pg_ls_dir('.') ORDER BY 1",
)


def outside(server: Server) -> list[list[Any]]:
    """Everything on a server that no copy has."""
    with psycopg.connect(
        host=server.host, port=server.port, user=server.user, password=server.password, dbname="postgres"
    ) as connection:
        return [sorted(map(repr, connection.execute(text.encode()))) for text in _SNAPSHOTS]


def check_postgresql(folder: Path, server: Server, step: int) -> int:
    make_dumps(folder / "databases")
    # Templates and the role that owns them stay from run to run.
    judged(folder, "livesqlbench", [(HONEST,)], server)
    folder.chmod(0o777)
    before, there = outside(server), files(folder)
    hostile = hostile_answers("postgresql", POSTGRESQL, folder, step)
    found = judged(folder, "livesqlbench", hostile, server)
    assert faults(found, len(hostile)) == []
    assert outside(server) == before
    assert files(folder) == there
    return len(hostile)


@pytest.mark.engine
def test_a_sample_of_hostile_answers_on_postgresql(tmp_path: Path, postgresql_server: Server) -> None:
    assert check_postgresql(tmp_path, postgresql_server, 101) >= 8
