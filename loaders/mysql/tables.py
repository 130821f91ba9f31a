"""Tables of MySQL: the rows of a file by LOAD DATA, then the other keys and indexes, then statistics.

InnoDB keeps rows in the order of the primary key, so that this one is there before them. The others are built
from all rows at once. There is no AUTO_INCREMENT: nothing is inserted after the load, and it would renumber a
row with id 0. Checks of unique keys stay on: none that they could be left out for is there yet.

A dump is run as an account that can do nothing but fill the staging; the server sees to that.
"""

from __future__ import annotations  # PyMySQL's Connection is generic in its stubs alone

import fcntl
import os
import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pymysql
from pymysql.connections import Connection

from dialects.enums import Dialect, Profile
from dialects.errors import BadInput
from dialects.identifiers import quoted
from dialects.server_schema import MYSQL_KEY_CHARACTERS, ServerTable
from loaders.base.errors import EngineUnavailable
from loaders.dumps import statements
from loaders.mysql.session import CONNECT_SECONDS, ask, attempt, connected, grant, is_broken, message
from loaders.namespace import Database
from loaders.pages import MYSQL, pages
from loaders.server import Server
from loaders.source import refuse_text
from loaders.target import FilledTable, LoadSource, add_foreign_keys, add_keys, all_rows

SETTLED = "STATS_PERSISTENT 1 STATS_AUTO_RECALC 0 STATS_SAMPLE_PAGES 65535"
"""Statistics stay those of ANALYZE: gathered in the background, they would change plans between runs.

They are counted over all pages of an index unless it has a gigabyte. Sampled pages are drawn by lot, so that
another load of the same file could be given other plans.
https://dev.mysql.com/doc/refman/9.7/en/innodb-persistent-stats.html
"""

_LONGEST_KEY_BYTES = 3_072
_KEY_BYTES_PER_CHARACTER = 4
"""https://dev.mysql.com/doc/refman/9.7/en/innodb-limits.html."""

_THREADS = "SET SESSION innodb_parallel_read_threads = {0}, innodb_ddl_threads = {0}"
"""Which count the rows and build the indexes of a table; for few rows they take longer to start than to work.

https://dev.mysql.com/doc/refman/9.7/en/innodb-parameters.html#sysvar_innodb_parallel_read_threads
"""

_MANY_ROWS = 50_000

_UNINDEXED = frozenset({"text", "longtext", "longblob"})
"""Types that MySQL indexes by a prefix only."""


def fill(  # noqa: PLR0913, PLR0917 - see Target.fill
    server: Server,
    database: Database,
    source: LoadSource,
    table: ServerTable,
    staging: str,
    connection: sqlite3.Connection,
    advance: Callable[[int], None],
) -> FilledTable:
    """See `Target.fill`."""
    syntax, is_ordered = Syntax(staging), _is_ordered(table, database.profile)
    with connected(server) as session:
        threads = "1" if table.source.rows < _MANY_ROWS else "DEFAULT"
        attempt(session, _THREADS.format(threads))  # not every version knows them
        count = _fill(session, syntax, table, source, connection, advance, is_ordered=is_ordered)
        notes = _add_keys(session, syntax, table, source.tables, primary_key=not is_ordered)
        ask(session, f"ANALYZE TABLE {syntax.table(table)}")
    return FilledTable(count, tuple(notes))


def link(server: Server, database: Database, source: LoadSource, staging: str) -> list[str]:  # noqa: ARG001 - as fill
    """See `Target.link`."""
    with connected(server) as session:
        return add_foreign_keys(source.tables, Syntax(staging), partial(attempt, session))


def _fill(  # noqa: PLR0913, PLR0917 - as fill
    session: Connection[Any],
    syntax: Syntax,
    table: ServerTable,
    source: LoadSource,
    connection: sqlite3.Connection,
    advance: Callable[[int], None],
    *,
    is_ordered: bool,
) -> int:
    """Create one table with all its rows and return their number, as the server counts it."""
    name = syntax.table(table)
    columns = [
        f"{quoted(column.name)} {column.type}{'' if column.source.nullable else ' NOT NULL'}"
        for column in table.columns
    ]
    if table.place is not None:
        columns.append(f"{quoted(table.place)} bigint NOT NULL INVISIBLE")
    if is_ordered:
        columns.append(f"PRIMARY KEY {syntax.columns(table, table.source.primary_key, whole=True)}")
    try:
        ask(session, f"CREATE TABLE {name} ({', '.join(columns)}) ENGINE InnoDB {SETTLED}")
        load_rows(session, name, table, connection, advance)
    except (pymysql.Error, RowsChanged, sqlite3.OperationalError) as error:
        if is_broken(error):
            raise
        refuse_text(connection, source.path, table.source, Dialect.MYSQL)
        raise BadInput(f"{source.path}: table {table.source.name}: MySQL: {message(error)}") from error
    [[count]] = ask(session, f"SELECT count(*) FROM {name}")  # noqa: S608 - quoted
    return all_rows(source, table, int(count), "MySQL")


def _is_ordered(table: ServerTable, profile: Profile) -> bool:
    """Whether the primary key may stand before the rows do: where it cannot be refused.

    Integers mean the same to SQLite and to every collation, and short texts to the one of profile faithful.
    """
    key_columns = [column for column in table.columns if column.source.name in table.source.primary_key]
    is_faithful = profile is Profile.FAITHFUL
    size = sum(_KEY_BYTES_PER_CHARACTER * max(column.source.longest, 2) for column in key_columns)
    return (
        bool(key_columns)
        and size <= _LONGEST_KEY_BYTES
        and all(
            column.type == "bigint" or (is_faithful and column.type.startswith("varchar"))
            for column in key_columns
        )
    )


def _add_keys(
    session: Connection[Any],
    syntax: Syntax,
    table: ServerTable,
    tables: Sequence[ServerTable],
    *,
    primary_key: bool,
) -> list[str]:
    """Add all keys and indexes by one statement, which reads the table once; one by one if it is refused."""
    wanted: list[str] = []
    add = partial(add_keys, table, syntax, primary_key=primary_key)
    add(wanted.append)
    words = f"ALTER TABLE {syntax.table(table)} "
    clauses = [statement.removeprefix(words) for statement in wanted]
    clauses += [f"ADD INDEX {columns}" for columns in _referring(syntax, table, tables)]
    if not clauses or attempt(session, words + ", ".join(clauses)) is None:
        return []
    return add(partial(attempt, session), attempts=partial(_by_halves, session, words))


def _by_halves(session: Connection[Any], words: str, statements: Sequence[str]) -> list[str | None]:
    """Why each is refused, or None, as one after the other would be: as many as possible are run as one.

    Args:
        session: where they are run.
        words: how each statement begins.
        statements: changes of one table.
    """
    if not statements:
        return []
    together = ", ".join(statement.removeprefix(words) for statement in statements)
    refused = attempt(session, words + together)
    if refused is None or len(statements) == 1:
        return [refused] * len(statements)
    half = len(statements) // 2
    return [
        reason
        for part in (statements[:half], statements[half:])
        for reason in _by_halves(session, words, part)
    ]


def _referring(syntax: Syntax, table: ServerTable, tables: Sequence[ServerTable]) -> Iterator[str]:
    """The columns of foreign keys that need an index of their own, which `link` would otherwise build.

    https://dev.mysql.com/doc/refman/9.7/en/create-table-foreign-keys.html
    """
    own = table.source
    indexed = [own.primary_key, *own.unique, *own.indexes]
    for key in own.foreign_keys:
        parent = next(other for other in tables if other.source.name == key.parent)
        types = _types(table, key.columns)
        is_indexed = any(columns[: len(key.columns)] == key.columns for columns in indexed)
        if not is_indexed and types == _types(parent, key.parent_columns) and not _UNINDEXED & {*types}:
            indexed.append(key.columns)
            yield syntax.columns(table, key.columns, whole=True)


def _types(table: ServerTable, columns: Sequence[str]) -> list[str]:
    """Types without lengths, in which a foreign key may differ from what it refers to."""
    types = {column.source.name: column.type for column in table.columns}
    return [types[column].split("(")[0] for column in columns]


class Syntax:
    """See `loaders.target.KeySyntax`."""

    def __init__(self, staging: str) -> None:
        self._staging = staging

    def table(self, table: ServerTable) -> str:
        """See `KeySyntax.table`."""
        return f"{self._staging}.{quoted(table.name)}"

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
        """See `KeySyntax.index`."""
        return f"ALTER TABLE {table} ADD INDEX {columns}"


_PIPE_BYTES = 2**20
"""What an ordinary account may have in a pipe: the next page is written while the last one is sent."""


class RowsChanged(Exception):
    """The server took the rows, but not as they were sent; the text is its first warning."""


def load_rows(
    connection: Connection[Any],
    name: str,
    table: ServerTable,
    source: sqlite3.Connection,
    advance: Callable[[int], None],
) -> None:
    """Send every row of a table.

    Args:
        connection: to the server, with LOCAL INFILE allowed.
        name: the table's full name, quoted.
        table: what to read.
        source: where from.
        advance: told how many more rows have been sent.

    Raises:
        pymysql.Error: the server refused.
        RowsChanged: it warned, which is all that LOCAL lets it do about a value that it cannot hold.
        sqlite3.OperationalError: a text could not be read.
    """
    reading, writing = os.pipe()
    with suppress(AttributeError, OSError):  # Linux alone can do it
        fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    with ThreadPoolExecutor(1) as pool:
        sent = pool.submit(_send, connection, _statement(name, table, f"/dev/fd/{reading}"), reading)
        try:
            with os.fdopen(writing, "wb", buffering=0) as pipe:
                for page, rows in pages(source, table, MYSQL):
                    _write(pipe.fileno(), page)
                    if rows:
                        advance(rows)
        except BrokenPipeError:
            sent.result()  # The server has refused, and says why.
            raise
        warning = sent.result()
    if warning:
        raise RowsChanged(warning)


def _write(pipe: int, page: bytes) -> None:
    rest = memoryview(page)
    while rest:
        rest = rest[os.write(pipe, rest) :]


def _statement(name: str, table: ServerTable, path: str) -> str:
    """The statement that reads pages. As binary they are taken byte by byte, and texts still checked."""
    fields = [quoted(column.name) for column in table.columns]
    if table.place is not None:
        fields.append(quoted(table.place))
    return (
        f"LOAD DATA LOCAL INFILE '{path}' INTO TABLE {name} CHARACTER SET binary"
        f" FIELDS TERMINATED BY x'{MYSQL.field.hex()}' ESCAPED BY x'{MYSQL.escape.hex()}'"
        f" LINES TERMINATED BY x'{MYSQL.line.hex()}' ({', '.join(fields)})"
    )


def _send(connection: Connection[Any], statement: str, reading: int) -> str | None:
    """Run the statement and return the server's first warning, if there is one."""
    try:
        with connection.cursor() as cursor:
            cursor.execute(statement)
            if not cursor.warning_count:
                return None
            cursor.execute("SHOW WARNINGS LIMIT 1")
            level, number, message = cursor.fetchone() or ("", "", "")
            return f"{level} {number}: {message}"
    finally:
        os.close(reading)


_ACCOUNT = "bird_harness_dump"
_RIGHTS = "SELECT, INSERT, CREATE, DROP, ALTER, INDEX, REFERENCES, LOCK TABLES"
_OF_THE_SERVER = re.compile(rb"SET @@(GLOBAL|SESSION)\.(GTID_PURGED|SQL_LOG_BIN)", re.IGNORECASE)
"""What `mysqldump` writes for replicas, and the account may not do."""

_DENIED = frozenset({1044, 1045, 1142, 1227})
"""Here it is the dump that asks for too much."""


def run_dump(
    server: Server,
    database: Database,  # noqa: ARG001 - the name of the staging says all
    staging: str,
    dump: Path,
    advance: Callable[[int], None],
) -> None:
    """See `Target.run_dump`."""
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


def take_over(server: Server, database: Database, staging: str, to: str, tables: Sequence[str]) -> None:  # noqa: ARG001
    """See `Target.take_over`."""
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
