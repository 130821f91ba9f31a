"""Copies of databases whose keys and indexes are changed: never a user's own.

A copy is a database that `loaders.load` has loaded under a collection of `copy_collection`; nothing else has
such a name, and whatever has is nobody's once no study holds the server. Every function works under the
administrating account and raises `EngineUnavailable` when the server cannot be reached or breaks.
"""

import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from dialects.enums import Dialect
from dialects.identifiers import quoted
from dialects.server_schema import ServerTable
from loaders.namespace import NAMESPACE, Database, namespace
from loaders.server import Server, Sessions, sessions
from loaders.target import KeySyntax, target

COPY = f"{NAMESPACE}_study"
"""How the collection of every copy begins."""

_DIGITS = 16
IS_COPY = re.compile(rf"{COPY}_[0-9a-f]{{{_DIGITS}}}(?:_.*)?")
"""The names of the databases that copies stand in, on every server and in every profile."""


@dataclass(frozen=True)
class _IndexSql:
    """An engine's statements; the parameter `place` is the namespace of the tables."""

    lock: str
    """Ends with its connection: a named one, or an advisory one where no prediction is."""
    databases: str
    add: str
    drop: str
    keyed: str
    """Tables that have a primary key, and the key's name."""
    drop_key: Sequence[str]
    sizes: str
    """Bytes by table and index; of the table itself by an empty name."""


_SQL: Mapping[Dialect, _IndexSql] = {
    Dialect.MYSQL: _IndexSql(
        lock=f"SELECT GET_LOCK('{NAMESPACE} study', 0) = 1",
        databases="SELECT schema_name FROM information_schema.schemata",
        add="ALTER TABLE {table} ADD INDEX {name} {columns}",
        drop="ALTER TABLE {table} DROP INDEX {name}",
        keyed="SELECT table_name, index_name FROM information_schema.statistics"
        " WHERE table_schema = %(place)s AND index_name = 'PRIMARY' AND seq_in_index = 1",
        # InnoDB stores the table anew, in the order that it had.
        drop_key=("ALTER TABLE {table} DROP PRIMARY KEY", "ANALYZE TABLE {table}"),
        # Pages as its persistent statistics count them. It keeps a table in the order of its primary key, and
        # numbers the rows by itself without one: the bytes of that key are those of the table.
        # https://dev.mysql.com/doc/refman/9.7/en/innodb-persistent-stats.html, innodb-index-types.html
        sizes="SELECT table_name, if(index_name IN ('PRIMARY', 'GEN_CLUST_INDEX'), '', index_name),"
        " stat_value * @@innodb_page_size FROM mysql.innodb_index_stats"
        " WHERE database_name = %(place)s AND stat_name = 'size'",
    ),
    Dialect.POSTGRESQL: _IndexSql(
        lock=f"SELECT pg_try_advisory_lock({int.from_bytes(b'birdstud')})",
        databases="SELECT datname FROM pg_database",
        add="CREATE INDEX {name} ON {table} {columns}",
        drop="DROP INDEX {schema}.{name}",
        keyed="SELECT relname, conname FROM pg_constraint JOIN pg_class ON conrelid = pg_class.oid"
        " JOIN pg_namespace ON relnamespace = pg_namespace.oid WHERE contype = 'p' AND nspname = %(place)s",
        # The columns stay NOT NULL, which they are declared as.
        drop_key=("ALTER TABLE {table} DROP CONSTRAINT {name}",),
        # https://www.postgresql.org/docs/current/functions-admin.html#FUNCTIONS-ADMIN-DBSIZE
        sizes="SELECT tables.relname, indexes.relname, pg_relation_size(indexes.oid)"
        " FROM pg_index JOIN pg_class AS tables ON indrelid = tables.oid"
        " JOIN pg_class AS indexes ON indexrelid = indexes.oid"
        " JOIN pg_namespace ON tables.relnamespace = pg_namespace.oid"
        " WHERE nspname = %(place)s AND tables.relkind = 'r'"
        " UNION SELECT relname, '', pg_table_size(pg_class.oid) FROM pg_class"
        " JOIN pg_namespace ON relnamespace = pg_namespace.oid"
        " WHERE nspname = %(place)s AND relkind = 'r'",
    ),
}


def copy_collection() -> str:
    """A collection that no other copy has."""
    return f"{COPY}_{secrets.token_hex(_DIGITS // 2)}"


@contextmanager
def hold(server: Server) -> Iterator[bool]:
    """Be the only study that has copies on this server; False where another one has.

    The server itself ends it when the process dies.
    """
    engine = sessions(server.dialect)
    with engine.connected(server, autocommit=True) as connection:
        [(held,)] = engine.ask(connection, _SQL[server.dialect].lock)
        yield bool(held)


def copies(server: Server) -> list[str]:
    """The databases on the server that are copies, whoever made them."""
    engine = sessions(server.dialect)
    with engine.connected(server) as connection:
        found = engine.ask(connection, _SQL[server.dialect].databases)
    return [name for (name,) in found if IS_COPY.fullmatch(name)]


def drop(server: Server, names: Sequence[str]) -> None:
    """Drop databases that are copies, with the rights on them and what is remembered of their loads."""
    target(server.dialect).drop_databases(
        server, {name: name[: len(COPY) + 1 + _DIGITS] for name in names if IS_COPY.fullmatch(name)}
    )


def add_index(
    server: Server, database: Database, table: ServerTable, columns: Sequence[str], name: str
) -> str | None:
    """Make an index of a copy; why the server refused it, None where it is there.

    `columns` are SQLite's names; of long texts a prefix is indexed where the loader does so.
    """
    with _standing(server, database) as (engine, connection, syntax):
        parts = syntax.columns(table, columns, whole=False)
        add = _SQL[server.dialect].add
        return engine.attempt(
            connection, add.format(table=syntax.table(table), name=quoted(name), columns=parts)
        )


def drop_index(server: Server, database: Database, table: ServerTable, name: str) -> None:
    """Drop an index that `add_index` made."""
    with _standing(server, database) as (engine, connection, syntax):
        place = {"table": syntax.table(table), "schema": quoted(namespace(database, server.dialect)[-1])}
        engine.ask(connection, _SQL[server.dialect].drop.format(name=quoted(name), **place))


def drop_primary_keys(server: Server, database: Database, tables: Sequence[ServerTable]) -> None:
    """Drop the primary keys of the tables that have one."""
    sql, place = _SQL[server.dialect], namespace(database, server.dialect)[-1]
    with _standing(server, database) as (engine, connection, syntax):
        keys = dict(engine.ask(connection, sql.keyed, {"place": place}))
        for table in tables:
            for statement in sql.drop_key if table.name in keys else ():
                engine.ask(
                    connection, statement.format(table=syntax.table(table), name=quoted(keys[table.name]))
                )


def sizes(server: Server, database: Database) -> Mapping[tuple[str, str], int]:
    """Bytes of every index, by the server's names of table and index; of tables by (`table`, "")."""
    place = namespace(database, server.dialect)[-1]
    with _standing(server, database) as (engine, connection, _):
        found = engine.ask(connection, _SQL[server.dialect].sizes, {"place": place})
    return {(table, index): int(size) for table, index, size in found}


@contextmanager
def _standing(server: Server, database: Database) -> Iterator[tuple[Sessions, Any, KeySyntax]]:
    """The engine's sessions, one where the copy stands, and how its tables are spelled."""
    engine, place = sessions(server.dialect), namespace(database, server.dialect)
    with engine.connected(server, place[0]) as connection:
        yield engine, connection, target(server.dialect).syntax(quoted(place[-1]))
