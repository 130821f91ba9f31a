"""SQLite's functions come with loads in profile faithful; the reading role reads and calls, and no more."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from dialects.enums import Dialect, Profile
from dialects.errors import BadInput
from loaders import functions
from loaders.bulk_load import load
from loaders.mysql.target import commented
from loaders.namespace import NAMESPACE, Database
from loaders.server import Server
from tests.loaders.conftest import MakeFile
from tests.loaders.servers import ask, read

CALL = "SELECT bird_sqlite.to_integer('12 apples')"


@pytest.fixture
def faithful(request: pytest.FixtureRequest, server: Server, make_file: MakeFile) -> Database:
    """In a new database, which has no functions yet."""
    collection = request.getfixturevalue(f"{server.dialect}_collection")
    path = make_file("CREATE TABLE t (a INTEGER)", t=[(1,)])
    return Database(collection, "shop", path, Profile.FAITHFUL)


@pytest.mark.engine
def test_the_reader_may_call_them_and_nothing_more(server: Server, faithful: Database) -> None:
    load([faithful], server)
    assert read(server, faithful, CALL) == [(12,)]
    create = (
        "CREATE FUNCTION bird_sqlite.mine() RETURNS INT DETERMINISTIC NO SQL RETURN 1"
        if server.dialect is Dialect.MYSQL
        else "SET TRANSACTION READ WRITE; CREATE FUNCTION bird_sqlite.mine() RETURNS int RETURN 1"
    )
    for statement in (create, f"SELECT * FROM {NAMESPACE}.functions", "DROP FUNCTION bird_sqlite.to_integer"):
        with pytest.raises(Exception, match=r"(?i)denied|must be owner|read-only"):
            read(server, faithful, statement)


@pytest.mark.engine
@pytest.mark.parametrize("loss", ["outdated", "dropped"])
def test_they_are_put_right_where_the_database_is_unchanged(
    loss: str, server: Server, faithful: Database
) -> None:
    load([faithful], server)
    if server.dialect is Dialect.POSTGRESQL:
        outdated = "COMMENT ON SCHEMA bird_sqlite IS 'bird-harness functions 0'"
        ask(server, faithful, "DROP SCHEMA bird_sqlite CASCADE" if loss == "dropped" else outdated)
    else:
        outdated = f"UPDATE {NAMESPACE}.functions SET sha256 = '0'"
        ask(server, faithful, "DROP DATABASE bird_sqlite" if loss == "dropped" else outdated)
    if loss == "outdated":
        arguments = "(text)" if server.dialect is Dialect.POSTGRESQL else ""
        ask(server, faithful, f"DROP FUNCTION bird_sqlite.to_integer{arguments}")
    assert [done.skipped for done in load([faithful], server)] == [True]
    assert read(server, faithful, CALL) == [(12,)]


def test_each_is_filed_with_its_digest_on_mysql() -> None:
    """The comment is how a function that has changed is told from one that has not."""
    statements = [
        *functions.definitions(Dialect.MYSQL).values(),
        *functions.definitions(Dialect.MARIADB).values(),
    ]
    assert [s for s in statements if commented(s).count(" COMMENT '") != s.count(" COMMENT '") + 1] == []


def _installed(server: Server) -> list[tuple[Any, ...]]:
    return ask(
        server,
        None,
        "SELECT routine_name, routine_comment, routine_definition, sql_mode, collation_connection"
        " FROM information_schema.routines WHERE routine_schema = 'bird_sqlite' ORDER BY routine_name",
    )


OWN = "CREATE FUNCTION bird_sqlite.{} RETURNS int DETERMINISTIC NO SQL {} RETURN 1"


@pytest.mark.engine
@pytest.mark.parametrize(
    "damage",
    [
        ["DROP FUNCTION bird_sqlite.to_integer"],
        ["DROP FUNCTION bird_sqlite.to_integer", OWN.format("to_integer(t text)", "")],
        ["DROP FUNCTION bird_sqlite.to_integer", OWN.format("to_integer(t text)", "COMMENT '{comment}'")],
        ["ALTER FUNCTION bird_sqlite.to_integer COMMENT 'mine'"],
        [OWN.format('"of another version"()', "")],
        ["DROP DATABASE bird_sqlite"],
    ],
    ids=["missing", "another", "another with its comment", "another comment", "one too many", "all missing"],
)
def test_a_single_function_is_put_right_on_mysql(
    mysql_server: Server, mysql_collection: str, make_file: MakeFile, damage: list[str]
) -> None:
    path = make_file("CREATE TABLE t (a INTEGER)", t=[(1,)])
    faithful = Database(mysql_collection, "shop", path, Profile.FAITHFUL)
    load([faithful], mysql_server)
    whole = _installed(mysql_server)
    [comment] = [comment for name, comment, *_ in whole if name == "to_integer"]
    for statement in damage:
        ask(mysql_server, None, statement.replace("{comment}", comment))
    assert _installed(mysql_server) != whole
    assert [done.skipped for done in load([faithful], mysql_server)] == [True]
    assert _installed(mysql_server) == whole
    assert read(mysql_server, faithful, CALL) == [(12,)]


@pytest.mark.engine
def test_who_calls_the_others_notices_nothing_on_mysql(
    mysql_server: Server, mysql_collection: str, make_file: MakeFile
) -> None:
    path = make_file("CREATE TABLE t (a INTEGER)", t=[(1,)])
    faithful = Database(mysql_collection, "shop", path, Profile.FAITHFUL)
    load([faithful], mysql_server)
    stop, answers = threading.Event(), []

    def call() -> None:
        while not stop.is_set():
            answers.append(read(mysql_server, faithful, CALL))

    with ThreadPoolExecutor(1) as pool:
        calling = pool.submit(call)
        for _ in range(3):
            ask(mysql_server, None, "DROP FUNCTION bird_sqlite.unicode_of")
            ask(mysql_server, None, "UPDATE bird_harness.functions SET sha256 = '0'")
            load([faithful], mysql_server)
        stop.set()
        calling.result()
    assert {answer for [answer] in answers} == {(12,)}


@pytest.mark.engine
def test_they_do_not_come_with_the_official_profile(
    postgresql_server: Server, postgresql_collection: str, make_file: MakeFile
) -> None:
    database = Database(postgresql_collection, "shop", make_file("CREATE TABLE t (a INTEGER)", t=[(1,)]))
    load([database], postgresql_server)
    assert ask(postgresql_server, database, "SELECT to_regnamespace('bird_sqlite')") == [(None,)]


@pytest.mark.engine
def test_loads_at_the_same_time_leave_them_whole(server: Server, faithful: Database) -> None:
    databases = [replace(faithful, db_id=f"shop_{number}") for number in range(4)]
    with ThreadPoolExecutor(len(databases)) as pool:
        list(pool.map(lambda database: load([database], server), databases))
    assert read(server, databases[-1], CALL) == [(12,)]


@pytest.fixture
def somebody_elses(server: Server, faithful: Database) -> Iterator[None]:
    """Something that the harness did not make has the name of the functions' namespace."""
    load([faithful], server)
    if server.dialect is Dialect.POSTGRESQL:
        ask(server, faithful, "DROP SCHEMA bird_sqlite CASCADE")
        ask(server, faithful, "CREATE SCHEMA bird_sqlite")
        yield
        return
    ask(server, None, "DROP DATABASE bird_sqlite")
    ask(server, None, f"DELETE FROM {NAMESPACE}.functions")
    ask(server, None, "CREATE DATABASE bird_sqlite")
    yield
    ask(server, None, "DROP DATABASE bird_sqlite")
    load([faithful], server)


@pytest.mark.engine
@pytest.mark.usefixtures("somebody_elses")
def test_somebody_elses_namespace_is_left_alone(server: Server, faithful: Database) -> None:
    with pytest.raises(BadInput, match=r"bird_sqlite.* does not belong to bird-harness.*rename it"):
        load([faithful], server)
    created = "CREATE TABLE bird_sqlite.theirs (a integer)"
    ask(server, faithful, created)
    with pytest.raises(BadInput, match="bird_sqlite"):
        load([faithful], server, force=True)
    assert ask(server, faithful, "SELECT count(*) FROM bird_sqlite.theirs") == [(0,)]


FORBIDDEN = {
    Dialect.MYSQL: [
        "INSERT INTO t VALUES (1)",
        "UPDATE t SET a = 2",
        "DELETE FROM t",
        "DROP TABLE t",
        "CREATE TABLE u (a INTEGER)",
        "CREATE TEMPORARY TABLE u (a INTEGER)",
        "CREATE DATABASE mine",
        "SELECT * FROM bird_harness.loads",
        "SELECT * FROM mysql.user",
        "SELECT 1 INTO OUTFILE '/tmp/x'",
    ],
    Dialect.POSTGRESQL: [
        "INSERT INTO t VALUES (1)",
        "UPDATE t SET a = 2",
        "DELETE FROM t",
        "DROP TABLE t",
        "CREATE TABLE u (a INTEGER)",
        "CREATE TABLE public.u (a INTEGER)",
        "CREATE TEMPORARY TABLE u (a INTEGER)",
        "CREATE SCHEMA mine",
        "CREATE DATABASE mine",
        "SELECT * FROM bird_harness.loads",
        "SELECT rolpassword FROM pg_authid",
        "SELECT pg_read_file('/etc/passwd')",
        "COPY t TO '/tmp/x'",
        "COPY (SELECT 1) TO PROGRAM 'true'",
    ],
}


@pytest.mark.engine
def test_the_reader_reads_and_nothing_else(server: Server, database: Database, make_file: MakeFile) -> None:
    make_file("CREATE TABLE t (a INTEGER)", t=[(1,)])
    load([database], server)
    assert read(server, database, "SELECT a FROM t") == [(1,)]
    for statement in FORBIDDEN[server.dialect]:
        with pytest.raises(Exception, match=r"(?i)denied|permission|privilege|read-only"):
            read(server, database, statement)


@pytest.mark.engine
def test_the_reader_sees_no_bookkeeping(server: Server, database: Database, make_file: MakeFile) -> None:
    make_file("CREATE TABLE t (a INTEGER)", t=[(1,)])
    load([database], server)
    seen = read(server, database, "SELECT table_schema, table_name FROM information_schema.tables")
    assert not [row for row in seen if "bird_harness" in row[0] or row[1] == "loads"]
    if server.dialect is Dialect.MYSQL:
        assert ("bird_harness",) not in read(server, database, "SHOW DATABASES")


@pytest.mark.engine
def test_even_without_its_read_only_setting_the_postgresql_reader_can_only_read(
    postgresql_server: Server, postgresql_collection: str, make_file: MakeFile
) -> None:
    database = Database(postgresql_collection, "shop", make_file("CREATE TABLE t (a INTEGER)", t=[(1,)]))
    load([database], postgresql_server)
    for statement in FORBIDDEN[Dialect.POSTGRESQL][:8]:
        with pytest.raises(Exception, match=r"denied|must be owner|permission"):
            read(postgresql_server, database, f"SET TRANSACTION READ WRITE; {statement}")


@pytest.mark.engine
def test_a_mysql_grant_is_for_one_database(
    mysql_server: Server, mysql_collection: str, make_file: MakeFile
) -> None:
    """An underscore in a grant stands for any character unless it is escaped."""
    file = make_file("CREATE TABLE t (a INTEGER)", t=[(1,)])
    database = Database(mysql_collection, "shop", file)
    load([database], mysql_server)
    other = mysql_collection.replace("_", "x")
    ask(mysql_server, None, f"CREATE DATABASE {other}")
    try:
        ask(mysql_server, None, f"CREATE TABLE {other}.secret (a INTEGER)")
        with pytest.raises(Exception, match="denied"):
            read(mysql_server, database, f"SELECT * FROM {other}.secret")
    finally:
        ask(mysql_server, None, f"DROP DATABASE {other}")


@pytest.mark.engine
def test_a_changed_reader_is_put_right(server: Server, database: Database, make_file: MakeFile) -> None:
    make_file("CREATE TABLE t (a INTEGER)", t=[(1,)])
    load([database], server)
    account = f"'{server.reader_user}'@'%'" if server.dialect is Dialect.MYSQL else server.reader_user
    change = (
        "IDENTIFIED BY 'other'" if server.dialect is Dialect.MYSQL else "RESET default_transaction_read_only"
    )
    ask(server, None, f"ALTER {'USER' if server.dialect is Dialect.MYSQL else 'ROLE'} {account} {change}")
    assert [done.skipped for done in load([database], server)] == [True]
    if server.dialect is Dialect.POSTGRESQL:
        assert read(server, database, "SHOW default_transaction_read_only") == [("on",)]
    assert read(server, database, "SELECT a FROM t") == [(1,)]
