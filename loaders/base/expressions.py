"""Expressions computed by the SQLite library of this process."""

import sqlite3
from threading import local
from typing import Any

_LOCAL = local()


def computed(expression: str, *values: object) -> Any:
    """Return what SQLite computes; the parameters are `?1`, `?2`, ..."""
    if not hasattr(_LOCAL, "ask"):
        _LOCAL.ask = sqlite3.connect(":memory:").execute
    return _LOCAL.ask(f"SELECT {expression}", values).fetchone()[0]
