from pathlib import Path

import pytest

from dialects.enums import Dialect
from harness.analyses.conformance.comparison import Checker
from harness.engines import on_server
from loaders.load import load
from loaders.namespace import Database
from loaders.server import Server
from tests.fuzz.campaign import LIMITS
from tests.fuzz.catalog import Catalog, catalog
from tests.fuzz.databases import databases


@pytest.fixture(scope="session")
def places(tmp_path_factory: pytest.TempPathFactory) -> list[Database]:
    return databases(Path(tmp_path_factory.mktemp("fuzz")))


@pytest.fixture(scope="session")
def catalogs(places: list[Database]) -> list[Catalog]:
    """The odd database first."""
    return [catalog(place) for place in places]


@pytest.fixture(scope="session")
def checker(places: list[Database], mysql_server: Server, postgresql_server: Server) -> Checker:
    for server in (mysql_server, postgresql_server):
        load(places, server)
    return Checker(
        {Dialect.MYSQL: on_server(mysql_server), Dialect.POSTGRESQL: on_server(postgresql_server)}, LIMITS
    )
