"""What a text's rows do to the driver is that text's error, and nobody else's."""

from collections.abc import Mapping

import pytest

from dialects.enums import Dialect
from harness.data.sets.loader import load_set
from harness.engines import on_server
from harness.engines.base import Engine
from harness.engines.execution import Ending, Limits, execute
from harness.engines.retry import execute_patiently
from harness.engines.sqlite.engine import SQLiteEngine
from loaders.bulk_load import load
from loaders.namespace import Database
from loaders.server import Server
from tests.engines.hostile.families import VALUES

pytestmark = pytest.mark.engine

PROBES: Mapping[Dialect, str] = {
    Dialect.SQLITE: "SELECT 1, 'é'",
    Dialect.MYSQL: "SELECT 'é', CAST('2020-01-31' AS DATE), @@sql_mode, @@character_set_results",
    Dialect.POSTGRESQL: "SELECT 'é', interval '1 year', timestamptz '2020-01-01', '[1]'::json,"
    " current_setting('DateStyle'), current_setting('TimeZone'),"
    " current_setting('client_encoding'), current_setting('bytea_output')",
    Dialect.MARIADB: "SELECT 'é', CAST('2020-01-31' AS DATE), @@sql_mode, @@character_set_results",
    Dialect.DUCKDB: "SELECT 'é', date '2020-01-31', interval '1 year', current_setting('TimeZone')",
}  # fmt: skip


@pytest.fixture(params=list(Dialect))
def found(request: pytest.FixtureRequest) -> tuple[Dialect, Server | None]:
    """Each engine in turn, with the sample's databases."""
    dialect: Dialect = request.param
    if dialect is Dialect.SQLITE:
        return dialect, None
    server: Server = request.getfixturevalue(f"{dialect}_server")
    questions = load_set("sample")
    load([questions.database(db_id) for db_id in questions.db_ids], server)
    return dialect, server


def _database() -> Database:
    questions = load_set("sample")
    return questions.database(questions.db_ids[0])


def test_a_value_that_cannot_be_read_is_an_error_of_its_text_alone(
    found: tuple[Dialect, Server | None],
) -> None:
    dialect, server = found
    engine: Engine = SQLiteEngine(pooled=True) if server is None else on_server(server)
    database, limits = _database(), Limits(seconds=10)
    alone = execute(engine, database, PROBES[dialect], limits)
    assert alone.ending is Ending.ROWS
    for case in VALUES[dialect]:
        seen = execute_patiently(engine, database, case.sql, limits)
        assert seen.ending in case.endings, (case.sql[:200], seen)
        assert (seen.error or "").count("\n") == 0
        assert execute(engine, database, PROBES[dialect], limits).rows == alone.rows, case.sql[:200]
