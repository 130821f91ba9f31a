"""Loading into MySQL: filled in a staging database, then put in place by one atomic RENAME TABLE.

The changes of a load are in the binary log, where a server has one: a replica could not rename tables that it
never got. The project's own servers have none.
"""

from __future__ import annotations  # PyMySQL's Connection is generic in its stubs alone

import dataclasses
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, suppress
from typing import Any

import pymysql
from pymysql.connections import Connection

from dialects.enums import Dialect
from dialects.errors import BadInput
from dialects.identifiers import FUNCTIONS_NAMESPACE, quoted
from dialects.server_schema import MYSQL_COLLATIONS
from loaders import functions
from loaders.base.errors import EngineUnavailable
from loaders.mysql.session import CONNECT_SECONDS, ask, attempt, connected, grant, revoke
from loaders.mysql.tables import Syntax, fill, link, run_dump, take_over
from loaders.namespace import NAMESPACE, STAGING, Database, Key, Marker, filed, key
from loaders.server import Origin, Server

_RETIRED = "_retired"
"""Behind a staging's name: the database where the old tables go, to be dropped."""

_OLDER_RETIRED = f"{NAMESPACE}_retired"
"""Where those of earlier versions went."""

_LOADS = f"{NAMESPACE}.loads"
_LOCK = f"{NAMESPACE} load"
_COUNT_VALUES = (
    "UPDATE performance_schema.setup_instruments SET flags = 'controlled'"
    " WHERE name IN ('memory/sql/String::value', 'memory/sql/JSON')"
)
"""Makes `connection_memory_limit` one of these, too; for as long as the server runs.

https://dev.mysql.com/doc/refman/9.7/en/performance-schema-setup-instruments-table.html
"""

_DISK_COSTS = (
    "SELECT COUNT(*) FROM mysql.engine_cost WHERE cost_name = 'io_block_read_cost'"
    " AND NOT cost_value <=> (SELECT default_value FROM mysql.engine_cost"
    " WHERE cost_name = 'memory_block_read_cost' AND engine_name = 'default')"
)
_COST_THE_SAME = (
    (
        "UPDATE mysql.engine_cost AS disk JOIN mysql.engine_cost AS memory ON memory.engine_name = 'default'"
        " AND memory.cost_name = 'memory_block_read_cost' SET disk.cost_value = memory.default_value"
        " WHERE disk.cost_name = 'io_block_read_cost'"
    ),
    "FLUSH OPTIMIZER_COSTS",
)
"""Makes a page cost the same in memory and on disk.

Else plans depend on which pages are in memory (none, after a restart), and with them the order of rows, and
Soft-F1.
https://dev.mysql.com/doc/refman/9.7/en/cost-model.html
"""

__all__ = ["fill", "link", "run_dump", "take_over"]


def in_processes() -> bool:
    """See `Target.in_processes`."""
    return True  # the driver works on what SQLite writes


@contextmanager
def exclusive(server: Server) -> Iterator[None]:
    """See `Target.exclusive`: a named lock, which ends with its connection."""
    with connected(server) as connection:
        ask(connection, "SELECT GET_LOCK(%s, -1)", [_LOCK])
        yield


def tidy(server: Server, databases: Sequence[Database]) -> None:  # noqa: ARG001 - stagings are all in one place
    """See `Target.tidy`."""
    with connected(server) as connection:
        for (name,) in ask(connection, "SELECT schema_name FROM information_schema.schemata"):
            if name.startswith((STAGING, _OLDER_RETIRED)):
                ask(connection, f"DROP DATABASE IF EXISTS {quoted(name)}")


def admit_reader(server: Server) -> None:
    """See `Target.admit_reader`.

    On servers of the harness's own, the reading role's memory is counted, and plans depend on the data alone.
    """
    if server.origin is not Origin.DSN:
        with connected(server) as connection:
            attempt(connection, _COUNT_VALUES)
            if ask(connection, _DISK_COSTS) != [(0,)]:
                for statement in _COST_THE_SAME:
                    ask(connection, statement)
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


def markers(server: Server, databases: Sequence[Database]) -> dict[Key, Marker]:
    """See `Target.markers`."""
    found: dict[Key, Marker] = {}
    asked = {database.mysql_database for database in databases}
    with connected(server) as connection:
        if "loads" not in _tables(connection, NAMESPACE):
            return found
        tables = _tables_of_each(connection, asked)
        for *names, text in ask(connection, f"SELECT collection, profile, db_id, marker FROM {_LOADS}"):  # noqa: S608 - a constant
            database = filed(*names)
            if (place := database.mysql_database) in asked:
                found[key(database)] = Marker.from_json(text).checked(tables.get(place, set()))
    return found


def present(server: Server, database: Database) -> set[str]:
    """See `Target.present`."""
    with connected(server) as connection:
        return _tables(connection, database.mysql_database)


def prepare(server: Server, database: Database, staging: str) -> None:
    """See `Target.prepare`. Nobody has rights on it but who may do anything."""
    with connected(server) as connection:
        ask(connection, f"CREATE DATABASE {staging} COLLATE {MYSQL_COLLATIONS[database.profile]}")


def put_in_place(
    server: Server, database: Database, staging: str, old: Sequence[str], marker: Marker
) -> None:
    """See `Target.put_in_place`: the tables are swapped by one statement, which a crash cannot cut in two.

    The marker is not whole before it and whole after it.
    https://dev.mysql.com/doc/refman/9.7/en/atomic-ddl.html
    """
    collation = MYSQL_COLLATIONS[database.profile]
    live, retired = quoted(database.mysql_database), f"{staging}{_RETIRED}"
    with connected(server) as connection:
        ask(connection, f"CREATE DATABASE {retired} COLLATE {collation}")
        ask(connection, f"CREATE DATABASE IF NOT EXISTS {live} COLLATE {collation}")
        grant(connection, server, "SELECT", database.mysql_database)
        there = _tables(connection, database.mysql_database)
        moves = [f"{live}.{quoted(table)} TO {retired}.{quoted(table)}" for table in old if table in there]
        moves += [f"{staging}.{quoted(table)} TO {live}.{quoted(table)}" for table in marker.tables]
        either = dict.fromkeys(old, 0) | dict(marker.tables)
        _remember(connection, database, dataclasses.replace(marker, tables=either, loaded_at=None))
        ask(connection, f"RENAME TABLE {', '.join(moves)}")
        _remember(connection, database, marker)


def discard(server: Server, database: Database, staging: str) -> None:  # noqa: ARG001 - the name says all
    """See `Target.discard`."""
    with suppress(EngineUnavailable), connected(server) as connection:
        for name in (staging, f"{staging}{_RETIRED}"):
            ask(connection, f"DROP DATABASE IF EXISTS {name}")


def drop_databases(server: Server, collections: Mapping[str, str]) -> None:
    """See `Target.drop_databases`."""
    with connected(server) as connection:
        has_loads = "loads" in _tables(connection, NAMESPACE)
        for name, collection in collections.items():
            ask(connection, f"DROP DATABASE IF EXISTS {quoted(name)}")
            revoke(connection, server, "SELECT", name)
            if has_loads:
                ask(connection, f"DELETE FROM {_LOADS} WHERE collection = %s", [collection])  # noqa: S608 - a constant


def key_syntax(namespace: str) -> Syntax:
    """See `Target.key_syntax`."""
    return Syntax(quoted(namespace))


def _remember(connection: Connection[Any], database: Database, marker: Marker) -> None:
    ask(connection, f"CREATE DATABASE IF NOT EXISTS {NAMESPACE} COLLATE utf8mb4_0900_bin")
    ask(
        connection,
        f"CREATE TABLE IF NOT EXISTS {_LOADS} (collection varchar(128), profile varchar(16),"
        " db_id varchar(128), marker longtext NOT NULL, PRIMARY KEY (collection, profile, db_id))",
    )
    statement = f"REPLACE INTO {_LOADS} VALUES (%s, %s, %s, %s)"  # noqa: S608 - a constant
    ask(connection, statement, [*key(database), marker.to_json()])


def _tables(connection: Connection[Any], database: str) -> set[str]:
    statement = "SELECT table_name FROM information_schema.tables WHERE table_schema = %s"
    return {name for (name,) in ask(connection, statement, [database])}


def _tables_of_each(connection: Connection[Any], databases: AbstractSet[str]) -> dict[str, set[str]]:
    """In one question, however many databases there are; one without tables is left out."""
    statement = "SELECT table_schema, table_name FROM information_schema.tables WHERE table_schema IN %s"
    found: dict[str, set[str]] = {}
    for database, name in ask(connection, statement, [sorted(databases)]) if databases else ():
        found.setdefault(database, set()).add(name)
    return found


_OWNED = f"{NAMESPACE}.functions"
"""Says that the functions' database is the harness's own."""

_FUNCTIONS_LOCK = f"{NAMESPACE} functions"
_COLLATION = "utf8mb4_0900_bin"
_MODES = "NO_BACKSLASH_ESCAPES"
"""A function keeps the modes that it was made under; these make division by zero NULL, as in SQLite."""

_PLACE_FOR_COMMENT = re.compile(r"\bNO SQL\b")


def install_functions(server: Server, databases: Sequence[Database]) -> None:  # noqa: ARG001 - one place for all
    """See `Target.install_functions`."""
    with connected(server, alone=True) as connection:
        ask(connection, "SELECT GET_LOCK(%s, -1)", [_FUNCTIONS_LOCK])
        _own_functions(connection, server)
        there = _functions_there(connection)
        ask(connection, f"SET SESSION sql_mode = '{_MODES}', collation_connection = {_COLLATION}")
        wanted = {_function_name(statement): statement for statement in functions.statements(Dialect.MYSQL)}
        for name, statement in wanted.items():
            if not _is_same(statement, there.get(name)):
                ask(connection, f"DROP FUNCTION IF EXISTS {FUNCTIONS_NAMESPACE}.{name}")
                ask(connection, commented(statement))
        for name in there.keys() - wanted.keys():
            spelled = "`" + name.replace("`", "``") + "`"
            ask(connection, f"DROP FUNCTION {FUNCTIONS_NAMESPACE}.{spelled}")


def commented(statement: str) -> str:
    """The statement with its own digest as the function's comment."""
    return _PLACE_FOR_COMMENT.sub(f"NO SQL COMMENT '{_digest(statement)}'", statement, count=1)


def _own_functions(connection: Connection[Any], server: Server) -> None:
    """Make sure that the functions' database is there, is ours, and lets the reading role call them."""
    ask(connection, f"CREATE DATABASE IF NOT EXISTS {NAMESPACE} COLLATE {_COLLATION}")
    ask(connection, f"CREATE TABLE IF NOT EXISTS {_OWNED} (name varchar(64) PRIMARY KEY, sha256 char(64))")
    owned = ask(connection, f"SELECT sha256 FROM {_OWNED} WHERE name = %s", [FUNCTIONS_NAMESPACE])  # noqa: S608 - a constant
    found = "SELECT 1 FROM information_schema.schemata WHERE schema_name = %s"
    exists = ask(connection, found, [FUNCTIONS_NAMESPACE])
    if exists and not owned:
        raise BadInput(
            f"MySQL at {server.address}: database {FUNCTIONS_NAMESPACE} is not of bird-harness, which"
            " needs the name for SQLite's functions; rename it"
        )
    digest = functions.digest(Dialect.MYSQL)
    if owned != [(digest,)]:
        remember = f"REPLACE INTO {_OWNED} VALUES (%s, %s)"  # noqa: S608 - a constant
        ask(connection, remember, [FUNCTIONS_NAMESPACE, digest])
    if not exists:
        ask(connection, f"CREATE DATABASE {FUNCTIONS_NAMESPACE} COLLATE {_COLLATION}")
    grant(connection, server, "EXECUTE", FUNCTIONS_NAMESPACE)


def _functions_there(connection: Connection[Any]) -> dict[str, tuple[str, str, str, str]]:
    """The comment, modes, collation and body of each function that is there."""
    statement = (
        "SELECT routine_name, routine_comment, sql_mode, collation_connection, routine_definition"
        " FROM information_schema.routines WHERE routine_schema = %s AND routine_type = 'FUNCTION'"
    )
    rows = ask(connection, statement, [FUNCTIONS_NAMESPACE])
    return {name: tuple(facts) for name, *facts in rows}


def _is_same(statement: str, found: tuple[str, str, str, str] | None) -> bool:
    """Whether a function was made from that statement, and has not been changed since."""
    if found is None:
        return False
    *facts, body = found
    return facts == [_digest(statement), _MODES, _COLLATION] and statement.endswith(body)


def _function_name(statement: str) -> str:
    return statement.partition("(")[0].rpartition(".")[2]


def _digest(statement: str) -> str:
    return hashlib.sha256(statement.encode()).hexdigest()
