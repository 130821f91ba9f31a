"""What a statement can do on a real server, and what the harness makes of it."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal

import pytest

from dialects.enums import Dialect
from harness.engines import on_server
from harness.engines.base import EngineLost
from harness.engines.execution import Ending, Execution, Limits, execute
from loaders.bulk_load import load
from loaders.namespace import Database
from loaders.server import Server
from tests.sqlite_files import sqlite_file

pytestmark = pytest.mark.engine

COLLECTION = "bird_engine_tests"
LIMITS = Limits(seconds=1.0, rows=2500)


@pytest.fixture(scope="session")
def animals(tmp_path_factory: pytest.TempPathFactory) -> Database:
    path = sqlite_file(
        tmp_path_factory.mktemp("zoo") / "zoo.sqlite",
        'CREATE TABLE "Animal" ("Name" TEXT, legs INTEGER, born DATE, "Top Speed" REAL)',
        animal=[("cat", 4, "2019-02-28", 47.5), ("Émile", 2, None, None), ("hen", 2, "2020-02-29", 14.0)],
    )
    return Database(COLLECTION, "zoo", path)


def run(server: Server, database: Database, sql: str, limits: Limits = LIMITS) -> Execution:
    load([database], server)
    return execute(on_server(server), database, sql, limits)


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT Name, legs FROM Animal WHERE legs > 2", [("cat", 4)]),
        ("select NAME from ANIMAL where born is null", [("Émile",)]),
        ("SELECT born FROM animal WHERE name = 'hen'", [(date(2020, 2, 29),)]),
        ("SELECT 1.50, 'it''s 100%', NULL", [(Decimal("1.50"), "it's 100%", None)]),
        ("SELECT AVG(legs) FROM animal WHERE legs = 2", [(2,)]),
        ("SELECT 1 WHERE 1 = 0", []),
        ("SELECT name FROM animal ORDER BY 1 LIMIT 1;", [("cat",)]),
    ],
)
def test_rows_come_back_as_the_official_drivers_return_them(
    server: Server, animals: Database, sql: str, rows: Sequence[tuple[object, ...]]
) -> None:
    execution = run(server, animals, sql)
    assert (execution.ending, execution.error) == (Ending.ROWS, None)
    assert list(execution.rows) == rows


SLEEP: Mapping[Dialect, str] = {
    Dialect.MYSQL: "SELECT COUNT(*) FROM information_schema.columns a, information_schema.columns b, "
    "information_schema.columns c",
    Dialect.POSTGRESQL: "SELECT pg_sleep(60)",
}


def test_a_statement_that_takes_too_long_is_stopped_by_the_server(server: Server, animals: Database) -> None:
    execution = run(server, animals, SLEEP[server.dialect])
    assert execution.ending is Ending.TIMEOUT
    assert execution.code in ("57014", "3024")


@pytest.mark.parametrize(
    ("dialect", "sql"),
    [
        (Dialect.POSTGRESQL, "SET statement_timeout = 0; SELECT pg_sleep(60)"),
        (Dialect.MYSQL, "SELECT /*+ MAX_EXECUTION_TIME(60000) */ SLEEP(60)"),
    ],
)
def test_a_statement_that_the_servers_limit_does_not_reach_is_stopped_by_the_client(
    request: pytest.FixtureRequest, animals: Database, dialect: Dialect, sql: str
) -> None:
    server: Server = request.getfixturevalue(f"{dialect}_server")
    execution = run(server, animals, sql)
    assert execution.seconds < 30
    assert execution.ending is Ending.TIMEOUT


def test_a_result_that_is_too_large_is_stopped(server: Server, animals: Database) -> None:
    generated = "SELECT a.n FROM (VALUES {}) AS a(n), (VALUES {}) AS b(n), (VALUES {}) AS c(n)"
    one = "ROW({})" if server.dialect is Dialect.MYSQL else "({})"
    values = ", ".join(one.format(n) for n in range(100))
    sql = generated.format(values, values, values)
    execution = run(server, animals, sql, Limits(seconds=30, rows=2500))
    assert (execution.ending, execution.rows) == (Ending.TOO_LARGE, ())
    assert execution.seconds < 30


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT array_agg(g) FROM generate_series(1, 300000) g",
        "SELECT array_agg(ARRAY[g, g]) FROM generate_series(1, 100000) g",
        "SELECT array_agg(g::numeric) FROM generate_series(1, 300000) g",
        "SELECT array_agg(g = 1) FROM generate_series(1, 300000) g",
        "SELECT array_agg(int4range(g, g + 2)) FROM generate_series(1, 100000) g",
        "SELECT range_agg(int4range(3 * g, 3 * g + 1)) FROM generate_series(1, 100000) g",
        "SELECT array_agg(ROW(g, g)) FROM generate_series(1, 100000) g",
        "SELECT jsonb_agg(g) FROM generate_series(1, 200000) g",
        "SELECT 10::numeric ^ 100000 + g FROM generate_series(1, 30) g",
    ],
)
def test_nested_values_of_postgresql_are_too_large(
    postgresql_server: Server, animals: Database, sql: str
) -> None:
    execution = run(postgresql_server, animals, sql, Limits(seconds=30, bytes=2**20))
    assert execution.ending is Ending.TOO_LARGE
    assert run(postgresql_server, animals, sql, Limits(seconds=30)).ending is Ending.ROWS


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO animal VALUES ('x', 1, NULL, NULL)",
        "UPDATE animal SET legs = 3",
        "DELETE FROM animal",
        "DROP TABLE animal",
        "CREATE TABLE more (a INTEGER)",
        "CREATE TEMPORARY TABLE more (a INTEGER)",
        "SELECT * FROM bird_harness.loaded",
        "SELEC 1",
        "",
        "```sql\nSELECT 1\n```",
        "SELECT nothing FROM animal",
    ],
)
def test_what_is_no_query_is_an_error_and_changes_nothing(
    server: Server, animals: Database, sql: str
) -> None:
    execution = run(server, animals, sql)
    assert execution.ending is Ending.ERROR
    assert execution.error
    count = run(server, animals, "SELECT COUNT(*), SUM(legs) FROM animal")
    assert count.rows == ((3, 8),)


def test_postgresql_returns_the_last_of_several_statements_and_mysql_refuses_them(
    server: Server, animals: Database
) -> None:
    execution = run(server, animals, "SELECT 1; SELECT 2")
    if server.dialect is Dialect.POSTGRESQL:
        assert execution.rows == ((2,),)
    else:
        assert execution.code == "1064"


def test_types_that_psycopg2_does_not_know_come_back_as_text(
    postgresql_server: Server, animals: Database
) -> None:
    sql = (
        "SELECT '7d444840-9dc0-11d1-b245-5ffdce74fad2'::uuid, '10.0.0.1'::inet, ROW(1, 'a'), "
        "int4range(1, 3), INTERVAL '1 month', 1.5::float4, TRUE"
    )
    expected = (
        "7d444840-9dc0-11d1-b245-5ffdce74fad2", "10.0.0.1", "(1,a)", "[1,3)", timedelta(days=30), 1.5, True,
    )  # fmt: skip
    assert run(postgresql_server, animals, sql).rows == (expected,)


def test_the_settings_that_decide_results_are_as_documented(server: Server) -> None:
    settings = on_server(server).settings()
    if server.dialect is Dialect.MYSQL:
        assert "ONLY_FULL_GROUP_BY" not in settings["sql_mode"]
        assert settings["lower_case_table_names"] == "1"
        assert settings["time_zone"] == "+00:00"
    else:
        assert settings["TimeZone"] == "UTC"
        assert settings["max_parallel_workers_per_gather"] == "0"
        assert settings["jit"] == "off"
        assert settings["lc_collate"] == "C"


def test_a_database_that_is_not_loaded_is_the_harness_fault_and_says_so(
    server: Server, animals: Database
) -> None:
    load([animals], server)
    other = Database("bird_not_loaded", "zoo", animals.sqlite_path)
    with pytest.raises(EngineLost, match="bird_not_loaded"):
        execute(on_server(server), other, "SELECT 1", LIMITS)
