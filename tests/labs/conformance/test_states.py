import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from dialects.errors import BadInput
from harness.engines.sqlite.engine import connect
from harness.labs.conformance.folders import scripts
from harness.labs.conformance.states import Replay, State, merged, states
from tests.sqlite_files import sqlite_file

SECONDS = 5.0


def replayed(tmp_path: Path, text: str, wanted: set[str] | None = None) -> tuple[list[State], Replay]:
    suite = tmp_path / "suite"
    suite.mkdir()
    (suite / "a.test").write_text(text, encoding="utf-8")
    folder = tmp_path / "states"
    folder.mkdir()
    [script] = scripts(suite)
    return states(script, wanted, folder, SECONDS)


def ok(*sql: str) -> str:
    return "".join(f"statement ok\n{each}\n\n" for each in sql)


def asked(*sql: str) -> str:
    return "".join(f"query I\n{each}\n\n" for each in sql)


def rows(state: State, sql: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(state.path)) as connection:
        return connection.execute(sql).fetchall()


def test_a_table_more_is_no_other_state_and_a_row_more_is_one(tmp_path: Path) -> None:
    found, replay = replayed(
        tmp_path,
        ok("CREATE TABLE t(a)", "INSERT INTO t VALUES (1)")
        + asked("SELECT a FROM t")
        + ok("CREATE TABLE u(b)")
        + asked("SELECT b FROM u")
        + ok("INSERT INTO t VALUES (2)")
        + asked("SELECT a FROM t", "SELECT a + 1 FROM t"),
    )
    assert [[key for key, _ in state.queries] for state in found] == [
        ["a.test:7", "a.test:13"],
        ["a.test:19", "a.test:22"],
    ]
    assert [rows(state, "SELECT count(*) FROM t") for state in found] == [[(1,)], [(2,)]]
    assert rows(found[0], "SELECT b FROM u") == []
    assert replay.statements == {"run": 4}


def test_a_schema_may_call_the_functions_of_json(tmp_path: Path) -> None:
    query = "SELECT name FROM t"
    found, replay = replayed(
        tmp_path,
        ok(
            "CREATE TABLE t(doc CHECK (json_valid(doc)), name AS (json_extract(doc, '$.name')))",
            """INSERT INTO t VALUES ('{"name": "Ann"}')""",
        )
        + asked(query),
    )
    assert replay.statements == {"run": 2}
    with closing(connect(found[0].path, 0)) as connection:
        assert connection.execute(query).fetchall() == [("Ann",)]


def test_without_a_table_there_is_a_database_that_can_be_loaded(tmp_path: Path) -> None:
    found, replay = replayed(
        tmp_path,
        asked("SELECT 1")
        + ok("CREATE VIEW v AS SELECT 2 AS a")
        + asked("SELECT a FROM v")
        + ok("BEGIN", "CREATE TABLE t(a)", "ROLLBACK")
        + asked("SELECT a + 1 FROM v"),
    )
    assert [[key for key, _ in state.queries] for state in found] == [["a.test:1", "a.test:7", "a.test:19"]]
    assert rows(found[0], "SELECT a FROM v") == [(2,)]
    assert len(rows(found[0], "SELECT * FROM sqlite_master WHERE type = 'table'")) == 1, "one to be loaded"
    assert replay.left == []


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE t SET a = 1.0",
        "UPDATE t SET a = '1'",
        "UPDATE t SET a = CAST('1' AS BLOB)",
        "UPDATE t SET rowid = 7",
        "CREATE TABLE u(b); DROP TABLE t; CREATE TABLE t(a, b)",
    ],
)
def test_what_a_query_could_see_makes_another_state(tmp_path: Path, change: str) -> None:
    found, _ = replayed(
        tmp_path,
        ok("CREATE TABLE t(a)", "INSERT INTO t VALUES (1)")
        + asked("SELECT 1")
        + ok(change)
        + asked("SELECT 2"),
    )
    assert len(found) == 2


def test_what_is_not_committed_yet_is_in_the_state_and_what_is_rolled_back_is_not(tmp_path: Path) -> None:
    found, _ = replayed(
        tmp_path,
        ok("CREATE TABLE t(a)", "BEGIN", "INSERT INTO t VALUES (1)")
        + asked("SELECT a FROM t")
        + ok("ROLLBACK")
        + asked("SELECT a FROM t"),
    )
    assert [rows(state, "SELECT count(*) FROM t") for state in found] == [[(1,)], [(0,)]]


def test_nothing_is_left_out_without_a_reason(tmp_path: Path) -> None:
    found, replay = replayed(
        tmp_path,
        ok("CREATE TABLE t(a)", "CREATE TABLE t(a)", "ATTACH 'x.sqlite' AS x", "PRAGMA hard_heap_limit = 1")
        + "statement error\nSELECT 1\n\nstatement error\nSELECT no\n\n"
        + "skipif sqlite\nstatement ok\nSELECT 1\n\n"
        + asked(
            "SELECT nope FROM t",
            "SELECT 1; SELECT 2",
            "-- nothing",
            "INSERT INTO t VALUES (1) RETURNING a",
            "EXPLAIN SELECT 1",
            "SELECT a FROM t",
            "SELECT value FROM json_each('[1]')",
        ),
    )
    assert replay.statements == {
        "run": 3,  # with the one that writes where a query was to be
        "SQLite refuses a statement: table t already exists": 1,
        "SQLite refuses a statement: not authorized": 2,
        "SQLite takes what is to fail": 1,
        "skipif sqlite": 1,
    }
    assert [why for _, why in replay.left] == [
        "SQLite refuses it: no such column: nope",
        "several statements",
        "no statement",
        "it does not only read",
        "it is EXPLAIN",
    ]
    # What was written by a query that is left out is there for those behind it.
    assert [rows(state, "SELECT a FROM t") for state in found] == [[(1,)]]
    assert len(found[0].queries) == 2
    assert not (tmp_path / "x.sqlite").exists()


def test_a_script_is_replayed_up_to_its_last_wanted_query(tmp_path: Path) -> None:
    text = ok("CREATE TABLE t(a)") + asked(
        "SELECT 1", "SELECT 2", "INSERT INTO t VALUES (1) RETURNING a", "SELECT 3"
    )
    found, replay = replayed(tmp_path, text + ok("DROP TABLE t"), {"a.test:7", "a.test:13"})
    assert [key for state in found for key, _ in state.queries] == ["a.test:7", "a.test:13"]
    assert rows(found[-1], "SELECT a FROM t") == [(1,)]
    assert replay.statements == {"run": 2}


def test_a_statement_that_does_not_end_is_stopped(tmp_path: Path) -> None:
    suite = tmp_path / "a.test"
    endless = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r"
    suite.write_text(ok(f"CREATE TABLE t AS {endless}"), encoding="utf-8")
    [script] = scripts(suite)
    _, replay = states(script, None, tmp_path, 0.2)
    assert replay.statements == {"SQLite refuses a statement: interrupted": 1}


def test_a_database_file_is_read_where_it_stands_and_stays_as_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    folder.mkdir()
    sqlite_file(folder / "shop.sqlite", "CREATE TABLE t(a)")
    before = (folder / "shop.sqlite").read_bytes()
    (folder / "queries.sql").write_text("SELECT a FROM t; DELETE FROM t; SELECT 2", encoding="utf-8")
    [script] = scripts(tmp_path)
    [state], replay = states(script, None, tmp_path, SECONDS)
    assert [query.sql for _, query in state.queries] == ["SELECT a FROM t", "SELECT 2"]
    assert [why for _, why in replay.left] == ["it does not only read"]
    state.remove()
    assert (folder / "shop.sqlite").read_bytes() == before

    (folder / "shop.sqlite").write_text("no database", encoding="utf-8")
    with pytest.raises(BadInput, match=r"shop\.sqlite: is not a readable SQLite database"):
        states(script, None, tmp_path, SECONDS)


def test_equal_states_of_several_scripts_are_one(tmp_path: Path) -> None:
    suite = tmp_path / "suite"
    suite.mkdir()
    for name in ("a", "b"):
        (suite / f"{name}.test").write_text(ok("CREATE TABLE t(a)") + asked("SELECT 1"), encoding="utf-8")
    (suite / "c.test").write_text(ok("CREATE TABLE t(b)") + asked("SELECT 1"), encoding="utf-8")
    found = []
    for number, script in enumerate(scripts(suite)):
        folder = tmp_path / str(number)
        folder.mkdir()
        found += states(script, None, folder, SECONDS)[0]
    assert [[key for key, _ in state.queries] for state in merged(found)] == [
        ["a.test:4", "b.test:4"],
        ["c.test:4"],
    ]
