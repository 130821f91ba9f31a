"""Proof that other rows than SQLite's are a valid answer of the same query, or that their order is."""

from collections.abc import Sequence

from dialects.enums import Dialect
from harness.metrics.comparison import Row
from harness.scoring import ties
from harness.scoring.ranking import Run


def is_ordered(sql: str) -> bool:
    """Whether the outermost query has an ORDER BY; False where the text cannot be read."""
    return ties.is_ordered(sql, Dialect.SQLITE)


def is_valid(sql: str, rows: Sequence[Row], run: Run) -> bool:
    """Whether rows, in their order, are proven to be a valid answer of a SQLite query.

    Args:
        sql: the query as it was written.
        rows: what another engine answered.
        run: runs a text on SQLite.
    """
    return any(ranking.allows(rows) for ranking in ties.rankings(sql, Dialect.SQLITE, run))
