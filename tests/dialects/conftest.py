from collections.abc import Callable, Iterator

import pytest

from loaders.bulk_load import load
from loaders.namespace import Database
from loaders.server import Server
from tests.loaders.servers import drop


@pytest.fixture(scope="module")
def stand() -> Iterator[Callable[[Server, Database], None]]:
    """Have a database of the module stand on a server: loaded by the first test, dropped after the last."""
    standing: set[tuple[Server, Database]] = set()

    def once(server: Server, database: Database) -> None:
        if (server, database) not in standing:
            load([database], server, escape=True)
            standing.add((server, database))

    yield once
    for server, database in standing:
        drop(server, database.collection)
