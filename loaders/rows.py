"""The rows of a SQLite table, in the order of their rowid or key, a bounded number of bytes at a time."""

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

from dialects.identifiers import quoted
from dialects.schema import PortableType, Table
from dialects.server_schema import ServerColumn
from loaders import dates
from loaders.escaping import escaped_value
from loaders.source import text_of

_BATCH_ROWS = 1_000
_BATCH_BYTES = 4_000_000
_NUMBER_BYTES = 32
"""What a value that is no text takes in memory, about."""


def stored_value(column: ServerColumn) -> str:
    """SQL for a column's value in the form that its type on the server reads as text."""
    name, source = quoted(column.source.name), column.source
    if source.escaped:
        return escaped_value(name, among_others=source.mixed)
    if source.mixed:
        return text_of(name) if source.type is PortableType.TEXT else f"CAST({name} AS REAL)"
    if source.slashes and column.type == "date":
        return dates.DAY.format(name)
    return name


def batches(
    connection: sqlite3.Connection, table: Table, values: Sequence[str]
) -> Iterator[list[tuple[Any, ...]]]:
    """Read a table through.

    Args:
        connection: the file's.
        table: what to read.
        values: an SQL expression per column.
    """
    width = sum(_NUMBER_BYTES + column.longest for column in table.columns)
    size = max(1, min(_BATCH_ROWS, _BATCH_BYTES // width))
    # NOT INDEXED: a covering index would give the rows in its own order.
    cursor = connection.execute(f"SELECT {', '.join(values)} FROM {quoted(table.name)} NOT INDEXED")  # noqa: S608
    while rows := cursor.fetchmany(size):
        yield rows
