"""Outcomes of real statements on SQLite; the other engines' are in tests/engines."""

import sqlite3
from collections.abc import Mapping
from pathlib import Path

import pytest

from harness.benchmark import Question, QuestionSet
from harness.engines.base import Engine
from harness.engines.namespace import Database
from harness.engines.sqlite import SQLiteEngine, SQLiteSession
from harness.evaluation import Evaluation
from harness.execution import Limits
from harness.outcomes import Outcome, PairResult
from harness.predictions import PredictionFile
from harness.readers.prediction_files import Format
from harness.words import Dialect, Difficulty

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
FOREVER = f"{ENDLESS} SELECT count(*) FROM n"
FAST = Limits(seconds=0.5, rows=3000)


@pytest.fixture
def databases(tmp_path: Path) -> Path:
    path = tmp_path / "zoo" / "zoo.sqlite"
    path.parent.mkdir()
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE animal (name TEXT, legs INTEGER)")
    connection.executemany("INSERT INTO animal VALUES (?, ?)", [("cat", 4), ("hen", 2), ("hen", 2)])
    connection.commit()
    connection.close()
    return tmp_path


def scored(
    databases: Path,
    predictions: Mapping[str, str | None],
    gold: str = "SELECT name FROM animal",
    engine: Engine | None = None,
) -> list[PairResult]:
    """The results of several predictors' answers to one question."""
    question = Question("1", 1, "zoo", "Which animals?", "", Difficulty.SIMPLE, {Dialect.SQLITE: gold})
    questions = QuestionSet(
        name="zoo",
        title="zoo",
        collection="zoo",
        questions=(question,),
        order={Dialect.SQLITE: ("1",)},
        databases=databases,
        schemas={},
        files={},
    )
    files = [
        PredictionFile(
            predictor=predictor,
            dialect=Dialect.SQLITE,
            path=Path("x"),
            sha256="",
            format=Format.OFFICIAL,
            predictions={"1": sql},
        )
        for predictor, sql in predictions.items()
    ]
    evaluation = Evaluation(questions, files, {Dialect.SQLITE: engine or SQLiteEngine()}, limits=FAST)
    return list(evaluation.run(workers=2))


@pytest.mark.parametrize(
    ("sql", "outcome", "score"),
    [
        ("SELECT DISTINCT name FROM animal ORDER BY 1 DESC", Outcome.MATCH, 1.0),
        ("SELECT legs FROM animal", Outcome.MISMATCH, 0.0),
        ("SELECT nme FROM animal", Outcome.PREDICTION_ERROR, 0.0),
        ("```sql\nSELECT name FROM animal\n```", Outcome.PREDICTION_ERROR, 0.0),
        ("SELECT name FROM animal; SELECT 1", Outcome.PREDICTION_ERROR, 0.0),
        ("", Outcome.MISMATCH, 0.0),
        (FOREVER, Outcome.PREDICTION_TIMEOUT, 0.0),
        (f"{ENDLESS} SELECT i FROM n", Outcome.PREDICTION_TOO_LARGE, 0.0),
        (None, Outcome.MISSING, 0.0),
        ("DELETE FROM animal", Outcome.PREDICTION_ERROR, 0.0),
        ("ATTACH 'new.sqlite' AS new", Outcome.PREDICTION_ERROR, 0.0),
        ("SELECT CAST(x'ff' AS TEXT)", Outcome.PREDICTION_ERROR, 0.0),
    ],
)
def test_every_prediction_has_one_outcome(
    databases: Path, sql: str | None, outcome: Outcome, score: float
) -> None:
    (result,) = scored(databases, {"p": sql})
    assert (result.outcome, result.scores) == (outcome, {"ex": score})
    assert (result.error is not None) == outcome.startswith("prediction_")


@pytest.mark.parametrize(
    ("gold", "outcome"),
    [("SELECT nme FROM animal", Outcome.GOLD_ERROR), (FOREVER, Outcome.GOLD_TIMEOUT)],
)
def test_gold_that_fails_is_not_the_predictors_fault(databases: Path, gold: str, outcome: Outcome) -> None:
    (result,) = scored(databases, {"p": "SELECT 1"}, gold)
    assert result.outcome is outcome
    assert result.error
    assert not outcome.is_predictors


class CountingEngine(SQLiteEngine):
    """SQLite that counts how often a session is opened: once for every SQL text that is executed."""

    def __init__(self) -> None:
        self.sessions = 0

    def session(self, database: Database, seconds: float) -> SQLiteSession:
        self.sessions += 1
        return super().session(database, seconds)


def test_gold_and_equal_predictions_are_executed_once(databases: Path) -> None:
    engine = CountingEngine()
    answers = {f"p{number}": "SELECT name FROM animal" for number in range(20)} | {"other": "SELECT 1"}
    results = scored(databases, answers, engine=engine)
    assert [result.outcome for result in results] == [Outcome.MATCH] * 20 + [Outcome.MISMATCH]
    assert engine.sessions == 3


def test_a_database_that_is_gone_is_a_harness_error_and_not_a_wrong_answer(tmp_path: Path) -> None:
    (result,) = scored(tmp_path / "nowhere", {"p": "SELECT 1"})
    assert result.outcome is Outcome.HARNESS_ERROR
    assert "zoo.sqlite" in (result.error or "")


class FaultyEngine(SQLiteEngine):
    """SQLite with a driver that raises what nobody expects."""

    def session(self, database: Database, seconds: float) -> SQLiteSession:
        del database, seconds
        raise IndexError("inside the driver")


def test_an_unexpected_exception_is_one_pairs_harness_error(databases: Path) -> None:
    (result,) = scored(databases, {"p": "SELECT 1"}, engine=FaultyEngine())
    assert (result.outcome, result.error) == (Outcome.HARNESS_ERROR, "IndexError: inside the driver")


def test_results_come_in_the_order_of_the_pairs(databases: Path) -> None:
    answers = {"slow": FOREVER, "a": "SELECT 1", "b": "SELECT name FROM animal"}
    assert [result.predictor for result in scored(databases, answers)] == list(answers)
