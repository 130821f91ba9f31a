"""Fixtures for users' own tests."""

from pathlib import Path

import pytest

from tests.harness.pytest_plugin.running import counts, run

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

USES = """
import pytest
from harness.pytest_plugin.fixtures import QueryFailed


def test_rows(bird_engine, bird_question):
    assert bird_engine.rows(bird_question, "SELECT 1 AS one") == ((1,),)


def test_gold(bird_engine, bird_question):
    assert bird_engine.execute(bird_question, bird_engine.gold(bird_question)).ending == "rows"


@pytest.mark.parametrize("sql", ["DROP TABLE Books", "DELETE FROM Books", "CREATE TABLE t (i INT)", "SELEC"])
def test_nothing_is_changed(bird_engine, sql):
    with pytest.raises(QueryFailed) as failed:
        bird_engine.rows("1", sql)
    assert failed.value.execution.ending == "error"


def test_limits(bird_engine):
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    if str(bird_engine.dialect) == "mysql":
        endless = "SELECT COUNT(*) FROM information_schema.columns a, information_schema.columns b, " \\
            "information_schema.columns c, information_schema.columns d"
    assert bird_engine.execute("1", endless).ending == "timeout"
"""


def test_engines_run_under_limits_and_read_only(tmp_path: Path) -> None:
    (tmp_path / "test_uses.py").write_text(USES)
    options = ["--bird-dialect", "sqlite", "--bird-limit", "3", "--bird-timeout", "1"]
    done = run(*options, "test_uses.py", cwd=tmp_path)
    assert counts(done) == {"passed": 3 + 3 + 4 + 1}, done.stdout + done.stderr
    chosen = run(*options, "-k", "test_rows and 2", "-v", "test_uses.py", cwd=tmp_path)
    assert "test_rows[sqlite-2] PASSED" in chosen.stdout


def test_an_evaluator_is_there_without_predictions_and_closed_at_the_end(tmp_path: Path) -> None:
    (tmp_path / "test_uses.py").write_text(
        "from harness import Answer\n\n"
        "def test_scores(bird_evaluator, request):\n"
        "    request.config.evaluator = bird_evaluator\n"
        "    judged = bird_evaluator.score([Answer('1', 'SELECT 1'), Answer('1', 'nonsense')])\n"
        "    assert [each.outcome for each in judged] == ['mismatch', 'prediction_error']\n"
    )
    (tmp_path / "conftest.py").write_text(
        "def pytest_unconfigure(config):\n    print('closed', config.evaluator._closed)\n"
    )
    done = run("--bird-dialect", "sqlite", "test_uses.py", cwd=tmp_path)
    assert counts(done) == {"passed": 1}, done.stdout + done.stderr
    assert done.stdout.endswith("closed True\n")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--bird-set", "nowhere"], "question set 'nowhere' is not known; choose one of"),
        (["--bird-dialect", "oracle"], "--bird-dialect oracle: 'oracle' is not a dialect"),
        (["--bird-dialect", "mysql"], "mysql: no server is up"),
    ],
)
def test_a_wrong_option_is_said_in_one_line(
    options: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BIRD_PROVISION", "dsn")
    monkeypatch.delenv("BIRD_MYSQL_DSN", raising=False)
    (tmp_path / "test_uses.py").write_text("def test_it(bird_question):\n    pass\n")
    done = run(*options, "test_uses.py", cwd=tmp_path)
    assert done.returncode == pytest.ExitCode.INTERRUPTED, done.stdout + done.stderr
    shown = done.stdout.partition("ERROR collecting test_uses.py")[2].splitlines()
    assert shown[1].startswith(says)
    assert shown[2].startswith("==="), "nothing more is said of it"
