"""Rows into one MySQL table by LOAD DATA LOCAL, from a pipe: no temporary file, bounded memory.

https://dev.mysql.com/doc/refman/9.7/en/load-data.html
"""

from __future__ import annotations  # PyMySQL's Connection is generic in its stubs alone

import fcntl
import os
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from pymysql.connections import Connection

from dialects.identifiers import quoted
from dialects.server_schema import ServerTable
from loaders.forms import MYSQL
from loaders.pages import pages

_PIPE_BYTES = 2**20
"""What an ordinary account may have in a pipe: the next page is written while the last one is sent."""


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
    reading, writing = os.pipe()
    with suppress(AttributeError, OSError):  # Linux alone can do it
        fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    with ThreadPoolExecutor(1) as pool:
        sent = pool.submit(_send, connection, _statement(name, table, f"/dev/fd/{reading}"), reading)
        try:
            with os.fdopen(writing, "wb", buffering=0) as pipe:
                for page, rows in pages(source, table, MYSQL):
                    _write(pipe.fileno(), page)
                    if rows:
                        advance(rows)
        except BrokenPipeError:
            sent.result()  # The server has refused, and says why.
            raise
        warning = sent.result()
    if warning:
        raise RowsChanged(warning)


def _write(pipe: int, page: bytes) -> None:
    rest = memoryview(page)
    while rest:
        rest = rest[os.write(pipe, rest) :]


def _statement(name: str, table: ServerTable, path: str) -> str:
    """The statement that reads pages. As binary they are taken byte by byte, and texts still checked."""
    fields = [quoted(column.name) for column in table.columns]
    if table.place is not None:
        fields.append(quoted(table.place))
    return (
        f"LOAD DATA LOCAL INFILE '{path}' INTO TABLE {name} CHARACTER SET binary"
        f" FIELDS TERMINATED BY x'{MYSQL.field.hex()}' ESCAPED BY x'{MYSQL.escape.hex()}'"
        f" LINES TERMINATED BY x'{MYSQL.line.hex()}' ({', '.join(fields)})"
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
