"""The engines as parameters of tests, with the marker that tests of a server need."""

import pytest

from dialects.enums import Dialect

EVERY_ENGINE = [
    pytest.param(dialect, marks=() if dialect is Dialect.SQLITE else pytest.mark.engine)
    for dialect in Dialect
]

LOADED = tuple(dialect for dialect in Dialect if dialect is not Dialect.SQLITE)
"""The engines that databases are loaded into, and SQLite's queries translated for."""
