"""Diagnosis of predictions that do not match: one class for each pair, from codes and texts alone.

An error of the engine decides where it says what it met. For everything else (rows that are not gold's, a
timeout, too large a result, an error that depends on the rows) the texts of prediction and gold are compared.
No rows are needed, so the classes of a run can be made again from its files. The rules are in
docs/reference/error-classes.md.
"""

import re
from collections.abc import Callable
from enum import StrEnum

from harness.engines import EngineName, kind_of
from harness.engines.errors import ErrorClass
from harness.sqltree import DatabaseSchema
from harness.sqltree.diagnosis.differences import Reading, first_difference


class ErrorGroup(StrEnum):
    """A predictor's misunderstanding: the four groups of the BIRD paper's error analysis, by rules.

    Li et al. 2023, "Can LLM Already Serve as A Database Interface?", on error analysis,
    https://arxiv.org/abs/2305.03111. There people read 500 wrong answers of ChatGPT. The rules are in
    docs/reference/error-classes.md.
    """

    SCHEMA_LINKING = "schema_linking"
    """Existing tables and columns other than those that the question needs."""
    DATABASE_CONTENT = "database_content"
    """Tables, columns, types or values that the database does not have."""
    KNOWLEDGE_EVIDENCE = "knowledge_evidence"
    """Values, formulas and orders that only evidence explains."""
    SYNTAX = "syntax"
    """The engine's SQL."""
    UNASSIGNED = "unassigned"
    """None of the paper's groups."""


LONGEST = 20_000
"""Characters of a text that is read; what takes longer than a moment is not worth a class."""

_BEGINNING = re.compile(
    r"(?:\s|--[^\n]*+(?:\n|\Z)|/\*(?s:.*?)\*/)*+(?:\(|(?:select|with|values)\b)", re.IGNORECASE
)


def read(sql: str, dialect: EngineName, schema: DatabaseSchema | None = None) -> Reading | None:
    """Return the reading of a query.

    Args:
        sql: one text; of several statements the last counts, as on PostgreSQL.
        dialect: whose SQL it is.
        schema: of the database. Without one, columns are distinguished by their names alone.

    Returns:
        None if the text is no query or cannot be read: it is not the dialect's, is longer than `LONGEST`, or
        is nested too deeply.
    """
    if len(sql) > LONGEST:
        return None
    from harness.sqltree.diagnosis.reader import reading_of  # noqa: PLC0415 - sqlglot takes as long as 500 pairs

    return reading_of(sql, dialect, schema)


def is_query(sql: str, dialect: EngineName) -> bool:
    """True if a text begins as a query, not as another statement or as prose.

    Of several statements the last counts, but the first in a text that is longer than `LONGEST`.
    """
    if len(sql) > LONGEST:
        return _BEGINNING.match(sql) is not None
    from harness.sqltree.parser import begins_query  # noqa: PLC0415 - as above

    return begins_query(sql, dialect)


_PLAIN_NAME = re.compile(r"[a-z0-9_]+")
"""A name with one spelling, quoted or not."""

__all__ = ["ErrorGroup", "Reading", "diagnose", "is_query", "read"]


def diagnose(  # noqa: PLR0913 - everything that is known of a pair
    prediction: str,
    gold: Callable[[], Reading | None],
    dialect: EngineName,
    schema: DatabaseSchema | None = None,
    *,
    code: str | None = None,
    error: str | None = None,
) -> ErrorClass:
    """Return the class of a prediction that is the predictor's and does not match.

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
    of_gold = gold()
    if of_gold is not None and _misses_table(prediction, of_gold):
        return ErrorClass.WRONG_TABLES
    reading = read(prediction, dialect, schema)
    if reading is None and not is_query(prediction, dialect):
        return ErrorClass.SYNTAX
    return ErrorClass.OTHER if reading is None or of_gold is None else first_difference(reading, of_gold)


def _misses_table(prediction: str, gold: Reading) -> bool:
    """True if a query does not even spell the name of a table of gold's: it need not be parsed."""
    text = prediction.rstrip("; \n")
    if len(text) > LONGEST or ";" in text or not _BEGINNING.match(text):
        return False
    spelled = text.lower()
    return any(name not in spelled for name in gold.tables if _PLAIN_NAME.fullmatch(name))
