"""SQL texts read for reports: Spider's measures, error classes, constructs. Nothing here executes a text.

What a question set publishes of its databases, in Spider's form of it (`tables.json`), is here, too.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class SchemaColumn:
    """One column, spelled as in the database; `type` is Spider's (text, integer, real, date, datetime)."""

    table: str
    name: str
    type: str


@dataclass(frozen=True)
class DatabaseSchema:
    """The published schema of one database."""

    db_id: str
    tables: tuple[str, ...]
    columns: tuple[SchemaColumn, ...]
    primary_keys: tuple[tuple[SchemaColumn, ...], ...]
    """One per table that has a primary key; a compound key has several columns."""
    foreign_keys: tuple[tuple[SchemaColumn, SchemaColumn], ...]
    """Pairs of a referring and a referred column."""
