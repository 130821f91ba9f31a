"""Loading into PostgreSQL: one transaction per database, rows by binary COPY.

Other sessions see the old tables, marker and statistics until it commits, and the new ones afterwards.
"""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from functools import cache, partial
from typing import Any

import psycopg
from psycopg import Connection

from harness.engines.namespace import Database
from harness.engines.server import Server
from harness.errors import BadInput, EngineUnavailable
from harness.words import Dialect
from loaders import dates
from loaders.bookkeeping import NAMESPACE, Key, Marker, filed, key
from loaders.keys import add_foreign_keys, add_keys
from loaders.profiles import POSTGRESQL_COLLATION, ServerColumn, ServerTable
from loaders.refusals import refuse_text
from loaders.rows import batches, stored_value
from loaders.source import quoted
from loaders.target import Source

_LOADS = f"{NAMESPACE}.loads"
_MAINTENANCE = "postgres"
_LOCK = int.from_bytes(b"birdload")
_CONNECT_SECONDS = 10
_WITH_PROVIDERS = 150_000
"""The first version whose clusters can sort by something other than the C library."""

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

_COUNTED = {"date": dates.DAYS_SINCE_2000, "timestamptz": dates.MICROSECONDS_SINCE_2000}

_LIMIT_EXCEEDED = "54"
"""The SQLSTATE class for too much of something: columns, the size of a row, that of an index entry.

https://www.postgresql.org/docs/current/errcodes-appendix.html
"""


@contextmanager
def exclusive(server: Server) -> Iterator[None]:
    """See `Target.exclusive`: an advisory lock in the maintenance database, which no prediction uses."""
    with _connected(server, _MAINTENANCE, autocommit=True) as connection:
        connection.execute("SELECT pg_advisory_lock(%s)", [_LOCK])
        yield


def admit_reader(server: Server) -> None:
    """See `Target.admit_reader`."""
    if _reader_is_ready(server):
        return
    role = quoted(server.reader_user)
    with _connected(server, _MAINTENANCE) as connection:
        if not connection.execute("SELECT FROM pg_roles WHERE rolname = %s", [server.reader_user]).rowcount:
            _run(connection, f"CREATE ROLE {role}")
        password = connection.pgconn.encrypt_password(
            server.reader_password.encode(), server.reader_user.encode(), b"scram-sha-256"
        )
        _run(connection, f"ALTER ROLE {role} LOGIN PASSWORD '{password.decode()}'")
        _run(connection, f"ALTER ROLE {role} SET default_transaction_read_only = on")


def _reader_is_ready(server: Server) -> bool:
    try:
        with psycopg.connect(
            host=server.host, port=server.port, user=server.reader_user, password=server.reader_password,
            dbname=_MAINTENANCE, connect_timeout=_CONNECT_SECONDS,
        ) as connection:  # fmt: skip
            return connection.execute("SHOW default_transaction_read_only").fetchone() == ("on",)
    except psycopg.OperationalError:
        return False


def markers(server: Server, databases: Sequence[Database]) -> dict[Key, Marker]:
    """See `Target.markers`."""
    found: dict[Key, Marker] = {}
    for name in _existing(server, {database.postgresql_database for database in databases}):
        with _connected(server, name) as connection:
            if connection.execute("SELECT to_regclass(%s)", [_LOADS]).fetchone() == (None,):
                continue
            rows = connection.execute(f"SELECT collection, profile, db_id, marker FROM {_LOADS}")  # noqa: S608 - a constant
            tables = cache(partial(_tables, connection))
            for collection, profile, db_id, text in rows.fetchall():
                schema = filed(collection, profile, db_id).postgresql_schema
                found[collection, profile, db_id] = Marker.from_json(text).checked(tables(schema))
    return found


def present(server: Server, database: Database) -> set[str]:
    """See `Target.present`."""
    if not _existing(server, {database.postgresql_database}):
        return set()
    with _connected(server, database.postgresql_database) as connection:
        return _tables(connection, database.postgresql_schema)


def replace(
    server: Server, database: Database, source: Source, old: Sequence[str], advance: Callable[[int], None]
) -> Marker:
    """See `Target.replace`."""
    _create_database(server, database.postgresql_database)
    schema = quoted(database.postgresql_schema)
    notes = list(source.notes)
    with _connected(server, database.postgresql_database) as connection:
        _create_namespaces(connection, server, schema)
        if old:
            _run(connection, f"DROP TABLE IF EXISTS {', '.join(f'{schema}.{quoted(name)}' for name in old)}")
        counts = {table.name: _fill(connection, schema, table, source, advance) for table in source.tables}
        spelling, attempt = _Spelling(schema), partial(_attempt, connection)
        for table in source.tables:
            notes += add_keys(table, spelling, attempt)
        for table in source.tables:
            notes += add_foreign_keys(table, source.tables, spelling, attempt)
            _run(connection, f"ANALYZE {spelling.table(table)}")
            _run(connection, f"GRANT SELECT ON {spelling.table(table)} TO {quoted(server.reader_user)}")
        marker = Marker.now(source.sha256, counts, notes)
        connection.execute(
            f"INSERT INTO {_LOADS} VALUES (%s, %s, %s, %s)"  # noqa: S608 - a constant
            " ON CONFLICT (collection, profile, db_id) DO UPDATE SET marker = excluded.marker",
            [*key(database), marker.to_json()],
        )
    return marker


def _fill(
    connection: Connection[Any],
    schema: str,
    table: ServerTable,
    source: Source,
    advance: Callable[[int], None],
) -> int:
    """Create one table with all its rows and return their number, as the server counts it."""
    name = f"{schema}.{quoted(table.name)}"
    columns = ", ".join(
        f"{quoted(column.name)} {column.type}{'' if column.source.nullable else ' NOT NULL'}"
        for column in table.columns
    )
    try:
        _run(connection, f"CREATE TABLE {name} ({columns})")
        # FREEZE: nothing is left for a later vacuum to write, so that plans and timings stay the same.
        with connection.cursor().copy(f"COPY {name} FROM STDIN (FORMAT binary, FREEZE)".encode()) as copy:
            copy.set_types([_ON_THE_WIRE[column.type] for column in table.columns])
            for batch in batches(
                source.connection, table.source, [_value(column) for column in table.columns]
            ):
                for row in batch:
                    copy.write_row(row)
                advance(len(batch))
    except (psycopg.Error, sqlite3.OperationalError) as error:
        if _is_broken(error):
            raise
        refuse_text(source.connection, source.path, table.source, Dialect.POSTGRESQL)
        raise BadInput(f"{source.path}: table {table.source.name}: PostgreSQL: {_one_line(error)}") from error
    [count] = connection.execute(f"SELECT count(*) FROM {name}".encode()).fetchone() or (0,)  # noqa: S608 - quoted
    if count != table.source.rows:
        raise BadInput(
            f"{source.path}: table {table.source.name}: {table.source.rows} rows, but {count} in PostgreSQL;"
            " do not change the file while it is loaded"
        )
    return int(count)


def _value(column: ServerColumn) -> str:
    """SQL for a column's value in its binary format."""
    counted = _COUNTED.get(column.type)
    return counted.format(quoted(column.source.name)) if counted else stored_value(column)


class _Spelling:
    """See `loaders.keys.Spelling`."""

    def __init__(self, schema: str) -> None:
        self._schema = schema

    def table(self, table: ServerTable) -> str:
        return f"{self._schema}.{quoted(table.name)}"

    def columns(self, table: ServerTable, columns: Sequence[str], *, whole: bool) -> str:  # noqa: ARG002 - values are whole
        return f"({', '.join(map(quoted, table.spelled(columns)))})"

    def index(self, table: str, columns: str) -> str:
        return f"CREATE INDEX ON {table} {columns}"


def _attempt(connection: Connection[Any], statement: str) -> str | None:
    """See `loaders.keys.Attempt`."""
    try:
        with connection.transaction():
            _run(connection, statement)
    except psycopg.Error as error:
        if _is_broken(error):
            raise
        return _one_line(error)
    return None


def _create_database(server: Server, name: str) -> None:
    """Create the database, for the reading role alone, unless it is there."""
    with _connected(server, _MAINTENANCE, autocommit=True) as connection:
        found = connection.execute("SELECT datcollate FROM pg_database WHERE datname = %s", [name]).fetchone()
        if found and found[0] != POSTGRESQL_COLLATION:
            raise BadInput(
                f"PostgreSQL at {server.address}: database {name} sorts by {found[0]} instead of"
                f" {POSTGRESQL_COLLATION}; drop it, bird-harness creates it anew"
            )
        if not found:
            provider = " LOCALE_PROVIDER libc" if connection.info.server_version >= _WITH_PROVIDERS else ""
            _run(
                connection,
                f"CREATE DATABASE {quoted(name)} TEMPLATE template0 ENCODING UTF8"
                f" LC_COLLATE '{POSTGRESQL_COLLATION}' LC_CTYPE '{POSTGRESQL_COLLATION}'{provider}",
            )
        _run(connection, f"REVOKE ALL ON DATABASE {quoted(name)} FROM PUBLIC")
        _run(connection, f"GRANT CONNECT ON DATABASE {quoted(name)} TO {quoted(server.reader_user)}")


def _create_namespaces(connection: Connection[Any], server: Server, schema: str) -> None:
    """Create the schema of the tables, which the reading role may use, and that of the markers."""
    for name in (schema, NAMESPACE):
        _run(connection, f"CREATE SCHEMA IF NOT EXISTS {name}")
    _run(connection, "REVOKE ALL ON SCHEMA public FROM PUBLIC")
    _run(connection, f"GRANT USAGE ON SCHEMA {schema} TO {quoted(server.reader_user)}")
    _run(
        connection,
        f"CREATE TABLE IF NOT EXISTS {_LOADS} (collection text, profile text, db_id text,"
        " marker text NOT NULL, PRIMARY KEY (collection, profile, db_id))",
    )


def _existing(server: Server, names: AbstractSet[str]) -> list[str]:
    """Which of these databases there are."""
    with _connected(server, _MAINTENANCE) as connection:
        rows = connection.execute("SELECT datname FROM pg_database WHERE datname = ANY(%s)", [list(names)])
        return [name for (name,) in rows]


def _tables(connection: Connection[Any], schema: str) -> set[str]:
    """Everything in a schema that a table's name can collide with."""
    rows = connection.execute(
        "SELECT relname FROM pg_class JOIN pg_namespace ON relnamespace = pg_namespace.oid"
        " WHERE nspname = %s AND relkind NOT IN ('i', 'I')",
        [schema],
    )
    return {name for (name,) in rows}


@contextmanager
def _connected(server: Server, database: str, *, autocommit: bool = False) -> Iterator[Connection[Any]]:
    """Connect as administrator; commits at the end, rolls back on any exception."""
    try:
        with psycopg.connect(
            host=server.host, port=server.port, user=server.user, password=server.password, dbname=database,
            connect_timeout=_CONNECT_SECONDS, application_name="bird-harness load", autocommit=autocommit,
            options="-c client_min_messages=warning -c statement_timeout=0 -c lock_timeout=0",
        ) as connection:  # fmt: skip
            yield connection
    except psycopg.OperationalError as error:
        raise EngineUnavailable(
            f"PostgreSQL at {server.address}: {_one_line(error)}; see what `bird-harness doctor` says"
        ) from error


def _is_broken(error: Exception) -> bool:
    """Whether the server is at fault, and not what was asked of it."""
    limit = isinstance(error, psycopg.Error) and (error.sqlstate or "").startswith(_LIMIT_EXCEEDED)
    return isinstance(error, psycopg.OperationalError) and not limit


def _run(connection: Connection[Any], statement: str) -> None:
    connection.execute(statement.encode())


def _one_line(error: Exception) -> str:
    """The server's message without the hints and the context that follow it."""
    if isinstance(error, psycopg.Error) and error.diag.message_primary:
        return error.diag.message_primary
    return " ".join(str(error).split())
