"""Parse and print numeric constants as SQLite does, without a server."""

import math
import re
import sqlite3
from contextlib import closing

_PREFIX = re.compile(r"[ \t\n\v\f\r]*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)", re.ASCII)
_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
_LARGEST = 2**63 - 1
_ENOUGH_DIGITS = 20
"""More digits than any SQLite integer has."""


def numeric_prefix(text: str) -> int | float:
    """Convert a text to a number as arithmetic does. https://sqlite.org/lang_expr.html#castexpr."""
    found = _PREFIX.match(text)
    return 0 if found is None else _number(found[1])


def well_formed(text: str) -> int | float | None:
    """Return the number that a whole text is, with blanks around it allowed; None if it is not a number.

    https://sqlite.org/datatype3.html#type_affinity
    """
    found = _PREFIX.fullmatch(text.rstrip(" \t\n\v\f\r"))
    return None if found is None else _number(found[1])


def integer_of(found: str | float) -> int:
    """Return CAST(... AS INTEGER) of a text or a real. https://sqlite.org/lang_expr.html#castexpr."""
    if isinstance(found, str):
        digits = _INTEGER.match(found.lstrip(" \t\n\v\f\r"))
        whole = _whole(digits[0]) if digits else 0
    else:
        whole = math.trunc(found) if math.isfinite(found) else (_LARGEST if found > 0 else -_LARGEST - 1)
    return max(-_LARGEST - 1, min(_LARGEST, whole))


def printed(found: float) -> str:
    """Return a number as SQLite prints it, by asking SQLite; an integer beyond 64 bits is a real there."""
    if not -_LARGEST - 1 <= found <= _LARGEST:
        found = float(found)
    with closing(sqlite3.connect(":memory:")) as connection:
        return str(connection.execute("SELECT CAST(? AS TEXT)", (found,)).fetchone()[0])


def _number(digits: str) -> int | float:
    if _INTEGER.fullmatch(digits) and -_LARGEST - 1 <= (whole := _whole(digits)) <= _LARGEST:
        return whole
    return float(digits)


def _whole(digits: str) -> int:
    """Return the integer that digits denote; if too large for SQLite, any other too large one."""
    # Python does not parse thousands of digits: https://docs.python.org/3/library/stdtypes.html#int-max-str-digits
    size = int(digits.lstrip("+-0")[:_ENOUGH_DIGITS] or 0)
    return -size if digits.startswith("-") else size
