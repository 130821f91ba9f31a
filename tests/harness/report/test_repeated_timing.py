"""With --repeat, tables have the run whose mean is highest, and a table of their own has the spread."""

from math import sqrt
from pathlib import Path

import pytest

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.data.outcomes import GoldOrigin, Outcome, PairResult
from harness.metrics.efficiency import Clock, Timing, reward
from harness.report.measures import repeated_grid
from harness.runs.reader import read_run
from harness.runs.summary import TOTAL, runs_of, summarize
from harness.session.request import Request, check
from tests.forked import run


def pair(question: str, *taus: float) -> PairResult:
    """A pair that was timed in several runs; one that does not match without any."""
    timings = {}
    if taus:
        first = taus[0]
        timings["official"] = Timing(
            first, None, None, 100, 200, Clock.CLIENT, None, decided=True, reward=reward(first), runs=taus
        )
    score = sqrt(reward(taus[0])) if taus else 0.0
    return PairResult(
        outcome=Outcome.MATCH if taus else Outcome.MISMATCH,
        scores={"ex": float(bool(taus)), "r_ves": score, "ves": sqrt(taus[0]) if taus else 0.0},
        dialect=Dialect.SQLITE,
        predictor="me",
        question=question,
        question_id=question,
        db_id="d",
        difficulty="simple",
        gold_origin=GoldOrigin.DATASET,
        timings=timings,
    )


RESULTS = (pair("1", 0.9, 1.1, 2.5), pair("2", 1.2, 1.0, 0.1), pair("3"), pair("4", 0.9, 0.0, 0.9))


def test_each_metric_has_its_best_run() -> None:
    means = runs_of(RESULTS, "r_ves")
    expected = [(2 * sqrt(0.75) + 1) / 4, (1 + 1) / 4, (sqrt(1.25) + 0.5 + sqrt(0.75)) / 4]
    assert means == pytest.approx([100 * each for each in expected])
    [score] = summarize(RESULTS, ["ex", "r_ves", "ves"])
    assert score.metrics["r_ves"][TOTAL] == pytest.approx(max(means))
    assert score.metrics["ves"][TOTAL] == pytest.approx(max(runs_of(RESULTS, "ves")))
    assert score.metrics["ex"][TOTAL] == 75


def test_the_table_tells_the_spread() -> None:
    grid = repeated_grid(summarize(RESULTS, ["r_ves"]), ["ex", "r_ves"])
    assert grid is not None
    means = runs_of(RESULTS, "r_ves")
    [row] = grid.rows
    assert row.labels == ("R-VES", "me", "SQLite")
    values = [cell.value for cell in row.cells if cell is not None]
    assert values == pytest.approx([3, max(means), min(means), sum(means) / 3, max(means) - min(means)])


def test_without_repetition_there_is_no_table() -> None:
    once = [pair("3")]
    assert runs_of(once, "r_ves") == []
    assert repeated_grid(summarize(once, ["r_ves"]), ["r_ves"]) is None


@pytest.mark.parametrize(
    ("repeat", "metrics", "words"), [(3, ("ex",), "add r_ves"), (0, ("r_ves",), "repeat")]
)
def test_only_what_is_timed_can_be_repeated(repeat: int, metrics: tuple[str, ...], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        check(Request(repeat=repeat, metrics=metrics))


@pytest.mark.slow
@pytest.mark.thorough
def test_a_run_is_repeated_and_read_back(tmp_path: Path) -> None:
    done = run(
        "harness", "eval", "--metrics", "ex,r_ves", "--repeat", "2", "--timeout", "3", "--limit", "2",
        "--dialect", "sqlite", "--driver", "direct", "--no-report", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Repeated timing" in done.stdout
    found = read_run((tmp_path / "results/latest").resolve())
    timings = [one.timings["official"] for one in found.results if one.outcome is Outcome.MATCH]
    assert timings
    assert all(len(timing.runs) == 2 and timing.runs[0] == timing.tau for timing in timings)
    assert found.manifest["repeat"] == 2
