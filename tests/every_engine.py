"""The engines as parameters of tests that ask for a server by its name, with the marker that these need."""

import pytest

from dialects.enums import Dialect

EVERY_ENGINE = [
    pytest.param(dialect, marks=() if dialect is Dialect.SQLITE else pytest.mark.engine)
    for dialect in Dialect
]
