"""Names are quoted and qualified only where a target would read them otherwise."""

from collections.abc import Callable
from contextlib import closing
from typing import Any

import duckdb
import pytest

from dialects.enums import Dialect
from dialects.plain_names import _RESERVED
from dialects.schema import Schema
from dialects.translation import translate
from loaders.file_census import census
from loaders.server import Server, sessions
from tests.sqlite_files import sqlite_file

DATA = """
CREATE TABLE Player (id INTEGER PRIMARY KEY, name TEXT, "rank" INTEGER, "Full Name" TEXT);
CREATE TABLE "match" (id INTEGER PRIMARY KEY, player INTEGER REFERENCES Player, goals INTEGER);
"""
CASES = (
    (
        "SELECT name, p.rank FROM Player p",
        "SELECT name, `rank` FROM player AS p",
        'SELECT name, "rank" FROM player AS p',
    ),
    (
        "SELECT [Full Name] FROM Player WHERE id IN (SELECT player FROM Match WHERE goals > Player.id)",
        "SELECT `Full Name` FROM player WHERE id IN (SELECT player FROM `match` WHERE goals > player.id)",
        'SELECT "Full Name" FROM player WHERE id IN (SELECT player FROM "match" WHERE goals > Player.id)',
    ),
    (
        "SELECT T1.name FROM Player T1 JOIN Match T2 ON T1.id = T2.player",
        "SELECT t1.name FROM player AS t1 JOIN `match` AS t2 ON t1.id = t2.player",
        'SELECT T1.name FROM player AS T1 JOIN "match" AS T2 ON T1.id = T2.player',
    ),
    (
        # ORDER BY reads the alias first, and so does HAVING of MySQL.
        "SELECT -id AS goals FROM Match GROUP BY id, Match.goals HAVING Match.goals > 1",
        "SELECT -id AS goals FROM `match` GROUP BY id, `match`.goals HAVING MIN(`match`.goals) > 1",
        'SELECT -id AS goals FROM "match" AS "Match" GROUP BY id, "Match".goals HAVING "Match".goals > 1',
    ),
    (
        # A result keeps its names.
        "SELECT name AS Name, COUNT(*) AS Goals FROM Player GROUP BY name",
        "SELECT name AS Name, COUNT(*) AS Goals FROM player GROUP BY name",
        'SELECT name AS "Name", COUNT(*) AS "Goals" FROM player GROUP BY name',
    ),
    (
        # PostgreSQL would sort by the cast, which it gives the column's name.
        "SELECT CAST(name AS INTEGER) FROM Player ORDER BY name LIMIT 1",
        "SELECT bird_sqlite.to_integer(name) FROM player ORDER BY player.name, player.id LIMIT 1",
        "SELECT bird_sqlite.to_integer(name) FROM player ORDER BY Player.name, Player.ctid LIMIT 1",
    ),
)


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> Schema:
    path = sqlite_file(tmp_path_factory.mktemp("names") / "names.sqlite", DATA)
    return census(path)


@pytest.mark.parametrize(("sql", "mysql", "postgresql"), CASES)
def test_names_are_written_in_full_only_where_they_must(
    schema: Schema, sql: str, mysql: str, postgresql: str
) -> None:
    assert translate(sql, schema, Dialect.MYSQL).sql == mysql
    assert translate(sql, schema, Dialect.POSTGRESQL).sql == postgresql


_FORMS = (
    "SELECT {w} FROM (SELECT 7 AS {w}) AS t WHERE {w} = 7 ORDER BY {w}",
    "SELECT {w}.a FROM (SELECT 7 AS a) AS {w} WHERE {w}.a IN (7)",
    "WITH {w} AS (SELECT 7 AS a) SELECT a FROM {w}",
    "SELECT CASE WHEN {w} = 7 THEN {w} ELSE {w} END, -{w}, SUM({w}) FROM (SELECT 7 AS {w}) AS t GROUP BY {w}",
)
_KEYWORDS = {
    Dialect.MYSQL: "SELECT word FROM information_schema.keywords",
    Dialect.MARIADB: "SELECT word FROM information_schema.keywords",
    Dialect.POSTGRESQL: "SELECT word FROM pg_get_keywords()",
    Dialect.DUCKDB: "SELECT keyword_name FROM duckdb_keywords()",
}


@pytest.mark.engine
def test_every_word_that_an_engine_reads_otherwise_keeps_its_quotes(server: Server) -> None:
    def wrong(ask: Callable[[str], list[tuple[Any, ...]]]) -> list[str]:
        words = {str(word).lower() for [word] in ask(_KEYWORDS[server.dialect])} | _RESERVED
        assert len(words) > len(_RESERVED)
        bare = [word for word in sorted(words - _RESERVED) if word.isidentifier()]
        return [word for word in bare if any(ask(form.format(w=word))[0][0] != 7 for form in _FORMS)]

    if server.dialect is Dialect.DUCKDB:
        with closing(duckdb.connect()) as embedded:
            assert wrong(lambda sql: embedded.execute(sql).fetchall()) == []
        return
    driver = sessions(server.dialect)
    with driver.connected(server) as connection:
        assert wrong(lambda sql: driver.ask(connection, sql)) == []
