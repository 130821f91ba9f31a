"""Asking a server directly, as its administrator or as the reading role."""

from contextlib import closing
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
    user = server.reader_user if as_reader else server.user
    password = server.reader_password if as_reader else server.password
    if server.dialect is Dialect.MYSQL:
        name = database.mysql_database if database else None
        with (
            closing(
                pymysql.connect(
                    host=server.host, port=server.port, user=user, password=password, database=name,
                    autocommit=True, init_command="SET SESSION sql_mode = 'ANSI_QUOTES'",
                )
            ) as connection,
            connection.cursor() as cursor,
        ):  # fmt: skip
            cursor.execute(sql)
            return list(cursor.fetchall())
    schema = database.postgresql_schema if database else "public"
    with psycopg.connect(
        host=server.host, port=server.port, user=user, password=password, autocommit=True,
        dbname=database.postgresql_database if database else "postgres",
        options=f'-c search_path="{schema}" -c TimeZone=UTC -c client_min_messages=warning',
    ) as session:  # fmt: skip
        found = session.execute(sql.encode())
        return found.fetchall() if found.description else []


def read(server: Server, database: Database, sql: str) -> list[tuple[Any, ...]]:
    """Run a query as the reading role."""
    return ask(server, database, sql, as_reader=True)


def drop(server: Server, collection: str) -> None:
    """Remove everything that was loaded under the collection."""
    if server.dialect is Dialect.POSTGRESQL:
        for name in (collection, f"{collection}_faithful"):
            # Connections that wait for the next session may still be open.
            ask(server, None, f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        return
    for (name,) in ask(server, None, "SHOW DATABASES"):
        if name == collection or name.startswith(f"{collection}__"):
            ask(server, None, f'DROP DATABASE "{name}"')
    if ask(
        server,
        None,
        f"SELECT 1 FROM information_schema.tables WHERE table_schema = '{NAMESPACE}'"
        " AND table_name = 'loads'",
    ):
        ask(server, None, f"DELETE FROM {NAMESPACE}.loads WHERE collection = '{collection}'")
