"""SQLite's functions for servers, in one namespace: those that no built-in of a target can replace exactly.

Each target's functions are one file of SQL, `mysql.sql` and `postgresql.sql`, with the same names, arguments
and meaning in both. Every load in profile `faithful` installs them, and only translations use them.
"""

import hashlib
import importlib
import re
from functools import cache
from pathlib import Path
from typing import cast

from dialects.enums import Dialect

_STATEMENT = re.compile(r"^CREATE FUNCTION .*?(?=^CREATE FUNCTION |\Z)", re.DOTALL | re.MULTILINE)
_TRAILING = re.compile(r"(?:\s|--[^\n]*$)*\Z", re.MULTILINE)


@cache
def script(dialect: Dialect) -> str:
    """Return the text of one target's file, or what its folder makes of another's."""
    file = Path(__file__).with_name(f"{dialect}.sql")
    if file.exists():
        return file.read_text(encoding="utf-8")
    return cast("str", importlib.import_module(f"loaders.{dialect}.functions").script())


@cache
def digest(dialect: Dialect) -> str:
    """Return a digest that identifies the version of the functions."""
    return hashlib.sha256(script(dialect).encode()).hexdigest()


def statements(dialect: Dialect) -> list[str]:
    """Return the file's statements, one per function, without the comments between them."""
    return [_TRAILING.sub("", found[0]).rstrip(";") for found in _STATEMENT.finditer(script(dialect))]
