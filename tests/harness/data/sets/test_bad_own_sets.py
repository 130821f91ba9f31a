"""One line says what is wrong with a user's own set, where, and what to do: never to fetch it again."""

from pathlib import Path

import pytest

from dialects.errors import BadInput
from harness.data.sets.loader import load_set
from tests.harness.data.sets.bad_own_sets import CASES, Case


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_one_line_names_file_entry_and_remedy(case: Case, tmp_path: Path) -> None:
    folder = case.make(tmp_path / "mine")
    case.spoil(folder)
    with pytest.raises(BadInput) as raised:
        load_set(str(folder)).require_databases()
    message = str(raised.value)
    assert raised.value.exit_code == 2
    assert message.isprintable()
    assert len(message) < 1000 + 3 * len(str(tmp_path))
    assert "fetch it again" not in message
    assert "fetch the file" not in message
    assert [part for part in case.says if part not in message] == [], message


def test_cases_differ() -> None:
    assert len({case.name for case in CASES}) == len(CASES) >= 60


@pytest.mark.parametrize("name", ["minidev", "./nowhere", "/nowhere/at/all.json", "nowhere/benchmark.toml"])
def test_a_set_that_is_not_there(name: str) -> None:
    with pytest.raises(BadInput, match=r"not known; choose one of|no such file|No such file"):
        load_set(name)
