"""Running a MySQL dump, as an account that can do nothing but fill the staging; the server sees to that."""

from __future__ import annotations  # PyMySQL's Connection is generic in its stubs alone

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pymysql

from dialects.enums import Dialect
from dialects.errors import BadInput
from dialects.identifiers import quoted
from loaders.base.errors import EngineUnavailable
from loaders.dumps import statements
from loaders.mysql.session import CONNECT_SECONDS, ask, connected, grant, is_broken, message
from loaders.mysql.tables import SETTLED
from loaders.namespace import Database
from loaders.server import Server

_ACCOUNT = "bird_harness_dump"
_RIGHTS = "SELECT, INSERT, CREATE, DROP, ALTER, INDEX, REFERENCES, LOCK TABLES"
_OF_THE_SERVER = re.compile(rb"SET @@(GLOBAL|SESSION)\.(GTID_PURGED|SQL_LOG_BIN)", re.IGNORECASE)
"""What `mysqldump` writes for replicas, and the account may not do."""

_DENIED = frozenset({1044, 1045, 1142, 1227})
"""Here it is the dump that asks for too much."""


def fill(
    server: Server,
    database: Database,  # noqa: ARG001 - the name of the staging says all
    staging: str,
    dump: Path,
    advance: Callable[[int], None],
) -> None:
    """Run a dump with `staging` as its database.

    Args:
        server: where.
        database: any of those that are in the dump.
        staging: an empty one.
        dump: what `mysqldump` writes of one database.
        advance: told how many more bytes have been sent.

    Raises:
        BadInput: it does not run, or wants to do more than fill tables of its own.
    """
    with _writing(server, staging) as writer, closing(
        pymysql.connect(
            host=server.host, port=server.port, user=writer.reader_user, password=writer.reader_password,
            database=staging, charset="utf8mb4", connect_timeout=CONNECT_SECONDS, autocommit=True,
            local_infile=False, ssl_disabled=server.is_local,
        )
    ) as connection:  # fmt: skip
        for statement in statements(dump, Dialect.MYSQL):
            if not _OF_THE_SERVER.match(statement.text):
                try:
                    connection.query(statement.text.decode("utf-8", "surrogateescape"))
                except pymysql.Error as error:
                    if is_broken(error) and error.args[0] not in _DENIED:
                        raise
                    raise BadInput(f"{dump}: line {statement.line}: MySQL: {message(error)}") from error
            advance(len(statement.text))


def counts(server: Server, database: Database, staging: str) -> dict[str, int]:  # noqa: ARG001 - the name says all
    """The rows of each staged table."""
    with connected(server) as connection:
        names = ask(
            connection, "SELECT table_name FROM information_schema.tables WHERE table_schema = %s", [staging]
        )
        return {
            name: ask(connection, f"SELECT count(*) FROM {staging}.{quoted(name)}")[0][0]  # noqa: S608 - quoted
            for (name,) in names
        }


def move(server: Server, database: Database, staging: str, to: str, tables: Sequence[str]) -> None:  # noqa: ARG001
    """Move staged tables to another staging, with statistics that stay as they are."""
    moves = [f"{staging}.{quoted(name)} TO {to}.{quoted(name)}" for name in tables]
    with connected(server) as connection:
        ask(connection, f"RENAME TABLE {', '.join(moves)}")
        for name in tables:
            ask(connection, f"ALTER TABLE {to}.{quoted(name)} {SETTLED}")
            ask(connection, f"ANALYZE TABLE {to}.{quoted(name)}")


@contextmanager
def _writing(server: Server, staging: str) -> Iterator[Server]:
    """An account for the dump, as the reading role of a server; it goes at the end."""
    writer = replace(server, reader_user=_ACCOUNT)
    with connected(server) as connection:
        ask(connection, "DROP USER IF EXISTS %s@'%%'", [_ACCOUNT])
        ask(connection, "CREATE USER %s@'%%' IDENTIFIED BY %s", [_ACCOUNT, writer.reader_password])
        grant(connection, writer, _RIGHTS, staging)
    try:
        yield writer
    except pymysql.Error as error:
        raise EngineUnavailable(
            f"MySQL at {server.address}: {message(error)}; see what `bird-harness doctor` says"
        ) from error
    finally:
        with connected(server) as connection:
            ask(connection, "DROP USER IF EXISTS %s@'%%'", [_ACCOUNT])
