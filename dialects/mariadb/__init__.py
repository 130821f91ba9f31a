"""The facts about MariaDB, 11.8 and later: those of MySQL, with the differences.

From 11.4.5 on it has MySQL's collations by their names.
"""

from dataclasses import replace

from dialects import mysql
from dialects.enums import Dialect
from dialects.mysql import COLLATIONS, NAMES, SQLGLOT, TYPES

TARGET = replace(
    mysql.TARGET,
    dialect=Dialect.MARIADB,
    title="MariaDB",
    # No hint changes a setting; the harness sets them for its sessions.
)

FACTS = replace(mysql.FACTS, title=TARGET.title)

__all__ = ["COLLATIONS", "FACTS", "NAMES", "SQLGLOT", "TARGET", "TYPES"]
