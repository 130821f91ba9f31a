"""What a run has to come to: `--bird-fail-on` for pairs, `--bird-fail-under` for totals."""

from pathlib import Path

import pytest

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.data.outcomes import GoldOrigin, Outcome, PairResult, preview
from harness.data.questions import Difficulty, Question
from harness.engines.errors import ErrorClass
from harness.pytest_plugin.pairs import explained, parse_fail_on
from harness.session.evaluation import unmet
from harness.session.request import parse_fail_under
from tests.harness.pytest_plugin.running import counts, item, score

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

SOME = ("--bird-limit", "8", "-k", "careless")
"""4 of 8 match."""


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["50"], {"ex": 50.0}),
        (["ex=50.5", "soft_f1=60"], {"ex": 50.5, "soft_f1": 60.0}),
        (["0"], {"ex": 0.0}),
        ([], {}),
    ],
)
def test_thresholds_are_of_ex_unless_they_name_a_metric(texts: list[str], expected: dict[str, float]) -> None:
    assert parse_fail_under(texts, ["ex", "soft_f1"]) == expected


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("much", "METRIC=PERCENT"),
        ("ex=", "METRIC=PERCENT"),
        ("nan", "METRIC=PERCENT"),
        ("inf", "METRIC=PERCENT"),
        ("speed=50", "'speed' is not among"),
        ("r_ves=50", "add it to --metrics"),
    ],
)
def test_a_threshold_that_means_nothing_is_refused(text: str, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        parse_fail_under([text], ["ex", "soft_f1"])


def test_outcomes_to_fail_on_are_those_of_the_vocabulary() -> None:
    assert parse_fail_on("mismatch, prediction_error") == [Outcome.MISMATCH, Outcome.PREDICTION_ERROR]
    with pytest.raises(BadInput, match="'wrong' is not an outcome; choose from match, mismatch"):
        parse_fail_on("mismatch,wrong")


QUESTION = Question(
    "7", 7, "zoo", "How many cats are there?", "", Difficulty.SIMPLE, {Dialect.SQLITE: "gold"}
)


def result(outcome: Outcome, **fields: object) -> PairResult:
    return PairResult(
        dialect=Dialect.SQLITE,
        predictor="model",
        question="7",
        question_id=7,
        db_id="zoo",
        difficulty=Difficulty.SIMPLE,
        outcome=outcome,
        scores={},
        gold_origin=GoldOrigin.DATASET,
        **{"sql": "SELECT\n  1", **fields},  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(
    ("found", "lines"),
    [
        (
            result(
                Outcome.MISMATCH,
                error_class=ErrorClass.WRONG_CONDITION,
                preview=preview([(3, "cat"), (1, "dog")], [(4, "cat"), (1, "dog")]).to_text(),
            ),
            [
                "mismatch (wrong condition): How many cats are there?",
                "database: zoo",
                "predicted: SELECT 1",
                "gold: 2 rows, 1 of them not in the other result",
                "  3, 'cat'",
                "prediction: 2 rows, 1 of them not in the other result",
                "  4, 'cat'",
            ],
        ),
        (
            result(
                Outcome.PREDICTION_ERROR,
                error="no such\ncolumn: x",
                preview=preview([(3,)], None).to_text(),
            ),
            [
                "prediction error: How many cats are there?",
                "database: zoo",
                "predicted: SELECT 1",
                "error: no such column: x",
                "gold: 1 row",
                "  3",
            ],
        ),
        (
            result(Outcome.MISSING, sql=None),
            ["missing: How many cats are there?", "database: zoo", "predicted: none"],
        ),
    ],
)
def test_a_failure_says_question_prediction_error_and_rows_that_differ(
    found: PairResult, lines: list[str]
) -> None:
    assert explained(QUESTION, found).splitlines() == lines


def test_hostile_rows_and_texts_stay_short_and_in_one_line() -> None:
    wide = tuple("x" * 1_000 + "\n" for _ in range(500))
    found = result(
        Outcome.MISMATCH, sql="SELECT\n" * 10_000, preview=preview([wide] * 500, [(b"\x00",)]).to_text()
    )
    said = explained(QUESTION, found).splitlines()
    assert max(map(len, said)) <= 320
    assert len(said) <= 12


def test_mismatches_fail_when_they_are_asked_to(tmp_path: Path) -> None:
    done = score(*SOME, "--bird-fail-on", "mismatch", cwd=tmp_path)
    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert counts(done) == {"match": 4, "failed": 3, "prediction_error": 1, "deselected": 8}
    assert "mismatch (wrong condition): Among the books that cost at least 20" in done.stdout
    assert "predicted: SELECT CAST(SUM(IIF(`group` = 'Adult'" in done.stdout
    assert "gold: 1 row, 1 of them not in the other result" in done.stdout
    assert f"MISMATCH {item('2')}" in done.stdout, "in the short summary"
    assert "Traceback" not in done.stdout


@pytest.mark.parametrize(
    ("options", "code", "says"),
    [
        (["--bird-fail-under", "50"], 0, None),
        (["--bird-fail-under", "ex=50.01"], 1, "EX of careless on sqlite is 50.00, below 50.01"),
        (["--bird-fail-under", "90", "-n", "2"], 1, "EX of careless on sqlite is 50.00, below 90"),
        (["--bird-fail-under", "soft_f1=100"], 1, "Soft-F1 of careless on sqlite is"),
    ],
)
def test_a_total_below_the_threshold_exits_with_1_and_one_line(
    options: list[str], code: int, says: str | None, tmp_path: Path
) -> None:
    done = score(*SOME, *options, cwd=tmp_path)
    assert done.returncode == code, done.stdout + done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("--bird-fail-under: ")]
    assert len(lines) == (says is not None)
    assert all(says in line for line in lines if says)
    assert (tmp_path / "results" / "latest" / "summary.json").exists(), "the run is complete"


def test_nothing_fails_under_no_demands() -> None:
    assert unmet([], {}) is None
    assert unmet([], {"ex": 1.0}) == "--fail-under: no pair has a score of EX"
