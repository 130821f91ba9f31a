"""No prediction on DuckDB reaches beyond the database that it queries, or past its limits."""

from pathlib import Path

import pytest

from harness.data.sets.loader import load_set
from harness.engines import on_server
from harness.engines.execution import Ending, Limits, execute
from loaders.duckdb.session import file_of
from loaders.load import load
from loaders.namespace import Database
from loaders.server import Server
from tests.engines.hostile.duckdb_cases import REACHING

pytestmark = pytest.mark.engine

PROBE = (
    "SELECT count(*), current_setting('enable_external_access'), current_setting('lock_configuration')"
    " FROM Books"
)


@pytest.fixture(scope="module")
def library(duckdb_server: Server) -> Database:
    database = load_set("sample").database("city_library")
    load([database], duckdb_server)
    return database


def test_nothing_beyond_the_database_is_in_reach(
    duckdb_server: Server, library: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    secret = tmp_path / "secret.csv"
    secret.write_text("a\n1\n")
    found = [("a variable of this process",)]  # noqa: F841 - "FROM found" must not find it
    engine, loaded = on_server(duckdb_server), file_of(duckdb_server, library).read_bytes()
    probe = execute(engine, library, PROBE, Limits()).rows
    assert probe
    for text in REACHING:
        sql = text.replace("{file}", str(secret)).replace("{out}", str(tmp_path / "out"))
        seen = execute(engine, library, sql, Limits(seconds=10))
        assert seen.ending is Ending.ERROR or (seen.ending, seen.rows) == (Ending.ROWS, ()), (sql, seen)
        assert execute(engine, library, PROBE, Limits()).rows == probe, sql
    assert [path.name for path in tmp_path.iterdir()] == ["secret.csv"]
    assert file_of(duckdb_server, library).read_bytes() == loaded
