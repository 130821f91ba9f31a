"""What SQLite's messages say of a statement.

An error that depends on the rows (a division by zero, a subquery with several rows) is in no class: there the
text of the query says more.
"""

import re
from collections.abc import Sequence

from harness.engines.error_classes import ErrorClass

_BEGINNINGS: Sequence[tuple[ErrorClass, re.Pattern[str]]] = tuple(
    (found, re.compile(rf"\A(?:{start})"))
    for found, start in (
        (ErrorClass.UNKNOWN_TABLE, "no such table|unknown database"),
        (
            ErrorClass.UNKNOWN_COLUMN,
            "no such column|ambiguous column name|ON clause references tables|cannot join using",
        ),
        (ErrorClass.TYPE_ERROR, "wrong number of arguments|DISTINCT aggregates must|datatype mismatch"),
        (ErrorClass.TYPE_ERROR, "malformed JSON|bad JSON path|JSON path error|ESCAPE expression must"),
        (
            ErrorClass.WRONG_AGGREGATION,
            "misuse of |aggregate functions are not|HAVING clause on|GROUP BY clause is required",
        ),
        (ErrorClass.WRONG_AGGREGATION, r"\w+ GROUP BY term"),
        (ErrorClass.WRONG_ORDER, r"\w+ ORDER BY term"),
        (
            ErrorClass.SYNTAX,
            "near |unrecognized token|incomplete input|no such function|no such window|no tables specified",
        ),
        (
            ErrorClass.SYNTAX,
            "not authorized|unable to use function|You can only execute one|the query contains a null",
        ),
        (
            ErrorClass.SYNTAX,
            "SELECTs to the left|sub-select returns|row value misused|all VALUES must have|table .* has",
        ),
        (
            ErrorClass.SYNTAX,
            r"(ORDER BY|LIMIT) clause should|unknown join type|unknown or unsupported join|a NATURAL join",
        ),
        (ErrorClass.SYNTAX, "circular reference|unsupported frame|RANGE with offset"),
    )
)
"""How SQLite's messages begin: it has one code (SQLITE_ERROR) for every statement that it cannot prepare.

https://www.sqlite.org/rescode.html#error
"""


def class_of_error(code: str | None, message: str) -> ErrorClass | None:
    """See `EngineKind.class_of_error`."""
    del code  # it is the same for all of these
    return next((found for found, start in _BEGINNINGS if start.match(message)), None)
