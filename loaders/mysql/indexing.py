"""Keys and indexes of copies on MySQL: see `loaders.indexing`.

InnoDB keeps a table in the order of its primary key, so that the bytes of that key are those of the table.
Without one it numbers the rows by itself.
https://dev.mysql.com/doc/refman/9.7/en/innodb-index-types.html
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from dialects.identifiers import quoted
from dialects.server_schema import ServerTable
from loaders.indexing import COPY, IS_COPY, STUDY_LOCK
from loaders.mysql.session import ask, attempt, connected, revoke
from loaders.mysql.tables import Syntax
from loaders.namespace import NAMESPACE, Database
from loaders.server import Server

__all__ = ["add_index", "copies", "drop", "drop_index", "drop_primary_keys", "hold", "sizes"]

_CLUSTERED = re.compile("PRIMARY|GEN_CLUST_INDEX")


@contextmanager
def hold(server: Server) -> Iterator[bool]:
    """See `Indexing.hold`: a named lock, which ends with its connection."""
    with connected(server) as connection:
        yield ask(connection, "SELECT GET_LOCK(%s, 0)", [STUDY_LOCK]) == [(1,)]


def copies(server: Server) -> list[str]:
    """See `Indexing.copies`."""
    with connected(server) as connection:
        found = ask(connection, "SELECT schema_name FROM information_schema.schemata")
    return [name for (name,) in found if IS_COPY.fullmatch(name)]


def drop(server: Server, names: Sequence[str]) -> None:
    """See `Indexing.drop`."""
    with connected(server) as connection:
        loads = (
            "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = %s AND table_name = 'loads'"
        )
        has_loads = ask(connection, loads, [NAMESPACE]) == [(1,)]
        for name in filter(IS_COPY.fullmatch, names):
            ask(connection, f"DROP DATABASE IF EXISTS {quoted(name)}")
            revoke(connection, server, "SELECT", name)
            if has_loads:
                collection = name[: len(COPY) + 17]
                ask(connection, f"DELETE FROM {NAMESPACE}.loads WHERE collection = %s", [collection])  # noqa: S608 - a constant


def add_index(
    server: Server, database: Database, table: ServerTable, columns: Sequence[str], name: str
) -> str | None:
    """See `Indexing.add_index`. Of long texts a prefix is indexed, as by the loader."""
    syntax = Syntax(quoted(database.mysql_database))
    parts = syntax.columns(table, columns, whole=False)
    with connected(server) as connection:
        return attempt(connection, f"ALTER TABLE {syntax.table(table)} ADD INDEX {quoted(name)} {parts}")


def drop_index(server: Server, database: Database, table: ServerTable, name: str) -> None:
    """See `Indexing.drop_index`."""
    with connected(server) as connection:
        place = Syntax(quoted(database.mysql_database)).table(table)
        ask(connection, f"ALTER TABLE {place} DROP INDEX {quoted(name)}")


def drop_primary_keys(server: Server, database: Database, tables: Sequence[ServerTable]) -> None:
    """See `Indexing.drop_primary_keys`: InnoDB stores each table anew, in the order that it had."""
    syntax = Syntax(quoted(database.mysql_database))
    with connected(server) as connection:
        keyed = ask(
            connection,
            "SELECT table_name FROM information_schema.statistics"
            " WHERE table_schema = %s AND index_name = 'PRIMARY' AND seq_in_index = 1",
            [database.mysql_database],
        )
        names = {name for (name,) in keyed}
        for table in tables:
            if table.name in names:
                ask(connection, f"ALTER TABLE {syntax.table(table)} DROP PRIMARY KEY")
                ask(connection, f"ANALYZE TABLE {syntax.table(table)}")


def sizes(server: Server, database: Database) -> Mapping[tuple[str, str], int]:
    """See `Indexing.sizes`: pages as InnoDB's persistent statistics count them.

    https://dev.mysql.com/doc/refman/9.7/en/innodb-persistent-stats.html
    """
    with connected(server) as connection:
        found = ask(
            connection,
            "SELECT table_name, index_name, stat_value * @@innodb_page_size FROM mysql.innodb_index_stats"
            " WHERE database_name = %s AND stat_name = 'size'",
            [database.mysql_database],
        )
    return {(table, "" if _CLUSTERED.fullmatch(index) else index): int(size) for table, index, size in found}
