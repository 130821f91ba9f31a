"""The reading role reads what was loaded and can do nothing else."""

import pytest

from dialects.enums import Dialect
from loaders.load import load
from loaders.namespace import Database
from loaders.server import Server
from tests.loaders.conftest import MakeFile
from tests.loaders.servers import ask, read

pytestmark = pytest.mark.engine

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


def test_the_reader_reads_and_nothing_else(server: Server, database: Database, make_file: MakeFile) -> None:
    make_file("CREATE TABLE t (a INTEGER)", t=[(1,)])
    load([database], server)
    assert read(server, database, "SELECT a FROM t") == [(1,)]
    for statement in FORBIDDEN[server.dialect]:
        with pytest.raises(Exception, match=r"(?i)denied|permission|privilege|read-only"):
            read(server, database, statement)


def test_the_reader_sees_no_bookkeeping(server: Server, database: Database, make_file: MakeFile) -> None:
    make_file("CREATE TABLE t (a INTEGER)", t=[(1,)])
    load([database], server)
    seen = read(server, database, "SELECT table_schema, table_name FROM information_schema.tables")
    assert not [row for row in seen if "bird_harness" in row[0] or row[1] == "loads"]
    if server.dialect is Dialect.MYSQL:
        assert ("bird_harness",) not in read(server, database, "SHOW DATABASES")


def test_even_without_its_read_only_setting_the_postgresql_reader_can_only_read(
    postgresql_server: Server, postgresql_collection: str, make_file: MakeFile
) -> None:
    database = Database(postgresql_collection, "shop", make_file("CREATE TABLE t (a INTEGER)", t=[(1,)]))
    load([database], postgresql_server)
    for statement in FORBIDDEN[Dialect.POSTGRESQL][:8]:
        with pytest.raises(Exception, match=r"denied|must be owner|permission"):
            read(postgresql_server, database, f"SET TRANSACTION READ WRITE; {statement}")


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
