"""What a load leaves on a real server: all tables with all rows, and nothing twice."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from dialects.enums import Dialect, Profile
from dialects.errors import BadInput
from loaders import namespace
from loaders.base.errors import EngineUnavailable
from loaders.bulk_load import load, loaded
from loaders.namespace import Database
from loaders.server import Origin, Server
from tests.every_engine import OWN, SERVED
from tests.loaders.conftest import MakeFile
from tests.loaders.servers import ask, read
from tests.loaders.test_keys import ALL_KEYS, KEYED, kinds_of_keys
from tests.sqlite_files import sqlite_file

SERVERS = OWN

pytestmark = pytest.mark.engine

ODD_TABLES = """
CREATE TABLE "order" ("Select" INTEGER PRIMARY KEY, "group" TEXT, "T-BIL" REAL, "2nd name" TEXT);
CREATE TABLE "Ünïcode Tàble 表" ("größe" TEXT, "a""b" INTEGER, "per%cent" TEXT,
  "back`tick" TEXT, "{0}" TEXT);
CREATE TABLE CamelCase (MixedCase INTEGER, "Sp aced" INTEGER, PRIMARY KEY ("Sp aced", MixedCase));
CREATE TABLE empty (id INTEGER PRIMARY KEY, t TEXT);
CREATE TABLE keyless (a INTEGER, b TEXT);
CREATE TABLE flat (k TEXT, n INTEGER, PRIMARY KEY (k, n)) WITHOUT ROWID;
CREATE TABLE zero (id INTEGER PRIMARY KEY AUTOINCREMENT, v TEXT);
CREATE TABLE made (a INTEGER, b AS (a * 2), c TEXT AS ('<' || a || '>') STORED);
INSERT INTO "order" VALUES (1, 'a', 0.5, NULL), (2, 'b', NULL, 'x');
INSERT INTO "Ünïcode Tàble 表" VALUES ('1', 2, '3', '4', '5');
INSERT INTO CamelCase VALUES (1, 2), (2, 1);
INSERT INTO keyless VALUES (1, 'x'), (1, 'x'), (NULL, NULL);
INSERT INTO flat VALUES ('b', 1), ('a', 2), ('a', 1);
INSERT INTO zero VALUES (0, 'zero'), (-5, 'minus five'), (17, 'seventeen');
INSERT INTO made (a) VALUES (1), (NULL), (3);
"""

ODD_QUERIES = {
    'SELECT "Select", "group", "T-BIL", "2nd name" FROM "order" ORDER BY 1': (
        'SELECT "select", "group", "T-BIL", "2nd name" FROM "order" ORDER BY 1'
    ),
    'SELECT "größe", "a""b", "per%cent", "back`tick", "{0}" FROM "Ünïcode Tàble 表"': None,
    'SELECT MixedCase, "Sp aced" FROM CamelCase ORDER BY 1': None,
    'SELECT * FROM "empty"': None,
    "SELECT a, b FROM keyless ORDER BY a IS NULL": None,
    "SELECT k, n FROM flat ORDER BY k, n": None,
    "SELECT id, v FROM zero ORDER BY id": None,
    "SELECT a, b, c FROM made ORDER BY a IS NULL, a": None,
}
"""What SQLite is asked, and what PostgreSQL is where it folds a quoted name."""


def shop(path: Path, sql: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(sql).fetchall()


@pytest.mark.usefixtures("profile")
def test_tables_and_names_of_every_kind_arrive(
    server: Server, database: Database, make_file: MakeFile
) -> None:
    path = make_file(ODD_TABLES)
    [done] = load([database], server)
    assert (done.database, done.rows, done.skipped, done.notes) == (database, 17, False, ())
    for query, folded in ODD_QUERIES.items():
        asked = folded if folded and server.dialect is Dialect.POSTGRESQL else query
        assert read(server, database, asked) == shop(path, query)


def test_several_processes_load_what_one_does(server: Server, collection: str, make_file: MakeFile) -> None:
    odd = Database(collection, "odd", make_file(ODD_TABLES, "odd"), Profile.FAITHFUL)
    keyed = Database(collection, "keyed", make_file(KEYED, "keyed"), Profile.FAITHFUL)
    told: dict[Database, list[tuple[int, int]]] = {odd: [], keyed: []}
    done = load([odd, keyed], server, jobs=2, progress=lambda one, *rows: told[one].append(rows))
    assert [(one.database, one.rows, one.notes) for one in done] == [(odd, 17, ()), (keyed, 2, ())]
    assert [(rows[0], rows[-1]) for rows in told.values()] == [((0, 17), (17, 17)), ((0, 2), (2, 2))]
    for query, folded in ODD_QUERIES.items():
        asked = folded if folded and server.dialect is Dialect.POSTGRESQL else query
        assert read(server, odd, asked) == shop(odd.sqlite_path, query)
    if server.dialect in SERVED:
        assert kinds_of_keys(server, keyed) == ALL_KEYS
    assert all(one.skipped for one in load([odd, keyed], server, jobs=2))


def test_what_stops_one_process_stops_the_load(server: Server, collection: str, make_file: MakeFile) -> None:
    fine = Database(collection, "fine", make_file("CREATE TABLE a (x INTEGER)", "fine", a=[(1,)]))
    latin = make_file("CREATE TABLE b (x TEXT); INSERT INTO b VALUES (CAST(x'e4' AS TEXT))", "latin")
    with pytest.raises(BadInput, match=r"latin\.sqlite: table b, column x, rowid 1: "):
        load([fine, Database(collection, "latin", latin)], server, jobs=2)
    assert fine not in loaded([fine], server) or read(server, fine, "SELECT x FROM a") == [(1,)]
    assert [one.rows for one in load([fine], server)] == [1]


def test_a_second_load_changes_nothing(server: Server, database: Database, make_file: MakeFile) -> None:
    make_file("CREATE TABLE t (a INTEGER, b TEXT)", t=[(1, "x"), (2, "y")])
    assert loaded([database], server) == {}
    calls: list[tuple[int, int]] = []
    [first] = load([database], server, progress=lambda _, done, total: calls.append((done, total)))
    assert not first.skipped
    assert (calls[0], calls[-1]) == ((0, 2), (2, 2))
    before = loaded([database], server)
    calls.clear()
    [second] = load([database], server, progress=lambda _, done, total: calls.append((done, total)))
    assert (second.skipped, second.rows, second.notes, calls) == (True, 2, first.notes, [])
    assert loaded([database], server) == before
    assert before[database].tables == {"t": 2}
    [forced] = load([database], server, force=True)
    assert not forced.skipped


def test_a_changed_file_replaces_its_own_tables_only(
    server: Server, collection: str, make_file: MakeFile
) -> None:
    one, two = (
        Database(collection, name, make_file(script, name))
        for name, script in {
            "one": "CREATE TABLE a (x INTEGER); CREATE TABLE gone (x INTEGER); INSERT INTO a VALUES (1)",
            "two": "CREATE TABLE b (x INTEGER); INSERT INTO b VALUES (2)",
        }.items()
    )
    load([one, two], server)
    make_file("CREATE TABLE a (y TEXT); INSERT INTO a VALUES ('new'); CREATE TABLE fresh (z INTEGER)", "one")
    assert list(loaded([one, two], server)) == [two]
    assert [done.skipped for done in load([one, two], server)] == [False, True]
    assert read(server, one, "SELECT y FROM a") == [("new",)]
    assert read(server, one, "SELECT * FROM fresh") == []
    assert read(server, two, "SELECT x FROM b") == [(2,)]
    assert "gone" not in tables(server, one)
    assert list(loaded([one, two], server)) == [one, two]


def tables(server: Server, database: Database) -> set[str]:
    place = database.mysql_database if server.dialect is Dialect.MYSQL else database.postgresql_schema
    sql = f"SELECT table_name FROM information_schema.tables WHERE table_schema = '{place}'"
    return {name for (name,) in ask(server, database, sql)}


@pytest.mark.parametrize("server", SERVED, indirect=True)
def test_a_lost_table_is_loaded_again(server: Server, database: Database, make_file: MakeFile) -> None:
    make_file("CREATE TABLE t (a INTEGER); CREATE TABLE u (a INTEGER)", t=[(1,)])
    load([database], server)
    ask(server, database, "DROP TABLE t")
    assert loaded([database], server) == {}
    assert [done.skipped for done in load([database], server)] == [False]
    assert read(server, database, "SELECT a FROM t") == [(1,)]


def test_what_an_older_loader_loaded_is_loaded_again(
    server: Server, database: Database, make_file: MakeFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_file("CREATE TABLE t (a INTEGER)", t=[(1,)])
    load([database], server)
    monkeypatch.setattr(namespace, "LOADER_VERSION", namespace.LOADER_VERSION + 1)
    assert loaded([database], server) == {}
    assert [done.skipped for done in load([database], server)] == [False]


@pytest.mark.parametrize("server", SERVED, indirect=True)
def test_two_databases_of_one_namespace_cannot_share_a_table(
    server: Server, collection: str, make_file: MakeFile
) -> None:
    one = Database(collection, "one", make_file("CREATE TABLE Same (a INTEGER)", "one"))
    two = Database(collection, "two", make_file("CREATE TABLE same (a INTEGER); CREATE TABLE t (a)", "two"))
    with pytest.raises(BadInput, match=r"two\.sqlite: table same: .* already has this table, from one;"):
        load([one, two], server)
    assert loaded([one, two], server) == {}
    load([one], server)
    with pytest.raises(BadInput, match=r"two\.sqlite: table same: .* already has this table, from one;"):
        load([two], server)
    assert tables(server, one) - {"loads"} == {"same"}
    faithful = [replace(database, profile=Profile.FAITHFUL) for database in (one, two)]
    assert len(load(faithful, server)) == 2


@pytest.mark.parametrize("server", SERVED, indirect=True)
def test_a_table_of_somebody_else_is_not_replaced(
    server: Server, database: Database, make_file: MakeFile
) -> None:
    path = make_file("CREATE TABLE t (a INTEGER)", t=[(1,)])
    load([database], server)
    ask(server, database, "CREATE TABLE theirs (a INTEGER)")
    path.unlink()
    make_file("CREATE TABLE theirs (a TEXT)")
    with pytest.raises(
        BadInput, match=r"table theirs: .* has a table of that name, not loaded by bird-harness"
    ):
        load([database], server)
    assert read(server, database, "SELECT a FROM t") == [(1,)]


@pytest.mark.parametrize("server", SERVED, indirect=True)
def test_what_a_killed_load_left_goes_with_the_next_one(
    server: Server, database: Database, make_file: MakeFile
) -> None:
    make_file("CREATE TABLE t (a INTEGER)", t=[(1,)])
    load([database], server)
    kind = "DATABASE" if server.dialect is Dialect.MYSQL else "SCHEMA"
    ask(server, database, f"CREATE {kind} bird_harness_staging_dead_0")
    ask(server, database, "CREATE TABLE bird_harness_staging_dead_0.t (a INTEGER)")
    assert [done.skipped for done in load([database], server)] == [True]
    ask(server, database, f"CREATE {kind} bird_harness_staging_dead_0")
    load([database], server)


def test_nothing_is_left_for_postgresql_to_do_in_the_background(
    postgresql_server: Server, postgresql_collection: str, make_file: MakeFile
) -> None:
    path = make_file("CREATE TABLE t (a INTEGER, b TEXT)", t=[(n, "text " * 20) for n in range(5_000)])
    database = Database(postgresql_collection, "shop", path)
    load([database], postgresql_server)
    [(pages, visible, rows, options)] = ask(
        postgresql_server,
        database,
        "SELECT relpages, relallvisible, reltuples::int, reloptions FROM pg_class WHERE relname = 't'",
    )
    assert pages > 10
    # PostgreSQL 18 leaves a part of the pages to be marked by a later vacuum.
    assert visible > pages // 2
    assert (rows, options) == (5_000, ["autovacuum_enabled=off"])


def test_a_file_that_changes_under_the_load_is_noticed(
    server: Server, database: Database, make_file: MakeFile
) -> None:
    path = make_file("CREATE TABLE t (a INTEGER)", t=[(number,) for number in range(5)])
    larger = make_file("CREATE TABLE s (a INTEGER)", name="mall", s=[(number,) for number in range(9)])
    before = replace(database, db_id="mall", sqlite_path=larger)

    def shrink(filling: Database, _: int, __: int) -> None:
        # While the larger one is filled nobody reads the other, whose rows have been counted.
        if filling == before:
            sqlite_file(path, "DELETE FROM t WHERE a > 2")

    with pytest.raises(BadInput, match=r"table t: 5 rows, but 3 in .*; do not change the file"):
        load([before, database], server, jobs=1, progress=shrink)
    assert loaded([database], server) == {}


def test_a_postgresql_database_that_sorts_otherwise_is_not_loaded_into(
    postgresql_server: Server, postgresql_collection: str, make_file: MakeFile
) -> None:
    database = Database(postgresql_collection, "shop", make_file("CREATE TABLE t (a)"))
    sorted_by_icu = "TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en'"
    ask(postgresql_server, None, f"CREATE DATABASE {postgresql_collection} {sorted_by_icu}")
    with pytest.raises(
        BadInput, match=f"database {postgresql_collection} does not sort by code point; drop it"
    ):
        load([database], postgresql_server)


def test_a_mysql_server_without_local_infile_is_unavailable(
    mysql_server: Server, mysql_collection: str, make_file: MakeFile
) -> None:
    database = Database(mysql_collection, "shop", make_file("CREATE TABLE t (a INTEGER)", t=[(1,)] * 100_000))
    ask(mysql_server, None, "SET GLOBAL local_infile = 0")
    try:
        with pytest.raises(EngineUnavailable, match="Loading local data is disabled"):
            load([database], mysql_server)
    finally:
        ask(mysql_server, None, "SET GLOBAL local_infile = 1")


def test_a_server_that_does_not_answer_is_unavailable(make_file: MakeFile) -> None:
    database = Database("nowhere", "shop", make_file("CREATE TABLE t (a)"))
    for dialect in (Dialect.MYSQL, Dialect.POSTGRESQL):
        server = Server(dialect, "127.0.0.1", 1, "root", "secret", Origin.DSN)
        with pytest.raises(EngineUnavailable, match=r"127\.0\.0\.1:1: .*bird-harness doctor"):
            load([database], server)


def test_nothing_is_loaded_into_sqlite(make_file: MakeFile) -> None:
    server = Server(Dialect.SQLITE, "", 0, "", "", Origin.NATIVE)
    with pytest.raises(BadInput, match="nothing is loaded into sqlite"):
        load([Database("nowhere", "shop", make_file("CREATE TABLE t (a)"))], server)
