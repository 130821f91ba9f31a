"""What a load leaves on a real server: all tables with all rows and their keys, and nothing twice."""

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from harness.engines.namespace import Database
from harness.engines.server import Origin, Server
from harness.errors import BadInput, EngineUnavailable
from harness.words import Dialect, Profile
from loaders import bookkeeping
from loaders.load import load, loaded
from tests.loaders.conftest import MakeFile
from tests.loaders.servers import ask, read

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


def test_tables_and_names_of_every_kind_arrive(
    server: Server, database: Database, make_file: MakeFile
) -> None:
    path = make_file(ODD_TABLES)
    [done] = load([database], server)
    assert (done.database, done.rows, done.skipped, done.notes) == (database, 17, False, ())
    for query, folded in ODD_QUERIES.items():
        asked = folded if folded and server.dialect is Dialect.POSTGRESQL else query
        assert read(server, database, asked) == shop(path, query)


def test_several_processes_load_what_one_does(
    server: Server, collection: str, profile: Profile, make_file: MakeFile
) -> None:
    odd = Database(collection, "odd", make_file(ODD_TABLES, "odd"), profile)
    keyed = Database(collection, "keyed", make_file(KEYED, "keyed"), profile)
    told: dict[Database, list[tuple[int, int]]] = {odd: [], keyed: []}
    done = load([odd, keyed], server, jobs=2, progress=lambda one, *rows: told[one].append(rows))
    assert [(one.database, one.rows, one.notes) for one in done] == [(odd, 17, ()), (keyed, 2, ())]
    assert [(rows[0], rows[-1]) for rows in told.values()] == [((0, 17), (17, 17)), ((0, 2), (2, 2))]
    for query, folded in ODD_QUERIES.items():
        asked = folded if folded and server.dialect is Dialect.POSTGRESQL else query
        assert read(server, odd, asked) == shop(odd.sqlite_path, query)
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
    server: Server, collection: str, profile: Profile, make_file: MakeFile
) -> None:
    one, two = (
        Database(collection, name, make_file(script, name), profile)
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
    monkeypatch.setattr(bookkeeping, "LOADER_VERSION", bookkeeping.LOADER_VERSION + 1)
    assert loaded([database], server) == {}
    assert [done.skipped for done in load([database], server)] == [False]


def test_two_databases_of_one_namespace_cannot_share_a_table(
    server: Server, collection: str, make_file: MakeFile
) -> None:
    one = Database(collection, "one", make_file("CREATE TABLE Same (a INTEGER)", "one"))
    two = Database(collection, "two", make_file("CREATE TABLE same (a INTEGER); CREATE TABLE t (a)", "two"))
    with pytest.raises(BadInput, match=r"two\.sqlite: table same: .* has that of one already"):
        load([one, two], server)
    assert loaded([one, two], server) == {}
    load([one], server)
    with pytest.raises(BadInput, match=r"two\.sqlite: table same: .* has that of one already"):
        load([two], server)
    assert tables(server, one) - {"loads"} == {"same"}
    faithful = [replace(database, profile=Profile.FAITHFUL) for database in (one, two)]
    assert len(load(faithful, server)) == 2


def test_a_table_of_somebody_else_is_not_replaced(
    server: Server, database: Database, make_file: MakeFile
) -> None:
    path = make_file("CREATE TABLE t (a INTEGER)", t=[(1,)])
    load([database], server)
    ask(server, database, "CREATE TABLE theirs (a INTEGER)")
    path.unlink()
    make_file("CREATE TABLE theirs (a TEXT)")
    with pytest.raises(BadInput, match=r"table theirs: .* has one that bird-harness did not load"):
        load([database], server)
    assert read(server, database, "SELECT a FROM t") == [(1,)]


KEYED = """
CREATE TABLE parent (id INTEGER PRIMARY KEY, code TEXT UNIQUE);
CREATE TABLE child (
  code TEXT PRIMARY KEY, parent_id INTEGER REFERENCES parent, parent_code TEXT REFERENCES parent (code),
  boss TEXT REFERENCES child, dangling INTEGER REFERENCES parent, note TEXT, picture BLOB
);
CREATE INDEX by_parent ON child (parent_id, note);
CREATE INDEX by_note ON child (note);
CREATE INDEX by_picture ON child (picture);
INSERT INTO parent VALUES (0, 'zero'), (1, 'one');
"""


ALL_KEYS: list[tuple[object, ...]] = [
    ("child", "FOREIGN KEY", 4),
    ("child", "PRIMARY KEY", 1),
    ("parent", "PRIMARY KEY", 1),
    ("parent", "UNIQUE", 1),
]


def kinds_of_keys(server: Server, database: Database) -> list[tuple[object, ...]]:
    place = database.mysql_database if server.dialect is Dialect.MYSQL else database.postgresql_schema
    constraints = ask(
        server,
        database,
        "SELECT table_name, constraint_type, count(*) FROM information_schema.table_constraints"
        f" WHERE table_schema = '{place}' AND constraint_type != 'CHECK'"
        " AND table_name IN ('parent', 'child') GROUP BY table_name, constraint_type",
    )
    return sorted(constraints)


def test_primary_keys_alone_until_all_are_asked_for(
    server: Server, database: Database, make_file: MakeFile
) -> None:
    make_file(KEYED, child=[("a", 0, "one", "a", 1, "note", b"x")])
    primary: list[tuple[object, ...]] = [("child", "PRIMARY KEY", 1), ("parent", "PRIMARY KEY", 1)]
    steps: list[tuple[bool | None, bool, list[tuple[object, ...]]]] = [
        (False, False, primary),
        (None, True, primary),
        (False, True, primary),
        (True, False, ALL_KEYS),
        (None, True, ALL_KEYS),
        (False, False, primary),
    ]
    for wanted, skipped, keys in steps:
        assert [done.skipped for done in load([database], server, indexes=wanted)] == [skipped]
        assert kinds_of_keys(server, database) == keys
        assert len(indexes(server, database, "child")) == 1 or keys == ALL_KEYS
    assert read(server, database, "SELECT code, parent_id FROM child") == [("a", 0)]


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


def test_indexes_of_neighbours_do_not_take_each_others_names(
    postgresql_server: Server, postgresql_collection: str, make_file: MakeFile
) -> None:
    one = make_file("CREATE TABLE a (b_c INTEGER); CREATE INDEX i ON a (b_c)", "one", a=[(1,)])
    two = make_file("CREATE TABLE a_b (c INTEGER); CREATE INDEX i ON a_b (c)", "two", a_b=[(2,)])
    databases = [Database(postgresql_collection, path.stem, path) for path in (one, two)]
    load(databases, postgresql_server)
    named = [indexes(postgresql_server, databases[0], table) for table in ("a", "a_b")]
    assert sorted(map(sorted, named)) == [["a_b_c_idx"], ["a_b_c_idx1"]]


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


def test_keys_are_kept_where_the_rows_allow(server: Server, database: Database, make_file: MakeFile) -> None:
    long = "long " * 400
    rows = [("a", 0, "one", "b", 7, long, b"x"), ("b", 1, None, "b", None, None, None)]
    make_file(KEYED, child=rows)
    [done] = load([database], server)
    assert done.notes == ("foreign key of child (dangling) to parent is left out: 1 rows have no parent",)
    assert kinds_of_keys(server, database) == [("child", "FOREIGN KEY", 3), *ALL_KEYS[1:]]
    assert read(server, database, "SELECT count(*) FROM child WHERE dangling = 7") == [(1,)]
    assert len(indexes(server, database, "child")) >= 4


def test_a_foreign_key_that_the_server_refuses_costs_neither_row_nor_other_key(
    server: Server, database: Database, make_file: MakeFile
) -> None:
    """MySQL has no unique key of these long texts to refer to, and PostgreSQL no index of such entries."""
    script = """
        CREATE TABLE p (id INTEGER PRIMARY KEY, long TEXT UNIQUE);
        CREATE TABLE c (long TEXT REFERENCES p (long), id INTEGER REFERENCES p)
    """
    long = "".join(chr(0x4E00 + number * 7919 % 20_000) for number in range(3_000))
    make_file(script, p=[(1, long)], c=[(long, 1)])
    [done] = load([database], server)
    assert [note.split(": ")[0] for note in done.notes if note.startswith("foreign")] == [
        "foreign key of c (long) to p is left out"
    ]
    assert read(server, database, "SELECT id FROM c") == [(1,)]
    with pytest.raises(Exception, match=r"foreign key constraint"):
        ask(server, database, "INSERT INTO c (id) VALUES (2)")


def test_foreign_keys_lead_to_the_new_tables_after_a_reload(
    server: Server, database: Database, make_file: MakeFile
) -> None:
    script = "CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE c (p INTEGER REFERENCES p)"
    make_file(script, p=[(1,)], c=[(1,)])
    load([database], server)
    load([database], server, force=True)
    with pytest.raises(Exception, match=r"foreign key constraint"):
        ask(server, database, "INSERT INTO c VALUES (2)")
    ask(server, database, "INSERT INTO p VALUES (2)")
    ask(server, database, "INSERT INTO c VALUES (2)")


def indexes(server: Server, database: Database, table: str) -> set[str]:
    if server.dialect is Dialect.MYSQL:
        return {row[2] for row in ask(server, database, f"SHOW INDEX FROM {table}")}
    place = database.postgresql_schema
    sql = f"SELECT indexname FROM pg_indexes WHERE schemaname = '{place}' AND tablename = '{table}'"
    return {name for (name,) in ask(server, database, sql)}


@pytest.mark.parametrize(
    ("script", "rows", "notes"),
    [
        (
            "CREATE TABLE t (k TEXT PRIMARY KEY)",
            [("abc",), ("ABC",), ("äbc",)],
            {
                (Dialect.MYSQL, Profile.OFFICIAL): [
                    "primary key of t (k) is an ordinary index: Duplicate entry"
                ]
            },
        ),
        (
            "CREATE TABLE t (k REAL UNIQUE)",
            [(0.1,), (0.1 + 1e-12,)],
            {
                (Dialect.POSTGRESQL, Profile.OFFICIAL): [
                    "unique key of t (k) is an ordinary index: could not create"
                ]
            },
        ),
        (
            "CREATE TABLE t (k DATETIME UNIQUE)",
            [("2020-01-01",), ("2020-01-01 00:00:00",)],
            {
                (Dialect.MYSQL, Profile.OFFICIAL): [
                    "unique key of t (k) is an ordinary index: Duplicate entry"
                ],
                (Dialect.POSTGRESQL, Profile.OFFICIAL): [
                    "unique key of t (k) is an ordinary index: could not create"
                ],
            },
        ),
        (
            "CREATE TABLE t (k TEXT UNIQUE)",
            [("x" * 5_000,), ("y",)],
            {
                (Dialect.MYSQL, Profile.OFFICIAL): [
                    "unique key of t (k) is an ordinary index: BLOB/TEXT column"
                ],
                (Dialect.MYSQL, Profile.FAITHFUL): [
                    "unique key of t (k) is an ordinary index: BLOB/TEXT column"
                ],
            },
        ),
    ],
)
def test_a_key_that_the_server_refuses_costs_no_row(  # noqa: PLR0913, PLR0917 - fixtures and parameters
    server: Server,
    database: Database,
    make_file: MakeFile,
    script: str,
    rows: Sequence[Sequence[object]],
    notes: dict[tuple[Dialect, Profile], list[str]],
) -> None:
    make_file(script, t=rows)
    [done] = load([database], server)
    wanted = notes.get((server.dialect, database.profile), [])
    assert len(done.notes) == len(wanted)
    assert all(note.startswith(start) for note, start in zip(done.notes, wanted, strict=True))
    assert read(server, database, "SELECT count(*) FROM t") == [(len(rows),)]
    assert len(indexes(server, database, "t")) == 1


def test_wide_tables_load(server: Server, database: Database, make_file: MakeFile) -> None:
    names = [f"column_{number}" for number in range(400)]
    make_file(f"CREATE TABLE t ({' TEXT, '.join(names)} TEXT)", t=[tuple(names)] * 3)
    load([database], server)
    assert read(server, database, "SELECT * FROM t") == [tuple(names)] * 3


def test_what_the_server_refuses_is_one_clear_error(
    server: Server, database: Database, make_file: MakeFile
) -> None:
    names = ", ".join(f"c{number} TEXT" for number in range(1_700))
    make_file(f"CREATE TABLE t ({names})")
    with pytest.raises(
        BadInput, match=r"shop\.sqlite: table t: (MySQL: Too many columns|PostgreSQL: tables can have)"
    ):
        load([database], server)
    assert loaded([database], server) == {}


def test_a_file_that_changes_under_the_load_is_noticed(
    server: Server, database: Database, make_file: MakeFile
) -> None:
    path = make_file("CREATE TABLE t (a INTEGER)", t=[(number,) for number in range(5)])

    def shrink(_: Database, done: int, __: int) -> None:
        if not done:
            with closing(sqlite3.connect(path)) as connection:
                connection.execute("DELETE FROM t WHERE a > 2")
                connection.commit()

    with pytest.raises(BadInput, match=r"table t: 5 rows, but 3 in .*; do not change the file"):
        load([database], server, progress=shrink)
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


@pytest.mark.bird
def test_the_published_databases_load(
    server: Server, collection: str, profile: Profile, bird_home: Path
) -> None:
    folder = bird_home / "MINIDEV" / "dev_databases"
    names = json.loads((bird_home / "schema" / "postgresql_dump.json").read_text(encoding="utf-8"))
    databases = [Database(collection, name, folder / name / f"{name}.sqlite", profile) for name in names]
    done = load(databases, server)
    assert [one.database for one in done] == databases
    assert not [note for one in done for note in one.notes if "slashes" not in note]
    assert all(again.skipped for again in load(databases, server))
    for database, marker in loaded(databases, server).items():
        counts = [f"SELECT '{name}', count(*) FROM \"{name}\"" for name in marker.tables]
        assert dict(read(server, database, " UNION ALL ".join(counts))) == marker.tables
