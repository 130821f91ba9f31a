"""Loading into PostgreSQL: tables are filled in a schema of their own and put in place in one transaction.

Other sessions see the old tables, marker and statistics until it commits, and the new ones afterwards.

The role that predictions run as reads what was loaded, within limits, and no more. Tables are granted where
they are loaded. What PostgreSQL lets every role do besides is taken away here.
https://www.postgresql.org/docs/current/ddl-priv.html
"""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, suppress
from functools import cache, partial
from itertools import count
from typing import Any

import psycopg
from psycopg import Connection

from dialects.enums import Dialect
from dialects.errors import BadInput
from dialects.identifiers import FUNCTIONS_NAMESPACE, quoted
from dialects.server_schema import POSTGRESQL_COLLATION
from loaders import functions
from loaders.base.errors import EngineUnavailable
from loaders.namespace import NAMESPACE, STAGING, Database, Key, Marker, filed, key
from loaders.postgresql.session import CONNECT_SECONDS, MAINTENANCE, ask, attempt, connected
from loaders.postgresql.tables import Syntax, fill, link, run_dump, take_over
from loaders.server import READER_CONNECTIONS, Origin, Server

_LOADS = f"{NAMESPACE}.loads"
_FUNCTIONS = "bird-harness functions "
_LOCK = int.from_bytes(b"birdload")
_WITH_PROVIDERS = 150_000
"""The first version whose clusters can sort by something other than the C library."""

_LONGEST_NAME = 63
"""Bytes. https://www.postgresql.org/docs/current/sql-syntax-lexical.html#SQL-SYNTAX-IDENTIFIERS."""

__all__ = ["fill", "link", "run_dump", "take_over"]


def in_processes() -> bool:
    """See `Target.in_processes`."""
    return False  # SQLite writes what is sent


@contextmanager
def exclusive(server: Server) -> Iterator[None]:
    """See `Target.exclusive`: an advisory lock in the maintenance database, which no prediction uses."""
    with connected(server, autocommit=True) as connection:
        connection.execute("SELECT pg_advisory_lock(%s)", [_LOCK])
        yield


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
            ask(connection, f"DROP SCHEMA IF EXISTS {schema} CASCADE")
            ask(connection, f"CREATE SCHEMA {schema}")
            ask(connection, "SET LOCAL check_function_bodies = off")
            ask(connection, functions.script(Dialect.POSTGRESQL))
            ask(connection, f"GRANT USAGE ON SCHEMA {schema} TO {quoted(server.reader_user)}")
            ask(
                connection,
                f"GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA {schema} TO {quoted(server.reader_user)}",
            )
            ask(connection, f"COMMENT ON SCHEMA {schema} IS '{wanted}'")


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
                ask(connection, f"DROP SCHEMA {quoted(staging)} CASCADE")


def prepare(server: Server, database: Database, staging: str) -> None:
    """See `Target.prepare`."""
    _create_database(server, database.postgresql_database)
    with connected(server, database.postgresql_database) as connection:
        _check_order(connection, server, database)
        ask(connection, f"CREATE SCHEMA {quoted(staging)}")


def put_in_place(
    server: Server, database: Database, staging: str, old: Sequence[str], marker: Marker
) -> None:
    """See `Target.put_in_place`."""
    schema = quoted(database.postgresql_schema)
    with connected(server, database.postgresql_database) as connection:
        _create_namespaces(connection, server, schema)
        if old:
            ask(connection, f"DROP TABLE IF EXISTS {', '.join(f'{schema}.{quoted(name)}' for name in old)}")
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


def discard(server: Server, database: Database, staging: str) -> None:
    """See `Target.discard`."""
    with suppress(EngineUnavailable), connected(server, database.postgresql_database) as connection:
        ask(connection, f"DROP SCHEMA IF EXISTS {quoted(staging)} CASCADE")


def drop_databases(server: Server, collections: Mapping[str, str]) -> None:
    """See `Target.drop_databases`: rights and what is remembered stand in the database itself."""
    with connected(server, autocommit=True) as connection:
        for name in collections:
            ask(connection, f"DROP DATABASE IF EXISTS {quoted(name)} WITH (FORCE)")


def key_syntax(namespace: str) -> Syntax:
    """See `Target.key_syntax`."""
    return Syntax(quoted(namespace))


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
            ask(connection, f"ALTER INDEX {quoted(staging)}.{quoted(name)} RENAME TO {quoted(free)}")


def _cut(name: str, room: int) -> str:
    return name.encode()[: _LONGEST_NAME - room].decode(errors="ignore")


def _create_database(server: Server, name: str) -> None:
    """Create the database, for the reading role alone, unless it is there."""
    with connected(server, autocommit=True) as connection:
        if not connection.execute("SELECT FROM pg_database WHERE datname = %s", [name]).rowcount:
            provider = " LOCALE_PROVIDER libc" if connection.info.server_version >= _WITH_PROVIDERS else ""
            ask(
                connection,
                f"CREATE DATABASE {quoted(name)} TEMPLATE template0 ENCODING UTF8"
                f" LC_COLLATE '{POSTGRESQL_COLLATION}' LC_CTYPE '{POSTGRESQL_COLLATION}'{provider}",
            )
        ask(connection, f"REVOKE ALL ON DATABASE {quoted(name)} FROM PUBLIC")
        ask(connection, f"GRANT CONNECT ON DATABASE {quoted(name)} TO {quoted(server.reader_user)}")
    seclude(server, name)


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
        ask(connection, f"CREATE SCHEMA IF NOT EXISTS {name}")
    ask(connection, f"GRANT USAGE ON SCHEMA {schema} TO {quoted(server.reader_user)}")
    ask(
        connection,
        f"CREATE TABLE IF NOT EXISTS {_LOADS} (collection text, profile text, db_id text,"
        " marker text NOT NULL, PRIMARY KEY (collection, profile, db_id))",
    )


def _existing(server: Server, names: AbstractSet[str]) -> list[str]:
    """Which of these databases there are."""
    with connected(server) as connection:
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


_SETTINGS: Mapping[str, str] = {
    "default_transaction_read_only": "on",
    "temp_file_limit": "4GB",
    "idle_in_transaction_session_timeout": "60s",
    "client_connection_check_interval": "1s",
    "track_activities": "off",
    "log_min_messages": "fatal",
    "log_min_error_statement": "panic",
}
"""The role's settings. It can change those that are no limit, for its session.

`temp_file_limit` is the disk that one statement may fill. A statement whose client has gone ends within
`client_connection_check_interval` (from version 14, where the system can tell). What it runs is not shown in
`pg_stat_activity`, where all sessions of one role could read it: golds, and the texts of other predictors.
The log stays small, however long the texts and however many their errors.
"""

_REVOKED = (
    "^lo_",
    "^(loread|lowrite|ts_stat|pg_notify|pg_cancel_backend|pg_terminate_backend)$",
    "^(pg_export_snapshot|pg_logical_emit_message)$",
    "^pg_(try_)?advisory_",
    "^pg_.*_slot(_|$)",
    "^(query|cursor|table|schema|database)_to_xml",
)
"""Functions for everybody that write, reach another session, or run text as SQL.

Nobody answers a question with them; a lock that one prediction holds would decide about another one. As one
pattern they would take three times as long.
"""

_LANGUAGES = "plpgsql, sql"
"""Without them the role writes no code. Functions that exist can be called all the same."""

_SECLUDED = "bird-harness: secluded 1"
"""Comment of a database from which all of that was taken away; the number changes with it."""

_NO_DATABASE_FOR_IT = "permission denied for database"


def admit_reader(server: Server) -> None:
    """See `Target.admit_reader`. The role is held to its limits wherever it may connect."""
    with connected(server) as connection:
        if server.origin is not Origin.DSN:
            _close(connection)
        if not _is_as_wanted(connection, server):
            _put_right(connection, server)
    with connected(server) as connection:
        found = connection.execute(
            "SELECT datname FROM pg_database WHERE datallowconn AND EXISTS (SELECT FROM aclexplode(datacl)"
            " JOIN pg_roles ON grantee = pg_roles.oid WHERE rolname = %s)"
            " AND shobj_description(oid, 'pg_database') IS DISTINCT FROM %s",
            [server.reader_user, _SECLUDED],
        )
        names = [name for (name,) in found]
    for name in names:
        seclude(server, name)


def seclude(server: Server, database: str) -> None:
    """Take from the role what it can do in a database without privileges on tables, unless that was done.

    An administrator who is no superuser cannot take functions away; the driver refuses what writes, anyhow.
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
    """Nobody but administrators connects to databases that hold nothing of ours. Not on servers of others."""
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
        # Some are for a superuser to set, some not for every version.
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
    """Whether the password is right. A database that is closed to the role says so after looking at it."""
    try:
        with psycopg.connect(
            host=server.host, port=server.port, user=server.reader_user, password=server.reader_password,
            dbname=MAINTENANCE, connect_timeout=CONNECT_SECONDS,
        ):  # fmt: skip
            return True
    except psycopg.OperationalError as error:
        return _NO_DATABASE_FOR_IT in str(error)
