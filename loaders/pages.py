"""Write a SQLite table as text for LOAD DATA or COPY, a bounded number of bytes at a time.

Separators are characters that are rare in texts, so that escapes are rarely needed and SQLite itself writes
whole pages of lines. A page with an unexpected number of separators is written again with escapes; a page
with a character that SQLite does not write is written by Python, value by value.
"""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dialects.identifiers import quoted
from dialects.schema import PortableType, Table
from dialects.server_schema import ServerColumn, ServerTable
from loaders.portable import DAY, escaped_value
from loaders.source import rowid_name, text_of

REAL = (
    "CASE WHEN {0} IS NULL THEN NULL"
    " WHEN abs({0}) < 1e9 AND {0} != 0 AND round({0} * 1e6) / 1e6 = {0}"
    " THEN CAST(round({0} * 1e6) AS INTEGER) || 'e-6'"
    " ELSE exact_text({0}) END"
)
"""A double as text that reads back as the same double.

The quotient of two exact doubles is rounded once, and so is its text when it is read. So numbers with six
decimals need no shortest text, which only Python can compute. Zero may have a sign.
"""

SINGLE = REAL.replace("exact_text", "single_text")
"""A double as text that reads as the nearest single.

Reading a text and rounding the double can differ only if one of the two is exactly between two singles. Such
a midpoint has 25 bits: none is that near to a number of six decimals, unless it is that number.
"""


@dataclass(frozen=True)
class TextForm:
    """The format in which a server reads a table as text."""

    escape: bytes
    """The escape character; followed by N it means NULL."""
    field: bytes
    """The separator of fields."""
    line: bytes
    """The end of a line."""
    escapes: Mapping[bytes, bytes]
    """Replacements for characters with a special meaning; `escape` is the first."""
    reals: Mapping[str, str]
    """SQL that writes a value as text, for each fractional type."""

    @property
    def null(self) -> bytes:
        """The text for NULL."""
        return self.escape + b"N"


MYSQL = TextForm(
    escape=b"\x1d",
    field=b"\x1f",
    line=b"\x1e",
    escapes={special: b"\x1d" + special for special in (b"\x1d", b"\x1e", b"\x1f")},
    reals={"double": REAL},
)
"""Uses ASCII's information separators."""

POSTGRESQL = TextForm(
    escape=b"\\",
    field=b"\x1f",
    line=b"\n",
    escapes={b"\\": b"\\\\", b"\n": b"\\n", b"\r": b"\\r", b"\x1f": b"\\\x1f"},
    reals={"double precision": REAL, "real": SINGLE},
)
"""The text format of COPY, in which only the separator of fields can be chosen."""

_BLOBS = frozenset({"longblob", "bytea", "blob"})

_PAGE_ROWS = 1_000
_PAGE_BYTES = 4_000_000
_NUMBER_BYTES = 32
"""Approximate memory for a value that is not a text."""
_LONGEST_LINE = _PAGE_BYTES // 4
"""SQLite holds a line in memory three times until its page is complete."""

_SELDOM = 100
_MOST_COLUMNS = 400
"""Well below SQLite's limit of 1,000 nested operations. https://sqlite.org/limits.html."""

_LEAST_ROWID, _GREATEST_ROWID = -(2**63), 2**63 - 1


def pages(connection: sqlite3.Connection, table: ServerTable, form: TextForm) -> Iterator[tuple[bytes, int]]:
    """Write a table, in the order of its rowid or key.

    Args:
        connection: one of `loaders.source.opened`.
        table: the table to write: its columns in order, then the rowid if `table.place` is set.
        form: the format.

    Yields:
        Bytes to send, and the number of lines that end in them. A long line is split into parts.

    Raises:
        sqlite3.OperationalError: a text could not be read. Some invalid UTF-8 is not detected here and sent
            unchanged.
    """
    rowid = _rowid(table)
    if rowid is None or not is_plain(connection, table):
        # NOT INDEXED: a covering index would return the rows in its own order.
        query = f"SELECT {', '.join(_values(table))} FROM {quoted(table.source.name)} NOT INDEXED"  # noqa: S608
        yield from _lines(connection.execute(query), table, form)
    else:
        yield from _whole_pages(connection, table, rowid, form)


def is_plain(connection: sqlite3.Connection, table: ServerTable) -> bool:
    """True if SQLite can write its pages: it has rowids, UTF-8 texts, no blobs, no long values."""
    return (
        connection.execute("PRAGMA encoding").fetchone() == ("UTF-8",)
        and _rowid(table) is not None
        and not any(column.type in _BLOBS for column in table.columns)
        and _width(table) <= _LONGEST_LINE
        and len(table.columns) <= _MOST_COLUMNS
    )


def encoded(row: Sequence[object], form: TextForm) -> Iterator[bytes]:
    """Write one line, field by field, with special characters escaped."""
    separator = b""
    for value in row:
        yield separator + _field(value, form)
        separator = form.field
    yield form.line


def _field(value: object, form: TextForm) -> bytes:
    if value is None:
        return form.null
    if isinstance(value, int | float):
        return str(value).encode()
    data = value if isinstance(value, bytes) else str(value).encode()
    for special, written in form.escapes.items():
        if special in data:
            data = data.replace(special, written)
    return data


def _rowid(table: ServerTable) -> str | None:
    """Return SQL for the rowid; None if there is none or its names are taken."""
    if table.source.rowid is not None:
        return quoted(table.source.rowid)
    return rowid_name(column.source.name for column in table.columns) if table.source.has_rowid else None


def _width(table: ServerTable) -> int:
    return sum(_NUMBER_BYTES + column.source.longest for column in table.columns)


def _size(table: ServerTable) -> int:
    """Return the number of rows in a page."""
    return max(1, min(_PAGE_ROWS, _PAGE_BYTES // _width(table)))


def _values(table: ServerTable) -> list[str]:
    """Return SQL for the fields of a row."""
    values = [stored_value(column) for column in table.columns]
    return values if table.place is None else [*values, "rowid"]


def _lines(cursor: sqlite3.Cursor, table: ServerTable, form: TextForm) -> Iterator[tuple[bytes, int]]:
    if _width(table) > _LONGEST_LINE:
        for row in cursor:
            for part in encoded(row, form):
                yield part, 0
            yield b"", 1
        return
    while rows := cursor.fetchmany(_size(table)):
        yield b"".join(part for row in rows for part in encoded(row, form)), len(rows)


def _whole_pages(
    connection: sqlite3.Connection, table: ServerTable, rowid: str, form: TextForm
) -> Iterator[tuple[bytes, int]]:
    values, name = _values(table), f"{quoted(table.source.name)} NOT INDEXED"
    nullable = [quoted(column.source.name) for column in table.columns if column.source.nulls]
    texts = [
        quoted(column.source.name)
        for column in table.columns
        if _is_text(column) and not column.source.escaped
    ]
    place = f"FROM {name} WHERE {rowid} BETWEEN ? AND ?"
    # printf() stops at a NUL character; group_concat() does not.
    checks = [
        " + ".join([f"count(*) * {len(nullable)}", *(f"- count({column})" for column in nullable)]),
        *(f"CAST(group_concat({column}, '') AS BLOB)" for column in texts),
    ]
    plain, escaped = (
        f"SELECT CAST(group_concat({line}, '') AS BLOB), count(*), {', '.join(checks)} {place}"
        for line in (_line(connection, table, form, escape=escape) for escape in (False, True))
    )
    rows = f"SELECT {', '.join(values)} {place} ORDER BY {rowid}"
    later = f"SELECT {rowid} FROM {name} WHERE {rowid} >= ? ORDER BY {rowid} LIMIT 1 OFFSET {_size(table)}"  # noqa: S608
    start, last, is_seldom = _LEAST_ROWID, None, True
    while last != _GREATEST_ROWID:
        [following] = connection.execute(later, (start,)).fetchone() or (None,)
        last = _GREATEST_ROWID if following is None else following - 1
        text, count, nulls, *printed = connection.execute(
            plain if is_seldom else escaped, (start, last)
        ).fetchone()
        if not count:
            return
        if any(b"\0" in of_column for of_column in printed if of_column):
            yield from _lines(connection.execute(rows, (start, last)), table, form)
        else:
            if is_seldom and not _is_sound(text, count, nulls, len(values), form):
                # If one page needs escapes, others probably do, too.
                is_seldom = False
                text = connection.execute(escaped, (start, last)).fetchone()[0]
            yield text, count
        start = last + 1


def _is_sound(text: bytes, lines: int, nulls: int, fields: int, form: TextForm) -> bool:
    """True if the numbers of separators and escapes show that the texts contain none."""
    expected = {form.escape: nulls, form.line: lines, form.field: lines * (fields - 1)}
    return all(
        _times(text, special, expected.get(special, 0)) == expected.get(special, 0)
        for special in form.escapes
    )


def _times(text: bytes, special: bytes, expected: int) -> int:
    """Count `special`; if it is rare, splitting is faster than comparing each byte."""
    return len(text.split(special)) - 1 if len(text) > _SELDOM * expected else text.count(special)


def _line(connection: sqlite3.Connection, table: ServerTable, form: TextForm, *, escape: bool) -> str:
    """Return SQL for a line, with as few calls of printf() as possible: each || would copy the line."""
    fields = [_written(column, form, escape=escape) for column in table.columns]
    if table.place is not None:
        fields.append(("%d", "rowid"))
    most = connection.getlimit(sqlite3.SQLITE_LIMIT_FUNCTION_ARG) - 1
    calls = []
    for first in range(0, len(fields), most):
        part = fields[first : first + most]
        end = form.line if first + most >= len(fields) else form.field
        template = form.field.decode().join(directive for directive, _ in part) + end.decode()
        calls.append(f"printf('{template}', {', '.join(value for _, value in part)})")
    return " || ".join(calls)


def _written(column: ServerColumn, form: TextForm, *, escape: bool) -> tuple[str, str]:
    """Return printf()'s directive for a column, and its argument."""
    value = stored_value(column)
    if column.type == "bigint" and not column.source.nulls:
        return "%d", value
    if column.type in form.reals:
        value = form.reals[column.type].format(value)
    if escape and _is_text(column):
        for special, written in form.escapes.items():
            value = f"replace({value}, '{special.decode()}', '{written.decode()}')"
    return "%s", f"ifnull({value}, '{form.null.decode()}')" if column.source.nulls else value


def _is_text(column: ServerColumn) -> bool:
    return column.type.startswith(("text", "longtext", "varchar"))


_BATCH_ROWS = 1_000
_BATCH_BYTES = 4_000_000


def stored_value(column: ServerColumn) -> str:
    """Return SQL for a column's value in the form that its type on the server reads as text."""
    name, source = quoted(column.source.name), column.source
    if source.escaped:
        return escaped_value(name, among_others=source.mixed)
    if source.mixed:
        return text_of(name) if source.type is PortableType.TEXT else f"CAST({name} AS REAL)"
    if source.slashes and column.type == "date":
        return DAY.format(name)
    return name


def batches(
    connection: sqlite3.Connection, table: Table, values: Sequence[str]
) -> Iterator[list[tuple[Any, ...]]]:
    """Yield all rows of a table in batches.

    Args:
        connection: the file's.
        table: what to read.
        values: one SQL expression per column.
    """
    width = sum(_NUMBER_BYTES + column.longest for column in table.columns)
    size = max(1, min(_BATCH_ROWS, _BATCH_BYTES // width))
    # NOT INDEXED: a covering index would return the rows in its own order.
    cursor = connection.execute(f"SELECT {', '.join(values)} FROM {quoted(table.name)} NOT INDEXED")  # noqa: S608
    while rows := cursor.fetchmany(size):
        yield rows
