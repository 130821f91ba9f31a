from pathlib import Path

import pytest

from dialects.enums import Dialect
from harness.engines import on_server
from harness.engines.base import Engine
from harness.labs.conformance.comparison import Checker
from loaders.bulk_load import load
from loaders.namespace import Database
from loaders.server import Server
from tests.every_engine import LOADED
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
def checker(places: list[Database], request: pytest.FixtureRequest) -> Checker:
    engines: dict[Dialect, Engine] = {}
    for dialect in LOADED:
        server: Server = request.getfixturevalue(f"{dialect}_server")
        load(places, server)
        engines[dialect] = on_server(server)
    return Checker(engines, LIMITS)
