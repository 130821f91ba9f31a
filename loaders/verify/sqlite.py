"""A SQLite file as a proof reads it: its tables by SQLite's own word, and its values as they are stored."""

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dialects.identifiers import quoted
from loaders.verify.forms import Value

_BATCH_ROWS = 2_000
_BATCH_BYTES = 8_000_000
_NUMBER_BYTES = 64
"""What a value takes in memory besides its bytes, about."""
_RESULTS_AT_A_TIME = 1_000
"""SQLite returns at most 2,000 values per row. https://sqlite.org/limits.html#max_column."""
_HIDDEN = 1
"""Of a virtual table; generated columns have 2 and 3. https://sqlite.org/pragma.html#pragma_table_xinfo."""


@dataclass(frozen=True)
class FileColumn:
    """One column, generated ones included."""

    name: str
    declared: str
    longest: int = 0
    """Bytes of its longest text or blob."""


@dataclass(frozen=True)
class FileTable:
    """One table that holds data of its own: no view, and none that is or serves a virtual table."""

    name: str
    columns: tuple[FileColumn, ...]
    key: tuple[str, ...]
    """The columns of the primary key; empty if there is none."""
    place: str | None
    """What gives the rowid where no column has it: SQLite's name for that, unless a column hides it."""


def file_tables(connection: sqlite3.Connection) -> list[FileTable]:
    """Every table of the file, by name. https://sqlite.org/pragma.html#pragma_table_list."""
    found = connection.execute(
        "SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table'"
        r" AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY name"
    ).fetchall()
    return [_table(connection, name, has_rowid=not without) for name, without in found]


def _place(connection: sqlite3.Connection, name: str, *, has_rowid: bool) -> str | None:
    """A primary key that has no index although there are rowids is the rowid.

    https://sqlite.org/lang_createtable.html#rowid
    """
    [keyed, hidden] = connection.execute(
        "SELECT max(pk), max(lower(name) = 'rowid') FROM pragma_table_xinfo(?)", (name,)
    ).fetchone()
    [indexes] = connection.execute(
        "SELECT count(*) FROM pragma_index_list(?) WHERE origin = 'pk'", (name,)
    ).fetchone()
    return "rowid" if has_rowid and not hidden and (indexes or not keyed) else None


def _table(connection: sqlite3.Connection, name: str, *, has_rowid: bool) -> FileTable:
    rows = connection.execute(
        "SELECT name, type, pk FROM pragma_table_xinfo(?) WHERE hidden != ?", (name, _HIDDEN)
    ).fetchall()
    sizes: list[int | None] = []
    for start in range(0, len(rows), _RESULTS_AT_A_TIME):
        wanted = ", ".join(
            f"max(CASE WHEN typeof({column}) IN ('text', 'blob') THEN length(CAST({column} AS BLOB)) END)"
            for column in (quoted(row[0]) for row in rows[start : start + _RESULTS_AT_A_TIME])
        )
        sizes += connection.execute(f"SELECT {wanted} FROM {quoted(name)} NOT INDEXED").fetchone()  # noqa: S608
    return FileTable(
        name,
        tuple(
            FileColumn(column, declared, size or 0)
            for (column, declared, _), size in zip(rows, sizes, strict=True)
        ),
        tuple(row[0] for row in sorted(rows, key=lambda row: int(row[2])) if row[2]),
        _place(connection, name, has_rowid=has_rowid),
    )


def classes_of(connection: sqlite3.Connection, table: FileTable, column: str) -> set[type]:
    """The classes of a column's values, as `batches` gives them."""
    kinds = {"integer": int, "real": float, "text": bytearray, "blob": bytes}
    found = connection.execute(f"SELECT DISTINCT typeof({quoted(column)}) FROM {quoted(table.name)}")  # noqa: S608
    return {kinds[name] for (name,) in found if name != "null"}


def batches(
    connection: sqlite3.Connection, table: FileTable, columns: Sequence[str]
) -> Iterator[list[tuple[Value, ...]]]:
    """Read some columns of a table through, a bounded number of bytes at a time.

    Args:
        connection: the file's.
        table: which table.
        columns: SQL that gives each.

    Yields:
        Rows, at least one; a text is a bytearray of UTF-8, whatever its bytes are, and a blob is bytes. Until
        the last of them, so is every text that anybody reads through the connection.
    """
    width = sum(_NUMBER_BYTES + column.longest for column in table.columns)
    size = max(1, min(_BATCH_ROWS, _BATCH_BYTES // width))
    factory, connection.text_factory = connection.text_factory, bytearray
    try:
        cursor = connection.execute(f"SELECT {', '.join(columns)} FROM {quoted(table.name)} NOT INDEXED")  # noqa: S608
        while rows := cursor.fetchmany(size):
            yield rows
    finally:
        connection.text_factory = factory
