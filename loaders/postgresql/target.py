"""Load into PostgreSQL: fill tables in a staging schema, then put them in place in one transaction.

Other sessions see the old tables, marker and statistics until it commits, and the new ones afterwards.

The role that runs predictions can only read what was loaded, within limits. Tables are granted when they are
loaded. Other rights that PostgreSQL grants to every role are revoked here.
https://www.postgresql.org/docs/current/ddl-priv.html

Each table is filled in its own transaction: rows by COPY, then keys, then statistics. COPY reads text that
SQLite writes in whole pages or, if it can't, its binary format, value by value.

ANALYZE samples 300 random rows for each unit of the statistics target, by default 30,000: another load of the
same rows would get other plans. A larger target of the columns would sample more rows, but also store more
values and slow the planner down. An object of extended statistics has its own target, which also determines
the
sample: it is created only for ANALYZE. So the statistics of the columns have their usual size, and are
computed from all rows.
https://www.postgresql.org/docs/current/sql-alterstatistics.html

A dump runs as a role that can do nothing but fill the staging; the server enforces that.
"""

import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache, partial
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
from psycopg import Connection, Copy, Cursor

from dialects.enums import Dialect
from dialects.errors import BadInput
from dialects.identifiers import FUNCTIONS_NAMESPACE, quoted
from dialects.postgresql import COLLATION
from dialects.server_schema import ServerColumn, ServerTable
from loaders import functions
from loaders.base.errors import EngineUnavailable
from loaders.dumps import DumpStatement, statements
from loaders.namespace import NAMESPACE, STAGING, Database, Key, Marker, filed, key
from loaders.pages import POSTGRESQL, batches, is_plain, pages, stored_value
from loaders.portable import DAYS_SINCE_2000, MICROSECONDS_SINCE_2000
from loaders.postgresql.session import (
    CONNECT_SECONDS,
    MAINTENANCE,
    ask,
    attempt,
    connected,
    is_broken,
    message,
)
from loaders.server import READER_CONNECTIONS, Origin, Server
from loaders.target import Target

_LOADS = f"{NAMESPACE}.loads"
_FUNCTIONS = "bird-harness functions "
_LOCK = int.from_bytes(b"birdload")
_WITH_PROVIDERS = 150_000
"""The first version whose clusters can sort without the C library."""

_LONGEST_NAME = 63
"""Bytes. https://www.postgresql.org/docs/current/sql-syntax-lexical.html#SQL-SYNTAX-IDENTIFIERS."""

_SETTLED = "WITH (autovacuum_enabled = off)"
"""Statistics stay those of ANALYZE: gathered in the background, they would change plans between runs.

Rows are loaded frozen and visible to all, so there is nothing to vacuum.
"""


class _PostgreSql(Target):
    dialect = Dialect.POSTGRESQL
    to_count = "SET jit = off; SET max_parallel_workers_per_gather = 0"
    in_processes = False  # SQLite writes what is sent
    settled = _SETTLED

    @contextmanager
    def exclusive(self, server: Server) -> Iterator[None]:
        # In the maintenance database, which no prediction uses.
        with connected(server, autocommit=True) as connection:
            connection.execute("SELECT pg_advisory_lock(%s)", [_LOCK])
            yield

    def install_functions(self, server: Server, databases: Sequence[Database]) -> None:
        # The comment on the schema identifies its owner and the version.
        schema, wanted = FUNCTIONS_NAMESPACE, f"{_FUNCTIONS}{functions.digest(Dialect.POSTGRESQL)}"
        for name in sorted({database.postgresql_database for database in databases}):
            _create_database(server, name)
            with connected(server, name) as connection:
                found = connection.execute(
                    "SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = %s",
                    [schema],
                ).fetchone()
                if found == (wanted,):
                    continue
                if found is not None and not str(found[0]).startswith(_FUNCTIONS):
                    raise BadInput(
                        f"PostgreSQL at {server.address}: schema {schema} of database {name} does not"
                        " belong to bird-harness, which needs the name for SQLite's functions; rename it"
                    )
                ask(connection, f"DROP SCHEMA IF EXISTS {schema} CASCADE")
                ask(connection, f"CREATE SCHEMA {schema}")
                ask(connection, "SET LOCAL check_function_bodies = off")
                ask(connection, ";\n".join(functions.definitions(Dialect.POSTGRESQL).values()))
                ask(connection, f"GRANT USAGE ON SCHEMA {schema} TO {quoted(server.reader_user)}")
                ask(
                    connection,
                    f"GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA {schema} TO {quoted(server.reader_user)}",
                )
                ask(connection, f"COMMENT ON SCHEMA {schema} IS '{wanted}'")

    def markers(self, server: Server, databases: Sequence[Database]) -> dict[Key, Marker]:
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

    def present(self, server: Server, database: Database) -> set[str]:
        if not _existing(server, {database.postgresql_database}):
            return set()
        with connected(server, database.postgresql_database) as connection:
            return _tables(connection, database.postgresql_schema)

    def tidy(self, server: Server, databases: Sequence[Database]) -> None:
        for name in _existing(server, {database.postgresql_database for database in databases}):
            with connected(server, name) as connection:
                found = connection.execute(
                    "SELECT nspname FROM pg_namespace WHERE left(nspname, length(%(start)s)) = %(start)s",
                    {"start": STAGING},
                )
                for (staging,) in found.fetchall():
                    ask(connection, f"DROP SCHEMA {quoted(staging)} CASCADE")

    def prepare(self, server: Server, database: Database, staging: str) -> None:
        _create_database(server, database.postgresql_database)
        with connected(server, database.postgresql_database) as connection:
            _check_order(connection, server, database)
            ask(connection, f"CREATE SCHEMA {quoted(staging)}")

    def put_in_place(
        self, server: Server, database: Database, staging: str, old: Sequence[str], marker: Marker
    ) -> None:
        schema = quoted(database.postgresql_schema)
        with connected(server, database.postgresql_database) as connection:
            _create_namespaces(connection, server, schema)
            if old:
                ask(
                    connection,
                    f"DROP TABLE IF EXISTS {', '.join(f'{schema}.{quoted(name)}' for name in old)}",
                )
            _rename_indexes(connection, staging, database.postgresql_schema)
            for table in map(quoted, marker.tables):
                ask(connection, f"ALTER TABLE {quoted(staging)}.{table} SET SCHEMA {schema}")
                ask(connection, f"GRANT SELECT ON {schema}.{table} TO {quoted(server.reader_user)}")
            connection.execute(
                f"INSERT INTO {_LOADS} VALUES (%s, %s, %s, %s)"  # noqa: S608 - a constant
                " ON CONFLICT (collection, profile, db_id) DO UPDATE SET marker = excluded.marker",
                [*key(database), marker.to_json()],
            )
            ask(connection, f"DROP SCHEMA {quoted(staging)}")

    def discard(self, server: Server, database: Database, staging: str) -> None:
        with suppress(EngineUnavailable), connected(server, database.postgresql_database) as connection:
            ask(connection, f"DROP SCHEMA IF EXISTS {quoted(staging)} CASCADE")

    def drop_databases(self, server: Server, collections: Mapping[str, str]) -> None:
        # Grants and markers are in the database itself.
        with connected(server, autocommit=True) as connection:
            for name in collections:
                ask(connection, f"DROP DATABASE IF EXISTS {quoted(name)} WITH (FORCE)")

    def admit_reader(self, server: Server) -> None:
        # The role's limits apply wherever it may connect.
        with connected(server) as connection:
            if server.origin is not Origin.DSN:
                _close(connection)
            if not _is_as_wanted(connection, server):
                _put_right(connection, server)
        with connected(server) as connection:
            found = connection.execute(
                "SELECT datname FROM pg_database WHERE datallowconn"
                " AND EXISTS (SELECT FROM aclexplode(datacl) JOIN pg_roles ON grantee = pg_roles.oid"
                " WHERE rolname = %s)"
                " AND shobj_description(oid, 'pg_database') IS DISTINCT FROM %s",
                [server.reader_user, _SECLUDED],
            )
            names = [name for (name,) in found]
        for name in names:
            seclude(server, name)

    def send(
        self,
        session: Connection[Any],
        name: str,
        table: ServerTable,
        connection: sqlite3.Connection,
        advance: Callable[[int], None],
    ) -> int:
        cursor = session.cursor()
        copied = _copied_text if is_plain(connection, table) else _copied_binary
        for rows in copied(cursor, name, table, connection):
            advance(rows)
        return cursor.rowcount

    def analyze(self, session: Connection[Any], staging: str, table: str) -> None:
        name = f"{quoted(staging)}.{quoted(table)}"
        [rows] = session.execute(f"SELECT count(*) FROM {name}".encode()).fetchone() or (0,)  # noqa: S608 - quoted
        if rows <= _BY_DEFAULT:
            ask(session, f"ANALYZE {name}")
            return
        [first] = session.execute(
            "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0"
            " AND NOT attisdropped ORDER BY attnum LIMIT 1",
            [name],
        ).fetchone() or (None,)
        statistics = f"{quoted(staging)}.bird_all_rows"
        ask(session, f"CREATE STATISTICS {statistics} ON ({quoted(str(first))} IS NULL) FROM {name}")
        target = min(_MOST, -(-rows // _ROWS_OF_ONE))
        ask(session, f"ALTER STATISTICS {statistics} SET STATISTICS {target}")
        ask(session, f"ANALYZE {name}")
        ask(session, f"DROP STATISTICS {statistics}")

    def run_dump(
        self, server: Server, database: Database, staging: str, dump: Path, advance: Callable[[int], None]
    ) -> None:
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
                    raise BadInput(f"{dump}: line {statement.line}: PostgreSQL: {message(error)}") from error
                advance(len(statement.text))

    def take_over(
        self, server: Server, database: Database, staging: str, to: str, tables: Sequence[str]
    ) -> None:
        with connected(server, database.postgresql_database) as connection:
            for name in tables:
                ask(connection, f"ALTER TABLE {quoted(staging)}.{quoted(name)} SET SCHEMA {quoted(to)}")
                ask(connection, f"ALTER TABLE {quoted(to)}.{quoted(name)} SET (autovacuum_enabled = off)")
                self.analyze(connection, to, name)


TARGET = _PostgreSql()


_ON_THE_WIRE = {
    "bigint": "int8",
    "real": "float4",
    "double precision": "float8",
    "text": "text",
    "bytea": "bytea",
    "date": "int4",
    "timestamptz": "int8",
}
"""The binary format of a column type, as the name of a type that psycopg writes from a plain value."""

_COUNTED = {"date": DAYS_SINCE_2000, "timestamptz": MICROSECONDS_SINCE_2000}


def _copied_text(
    cursor: Cursor[Any], name: str, table: ServerTable, connection: sqlite3.Connection
) -> Iterator[int]:
    """Send all rows as text; yield the number of additional rows sent."""
    options = f"FREEZE, ENCODING 'UTF8', DELIMITER E'\\x{POSTGRESQL.field.hex()}'"
    with cursor.copy(f"COPY {name} FROM STDIN ({options})".encode()) as copy:
        for page, rows in pages(connection, table, POSTGRESQL):
            copy.write(page)
            yield rows


def _copied_binary(
    cursor: Cursor[Any], name: str, table: ServerTable, connection: sqlite3.Connection
) -> Iterator[int]:
    """Send all rows in the binary format; yield the number of additional rows sent."""
    with cursor.copy(f"COPY {name} FROM STDIN (FORMAT binary, FREEZE)".encode()) as copy:
        copy.set_types([_ON_THE_WIRE[column.type] for column in table.columns])
        write = copy.write_row
        for batch in batches(connection, table.source, [_value(column) for column in table.columns]):
            for row in batch:
                write(row)
            yield len(batch)


def _value(column: ServerColumn) -> str:
    """Return SQL for a column's value in its binary format."""
    counted = _COUNTED.get(column.type)
    return counted.format(quoted(column.source.name)) if counted else stored_value(column)


_BY_DEFAULT = 30_000
"""Rows that ANALYZE samples by default."""
_ROWS_OF_ONE = 300
_MOST = 10_000
"""The largest target: 3,000,000 rows. Of larger tables a random sample of that size is used."""


_ROLE = "bird_harness_dump"
_OF_THE_OWNER = re.compile(
    rb"ALTER .* OWNER TO \S+;$|(GRANT|REVOKE|CREATE EXTENSION) |COMMENT ON (EXTENSION|SCHEMA) "
    rb"|CREATE SCHEMA public;",
    re.DOTALL,
)
"""Statements on owners at the dump's origin, and on objects that every database has."""
_UNKNOWN_SETTING = "42704"
"""https://www.postgresql.org/docs/current/errcodes-appendix.html"""


def _send(
    copy: Copy, rows: DumpStatement, found: Iterator[DumpStatement], advance: Callable[[int], None]
) -> DumpStatement | None:
    """Send rows, and return the statement after them."""
    following: DumpStatement | None = rows
    while following is not None and following.is_rows:
        copy.write(following.text)
        advance(len(following.text))
        following = next(found, None)
    return following


@contextmanager
def _writing(server: Server, database: Database, staging: str) -> Iterator[Connection[Any]]:
    """Yield a session as a role for the dump; at the end, reassign its objects and drop the role."""
    name = database.postgresql_database
    # One role per database: only there can a killed load's rights be revoked.
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


def _rename_indexes(connection: Connection[Any], staging: str, schema: str) -> None:
    """Give each staged index a name that is free in `schema`, as PostgreSQL itself does."""
    there = connection.execute(
        "SELECT relname, nspname, relkind FROM pg_class JOIN pg_namespace ON relnamespace = pg_namespace.oid"
        " WHERE nspname IN (%s, %s)",
        [staging, schema],
    ).fetchall()
    taken = {name for name, _, _ in there}
    fixed = {name for name, place, kind in there if (place, kind) != (staging, "i")}
    for name in sorted(name for name, place, kind in there if (place, kind) == (staging, "i")):
        if name in fixed:
            spellings = (f"{_cut(name, len(str(number)))}{number}" for number in count(1))
            free = next(spelling for spelling in spellings if spelling not in taken)
            taken.add(free)
            ask(connection, f"ALTER INDEX {quoted(staging)}.{quoted(name)} RENAME TO {quoted(free)}")


def _cut(name: str, room: int) -> str:
    return name.encode()[: _LONGEST_NAME - room].decode(errors="ignore")


def _create_database(server: Server, name: str) -> None:
    """Create the database, only for the reading role, unless it exists."""
    with connected(server, autocommit=True) as connection:
        if not connection.execute("SELECT FROM pg_database WHERE datname = %s", [name]).rowcount:
            provider = " LOCALE_PROVIDER libc" if connection.info.server_version >= _WITH_PROVIDERS else ""
            ask(
                connection,
                f"CREATE DATABASE {quoted(name)} TEMPLATE template0 ENCODING UTF8"
                f" LC_COLLATE '{COLLATION}' LC_CTYPE '{COLLATION}'{provider}",
            )
        ask(connection, f"REVOKE ALL ON DATABASE {quoted(name)} FROM PUBLIC")
        ask(connection, f"GRANT CONNECT ON DATABASE {quoted(name)} TO {quoted(server.reader_user)}")
    seclude(server, name)


def _check_order(connection: Connection[Any], server: Server, database: Database) -> None:
    """Reject a database created with another collation."""
    if connection.execute("SELECT 'B' < 'a' AND 'a' < U&'\\00C4'").fetchone() != (True,):
        raise BadInput(
            f"PostgreSQL at {server.address}: database {database.postgresql_database} does not sort by code"
            " point; drop it, and bird-harness will create it again"
        )


def _create_namespaces(connection: Connection[Any], server: Server, schema: str) -> None:
    """Create the schema of the tables, which the reading role may use, and the schema of the markers."""
    for name in (schema, NAMESPACE):
        ask(connection, f"CREATE SCHEMA IF NOT EXISTS {name}")
    ask(connection, f"GRANT USAGE ON SCHEMA {schema} TO {quoted(server.reader_user)}")
    ask(
        connection,
        f"CREATE TABLE IF NOT EXISTS {_LOADS} (collection text, profile text, db_id text,"
        " marker text NOT NULL, PRIMARY KEY (collection, profile, db_id))",
    )


def _existing(server: Server, names: AbstractSet[str]) -> list[str]:
    """Return those of these databases that exist."""
    with connected(server) as connection:
        rows = connection.execute("SELECT datname FROM pg_database WHERE datname = ANY(%s)", [list(names)])
        return [name for (name,) in rows]


def _tables(connection: Connection[Any], schema: str) -> set[str]:
    """Return the names in a schema that a table's name can collide with."""
    rows = connection.execute(
        "SELECT relname FROM pg_class JOIN pg_namespace ON relnamespace = pg_namespace.oid"
        " WHERE nspname = %s AND relkind NOT IN ('i', 'I')",
        [schema],
    )
    return {name for (name,) in rows}


_SETTINGS: Mapping[str, str] = {
    "default_transaction_read_only": "on",
    "temp_file_limit": "4GB",
    "idle_in_transaction_session_timeout": "60s",
    "client_connection_check_interval": "1s",
    "track_activities": "off",
    "log_min_messages": "fatal",
    "log_min_error_statement": "panic",
}
"""The role's settings. For its session it can change those that are not limits.

`temp_file_limit` is the disk space of one statement. A statement whose client is gone ends within
`client_connection_check_interval` (from version 14, if the system supports it). `pg_stat_activity` does not
show the running SQL, which all sessions of the role could read: golds, and texts of other predictors. The log
stays small, however long the texts and however many their errors.
"""

_REVOKED = (
    "^lo_",
    "^(loread|lowrite|ts_stat|pg_notify|pg_cancel_backend|pg_terminate_backend)$",
    "^(pg_export_snapshot|pg_logical_emit_message)$",
    "^pg_(try_)?advisory_",
    "^pg_.*_slot(_|$)",
    "^(query|cursor|table|schema|database)_to_xml",
)
"""Public functions that write, reach another session, or run text as SQL.

No question needs them; a lock held by one prediction would affect another one. As a single pattern they would
take three times as long.
"""

_LANGUAGES = "plpgsql, sql"
"""Languages revoked so that the role cannot write code. Existing functions can still be called."""

_SECLUDED = "bird-harness: secluded 1"
"""Comment of a database in which all of that was revoked; the number changes with the list."""

_NO_DATABASE_FOR_IT = "permission denied for database"


def seclude(server: Server, database: str) -> None:
    """Revoke what the role can do in a database without privileges on tables, unless that was done before.

    Only a superuser can revoke functions; the driver rejects statements that write in any case.
    """
    with connected(server) as connection:
        said = connection.execute(
            "SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = %s", [database]
        ).fetchone()
    if said == (_SECLUDED,):
        return
    with connected(server, database) as connection:
        ask(connection, "REVOKE ALL ON SCHEMA public FROM PUBLIC")
        attempt(connection, f"REVOKE USAGE ON LANGUAGE {_LANGUAGES} FROM PUBLIC")
        found = connection.execute(
            "SELECT oid::regprocedure::text FROM pg_proc WHERE proname ~ ANY (%s)"
            " AND pronamespace = 'pg_catalog'::regnamespace",
            [[*_REVOKED]],
        )
        attempt(
            connection,
            f"REVOKE EXECUTE ON FUNCTION {', '.join(name for (name,) in found)} FROM PUBLIC",
        )
        ask(connection, f"COMMENT ON DATABASE {quoted(database)} IS '{_SECLUDED}'")


def _close(connection: Connection[Any]) -> None:
    """Let only administrators connect to databases without benchmark data, on the harness's own servers."""
    rows = connection.execute(
        "SELECT datname FROM pg_database WHERE datname IN ('postgres', 'template1')"
        " AND EXISTS (SELECT FROM aclexplode(coalesce(datacl, acldefault('d', datdba))) WHERE grantee = 0)"
    ).fetchall()
    for (name,) in rows:
        ask(connection, f"REVOKE ALL ON DATABASE {quoted(name)} FROM PUBLIC")


def _put_right(connection: Connection[Any], server: Server) -> None:
    role = quoted(server.reader_user)
    if not connection.execute("SELECT FROM pg_roles WHERE rolname = %s", [server.reader_user]).rowcount:
        ask(connection, f"CREATE ROLE {role}")
    password = connection.pgconn.encrypt_password(
        server.reader_password.encode(), server.reader_user.encode(), b"scram-sha-256"
    )
    ask(
        connection,
        f"ALTER ROLE {role} LOGIN CONNECTION LIMIT {READER_CONNECTIONS} PASSWORD '{password.decode()}'",
    )
    attempt(
        connection,
        f"ALTER ROLE {role} NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS",
    )
    ask(connection, f"ALTER ROLE {role} RESET ALL")
    ask(connection, f"ALTER ROLE {role} SET default_transaction_read_only = on")
    for name, value in _SETTINGS.items():
        # Some need a superuser, some do not exist in every version.
        attempt(connection, f"ALTER ROLE {role} SET {name} = '{value}'")


def _is_as_wanted(connection: Connection[Any], server: Server) -> bool:
    found = connection.execute(
        "SELECT rolconfig, rolcanlogin, rolconnlimit,"
        " rolsuper OR rolcreatedb OR rolcreaterole OR rolreplication OR rolbypassrls"
        " FROM pg_roles WHERE rolname = %s",
        [server.reader_user],
    ).fetchone()
    known = connection.execute("SELECT name FROM pg_settings WHERE name = ANY(%s)", [[*_SETTINGS]])
    wanted = {f"{name}={_SETTINGS[name]}" for (name,) in known}
    if found is None or found[1:] != (True, READER_CONNECTIONS, False):
        return False
    return set(found[0] or ()) == wanted and _logs_in(server)


def _logs_in(server: Server) -> bool:
    """True if the password is right. A database closed to the role reports that only after checking it."""
    try:
        with psycopg.connect(
            host=server.host, port=server.port, user=server.reader_user, password=server.reader_password,
            dbname=MAINTENANCE, connect_timeout=CONNECT_SECONDS,
        ):  # fmt: skip
            return True
    except psycopg.OperationalError as error:
        return _NO_DATABASE_FOR_IT in str(error)
