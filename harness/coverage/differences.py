"""Why rows are not SQLite's: what can be proven from the rows, or told by the engine's own error code."""

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation

from dialects.enums import Dialect
from harness.coverage.answers import Reason
from harness.engines import kind_of
from harness.engines.execution import Ending, Execution
from harness.metrics.comparison import Row, Tolerance, compare

_ENDINGS = {Ending.TIMEOUT: Reason.TIMEOUT, Ending.TOO_LARGE: Reason.TOO_LARGE}

_NINE_DECIMALS = Tolerance(1e-9, 1e-9)
_SINGLE = Tolerance(1e-5)
"""A double has 16 digits, a float of 32 bits has 7, and a sum of many of those fewer."""

_MOST_SHOWN = 3
_MOST_CHARACTERS = 120


def of_failure(dialect: Dialect, execution: Execution) -> Reason:
    """Why an execution gave no rows."""
    if execution.ending in _ENDINGS:
        return _ENDINGS[execution.ending]
    return Reason(kind_of(dialect).coverage_reasons.get(execution.code or "", Reason.ERROR))


def of_rows(reference: Sequence[Row], rows: Sequence[Row]) -> Reason:
    """Why rows differ from SQLite's, if it is the numbers alone; else DIFFERENT."""
    if compare(reference, rows, tolerance=_NINE_DECIMALS).same_bag:
        return Reason.FLOAT_SUM
    if _is_rounded(reference, rows):
        return Reason.DECIMAL_SCALE
    if compare(reference, rows, tolerance=_SINGLE).same_bag:
        return Reason.PRECISION
    return Reason.DIFFERENT


def shortened(rows: Sequence[Row]) -> tuple[str, ...]:
    """The first rows as text, each in one line."""
    return tuple(_short(repr(row)) for row in rows[:_MOST_SHOWN])


def _short(text: str) -> str:
    return text if len(text) <= _MOST_CHARACTERS else text[: _MOST_CHARACTERS - 1] + "…"


def _is_rounded(reference: Sequence[Row], rows: Sequence[Row]) -> bool:
    """Whether the rows are the same once floats are rounded to the digits of the other's exact decimals."""
    if not rows or not reference or len(reference[0]) != len(rows[0]):
        return False
    scales = {}
    for column in range(len(rows[0])):
        found = {_scale(value) for row in rows for value in [row[column]] if isinstance(value, Decimal)}
        if found:
            scales[column] = max(found)
    rounded = [
        tuple(
            _rounded(value, scales[column]) if column in scales else value for column, value in enumerate(row)
        )
        for row in reference
    ]
    return bool(scales) and compare(rounded, rows).same_bag


def _scale(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    return -exponent if isinstance(exponent, int) else 0


def _rounded(value: object, scale: int) -> object:
    if not isinstance(value, float):
        return value
    try:
        return Decimal(value).quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP)
    except InvalidOperation:
        return value
