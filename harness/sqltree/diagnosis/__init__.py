"""What is wrong with a prediction that does not match: one class per pair, from codes and texts alone.

An error of the engine decides where it says what it met. For everything else (rows that are not gold's, a
timeout, too large a result, an error that depends on the rows) the texts of prediction and gold are compared.
No rows are needed, so the classes of a run can be made again from its files. docs/error-classes.md has the
rules.
"""

from collections.abc import Callable

from dialects.enums import Dialect
from harness.data.questions import DatabaseSchema
from harness.engines import kind_of
from harness.engines.error_classes import ErrorClass
from harness.sqltree.diagnosis.differences import first_difference
from harness.sqltree.diagnosis.groups import GROUPS, Group
from harness.sqltree.diagnosis.reading import Reading
from harness.sqltree.diagnosis.text import is_query, read

__all__ = ["GROUPS", "Group", "Reading", "diagnose", "is_query", "read"]


def diagnose(  # noqa: PLR0913 - everything that is known of a pair
    prediction: str,
    gold: Callable[[], Reading | None],
    dialect: Dialect,
    schema: DatabaseSchema | None = None,
    *,
    code: str | None = None,
    error: str | None = None,
) -> ErrorClass:
    """The class of a prediction that is the predictor's and does not match.

    Args:
        prediction: its text.
        gold: gives what `read` finds in the gold of the same question and dialect; asked where it matters.
        dialect: whose SQL both are.
        schema: of the database, as published; None where none is.
        code: the engine's error code, where there was an error.
        error: the engine's words, or what else ended the execution; None where it returned rows.

    Returns:
        SYNTAX also where a text that runs is no query; OTHER where one cannot be read here, or prediction and
        gold say the same.
    """
    found = None if error is None else kind_of(dialect).class_of_error(code, error)
    if found is not None:
        return found
    reading = read(prediction, dialect, schema)
    if reading is None and not is_query(prediction, dialect):
        return ErrorClass.SYNTAX
    of_gold = None if reading is None else gold()
    return ErrorClass.OTHER if reading is None or of_gold is None else first_difference(reading, of_gold)
