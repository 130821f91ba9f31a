"""Judging texts: of several golds any counts; work is counted once, within limits, and never made up."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from dialects.enums import Dialect
from harness.data.outcomes import Judgement, Outcome
from harness.data.sets.loader import load_set
from harness.engines.base import SqlTimeout
from harness.engines.sqlite.engine import SQLiteEngine, SQLiteSession
from harness.metrics import columns
from harness.metrics import work as metric
from harness.metrics.work import IDENTICAL
from harness.scoring.judge import best
from harness.scoring.scheduler import Candidate, Scheduler
from harness.scoring.tasks import Setup
from loaders.base.store import Store
from tests.harness.metrics.test_columns import rings
from tests.harness.scoring.in_process import threads


def judgement(outcome: Outcome, ex: float = 0.0, f1: float | None = None) -> Judgement:
    scores = {"ex": ex} if f1 is None else {"ex": ex, "soft_f1": f1}
    return Judgement(outcome, scores)


Case = tuple[list[Judgement], Outcome, int, dict[str, float]]

MET, OTHER = judgement(Outcome.MATCH, 1, 1), judgement(Outcome.MISMATCH, 0, 0.5)
NEARER = judgement(Outcome.MISMATCH, 0, 0.7)
LATE, REFUSED = judgement(Outcome.PREDICTION_TIMEOUT, 0, 0), judgement(Outcome.PREDICTION_ERROR, 0, 0)
BROKEN, SLOW = judgement(Outcome.GOLD_ERROR), judgement(Outcome.GOLD_TIMEOUT)
NO_F1 = judgement(Outcome.MISMATCH, 0)

CASES: dict[str, Case] = {
    "the only one": ([OTHER], Outcome.MISMATCH, 0, {"ex": 0, "soft_f1": 0.5}),
    "the second is met": ([OTHER, MET], Outcome.MATCH, 1, {"ex": 1, "soft_f1": 1}),
    "the best of each score": (
        [judgement(Outcome.MATCH, 1, 0.2), NEARER], Outcome.MATCH, 0, {"ex": 1, "soft_f1": 0.7}
    ),
    "a gold that fails": ([BROKEN, OTHER], Outcome.MISMATCH, 1, {"ex": 0, "soft_f1": 0.5}),
    "all golds fail": ([SLOW, BROKEN], Outcome.GOLD_TIMEOUT, 0, {"ex": 0}),
    "late beside one": ([LATE, OTHER], Outcome.MISMATCH, 1, {"ex": 0, "soft_f1": 0.5}),
    "refused beside all": ([REFUSED, REFUSED], Outcome.PREDICTION_ERROR, 0, {"ex": 0, "soft_f1": 0}),
    "a score that one has not": ([NO_F1, OTHER], Outcome.MISMATCH, 0, {"ex": 0, "soft_f1": 0.5}),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_best_beside_any_gold_counts(name: str) -> None:
    judgements, outcome, place, scores = CASES[name]
    found = best(judgements)
    assert (found.outcome, found.gold_index, found.scores) == (outcome, place, scores)


METRICS = ("ex", "r_ves_work", "ves_work")


class CountingEngine(SQLiteEngine):
    """SQLite, which notes every text that it runs for rows or for its work."""

    def __init__(self) -> None:
        super().__init__(pooled=True)
        self.ran: list[str] = []
        self.counted: list[str] = []

    def session(self, database: object, seconds: float) -> SQLiteSession:
        engine, session = self, super().session(database, seconds)  # type: ignore[arg-type]
        batches, counted = session.batches, session.counted

        def note(sql: str) -> Mapping[str, int]:
            engine.counted.append(sql)
            return counted(sql)

        def noted(sql: str) -> object:
            engine.ran.append(sql)
            return batches(sql)

        session.batches, session.counted = noted, note  # type: ignore[assignment, method-assign]
        return session


@pytest.fixture(scope="module")
def setup() -> Setup:
    return Setup(load_set("sample"), {Dialect.SQLITE: ()}, metrics=METRICS)


def judged(setup: Setup, engine: CountingEngine, store: Path | None, *texts: str) -> list[Judgement]:
    question = setup.questions.questions[0]
    kept = None if store is None else Store(store, say=pytest.fail)
    scheduler = Scheduler(setup, threads(setup, {Dialect.SQLITE: engine}), store=kept)
    try:
        return [
            future.result(60)
            for future in scheduler.begin([Candidate(question, Dialect.SQLITE, text) for text in texts])
        ]
    finally:
        scheduler.close()


def gold(setup: Setup) -> str:
    return setup.questions.questions[0].gold[Dialect.SQLITE]


def slower(setup: Setup) -> str:
    """Gold, and a loop that decides nothing."""
    bare = gold(setup).rstrip("; ")
    return (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)"
        f" SELECT * FROM ({bare}) WHERE (SELECT MAX(i) FROM n) > 0"
    )


def test_the_same_text_has_tau_1_and_is_not_counted(setup: Setup) -> None:
    engine = CountingEngine()
    [judgement] = judged(setup, engine, None, f" {gold(setup)} ;")
    assert judgement.work == IDENTICAL
    assert judgement.scores == {"ex": 1.0, "r_ves_work": 1.0, "ves_work": 1.0}
    assert engine.counted == []


def test_more_work_scores_less_and_each_text_is_counted_once(setup: Setup) -> None:
    engine = CountingEngine()
    other = f"{gold(setup).rstrip('; ')} -- as gold"
    found = judged(setup, engine, None, slower(setup), other, "SELECT 'no answer at all'")
    slow, same, wrong = found
    assert [each.outcome for each in found] == [Outcome.MATCH, Outcome.MATCH, Outcome.MISMATCH]
    assert slow.work is not None
    assert slow.work.tau is not None
    assert 0 < slow.work.tau < 0.25
    assert slow.scores["r_ves_work"] == 0.5
    assert same.work is not None
    assert (same.work.tau, same.scores["r_ves_work"]) == (1.0, 1.0)
    assert (wrong.work, wrong.scores["r_ves_work"], wrong.scores["ves_work"]) == (None, 0.0, 0.0)
    assert sorted(engine.counted) == sorted([gold(setup), slower(setup), other])
    assert len(engine.ran) == 4


def test_a_second_run_executes_nothing(setup: Setup, tmp_path: Path) -> None:
    first, second = CountingEngine(), CountingEngine()
    before = judged(setup, first, tmp_path / "store", slower(setup))
    after = judged(setup, second, tmp_path / "store", slower(setup))
    assert after == before
    assert first.counted
    assert (second.ran, second.counted) == ([], [])


def test_counts_outlive_weights_and_scores_do_not(
    setup: Setup, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = CountingEngine(), CountingEngine()
    [before] = judged(setup, first, tmp_path / "store", slower(setup))
    weights = metric._weights()
    heavier = {engine: dict.fromkeys(names, 1.0) for engine, names in weights.items()}
    monkeypatch.setattr(metric, "_weights", lambda: heavier)
    monkeypatch.setattr("harness.scoring.cache.weights_digest", lambda: "another")
    [after] = judged(setup, second, tmp_path / "store", slower(setup))
    assert (second.ran, second.counted) == ([], [])
    assert before.work is not None
    assert after.work is not None
    assert after.work.gold != before.work.gold


def test_another_metric_uses_the_same_rows_and_counts(setup: Setup, tmp_path: Path) -> None:
    first, second, third = CountingEngine(), CountingEngine(), CountingEngine()
    judged(replace(setup, metrics=("ex",)), first, tmp_path / "store", slower(setup))
    assert first.counted == []
    judged(setup, second, tmp_path / "store", slower(setup))
    assert second.ran == []
    assert sorted(second.counted) == sorted([gold(setup), slower(setup)])
    judged(replace(setup, metrics=(*METRICS, "soft_f1")), third, tmp_path / "store", slower(setup))
    assert (third.ran, third.counted) == ([], [])


def test_what_cannot_be_counted_has_no_score_and_a_reason(setup: Setup, tmp_path: Path) -> None:
    class Stopped(CountingEngine):
        def session(self, database: object, seconds: float) -> SQLiteSession:
            session = super().session(database, seconds)
            counted = session.counted

            def late(sql: str) -> Mapping[str, int]:
                if sql == slower(setup):
                    raise SqlTimeout("interrupted", None)
                return counted(sql)

            session.counted = late  # type: ignore[method-assign]
            return session

    store = tmp_path / "store"
    [judgement] = judged(setup, Stopped(), store, slower(setup))
    assert (judgement.outcome, judgement.scores) == (Outcome.MATCH, {"ex": 1.0})
    assert judgement.work is not None
    assert judgement.work.tau is None
    assert judgement.work.reason == ("the prediction: it failed while its work was counted: interrupted")
    # It may be otherwise another time; what it returned is known by then.
    engine = CountingEngine()
    [judgement] = judged(setup, engine, store, slower(setup))
    assert judgement.work is not None
    assert judgement.work.tau is not None
    assert (engine.ran, engine.counted) == ([], [slower(setup)])


def test_an_engine_that_does_not_count_has_no_scores_at_all(setup: Setup) -> None:
    without = replace(setup, uncounted={Dialect.SQLITE: "it may not"})
    found = judged(without, CountingEngine(), None, slower(setup), "SELECT 'no answer at all'")
    assert [each.scores for each in found] == [{"ex": 1.0}, {"ex": 0.0}]
    assert [each.work for each in found] == [None, None]


def _values(rows: Sequence[Sequence[int]]) -> str:
    return "VALUES " + ", ".join(f"({', '.join(map(str, row))})" for row in rows)


@pytest.mark.parametrize("most", [columns.MOST_STEPS, 10_000])
def test_a_search_beyond_its_limit_loses_only_that_score(
    setup: Setup, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(columns, "MOST_STEPS", most)
    question, other = setup.questions.questions[:2]
    asked = replace(question, gold={Dialect.SQLITE: _values(rings(8, 8))})
    searching = replace(setup, metrics=("ex", "ex_columns", "soft_f1"))
    texts = {"rings": _values(rings(16)), "itself": _values(rings(8, 8))}
    scheduler = Scheduler(searching, threads(searching, {Dialect.SQLITE: SQLiteEngine()}))
    candidates = [Candidate(asked, Dialect.SQLITE, text) for text in texts.values()]
    candidates.append(Candidate(other, Dialect.SQLITE, other.gold[Dialect.SQLITE]))
    try:
        found, itself, beside = (future.result(60) for future in scheduler.begin(candidates))
    finally:
        scheduler.close()
    whole = {"ex", "ex_columns", "soft_f1"}
    assert found.outcome is Outcome.MISMATCH
    assert found.scores.keys() == (whole if most > 10_000 else whole - {"ex_columns"})
    assert (found.scores["ex"], found.scores["soft_f1"]) == (0.0, 1.0)
    assert itself.scores == beside.scores == dict.fromkeys(whole, 1.0)
