"""Keys, indexes and statistics as they stand on MySQL after a load, and what killed loads have left there."""

from dataclasses import replace

import pytest

from dialects.enums import Profile
from loaders.load import load
from loaders.mysql.target import TARGET
from loaders.namespace import STAGING, Database
from loaders.server import Server
from tests.loaders.conftest import MakeFile
from tests.loaders.servers import ask, read

pytestmark = pytest.mark.engine

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


@pytest.mark.parametrize("profile", list(Profile))
@pytest.mark.parametrize(
    ("declared", "keys", "refused_by"),
    [
        ("TEXT", [("b", 1), ("a", 2), ("a ", 3), ("\0", 4), ("", 5)], []),
        ("TEXT", [("a", 1), ("A", 1), ("á", 1)], [Profile.OFFICIAL]),
        ("TEXT COLLATE NOCASE", [("a", 1), ("b", 1)], []),
        ("TEXT", [("x" * 766, 1), ("y", 1)], []),
        ("TEXT", [("x" * 767, 1), ("y", 1)], list(Profile)),
        ("TEXT", [("x" * 5_000, 1), ("y", 1)], list(Profile)),
        ("REAL", [(0.5, 1), (-0.5, 1)], []),
    ],
)
def test_a_primary_key_of_any_type_is_kept_where_it_can_be(  # noqa: PLR0913, PLR0917 - fixtures and parameters
    mysql_server: Server,
    mysql_collection: str,
    make_file: MakeFile,
    profile: Profile,
    declared: str,
    keys: list[tuple[object, int]],
    refused_by: list[Profile],
) -> None:
    path = make_file(f"CREATE TABLE t (a {declared}, n INTEGER, PRIMARY KEY (a, n))", t=keys)
    database = Database(mysql_collection, "shop", path, profile)
    [done] = load([database], mysql_server)
    assert sorted(read(mysql_server, database, "SELECT a, n FROM t")) == sorted(keys)
    assert [note.partition(":")[0] for note in done.notes] == [
        "primary key of t (a, n) is an ordinary index" for _ in refused_by if profile in refused_by
    ][:1]


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
    for name in (f"{STAGING}{suffix}", "bird_harness_retired"):
        ask(mysql_server, None, f"CREATE DATABASE {name}")
        ask(mysql_server, None, f"CREATE TABLE {name}.t (a int)")
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
