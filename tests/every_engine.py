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

INDEXED = (Dialect.SQLITE, Dialect.MYSQL, Dialect.POSTGRESQL)
"""The engines on which indexes are tried."""

OWN = tuple(dialect for dialect in LOADED if dialect is not Dialect.MARIADB)
"""Those with a loader of their own: MariaDB's is MySQL's."""

SERVED = tuple(kind.dialect for kind in served() if kind.dialect is not Dialect.MARIADB)
"""The servers with code of their own. MariaDB's is MySQL's: a test of what differs there names it."""
