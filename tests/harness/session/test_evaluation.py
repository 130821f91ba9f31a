"""Outcomes and scores of real statements on SQLite; the other engines' are in tests/engines."""

import json
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dialects.enums import Dialect, Profile
from harness.data.outcomes import Outcome, PairResult
from harness.data.prediction_files import Format
from harness.data.predictions import PredictionFile
from harness.data.questions import Difficulty, Question, QuestionSet
from harness.engines.base import Engine
from harness.engines.errors import ErrorClass
from harness.engines.execution import Limits
from harness.engines.sqlite.engine import SQLiteEngine, SQLiteSession
from harness.metrics import question_metrics
from harness.scoring.scheduler import Scheduler
from harness.scoring.tasks import Result, Setup, TimeTask, TimingMethod, WorkerTask
from harness.scoring.variants import find_variants
from harness.scoring.workers import LocalWorkers
from harness.session import evaluation as module
from harness.session.evaluation import Evaluation
from harness.session.request import Request
from harness.sqltree import DatabaseSchema, SchemaColumn
from loaders.namespace import Database
from tests.evaluating import plan_of, results
from tests.harness.scoring.in_process import threads
from tests.sqlite_files import sqlite_file
from tests.watching import Watched

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
FOREVER = f"{ENDLESS} SELECT count(*) FROM n"
FAST = Limits(seconds=0.5, rows=3000)


SCHEMA = DatabaseSchema(
    db_id="zoo",
    tables=("animal",),
    columns=(SchemaColumn("animal", "name", "text"), SchemaColumn("animal", "legs", "integer")),
    primary_keys=(),
    foreign_keys=(),
)


def write(folder: Path, *animals: tuple[str, int]) -> Path:
    """A database of animals in the layout of a question set."""
    sqlite_file(
        folder / "zoo" / "zoo.sqlite", "CREATE TABLE animal (name TEXT, legs INTEGER)", animal=animals
    )
    return folder


@pytest.fixture
def databases(tmp_path: Path) -> Path:
    return write(tmp_path / "databases", ("cat", 4), ("hen", 2), ("hen", 2))


def scored(  # noqa: PLR0913
    databases: Path,
    predictions: Mapping[str, str | None],
    gold: str = "SELECT name FROM animal",
    engine: Engine | None = None,
    *,
    metrics: Sequence[str] = ("ex",),
    variants: str | None = None,
) -> list[PairResult]:
    """The results of several predictors' answers to one question."""
    questions, files = asked(databases, predictions, gold)
    setup = Setup(
        questions,
        {Dialect.SQLITE: ()},
        Profile.OFFICIAL,
        FAST,
        tuple(metrics),
        None if variants is None else find_variants(variants, questions, print),
    )
    engines: dict[str, Engine] = {Dialect.SQLITE: engine or SQLiteEngine()}
    return results(setup, files, Scheduler(setup, threads(setup, engines), engines=engines))


def asked(
    databases: Path, predictions: Mapping[str, str | None], gold: str = "SELECT name FROM animal"
) -> tuple[QuestionSet, list[PredictionFile]]:
    """One question, and several predictors' answers to it."""
    question = Question("1", 1, "zoo", "Which animals?", "", Difficulty.SIMPLE, {Dialect.SQLITE: gold})
    questions = QuestionSet(
        name="zoo",
        title="zoo",
        collection="zoo",
        questions=(question,),
        order={Dialect.SQLITE: ("1",)},
        databases=databases,
        schemas={"zoo": SCHEMA},
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
    return questions, files


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
    # Of an empty text it is said that it is empty, though SQLite runs it.
    assert (result.error is not None) == (outcome.startswith("prediction_") or sql == "")


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
    found = scored(databases, answers, engine=engine)
    assert [result.outcome for result in found] == [Outcome.MATCH] * 20 + [Outcome.MISMATCH]
    assert engine.sessions == 2, "one of the predictions is gold's own text"


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


EVERY_METRIC = tuple(name for name in question_metrics() if name not in ("r_ves", "r_ves_documented", "ves"))


SCORED: Sequence[tuple[str | None, Mapping[str, float | None]]] = (
    ("SELECT name FROM animal", dict.fromkeys(EVERY_METRIC, 1.0)),
    # The same set of rows, as EX sees it; one row less than gold has, as the strict variant does.
    ("SELECT DISTINCT name FROM animal", {"ex": 1.0, "ex_strict": 0.0, "soft_f1": 1.0, "em": 1.0}),
    # Rows in another order: the official Soft-F1 compares them by position.
    (
        "SELECT name FROM animal ORDER BY name DESC",
        {"ex": 1.0, "ex_strict": 1.0, "soft_f1": 0.0, "soft_f1_aligned": 1.0, "em": 0.0},
    ),
    # Right by chance: on the variant the cat is not alone in having four legs.
    (
        "SELECT CASE legs WHEN 4 THEN 'cat' ELSE 'hen' END FROM animal",
        {"ex": 1.0, "ts": 0.0, "r_ves_stable": None},
    ),
    ("SELECT legs FROM animal", {"ex": 0.0, "soft_f1": 0.0, "ts": 0.0, "r_ves_stable": 0.0}),
    ("SELECT nme FROM animal", {name: 0.0 for name in EVERY_METRIC if name != "partial"}),
    (None, {name: 0.0 for name in EVERY_METRIC if name != "partial"}),
)


def test_metrics_see_what_their_definitions_say(databases: Path, tmp_path: Path) -> None:
    write(tmp_path / "variants" / "more", ("cat", 4), ("dog", 4), ("hen", 2))
    answers = {f"p{place}": sql for place, (sql, _) in enumerate(SCORED)}
    results = scored(databases, answers, metrics=EVERY_METRIC, variants=str(tmp_path / "variants"))
    for result, (sql, scores) in zip(results, SCORED, strict=True):
        assert set(result.scores) == set(EVERY_METRIC) - {"partial"}, sql
        expected = {name: score for name, score in scores.items() if name != "partial" and score is not None}
        assert {name: result.scores[name] for name in expected} == expected, sql
        assert (result.structure is None) == (sql is None)


def test_what_the_variants_said_is_kept(databases: Path, tmp_path: Path) -> None:
    write(tmp_path / "variants" / "more", ("cat", 4), ("dog", 4), ("hen", 2))
    write(tmp_path / "variants" / "other", ("cow", 4))
    answers = {
        "right": "SELECT name FROM animal WHERE 1",
        "by chance": "SELECT name FROM animal WHERE name <> 'cow'",
        "wrong": "SELECT 1",
    }
    found = scored(databases, answers, metrics=["ts"], variants=str(tmp_path / "variants"))
    assert [(r.scores["ts"], r.compared_variants, r.failed_variant) for r in found] == [
        (1.0, 2, None),
        (0.0, 2, "other"),
        (0.0, None, None),
    ]


@pytest.mark.parametrize(
    ("sql", "error_class"),
    [
        ("SELECT name FROM animal", None),
        (None, None),
        ("SELECT nme FROM animal", ErrorClass.UNKNOWN_COLUMN),
        ("SELECT legs FROM animal", ErrorClass.WRONG_COLUMNS),
        (FOREVER, ErrorClass.WRONG_TABLES),
    ],
)
def test_what_is_the_predictors_and_does_not_match_has_an_error_class(
    databases: Path, sql: str | None, error_class: ErrorClass | None
) -> None:
    (result,) = scored(databases, {"p": sql})
    assert result.error_class is error_class


def test_a_gold_that_fails_gives_nobody_an_error_class(databases: Path) -> None:
    (result,) = scored(databases, {"p": "SELECT nme FROM animal"}, "SELECT nope FROM animal")
    assert (result.outcome, result.error_class) == (Outcome.GOLD_ERROR, None)


@pytest.mark.slow
def test_matches_are_timed_once_and_after_everything_else(
    databases: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = Watched(SQLiteEngine())
    timed: list[tuple[WorkerTask[Any], int]] = []

    class Noting(LocalWorkers):
        def submit(self, task: WorkerTask[Result]) -> Future[Result]:
            timed.append((task, len(watched.texts)))
            return super().submit(task)

    monkeypatch.setattr(module, "LocalWorkers", Noting)
    right, wrong, gold = "SELECT name FROM animal WHERE 1", "SELECT 1", "SELECT name FROM animal"
    answers = {"a": right, "b": right, "c": wrong}
    found = scored(databases, answers, gold, watched.engine, metrics=["ex", "r_ves", "r_ves_stable"])
    assert [set(result.timings) for result in found] == [{"official", "stable"}] * 2 + [set()]
    assert found[0].timings == found[1].timings
    assert found[2].scores == {"ex": 0.0, "r_ves": 0.0, "r_ves_stable": 0.0}
    assert sorted(text for text, _ in watched.texts) == sorted([gold, right, wrong])
    assert timed == [(TimeTask(Dialect.SQLITE, "zoo", right, gold, method), 3) for method in TimingMethod], (
        "everything is executed before anything is timed"
    )
    assert found[0].timings["official"].executions == 200


def hanging_from(moment: float) -> str:
    """The right answer, until a moment; from then on it is stopped by nothing but the end of its process."""
    hang = "instr(zeroblob(6000000), CAST(zeroblob(3000000) || x'01' AS BLOB))"
    return (
        "SELECT name FROM animal WHERE CASE WHEN julianday('now') <"
        f" julianday({moment!r}, 'unixepoch') THEN 1 ELSE {hang} = 0 END"
    )


def timed_from(moment: float, databases: Path, predictions: Mapping[str, str]) -> list[PairResult] | None:
    """Results that are timed after a moment; None where not all matched before."""
    questions, files = asked(databases, predictions)
    setup = Setup(questions, {Dialect.SQLITE: ()}, limits=FAST, metrics=("ex", "r_ves_stable"))
    scheduler = Scheduler(setup, lambda: LocalWorkers(setup, 1))
    request = Request(metrics=setup.metrics, out=databases / "results")
    with plan_of(setup, files, scheduler, request) as plan, closing(Evaluation(plan)) as evaluation:
        begun = evaluation.begin(evaluation.to_judge)
        if any(each is None or each.result().outcome is not Outcome.MATCH for each in begun.values()):
            return None
        time.sleep(max(0.0, moment - time.time()))
        return list(map(evaluation.result, begun))


@pytest.mark.slow
def test_a_text_that_hangs_only_when_it_is_timed_costs_its_own_times_alone(databases: Path) -> None:
    for seconds in (1, 5, 25, 125):
        # As long as a machine needs to judge it before.
        moment = time.time() + seconds
        answers = {"a": hanging_from(moment), "b": "SELECT DISTINCT name FROM animal"}
        found = timed_from(moment, databases, answers)
        if found is not None:
            break
    assert found is not None
    hanging, other = found
    assert (hanging.outcome, hanging.scores) == (Outcome.MATCH, {"ex": 1.0, "r_ves_stable": 0.0})
    assert hanging.timings["stable"].error == (
        "the prediction did not stop when its time was up while it was timed"
    )
    assert other.timings["stable"].error is None
    assert other.scores["r_ves_stable"] > 0


@pytest.mark.slow
def test_a_result_survives_the_way_to_a_file_and_back(databases: Path, tmp_path: Path) -> None:
    write(tmp_path / "variants" / "more", ("cow", 4))
    answers = {"right": "SELECT name FROM animal WHERE 1", "wrong": "SELECT legs FROM animal"}
    variants = str(tmp_path / "variants")
    for result in scored(databases, answers, metrics=EVERY_METRIC, variants=variants):
        assert PairResult.from_json(json.loads(json.dumps(result.to_json()))) == result
