import pytest

from dialects.enums import Dialect
from tests.harness.predictors.prompts.snapshots import FOLDER, snapshots


@pytest.mark.parametrize("dialect", Dialect)
def test_prompts_are_those_that_were_read(dialect: Dialect, request: pytest.FixtureRequest) -> None:
    server = None if dialect is Dialect.SQLITE else request.getfixturevalue(f"{dialect}_server")
    made = dict(snapshots(dialect, server))
    assert {path.name for path in FOLDER.glob(f"*_{dialect}.txt")} == made.keys()
    for name, text in made.items():
        assert text.encode() == (FOLDER / name).read_bytes(), f"{name}: see {FOLDER.name}.py for what to do"
