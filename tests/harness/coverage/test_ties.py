from collections.abc import Sequence
from pathlib import Path

import pytest

from dialects.enums import Dialect
from harness.analyses.coverage.comparison import are_in_order, is_valid
from harness.engines.execution import Execution, Limits, execute
from harness.engines.sqlite.engine import SQLiteEngine
from harness.metrics.distinct import Row
from harness.scoring.ties import is_ordered
from loaders.namespace import Database
from tests.sqlite_files import sqlite_file

SCRIPT = """
CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT, goals INTEGER, share REAL);
INSERT INTO team VALUES
  (1,'a',5,0.5), (2,'b',7,0.1), (3,'c',7,0.30000000000000004), (4,'c',7,0.3), (5,'d',NULL,0.2);
CREATE TABLE player (id INTEGER PRIMARY KEY, team INTEGER, name TEXT);
INSERT INTO player VALUES (1,2,'x'),(2,3,'y'),(3,4,'z'),(4,1,'w');
"""


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Database:
    path = sqlite_file(tmp_path_factory.mktemp("ties") / "ties.sqlite", SCRIPT)
    return Database("ties", "ties", Path(path))


def valid(database: Database, sql: str, rows: Sequence[Row]) -> bool:
    def run(text: str) -> Execution:
        return execute(SQLiteEngine(), database, text, Limits())

    return is_valid(sql, rows, run)


@pytest.mark.parametrize(
    ("sql", "rows", "expected"),
    [
        ("SELECT id FROM team ORDER BY goals DESC LIMIT 1", [(3,)], True),
        ("SELECT id FROM team ORDER BY goals DESC LIMIT 1", [(1,)], False),
        ("SELECT id FROM team ORDER BY goals DESC LIMIT 1", [], False),
        ("SELECT id FROM team ORDER BY goals DESC LIMIT 2", [(4,), (2,)], True),
        ("SELECT id FROM team ORDER BY goals DESC LIMIT 2", [(4,), (4,)], False),
        ("SELECT name FROM team ORDER BY goals DESC LIMIT 2", [("c",), ("c",)], True),
        ("SELECT name FROM team ORDER BY goals DESC LIMIT 3", [("c",), ("c",), ("c",)], False),
        ("SELECT id FROM team ORDER BY goals DESC LIMIT 4", [(4,), (3,), (2,), (1,)], True),
        ("SELECT id FROM team ORDER BY goals DESC LIMIT 4", [(1,), (4,), (3,), (2,)], False),
        ("SELECT id FROM team ORDER BY goals DESC LIMIT 1 OFFSET 1", [(2,)], True),
        ("SELECT id FROM team ORDER BY goals DESC LIMIT 1, 2", [(2,), (4,)], True),
        ("SELECT id FROM team ORDER BY goals DESC LIMIT 3, 1", [(2,)], False),
        ("SELECT id FROM team ORDER BY goals DESC LIMIT 9, 1", [], True),
        ("SELECT id FROM team ORDER BY goals DESC LIMIT -1", [(4,), (2,), (3,), (1,), (5,)], True),
        ("SELECT id FROM team ORDER BY goals LIMIT 1", [(1,)], False),
        ("SELECT id FROM team ORDER BY share LIMIT 4", [(2,), (5,), (3,), (4,)], True),
        ("SELECT id FROM team LIMIT 2", [(5,), (1,)], True),
        ("SELECT id FROM team LIMIT 2", [(5,), (6,)], False),
        ("SELECT id, goals AS g FROM team ORDER BY g DESC LIMIT 1", [(3, 7)], True),
        ("SELECT id, goals FROM team ORDER BY 2 DESC LIMIT 1", [(3, 7)], True),
        ("SELECT * FROM team ORDER BY goals DESC LIMIT 1", [(2, "b", 7, 0.1)], True),
        ("SELECT name, COUNT(*) FROM team GROUP BY name ORDER BY COUNT(*) LIMIT 1", [("d", 1)], True),
        ("SELECT name, COUNT(*) FROM team GROUP BY name ORDER BY COUNT(*) DESC LIMIT 1", [("d", 1)], False),
        ("SELECT DISTINCT name, goals FROM team ORDER BY goals DESC LIMIT 1", [("c", 7)], True),
        ("SELECT DISTINCT name FROM team ORDER BY goals DESC LIMIT 1", [("c",)], True),
        ("SELECT DISTINCT name FROM team ORDER BY goals DESC LIMIT 1", [("a",)], False),
        ("SELECT DISTINCT name FROM team ORDER BY id DESC LIMIT 1", [("d",)], False),
        ("SELECT name FROM team UNION SELECT 'e' ORDER BY 1 LIMIT 1", [("b",)], False),
        ("SELECT id, 1 AS k FROM team UNION ALL SELECT 9, 1 ORDER BY k LIMIT 1", [(9, 1)], True),
        ("SELECT 'a' AS n UNION ALL SELECT 'A' ORDER BY n COLLATE NOCASE", [("A",), ("a",)], True),
        ("SELECT 'A' AS n UNION ALL SELECT 'a' ORDER BY n", [("a",), ("A",)], False),
        (
            "SELECT 'z' AS n UNION ALL SELECT 'a' COLLATE NOCASE UNION ALL SELECT 'A' ORDER BY n",
            [("a",), ("A",), ("z",)],
            True,
        ),
        (
            "SELECT 'x' UNION ALL SELECT name AS k FROM team WHERE id = 1 ORDER BY k || k",
            [("x",), ("a",)],
            False,
        ),
        ("SELECT 7, 1 UNION ALL SELECT id, 1 AS k FROM team WHERE id = 1 ORDER BY k", [(1, 1), (7, 1)], True),
        ("SELECT id FROM team ORDER BY goals DESC", [(4,), (3,), (2,), (1,), (5,)], True),
        ("SELECT id FROM team ORDER BY goals DESC", [(4,), (3,), (1,), (2,), (5,)], False),
        ("SELECT id FROM team ORDER BY +goals DESC", [(4,), (3,), (2,), (1,), (5,)], True),
        ("SELECT id FROM team ORDER BY +goals DESC", [(4,), (3,), (1,), (2,), (5,)], False),
        ("SELECT id FROM team ORDER BY goals DESC LIMIT (SELECT 1)", [(3,)], False),
    ],
)
def test_an_answer_is_valid_if_the_cut_allows_it(
    database: Database, sql: str, rows: Sequence[Row], *, expected: bool
) -> None:
    assert valid(database, sql, rows) is expected


SCALAR = "SELECT name FROM player WHERE team = (SELECT id FROM team ORDER BY goals DESC LIMIT 1)"
DERIVED = "SELECT COUNT(*), MAX(id) FROM (SELECT id FROM team ORDER BY goals DESC LIMIT 2)"
NAMED = (
    "WITH best AS (SELECT id FROM team ORDER BY goals DESC LIMIT 1)"
    " SELECT p.name FROM player p JOIN best ON team = best.id"
)


@pytest.mark.parametrize(
    ("sql", "rows", "expected"),
    [
        (SCALAR, [("y",)], True),
        (SCALAR, [("z",)], True),
        (SCALAR, [("w",)], False),
        (SCALAR, [("y",), ("z",)], False),
        (NAMED, [("z",)], True),
        (NAMED, [("w",)], False),
        (DERIVED, [(2, 4)], True),
        (DERIVED, [(2, 1)], False),
        (f"{SCALAR} ORDER BY name LIMIT 1", [("z",)], True),
        (f"{SCALAR} ORDER BY name LIMIT 1", [("w",)], False),
    ],
)
def test_a_tie_in_a_subquery_is_proven_by_a_witness(
    database: Database, sql: str, rows: Sequence[Row], *, expected: bool
) -> None:
    assert valid(database, sql, rows) is expected


def test_what_cannot_be_read_is_not_valid_and_not_ordered(database: Database) -> None:
    assert not valid(database, "SELECT FROM", [])
    assert not is_ordered("SELECT FROM", Dialect.SQLITE)
    assert is_ordered("SELECT 1 UNION SELECT 2 ORDER BY 1", Dialect.SQLITE)
    assert not is_ordered("SELECT * FROM (SELECT 1 ORDER BY 1)", Dialect.SQLITE)


@pytest.mark.parametrize(
    ("sql", "reference", "rows", "allowed"),
    [
        ("SELECT * FROM t ORDER BY 2", [(1, "a"), (2, "a")], [(2, "a"), (1, "a")], True),
        ("SELECT * FROM t ORDER BY 2", [(1, "a"), (2, "b")], [(2, "b"), (1, "a")], False),
        ("SELECT * FROM t ORDER BY 9", [(1, "a"), (2, "b")], [(2, "b"), (1, "a")], False),
        ("SELECT a, b AS c FROM t ORDER BY c, 'x' DESC", [(1, "a"), (2, "a")], [(2, "a"), (1, "a")], True),
        ("SELECT a, b AS c FROM t ORDER BY a", [(1, "a"), (2, "a")], [(2, "a"), (1, "a")], False),
        ("SELECT a FROM t ORDER BY '-'", [(1,), (2,)], [(2,), (1,)], True),
        ("SELECT a FROM t ORDER BY b", [(1,), (2,)], [(2,), (1,)], False),
        ("SELECT a, a FROM t ORDER BY a", [(1, 1), (2, 2)], [(2, 2), (1, 1)], False),
        ("SELECT *, b AS c FROM t ORDER BY c", [(1, 5), (2, 5)], [(2, 5), (1, 5)], False),
        ("SELECT a FROM t UNION SELECT 2 ORDER BY 1", [(1,), (2,)], [(2,), (1,)], False),
        ("SELECT a FROM t", [(1,), (2,)], [(2,), (1,)], False),
        ("no query", [(1,), (2,)], [(2,), (1,)], False),
    ],
)
def test_sort_keys_in_the_rows_say_whether_an_order_is_allowed(
    sql: str,
    reference: list[Row],
    rows: list[Row],
    allowed: bool,  # noqa: FBT001 - a column of the table
) -> None:
    assert are_in_order(sql, reference, rows) is allowed
