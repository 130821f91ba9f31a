"""The engines as parameters of tests, with the marker that tests of a server need."""

import pytest

from dialects.enums import Dialect
from harness.engines import served

EVERY_ENGINE = [
    pytest.param(dialect, marks=() if dialect is Dialect.SQLITE else pytest.mark.engine)
    for dialect in Dialect
]

LOADED = tuple(dialect for dialect in Dialect if dialect is not Dialect.SQLITE)
"""The engines that databases are loaded into, and SQLite's queries translated for."""

SERVED = tuple(kind.dialect for kind in served())
"""Those of them that are servers."""
