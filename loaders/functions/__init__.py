"""SQLite's functions for servers: what no target can say exactly in its own words, in one namespace.

Each target's functions are one file of SQL, `mysql.sql` and `postgresql.sql`, with the same names, arguments
and meaning in both. They come with every load in profile `faithful`, and only translations use them.
"""

import hashlib
import re
from functools import cache
from pathlib import Path

from dialects.enums import Dialect

_STATEMENT = re.compile(r"^CREATE FUNCTION .*?(?=^CREATE FUNCTION |\Z)", re.DOTALL | re.MULTILINE)
_TRAILING = re.compile(r"(?:\s|--[^\n]*$)*\Z", re.MULTILINE)


@cache
def script(dialect: Dialect) -> str:
    """The file of one target."""
    return Path(__file__).with_name(f"{dialect}.sql").read_text(encoding="utf-8")


@cache
def digest(dialect: Dialect) -> str:
    """What tells one version of the functions from another."""
    return hashlib.sha256(script(dialect).encode()).hexdigest()


def statements(dialect: Dialect) -> list[str]:
    """The file's statements, one for each function, without the comments between them."""
    return [_TRAILING.sub("", found[0]).rstrip(";") for found in _STATEMENT.finditer(script(dialect))]
