"""The same golds on three engines: what each calls a tie decides which predictions are right."""

from collections.abc import Sequence

import pytest

from dialects.enums import Dialect, Profile
from dialects.translation import translate
from harness.engines import on_server
from harness.engines.base import Engine
from harness.engines.execution import Ending, Execution, Limits, execute
from harness.engines.sqlite.engine import SQLiteEngine
from harness.metrics.accuracy import ex_strict_of
from harness.metrics.distinct import Row
from harness.scoring.ties import answers
from loaders.bulk_load import load
from loaders.file_census import census
from loaders.namespace import Database
from loaders.server import Server
from tests.every_engine import LOADED
from tests.sqlite_files import sqlite_file

SERVERS = LOADED

pytestmark = [pytest.mark.engine, pytest.mark.thorough]

SCRIPT = """
CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT, goals INTEGER, share REAL, founded DATE);
INSERT INTO team VALUES
  (1,'ant',5,0.5,'2001-01-01'), (2,'Bee',7,0.1,'2002-02-02'), (3,'bee',7,0.3,'2002-02-02'),
  (4,'cat',7,0.3,'2004-04-04'), (5,'dog',NULL,0.2,NULL);
CREATE TABLE player (id INTEGER PRIMARY KEY, team INTEGER, name TEXT);
INSERT INTO player VALUES (1,2,'x'),(2,3,'y'),(3,4,'z'),(4,1,'w');
"""

ALL = frozenset(Dialect)
NONE: frozenset[Dialect] = frozenset()
SQLITE, POSTGRESQL = frozenset({Dialect.SQLITE}), frozenset({Dialect.POSTGRESQL})
DUCKDB = frozenset({Dialect.DUCKDB})
MYSQL = frozenset({Dialect.MYSQL, Dialect.MARIADB})

Case = tuple[str, frozenset[Dialect], Sequence[tuple[Sequence[Row], frozenset[Dialect]]]]
"""A gold, the dialects that it is written for, and predicted rows with the dialects where they are right."""


def best(columns: str, rest: str) -> str:
    return f"SELECT {columns} FROM team WHERE goals IS NOT NULL ORDER BY {rest}"


SCALAR = f"SELECT name FROM player WHERE team = ({best('id', 'goals DESC LIMIT 1')})"

CASES: Sequence[Case] = [
    (best("id", "goals DESC LIMIT 1"), ALL, [
        ([(2,)], ALL), ([(3,)], ALL), ([(4,)], ALL), ([(1,)], NONE), ([], NONE), ([(2,), (3,)], NONE),
    ]),
    (best("id", "goals DESC LIMIT 2"), ALL, [
        ([(4,), (2,)], ALL), ([(4,), (4,)], NONE), ([(4,), (1,)], NONE),
    ]),
    (best("id", "goals DESC LIMIT 1 OFFSET 1"), ALL, [([(4,)], ALL), ([(1,)], NONE)]),
    (best("id", "goals DESC LIMIT 1, 1"), SQLITE | MYSQL, [([(4,)], ALL), ([(1,)], NONE)]),
    (best("id", "goals DESC FETCH FIRST 2 ROWS ONLY"), POSTGRESQL, [([(4,), (3,)], ALL), ([(4,)], NONE)]),
    (best("id", "goals DESC"), ALL, [
        ([(4,), (3,), (2,), (1,)], ALL), ([(4,), (3,), (1,), (2,)], NONE), ([(4,), (3,), (2,)], NONE),
    ]),
    ("SELECT id FROM team LIMIT 2", ALL, [([(5,), (1,)], ALL), ([(5,), (6,)], NONE), ([(5,)], NONE)]),
    ("SELECT id FROM team ORDER BY goals LIMIT 1", ALL, [
        ([(5,)], SQLITE | MYSQL), ([(1,)], POSTGRESQL | DUCKDB),
    ]),
    ("SELECT id FROM team ORDER BY goals DESC LIMIT 1", ALL, [
        ([(5,)], POSTGRESQL), ([(3,)], SQLITE | MYSQL | DUCKDB),
    ]),
    ("SELECT id FROM team ORDER BY goals DESC NULLS LAST LIMIT 1", SQLITE | POSTGRESQL, [([(3,)], ALL)]),
    ("SELECT id FROM team ORDER BY goals NULLS FIRST, id LIMIT 1", SQLITE | POSTGRESQL, [([(1,)], NONE)]),
    ("SELECT name FROM team ORDER BY name", ALL, [
        ([("ant",), ("bee",), ("Bee",), ("cat",), ("dog",)], MYSQL),
        ([("ant",), ("Bee",), ("bee",), ("cat",), ("dog",)], MYSQL),
        ([("Bee",), ("ant",), ("bee",), ("cat",), ("dog",)], ALL - MYSQL),
    ]),
    ("SELECT name FROM team ORDER BY name DESC LIMIT 3", ALL, [
        ([("dog",), ("cat",), ("Bee",)], MYSQL),
        ([("dog",), ("cat",), ("bee",)], ALL),
        ([("dog",), ("cat",), ("ant",)], NONE),
    ]),
    ("SELECT id FROM team ORDER BY name COLLATE NOCASE LIMIT 2", SQLITE, [([(1,), (3,)], ALL)]),
    ("SELECT id FROM team ORDER BY LOWER(name) LIMIT 2", ALL, [([(1,), (3,)], ALL), ([(3,), (1,)], NONE)]),
    (best("id, goals", "2 DESC LIMIT 1"), ALL, [([(4, 7)], ALL), ([(1, 5)], NONE)]),
    (best("id, goals AS g", "g DESC LIMIT 1"), ALL, [([(4, 7)], ALL), ([(1, 5)], NONE)]),
    (best("id, goals AS g", "g * 2 DESC LIMIT 1"), SQLITE | MYSQL, [([(4, 7)], ALL), ([(1, 5)], NONE)]),
    (best("id", "goals * 2 DESC LIMIT 1"), ALL, [([(4,)], ALL), ([(1,)], NONE)]),
    (best("id", "CASE WHEN goals > 6 THEN 1 ELSE 0 END DESC LIMIT 1"), ALL, [([(4,)], ALL), ([(1,)], NONE)]),
    (best("id", "share * 3 DESC LIMIT 2"), ALL, [([(1,), (4,)], ALL), ([(4,), (1,)], NONE)]),
    (best("id", "founded DESC LIMIT 2"), ALL, [([(4,), (2,)], ALL), ([(4,), (1,)], NONE)]),
    (best("id, 1 AS k", "k LIMIT 1"), ALL, [([(4, 1)], ALL), ([(5, 1)], NONE)]),
    ("SELECT * FROM player ORDER BY team > 1 DESC LIMIT 1", ALL, [
        ([(3, 4, "z")], ALL), ([(4, 1, "w")], NONE),
    ]),
    ("SELECT goals, COUNT(*) FROM team GROUP BY goals ORDER BY COUNT(*) LIMIT 1", ALL, [
        ([(None, 1)], ALL), ([(5, 1)], ALL), ([(7, 3)], NONE),
    ]),
    ("SELECT goals, COUNT(*) AS n FROM team GROUP BY goals HAVING COUNT(*) < 3 ORDER BY n LIMIT 1", ALL, [
        ([(None, 1)], ALL), ([(5, 1)], ALL), ([(7, 3)], NONE),
    ]),
    # DuckDB returns a single as the double that it is, and 0.3 is none.
    ("SELECT DISTINCT goals, share FROM team WHERE id > 1 AND id < 5 ORDER BY goals LIMIT 1", ALL - DUCKDB, [
        ([(7, 0.3)], ALL), ([(7, 0.1)], ALL), ([(5, 0.5)], NONE),
    ]),
    ("SELECT DISTINCT LOWER(name) FROM team WHERE id > 1 ORDER BY goals DESC LIMIT 1", SQLITE | MYSQL, [
        ([("cat",)], ALL), ([("bee",)], ALL), ([("dog",)], NONE),
    ]),
    ("SELECT DISTINCT ON (goals) goals, id FROM team ORDER BY goals, id LIMIT 1", POSTGRESQL, [
        ([(5, 1)], ALL), ([(7, 2)], NONE),
    ]),
    ("SELECT id, 7 AS g FROM player UNION ALL SELECT 5, 6 ORDER BY g DESC LIMIT 1", ALL, [
        ([(4, 7)], ALL), ([(5, 6)], NONE),
    ]),
    ("SELECT goals FROM team UNION SELECT 9 ORDER BY 1 LIMIT 1 OFFSET 1", SQLITE | MYSQL, [([(5,)], ALL)]),
    (best("id, RANK() OVER (ORDER BY goals DESC) AS place", "place LIMIT 1"), ALL, [
        ([(4, 1)], ALL), ([(2, 1)], ALL), ([(1, 4)], NONE),
    ]),
    (best("id", "(SELECT COUNT(*) FROM player WHERE team = team.id) LIMIT 1"), ALL, [([(4,)], ALL)]),
    ("WITH good AS (SELECT * FROM team WHERE goals > 6) SELECT id FROM good ORDER BY goals LIMIT 1", ALL, [
        ([(4,)], ALL), ([(2,)], ALL), ([(1,)], NONE),
    ]),
    (SCALAR, ALL, [
        ([("x",)], ALL), ([("y",)], ALL), ([("z",)], ALL), ([("w",)], NONE), ([("x",), ("y",)], NONE),
    ]),
    (f"{SCALAR} ORDER BY name LIMIT 1", ALL, [([("z",)], ALL), ([("w",)], NONE)]),
    (f"SELECT COUNT(*), MAX(id) FROM ({best('id', 'goals DESC LIMIT 1')}) AS t", ALL, [
        ([(1, 2)], ALL), ([(1, 4)], ALL), ([(1, 1)], NONE), ([(2, 4)], NONE),
    ]),
    (f"WITH t AS ({best('id', 'goals DESC LIMIT 1')}) SELECT name FROM player JOIN t ON team = t.id", ALL, [
        ([("x",)], ALL), ([("z",)], ALL), ([("w",)], NONE),
    ]),
    (f"SELECT * FROM ({best('id', 'goals DESC LIMIT 1')}) AS t UNION ALL SELECT 9", ALL, [
        ([(4,), (9,)], ALL), ([(9,), (2,)], ALL), ([(1,), (9,)], NONE),
    ]),
]  # fmt: skip


@pytest.fixture(scope="session")
def teams(tmp_path_factory: pytest.TempPathFactory) -> Database:
    path = sqlite_file(tmp_path_factory.mktemp("ties") / "ties.sqlite", SCRIPT)
    return Database("bird_tie_tests", "ties", path)


def engine_of(dialect: Dialect, request: pytest.FixtureRequest, database: Database) -> Engine:
    if dialect is Dialect.SQLITE:
        return SQLiteEngine()
    server: Server = request.getfixturevalue(f"{dialect}_server")
    load([database], server)
    return on_server(server)


@pytest.mark.parametrize(
    ("dialect", "sql", "predictions"),
    [(dialect, sql, predictions) for dialect in Dialect for sql, written_for, predictions in CASES
     if dialect in written_for],
)  # fmt: skip
def test_a_prediction_is_right_if_the_engine_calls_it_a_tie(
    request: pytest.FixtureRequest,
    teams: Database,
    dialect: Dialect,
    sql: str,
    predictions: Sequence[tuple[Sequence[Row], frozenset[Dialect]]],
) -> None:
    engine = engine_of(dialect, request, teams)

    def run(text: str) -> Execution:
        return execute(engine, teams, text, Limits())

    gold = run(sql)
    assert gold.ending is Ending.ROWS, gold.error
    found = answers(sql, dialect, run, gold.rows)
    assert ex_strict_of(gold.rows, gold.rows, lambda: found) == 1.0
    got = [bool(ex_strict_of(rows, gold.rows, lambda: found)) for rows, _ in predictions]
    assert got == [dialect in right for _, right in predictions]


def test_a_translated_gold_has_the_ties_of_its_source(server: Server, teams: Database) -> None:
    faithful = Database(teams.collection, teams.db_id, teams.sqlite_path, Profile.FAITHFUL)
    load([faithful], server)
    source = best("id", "goals DESC LIMIT 1")
    text = translate(source, census(teams.sqlite_path), server.dialect).sql
    gold = execute(on_server(server), faithful, text, Limits())
    found = answers(
        source, Dialect.SQLITE, lambda sql: execute(SQLiteEngine(), faithful, sql, Limits()), gold.rows
    )
    assert [ex_strict_of([(n,)], gold.rows, lambda: found) for n in range(1, 6)] == [0.0, 1.0, 1.0, 1.0, 0.0]
