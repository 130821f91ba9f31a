"""Test-suite accuracy of real statements on real SQLite files."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dialects.enums import Dialect
from harness.engines.execution import Ending, Execution, Limits
from harness.engines.sqlite.engine import SQLiteEngine, SQLiteSession
from harness.scoring.golds import Gold
from harness.scoring.variants import Suite, SuiteVerdict, find_variants
from loaders.namespace import Database
from tests.harness.small_sets import asked, of_zoo
from tests.sqlite_files import sqlite_file

LEAST = -(2**63)
"""The integer of which SQLite knows no absolute value."""
BASE = [("cat", 4), ("hen", 2)]
VARIANTS = {
    "a": [("dog", 4), ("cow", 4), ("emu", 2)],
    "b": [("fox", 4), ("owl", 2), ("ant", 6)],
    "c": [("ape", 4), ("eel", LEAST)],
}
GOLD = "SELECT name FROM animal WHERE legs = 4"
COUNT_UP = (
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < (SELECT max(legs) FROM animal))"
)


def write(path: Path, rows: Sequence[tuple[str, int]], column: str = "legs") -> None:
    sqlite_file(path, f"CREATE TABLE animal (name TEXT, {column} INTEGER)", animal=rows)


def suite(
    folder: Path,
    variants: Mapping[str, Sequence[tuple[str, int]]] = VARIANTS,
    *,
    seconds: float = 30.0,
    room: int = 10_000,
) -> Suite:
    """A suite for the zoo, whose databases are written into `folder`."""
    write(folder / "base" / "zoo" / "zoo.sqlite", BASE)
    for name, rows in variants.items():
        column = "limbs" if name.startswith("renamed") else "legs"
        write(folder / "variants" / name / "zoo" / "zoo.sqlite", rows, column)
    questions = of_zoo(folder / "base", GOLD)
    found = find_variants(str(folder / "variants"), questions, lambda _: None)
    engine = SQLiteEngine(pooled=True)
    return Suite(found, engine, engine, Limits(seconds=seconds), room=room)


def gold(sql: str) -> Gold:
    return Gold(asked(sql), Dialect.SQLITE, sql, Execution(Ending.ROWS))


@pytest.mark.parametrize(
    ("sql", "verdict"),
    [
        ("SELECT DISTINCT name FROM animal WHERE legs IN (4) ORDER BY 1", SuiteVerdict(1.0, compared=3)),
        (f"  {GOLD}\n", SuiteVerdict(1.0)),
        ("SELECT name FROM animal WHERE legs > 2", SuiteVerdict(0.0, "b", 2)),
        ("SELECT name FROM animal WHERE name = 'cat'", SuiteVerdict(0.0, "a", 1)),
        ("SELECT name FROM animal WHERE abs(legs) = 4", SuiteVerdict(0.0, "c", 3)),
    ],
    ids=["right", "text_of_gold", "right_by_chance_on_two", "right_by_chance_on_one", "fails_on_a_variant"],
)
def test_right_means_right_on_every_variant_and_the_first_that_differs_is_named(
    tmp_path: Path, sql: str, verdict: SuiteVerdict
) -> None:
    assert suite(tmp_path).score(gold(GOLD), sql) == verdict


@pytest.mark.parametrize(
    ("variants", "verdict"),
    [
        ({"renamed": BASE, "z": [("fox", 4)]}, SuiteVerdict(1.0, compared=1)),
        ({"renamed": BASE, "z": [("ant", 5)]}, SuiteVerdict(0.0, "z", 1)),
        ({"renamed": BASE}, SuiteVerdict(1.0)),
    ],
    ids=["right_on_the_rest", "wrong_on_the_rest", "no_other"],
)
def test_a_variant_on_which_gold_fails_is_left_out(
    tmp_path: Path, variants: Mapping[str, Sequence[tuple[str, int]]], verdict: SuiteVerdict
) -> None:
    zoo = suite(tmp_path, variants)
    for _ in range(2):
        assert zoo.score(gold(GOLD), "SELECT name FROM animal WHERE legs > 2 AND legs < 6") == verdict


def test_a_variant_on_which_gold_takes_too_long_is_left_out(tmp_path: Path) -> None:
    zoo = suite(tmp_path, {"big": [("eel", 10**15)], "small": [("eel", 3)]}, seconds=0.5)
    verdict = zoo.score(gold(f"{COUNT_UP} SELECT count(*) FROM n"), "SELECT max(legs) FROM animal")
    assert verdict == SuiteVerdict(1.0, compared=1)


def test_a_prediction_that_takes_too_long_on_a_variant_is_wrong(tmp_path: Path) -> None:
    zoo = suite(tmp_path, {"big": [("eel", 10**15)], "small": [("eel", 3)]}, seconds=0.5)
    verdict = zoo.score(gold("SELECT max(legs) FROM animal"), f"{COUNT_UP} SELECT count(*) FROM n")
    assert verdict == SuiteVerdict(0.0, "big", 1)


def test_the_text_of_gold_is_right_even_where_every_run_differs(tmp_path: Path) -> None:
    question = gold("SELECT random()")
    zoo = suite(tmp_path)
    assert zoo.score(question, "SELECT random()") == SuiteVerdict(1.0)
    assert zoo.score(question, "SELECT random() AS number").score == 0.0


def test_copies_of_the_database_and_of_other_variants_are_not_compared(tmp_path: Path) -> None:
    variants = {"a": BASE, "b": [("fox", 4)], "c": [("fox", 4)], "d": BASE}
    assert suite(tmp_path, variants).score(gold(GOLD), "SELECT 'fox'") == SuiteVerdict(1.0, compared=1)


class CountingEngine(SQLiteEngine):
    """SQLite that counts how often a session is opened: once for every SQL text that is executed."""

    def __init__(self) -> None:
        self.sessions = 0

    def session(self, database: Database, seconds: float) -> SQLiteSession:
        self.sessions += 1
        return super().session(database, seconds)


@pytest.mark.parametrize(("room", "golds"), [(10_000, 3), (0, 60)])
def test_gold_runs_once_a_variant_while_its_rows_fit_and_verdicts_are_the_same(
    tmp_path: Path, room: int, golds: int
) -> None:
    zoo = suite(tmp_path, room=room)
    engine = CountingEngine()
    zoo._engine = engine
    texts = [f"SELECT name FROM animal WHERE legs = {number} - {number - 4}" for number in range(20)]
    with ThreadPoolExecutor(4) as pool:
        verdicts = list(pool.map(lambda sql: zoo.score(gold(GOLD), sql), texts))
    assert verdicts == [SuiteVerdict(1.0, compared=3)] * 20
    assert engine.sessions == golds + 3 * len(texts)
