"""Every target of translations has its modules here, with all that their seams ask for."""

import pytest

from dialects.enums import Dialect
from dialects.targets import TARGETS
from loaders.server import Sessions, sessions
from loaders.target import target


@pytest.mark.parametrize("dialect", TARGETS)
def test_every_target_has_modules_that_load(dialect: Dialect) -> None:
    assert target(dialect).dialect is dialect
    asked = {name for name in (*vars(Sessions), *Sessions.__annotations__) if not name.startswith("_")}
    assert {name for name in asked if hasattr(sessions(dialect), name)} == asked
