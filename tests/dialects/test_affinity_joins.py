"""Joins across affinities give SQLite's rows for the values at which engines differ, and stay equalities."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from itertools import combinations
from uuid import uuid4

import pytest

from dialects.enums import Profile
from dialects.schema import Schema
from dialects.translation import translate
from harness.engines import on_server
from harness.engines.execution import Ending, Limits, execute
from harness.engines.sqlite.engine import SQLiteEngine
from harness.metrics.comparison import compare
from loaders.file_census import census
from loaders.namespace import Database
from loaders.server import Server
from tests.every_engine import LOADED

SERVERS = LOADED

TEXTS = (
    "1", " 1", "1 ", "1.0", "1e0", "01", "+1", "-1", "0x1", "", None, "abc", "1abc", "9007199254740992",
    "9007199254740993", "9007199254740993.0", "9007199254740992.5", "9223372036854775807",
    "9223372036854775808", "-9223372036854775808", "1.5", "1.50", "0.1", ".5", "5.", "-0", "-0.0", "0",
    "1e999", "-1e999", "1e-400", "\t2\n", "1\u00a0", "\uff11", "12345678901234567890",
    "0.30000000000000004", "1e15", "123456789012345", "inf", "Infinity",
)  # fmt: skip
BIG = (2**53, 2**53 + 1, 2**63 - 1, -(2**63) + 1)
INTEGERS = (0, 1, -1, 2, 5, 10**15, None)
REALS = (0.0, 1.0, -1.0, 1.5, 0.1, 0.5, 0.30000000000000004, 1e15, None)
BIG_REALS = (2.0**53, 2.0**53 + 2, 2.0**63, -(2.0**63), 1e300)

COLUMNS: dict[str, tuple[str, tuple[object, ...]]] = {
    "texts": ("TEXT", TEXTS),
    "plain": ("TEXT", ("1", "2", "5", "-1", "0", "9007199254740993")),
    "untyped": ("", TEXTS[::3]),
    "small": ("INTEGER", INTEGERS),
    "big": ("INTEGER", INTEGERS + BIG),
    "fractions": ("REAL", REALS),
    "wide": ("REAL", REALS + BIG_REALS),
    "mixed": ("INTEGER", (*INTEGERS, 1.5, "abc", "", "0x1", "1abc")),
    "huge": ("INTEGER", (*BIG, 0, 1.5, 1e300, "abc", "")),
    "blurred": ("REAL", (2**53, 1.5, "abc", None)),
    "numbers": ("NUMERIC", (0, 1, 1.5, 5, None)),
    "raw": ("BLOB", (b"1", b"", None)),
    "motley": ("", (1, "1", 1.0, " 1", "01", b"1", b"", 1.5, "abc", "", None, 2**53 + 1, b"abc")),
}
"""Each is the column v of the table of its name."""

FILTERS_ALONE = frozenset({"huge"})
"""The columns whose integers beyond 2^53 are rounded where a value is wanted, and not only a filter."""

PAIRS = [pair if n % 2 else pair[::-1] for n, pair in enumerate(combinations(COLUMNS, 2))]

SHAPES = (
    "SELECT a.id, b.id FROM {a} a JOIN {b} b ON a.v = b.v",
    "SELECT a.id, b.id FROM {a} a LEFT JOIN {b} b ON a.v = b.v AND b.id > 1",
    "SELECT a.id, b.id FROM {a} a, {b} b WHERE (a.v = b.v OR a.id = 1) AND a.id < 30",
    "SELECT a.id, b.id FROM {a} a FULL JOIN {b} b ON a.v = b.v",
    "SELECT a.id, b.id FROM {a} a JOIN {b} b USING (v)",
    "SELECT a.id FROM {a} a WHERE a.v IN (SELECT b.v FROM {b} b WHERE b.id < 20)",
    "SELECT a.id FROM {a} a WHERE a.v NOT IN (SELECT b.v FROM {b} b WHERE b.v IS NOT NULL)",
    "SELECT a.id, a.v IN (SELECT b.v FROM {b} b) FROM {a} a",
    "SELECT a.id, a.v IN (SELECT b.v FROM {b} b WHERE b.id < 0) IS NULL FROM {a} a",
    "SELECT a.id FROM {a} a WHERE EXISTS (SELECT 1 FROM {b} b WHERE b.v = a.v)",
    "SELECT a.id FROM {a} a WHERE NOT EXISTS (SELECT 1 FROM {b} b WHERE b.v = a.v)",
    "SELECT a.id, b.id, a.v = b.v, a.v <> b.v, (a.v = b.v) IS NULL FROM {a} a, {b} b",
    "SELECT a.id, b.id FROM {a} a, {b} b WHERE NOT (a.v = b.v)",
    "SELECT a.id, b.id FROM {a} a, {b} b WHERE a.v < b.v",
)

_FILTERS = 11
"""As many of them have the comparison in a filter, the others as a value."""

LIMITS = Limits(seconds=120)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Database:
    path = tmp_path_factory.mktemp("affinities") / "affinities.sqlite"
    with closing(sqlite3.connect(path)) as connection, connection:
        for name, (declared, values) in COLUMNS.items():
            connection.execute(f"CREATE TABLE {name} (id INTEGER PRIMARY KEY, v {declared})")
            connection.executemany(f"INSERT INTO {name} (v) VALUES (?)", ((value,) for value in values))
    return Database(f"test_{uuid4().hex[:8]}", "affinities", path, Profile.FAITHFUL)


@pytest.fixture(scope="module")
def schema(database: Database) -> Schema:
    return census(database.sqlite_path, escape=True)


@pytest.mark.engine
@pytest.mark.thorough
@pytest.mark.parametrize("number", range(len(SHAPES)), ids=SHAPES)
def test_a_comparison_has_the_rows_of_sqlite(
    server: Server, stand: Callable[[Server, Database], None], number: int, database: Database, schema: Schema
) -> None:
    """Of each shape an engine has every third pair; of the next shapes, the others."""
    stand(server, database)
    engine, shape = on_server(server), SHAPES[number]
    differences = []
    for a, b in PAIRS[(number + LOADED.index(server.dialect)) % 3 :: 3]:
        if number >= _FILTERS and FILTERS_ALONE & {a, b}:
            continue
        sql = shape.format(a=a, b=b)
        text = translate(sql, schema, server.dialect).sql
        expected = execute(SQLiteEngine(), database, sql, LIMITS)
        found = execute(engine, database, text, LIMITS)
        assert expected.ending is Ending.ROWS, f"{sql}: {expected.error}"
        if found.ending is not Ending.ROWS or not compare(expected.rows, found.rows).same_bag:
            differences.append(f"{sql}\n{text}\n{found.error}\n{set(expected.rows) ^ set(found.rows)}")
    assert not differences, "\n\n".join(differences)
