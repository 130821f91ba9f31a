"""What somebody changes on a server behind the loader's back is found, and named: table, column and row."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import pytest

from dialects.enums import Dialect, Profile
from loaders.bulk_load import load
from loaders.namespace import Database
from loaders.server import Server
from loaders.verify import DifferenceKind, verified_lines, verify
from tests.every_engine import OWN, SERVED
from tests.loaders.conftest import MakeFile
from tests.loaders.servers import ask

pytestmark = [pytest.mark.engine, pytest.mark.thorough]
SERVERS = OWN

SHOP = """
CREATE TABLE goods (id INTEGER PRIMARY KEY, name TEXT, price REAL, made DATE, seen DATETIME, n INTEGER,
  picture BLOB, essay TEXT, code TEXT);
CREATE TABLE log (word TEXT, n INTEGER);
CREATE TABLE still (k TEXT, v TEXT, PRIMARY KEY (k, v)) WITHOUT ROWID;
INSERT INTO still VALUES ('a', 'b');
"""
ESSAY = "é" * 30_000
GOODS = [
    (1, "apple", 0.1 + 0.2, "2020-02-29", "2010-07-19 10:00:00.0", 2**53 + 1, b"\0\1", ESSAY, "1"),
    (2, "Pear", 1.5, "1999-12-31", "2010-07-19 10:30:00", 7, b"", "short", "1.0"),
    (3, "", 0.0, None, None, None, None, None, None),
    (4, None, None, "2020-03-01", "2010-07-19 22:59:59", -1, b"x", "", "01"),
    (5, "caf\u00e9", 3.0, "2020-03-01", "2010-07-19 10:00:00", 7, b"x", "short", "2"),
]
LOG = [("x", 7), ("x", 7), ("y", 8), ("z", 9)]

OFFICIAL, FAITHFUL = Profile.OFFICIAL, Profile.FAITHFUL
MYSQL, POSTGRESQL, DUCKDB = Dialect.MYSQL, Dialect.POSTGRESQL, Dialect.DUCKDB


@dataclass(frozen=True)
class Corruption:
    """A change, the difference that has to be found, and what has to be said about its rows."""

    sql: str
    kind: DifferenceKind
    table: str = "goods"
    column: str | None = None
    rows: str = ""
    instead: Mapping[tuple[Dialect, Profile], str] = field(default_factory=dict)
    """The change where it is spelled otherwise."""


CORRUPTIONS = {
    "last digit of a real": Corruption(
        "UPDATE goods SET price = 0.3e0 WHERE id = 1",
        DifferenceKind.VALUES,
        column="price",
        rows="row id '1': price is '0.30000000000000004' in the file, '0.3",
        instead={
            (dialect, OFFICIAL): "UPDATE goods SET price = '0.30000004' WHERE id = 1"
            for dialect in (POSTGRESQL, DUCKDB)
        },
    ),
    "sign of zero": Corruption(
        "UPDATE goods SET price = '-0.0' WHERE id = 3",
        DifferenceKind.VALUES,
        column="price",
        rows="row id '3': price",
        instead={  # which leaves a value that is equal
            (DUCKDB, profile): "UPDATE goods SET price = 1 WHERE id = 3;"
            " UPDATE goods SET price = '-0.0' WHERE id = 3"
            for profile in Profile
        },
    ),
    "big integer off by one": Corruption(
        f"UPDATE goods SET n = {2**53} WHERE id = 1",
        DifferenceKind.VALUES,
        column="n",
        rows="'9007199254740992' on",
    ),
    "trailing space": Corruption(
        "UPDATE goods SET name = 'apple ' WHERE id = 1",
        DifferenceKind.VALUES,
        column="name",
        rows="'apple ' on",
    ),
    "case": Corruption(
        "UPDATE goods SET name = 'pear' WHERE id = 2",
        DifferenceKind.VALUES,
        column="name",
        rows="name is 'Pear' in the file, 'pear' on",
    ),
    "NULL for an empty text": Corruption(
        "UPDATE goods SET name = NULL WHERE id = 3",
        DifferenceKind.VALUES,
        column="name",
        rows="name is '' in the file, NULL",
    ),
    "an empty text for NULL": Corruption(
        "UPDATE goods SET name = '' WHERE id = 4",
        DifferenceKind.VALUES,
        column="name",
        rows="name is NULL in the file, ''",
    ),
    "1.0 for 1 in a text": Corruption(
        "UPDATE goods SET code = '1.0' WHERE id = 1",
        DifferenceKind.VALUES,
        column="code",
        rows="'1' in the file, '1.0'",
    ),
    "invisible character": Corruption(
        "UPDATE goods SET name = 'ap\u200bple' WHERE id = 1",
        DifferenceKind.VALUES,
        column="name",
        rows="ap\\u200bple",
    ),
    "decomposed accent": Corruption(
        "UPDATE goods SET name = 'cafe\u0301' WHERE id = 5",
        DifferenceKind.VALUES,
        column="name",
        rows="'caf\\xe9' in the file, 'cafe\\u0301' on",
    ),
    "middle of a long text": Corruption(
        "UPDATE goods SET essay = concat(repeat('é', 15000), 'e', repeat('é', 14999)) WHERE id = 1",
        DifferenceKind.VALUES,
        column="essay",
        rows="row id '1': essay",
    ),
    "byte of a blob": Corruption(
        "UPDATE goods SET picture = x'0002' WHERE id = 1",
        DifferenceKind.VALUES,
        column="picture",
        rows="row id '1': picture is '0x0001' in the file",
        instead={
            (POSTGRESQL, profile): "UPDATE goods SET picture = '\\x0002' WHERE id = 1" for profile in Profile
        },
    ),
    "empty blob for NULL": Corruption(
        "UPDATE goods SET picture = '' WHERE id = 3",
        DifferenceKind.VALUES,
        column="picture",
        rows="row id '3': picture is NULL",
    ),
    "day after": Corruption(
        "UPDATE goods SET made = '2020-03-01' WHERE id = 1",
        DifferenceKind.VALUES,
        column="made",
        rows="'2020-02-29' in",
    ),
    "zone": Corruption(
        "UPDATE goods SET seen = replace(seen, ' 10:', ' 12:') WHERE seen IS NOT NULL",
        DifferenceKind.VALUES,
        column="seen",
        rows="'2010-07-19 10:30:00' in the file, '2010-07-19 12:30:00",
        instead={
            (MYSQL, OFFICIAL): "UPDATE goods SET seen = convert_tz(seen, '+00:00', '+02:00')",
            (POSTGRESQL, OFFICIAL): "UPDATE goods SET seen = seen + interval '2 hours'",
            (DUCKDB, OFFICIAL): "UPDATE goods SET seen = seen + interval '2 hours'",
        },
    ),
    "rows swapped in one column": Corruption(
        "UPDATE goods SET code = CASE id WHEN 1 THEN '2' ELSE '1' END WHERE id IN (1, 5)",
        DifferenceKind.VALUES,
        rows="row id '5': code is '2' in the file, '1' on",
    ),
    "row missing": Corruption(
        "DELETE FROM goods WHERE id = 2", DifferenceKind.ROWS, rows="row id '2' is not on"
    ),
    "row added": Corruption(
        "INSERT INTO goods (id, name) VALUES (6, 'six')",
        DifferenceKind.ROWS,
        rows="row id '6' is not in the file",
    ),
    "key changed": Corruption(
        "UPDATE goods SET id = 50 WHERE id = 5",
        DifferenceKind.VALUES,
        column="id",
        rows="row id '50' is not in the file",
    ),
    "row duplicated": Corruption(
        "INSERT INTO log SELECT * FROM log WHERE n = 9",
        DifferenceKind.ROWS,
        "log",
        instead={
            (MYSQL, FAITHFUL): "INSERT INTO log (word, n, sqlite_rowid)"
            " SELECT word, n, sqlite_rowid FROM log WHERE n = 9"
        },
    ),
    "one pair of equal rows for another": Corruption(
        "UPDATE log SET word = 'w', n = 6 WHERE n = 7", DifferenceKind.VALUES, "log", "word"
    ),
    "one row for another": Corruption(
        "UPDATE log SET word = 'z', n = 9 WHERE n = 8", DifferenceKind.VALUES, "log", "n"
    ),
    "all rows missing": Corruption("DELETE FROM log", DifferenceKind.ROWS, "log"),
    "table missing": Corruption("DROP TABLE log", DifferenceKind.MISSING_TABLE, "log"),
    "table added": Corruption("CREATE TABLE stray (a integer)", DifferenceKind.EXTRA_TABLE, "stray"),
    "column missing": Corruption(
        "ALTER TABLE log DROP COLUMN word", DifferenceKind.MISSING_COLUMN, "log", "word"
    ),
    "column added": Corruption(
        "ALTER TABLE log ADD COLUMN more text", DifferenceKind.EXTRA_COLUMN, "log", "more"
    ),
    "column renamed": Corruption(
        "ALTER TABLE log RENAME COLUMN n TO m", DifferenceKind.MISSING_COLUMN, "log", "n"
    ),
    "texts for integers": Corruption(
        "ALTER TABLE goods ALTER COLUMN n TYPE text",
        DifferenceKind.TYPE,
        column="n",
        instead={(MYSQL, profile): "ALTER TABLE goods MODIFY n text" for profile in Profile},
    ),
    "reals that round": Corruption(
        "ALTER TABLE goods ALTER COLUMN price TYPE real",
        DifferenceKind.TYPE,
        column="price",
        instead={(MYSQL, profile): "ALTER TABLE goods MODIFY price float" for profile in Profile}
        | {
            (dialect, OFFICIAL): "ALTER TABLE goods ALTER COLUMN price TYPE numeric(6, 2)"
            for dialect in (POSTGRESQL, DUCKDB)
        },
    ),
    "another character set": Corruption(
        "ALTER TABLE goods ALTER COLUMN name TYPE varchar(200)",
        DifferenceKind.TYPE,
        column="name",
        instead={
            (MYSQL, profile): "ALTER TABLE goods MODIFY name text CHARACTER SET latin1" for profile in Profile
        }
        | {
            (DUCKDB, profile): "ALTER TABLE goods ALTER COLUMN name TYPE text[] USING [name]"
            for profile in Profile
        },
    ),
}


@pytest.fixture
def shop(server: Server, database: Database, make_file: MakeFile) -> Database:
    """A database that is loaded, and clean."""
    make_file(SHOP, goods=GOODS, log=LOG)
    load([database], server)
    return database


@pytest.mark.usefixtures("profile")
def test_every_corruption_is_found_and_named(server: Server, database: Database, make_file: MakeFile) -> None:
    """Each is done to a table of its own, so that one load and one proof are enough."""
    script = SHOP
    rows: dict[str, Sequence[Sequence[object]]] = {"goods": GOODS, "log": LOG}
    for number in range(len(CORRUPTIONS)):
        script += "".join(f"{table}; " for table in _numbered(SHOP, number).split(";")[:2])
        rows |= {f"goods_{number}": GOODS, f"log_{number}": LOG}
    make_file(script, **rows)
    load([database], server)
    [clean] = verify([database], server)
    assert clean.is_clean, verified_lines([clean])
    for number, corruption in enumerate(CORRUPTIONS.values()):
        sql = corruption.instead.get((server.dialect, database.profile), corruption.sql)
        ask(server, database, _numbered(sql, number))

    [found] = verify([database], server)
    said = verified_lines([found])
    expected = {
        name: (corruption.kind, _numbered(corruption.table, number), corruption.column)
        for number, (name, corruption) in enumerate(CORRUPTIONS.items())
    }
    differing = {(one.kind, one.table, one.column): one for one in found.differences}
    assert {name for name, wanted in expected.items() if wanted not in differing} == set(), said
    assert {one.table for one in found.differences} == {table for _, table, _ in expected.values()}, said
    unnamed = {
        name
        for name, wanted in expected.items()
        if not any(CORRUPTIONS[name].rows in row for row in differing[wanted].rows or [""])
    }
    assert unnamed == set(), said


def _numbered(sql: str, number: int) -> str:
    return re.sub(r"\b(goods|log)\b", rf"\1_{number}", sql)


@pytest.mark.usefixtures("profile")
@pytest.mark.parametrize("server", SERVED, indirect=True)  # on DuckDB the type alone is named
def test_values_of_a_column_whose_type_was_changed_are_compared(server: Server, shop: Database) -> None:
    is_single = (server.dialect, shop.profile) == (POSTGRESQL, OFFICIAL)
    changes = {
        MYSQL: "ALTER TABLE goods MODIFY price float",
        POSTGRESQL: f"ALTER TABLE goods ALTER COLUMN price TYPE {'numeric(9)' if is_single else 'real'}",
    }
    ask(server, shop, changes[server.dialect])
    [found] = verify([shop], server)
    assert [(one.kind, one.column) for one in found.differences] == [
        (DifferenceKind.TYPE, "price"),
        (DifferenceKind.VALUES, "price"),
    ]
    row = found.differences[1].rows[0]
    assert row.startswith("row id '1': price is '0.3")


def test_a_hidden_rowid_is_a_value_too(
    mysql_server: Server, mysql_collection: str, make_file: MakeFile
) -> None:
    shop = Database(mysql_collection, "shop", make_file(SHOP, goods=GOODS, log=LOG), FAITHFUL)
    load([shop], mysql_server)
    ask(mysql_server, shop, "UPDATE log SET sqlite_rowid = 40 WHERE n = 9")
    [found] = verify([shop], mysql_server)
    [difference] = found.differences
    assert (difference.kind, difference.table, difference.column) == (
        DifferenceKind.VALUES,
        "log",
        "sqlite_rowid",
    )
    assert "row sqlite_rowid '40' is not in the file" in difference.rows


def test_a_database_that_is_not_there_lacks_its_tables(server: Server, shop: Database) -> None:
    elsewhere = replace(shop, collection=f"{shop.collection}_not")
    [found] = verify([elsewhere], server)
    assert [(one.kind, one.table) for one in found.differences] == [
        (DifferenceKind.MISSING_TABLE, name) for name in ("goods", "log", "still")
    ]


def test_every_difference_is_one_line_with_engine_profile_database_table_and_column(
    server: Server, shop: Database
) -> None:
    ask(server, shop, "UPDATE goods SET name = 'a\nb' WHERE id = 1")
    [found] = verify([shop], server)
    _, line, row = verified_lines([found])
    where = f"{server.dialect}, {shop.profile}, shop: table goods, column name: "
    assert line == f"{where}values differ"
    assert row == f"    row id '1': name is 'apple' in the file, 'a\\nb' on {server.dialect}"


def test_many_rows_that_differ_are_counted_and_few_are_named(
    server: Server, database: Database, make_file: MakeFile
) -> None:
    make_file(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, v INTEGER)", t=[(number, number) for number in range(20_000)]
    )
    load([database], server)
    ask(server, database, "DELETE FROM t WHERE id % 2 = 0")
    [found] = verify([database], server)
    [difference] = found.differences
    assert (difference.kind, difference.text) == (DifferenceKind.ROWS, "10,000 rows instead of 20,000")
    assert 0 < len(difference.rows) <= 5
    assert all(row.startswith("row id") and "is not on" in row for row in difference.rows)


def test_what_was_corrupted_verifies_clean_after_a_forced_load(server: Server, shop: Database) -> None:
    ask(server, shop, "UPDATE goods SET name = 'other'")
    [skipped] = load([shop], server)
    assert skipped.skipped
    [found] = verify([shop], server)
    assert not found.is_clean
    load([shop], server, force=True)
    [found] = verify([shop], server)
    assert found.is_clean
    with suppress(StopIteration):
        assert next(verify([], server)) is None
