"""Keys, indexes and statistics that a load leaves: those of the file, as far as its rows allow."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from dialects.enums import Dialect, Profile
from loaders.bulk_load import load
from loaders.mysql.target import TARGET
from loaders.namespace import STAGING, Database
from loaders.server import Server
from tests.loaders.conftest import MakeFile
from tests.loaders.servers import ask, read

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


def indexes(server: Server, database: Database, table: str) -> set[str]:
    if server.dialect is Dialect.MYSQL:
        return {row[2] for row in ask(server, database, f"SHOW INDEX FROM {table}")}
    place = database.postgresql_schema
    sql = f"SELECT indexname FROM pg_indexes WHERE schemaname = '{place}' AND tablename = '{table}'"
    return {name for (name,) in ask(server, database, sql)}


pytestmark = pytest.mark.engine


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


def test_indexes_of_neighbours_do_not_take_each_others_names(
    postgresql_server: Server, postgresql_collection: str, make_file: MakeFile
) -> None:
    one = make_file("CREATE TABLE a (b_c INTEGER); CREATE INDEX i ON a (b_c)", "one", a=[(1,)])
    two = make_file("CREATE TABLE a_b (c INTEGER); CREATE INDEX i ON a_b (c)", "two", a_b=[(2,)])
    databases = [Database(postgresql_collection, path.stem, path) for path in (one, two)]
    load(databases, postgresql_server)
    named = [indexes(postgresql_server, databases[0], table) for table in ("a", "a_b")]
    assert sorted(map(sorted, named)) == [["a_b_c_idx"], ["a_b_c_idx1"]]


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


REFUSED: dict[str, tuple[str, Sequence[str], str, set[tuple[Dialect, Profile]]]] = {
    "a": (
        "TEXT PRIMARY KEY", ["abc", "ABC", "äbc"], "primary key of a (k) is an ordinary index: Duplicate",
        {(Dialect.MYSQL, Profile.OFFICIAL)},
    ),
    "b": (
        "REAL UNIQUE", ["0.1", "0.100000000001"], "unique key of b (k) is an ordinary index: could not",
        {(Dialect.POSTGRESQL, Profile.OFFICIAL)},
    ),
    "c": (
        "DATETIME UNIQUE", ["2020-01-01", "2020-01-01 00:00:00"],
        "unique key of c (k) is an ordinary index: ",
        {(dialect, Profile.OFFICIAL) for dialect in (Dialect.MYSQL, Dialect.POSTGRESQL)},
    ),
    "d": (
        "TEXT UNIQUE", ["x" * 5_000, "y"], "unique key of d (k) is an ordinary index: BLOB/TEXT column",
        {(Dialect.MYSQL, profile) for profile in Profile},
    ),
}  # fmt: skip
"""By table: what its column is declared, its values, and how the key's note begins where it is refused."""


@pytest.mark.usefixtures("profile")
def test_a_key_that_the_server_refuses_costs_no_row(
    server: Server, database: Database, make_file: MakeFile
) -> None:
    make_file(
        "".join(f"CREATE TABLE {table} (k {declared});" for table, (declared, *_) in REFUSED.items()),
        **{table: [(value,) for value in values] for table, (_, values, *_) in REFUSED.items()},
    )
    [done] = load([database], server)
    place = (server.dialect, database.profile)
    wanted = [start for _, _, start, places in REFUSED.values() if place in places]
    assert len(done.notes) == len(wanted)
    assert all(note.startswith(start) for note, start in zip(done.notes, wanted, strict=True))
    for table, (_, values, *_) in REFUSED.items():
        assert read(server, database, f"SELECT count(*) FROM {table}") == [(len(values),)]
        assert len(indexes(server, database, table)) == 1


SHOP = """
CREATE TABLE customer (id INTEGER PRIMARY KEY, code TEXT UNIQUE, name TEXT);
CREATE TABLE part (a INTEGER, b INTEGER, label TEXT, PRIMARY KEY (a, b));
CREATE TABLE sale (
    id INTEGER PRIMARY KEY, customer INTEGER REFERENCES customer (id), code TEXT REFERENCES customer (code),
    a INTEGER, b INTEGER, day TEXT, FOREIGN KEY (a, b) REFERENCES part (a, b)
);
CREATE INDEX by_customer_and_day ON sale (customer, day);
CREATE INDEX by_label ON part (label);
INSERT INTO customer VALUES (1, 'x', 'Ann'), (2, 'y', 'Bob');
INSERT INTO part VALUES (1, 1, 'cog'), (1, 2, 'cog');
INSERT INTO sale VALUES (1, 1, 'x', 1, 1, '2024-01-01'), (2, NULL, NULL, NULL, NULL, NULL);
"""


def _indexes(server: Server, database: Database) -> set[tuple[str, str, int]]:
    """Table, columns and whether it is unique, of each index."""
    rows = ask(
        server,
        database,
        "SELECT table_name, GROUP_CONCAT(column_name ORDER BY seq_in_index), non_unique"
        " FROM information_schema.statistics WHERE table_schema = database()"
        " GROUP BY table_name, index_name, non_unique",
    )
    assert len(set(rows)) == len(rows), "an index stands twice"
    return {(str(table), str(columns), 1 - int(shared)) for table, columns, shared in rows}


def _references(server: Server, database: Database) -> set[tuple[str, str]]:
    rows = ask(
        server,
        database,
        "SELECT table_name, referenced_table_name FROM information_schema.referential_constraints"
        " WHERE constraint_schema = database()",
    )
    return {(str(table), str(parent)) for table, parent in rows}


def test_keys_and_indexes_are_those_of_the_file_and_what_references_need(
    mysql_server: Server, mysql_collection: str, make_file: MakeFile
) -> None:
    database = Database(mysql_collection, "shop", make_file(SHOP))
    [done] = load([database], mysql_server)
    assert done.notes == ()
    assert _indexes(mysql_server, database) == {
        ("customer", "id", 1),
        ("customer", "code", 1),
        ("part", "a,b", 1),
        ("part", "label", 0),
        ("sale", "id", 1),
        ("sale", "customer,day", 0),
        ("sale", "code", 0),
        ("sale", "a,b", 0),
    }
    assert _references(mysql_server, database) == {("sale", "customer"), ("sale", "part")}


def test_without_indexes_there_are_primary_keys_alone(
    mysql_server: Server, mysql_collection: str, make_file: MakeFile
) -> None:
    database = Database(mysql_collection, "shop", make_file(SHOP))
    load([database], mysql_server, indexes=False)
    assert _indexes(mysql_server, database) == {("customer", "id", 1), ("part", "a,b", 1), ("sale", "id", 1)}
    assert _references(mysql_server, database) == set()


def test_a_key_that_is_refused_takes_no_other_along(
    mysql_server: Server, mysql_collection: str, make_file: MakeFile
) -> None:
    path = make_file("CREATE TABLE t (a TEXT UNIQUE, b TEXT UNIQUE)", t=[("x", "y"), ("X", "z")])
    database = Database(mysql_collection, "shop", path)
    [done] = load([database], mysql_server)
    assert [note.partition(":")[0] for note in done.notes] == ["unique key of t (a) is an ordinary index"]
    assert _indexes(mysql_server, database) == {("t", "a", 0), ("t", "b", 1)}
    faithful = replace(database, profile=Profile.FAITHFUL)
    [done] = load([faithful], mysql_server)
    assert done.notes == ()
    assert _indexes(mysql_server, faithful) == {("t", "a", 1), ("t", "b", 1)}


ANY_TYPE: list[tuple[str, list[tuple[Any, int]], list[Profile]]] = [
    ("TEXT", [("b", 1), ("a", 2), ("a ", 3), ("\0", 4), ("", 5)], []),
    ("TEXT", [("a", 1), ("A", 1), ("á", 1)], [Profile.OFFICIAL]),
    ("TEXT COLLATE NOCASE", [("a", 1), ("b", 1)], []),
    ("TEXT", [("x" * 766, 1), ("y", 1)], []),
    ("TEXT", [("x" * 767, 1), ("y", 1)], list(Profile)),
    ("TEXT", [("x" * 5_000, 1), ("y", 1)], list(Profile)),
    ("REAL", [(0.5, 1), (-0.5, 1)], []),
]
"""What a column of a table's key is declared, the keys, and the profiles in which MySQL refuses it."""


def test_a_primary_key_of_any_type_is_kept_where_it_can_be(
    mysql_server: Server, mysql_collection: str, make_file: MakeFile, profile: Profile
) -> None:
    path = make_file(
        "".join(
            f"CREATE TABLE t{number} (a {declared}, n INTEGER, PRIMARY KEY (a, n));"
            for number, (declared, *_) in enumerate(ANY_TYPE)
        ),
        **{f"t{number}": keys for number, (_, keys, _) in enumerate(ANY_TYPE)},
    )
    database = Database(mysql_collection, "shop", path, profile)
    [done] = load([database], mysql_server)
    for number, (_, keys, _) in enumerate(ANY_TYPE):
        assert sorted(read(mysql_server, database, f"SELECT a, n FROM t{number}")) == sorted(keys)
    assert [note.partition(":")[0] for note in done.notes] == [
        f"primary key of t{number} (a, n) is an ordinary index"
        for number, (*_, refused_by) in enumerate(ANY_TYPE)
        if profile in refused_by
    ]


def test_statistics_are_counted_and_stay(
    mysql_server: Server, mysql_collection: str, make_file: MakeFile
) -> None:
    """An index of more than 20 pages would be sampled by default, other pages each time."""
    rows = [(n, n * n % 7_919) for n in range(60_000)]
    path = make_file("CREATE TABLE t (n INTEGER PRIMARY KEY, v INTEGER); CREATE INDEX i ON t (v)", t=rows)
    database = Database(mysql_collection, "shop", path)
    load([database], mysql_server)
    counted = ask(
        mysql_server,
        database,
        "SELECT index_name, stat_value FROM mysql.innodb_index_stats"
        " WHERE database_name = database() AND table_name = 't' AND stat_name = 'n_diff_pfx01'",
    )
    assert dict(counted) == {"PRIMARY": len(rows), "v": len({v for _, v in rows})}
    [[options]] = ask(
        mysql_server,
        database,
        "SELECT create_options FROM information_schema.tables WHERE table_schema = database()",
    )
    assert "stats_auto_recalc=0" in options


def test_rows_are_found_in_the_order_of_the_file_s_key(
    mysql_server: Server, mysql_collection: str, make_file: MakeFile
) -> None:
    path = make_file("CREATE TABLE t (n INTEGER PRIMARY KEY, v TEXT)", t=[(3, "c"), (-1, "a"), (0, "b")])
    database = Database(mysql_collection, "shop", path)
    load([database], mysql_server)
    assert read(mysql_server, database, "SELECT n, v FROM t") == [(-1, "a"), (0, "b"), (3, "c")]


def _left(server: Server) -> list[str]:
    return [name for (name,) in ask(server, None, "SHOW DATABASES") if name.startswith("bird_harness_")]


@pytest.mark.parametrize("suffix", ["_0a1b2c3d_0", "_0a1b2c3d_0_retired", ""])
def test_what_a_killed_load_left_is_dropped_by_the_next(
    mysql_server: Server, mysql_collection: str, make_file: MakeFile, suffix: str
) -> None:
    ask(mysql_server, None, f"CREATE DATABASE {STAGING}{suffix}")
    ask(mysql_server, None, f"CREATE TABLE {STAGING}{suffix}.t (a int)")
    path = make_file("CREATE TABLE t (a INTEGER)", t=[(1,)])
    load([Database(mysql_collection, "shop", path)], mysql_server)
    assert _left(mysql_server) == []


def test_a_staging_is_hidden_from_the_reader_and_dropped_as_often_as_asked(
    mysql_server: Server, mysql_collection: str, make_file: MakeFile
) -> None:
    database = Database(mysql_collection, "shop", make_file("CREATE TABLE t (a INTEGER)", t=[(1,)]))
    load([database], mysql_server)
    staging = f"{STAGING}_0a1b2c3d_0"
    TARGET.prepare(mysql_server, database, staging)
    assert _left(mysql_server) == [staging]
    assert staging not in [name for (name,) in read(mysql_server, database, "SHOW DATABASES")]
    for _ in range(2):
        TARGET.discard(mysql_server, database, staging)
        assert _left(mysql_server) == []
    TARGET.tidy(mysql_server, [database])
    TARGET.discard(replace(mysql_server, port=1), database, staging)
