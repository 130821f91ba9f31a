"""Small question sets in the layout of the published ones."""

from pathlib import Path

import pytest

from harness.benchmark import QuestionSet
from harness.readers.question_sets import load_set
from tests.harness import small_sets as small


@pytest.fixture
def first(tmp_path: Path) -> QuestionSet:
    small.write_mini_dev(tmp_path)
    return load_set("mini_dev", tmp_path)


@pytest.fixture
def later(tmp_path: Path) -> QuestionSet:
    small.write_mini_dev_2025(tmp_path)
    return load_set("mini_dev_2025", tmp_path)
