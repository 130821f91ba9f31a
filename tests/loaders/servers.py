"""Asking a server directly, as its administrator or as the reading role."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pymysql

from dialects.enums import Dialect, Profile
from dialects.identifiers import FUNCTIONS_NAMESPACE
from loaders.duckdb import functions
from loaders.duckdb.session import path_of
from loaders.namespace import NAMESPACE, Database, namespace
from loaders.server import Server

_kept: dict[tuple[object, ...], "psycopg.Connection[Any]"] | None = None


@contextmanager
def kept_sessions() -> Iterator[None]:
    """In the block sessions with PostgreSQL are used again: a new one takes longer than most questions."""
    global _kept  # noqa: PLW0603 - of all questions of a test
    _kept = {}
    try:
        yield
    finally:
        for session in _kept.values():
            session.close()
        _kept = None


def ask(
    server: Server, database: Database | None, sql: str, *, as_reader: bool = False
) -> list[tuple[Any, ...]]:
    """Run a statement where `database` stands, or on no database in particular, and return its rows."""
    with _connected(server, database, as_reader=as_reader) as connection, connection.cursor() as cursor:
        cursor.execute(sql.encode() if server.dialect is Dialect.POSTGRESQL else sql)
        return list(cursor.fetchall()) if cursor.description else []


@contextmanager
def _connected(server: Server, database: Database | None, *, as_reader: bool = False) -> Iterator[Any]:
    if server.dialect is Dialect.DUCKDB:
        file = path_of(server, namespace(database, server.dialect)[0]) if database else ":memory:"
        with duckdb.connect(file) as connection:
            functions.install(connection)
            yield connection
        return
    user = server.reader_user if as_reader else server.user
    password = server.reader_password if as_reader else server.password
    if server.dialect in {Dialect.MYSQL, Dialect.MARIADB}:
        with closing(
            pymysql.connect(
                host=server.host, port=server.port, user=user, password=password, autocommit=True,
                database=database.mysql_database if database else None,
                ssl_disabled=server.is_local,  # as in the harness: TLS takes longer than the question
                init_command="SET SESSION sql_mode = 'ANSI_QUOTES'",
            )
        ) as connection:  # fmt: skip
            yield connection
        return
    schema = database.postgresql_schema if database else "public"
    name = database.postgresql_database if database else "postgres"
    place = (server, user, name, schema)
    session = _kept.pop(place, None) if _kept else None
    if session is None:
        session = psycopg.connect(
            host=server.host, port=server.port, user=user, password=password, dbname=name, autocommit=True,
            prepare_threshold=None,  # what stands there may be of other columns the next time
            options=f'-c search_path="{schema}" -c TimeZone=UTC -c client_min_messages=warning',
        )  # fmt: skip
    is_fit = False
    try:
        yield session
        is_fit = _kept is not None and place not in _kept
    finally:
        if is_fit and _kept is not None:
            _kept[place] = session
        else:
            session.close()


def read(server: Server, database: Database, sql: str) -> list[tuple[Any, ...]]:
    """Run a query as the reading role."""
    return ask(server, database, sql, as_reader=True)


def drop(server: Server, *collections: str) -> None:
    """Remove everything that was loaded under the collections."""
    if server.dialect is Dialect.DUCKDB:
        for path in Path(server.host).iterdir():
            if path.name.startswith(tuple(f"{each}__" for each in collections)):
                path.unlink()
        return
    with _connected(server, None) as connection, connection.cursor() as cursor:
        if server.dialect is Dialect.POSTGRESQL:
            for name in collections:
                # Connections that wait for the next session may still be open.
                cursor.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
                cursor.execute(f'DROP DATABASE IF EXISTS "{name}_faithful" WITH (FORCE)')
            return
        cursor.execute("SHOW DATABASES")
        for (name,) in cursor.fetchall():
            if name in collections or name.startswith(tuple(f"{each}__" for each in collections)):
                cursor.execute(f'DROP DATABASE "{name}"')
        if cursor.execute(
            f"SELECT 1 FROM information_schema.tables WHERE table_schema = '{NAMESPACE}'"
            " AND table_name = 'loads'"
        ):
            cursor.execute(f"DELETE FROM {NAMESPACE}.loads WHERE collection IN %s", [collections])


_STANDING = """
SELECT format('DROP SCHEMA %%I CASCADE', nspname) FROM pg_namespace
WHERE nspname !~ '^pg_' AND nspname NOT IN ('information_schema', 'public', %s)
UNION ALL
SELECT format('DROP %%s IF EXISTS public.%%I CASCADE', kind, relname)
FROM pg_class JOIN (VALUES ('r', 'TABLE'), ('v', 'VIEW'), ('S', 'SEQUENCE')) AS kinds (letter, kind)
ON relkind::text = letter WHERE relnamespace = 'public'::regnamespace
"""


def empty(server: Server, collection: str) -> None:
    """Let the databases of a collection on PostgreSQL hold what a load into new ones would find there.

    That is nothing but what every one of them has: SQLite's functions, and what the reading role has lost.
    """
    for profile in Profile:
        database = Database(collection, "", Path(), profile)
        name = database.postgresql_database
        if not ask(server, None, f"SELECT 1 FROM pg_database WHERE datname = '{name}'"):
            continue
        with _connected(server, database) as connection, connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '10s'")
            cursor.execute(_STANDING, [FUNCTIONS_NAMESPACE])
            for (statement,) in cursor.fetchall():
                cursor.execute(statement.encode())
            cursor.execute(f'REVOKE ALL ON SCHEMA public FROM "{server.reader_user}"')
            cursor.execute("RESET lock_timeout")
