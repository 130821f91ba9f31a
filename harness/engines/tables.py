"""A table in the words of its engine, as predictors are told of it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ColumnText:
    """What can be told of a column: its type as the engine says it, and what is published of it."""

    name: str
    type: str
    title: str | None = None
    """What the column is called in full (`column_name` of the description files)."""
    description: str | None = None
    values: str | None = None
    """What its values mean (`value_description`)."""


@dataclass(frozen=True)
class TableText:
    """One table in the words of its engine.

    `create` is the CREATE TABLE statement without a semicolon at its end; `rows` are the first rows in the
    order of the columns, as many as were asked for, of plain values (str, int, float, bool, None).
    """

    name: str
    create: str
    columns: tuple[ColumnText, ...]
    primary_key: tuple[str, ...] = ()
    foreign_keys: tuple[tuple[tuple[str, ...], str, tuple[str, ...]], ...] = ()
    """Referring columns, the referred table, its columns."""
    rows: tuple[tuple[object, ...], ...] = ()
