"""What the documentation says of MariaDB and MySQL: each row of its table is asked of both servers."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from dialects.enums import Dialect, Profile
from harness.engines import on_server
from harness.engines.base import SqlError
from loaders.bulk_load import load
from loaders.namespace import Database
from loaders.server import Server
from tests.sqlite_files import sqlite_file

pytestmark = [pytest.mark.engine, pytest.mark.thorough]

PAGE = Path(__file__).parents[2] / "docs/measurements/dialect-gap.md"
_ROW = re.compile(r"^\| [^|]+ \| `([^`]+)` \| `([^`]+)` \| `([^`]+)` \|$", re.MULTILINE)
ROWS = _ROW.findall(PAGE.read_text(encoding="utf-8").partition("### Where MariaDB differs")[2])
"""A statement, and what MySQL and MariaDB answer."""


@pytest.fixture(scope="module")
def servers(
    tmp_path_factory: pytest.TempPathFactory, mysql_server: Server, mariadb_server: Server
) -> tuple[Database, Mapping[Dialect, Server]]:
    path = sqlite_file(
        tmp_path_factory.mktemp("neighbours") / "zoo.sqlite",
        "CREATE TABLE animal (id INTEGER PRIMARY KEY, name TEXT);"
        "INSERT INTO animal VALUES (1, 'cat'), (2, 'hen'), (3, NULL);",
    )
    zoo = Database("bird_neighbours", "zoo", path, Profile.OFFICIAL)
    for server in (mysql_server, mariadb_server):
        load([zoo], server)
    return zoo, {Dialect.MYSQL: mysql_server, Dialect.MARIADB: mariadb_server}


def answer(server: Server, database: Database, sql: str) -> str:
    """Return the values of all rows, or the number of the error."""
    with on_server(server).session(database, 5) as session:
        try:
            rows = [row for batch in session.batches(sql) for row in batch]
        except SqlError as error:
            return f"error {error.code}"
    values = ("NULL" if value is None else str(value) for row in rows for value in row)
    return ", ".join(values) or "no rows"


@pytest.mark.parametrize(("sql", "mysql", "mariadb"), ROWS, ids=[sql for sql, _, _ in ROWS])
def test_both_servers_answer_as_the_page_says(
    servers: tuple[Database, Mapping[Dialect, Server]], sql: str, mysql: str, mariadb: str
) -> None:
    zoo, of = servers
    assert [answer(of[dialect], zoo, sql) for dialect in of] == [mysql, mariadb]
