import argparse
from pathlib import Path

import pytest

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.data.answers import Extract
from harness.data.predictions import read_predictions
from harness.data.sets.loader import load_set
from tests.harness.arrangements import Case
from tests.harness.bad_inputs import CASES

_options = argparse.ArgumentParser()
_options.add_argument("--set")
_options.add_argument("--predictions", type=Path, action="append")
_options.add_argument("--predictor")
_options.add_argument("--dialect", type=Dialect, action="append")
_options.add_argument("--extract", type=Extract, default=Extract.NONE)
_options.add_argument("--allow-missing", action="store_true")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_one_line_names_file_entry_and_remedy(case: Case, tmp_path: Path) -> None:
    asked = _options.parse_args(case.arrange(tmp_path))
    with pytest.raises(BadInput) as raised:
        _read(asked, tmp_path)
    message = str(raised.value)
    assert message.isprintable()
    assert len(message) < 1000 + 3 * len(str(tmp_path))
    assert [part for part in case.says if part not in message] == [], message


def _read(asked: argparse.Namespace, home: Path) -> None:
    """Read what an evaluation reads before it runs anything."""
    questions = load_set(asked.set, home)
    questions.require_databases()
    read_predictions(
        asked.predictions,
        questions,
        predictor=asked.predictor,
        extract=asked.extract,
        allow_missing=asked.allow_missing,
        dialects=asked.dialect,
    )


def test_cases_differ() -> None:
    assert len({case.name for case in CASES}) == len(CASES) >= 30
