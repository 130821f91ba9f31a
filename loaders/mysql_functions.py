"""SQLite's functions on a MySQL server: each is compared with what it should be, and alone put right.

What a function was made from stands in its comment, as a digest, and its body can be read: nothing else has
to be remembered. MySQL cannot replace a function, so that one that has changed is missing for a moment; the
others are not touched, and who calls them notices nothing.
https://dev.mysql.com/doc/refman/9.7/en/create-procedure.html
"""

from __future__ import annotations  # PyMySQL's Connection is generic in its stubs alone

import hashlib
import re
from collections.abc import Sequence
from typing import Any

from pymysql.connections import Connection

from dialects.enums import Dialect
from dialects.errors import BadInput
from dialects.nodes import FUNCTIONS_NAMESPACE
from loaders import functions
from loaders.bookkeeping import NAMESPACE
from loaders.mysql_session import ask, connected, grant
from loaders.namespace import Database
from loaders.server import Server

_OWNED = f"{NAMESPACE}.functions"
"""Says that the functions' database is the harness's own."""

_LOCK = f"{NAMESPACE} functions"
_COLLATION = "utf8mb4_0900_bin"
_MODES = "NO_BACKSLASH_ESCAPES"
"""A function keeps the modes that it was made under; these make division by zero NULL, as in SQLite."""

_PLACE_FOR_COMMENT = re.compile(r"\bNO SQL\b")


def install_functions(server: Server, databases: Sequence[Database]) -> None:  # noqa: ARG001 - one place for all
    """See `Target.install_functions`."""
    with connected(server) as connection:
        ask(connection, "SELECT GET_LOCK(%s, -1)", [_LOCK])
        _own(connection, server)
        there = _there(connection)
        ask(connection, f"SET SESSION sql_mode = '{_MODES}', collation_connection = {_COLLATION}")
        wanted = {_name(statement): statement for statement in functions.statements(Dialect.MYSQL)}
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


def _own(connection: Connection[Any], server: Server) -> None:
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


def _there(connection: Connection[Any]) -> dict[str, tuple[str, str, str, str]]:
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


def _name(statement: str) -> str:
    return statement.partition("(")[0].rpartition(".")[2]


def _digest(statement: str) -> str:
    return hashlib.sha256(statement.encode()).hexdigest()
