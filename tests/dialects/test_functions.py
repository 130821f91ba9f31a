"""Every function of `bird_sqlite` gives, for any input, what SQLite gives."""

import math
import re
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import pytest

from dialects.enums import Dialect, Profile
from loaders import functions
from loaders.namespace import Database
from loaders.server import Server
from tests.dialects.function_inputs import CASES, KNOWN_DIFFERENCES, Case
from tests.loaders.servers import read

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Database:
    """One table of arguments for each case."""
    path = tmp_path_factory.mktemp("functions") / "arguments.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        for number, case in enumerate(CASES):
            columns = [f"{name} {kind}" for name, kind in zip("abc", case.types, strict=False)]
            connection.execute(f"CREATE TABLE t{number} (id INTEGER PRIMARY KEY, {', '.join(columns)})")
            connection.executemany(
                f"INSERT INTO t{number} VALUES (NULL{', ?' * len(columns)})", case.arguments()
            )
        connection.commit()
    return Database(f"test_{uuid4().hex[:8]}", "arguments", path, Profile.FAITHFUL)


@pytest.fixture
def arguments(server: Server, database: Database, stand: Callable[[Server, Database], None]) -> Database:
    stand(server, database)
    return database


def _qualified(call: str, dialect: Dialect = Dialect.POSTGRESQL) -> str:
    """The functions of a call in their namespace: what stands before a parenthesis."""
    parts = call.split("(")
    between = "_" if dialect is Dialect.DUCKDB else "."
    return "(".join([*(_prefixed(part, between) for part in parts[:-1]), parts[-1]])


def _prefixed(part: str, between: str) -> str:
    start = max(part.rfind(" "), part.rfind(",")) + 1
    return f"{part[:start]}bird_sqlite{between}{part[start:]}"


SERVERS = (Dialect.MYSQL, Dialect.POSTGRESQL)
"""Their functions are written in SQL; DuckDB's are SQLite's own. MariaDB shares most of MySQL's."""

CALLED = re.compile(r"\b([a-z]\w*)\(")


def _is_tested(case: Case, dialect: Dialect) -> bool:
    """True if the engine has all functions of the case, and on MariaDB if it has one of its own."""
    found, mysql = functions.definitions(dialect), functions.definitions(Dialect.MYSQL)
    names = CALLED.findall(case.server)
    is_own = dialect is not Dialect.MARIADB or any(found[name] != mysql.get(name) for name in names)
    return is_own and found.keys() >= set(names)


@pytest.mark.parametrize(
    ("server", "number"),
    [
        pytest.param(dialect, number, id=f"{dialect}-{case.server}")
        for dialect in (*SERVERS, Dialect.DUCKDB, Dialect.MARIADB)
        for number, case in enumerate(CASES)
        if _is_tested(case, dialect)
    ],
    indirect=["server"],
)
def test_a_function_gives_what_sqlite_gives(number: int, server: Server, arguments: Database) -> None:
    case = CASES[number]
    found = read(
        server, arguments, f"SELECT {_qualified(case.server, server.dialect)} FROM t{number} ORDER BY id"
    )
    expected = _expected(case, number, arguments.sqlite_path)
    if server.dialect in {Dialect.MYSQL, Dialect.MARIADB}:
        expected = [_finite(value) for value in expected]
    pairs = zip(case.arguments(), [value for (value,) in found], expected, strict=True)
    assert [pair for pair in pairs if not _same(pair[1], pair[2])] == []


def _expected(case: Case, number: int, path: Path) -> list[object]:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TEMP TABLE affine (id INTEGER PRIMARY KEY, n NUMERIC, m NUMERIC)")
        second = "b" if len(case.types) > 1 else "NULL"
        connection.execute(f"INSERT INTO affine SELECT id, a, {second} FROM t{number}")
        rows = connection.execute(f"SELECT {case.sqlite} FROM t{number} AS t ORDER BY id")
        return [value for (value,) in rows]


def _finite(value: object) -> object:
    """MySQL has no infinity: the largest double stands for it."""
    if isinstance(value, float) and math.isinf(value):
        return math.copysign(sys.float_info.max, value)
    return value


def _same(found: object, expected: object) -> bool:
    if found is None or expected is None or isinstance(expected, str):
        return found == expected and type(found) is type(expected)
    return isinstance(found, int | float) and found == expected


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="a moment is a count of milliseconds")
@pytest.mark.parametrize("server", SERVERS, indirect=True)
@pytest.mark.parametrize(("call", "sqlite"), KNOWN_DIFFERENCES)
def test_a_known_difference(call: str, sqlite: str, server: Server, arguments: Database) -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        expected = connection.execute(f"SELECT {sqlite}").fetchall()
    assert read(server, arguments, f"SELECT {_qualified(call)}") == expected


def test_now_is_the_clock_in_utc(server: Server, arguments: Database) -> None:
    """Between the same clock's readings before and after, were it off by less than an hour."""
    call = _qualified("unix_of(moment('NOW'))", server.dialect)
    [[found]] = read(server, arguments, f"SELECT {call}")
    with closing(sqlite3.connect(":memory:")) as connection:
        [[expected]] = connection.execute("SELECT unixepoch('now')")
    assert abs(found - expected) < 3600
