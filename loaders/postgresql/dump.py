"""Running a PostgreSQL dump, as a role that can do nothing but fill the staging; the server sees to that."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
from psycopg import Connection, Copy

from dialects.enums import Dialect
from dialects.errors import BadInput
from dialects.identifiers import quoted
from loaders.dumps import Statement, statements
from loaders.namespace import Database
from loaders.postgresql.session import ask, attempt, connected, is_broken, one_line
from loaders.postgresql.tables import analyze
from loaders.server import Server

_ROLE = "bird_harness_dump"
_LONGEST_NAME = 63
_OF_THE_OWNER = re.compile(
    rb"ALTER .* OWNER TO \S+;$|(GRANT|REVOKE|CREATE EXTENSION) |COMMENT ON (EXTENSION|SCHEMA) "
    rb"|CREATE SCHEMA public;",
    re.DOTALL,
)
"""What says who owns what where the dump comes from, and what every database has."""
_UNKNOWN_SETTING = "42704"
"""https://www.postgresql.org/docs/current/errcodes-appendix.html"""


def fill(
    server: Server, database: Database, staging: str, dump: Path, advance: Callable[[int], None]
) -> None:
    """Run a dump with `staging` as its schema `public`.

    Args:
        server: where.
        database: any of those that are in the dump.
        staging: an empty one.
        dump: what `pg_dump` writes of one database as plain text.
        advance: told how many more bytes have been sent.

    Raises:
        BadInput: it does not run, or wants to do more than fill tables of its own.
    """
    with _writing(server, database, staging) as connection:
        found = statements(dump, Dialect.POSTGRESQL, f"{quoted(staging)}.".encode())
        following = next(found, None)
        while following is not None:
            statement, following = following, next(found, None)
            if _OF_THE_OWNER.match(statement.text):
                continue
            try:
                if following is not None and following.is_rows:
                    with connection.cursor().copy(statement.text) as copy:
                        following = _send(copy, following, found, advance)
                elif statement.text.endswith(b"FROM stdin;"):
                    with connection.cursor().copy(statement.text):
                        pass
                else:
                    connection.execute(statement.text)
            except psycopg.Error as error:
                if error.sqlstate == _UNKNOWN_SETTING and statement.text.startswith(b"SET "):
                    continue
                if is_broken(error):
                    raise
                raise BadInput(f"{dump}: line {statement.line}: PostgreSQL: {one_line(error)}") from error
            advance(len(statement.text))


def _send(
    copy: Copy, rows: Statement, found: Iterator[Statement], advance: Callable[[int], None]
) -> Statement | None:
    """Send rows, and return the statement after them."""
    following: Statement | None = rows
    while following is not None and following.is_rows:
        copy.write(following.text)
        advance(len(following.text))
        following = next(found, None)
    return following


def counts(server: Server, database: Database, staging: str) -> dict[str, int]:
    """The rows of each staged table."""
    with connected(server, database.postgresql_database) as connection:
        names = connection.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = %s", [staging]
        ).fetchall()
        found: dict[str, int] = {}
        for (name,) in names:
            place = f"{quoted(staging)}.{quoted(name)}"
            [found[name]] = connection.execute(f"SELECT count(*) FROM {place}".encode()).fetchone() or (0,)  # noqa: S608 - quoted
        return found


def move(server: Server, database: Database, staging: str, to: str, tables: Sequence[str]) -> None:
    """Move staged tables to another staging, with statistics."""
    with connected(server, database.postgresql_database) as connection:
        for name in tables:
            ask(connection, f"ALTER TABLE {quoted(staging)}.{quoted(name)} SET SCHEMA {quoted(to)}")
            ask(connection, f"ALTER TABLE {quoted(to)}.{quoted(name)} SET (autovacuum_enabled = off)")
            analyze(connection, to, name)


@contextmanager
def _writing(server: Server, database: Database, staging: str) -> Iterator[Connection[Any]]:
    """A session as a role for the dump; what it has made is the administrator's afterwards, and it goes."""
    name = database.postgresql_database
    # One for each database: only there can what a killed load left to it be taken away.
    role = f"{_ROLE}_{name}"[:_LONGEST_NAME]
    password = replace(server, reader_user=role).reader_password
    with connected(server, name) as connection:
        _drop(connection, role)
        secret = connection.pgconn.encrypt_password(password.encode(), role.encode(), b"scram-sha-256")
        ask(connection, f"CREATE ROLE {quoted(role)} LOGIN PASSWORD '{secret.decode()}'")
        attempt(connection, f"GRANT {quoted(role)} TO CURRENT_USER")
        ask(connection, f"GRANT CONNECT ON DATABASE {quoted(name)} TO {quoted(role)}")
        ask(connection, f"GRANT USAGE, CREATE ON SCHEMA {quoted(staging)} TO {quoted(role)}")
    try:
        with connected(replace(server, user=role, password=password), name, autocommit=True) as session:
            yield session
    finally:
        with connected(server, name) as connection:
            ask(connection, f"REASSIGN OWNED BY {quoted(role)} TO CURRENT_USER")
            _drop(connection, role)


def _drop(connection: Connection[Any], role: str) -> None:
    if connection.execute("SELECT FROM pg_roles WHERE rolname = %s", [role]).rowcount:
        ask(connection, f"DROP OWNED BY {quoted(role)}")
        ask(connection, f"DROP ROLE {quoted(role)}")
