"""A SQLite table as the text that MySQL's LOAD DATA reads, a bounded number of bytes at a time.

Separators are control characters that texts hardly ever hold, so that nothing has to be escaped and SQLite
itself writes whole pages of lines. A page in which there are not as many as there should be, or a character
that SQLite does not write, goes the long way: value by value, escaped.
https://dev.mysql.com/doc/refman/9.7/en/load-data.html
"""

import sqlite3
from collections.abc import Iterator, Sequence

from loaders.profiles import ServerColumn, ServerTable
from loaders.rows import stored_value
from loaders.source import quoted

ESCAPE, LINE, FIELD = b"\x1d", b"\x1e", b"\x1f"
"""The escape character and what ends a line and stands between fields: ASCII's separators of data."""

_NULL = ESCAPE + b"N"
_PAGE_ROWS = 1_000
_PAGE_BYTES = 4_000_000
_NUMBER_BYTES = 32
_LONGEST_LINE = _PAGE_BYTES // 4
"""SQLite has a line three times in memory until its page is there."""

_LONG_TEXT = 200
"""For longer ones it is faster to print twice than to look at every byte."""

_SELDOM = 100
_MOST_COLUMNS = 400
"""SQLite's limit of 1,000 nested operations is further than that. https://sqlite.org/limits.html."""

_ROWID_NAMES = ("rowid", "_rowid_", "oid")
_LEAST_ROWID, _GREATEST_ROWID = -(2**63), 2**63 - 1

_REAL = (
    "CASE WHEN {0} IS NULL THEN NULL"
    " WHEN abs({0}) < 1e9 AND {0} != 0 AND round({0} * 1e6) / 1e6 = {0}"
    " THEN CAST(round({0} * 1e6) AS INTEGER) || 'e-6'"
    " ELSE exact_text({0}) END"
)
"""A double as text that reads back as the same double.

The quotient of two doubles that are exact is rounded once, and so is the text of that quotient when it is
read. So six decimals need no shortest text, for which Python has to be asked. Zero may have a sign.
"""


def pages(connection: sqlite3.Connection, table: ServerTable) -> Iterator[tuple[bytes, int]]:
    """Write a table, in the order of its rowid or key.

    Args:
        connection: one of `loaders.source.opened`.
        table: what to write: its columns in their order, then the rowid where `table.place` asks for it.

    Yields:
        Bytes to send, and how many lines they end. A long line comes in several parts.

    Raises:
        sqlite3.OperationalError: a text could not be read. Not every text that is no UTF-8 is noticed here;
            the others are sent as they are.
    """
    rowid = _rowid(table)
    if rowid is None or not _is_plain(connection, table):
        # NOT INDEXED: a covering index would give the rows in its own order.
        query = f"SELECT {', '.join(_values(table))} FROM {quoted(table.source.name)} NOT INDEXED"  # noqa: S608
        yield from _lines(connection.execute(query), table)
    else:
        yield from _whole_pages(connection, table, rowid)


def encoded(row: Sequence[object]) -> Iterator[bytes]:
    """Write one line, field by field, everything escaped that would be taken for more than itself."""
    separator = b""
    for value in row:
        yield separator + _field(value)
        separator = FIELD
    yield LINE


def _field(value: object) -> bytes:
    if value is None:
        return _NULL
    if isinstance(value, int | float):
        return str(value).encode()
    data = value if isinstance(value, bytes) else str(value).encode()
    for special in (ESCAPE, LINE, FIELD):
        if special in data:
            data = data.replace(special, ESCAPE + special)
    return data


def _rowid(table: ServerTable) -> str | None:
    """SQL for the rowid, where there is one that can be asked for."""
    if table.source.rowid is not None:
        return quoted(table.source.rowid)
    taken = {column.source.name.lower() for column in table.columns}
    free = [name for name in _ROWID_NAMES if name not in taken]
    return free[0] if free and table.source.has_rowid else None


def _is_plain(connection: sqlite3.Connection, table: ServerTable) -> bool:
    """Whether SQLite can write pages of it: text in UTF-8, no blobs, nothing long."""
    is_utf8 = connection.execute("PRAGMA encoding").fetchone() == ("UTF-8",)
    has_blobs = any(column.type == "longblob" for column in table.columns)
    return (
        is_utf8 and not has_blobs and _width(table) <= _LONGEST_LINE and len(table.columns) <= _MOST_COLUMNS
    )


def _width(table: ServerTable) -> int:
    return sum(_NUMBER_BYTES + column.source.longest for column in table.columns)


def _size(table: ServerTable) -> int:
    """The rows of a page."""
    return max(1, min(_PAGE_ROWS, _PAGE_BYTES // _width(table)))


def _values(table: ServerTable) -> list[str]:
    """SQL for the fields of a row."""
    values = [stored_value(column) for column in table.columns]
    return values if table.place is None else [*values, "rowid"]


def _lines(cursor: sqlite3.Cursor, table: ServerTable) -> Iterator[tuple[bytes, int]]:
    if _width(table) > _LONGEST_LINE:
        for row in cursor:
            for part in encoded(row):
                yield part, 0
            yield b"", 1
        return
    while rows := cursor.fetchmany(_size(table)):
        yield b"".join(part for row in rows for part in encoded(row)), len(rows)


def _whole_pages(
    connection: sqlite3.Connection, table: ServerTable, rowid: str
) -> Iterator[tuple[bytes, int]]:
    values, name = _values(table), f"{quoted(table.source.name)} NOT INDEXED"
    nulls = [f"({quoted(column.source.name)} IS NULL)" for column in table.columns if column.source.nulls]
    nuls = [_nul(column) for column in table.columns if _is_text(column)]
    page = (
        "SELECT CAST(group_concat(line, '') AS BLOB), count(*), max(place), sum(nulls), max(nul) FROM ("  # noqa: S608
        f"SELECT {_line(connection, table)} AS line, {rowid} AS place, {' + '.join(nulls) or '0'} AS nulls,"
        f" {' OR '.join(nuls) or '0'} AS nul"
        f" FROM {name} WHERE {rowid} >= ? ORDER BY {rowid} LIMIT {_size(table)})"
    )
    rows = f"SELECT {', '.join(values)} FROM {name} WHERE {rowid} BETWEEN ? AND ? ORDER BY {rowid}"  # noqa: S608
    start = _LEAST_ROWID
    while start <= _GREATEST_ROWID:
        text, count, last, of_nulls, nul = connection.execute(page, (start,)).fetchone()
        if not count:
            return
        expected = {ESCAPE: of_nulls, LINE: count, FIELD: count * (len(values) - 1)}
        if nul or any(_times(text, special, times) != times for special, times in expected.items()):
            yield from _lines(connection.execute(rows, (start, last)), table)
        else:
            yield text, count
        start = last + 1


def _nul(column: ServerColumn) -> str:
    """SQL for whether a text holds a NUL character, at which printf() stops."""
    name = quoted(column.source.name)
    if column.source.longest > _LONG_TEXT:
        return f"length(CAST({name} AS BLOB)) != length(CAST(printf('%s', {name}) AS BLOB))"
    return f"instr(CAST({name} AS BLOB), x'00')"


def _times(text: bytes, special: bytes, expected: int) -> int:
    """How often `special` occurs; where that is seldom, finding is faster than comparing each byte."""
    return len(text.split(special)) - 1 if len(text) > _SELDOM * expected else text.count(special)


def _line(connection: sqlite3.Connection, table: ServerTable) -> str:
    """SQL for a line, by as few calls of printf() as there have to be: || would copy the line each time."""
    fields = [_written(column) for column in table.columns]
    if table.place is not None:
        fields.append(("%d", "rowid"))
    most = connection.getlimit(sqlite3.SQLITE_LIMIT_FUNCTION_ARG) - 1
    calls = []
    for first in range(0, len(fields), most):
        part = fields[first : first + most]
        end = LINE if first + most >= len(fields) else FIELD
        template = FIELD.decode().join(form for form, _ in part) + end.decode()
        calls.append(f"printf('{template}', {', '.join(value for _, value in part)})")
    return " || ".join(calls)


def _written(column: ServerColumn) -> tuple[str, str]:
    """How printf() writes a column, and what it is given."""
    value = stored_value(column)
    if column.type == "bigint" and not column.source.nulls:
        return "%d", value
    if column.type == "double":
        value = _REAL.format(value)
    return "%s", f"ifnull({value}, '{_NULL.decode()}')" if column.source.nulls else value


def _is_text(column: ServerColumn) -> bool:
    return column.type.startswith(("text", "longtext", "varchar"))
