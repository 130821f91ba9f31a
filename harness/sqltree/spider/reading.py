"""SQL text -> the clauses that Spider compares: every text that is one query and no longer than a limit."""

from harness.sqltree.spider.names import Schema
from harness.sqltree.spider.query import Query

LONGEST = 20_000
"""Characters of a text that is read."""


def read(sql: str, schema: Schema) -> Query | None:
    """Read one SELECT or compound SELECT of SQLite's dialect.

    Returns:
        Its clauses, or None where the text is nothing of the kind, names what `schema` does not have, is
        longer than `LONGEST`, or is nested too deeply.
    """
    if len(sql) > LONGEST:
        return None
    from harness.sqltree.spider.trees import query_of  # noqa: PLC0415 - sqlglot takes as long as 500 pairs

    return query_of(sql, schema)
