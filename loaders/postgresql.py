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
from harness.errors import BadInput
from harness.words import Dialect
from loaders import dates, functions, postgresql_reader
from loaders.bookkeeping import NAMESPACE, Key, Marker, filed, key
from loaders.keys import add_foreign_keys, add_keys
from loaders.postgresql_session import (
    MAINTENANCE,
    attempt,
    connected,
    is_broken,
    one_line,
    run,
)
from loaders.profiles import POSTGRESQL_COLLATION, ServerColumn, ServerTable
from loaders.refusals import refuse_text
from loaders.rows import batches, stored_value
from loaders.source import quoted
from loaders.target import Source

_LOADS = f"{NAMESPACE}.loads"
_FUNCTIONS = "bird-harness functions "
_LOCK = int.from_bytes(b"birdload")
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


@contextmanager
def exclusive(server: Server) -> Iterator[None]:
    """See `Target.exclusive`: an advisory lock in the maintenance database, which no prediction uses."""
    with connected(server, MAINTENANCE, autocommit=True) as connection:
        connection.execute("SELECT pg_advisory_lock(%s)", [_LOCK])
        yield


def admit_reader(server: Server) -> None:
    """See `Target.admit_reader`."""
    postgresql_reader.admit(server)


def install_functions(server: Server, databases: Sequence[Database]) -> None:
    """See `Target.install_functions`. The comment on their schema tells whose they are, and which version."""
    schema, wanted = functions.NAMESPACE, f"{_FUNCTIONS}{functions.digest(Dialect.POSTGRESQL)}"
    for name in sorted({database.postgresql_database for database in databases}):
        _create_database(server, name)
        with connected(server, name) as connection:
            found = connection.execute(
                "SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = %s", [schema]
            ).fetchone()
            if found == (wanted,):
                continue
            if found is not None and not str(found[0]).startswith(_FUNCTIONS):
                raise BadInput(
                    f"PostgreSQL at {server.address}: schema {schema} of database {name} is not of"
                    " bird-harness, which needs the name for SQLite's functions; rename it"
                )
            run(connection, f"DROP SCHEMA IF EXISTS {schema} CASCADE")
            run(connection, f"CREATE SCHEMA {schema}")
            run(connection, "SET LOCAL check_function_bodies = off")
            run(connection, functions.script(Dialect.POSTGRESQL))
            run(connection, f"GRANT USAGE ON SCHEMA {schema} TO {quoted(server.reader_user)}")
            run(
                connection,
                f"GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA {schema} TO {quoted(server.reader_user)}",
            )
            run(connection, f"COMMENT ON SCHEMA {schema} IS '{wanted}'")


def markers(server: Server, databases: Sequence[Database]) -> dict[Key, Marker]:
    """See `Target.markers`."""
    found: dict[Key, Marker] = {}
    for name in _existing(server, {database.postgresql_database for database in databases}):
        with connected(server, name) as connection:
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
    with connected(server, database.postgresql_database) as connection:
        return _tables(connection, database.postgresql_schema)


def replace(
    server: Server, database: Database, source: Source, old: Sequence[str], advance: Callable[[int], None]
) -> Marker:
    """See `Target.replace`."""
    _create_database(server, database.postgresql_database)
    schema = quoted(database.postgresql_schema)
    notes = list(source.notes)
    with connected(server, database.postgresql_database) as connection:
        _check_order(connection, server, database)
        _create_namespaces(connection, server, schema)
        if old:
            run(connection, f"DROP TABLE IF EXISTS {', '.join(f'{schema}.{quoted(name)}' for name in old)}")
        counts = {table.name: _fill(connection, schema, table, source, advance) for table in source.tables}
        spelling, add = _Spelling(schema), partial(attempt, connection)
        for table in source.tables:
            notes += add_keys(table, spelling, add)
        for table in source.tables:
            notes += add_foreign_keys(table, source.tables, spelling, add)
            run(connection, f"ANALYZE {spelling.table(table)}")
            run(connection, f"GRANT SELECT ON {spelling.table(table)} TO {quoted(server.reader_user)}")
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
        run(connection, f"CREATE TABLE {name} ({columns})")
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
        if is_broken(error):
            raise
        refuse_text(source.connection, source.path, table.source, Dialect.POSTGRESQL)
        raise BadInput(f"{source.path}: table {table.source.name}: PostgreSQL: {one_line(error)}") from error
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


def _create_database(server: Server, name: str) -> None:
    """Create the database, for the reading role alone, unless it is there."""
    with connected(server, MAINTENANCE, autocommit=True) as connection:
        if not connection.execute("SELECT FROM pg_database WHERE datname = %s", [name]).rowcount:
            provider = " LOCALE_PROVIDER libc" if connection.info.server_version >= _WITH_PROVIDERS else ""
            run(
                connection,
                f"CREATE DATABASE {quoted(name)} TEMPLATE template0 ENCODING UTF8"
                f" LC_COLLATE '{POSTGRESQL_COLLATION}' LC_CTYPE '{POSTGRESQL_COLLATION}'{provider}",
            )
        run(connection, f"REVOKE ALL ON DATABASE {quoted(name)} FROM PUBLIC")
        run(connection, f"GRANT CONNECT ON DATABASE {quoted(name)} TO {quoted(server.reader_user)}")
    postgresql_reader.seclude(server, name)


def _check_order(connection: Connection[Any], server: Server, database: Database) -> None:
    """Refuse a database that somebody created with another collation."""
    if connection.execute("SELECT 'B' < 'a' AND 'a' < U&'\\00C4'").fetchone() != (True,):
        raise BadInput(
            f"PostgreSQL at {server.address}: database {database.postgresql_database} does not sort by code"
            " point; drop it, bird-harness creates it anew"
        )


def _create_namespaces(connection: Connection[Any], server: Server, schema: str) -> None:
    """Create the schema of the tables, which the reading role may use, and that of the markers."""
    for name in (schema, NAMESPACE):
        run(connection, f"CREATE SCHEMA IF NOT EXISTS {name}")
    run(connection, f"GRANT USAGE ON SCHEMA {schema} TO {quoted(server.reader_user)}")
    run(
        connection,
        f"CREATE TABLE IF NOT EXISTS {_LOADS} (collection text, profile text, db_id text,"
        " marker text NOT NULL, PRIMARY KEY (collection, profile, db_id))",
    )


def _existing(server: Server, names: AbstractSet[str]) -> list[str]:
    """Which of these databases there are."""
    with connected(server, MAINTENANCE) as connection:
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
