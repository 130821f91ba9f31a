"""Loading into MySQL: filled in a staging database, then put in place by one atomic RENAME TABLE.

There is no AUTO_INCREMENT: nothing is inserted after the load, and it would renumber a row with id 0.
"""

from __future__ import annotations  # PyMySQL's Connection is generic in its stubs alone

import dataclasses
import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache, partial
from typing import Any

import pymysql
from pymysql.connections import Connection

from harness.engines.namespace import Database
from harness.engines.server import Origin, Server
from harness.errors import BadInput
from harness.words import Dialect
from loaders import functions
from loaders.bookkeeping import NAMESPACE, Key, Marker, filed, key
from loaders.keys import add_foreign_keys, add_keys
from loaders.mysql_rows import RowsChanged, load_rows
from loaders.mysql_session import CONNECT_SECONDS, ask, attempt, connected, is_broken, message
from loaders.profiles import MYSQL_COLLATIONS, MYSQL_KEY_CHARACTERS, ServerTable
from loaders.refusals import refuse_text
from loaders.schema import PortableType
from loaders.source import quoted
from loaders.target import Source

_STAGING = f"{NAMESPACE}_staging"
"""Where tables are filled, by the one process that holds the lock; what a dead load left there is dropped."""

_RETIRED = f"{NAMESPACE}_retired"
"""Where the old tables go, to be dropped."""

_LOADS = f"{NAMESPACE}.loads"
_FUNCTIONS = f"{NAMESPACE}.functions"
_LOCK = f"{NAMESPACE} load"
_COUNT_VALUES = (
    "UPDATE performance_schema.setup_instruments SET flags = 'controlled'"
    " WHERE name IN ('memory/sql/String::value', 'memory/sql/JSON')"
)
"""Makes `connection_memory_limit` one of these, too; for as long as the server runs.

https://dev.mysql.com/doc/refman/9.7/en/performance-schema-setup-instruments-table.html
"""

_UNINDEXED = frozenset({"text", "longtext", "longblob"})
"""Types that MySQL indexes by a prefix only."""


@contextmanager
def exclusive(server: Server) -> Iterator[None]:
    """See `Target.exclusive`: a named lock, which ends with its connection."""
    with connected(server) as connection:
        ask(connection, "SELECT GET_LOCK(%s, -1)", [_LOCK])
        for name in (_STAGING, _RETIRED):
            ask(connection, f"DROP DATABASE IF EXISTS {name}")
        yield


def admit_reader(server: Server) -> None:
    """See `Target.admit_reader`. On servers of the harness's own, the reading role's memory is counted."""
    if server.origin is not Origin.DSN:
        with connected(server) as connection:
            attempt(connection, _COUNT_VALUES)
    if _reader_is_ready(server):
        return
    with connected(server) as connection:
        for verb in ("CREATE USER IF NOT EXISTS", "ALTER USER"):
            account = [server.reader_user, server.reader_password]
            ask(connection, f"{verb} %s@'%%' IDENTIFIED BY %s", account)


def _reader_is_ready(server: Server) -> bool:
    try:
        with pymysql.connect(
            host=server.host, port=server.port, user=server.reader_user, password=server.reader_password,
            connect_timeout=CONNECT_SECONDS, ssl_disabled=server.is_local,
        ):  # fmt: skip
            return True
    except pymysql.OperationalError:
        return False


def install_functions(server: Server, databases: Sequence[Database]) -> None:  # noqa: ARG001 - one place for all
    """See `Target.install_functions`. The digest is NULL while they are not all there."""
    wanted = functions.digest(Dialect.MYSQL)
    with connected(server) as connection:
        ask(connection, f"CREATE DATABASE IF NOT EXISTS {NAMESPACE} COLLATE utf8mb4_0900_bin")
        ask(
            connection,
            f"CREATE TABLE IF NOT EXISTS {_FUNCTIONS} (name varchar(64) PRIMARY KEY, sha256 char(64))",
        )
        known = dict(ask(connection, f"SELECT name, sha256 FROM {_FUNCTIONS}"))  # noqa: S608 - a constant
        if known.get(functions.NAMESPACE) == wanted and _exists(connection, functions.NAMESPACE):
            return
        if functions.NAMESPACE not in known and _exists(connection, functions.NAMESPACE):
            raise BadInput(
                f"MySQL at {server.address}: database {functions.NAMESPACE} is not of bird-harness, which"
                " needs the name for SQLite's functions; rename it"
            )
        remember = f"REPLACE INTO {_FUNCTIONS} VALUES (%s, %s)"  # noqa: S608 - a constant
        ask(connection, remember, [functions.NAMESPACE, None])
        ask(connection, f"DROP DATABASE IF EXISTS {functions.NAMESPACE}")
        ask(connection, f"CREATE DATABASE {functions.NAMESPACE} COLLATE utf8mb4_0900_bin")
        reader = f"{connection.escape(server.reader_user)}@'%'"
        ask(connection, f"GRANT EXECUTE ON {_pattern(connection, functions.NAMESPACE)}.* TO {reader}")
        # A function keeps the modes that it was made under; these make division by zero NULL, as in SQLite.
        ask(
            connection,
            "SET SESSION sql_mode = 'NO_BACKSLASH_ESCAPES', collation_connection = utf8mb4_0900_bin",
        )
        for statement in functions.statements(Dialect.MYSQL):
            ask(connection, statement)
        ask(connection, remember, [functions.NAMESPACE, wanted])


def _exists(connection: Connection[Any], database: str) -> bool:
    statement = "SELECT 1 FROM information_schema.schemata WHERE schema_name = %s"
    return bool(ask(connection, statement, [database]))


def _pattern(connection: Connection[Any], database: str) -> str:
    """A database in a grant, where _ and % are wildcards, except under partial revokes."""
    [[literal]] = ask(connection, "SELECT @@partial_revokes")
    return quoted(database if literal else re.sub(r"([_%\\])", r"\\\1", database))


def markers(server: Server, databases: Sequence[Database]) -> dict[Key, Marker]:  # noqa: ARG001 - all are in one place
    """See `Target.markers`."""
    found: dict[Key, Marker] = {}
    with connected(server) as connection:
        if "loads" not in _tables(connection, NAMESPACE):
            return found
        rows = ask(connection, f"SELECT collection, profile, db_id, marker FROM {_LOADS}")  # noqa: S608 - a constant
        tables = cache(partial(_tables, connection))
        for collection, profile, db_id, text in rows:
            place = filed(collection, profile, db_id).mysql_database
            found[collection, profile, db_id] = Marker.from_json(text).checked(tables(place))
    return found


def present(server: Server, database: Database) -> set[str]:
    """See `Target.present`."""
    with connected(server) as connection:
        return _tables(connection, database.mysql_database)


def replace(
    server: Server, database: Database, source: Source, old: Sequence[str], advance: Callable[[int], None]
) -> Marker:
    """See `Target.replace`."""
    collation = MYSQL_COLLATIONS[database.profile]
    notes = list(source.notes)
    with connected(server) as connection, _staging(connection, collation):
        counts = {table.name: _fill(connection, table, source, advance) for table in source.tables}
        spelling, add = _Spelling(), partial(attempt, connection)
        for table in source.tables:
            notes += add_keys(table, spelling, add, primary_key=not _is_ordered(table))
        for table in source.tables:
            notes += add_foreign_keys(table, source.tables, spelling, add)
            ask(connection, f"ANALYZE TABLE {spelling.table(table)}")
        marker = Marker.now(source.sha256, counts, notes)
        _put_in_place(connection, server, database, old, marker)
    return marker


@contextmanager
def _staging(connection: Connection[Any], collation: str) -> Iterator[None]:
    """The databases for new and for old tables, empty at first and dropped at the end."""
    for name in (_STAGING, _RETIRED):
        ask(connection, f"CREATE DATABASE {name} COLLATE {collation}")
    try:
        yield
    finally:
        # On a broken connection the next load does it.
        with suppress(pymysql.Error):
            for name in (_STAGING, _RETIRED):
                ask(connection, f"DROP DATABASE {name}")


def _fill(
    connection: Connection[Any], table: ServerTable, source: Source, advance: Callable[[int], None]
) -> int:
    """Create one table with all its rows and return their number, as the server counts it."""
    name = _Spelling().table(table)
    columns = [
        f"{quoted(column.name)} {column.type}{'' if column.source.nullable else ' NOT NULL'}"
        for column in table.columns
    ]
    if table.place is not None:
        columns.append(f"{quoted(table.place)} bigint NOT NULL INVISIBLE")
    if _is_ordered(table):
        columns.append(f"PRIMARY KEY {_Spelling().columns(table, table.source.primary_key, whole=True)}")
    try:
        # Statistics stay those of ANALYZE: gathered in the background, they would change plans between runs.
        ask(connection, f"CREATE TABLE {name} ({', '.join(columns)}) ENGINE InnoDB STATS_AUTO_RECALC 0")
        load_rows(connection, name, table, source.connection, advance)
    except (pymysql.Error, RowsChanged, sqlite3.OperationalError) as error:
        if is_broken(error):
            raise
        refuse_text(source.connection, source.path, table.source, Dialect.MYSQL)
        raise BadInput(f"{source.path}: table {table.source.name}: MySQL: {message(error)}") from error
    [[count]] = ask(connection, f"SELECT count(*) FROM {name}")  # noqa: S608 - quoted
    if count != table.source.rows:
        raise BadInput(
            f"{source.path}: table {table.source.name}: {table.source.rows} rows, but {count} in MySQL;"
            " do not change the file while it is loaded"
        )
    return int(count)


def _is_ordered(table: ServerTable) -> bool:
    """Whether the primary key may stand before the rows do.

    Of integers it costs least then, and means the same to SQLite and to every collation.
    """
    key_columns = [table.source.column(name) for name in table.source.primary_key]
    return bool(key_columns) and all(column.type is PortableType.INTEGER for column in key_columns)


def _put_in_place(
    connection: Connection[Any], server: Server, database: Database, old: Sequence[str], marker: Marker
) -> None:
    """Swap staged and old tables in one statement; the marker is not whole before it and whole after it."""
    live = quoted(database.mysql_database)
    ask(connection, f"CREATE DATABASE IF NOT EXISTS {live} COLLATE {MYSQL_COLLATIONS[database.profile]}")
    pattern = _pattern(connection, database.mysql_database)
    ask(connection, f"GRANT SELECT ON {pattern}.* TO {connection.escape(server.reader_user)}@'%'")
    retired = [table for table in old if table in _tables(connection, database.mysql_database)]
    moves = [f"{live}.{quoted(table)} TO {_RETIRED}.{quoted(table)}" for table in retired]
    moves += [f"{_STAGING}.{quoted(table)} TO {live}.{quoted(table)}" for table in marker.tables]
    either = dict.fromkeys(old, 0) | dict(marker.tables)
    _remember(connection, database, dataclasses.replace(marker, tables=either, loaded_at=None))
    ask(connection, f"RENAME TABLE {', '.join(moves)}")
    _remember(connection, database, marker)


def _remember(connection: Connection[Any], database: Database, marker: Marker) -> None:
    ask(connection, f"CREATE DATABASE IF NOT EXISTS {NAMESPACE} COLLATE utf8mb4_0900_bin")
    ask(
        connection,
        f"CREATE TABLE IF NOT EXISTS {_LOADS} (collection varchar(128), profile varchar(16),"
        " db_id varchar(128), marker longtext NOT NULL, PRIMARY KEY (collection, profile, db_id))",
    )
    statement = f"REPLACE INTO {_LOADS} VALUES (%s, %s, %s, %s)"  # noqa: S608 - a constant
    ask(connection, statement, [*key(database), marker.to_json()])


class _Spelling:
    """See `loaders.keys.Spelling`."""

    def table(self, table: ServerTable) -> str:
        return f"{_STAGING}.{quoted(table.name)}"

    def columns(self, table: ServerTable, columns: Sequence[str], *, whole: bool) -> str:
        """An index needs no more of a long value than fits."""
        room = MYSQL_KEY_CHARACTERS // len(columns)
        types = {column.source.name: column.type for column in table.columns}
        cut = {
            column
            for column in columns
            if not whole and (types[column] in _UNINDEXED or table.source.column(column).longest > room)
        }
        parts = [
            f"{quoted(name)}({room})" if column in cut else quoted(name)
            for column, name in zip(columns, table.spelled(columns), strict=True)
        ]
        return f"({', '.join(parts)})"

    def index(self, table: str, columns: str) -> str:
        return f"ALTER TABLE {table} ADD INDEX {columns}"


def _tables(connection: Connection[Any], database: str) -> set[str]:
    statement = "SELECT table_name FROM information_schema.tables WHERE table_schema = %s"
    return {name for (name,) in ask(connection, statement, [database])}
