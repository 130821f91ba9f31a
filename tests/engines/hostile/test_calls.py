"""A slice of `benchmarks.hostile_calls`: each is judged, and reaches nothing beyond its text."""

import pytest

from benchmarks.hostile_calls import campaign
from dialects.enums import Dialect
from harness.provision import dsn
from loaders.server import Origin, Server

pytestmark = pytest.mark.engine

SERVERS = [Dialect.DUCKDB, Dialect.MARIADB, Dialect.MYSQL]
COUNT = 160


@pytest.mark.parametrize("server", SERVERS, indirect=True)
def test_no_call_of_a_function_reaches_beyond_its_text(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    if server.origin is not Origin.EMBEDDED:
        monkeypatch.setenv("BIRD_PROVISION", Origin.DSN)
        address = f"{server.dialect}://{server.user}:{server.password}@{server.address}"
        monkeypatch.setenv(dsn.variable(server.dialect), address)
    found = campaign(Dialect(server.dialect), COUNT, seed=1, seconds=2.0, workers=1)
    assert (found.unjudged, found.changed, found.other) == ([], [], [])
    assert found.outcomes.total() == COUNT
