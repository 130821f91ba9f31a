"""The rows that a suite says a query has, beside those that SQLite gives: a second witness.

How values are written: https://sqlite.org/sqllogictest/doc/trunk/about.wiki.
"""

import hashlib
import re
from collections.abc import Sequence
from enum import StrEnum
from math import isclose, isfinite

from harness.conformance.suites import Expected
from harness.engines.base import Row

_LEADING = re.compile(r"\s*([+-]?\d+)")
_HALF_OF_THE_LAST = 0.0005


class Witness(StrEnum):
    """What the suite's own rows say of SQLite's."""

    AGREES = "agrees"
    DIFFERS = "differs"
    NONE = "none"
    """The suite has no rows for the query."""


def witness(expected: Expected | None, rows: Sequence[Row]) -> Witness:
    """Whether SQLite's rows are those of the suite."""
    if expected is None or (expected.values is None and expected.md5 is None):
        return Witness.NONE
    if rows and len(rows[0]) != len(expected.types):
        return Witness.DIFFERS
    for as_bytes in (True, False):
        written = in_order(expected, rows, as_bytes=as_bytes)
        if expected.values is None:
            agrees = len(written) == expected.count and digest(written) == expected.md5
        else:
            agrees = _agree(expected, written)
        if agrees:
            return Witness.AGREES
    return Witness.DIFFERS


def in_order(expected: Expected, rows: Sequence[Row], *, as_bytes: bool = True) -> list[str]:
    """The values of all rows as a suite writes them, in the order that it asks for.

    Args:
        expected: its types and its order.
        rows: of the query.
        as_bytes: whether each byte beyond ASCII is an @, as the original writes it, or stays.
    """
    written = [
        [_written(value, kind, as_bytes=as_bytes) for value, kind in zip(row, expected.types, strict=False)]
        for row in rows
    ]
    if expected.sort == "rowsort":
        written.sort(key=lambda row: [value.encode("utf-8", "surrogateescape") for value in row])
    values = [value for row in written for value in row]
    if expected.sort == "valuesort":
        values.sort(key=lambda value: value.encode("utf-8", "surrogateescape"))
    return values


def digest(values: Sequence[str]) -> str:
    """What stands in a suite for many values."""
    text = "".join(f"{value}\n" for value in values)
    return hashlib.md5(text.encode("utf-8", "surrogateescape"), usedforsecurity=False).hexdigest()


def _agree(expected: Expected, written: Sequence[str]) -> bool:
    """Whether values are those of the suite, which has one a line, or one row a line."""
    there, width = list(expected.values or ()), len(expected.types)
    if len(there) != len(written):
        if width == 0 or len(there) * width != len(written):
            return False
        rows = [line.split("\t") if "\t" in line else line.split() for line in there]
        if any(len(row) != width for row in rows):
            return False
        there = [value for row in rows for value in row]
    return all(
        _is_same(one, other, expected.types[at % width] if expected.sort != "valuesort" else "?")
        for at, (one, other) in enumerate(zip(there, written, strict=True))
    )


def _is_same(one: str, other: str, kind: str) -> bool:
    if one == other or one.rstrip() == other.rstrip():
        return True
    if kind in {"R", "?"}:
        try:
            return isclose(float(one), float(other), rel_tol=1e-9, abs_tol=_HALF_OF_THE_LAST)
        except ValueError:
            return False
    return False


def _written(value: object, kind: str, *, as_bytes: bool) -> str:
    if value is None:
        return "NULL"
    if kind == "I":
        return str(_integer(value))
    if kind == "R":
        return f"{_number(value):.3f}"
    text = _text(value)
    if text == "":
        return "(empty)"
    if as_bytes:
        raw = text.encode("utf-8", "surrogateescape")
        return "".join(chr(byte) if 0x20 <= byte <= 0x7E else "@" for byte in raw)  # noqa: PLR2004 - blank to tilde
    return text


def _integer(value: object) -> int:
    if isinstance(value, float):
        return int(value) if isfinite(value) else 0
    if isinstance(value, int):
        return value
    found = _LEADING.match(_text(value))
    return int(found[1]) if found else 0


def _number(value: object) -> float:
    if isinstance(value, int | float):
        return float(value)
    found = re.match(r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", _text(value))
    return float(found[0]) if found else 0.0


def _text(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    if isinstance(value, float):
        # As SQLite writes it: 15 digits, and always a point.
        text = f"{value:.15g}"
        if "inf" in text:
            return text.replace("inf", "Inf")
        mantissa, mark, exponent = text.partition("e")
        return (mantissa if "." in mantissa else f"{mantissa}.0") + mark + exponent
    return str(value)
