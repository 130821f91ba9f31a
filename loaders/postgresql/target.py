"""Loading into PostgreSQL: tables are filled in a schema of their own and put in place in one transaction.

Other sessions see the old tables, marker and statistics until it commits, and the new ones afterwards.
"""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, suppress
from functools import cache, partial
from itertools import count
from typing import Any

from psycopg import Connection

from dialects.enums import Dialect
from dialects.errors import BadInput
from dialects.identifiers import FUNCTIONS_NAMESPACE, quoted
from dialects.server_schema import POSTGRESQL_COLLATION
from loaders import functions
from loaders.base.errors import EngineUnavailable
from loaders.namespace import NAMESPACE, STAGING, Database, Key, Marker, filed, key
from loaders.postgresql import reader
from loaders.postgresql.session import MAINTENANCE, connected, run
from loaders.postgresql.tables import fill, link
from loaders.server import Server

_LOADS = f"{NAMESPACE}.loads"
_FUNCTIONS = "bird-harness functions "
_LOCK = int.from_bytes(b"birdload")
_WITH_PROVIDERS = 150_000
"""The first version whose clusters can sort by something other than the C library."""

_LONGEST_NAME = 63
"""Bytes. https://www.postgresql.org/docs/current/sql-syntax-lexical.html#SQL-SYNTAX-IDENTIFIERS."""

__all__ = [
    "admit_reader",
    "discard",
    "exclusive",
    "fill",
    "install_functions",
    "link",
    "markers",
    "prepare",
    "present",
    "put_in_place",
    "tidy",
]


def in_processes() -> bool:
    """See `Target.in_processes`."""
    return False  # SQLite writes what is sent


@contextmanager
def exclusive(server: Server) -> Iterator[None]:
    """See `Target.exclusive`: an advisory lock in the maintenance database, which no prediction uses."""
    with connected(server, MAINTENANCE, autocommit=True) as connection:
        connection.execute("SELECT pg_advisory_lock(%s)", [_LOCK])
        yield


def admit_reader(server: Server) -> None:
    """See `Target.admit_reader`."""
    reader.admit(server)


def install_functions(server: Server, databases: Sequence[Database]) -> None:
    """See `Target.install_functions`. The comment on their schema tells whose they are, and which version."""
    schema, wanted = FUNCTIONS_NAMESPACE, f"{_FUNCTIONS}{functions.digest(Dialect.POSTGRESQL)}"
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


def tidy(server: Server, databases: Sequence[Database]) -> None:
    """See `Target.tidy`."""
    for name in _existing(server, {database.postgresql_database for database in databases}):
        with connected(server, name) as connection:
            found = connection.execute(
                "SELECT nspname FROM pg_namespace WHERE left(nspname, length(%(start)s)) = %(start)s",
                {"start": STAGING},
            )
            for (staging,) in found.fetchall():
                run(connection, f"DROP SCHEMA {quoted(staging)} CASCADE")


def prepare(server: Server, database: Database, staging: str) -> None:
    """See `Target.prepare`."""
    _create_database(server, database.postgresql_database)
    with connected(server, database.postgresql_database) as connection:
        _check_order(connection, server, database)
        run(connection, f"CREATE SCHEMA {quoted(staging)}")


def put_in_place(
    server: Server, database: Database, staging: str, old: Sequence[str], marker: Marker
) -> None:
    """See `Target.put_in_place`."""
    schema = quoted(database.postgresql_schema)
    with connected(server, database.postgresql_database) as connection:
        _create_namespaces(connection, server, schema)
        if old:
            run(connection, f"DROP TABLE IF EXISTS {', '.join(f'{schema}.{quoted(name)}' for name in old)}")
        _rename_indexes(connection, staging, database.postgresql_schema)
        for table in map(quoted, marker.tables):
            run(connection, f"ALTER TABLE {quoted(staging)}.{table} SET SCHEMA {schema}")
            run(connection, f"GRANT SELECT ON {schema}.{table} TO {quoted(server.reader_user)}")
        connection.execute(
            f"INSERT INTO {_LOADS} VALUES (%s, %s, %s, %s)"  # noqa: S608 - a constant
            " ON CONFLICT (collection, profile, db_id) DO UPDATE SET marker = excluded.marker",
            [*key(database), marker.to_json()],
        )
        run(connection, f"DROP SCHEMA {quoted(staging)}")


def discard(server: Server, database: Database, staging: str) -> None:
    """See `Target.discard`."""
    with suppress(EngineUnavailable), connected(server, database.postgresql_database) as connection:
        run(connection, f"DROP SCHEMA IF EXISTS {quoted(staging)} CASCADE")


def _rename_indexes(connection: Connection[Any], staging: str, schema: str) -> None:
    """Give each staged index a name that nothing in `schema` has, as PostgreSQL does when it names one."""
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
            run(connection, f"ALTER INDEX {quoted(staging)}.{quoted(name)} RENAME TO {quoted(free)}")


def _cut(name: str, room: int) -> str:
    return name.encode()[: _LONGEST_NAME - room].decode(errors="ignore")


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
    reader.seclude(server, name)


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
