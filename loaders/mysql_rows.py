"""Rows into one MySQL table by LOAD DATA LOCAL, from a pipe: no temporary file, bounded memory.

https://dev.mysql.com/doc/refman/9.7/en/load-data.html
"""

from __future__ import annotations  # PyMySQL's Connection is generic in its stubs alone

import os
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from pymysql.connections import Connection

from loaders.profiles import ServerColumn, ServerTable
from loaders.rows import batches, stored_value
from loaders.source import quoted

_ESCAPES = (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"))
"""What would end a field or a line, with the escape character itself first."""

_NULL = r"\N"


class RowsChanged(Exception):
    """The server took the rows, but not as they were sent; the text is its first warning."""


def load_rows(
    connection: Connection[Any],
    name: str,
    table: ServerTable,
    source: sqlite3.Connection,
    advance: Callable[[int], None],
) -> None:
    """Send every row of a table.

    Args:
        connection: to the server, with LOCAL INFILE allowed.
        name: the table's full name, quoted.
        table: what to read.
        source: where from.
        advance: told how many more rows have been sent.

    Raises:
        pymysql.Error: the server refused.
        RowsChanged: it warned, which is all that LOCAL lets it do about a value that it cannot hold.
        sqlite3.OperationalError: a text could not be read.
    """
    texts = [_is_text(column) for column in table.columns]
    values = [_value(column) for column in table.columns]
    if table.place is not None:
        texts.append(False)
        values.append("rowid")
    reading, writing = os.pipe()
    with ThreadPoolExecutor(1) as pool:
        sent = pool.submit(_send, connection, _statement(name, table, f"/dev/fd/{reading}"), reading)
        try:
            with os.fdopen(writing, "wb") as pipe:
                for batch in batches(source, table.source, values):
                    pipe.write(encoded(batch, texts))
                    advance(len(batch))
        except BrokenPipeError:
            sent.result()  # The server has refused, and says why.
            raise
        warning = sent.result()
    if warning:
        raise RowsChanged(warning)


def encoded(rows: Sequence[Sequence[Any]], texts: Sequence[bool]) -> bytes:
    """Write rows in the format that the LOAD DATA statement names.

    Args:
        rows: at least one; the fields that are no texts contain nothing to escape and no None.
        texts: for each field whether it is a text or None.
    """
    columns = [
        _text_fields(values) if is_text else map(str, values)
        for values, is_text in zip(zip(*rows, strict=True), texts, strict=True)
    ]
    lines = map("\t".join, zip(*columns, strict=True))
    return ("\n".join(lines) + "\n").encode()


def _text_fields(values: Sequence[str | None]) -> list[str]:
    together = "".join(filter(None, values))
    for character, escape in _ESCAPES:
        if character in together:
            values = [value and value.replace(character, escape) for value in values]
    return [_NULL if value is None else value for value in values]


def _is_text(column: ServerColumn) -> bool:
    return column.type.startswith(("text", "longtext", "varchar"))


def _value(column: ServerColumn) -> str:
    """SQL for a column's value; what is no text has its NULL written out."""
    value = stored_value(column)
    if _is_text(column):
        return value
    return f"ifnull({_hex(value) if column.type == 'longblob' else value}, '{_NULL}')"


def _hex(value: str) -> str:
    """SQL for a blob in hexadecimal; hex(NULL) is an empty text. https://sqlite.org/lang_corefunc.html#hex."""
    return f"CASE WHEN {value} IS NOT NULL THEN hex({value}) END"


def _statement(name: str, table: ServerTable, path: str) -> str:
    fields = [
        f"@{number}" if column.type == "longblob" else quoted(column.name)
        for number, column in enumerate(table.columns)
    ]
    if table.place is not None:
        fields.append(quoted(table.place))
    blobs = [
        f"{quoted(column.name)} = UNHEX(@{number})"
        for number, column in enumerate(table.columns)
        if column.type == "longblob"
    ]
    return (
        f"LOAD DATA LOCAL INFILE '{path}' INTO TABLE {name} CHARACTER SET utf8mb4"
        r" FIELDS TERMINATED BY '\t' ESCAPED BY '\\' LINES TERMINATED BY '\n'"
        f" ({', '.join(fields)}){' SET ' * bool(blobs)}{', '.join(blobs)}"
    )


def _send(connection: Connection[Any], statement: str, reading: int) -> str | None:
    """Run the statement and return the server's first warning, if there is one."""
    try:
        with connection.cursor() as cursor:
            cursor.execute(statement)
            if not cursor.warning_count:
                return None
            cursor.execute("SHOW WARNINGS LIMIT 1")
            level, number, message = cursor.fetchone() or ("", "", "")
            return f"{level} {number}: {message}"
    finally:
        os.close(reading)
