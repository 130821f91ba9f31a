"""Whatever settings a user's server has, sessions have the values that outcomes need: a table of settings."""

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg
import pymysql
import pytest
from psycopg import sql as compose

from dialects.enums import Dialect, Profile
from harness.engines import on_server, unfit_settings
from harness.engines.base import Engine
from harness.engines.execution import Ending, Limits, execute
from loaders.bulk_load import load
from loaders.namespace import Database
from loaders.server import Server
from tests.sqlite_files import sqlite_file

pytestmark = [pytest.mark.engine, pytest.mark.thorough]

MYSQL: Mapping[str, tuple[str | int, str, object]] = {
    "sql_mode": (
        "ANSI_QUOTES,ONLY_FULL_GROUP_BY,PIPES_AS_CONCAT",
        'SELECT "a", MAX(n), name, 1 || 0 FROM thing GROUP BY n > 0',
        ("a", 2, "x", 1),
    ),
    "time_zone": ("+09:00", "SELECT CAST(FROM_UNIXTIME(86400) AS CHAR)", ("1970-01-02 00:00:00",)),
    "group_concat_max_len": (4, "SELECT GROUP_CONCAT(REPEAT('a', 20))", ("a" * 20,)),
    "div_precision_increment": (0, "SELECT CAST(1 / 3 AS CHAR)", ("0.3333",)),
    "default_week_format": (3, "SELECT WEEK('2023-01-01')", (1,)),
    "lc_time_names": ("de_DE", "SELECT DAYNAME('2023-01-01')", ("Sunday",)),
    "max_sort_length": (4, "SELECT @@max_sort_length", (1024,)),
    "sql_select_limit": (1, "SELECT COUNT(*) FROM (SELECT n FROM thing) AS t", (2,)),
}
"""By variable: a value that a server may have, a query that it changes, and the row that is right."""

POSTGRESQL: Mapping[str, tuple[str, str, object]] = {
    "DateStyle": ("German", "SELECT CAST(DATE '2023-02-01' AS text)", ("2023-02-01",)),
    "IntervalStyle": ("iso_8601", "SELECT CAST(INTERVAL '1 day' AS text)", ("1 day",)),
    "TimeZone": ("Asia/Tokyo", "SELECT CAST(TO_TIMESTAMP(0) AS text)", ("1970-01-01 00:00:00+00",)),
    "standard_conforming_strings": ("off", r"SELECT 'a\b'", (r"a\b",)),
    "transform_null_equals": ("on", "SELECT COUNT(*) FROM thing WHERE n = NULL", (0,)),
    "extra_float_digits": ("-15", "SELECT CAST(CAST(0.12 AS float8) AS text)", ("0.12",)),
    "search_path": ("pg_catalog", "SELECT COUNT(*) FROM thing", (2,)),
    "bytea_output": ("escape", r"SELECT CAST(CAST('\x41' AS bytea) AS text)", (r"\x41",)),
}


@pytest.fixture
def database(tmp_path: Path) -> Database:
    path = sqlite_file(
        tmp_path / "own.sqlite",
        "CREATE TABLE thing (n INTEGER PRIMARY KEY, name TEXT); INSERT INTO thing VALUES (1, 'x'), (2, 'y')",
    )
    return Database("bird_own_settings", "own", path, Profile.OFFICIAL)


@contextmanager
def of_mysql(server: Server, settings: Mapping[str, str | int]) -> Iterator[None]:
    """Change global variables of a server, and change them back."""
    with (
        closing(
            pymysql.connect(host=server.host, port=server.port, user=server.user, password=server.password)
        ) as connection,
        connection.cursor() as cursor,
    ):
        before = {}
        for name, value in settings.items():
            cursor.execute(f"SELECT @@GLOBAL.{name}")
            [[before[name]]] = cursor.fetchall()
            cursor.execute(f"SET GLOBAL {name} = %s", [value])
        try:
            yield
        finally:
            for name, value in before.items():
                cursor.execute(f"SET GLOBAL {name} = %s", [value])


@contextmanager
def of_postgresql(server: Server, name: str, settings: Mapping[str, str]) -> Iterator[None]:
    """Change the settings of a database of a server, and change them back."""
    with psycopg.connect(
        host=server.host, port=server.port, user=server.user, password=server.password, dbname="postgres",
        autocommit=True,
    ) as connection:  # fmt: skip
        target = compose.Identifier(name)
        for setting, value in settings.items():
            connection.execute(
                compose.SQL("ALTER DATABASE {} SET {} = {}").format(
                    target, compose.Identifier(setting), compose.Literal(value)
                )
            )
        try:
            yield
        finally:
            connection.execute(compose.SQL("ALTER DATABASE {} RESET ALL").format(target))


def row(engine: Engine, database: Database, text: str) -> object:
    found = execute(engine, database, text, Limits(seconds=30))
    assert found.ending is Ending.ROWS, f"{text}: {found.error}"
    return found.rows[0]


@pytest.mark.parametrize("server", [Dialect.MYSQL, Dialect.MARIADB], indirect=True)
def test_sessions_of_mysql_have_their_own(database: Database, server: Server) -> None:
    load([database], server)
    with of_mysql(server, {name: value for name, (value, _, _) in MYSQL.items()}):
        engine = on_server(server)
        for name, (_, text, expected) in MYSQL.items():
            assert row(engine, database, text) == expected, name
        told = engine.settings()
    assert told["time_zone"] == "+00:00"
    assert "ONLY_FULL_GROUP_BY" not in told["sql_mode"]
    assert unfit_settings(engine, server.dialect) == []


@pytest.mark.parametrize("server", [Dialect.POSTGRESQL], indirect=True)
def test_sessions_of_postgresql_have_their_own(database: Database, server: Server) -> None:
    load([database], server)
    name = database.postgresql_database
    with of_postgresql(server, name, {setting: value for setting, (value, _, _) in POSTGRESQL.items()}):
        engine = on_server(server)
        for setting, (_, text, expected) in POSTGRESQL.items():
            assert row(engine, database, text) == expected, setting
    assert engine.settings()["TimeZone"] == "UTC"


def test_what_no_session_can_change_is_told(mysql_server: Server) -> None:
    class Sensitive:
        def settings(self) -> Mapping[str, str]:
            return {**on_server(mysql_server).settings(), "lower_case_table_names": "0"}

    [told] = unfit_settings(Sensitive(), Dialect.MYSQL)  # type: ignore[arg-type]  # only its settings matter
    assert "lower_case_table_names = 1" in told
