"""Hostile answers to tasks, with rights to write: nothing outside their copies changes, no honest verdict.

Each family of texts comes in every shape. Between hostile answers stand honest ones, right and wrong, whose
verdicts are known; what is outside of the copies is compared before and after, on servers that nobody else
uses. `BIRD_TEST_HOSTILE=1` runs all answers, which takes half an hour on the servers: longer than pytest
allows a test, so that `-o faulthandler_timeout=7200` goes with it.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import psycopg
import pymysql
import pytest

from dialects.enums import Dialect
from harness.labs.tasks import postgresql
from harness.labs.tasks.families import FAMILIES
from harness.labs.tasks.judging import judge
from harness.labs.tasks.layouts import Task, TaskAnswers, TaskSet
from loaders.base.errors import EngineUnavailable
from loaders.server import Server
from tests.engines.victims import victim
from tests.labs.tasks.shop import make_dumps, make_mysql_dump, make_sqlite
from tests.reasons import Reason, skip

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
    "setting in another database": "ALTER ROLE CURRENT_USER IN DATABASE postgres SET work_mem = '1GB'",
    "setting of the owner in another database": "SET ROLE bird_task_owner;"
    " ALTER ROLE bird_task_owner IN DATABASE postgres SET work_mem = '1GB'",
    "password of the owner": "SET ROLE bird_task_owner; ALTER ROLE bird_task_owner PASSWORD 'x'",
    "definer of a function": "CREATE FUNCTION f() RETURNS text LANGUAGE sql SECURITY DEFINER AS"
    " 'SELECT current_user::text'; ALTER FUNCTION f() OWNER TO postgres; SELECT f()",
    "function of a view": "CREATE OR REPLACE FUNCTION pg_temp.count(int) RETURNS bigint LANGUAGE sql AS"
    " 'SELECT 299::bigint'; SET search_path = pg_temp, public, pg_catalog",
    "own aggregate": "CREATE AGGREGATE public.count(int) (sfunc = int4pl, stype = int4, initcond = '299');"
    " SET search_path = public, pg_catalog",
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
    "trigger": "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';"
    " CREATE TRIGGER t BEFORE INSERT ON orders EXECUTE FUNCTION f()",
    "rule": "CREATE RULE r AS ON INSERT TO orders DO INSTEAD NOTHING",
    "policy": "ALTER TABLE orders ENABLE ROW LEVEL SECURITY; ALTER TABLE orders FORCE ROW LEVEL SECURITY",
    "parameter": "GRANT SET ON PARAMETER work_mem TO PUBLIC",
    "foreign password": "CREATE USER MAPPING FOR postgres SERVER s OPTIONS (password 'x')",
    "statistics": "SELECT pg_stat_reset()",
    "uncounted": "SET track_counts = off; DELETE FROM orders",
    "analyze": "ANALYZE orders",
    "snapshot": "SELECT pg_export_snapshot()",
    "log message": "SET log_statement = 'all'",
    "dblink": "SELECT dblink_exec('host=127.0.0.1 user=postgres', 'CREATE ROLE evil')",
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

MYSQL = {
    "file written": "SELECT * FROM customers INTO OUTFILE '{folder}/evil'",
    "value written": "SELECT 'x' INTO DUMPFILE '{folder}/evil'",
    "file read": "SELECT load_file('/etc/passwd')",
    "file loaded": "LOAD DATA INFILE '/etc/passwd' INTO TABLE customers (name)",
    "file of the client": "LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE customers (name)",
    "table elsewhere": "CREATE TABLE evil(a int) DATA DIRECTORY = '{folder}'",
    "table of a file": "CREATE TABLE evil(a int NOT NULL) ENGINE = CSV",
    "table of another engine": "CREATE TABLE evil(a int) ENGINE = MyISAM",
    "table of other tables": "CREATE TABLE evil(user char(32)) ENGINE = MERGE UNION = (mysql.user)",
    "table of another server": "CREATE TABLE evil(a int) ENGINE = FEDERATED"
    " CONNECTION = 'mysql://root@127.0.0.1/mysql/user'",
    "table space": "CREATE TABLESPACE evil ADD DATAFILE 'evil.ibd'",
    "undo space": "CREATE UNDO TABLESPACE evil ADD DATAFILE 'evil.ibu'",
    "another server": "CREATE SERVER evil FOREIGN DATA WRAPPER mysql OPTIONS (HOST '127.0.0.1')",
    "account": "CREATE USER evil",
    "role": "CREATE ROLE evil",
    "root": "ALTER USER root@localhost IDENTIFIED BY 'x'",
    "password of its own": "SET PASSWORD = 'evil'",
    "account of its own": "ALTER USER CURRENT_USER() IDENTIFIED BY 'evil'",
    "account locked": "ALTER USER CURRENT_USER() ACCOUNT LOCK",
    "comment on itself": "ALTER USER CURRENT_USER() COMMENT 'prepared before: '",
    "no account": "DROP USER CURRENT_USER()",
    "rights": "GRANT ALL ON *.* TO CURRENT_USER()",
    "rights to itself": "GRANT SUPER, FILE, PROCESS ON *.* TO CURRENT_USER() WITH GRANT OPTION",
    "rights of others": "REVOKE ALL ON *.* FROM root@localhost",
    "proxy": "GRANT PROXY ON root@localhost TO CURRENT_USER()",
    "role set": "SET DEFAULT ROLE ALL TO CURRENT_USER()",
    "database": "CREATE DATABASE evil",
    "drop a database": "DROP DATABASE mysql",
    "table of accounts": "UPDATE mysql.user SET super_priv = 'Y'",
    "table in another database": "CREATE TABLE mysql.evil(a int)",
    "moved to another database": "RENAME TABLE orders TO mysql.evil",
    "global setting": "SET GLOBAL max_connections = 1",
    "kept setting": "SET PERSIST max_connections = 1",
    "kept setting for the next start": "SET PERSIST_ONLY max_connections = 1",
    "kept settings reset": "RESET PERSIST",
    "global mode": "SET GLOBAL sql_mode = ''",
    "read only": "SET GLOBAL read_only = 1",
    "counting": "UPDATE performance_schema.setup_instruments SET enabled = 'NO'",
    "counts": "TRUNCATE TABLE performance_schema.table_io_waits_summary_by_table",
    "log": "SET GLOBAL general_log_file = '{folder}/evil'",
    "log off": "SET SESSION sql_log_bin = 0",
    "logs": "PURGE BINARY LOGS BEFORE NOW()",
    "reset": "RESET BINARY LOGS AND GTIDS",
    "replica": "CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1'",
    "clone": "CLONE LOCAL DATA DIRECTORY = '{folder}/evil'",
    "scheduler": "SET GLOBAL event_scheduler = OFF",
    "event": "CREATE EVENT e ON SCHEDULE EVERY 1 SECOND DO DELETE FROM orders",
    "event that sleeps": "CREATE EVENT e ON SCHEDULE EVERY 1 SECOND"
    " DO SELECT sleep(100) FROM orders FOR UPDATE",
    "event elsewhere": "CREATE EVENT mysql.evil ON SCHEDULE EVERY 1 SECOND DO DELETE FROM mysql.user",
    "plugin": "INSTALL PLUGIN evil SONAME 'evil.so'",
    "component": "INSTALL COMPONENT 'file://component_validate_password'",
    "library": "CREATE FUNCTION evil RETURNS STRING SONAME 'evil.so'",
    "function": "CREATE FUNCTION evil() RETURNS int DETERMINISTIC RETURN 299",
    "definer": "CREATE DEFINER = root@localhost SQL SECURITY DEFINER VIEW evil AS SELECT * FROM mysql.user",
    "trigger": "CREATE TRIGGER evil BEFORE INSERT ON orders FOR EACH ROW SET NEW.id = 1",
    "other sessions": "KILL 1",
    "its own session": "KILL CONNECTION_ID()",
    "seen sessions": "SELECT * FROM performance_schema.threads",
    "shutdown": "SHUTDOWN",
    "restart": "RESTART",
    "flush": "FLUSH PRIVILEGES",
    "flush with a lock": "FLUSH TABLES WITH READ LOCK",
    "flush of its table": "FLUSH TABLES orders WITH READ LOCK",
    "flush for export": "FLUSH TABLES orders FOR EXPORT",
    "backup lock": "LOCK INSTANCE FOR BACKUP",
    "table lock": "LOCK TABLES orders WRITE",
    "lock by name": "SELECT get_lock('evil', 0)",
    "locks of the harness": "SELECT get_lock('bird_tasks', 0), get_lock('bird_tasks_names', 0)",
    "handler": "HANDLER orders OPEN AS evil",
    "temporary table": "CREATE TEMPORARY TABLE orders SELECT 1 AS id",
    "XA left open": "XA START 'evil'",
    "XA of another": "XA ROLLBACK 'evil'",
    "XA by a prepared text": "PREPARE evil FROM \"XA START 'evil'\"",
    "prepared statement": "PREPARE evil FROM 'DELETE FROM orders'",
    "unfinished transaction": "START TRANSACTION WITH CONSISTENT SNAPSHOT",
    "no commit": "SET autocommit = 0",
    "isolation": "SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE",
    "no limit": "SET SESSION max_execution_time = 0",
    "no waiting": "SET SESSION innodb_lock_wait_timeout = 1073741824, lock_wait_timeout = 31536000",
    "no checks": "SET SESSION foreign_key_checks = 0, unique_checks = 0, sql_mode = ''",
    "character set": "SET NAMES latin1",
    "zone": "SET SESSION time_zone = '+10:00'",
    "all rows": "DELETE FROM orders",
    "all rows of the parent": "DELETE FROM customers",
    "table emptied": "TRUNCATE TABLE orders",
    "tables": "DROP TABLE orders, customers",
    "names": "RENAME TABLE orders TO evil, customers TO orders",
    "next number": "ALTER TABLE customers AUTO_INCREMENT = 100000",
    "character set of the copy": "ALTER DATABASE CHARACTER SET latin1",
    "read-only copy": "ALTER DATABASE READ ONLY = 1",
    "encrypted": "ALTER TABLE orders ENCRYPTION = 'Y'",
    "table space discarded": "ALTER TABLE orders DISCARD TABLESPACE",
    "histogram": "ANALYZE TABLE orders UPDATE HISTOGRAM ON total WITH 4 BUCKETS",
    "statistics": "ANALYZE TABLE orders",
    "invisible": "ALTER TABLE orders ALTER COLUMN id SET INVISIBLE",
    "spatial system": "CREATE SPATIAL REFERENCE SYSTEM 1000000 NAME 'evil' DEFINITION 'x'",
    "resource group": "CREATE RESOURCE GROUP evil TYPE = USER",
    "huge value": "SELECT length(repeat('x', 60000000))",
    "not UTF-8": "SELECT _utf8mb4 x'ff'",
    "NUL": "SELECT 'a\0b'",
    "empty": "",
    "several": "DELETE FROM orders; DROP TABLE customers",
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
    "mysql": (
        "DO sleep(100)",
        "SELECT count(*) FROM orders a, orders b, orders c, orders d, orders e",
    ),
}
"""Texts that end at a limit alone; they take their time, so that each has one shape."""

HUGE = frozenset({("sqlite", "huge value"), ("sqlite", "huge row kept")})
"""Texts whose every answer fills memory, so that each has a third of the shapes."""

SECONDS = 8.0
"""The limit of a task here."""

STEPS = {
    dialect: int(os.environ.get("BIRD_TEST_HOSTILE", step))
    for dialect, step in ((Dialect.SQLITE, "5"), (Dialect.MYSQL, "12"), (Dialect.POSTGRESQL, "12"))
}
"""The thorough tests take every fifth or twelfth answer: of each text, and each shape."""

COMPARED = (
    "def test_case(pred_sqls, sol_sqls, db_name, conn):\n"
    "    assert ex_base(pred_sqls, sol_sqls, db_name, conn) == 1"
)

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
    elif dialect == "mysql":
        # The same names in two copies at a time.
        yield ("XA START 'evil'", text, "XA END 'evil'", "XA PREPARE 'evil'")
        yield ("SET autocommit = 0", text, "SELECT get_lock('evil', 0)", "DELETE FROM orders")
        yield (f"CREATE PROCEDURE evil() BEGIN {text}; END", "CALL evil()")
    else:
        yield ("PRAGMA journal_mode = MEMORY", text)
        yield ("SAVEPOINT evil", text, "ROLLBACK TO evil", HONEST)


def hostile_answers(dialect: str, texts: Mapping[str, str], folder: Path, step: int) -> list[Answer]:
    """Every `step`-th answer, and with the thorough tests the endless ones."""
    made = [
        tuple(part.replace("{folder}", str(folder)) for part in answer)
        for name, text in texts.items()
        for answer in islice(shapes(text, dialect), 0, None, 3 if (dialect, name) in HUGE else 1)
    ]
    endless = [(text,) for text in ENDLESS[dialect]]
    return [*made[::step], *(endless if step <= STEPS[Dialect(dialect)] else ())]


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
                "db_id": "shop",
                "issue_sql": [],
                "test_cases": [] if own.has_default_test else [COMPARED],
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
    assert check_sqlite(tmp_path, STEPS[Dialect.SQLITE]) >= 100


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
    "SELECT subname FROM pg_subscription",
    "SELECT spcacl::text FROM pg_tablespace",
    "SELECT oid FROM pg_largeobject_metadata",
    "SELECT objoid::text, description FROM pg_shdescription",
    "SELECT extname FROM pg_extension",
    "SELECT nspname FROM pg_namespace WHERE nspname NOT LIKE 'pg_%'",
    "SELECT usename::text FROM pg_stat_activity WHERE starts_with(usename, 'bird_task')",
    "SELECT pg_read_file('postgresql.auto.conf', 0, 100000, true)",
    "SELECT pg_ls_dir('.') ORDER BY 1",
)


def outside_postgresql(server: Server) -> list[list[Any]]:
    """Everything on a server that no copy has."""
    with psycopg.connect(
        host=server.host, port=server.port, user=server.user, password=server.password, dbname="postgres"
    ) as connection:
        return [sorted(map(repr, connection.execute(text.encode()))) for text in _SNAPSHOTS]


_MYSQL_SNAPSHOTS = (
    "SELECT * FROM mysql.user",
    *(
        f"SELECT * FROM mysql.{table}"
        for table in (
            *("db", "tables_priv", "columns_priv", "procs_priv", "proxies_priv", "global_grants"),
            *("role_edges", "default_roles", "func", "plugin", "component", "servers", "password_history"),
        )
    ),
    "SELECT schema_name, default_character_set_name FROM information_schema.schemata",
    "SELECT table_schema, table_name, create_time FROM information_schema.tables",
    "SELECT event_schema, event_name FROM information_schema.events",
    "SELECT routine_schema, routine_name FROM information_schema.routines",
    "SELECT trigger_schema, trigger_name FROM information_schema.triggers",
    "SELECT * FROM performance_schema.global_variables WHERE variable_name NOT LIKE 'gtid%'",
    "SELECT * FROM performance_schema.persisted_variables",
    "SELECT name, enabled FROM performance_schema.setup_instruments",
    "SELECT tablespace_name FROM information_schema.files WHERE file_type <> 'TEMPORARY'",
    "SELECT resource_group_name FROM information_schema.resource_groups",
    "SELECT count(*) FROM information_schema.st_spatial_reference_systems",
    "SELECT object_type, object_name FROM performance_schema.metadata_locks WHERE object_type LIKE '% LOCK'",
    "SELECT user FROM information_schema.processlist WHERE user LIKE 'bird_task%'",
    "SELECT plugin_name, plugin_status FROM information_schema.plugins",
    "XA RECOVER",
)


def outside_mysql(server: Server) -> list[list[str]]:
    """Everything on a server while there is no copy."""
    options: dict[str, Any] = {
        "host": server.host,
        "port": server.port,
        "user": server.user,
        "password": server.password,
    }
    with pymysql.connect(**options) as connection, connection.cursor() as cursor:
        found = []
        for text in _MYSQL_SNAPSHOTS:
            cursor.execute(text)
            found.append(sorted(map(repr, cursor.fetchall())))
        return found


SERVERS: Mapping[Dialect, tuple[str, Mapping[str, str], Callable[[Path], object], Callable[[Server], object]]]
SERVERS = {
    Dialect.MYSQL: ("critic-mysql", MYSQL, make_mysql_dump, outside_mysql),
    Dialect.POSTGRESQL: ("livesqlbench", POSTGRESQL, make_dumps, outside_postgresql),
}
"""By dialect: the family, the hostile texts, what writes the dumps, and what is outside of the copies."""


def check_server(folder: Path, server: Server, step: int) -> int:
    family, texts, make, snapshot = SERVERS[server.dialect]
    make(folder / "databases")
    # Templates stay from run to run, and on PostgreSQL the role that owns them.
    judged(folder, family, [(HONEST,)], server)
    folder.chmod(0o777)
    before, there = snapshot(server), files(folder)
    hostile = hostile_answers(server.dialect, texts, folder, step)
    found = judged(folder, family, hostile, server)
    assert faults(found, len(hostile)) == []
    assert snapshot(server) == before
    assert files(folder) == there
    return len(hostile)


@pytest.fixture(params=SERVERS, scope="module")
def lonely(request: pytest.FixtureRequest) -> Iterator[Server]:
    """A server that nobody else uses: what is outside of the copies stays as it is."""
    try:
        with victim(request.param) as found:
            yield found.server
    except EngineUnavailable as error:
        skip(Reason[f"NO_{request.param.name}"], str(error))


@pytest.mark.engine
def test_a_sample_of_hostile_answers_on_a_server(tmp_path: Path, lonely: Server) -> None:
    assert check_server(tmp_path, lonely, 127) >= 8


@pytest.mark.engine
@pytest.mark.thorough
def test_hostile_answers_on_a_server(tmp_path: Path, lonely: Server) -> None:
    assert check_server(tmp_path, lonely, STEPS[lonely.dialect]) >= 100


@pytest.mark.engine
@pytest.mark.thorough
def test_workers_restore_the_owner_of_templates_at_once(postgresql_server: Server) -> None:
    with ThreadPoolExecutor(3) as pool:
        for done in [pool.submit(restored_often, postgresql_server) for _ in range(3)]:
            done.result()


def restored_often(server: Server) -> None:
    with closing(postgresql._connected(server, "postgres")) as admin:
        with postgresql._locked(admin):
            postgresql._create_owner(admin)
        for _ in range(100):
            postgresql._restore_owner(admin)
