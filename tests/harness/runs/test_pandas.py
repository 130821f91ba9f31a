"""A run as a data frame."""

import sys
from pathlib import Path

import pytest

from dialects.errors import BadInput
from harness import Run
from tests.harness.run_folders import pair, write_run


@pytest.fixture
def run(tmp_path: Path) -> Run:
    results = [pair(1, ex=1.0, soft_f1=1.0), pair(2, ex=0.0), pair(3, "q", ex=1.0, soft_f1=0.5)]
    return Run.load(str(write_run(tmp_path / "run", results, questions=3)))


@pytest.mark.slow
def test_a_run_is_a_row_for_each_pair_and_a_column_for_each_metric(run: Run) -> None:
    frame = run.to_pandas()
    assert list(frame.columns[:9]) == [
        "dialect", "predictor", "question", "question_id", "db_id", "difficulty", "outcome", "ex", "soft_f1",
    ]  # fmt: skip
    assert frame[["predictor", "question", "outcome", "ex"]].to_numpy().tolist() == [
        ["p", "1", "match", 1.0], ["p", "2", "mismatch", 0.0], ["q", "3", "match", 1.0],
    ]  # fmt: skip
    assert frame["soft_f1"].isna().tolist() == [False, True, False], "no score is none, not 0"
    assert {type(value) for value in frame["outcome"]} == {str}
    assert frame.groupby("predictor")["ex"].mean().to_dict() == {"p": 0.5, "q": 1.0}


def test_without_pandas_it_is_said_how_to_get_it(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(BadInput, match=r"to_pandas\(\) needs pandas: pip install 'bird-harness\[pandas\]'"):
        run.to_pandas()
