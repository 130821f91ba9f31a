"""Every verdict on the tasks of the files, and what judging them leaves behind."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pymysql
import pytest
from psycopg.conninfo import make_conninfo

from harness.labs.tasks.child import Ended, in_child
from harness.labs.tasks.engine import UNTOUCHED, State, StatementFault, differences, engine_of, run_whole
from harness.labs.tasks.families import FAMILIES
from harness.labs.tasks.judging import GOLD, judge
from harness.labs.tasks.layouts import Task, TaskAnswers, TaskSet, read_answers, read_tasks
from harness.labs.tasks.postgresql import PostgreSQLTaskSession
from harness.labs.tasks.sqlite import SQLiteCopies, SQLiteTaskSession, sqlite_state
from loaders.base.errors import EngineUnavailable
from loaders.server import Server
from tests.labs.tasks.shop import cases, make_dumps, make_mysql_dump, make_sqlite, write_set

Verdicts = dict[tuple[str, str], tuple[str, str, bool | None, list[str]]]


def judged(folder: Path, name: str, family: str, server: Server | None = None) -> Verdicts:
    """Return the verdicts by task and predictor."""
    tasks, *answers = write_set(folder, name)
    found = read_tasks(tasks, family, folder / "databases")
    results = judge(found, [read_answers(each, found) for each in answers], 2, server)
    return {
        (one.task, one.predictor): (one.official.status, one.strict.status, one.state, [*one.changed])
        for one in results
    }


def expected(name: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for one in cases(name):
        for place, answer in enumerate(one["answers"]):
            yield one["instance_id"], f"predictor_{place}", answer


def refuted(found: Verdicts, name: str) -> list[object]:
    return [
        (task, answer["sql"], found[task, predictor])
        for task, predictor, answer in expected(name)
        if found[task, predictor]
        != (answer["official"], answer["strict"], answer["state"], answer["changed"])
    ]


@pytest.mark.slow
def test_verdicts_on_sqlite(tmp_path: Path) -> None:
    make_sqlite(tmp_path / "databases")
    template = tmp_path / "databases/shop/shop_template.sqlite"
    before = template.read_bytes()
    found = judged(tmp_path, "sqlite", "livesqlbench-sqlite")
    assert refuted(found, "sqlite") == []
    # The first answer of each task is its gold.
    tasks = [task for task, predictor, _ in expected("sqlite") if predictor == "predictor_0"]
    assert all(found[task, GOLD] == found[task, "predictor_0"] for task in tasks)
    assert template.read_bytes() == before
    assert [*template.parent.iterdir()] == [template]


@pytest.fixture
def task_server(request: pytest.FixtureRequest) -> Server:
    """The server of an engine, whose name is the parameter."""
    return request.getfixturevalue(f"{request.param}_server")  # type: ignore[no-any-return]


def on_servers(*names: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("task_server", names or ("postgresql", "mysql"), indirect=True)


_DUMPS = {"postgresql": make_dumps, "mysql": make_mysql_dump}
_FAMILY = {"sqlite": "livesqlbench-sqlite", "postgresql": "livesqlbench", "mysql": "critic-mysql"}


@pytest.mark.engine
@pytest.mark.thorough
@pytest.mark.parametrize(
    ("task_server", "name", "family"),
    [
        ("postgresql", "postgresql", "livesqlbench"),
        ("postgresql", "interact", "interact"),
        ("mysql", "mysql", "critic-mysql"),
    ],
    indirect=["task_server"],
)
def test_verdicts_on_servers(tmp_path: Path, task_server: Server, name: str, family: str) -> None:
    _DUMPS[task_server.dialect](tmp_path / "databases")
    found = judged(tmp_path, name, family, task_server)
    assert refuted(found, name) == []
    assert left_on(task_server) == []


_LEFT = {
    "postgresql": (
        "SELECT datname FROM pg_database WHERE datname ~ '^bird_task_|^evil'"
        " UNION ALL SELECT rolname FROM pg_roles WHERE rolname ~ '^bird_task_role_|^evil'"
    ),
    "mysql": (
        "SELECT schema_name FROM information_schema.schemata WHERE schema_name REGEXP '^bird_task_|^evil'"
        " UNION ALL SELECT user FROM mysql.user WHERE user REGEXP '^bird_task_role_|^evil'"
    ),
}


def connected(server: Server, **options: Any) -> Any:
    """Connect to a server as its administrator, or as `options` say."""
    place = {"host": server.host, "port": server.port, "user": server.user, "password": server.password}
    if server.dialect == "mysql":
        return pymysql.connect(**{**place, **options}, autocommit=True)
    return psycopg.connect(**{**place, "dbname": "postgres", **options}, autocommit=True)


def left_on(server: Server) -> list[str]:
    """Return the copies and roles on a server, and what an answer may have made outside of its copy."""
    with closing(connected(server)) as connection, connection.cursor() as cursor:
        cursor.execute(_LEFT[server.dialect])
        return [name for (name,) in cursor.fetchall()]


_OUTSIDE = {
    "postgresql": (
        "CREATE ROLE evil",
        "CREATE DATABASE evil",
        "COPY customers TO '/tmp/evil.txt'",
        "COPY customers TO PROGRAM 'touch /tmp/evil'",
        "SELECT pg_read_file('/etc/passwd')",
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename <> current_user",
        "ALTER SYSTEM SET work_mem = '1GB'",
        "ALTER ROLE bird_task_owner LOGIN",
        "CREATE EXTENSION dblink",
        "SET SESSION AUTHORIZATION postgres",
        "DROP DATABASE postgres",
    ),
    "mysql": (
        "CREATE ROLE evil",
        "CREATE USER evil",
        "CREATE DATABASE evil",
        "CREATE DATABASE {like}",
        "CREATE TABLE mysql.evil(a int)",
        "DROP DATABASE {template}",
        "SELECT user FROM mysql.user",
        "SELECT * FROM {template}.orders",
        "SELECT schema_name FROM information_schema.schemata WHERE schema_name = '{template}'",
        "SELECT 1 INTO OUTFILE '/tmp/evil.txt'",
        "SELECT name FROM (SELECT load_file('/etc/passwd') AS name) AS f WHERE name IS NOT NULL",
        "LOAD DATA INFILE '/etc/passwd' INTO TABLE customers",
        "LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE customers",
        "SET GLOBAL max_connections = 1",
        "SET PERSIST max_connections = 1",
        "SET GLOBAL event_scheduler = OFF",
        "SELECT user FROM information_schema.processlist WHERE user NOT LIKE 'bird_task_role_%'",
        "CREATE DEFINER = root@`%` VIEW evil AS SELECT 1",
        "GRANT SELECT ON orders TO root@`%`",
        "GRANT PROCESS ON *.* TO CURRENT_USER()",
        "FLUSH TABLES WITH READ LOCK",
        "LOCK INSTANCE FOR BACKUP",
        "INSTALL PLUGIN evil SONAME 'evil.so'",
        "INSTALL COMPONENT 'file://evil'",
        "CREATE FUNCTION evil RETURNS STRING SONAME 'evil.so'",
        "SHUTDOWN",
        "KILL 1",
        "RESET BINARY LOGS AND GTIDS",
    ),
}
_INSIDE = (
    "ALTER TABLE customers ADD COLUMN more int",
    "DROP TABLE orders",
    "CREATE TABLE evil(a int)",
)


@pytest.mark.engine
@on_servers()
def test_an_answer_on_a_server_reaches_its_copy_alone(tmp_path: Path, task_server: Server) -> None:
    engine = engine_of(FAMILIES[_FAMILY[task_server.dialect]])
    _DUMPS[task_server.dialect](tmp_path)
    copies = engine.copies(tmp_path, task_server)
    try:
        session = engine.session(copies.fresh("shop"), FAMILIES[_FAMILY[task_server.dialect]])
        session.limit(60)
        names = {"template": "postgres", "like": "evil"}
        if task_server.dialect == "mysql":
            [(copy,)] = session.whole("SELECT DATABASE()") or ()
            with closing(connected(task_server)) as connection, connection.cursor() as cursor:
                cursor.execute("SHOW DATABASES LIKE 'bird\\_tasks\\_%'")
                # What the name of the copy matches, if it is taken for a pattern.
                names = {"template": cursor.fetchone()[0], "like": copy.replace("_", "x")}
        allowed = []
        for text in _OUTSIDE[task_server.dialect]:
            done = run_whole(session, [text.format(**names)])
            allowed += [text] if done.fault is None and (done.rows is None or done.rows) else []
        assert allowed == []
        # It owns what is in it.
        assert run_whole(session, _INSIDE).fault is None
        session.close()
        copies.discard(may_keep=False)
        session = engine.session(copies.fresh("shop"), FAMILIES[_FAMILY[task_server.dialect]])
        assert list(session.whole("SELECT count(*) FROM orders") or ()) == [(299,)]
        session.close()
    finally:
        copies.close()
    assert left_on(task_server) == []


@pytest.mark.engine
def test_copies_on_postgresql_have_the_planners_numbers(tmp_path: Path, postgresql_server: Server) -> None:
    make_dumps(tmp_path)
    copies = engine_of(FAMILIES["livesqlbench"]).copies(tmp_path, postgresql_server)
    try:
        with closing(psycopg.connect(copies.fresh("shop"))) as connection:
            found = connection.execute(
                "SELECT relname, reltuples FROM pg_class"
                " WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY 1"
            ).fetchall()
    finally:
        copies.close()
    assert found == [("customers", 39), ("orders", 299)]


_MYSQL_WRITES = (
    ["UPDATE customers SET name = 'x' WHERE id = 1"],
    ["DELETE FROM customers WHERE id = 1"],
    ["BEGIN", "DELETE FROM orders", "ROLLBACK"],
    ["TRUNCATE TABLE orders"],
    ["ALTER TABLE customers ADD COLUMN x int DEFAULT 5"],
    ["ALTER TABLE orders DROP FOREIGN KEY o_fk", "DROP TABLE customers"],
    ["RENAME TABLE orders TO olders, customers TO orders"],
    ["CREATE TABLE more AS SELECT * FROM orders", "CREATE VIEW v AS SELECT * FROM more"],
    ["CREATE INDEX i ON orders(total)"],
    ["CREATE FUNCTION f() RETURNS int DETERMINISTIC RETURN 1"],
    [
        "CREATE TRIGGER t AFTER INSERT ON customers FOR EACH ROW DELETE FROM orders",
        "INSERT INTO customers(name) VALUES ('a')",
    ],
    ["CREATE EVENT e ON SCHEDULE EVERY 1 SECOND DO DELETE FROM orders"],
    ["ALTER DATABASE CHARACTER SET latin1"],
    ["LOCK TABLES orders WRITE", "DELETE FROM orders"],
    ["XA START 'a'", "DELETE FROM orders", "XA END 'a'", "XA PREPARE 'a'"],
    ["DO get_lock('evil', 0)"],
    ["SET PASSWORD = 'evil'"],
    ["SET autocommit = 0", "DELETE FROM orders"],
    ["ANALYZE TABLE orders UPDATE HISTOGRAM ON total WITH 4 BUCKETS"],
    ["INSERT INTO customers(name) VALUES ('a')", "DELETE FROM customers WHERE id > 39"],
)


@pytest.mark.engine
def test_a_copy_on_mysql_is_put_right_again(tmp_path: Path, mysql_server: Server) -> None:
    family = FAMILIES["critic-mysql"]
    engine = engine_of(family)
    make_mysql_dump(tmp_path)
    copies = engine.copies(tmp_path, mysql_server)
    try:
        wrong: list[object] = []
        expected_state: object = None
        for statements in ([], *_MYSQL_WRITES):
            copies.reserve(statements)
            session = engine.session(copies.fresh("shop"), family)
            session.limit(60)
            run_whole(session, statements)
            # Not closed: its process may have been killed.
            copies.discard(may_keep=False)
            after = engine.session(copies.fresh("shop"), family)
            after.limit(60)
            found = [
                after.state(),
                after.whole(
                    "SELECT auto_increment FROM information_schema.tables"
                    " WHERE table_schema = DATABASE() AND table_name = 'customers'"
                ),
                after.whole("SELECT @@character_set_database, get_lock('evil', 0), release_lock('evil')"),
                after.whole("INSERT INTO customers(name) VALUES ('a')"),
                after.whole("SELECT max(id) FROM customers"),
            ]
            after.close()
            copies.discard(may_keep=False)
            expected_state = found if not statements else expected_state
            wrong += [] if found == expected_state else [(statements, found)]
        assert wrong == []
        with closing(connected(mysql_server)) as connection, connection.cursor() as cursor:
            cursor.execute("XA RECOVER")
            assert cursor.fetchall() == ()
    finally:
        copies.close()
    assert left_on(mysql_server) == []


@pytest.mark.engine
def test_an_answer_on_mysql_cannot_lift_its_limit(tmp_path: Path, mysql_server: Server) -> None:
    family = FAMILIES["critic-mysql"]
    make_mysql_dump(tmp_path)
    copies = engine_of(family).copies(tmp_path, mysql_server)
    try:
        session = engine_of(family).session(copies.fresh("shop"), family)
        session.limit(0.2)
        done = run_whole(session, ["SET SESSION max_execution_time = 0", "DO sleep(600)"])
        assert done.fault is not None
        # Its state can be read nevertheless, and nothing of it runs.
        assert session.state()
        copies.discard(may_keep=False)
        with closing(connected(mysql_server)) as connection, connection.cursor() as cursor:
            cursor.execute("SELECT info FROM information_schema.processlist WHERE info = 'DO sleep(600)'")
            assert cursor.fetchall() == ()
    finally:
        copies.close()


@pytest.mark.engine
@on_servers()
def test_what_a_killed_worker_left_on_a_server_is_removed_by_the_next(
    tmp_path: Path, task_server: Server
) -> None:
    family = FAMILIES[_FAMILY[task_server.dialect]]
    _DUMPS[task_server.dialect](tmp_path)
    if (process := os.fork()) == 0:
        try:
            copies = engine_of(family).copies(tmp_path, task_server)
            copies.fresh("shop")
            copies.prepare("shop")
        finally:
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(process, 0)
    assert len(left_on(task_server)) == 3
    deadline = time.monotonic() + 60  # the server has to notice that the worker is gone
    while left_on(task_server) and time.monotonic() < deadline:
        engine_of(family).copies(tmp_path, task_server).close()
    assert left_on(task_server) == []


@pytest.mark.engine
@on_servers()
def test_what_a_worker_has_on_a_server_is_not_removed_by_the_next(
    tmp_path: Path, task_server: Server
) -> None:
    family = FAMILIES[_FAMILY[task_server.dialect]]
    _DUMPS[task_server.dialect](tmp_path)
    copies = engine_of(family).copies(tmp_path, task_server)
    try:
        copies.fresh("shop")
        before = left_on(task_server)
        engine_of(family).copies(tmp_path, task_server).close()
        assert left_on(task_server) == before != []
    finally:
        copies.close()


@pytest.mark.slow
def test_an_answer_on_sqlite_writes_no_other_file(tmp_path: Path) -> None:
    make_sqlite(tmp_path / "databases")
    (tmp_path / "tasks.jsonl").write_text(
        '{"instance_id": "1", "selected_database": "shop", "preprocess_sql": [], "sol_sql": ["SELECT 1"]}\n'
    )
    found = read_tasks(tmp_path / "tasks.jsonl", "livesqlbench-sqlite", tmp_path / "databases")
    evil = tmp_path / "evil"
    writing = (f"ATTACH '{evil}' AS e", f"VACUUM INTO '{evil}'", f"ATTACH 'file:{evil}' AS e")
    for number, text in enumerate(writing):
        path = tmp_path / f"{number}.jsonl"
        path.write_text(f'{{"instance_id": "1", "pred_sqls": ["{text}"]}}\n')
        *_, last = judge(found, [read_answers(path, found)], 1)
        assert last.official.status == "execution_error"
    assert not evil.exists()


@pytest.mark.parametrize(
    "texts",
    [
        ["PRAGMA locking_mode = EXCLUSIVE", "DELETE FROM orders"],
        ["DELETE FROM orders", "PRAGMA writable_schema = 1", "UPDATE sqlite_master SET sql = 'x'"],
        ["PRAGMA writable_schema = 1", "UPDATE sqlite_master SET rootpage = 999"],
    ],
)
def test_a_file_that_an_answer_locks_or_breaks_has_a_state(tmp_path: Path, texts: list[str]) -> None:
    make_sqlite(tmp_path)
    with SQLiteCopies(tmp_path) as copies:
        states = []
        for answer in ([], texts):
            session = SQLiteTaskSession(copies.fresh("shop"), FAMILIES["livesqlbench-sqlite"])
            session.limit(10)
            assert run_whole(session, answer).fault is None
            states.append(session.state())
            session.close()
    assert differences(*states)


@pytest.mark.engine
@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("CREATE MATERIALIZED VIEW mv AS SELECT 1 AS a WITH NO DATA", "view public.mv"),
        ("CREATE TEMP TABLE pg_class (a int); DELETE FROM orders", "rows public.orders"),
    ],
)
def test_an_answer_hides_no_state_on_postgresql(
    tmp_path: Path, postgresql_server: Server, text: str, changed: str
) -> None:
    make_dumps(tmp_path / "databases")
    record = {
        "instance_id": "1",
        "selected_database": "shop",
        "preprocess_sql": [],
        "sol_sql": ["UPDATE customers SET city = 'Rome'"],
        "category": "Management",
        "test_cases": ["def test_case(*_):\n    pass"],
    }
    family = FAMILIES["livesqlbench"]
    found = TaskSet(tmp_path, family, [Task(record, family)], tmp_path / "databases")
    *_, last = judge(found, [TaskAnswers("a", {"1": [text]})], 1, postgresql_server)
    assert (last.strict.status, last.state) == ("passed", False)
    assert changed in last.changed


@pytest.mark.engine
def test_an_answer_that_ends_what_reads_its_copy_costs_its_own_verdict(
    tmp_path: Path, mysql_server: Server
) -> None:
    make_mysql_dump(tmp_path / "databases")
    gold = ["UPDATE orders SET total = 0"]
    record = {
        "instance_id": "1",
        "db_id": "shop",
        "issue_sql": [],
        "preprocess_sql": [],
        "clean_up_sql": [],
        "sol_sql": gold,
        "category": "Management",
        "test_cases": ["def test_case(*_):\n    pass"],
    }
    family = FAMILIES["critic-mysql"]
    found = TaskSet(tmp_path, family, [Task(record, family)], tmp_path / "databases")
    # The session that looks at the copy is the next one.
    answers = [TaskAnswers("a", {"1": ["KILL CONNECTION_ID() + 1"]}), TaskAnswers("b", {"1": gold})]
    *_, killed, honest = judge(found, answers, 1, mysql_server)
    assert (killed.strict.status, killed.state) == ("error", None)
    assert (honest.strict.status, honest.state) == ("passed", True)


@pytest.mark.engine
def test_a_session_on_postgresql_that_has_ended_has_no_state(postgresql_server: Server) -> None:
    at = postgresql_server
    place = make_conninfo(host=at.host, port=at.port, user=at.user, password=at.password, dbname="postgres")
    with closing(PostgreSQLTaskSession(place, FAMILIES["livesqlbench"])) as session:
        session.limit(10)
        [(process,)] = session.official("SELECT pg_backend_pid()") or []
        with closing(psycopg.connect(place, autocommit=True)) as other:
            assert other.execute("SELECT pg_terminate_backend(%s, 10000)", [process]).fetchone() == (True,)
        assert not session.is_untouched()
        with pytest.raises(StatementFault, match="the session has ended"):
            session.state()


_VALUES = (
    *("NULL", "0", "1", "-1", "2147483648", "9223372036854775807", "0.0", "-0.0", "1.0", "0.1", "1e300"),
    *("9e999", "''", "'1'", "'a'", "'A'", "x'00'", "x'ff'", "cast(x'00' AS text)", "cast(x'ff' AS text)"),
)


def test_the_state_on_sqlite_tells_values_apart_and_not_their_order() -> None:
    def state(rows: Iterable[str]) -> str:
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.execute("CREATE TABLE t(a, b)")
            connection.execute("INSERT INTO t VALUES " + ", ".join(f"({row}, 'same')" for row in rows))
            return sqlite_state(connection)["table t"]

    # Python reads these two as the same bytes.
    assert state(["x'00'"]) == state(["cast(x'00' AS text)"])
    alone = {state([value]) for value in _VALUES}
    assert len(alone) == len(_VALUES) - 2
    twice = {state([value, value]) for value in _VALUES}
    assert len(twice | alone) == 2 * len(alone)
    assert state(_VALUES) == state(reversed(_VALUES))
    assert state(_VALUES) != state([*_VALUES, "NULL"])


_SHARED_WRITES = (
    ["UPDATE customers SET name = 'x' WHERE id = 1"],
    ["UPDATE customers SET name = name"],
    ["DELETE FROM orders WHERE id < 5", "INSERT INTO orders VALUES (1000, 1, 2, '2024-01-01')"],
    ["CREATE TABLE more AS SELECT * FROM orders"],
    ["ALTER TABLE orders RENAME TO olders"],
    ["ALTER TABLE customers RENAME TO c", "ALTER TABLE orders RENAME TO customers"],
    ["ALTER TABLE orders ADD COLUMN x INTEGER DEFAULT 5"],
    ["CREATE INDEX i ON orders(total)"],
    ["CREATE VIEW v AS SELECT * FROM orders"],
    ["BEGIN", "DELETE FROM orders", "ROLLBACK"],
    ["SELECT count(*) FROM orders"],
    ["VACUUM"],
)
_SQLITE_WRITES = (
    ["REPLACE INTO customers(id, name) VALUES (1, 'y')"],
    [
        "CREATE TRIGGER t AFTER INSERT ON orders BEGIN DELETE FROM customers; END",
        "INSERT INTO orders(id) VALUES (1000)",
    ],
    [
        "PRAGMA foreign_keys = ON",
        "CREATE TABLE c(x REFERENCES customers(id) ON DELETE CASCADE)",
        "INSERT INTO c VALUES (1)",
        "DELETE FROM orders",
        "DELETE FROM customers WHERE id = 1",
    ],
    ["CREATE VIEW v AS SELECT * FROM orders", "DROP TABLE orders", "CREATE TABLE orders(a)"],
    [
        "CREATE TABLE other AS SELECT * FROM orders LIMIT 1",
        "PRAGMA writable_schema = ON",
        (
            "UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM sqlite_master WHERE name = 'other')"
            " WHERE name = 'orders'"
        ),
    ],
    ["CREATE VIRTUAL TABLE f USING fts5(a)", "INSERT INTO f VALUES ('b')"],
    ["CREATE TABLE s(a INTEGER PRIMARY KEY AUTOINCREMENT)", "INSERT INTO s DEFAULT VALUES"],
)
_POSTGRESQL_WRITES = (
    ["TRUNCATE orders"],
    ["ALTER TABLE orders ALTER COLUMN total TYPE numeric"],
    ["ALTER TABLE orders DROP COLUMN day"],
    ["ALTER TABLE customers ADD COLUMN m mood DEFAULT 'ok'"],
    ["ALTER TABLE customers ADD COLUMN m mood DEFAULT 'ok'", "ALTER TYPE mood RENAME VALUE 'ok' TO 'fine'"],
    [
        (
            "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS"
            " 'BEGIN DELETE FROM customers WHERE id = 39; RETURN NEW; END'"
        ),
        "CREATE TRIGGER t AFTER UPDATE ON orders FOR EACH STATEMENT EXECUTE FUNCTION f()",
        "DELETE FROM orders WHERE customer = 39",
        "UPDATE orders SET total = 0 WHERE id = 1",
    ],
    ["SET track_counts = off", "DELETE FROM orders"],
    ["SET datestyle = 'German'", "SET timezone = 'Asia/Tokyo'"],
    ["DO $$ BEGIN DELETE FROM orders; EXCEPTION WHEN others THEN NULL; END $$"],
)


def wrong_about_rows(folder: Path, family_name: str, server: Server | None, number: int) -> list[object]:
    """Return the entries of states that are said to be untouched, and differ from the template's."""
    family = FAMILIES[family_name]
    engine = engine_of(family)
    wrong: list[object] = []
    copies = engine.copies(folder, server)
    try:

        def state(statements: list[str]) -> tuple[State, State]:
            session = engine.session(copies.fresh("shop"), family)
            session.limit(60)
            run_whole(session, statements)
            found = session.state(), session.state(_EVERYTHING)
            session.close()
            copies.discard(may_keep=False)
            return found

        loaded, whole = state([])
        rows = {name for name, digest in loaded.items() if digest == UNTOUCHED}
        assert len(rows) == len(whole.keys() & rows) == number
        for statements in (*_SHARED_WRITES, *_WRITES[family.dialect]):
            seen, full = state(statements)
            wrong += [
                (statements, name)
                for name, digest in seen.items()
                if full[name] != (whole.get(name) if digest == UNTOUCHED else digest)
            ]
            wrong += [(statements, name) for name in full.keys() ^ seen.keys()]
            # Statements on one table leave another alone.
            if statements == _SHARED_WRITES[2] and UNTOUCHED not in seen.values():
                wrong.append(statements)
    finally:
        copies.close()
    return wrong


class _Everything(frozenset[str]):
    """The names of all entries there may be."""

    def __contains__(self, name: object) -> bool:
        return True


_EVERYTHING = _Everything()
_WRITES = {"sqlite": _SQLITE_WRITES, "postgresql": _POSTGRESQL_WRITES}


@pytest.mark.slow
def test_rows_that_are_not_read_on_sqlite_are_the_templates(tmp_path: Path) -> None:
    make_sqlite(tmp_path)
    assert wrong_about_rows(tmp_path, _FAMILY["sqlite"], None, 2) == []


@pytest.mark.engine
def test_rows_that_are_not_read_on_postgresql_are_the_templates(
    tmp_path: Path, postgresql_server: Server
) -> None:
    make_dumps(tmp_path)
    assert wrong_about_rows(tmp_path, _FAMILY["postgresql"], postgresql_server, 2) == []


def test_a_child_that_never_ends_is_killed() -> None:
    def work() -> None:
        time.sleep(60)

    with pytest.raises(Ended, match=r"not judged within 0\.1 s"):
        in_child(work, 0.1)


def test_a_child_that_kills_itself_costs_its_own_verdict() -> None:
    with pytest.raises(Ended, match="its process ended"):
        in_child(lambda: os.kill(os.getpid(), signal.SIGKILL), 60)


def test_a_child_that_raises_is_no_verdict() -> None:
    def work() -> None:
        raise ValueError("what went wrong")

    with pytest.raises(EngineUnavailable, match="a task cannot be judged: ValueError: what went wrong"):
        in_child(work, 60)


@pytest.mark.slow
def test_a_test_case_that_ends_its_process_costs_its_own_verdict(tmp_path: Path) -> None:
    make_sqlite(tmp_path / "databases")
    ending = "import os\ndef test_case(pred_sqls, sol_sqls, db_path, conn):\n    import os\n    os._exit(0)"
    task = {"selected_database": "shop", "preprocess_sql": [], "sol_sql": ["SELECT 1"]}
    (tmp_path / "tasks.jsonl").write_text(
        json.dumps({"instance_id": "1", **task, "test_cases": [ending]})
        + "\n"
        + json.dumps({"instance_id": "2", **task}),
        encoding="utf-8",
    )
    found = list(
        judge(read_tasks(tmp_path / "tasks.jsonl", "livesqlbench-sqlite", tmp_path / "databases"), [], 1)
    )
    assert [one.official.status for one in found] == ["execution_error", "passed"]


def test_a_child_has_no_environment_and_no_open_files_of_ours() -> None:
    assert in_child(lambda: dict(os.environ), 60) == {}


@pytest.mark.slow
def test_copies_of_a_killed_process_are_removed_by_the_next(tmp_path: Path) -> None:
    make_sqlite(tmp_path / "databases")
    code = (
        "import os, signal; from pathlib import Path; from harness.labs.tasks.sqlite import SQLiteCopies;"
        f"print(SQLiteCopies(Path({str(tmp_path / 'databases')!r})).fresh('shop'), flush=True);"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    left = Path(done.stdout.strip())
    assert left.is_file()
    with SQLiteCopies(tmp_path / "databases"):
        assert not left.exists()


def test_every_family_is_read_as_its_scripts_do() -> None:
    values = ("SELECT 1[split] SELECT 2", ["a", "b"], "", None, '["a", 1, "b"]')
    read = {name: [family.statements(value) for value in values] for name, family in FAMILIES.items()}
    assert read["livesqlbench-sqlite"] == [[values[0]], ["a", "b"], [], [], [values[4]]]
    assert read["critic-postgresql"] == [["SELECT 1", "SELECT 2"], ["a", "b"], [], [], [values[4]]]
    assert read["interact"] == [[values[0]], ["a", "b"], [""], [], ["a", "b"]]


_XA = ["XA START 'a'", "DELETE FROM orders", "XA END 'a'", "XA PREPARE 'a'"]


@pytest.mark.engine
def test_names_of_a_whole_server_disturb_nobody(tmp_path: Path, mysql_server: Server) -> None:
    make_mysql_dump(tmp_path)
    family = FAMILIES["critic-mysql"]
    records = {"db_id": "shop", "issue_sql": [], "preprocess_sql": [], "category": "Management"}
    tasks = [Task({**records, "instance_id": f"t{number}", "sol_sql": _XA}, family) for number in range(4)]
    locking = (
        "INSERT INTO orders SELECT 1, 1, 1 FROM (SELECT get_lock('a', 0) AS held) AS l WHERE held = 0",
        "DO sleep(0.2)",
    )
    answer = [*locking, *_XA]
    with closing(connected(mysql_server)) as connection, connection.cursor() as cursor:
        for text in ("XA START 'theirs'", "DO 1", "XA END 'theirs'", "XA PREPARE 'theirs'"):
            cursor.execute(text)
        try:
            answers = TaskAnswers("locking", {task.id: answer for task in tasks})
            found = judge(TaskSet(tmp_path, family, tasks, tmp_path), [answers], 2, mysql_server)
            # The scripts themselves commit after each text, which is an error after XA START.
            assert [(one.strict.status, one.strict.message) for one in found] == [
                ("untested", "the task has no test cases")
            ] * 8
            cursor.execute("XA RECOVER")
            assert [row[-1] for row in cursor.fetchall()] == ["theirs"]
        finally:
            cursor.execute("XA ROLLBACK 'theirs'")
    assert left_on(mysql_server) == []
