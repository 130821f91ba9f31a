"""Every target of translations has its modules here, with all that their seams ask for."""

import pytest

from dialects.enums import Dialect
from dialects.targets import TARGETS
from loaders.target import Target, target


@pytest.mark.parametrize("dialect", TARGETS)
def test_every_target_has_a_module_that_loads(dialect: Dialect) -> None:
    found = target(dialect)
    asked = {name for name in vars(Target) if not name.startswith("_")}
    assert {name for name in asked if callable(getattr(found, name, None))} == asked
