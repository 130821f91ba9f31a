"""Tables of PostgreSQL, each in a transaction of its own: rows by COPY, then keys, then statistics.

COPY reads text that SQLite writes in whole pages, and where it can't, its binary format, value by value.

ANALYZE looks at 300 rows for each unit of the statistics target, by default at 30,000, which it draws by lot:
another load of the same rows would be given other plans. A larger target of the columns would make it look at
more, and the planner slower, for it keeps as many values. An object of extended statistics has a target of
its own that decides alike how many rows are looked at: it is made for the while. So the statistics of the
columns have their usual size, and are of all rows.
https://www.postgresql.org/docs/current/sql-alterstatistics.html

A dump is run as a role that can do nothing but fill the staging; the server sees to that.
"""

import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
from psycopg import Connection, Copy, Cursor

from dialects.enums import Dialect
from dialects.errors import BadInput
from dialects.identifiers import quoted
from dialects.server_schema import ServerColumn, ServerTable
from loaders.dumps import Statement, statements
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


_ROLE = "bird_harness_dump"
_LONGEST_NAME = 63
_OF_THE_OWNER = re.compile(
    rb"ALTER .* OWNER TO \S+;$|(GRANT|REVOKE|CREATE EXTENSION) |COMMENT ON (EXTENSION|SCHEMA) "
    rb"|CREATE SCHEMA public;",
    re.DOTALL,
)
"""What says who owns what where the dump comes from, and what every database has."""
_UNKNOWN_SETTING = "42704"
"""https://www.postgresql.org/docs/current/errcodes-appendix.html"""


def run_dump(
    server: Server, database: Database, staging: str, dump: Path, advance: Callable[[int], None]
) -> None:
    """See `Target.run_dump`."""
    with _writing(server, database, staging) as connection:
        found = statements(dump, Dialect.POSTGRESQL, f"{quoted(staging)}.".encode())
        following = next(found, None)
        while following is not None:
            statement, following = following, next(found, None)
            if _OF_THE_OWNER.match(statement.text):
                continue
            try:
                if following is not None and following.is_rows:
                    with connection.cursor().copy(statement.text) as copy:
                        following = _send(copy, following, found, advance)
                elif statement.text.endswith(b"FROM stdin;"):
                    with connection.cursor().copy(statement.text):
                        pass
                else:
                    connection.execute(statement.text)
            except psycopg.Error as error:
                if error.sqlstate == _UNKNOWN_SETTING and statement.text.startswith(b"SET "):
                    continue
                if is_broken(error):
                    raise
                raise BadInput(f"{dump}: line {statement.line}: PostgreSQL: {one_line(error)}") from error
            advance(len(statement.text))


def _send(
    copy: Copy, rows: Statement, found: Iterator[Statement], advance: Callable[[int], None]
) -> Statement | None:
    """Send rows, and return the statement after them."""
    following: Statement | None = rows
    while following is not None and following.is_rows:
        copy.write(following.text)
        advance(len(following.text))
        following = next(found, None)
    return following


def take_over(server: Server, database: Database, staging: str, to: str, tables: Sequence[str]) -> None:
    """See `Target.take_over`."""
    with connected(server, database.postgresql_database) as connection:
        for name in tables:
            ask(connection, f"ALTER TABLE {quoted(staging)}.{quoted(name)} SET SCHEMA {quoted(to)}")
            ask(connection, f"ALTER TABLE {quoted(to)}.{quoted(name)} SET (autovacuum_enabled = off)")
            analyze(connection, to, name)


@contextmanager
def _writing(server: Server, database: Database, staging: str) -> Iterator[Connection[Any]]:
    """A session as a role for the dump; what it has made is the administrator's afterwards, and it goes."""
    name = database.postgresql_database
    # One for each database: only there can what a killed load left to it be taken away.
    role = f"{_ROLE}_{name}"[:_LONGEST_NAME]
    password = replace(server, reader_user=role).reader_password
    with connected(server, name) as connection:
        _drop(connection, role)
        secret = connection.pgconn.encrypt_password(password.encode(), role.encode(), b"scram-sha-256")
        ask(connection, f"CREATE ROLE {quoted(role)} LOGIN PASSWORD '{secret.decode()}'")
        attempt(connection, f"GRANT {quoted(role)} TO CURRENT_USER")
        ask(connection, f"GRANT CONNECT ON DATABASE {quoted(name)} TO {quoted(role)}")
        ask(connection, f"GRANT USAGE, CREATE ON SCHEMA {quoted(staging)} TO {quoted(role)}")
    try:
        with connected(replace(server, user=role, password=password), name, autocommit=True) as session:
            yield session
    finally:
        with connected(server, name) as connection:
            ask(connection, f"REASSIGN OWNED BY {quoted(role)} TO CURRENT_USER")
            _drop(connection, role)


def _drop(connection: Connection[Any], role: str) -> None:
    if connection.execute("SELECT FROM pg_roles WHERE rolname = %s", [role]).rowcount:
        ask(connection, f"DROP OWNED BY {quoted(role)}")
        ask(connection, f"DROP ROLE {quoted(role)}")
