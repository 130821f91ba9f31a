"""Copies of databases, made to change their keys and indexes; a user's own database is never changed.

A copy is a database that `loaders.load` has loaded under a collection from `copy_collection`. Nothing else
has such a name, so any copy can be dropped while no study holds the server. Every function uses the
administrator's account and raises `EngineUnavailable` if the server cannot be reached or breaks.
"""

import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from dialects.by_dialect import ByDialect
from dialects.identifiers import quoted
from dialects.server_schema import ServerTable
from loaders.namespace import NAMESPACE, Database, namespace
from loaders.server import Server, Sessions, sessions
from loaders.target import KeySyntax, target

COPY = f"{NAMESPACE}_study"
"""Prefix of every copy's collection."""

_DIGITS = 16
IS_COPY = re.compile(rf"{COPY}_[0-9a-f]{{{_DIGITS}}}(?:_.*)?")
"""Matches the names of copies' databases, on every server and in every profile."""


@dataclass(frozen=True)
class IndexSql:
    """An engine's statements; the parameter `place` is the tables' namespace."""

    lock: str
    """A lock that ends with its connection: named, or advisory in the maintenance database."""
    databases: str
    add: str
    drop: str
    keyed: str
    """Tables that have a primary key, and the key's name."""
    drop_key: Sequence[str]
    sizes: str
    """Bytes by table and index; an empty index name means the table itself."""


_SQL = ByDialect[IndexSql]("loaders.{}.copies", "SQL")


def copy_collection() -> str:
    """Return a collection that no other copy has."""
    return f"{COPY}_{secrets.token_hex(_DIGITS // 2)}"


@contextmanager
def hold(server: Server) -> Iterator[bool]:
    """Hold the server's lock for studies; yields False if another study has it.

    The server releases it if the process dies.
    """
    engine = sessions(server.dialect)
    with engine.connected(server, autocommit=True) as connection:
        [(held,)] = engine.ask(connection, _SQL[server.dialect].lock)
        yield bool(held)


def copies(server: Server) -> list[str]:
    """Return the databases on the server that are copies, whoever made them."""
    engine = sessions(server.dialect)
    with engine.connected(server) as connection:
        found = engine.ask(connection, _SQL[server.dialect].databases)
    return [name for (name,) in found if IS_COPY.fullmatch(name)]


def drop(server: Server, names: Sequence[str]) -> None:
    """Drop databases that are copies, with their grants and markers."""
    target(server.dialect).drop_databases(
        server, {name: name[: len(COPY) + 1 + _DIGITS] for name in names if IS_COPY.fullmatch(name)}
    )


def add_index(
    server: Server, database: Database, table: ServerTable, columns: Sequence[str], name: str
) -> str | None:
    """Create an index on a copy; return why the server refused it, None on success.

    `columns` are SQLite's names; for long texts a prefix is indexed, as by the loader.
    """
    with _standing(server, database) as (engine, connection, syntax):
        parts = syntax.columns(table, columns, whole=False)
        add = _SQL[server.dialect].add
        return engine.attempt(
            connection, add.format(table=syntax.table(table), name=quoted(name), columns=parts)
        )


def drop_index(server: Server, database: Database, table: ServerTable, name: str) -> None:
    """Drop an index created by `add_index`."""
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
    """Return the bytes of every index, by the server's (table, index); of tables by (`table`, "")."""
    place = namespace(database, server.dialect)[-1]
    with _standing(server, database) as (engine, connection, _):
        found = engine.ask(connection, _SQL[server.dialect].sizes, {"place": place})
    return {(table, index): int(size) for table, index, size in found}


@contextmanager
def _standing(server: Server, database: Database) -> Iterator[tuple[Sessions, Any, KeySyntax]]:
    """Yield the engine's sessions, one connected to the copy, and the syntax of its tables."""
    engine, place = sessions(server.dialect), namespace(database, server.dialect)
    with engine.connected(server, place[0]) as connection:
        yield engine, connection, target(server.dialect).syntax(quoted(place[-1]))
