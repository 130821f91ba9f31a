"""Keys and indexes of copies on PostgreSQL: see `loaders.indexing`."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from dialects.identifiers import quoted
from dialects.server_schema import ServerTable
from loaders.indexing import IS_COPY
from loaders.namespace import Database
from loaders.postgresql.session import MAINTENANCE, attempt, connected, run
from loaders.postgresql.tables import Syntax
from loaders.server import Server

__all__ = ["add_index", "copies", "drop", "drop_index", "drop_primary_keys", "hold", "sizes"]

_LOCK = int.from_bytes(b"birdstud")


@contextmanager
def hold(server: Server) -> Iterator[bool]:
    """See `Indexing.hold`: an advisory lock in the maintenance database, which no prediction uses."""
    with connected(server, MAINTENANCE, autocommit=True) as connection:
        found = connection.execute("SELECT pg_try_advisory_lock(%s)", [_LOCK]).fetchone()
        yield found == (True,)


def copies(server: Server) -> list[str]:
    """See `Indexing.copies`."""
    with connected(server, MAINTENANCE) as connection:
        found = connection.execute("SELECT datname FROM pg_database").fetchall()
    return [name for (name,) in found if IS_COPY.fullmatch(name)]


def drop(server: Server, names: Sequence[str]) -> None:
    """See `Indexing.drop`: rights and what is remembered stand in the database itself."""
    with connected(server, MAINTENANCE, autocommit=True) as connection:
        for name in filter(IS_COPY.fullmatch, names):
            run(connection, f"DROP DATABASE IF EXISTS {quoted(name)} WITH (FORCE)")


def add_index(
    server: Server, database: Database, table: ServerTable, columns: Sequence[str], name: str
) -> str | None:
    """See `Indexing.add_index`."""
    syntax = Syntax(quoted(database.postgresql_schema))
    parts = syntax.columns(table, columns, whole=False)
    with connected(server, database.postgresql_database) as connection:
        return attempt(connection, f"CREATE INDEX {quoted(name)} ON {syntax.table(table)} {parts}")


def drop_index(server: Server, database: Database, table: ServerTable, name: str) -> None:
    """See `Indexing.drop_index`."""
    del table
    with connected(server, database.postgresql_database) as connection:
        run(connection, f"DROP INDEX {quoted(database.postgresql_schema)}.{quoted(name)}")


def drop_primary_keys(server: Server, database: Database, tables: Sequence[ServerTable]) -> None:
    """See `Indexing.drop_primary_keys`; the columns stay NOT NULL, which they are declared as."""
    syntax = Syntax(quoted(database.postgresql_schema))
    with connected(server, database.postgresql_database) as connection:
        keyed = connection.execute(
            "SELECT relname, conname FROM pg_constraint JOIN pg_class ON conrelid = pg_class.oid"
            " JOIN pg_namespace ON relnamespace = pg_namespace.oid WHERE contype = 'p' AND nspname = %s",
            [database.postgresql_schema],
        )
        keys = dict(keyed.fetchall())
        for table in tables:
            if table.name in keys:
                run(
                    connection,
                    f"ALTER TABLE {syntax.table(table)} DROP CONSTRAINT {quoted(keys[table.name])}",
                )


def sizes(server: Server, database: Database) -> Mapping[tuple[str, str], int]:
    """See `Indexing.sizes`. https://www.postgresql.org/docs/current/functions-admin.html#FUNCTIONS-ADMIN-DBSIZE."""
    with connected(server, database.postgresql_database) as connection:
        found = connection.execute(
            "SELECT tables.relname, indexes.relname, pg_relation_size(indexes.oid)"
            " FROM pg_index JOIN pg_class AS tables ON indrelid = tables.oid"
            " JOIN pg_class AS indexes ON indexrelid = indexes.oid"
            " JOIN pg_namespace ON tables.relnamespace = pg_namespace.oid"
            " WHERE nspname = %(schema)s AND tables.relkind = 'r'"
            " UNION SELECT relname, '', pg_table_size(pg_class.oid) FROM pg_class"
            " JOIN pg_namespace ON relnamespace = pg_namespace.oid"
            " WHERE nspname = %(schema)s AND relkind = 'r'",
            {"schema": database.postgresql_schema},
        )
        rows = found.fetchall()
    return {(table, index): int(size) for table, index, size in rows}
