"""One table of PostgreSQL in a transaction of its own: rows by COPY, then keys, then statistics.

COPY reads text that SQLite writes in whole pages, and where it can't, its binary format, value by value.

ANALYZE looks at 300 rows for each unit of the statistics target, by default at 30,000, which it draws by lot:
another load of the same rows would be given other plans. A larger target of the columns would make it look at
more, and the planner slower, for it keeps as many values. An object of extended statistics has a target of
its own that decides alike how many rows are looked at: it is made for the while. So the statistics of the
columns have their usual size, and are of all rows.
https://www.postgresql.org/docs/current/sql-alterstatistics.html
"""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import psycopg
from psycopg import Connection, Cursor

from dialects.enums import Dialect
from dialects.errors import BadInput
from dialects.identifiers import quoted
from dialects.server_schema import ServerColumn, ServerTable
from loaders.namespace import Database
from loaders.pages import POSTGRESQL, batches, is_plain, pages, stored_value
from loaders.portable import DAYS_SINCE_2000, MICROSECONDS_SINCE_2000
from loaders.postgresql.session import ask, attempt, connected, is_broken, one_line
from loaders.server import Server
from loaders.source import refuse_text
from loaders.target import FilledTable, LoadSource, add_foreign_keys, add_keys, all_rows

_ON_THE_WIRE = {
    "bigint": "int8",
    "real": "float4",
    "double precision": "float8",
    "text": "text",
    "bytea": "bytea",
    "date": "int4",
    "timestamptz": "int8",
}
"""What a column type's binary format is, as the name of a type that psycopg writes from a plain value."""

_COUNTED = {"date": DAYS_SINCE_2000, "timestamptz": MICROSECONDS_SINCE_2000}

_SETTLED = "WITH (autovacuum_enabled = off)"
"""Statistics stay those of ANALYZE: gathered in the background, they would change plans between runs.

Rows arrive frozen and visible to all, so that nothing is left for a vacuum.
"""


def fill(  # noqa: PLR0913, PLR0917 - see Target.fill
    server: Server,
    database: Database,
    source: LoadSource,
    table: ServerTable,
    staging: str,
    connection: sqlite3.Connection,
    advance: Callable[[int], None],
) -> FilledTable:
    """See `Target.fill`."""
    schema = quoted(staging)
    with connected(server, database.postgresql_database) as session:
        count = _fill(session, schema, table, source, connection, advance)
        notes = add_keys(table, Syntax(schema), partial(attempt, session))
        analyze(session, staging, table.name)
    return FilledTable(count, tuple(notes))


def link(server: Server, database: Database, source: LoadSource, staging: str) -> list[str]:
    """See `Target.link`."""
    with connected(server, database.postgresql_database) as session:
        return add_foreign_keys(source.tables, Syntax(quoted(staging)), partial(attempt, session))


def _fill(  # noqa: PLR0913, PLR0917 - as fill
    session: Connection[Any],
    schema: str,
    table: ServerTable,
    source: LoadSource,
    connection: sqlite3.Connection,
    advance: Callable[[int], None],
) -> int:
    """Create one table with all its rows and return their number, as the server counts it."""
    name = f"{schema}.{quoted(table.name)}"
    columns = ", ".join(
        f"{quoted(column.name)} {column.type}{'' if column.source.nullable else ' NOT NULL'}"
        for column in table.columns
    )
    try:
        ask(session, f"CREATE TABLE {name} ({columns}) {_SETTLED}")
        cursor = session.cursor()
        copied = _copied_text if is_plain(connection, table) else _copied_binary
        for rows in copied(cursor, name, table, connection):
            advance(rows)
    except (psycopg.Error, sqlite3.OperationalError) as error:
        if is_broken(error):
            raise
        refuse_text(connection, source.path, table.source, Dialect.POSTGRESQL)
        raise BadInput(f"{source.path}: table {table.source.name}: PostgreSQL: {one_line(error)}") from error
    return all_rows(source, table, cursor.rowcount, "PostgreSQL")


def _copied_text(
    cursor: Cursor[Any], name: str, table: ServerTable, connection: sqlite3.Connection
) -> Iterator[int]:
    """Send all rows as text; says how many more have been sent."""
    options = f"FREEZE, ENCODING 'UTF8', DELIMITER E'\\x{POSTGRESQL.field.hex()}'"
    with cursor.copy(f"COPY {name} FROM STDIN ({options})".encode()) as copy:
        for page, rows in pages(connection, table, POSTGRESQL):
            copy.write(page)
            yield rows


def _copied_binary(
    cursor: Cursor[Any], name: str, table: ServerTable, connection: sqlite3.Connection
) -> Iterator[int]:
    """Send all rows in the binary format; says how many more have been sent."""
    with cursor.copy(f"COPY {name} FROM STDIN (FORMAT binary, FREEZE)".encode()) as copy:
        copy.set_types([_ON_THE_WIRE[column.type] for column in table.columns])
        write = copy.write_row
        for batch in batches(connection, table.source, [_value(column) for column in table.columns]):
            for row in batch:
                write(row)
            yield len(batch)


def _value(column: ServerColumn) -> str:
    """SQL for a column's value in its binary format."""
    counted = _COUNTED.get(column.type)
    return counted.format(quoted(column.source.name)) if counted else stored_value(column)


class Syntax:
    """See `loaders.target.KeySyntax`."""

    def __init__(self, schema: str) -> None:
        self._schema = schema

    def table(self, table: ServerTable) -> str:
        """See `KeySyntax.table`."""
        return f"{self._schema}.{quoted(table.name)}"

    def columns(self, table: ServerTable, columns: Sequence[str], *, whole: bool) -> str:  # noqa: ARG002 - values are whole
        """See `KeySyntax.columns`."""
        return f"({', '.join(map(quoted, table.spelled(columns)))})"

    def index(self, table: str, columns: str) -> str:
        """See `KeySyntax.index`."""
        return f"CREATE INDEX ON {table} {columns}"


_BY_DEFAULT = 30_000
"""Rows that are looked at anyway."""
_ROWS_OF_ONE = 300
_MOST = 10_000
"""The largest target: 3,000,000 rows. Of larger tables so many are drawn by lot."""


def analyze(connection: Connection[Any], schema: str, table: str) -> None:
    """Gather the statistics of a table, over all of its rows.

    Args:
        connection: of the administrating account, in a transaction.
        schema: where the table stands.
        table: its name.
    """
    name = f"{quoted(schema)}.{quoted(table)}"
    [rows] = connection.execute(f"SELECT count(*) FROM {name}".encode()).fetchone() or (0,)  # noqa: S608 - quoted
    if rows <= _BY_DEFAULT:
        ask(connection, f"ANALYZE {name}")
        return
    [first] = connection.execute(
        "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped"
        " ORDER BY attnum LIMIT 1",
        [name],
    ).fetchone() or (None,)
    statistics = f"{quoted(schema)}.bird_all_rows"
    ask(connection, f"CREATE STATISTICS {statistics} ON ({quoted(str(first))} IS NULL) FROM {name}")
    target = min(_MOST, -(-rows // _ROWS_OF_ONE))
    ask(connection, f"ALTER STATISTICS {statistics} SET STATISTICS {target}")
    ask(connection, f"ANALYZE {name}")
    ask(connection, f"DROP STATISTICS {statistics}")
