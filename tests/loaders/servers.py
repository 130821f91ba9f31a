"""Asking a server directly, as its administrator or as the reading role."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import psycopg
import pymysql

from dialects.enums import Dialect
from loaders.bookkeeping import NAMESPACE
from loaders.namespace import Database
from loaders.server import Server


def ask(
    server: Server, database: Database | None, sql: str, *, as_reader: bool = False
) -> list[tuple[Any, ...]]:
    """Run a statement where `database` stands, or on no database in particular, and return its rows."""
    with _connected(server, database, as_reader=as_reader) as connection, connection.cursor() as cursor:
        cursor.execute(sql if server.dialect is Dialect.MYSQL else sql.encode())
        return list(cursor.fetchall()) if cursor.description else []


@contextmanager
def _connected(server: Server, database: Database | None, *, as_reader: bool = False) -> Iterator[Any]:
    user = server.reader_user if as_reader else server.user
    password = server.reader_password if as_reader else server.password
    if server.dialect is Dialect.MYSQL:
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
    with psycopg.connect(
        host=server.host, port=server.port, user=user, password=password, autocommit=True,
        dbname=database.postgresql_database if database else "postgres",
        options=f'-c search_path="{schema}" -c TimeZone=UTC -c client_min_messages=warning',
    ) as session:  # fmt: skip
        yield session


def read(server: Server, database: Database, sql: str) -> list[tuple[Any, ...]]:
    """Run a query as the reading role."""
    return ask(server, database, sql, as_reader=True)


def drop(server: Server, *collections: str) -> None:
    """Remove everything that was loaded under the collections."""
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
