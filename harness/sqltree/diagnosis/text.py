"""From a SQL text to its reading: every text that is one query in its dialect and no longer than a limit."""

import re

from dialects.enums import Dialect
from harness.data.questions import DatabaseSchema
from harness.sqltree.diagnosis.reading import Reading

LONGEST = 20_000
"""Characters of a text that is read; what takes longer than a moment is not worth a class."""

_BEGINNING = re.compile(
    r"(?:\s|--[^\n]*+(?:\n|\Z)|/\*(?s:.*?)\*/)*+(?:\(|(?:select|with|values)\b)", re.IGNORECASE
)


def read(sql: str, dialect: Dialect, schema: DatabaseSchema | None = None) -> Reading | None:
    """What a query says.

    Args:
        sql: one text; of several statements the last counts, as on PostgreSQL.
        dialect: whose SQL it is.
        schema: of the database. Without one, columns are told apart by their names alone.

    Returns:
        None if the text is no query or cannot be read: it is not the dialect's, is longer than `LONGEST`, or
        is nested too deeply.
    """
    if len(sql) > LONGEST:
        return None
    from harness.sqltree.diagnosis.trees import reading_of  # noqa: PLC0415 - sqlglot takes as long as 500 pairs

    return reading_of(sql, dialect, schema)


def is_query(sql: str, dialect: Dialect) -> bool:
    """Whether a text begins as a query, not as another statement or as prose.

    Of several statements the last counts, but the first in a text that is longer than `LONGEST`.
    """
    if len(sql) > LONGEST:
        return _BEGINNING.match(sql) is not None
    from harness.sqltree.diagnosis.trees import begins_query  # noqa: PLC0415 - as above

    return begins_query(sql, dialect)
