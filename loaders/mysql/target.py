"""Load into MySQL: fill a staging database, then put its tables in place by one atomic RENAME TABLE.

On a server with a binary log, a load is written to it: a replica could not rename tables that it never got.
The project's own servers have none.

A table gets its primary key, the rows by LOAD DATA, then the other keys and indexes, then statistics. InnoDB
stores rows in the order of the primary key, so it is created before them. The others are built from all rows
at once. There is no AUTO_INCREMENT: nothing is inserted after the load, and it would renumber a row with id
0. Checks of unique keys stay on: there is no unique key yet for which turning them off would save time.

A dump runs under an account that can do nothing but fill the staging; the server enforces that.
"""

from __future__ import annotations  # PyMySQL's Connection is generic in its stubs alone

import fcntl
import hashlib
import os
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import pymysql
from pymysql.connections import Connection

from dialects.enums import Dialect, Profile
from dialects.errors import BadInput
from dialects.identifiers import FUNCTIONS_NAMESPACE, quoted
from dialects.mysql import COLLATIONS
from dialects.server_schema import MYSQL_KEY_CHARACTERS, ServerTable
from dialects.targets import TARGETS
from loaders import functions
from loaders.base.errors import EngineUnavailable
from loaders.dumps import statements
from loaders.mysql.session import CONNECT_SECONDS, ask, attempt, connected, grant, is_broken, message, revoke
from loaders.namespace import NAMESPACE, STAGING, Database, Key, Marker, filed, key
from loaders.pages import MYSQL, pages
from loaders.server import Origin, Server
from loaders.target import DdlSyntax, KeySyntax, LoadSource, RowsChanged, Target, add_keys

_RETIRED = "_retired"
"""Suffix of a staging's name for the database that the old tables are moved to and dropped with."""

_LOADS = f"{NAMESPACE}.loads"
_TAKE = "SELECT GET_LOCK(%s, 31536000)"
"""In seconds: MariaDB does not wait at all where MySQL waits for ever, with a negative number."""
_LOCK = f"{NAMESPACE} load"
_COUNT_VALUES = (
    "UPDATE performance_schema.setup_instruments SET flags = 'controlled'"
    " WHERE name IN ('memory/sql/String::value', 'memory/sql/JSON')"
)
"""Includes this memory in `connection_memory_limit`, while the server runs.

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

Otherwise plans depend on the pages in memory (none after a restart), and with plans the order of rows, and
Soft-F1.
https://dev.mysql.com/doc/refman/9.7/en/cost-model.html
"""

_SETTLED = "STATS_PERSISTENT 1 STATS_AUTO_RECALC 0 STATS_SAMPLE_PAGES 65535"
"""Statistics stay those of ANALYZE: gathered in the background, they would change plans between runs.

They are computed from all pages of an index below a gigabyte. Sampled pages are random, so another load of
the same file could get other plans.
https://dev.mysql.com/doc/refman/9.7/en/innodb-persistent-stats.html
"""

_UNINDEXED = frozenset({"text", "longtext", "longblob"})
"""Types that MySQL indexes only by a prefix."""


class _Syntax(KeySyntax):
    index = "ALTER TABLE {table} ADD INDEX {columns}"

    def columns(self, table: ServerTable, columns: Sequence[str], *, whole: bool) -> str:
        """Return a list of columns; an index uses only the prefix of a long value that fits."""
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


class MySQLTarget(Target):
    """Fills and replaces tables of a MySQL server."""

    dialect = Dialect.MYSQL
    collations: ClassVar[Mapping[Profile, str]] = COLLATIONS
    place = "bigint NOT NULL INVISIBLE"
    in_processes = True  # the driver works on what SQLite writes
    settled = f"ENGINE InnoDB {_SETTLED}"
    syntax = _Syntax
    ddl = DdlSyntax(
        identity=" AUTO_INCREMENT",
        options=f" CHARACTER SET utf8mb4 COLLATE {COLLATIONS[Profile.FAITHFUL]}",
        indexed="(191)",
    )
    # Its four threads take ten times as long for a table of a few thousand rows.
    to_count = "SET SESSION innodb_parallel_read_threads = 1"

    @contextmanager
    def exclusive(self, server: Server) -> Iterator[None]:
        """See `Target.exclusive`."""
        # A named lock ends with its connection.
        with connected(server) as connection:
            ask(connection, _TAKE, [_LOCK])
            yield

    def tidy(self, server: Server, databases: Sequence[Database]) -> None:
        """See `Target.tidy`."""
        with connected(server) as connection:
            for (name,) in ask(connection, "SELECT schema_name FROM information_schema.schemata"):
                if name.startswith(STAGING):
                    ask(connection, f"DROP DATABASE IF EXISTS {quoted(name)}")

    grant = staticmethod(grant)
    revoke = staticmethod(revoke)

    def admit_reader(self, server: Server) -> None:
        """See `Target.admit_reader`."""
        # On the harness's own servers, its memory is counted, and plans depend only on the data.
        if server.origin is not Origin.DSN:
            with connected(server) as connection:
                attempt(connection, _COUNT_VALUES)
                if ask(connection, _DISK_COSTS) != [(0,)]:
                    for statement in _COST_THE_SAME:
                        ask(connection, statement)
        if reader_is_ready(server):
            return
        with connected(server) as connection:
            for verb in ("CREATE USER IF NOT EXISTS", "ALTER USER"):
                account = [server.reader_user, server.reader_password]
                ask(connection, f"{verb} %s@'%%' IDENTIFIED BY %s", account)

    def markers(self, server: Server, databases: Sequence[Database]) -> dict[Key, Marker]:
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

    def present(self, server: Server, database: Database) -> set[str]:
        """See `Target.present`."""
        with connected(server) as connection:
            return _tables(connection, database.mysql_database)

    def prepare(self, server: Server, database: Database, staging: str) -> None:
        """See `Target.prepare`."""
        # Only accounts with all rights can use it.
        with connected(server) as connection:
            ask(connection, f"CREATE DATABASE {staging} COLLATE {self.collations[database.profile]}")

    def put_in_place(
        self, server: Server, database: Database, staging: str, old: Sequence[str], marker: Marker
    ) -> None:
        """See `Target.put_in_place`."""
        # The tables are swapped by one atomic statement. The marker is incomplete before it and complete
        # after it. https://dev.mysql.com/doc/refman/9.7/en/atomic-ddl.html
        collation = self.collations[database.profile]
        live, retired = quoted(database.mysql_database), f"{staging}{_RETIRED}"
        with connected(server) as connection:
            ask(connection, f"CREATE DATABASE {retired} COLLATE {collation}")
            ask(connection, f"CREATE DATABASE IF NOT EXISTS {live} COLLATE {collation}")
            self.grant(connection, server, "SELECT", database.mysql_database)
            there = _tables(connection, database.mysql_database)
            moves = [
                f"{live}.{quoted(table)} TO {retired}.{quoted(table)}" for table in old if table in there
            ]
            moves += [f"{staging}.{quoted(table)} TO {live}.{quoted(table)}" for table in marker.tables]
            either = dict.fromkeys(old, 0) | dict(marker.tables)
            _remember(connection, database, replace(marker, tables=either, loaded_at=None))
            ask(connection, f"RENAME TABLE {', '.join(moves)}")
            _remember(connection, database, marker)

    def discard(self, server: Server, database: Database, staging: str) -> None:
        """See `Target.discard`."""
        with suppress(EngineUnavailable), connected(server) as connection:
            for name in (staging, f"{staging}{_RETIRED}"):
                ask(connection, f"DROP DATABASE IF EXISTS {name}")

    def drop_databases(self, server: Server, collections: Mapping[str, str]) -> None:
        """See `Target.drop_databases`."""
        with connected(server) as connection:
            has_loads = "loads" in _tables(connection, NAMESPACE)
            for name, collection in collections.items():
                ask(connection, f"DROP DATABASE IF EXISTS {quoted(name)}")
                self.revoke(connection, server, "SELECT", name)
                if has_loads:
                    ask(connection, f"DELETE FROM {_LOADS} WHERE collection = %s", [collection])  # noqa: S608 - a constant

    def install_functions(self, server: Server, databases: Sequence[Database]) -> None:
        """See `Target.install_functions`."""
        with connected(server, alone=True) as connection:
            ask(connection, _TAKE, [_FUNCTIONS_LOCK])
            _own_functions(connection, server, self.dialect)
            self.grant(connection, server, "EXECUTE", FUNCTIONS_NAMESPACE)
            there = _functions_there(connection)
            ask(connection, f"SET SESSION sql_mode = '{_MODES}', collation_connection = {_COLLATION}")
            wanted = functions.definitions(self.dialect)
            for name, statement in wanted.items():
                if not _is_same(statement, there.get(name)):
                    ask(connection, f"DROP FUNCTION IF EXISTS {FUNCTIONS_NAMESPACE}.{name}")
                    ask(connection, commented(statement))
            for name in there.keys() - wanted.keys():
                spelled = "`" + name.replace("`", "``") + "`"
                ask(connection, f"DROP FUNCTION {FUNCTIONS_NAMESPACE}.{spelled}")

    def more_columns(self, database: Database, table: ServerTable, syntax: KeySyntax) -> list[str]:
        """See `Target.more_columns`."""
        columns = []
        if table.place is not None:
            columns.append(f"{quoted(table.place)} {self.place}")
        if _is_ordered(table, database.profile):
            columns.append(f"PRIMARY KEY {syntax.columns(table, table.source.primary_key, whole=True)}")
        return columns

    def send(
        self,
        session: Connection[Any],
        name: str,
        table: ServerTable,
        connection: sqlite3.Connection,
        advance: Callable[[int], None],
    ) -> int:
        """See `Target.send`."""
        threads = "1" if table.source.rows < _MANY_ROWS else "DEFAULT"
        attempt(session, _THREADS.format(threads))  # not every version knows them
        _load_rows(session, name, table, connection, advance)
        [[count]] = ask(session, f"SELECT count(*) FROM {name}")  # noqa: S608 - quoted
        return int(count)

    def add_keys(
        self,
        session: Connection[Any],
        database: Database,
        source: LoadSource,
        table: ServerTable,
        syntax: KeySyntax,
    ) -> list[str]:
        """See `Target.add_keys`."""
        primary_key = not _is_ordered(table, database.profile)
        return _add_all_keys(session, syntax, table, source.tables, primary_key=primary_key)

    def analyze(self, session: Connection[Any], staging: str, table: str) -> None:
        """See `Target.analyze`."""
        ask(session, f"ANALYZE TABLE {staging}.{quoted(table)}")

    def run_dump(
        self, server: Server, database: Database, staging: str, dump: Path, advance: Callable[[int], None]
    ) -> None:
        """See `Target.run_dump`."""
        with _writing(server, staging) as writer, closing(
            pymysql.connect(
                host=server.host, port=server.port, user=writer.reader_user, password=writer.reader_password,
                database=staging, charset="utf8mb4", connect_timeout=CONNECT_SECONDS, autocommit=True,
                local_infile=False, ssl_disabled=server.is_local,
            )
        ) as connection:  # fmt: skip
            for statement in statements(dump, self.dialect):
                if not _OF_THE_SERVER.match(statement.text):
                    try:
                        connection.query(statement.text.decode("utf-8", "surrogateescape"))
                    except pymysql.Error as error:
                        if is_broken(error) and error.args[0] not in _DENIED:
                            raise
                        words = f"{TARGETS[self.dialect].title}: {message(error)}"
                        raise BadInput(f"{dump}: line {statement.line}: {words}") from error
                advance(len(statement.text))

    def take_over(
        self, server: Server, database: Database, staging: str, to: str, tables: Sequence[str]
    ) -> None:
        """See `Target.take_over`."""
        moves = [f"{staging}.{quoted(name)} TO {to}.{quoted(name)}" for name in tables]
        with connected(server) as connection:
            ask(connection, f"RENAME TABLE {', '.join(moves)}")
            for name in tables:
                ask(connection, f"ALTER TABLE {to}.{quoted(name)} {_SETTLED}")
                self.analyze(connection, to, name)


TARGET = MySQLTarget()


_LONGEST_KEY_BYTES = 3_072
_KEY_BYTES_PER_CHARACTER = 4
"""https://dev.mysql.com/doc/refman/9.7/en/innodb-limits.html."""

_THREADS = "SET SESSION innodb_parallel_read_threads = {0}, innodb_ddl_threads = {0}"
"""Threads that count rows and build indexes; for few rows, starting them takes longer than their work.

https://dev.mysql.com/doc/refman/9.7/en/innodb-parameters.html#sysvar_innodb_parallel_read_threads
"""

_MANY_ROWS = 50_000


def _is_ordered(table: ServerTable, profile: Profile) -> bool:
    """True if the primary key can be created before the rows, since it cannot be refused.

    Integers compare alike in SQLite and MySQL, and so do short texts in profile `faithful`.
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


def _add_all_keys(
    session: Connection[Any],
    syntax: KeySyntax,
    table: ServerTable,
    tables: Sequence[ServerTable],
    *,
    primary_key: bool,
) -> list[str]:
    """Add all keys and indexes by one statement, which reads the table once; if refused, one by one."""
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
    """Run statements, as many as possible at once; return the reason for each refused one, None for others.

    Args:
        session: the session.
        words: the common beginning of the statements.
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


def _referring(syntax: KeySyntax, table: ServerTable, tables: Sequence[ServerTable]) -> Iterator[str]:
    """Yield the columns of foreign keys that need their own index, which `link` would otherwise build.

    https://dev.mysql.com/doc/refman/9.7/en/create-table-foreign-keys.html
    """
    own = table.source
    indexed = [own.primary_key, *own.unique, *own.indexes]
    for reference in own.foreign_keys:
        columns = reference.columns
        parent = next(other for other in tables if other.source.name == reference.parent)
        types = _types(table, columns)
        is_indexed = any(each[: len(columns)] == columns for each in indexed)
        if not is_indexed and types == _types(parent, reference.parent_columns) and not _UNINDEXED & {*types}:
            indexed.append(columns)
            yield syntax.columns(table, columns, whole=True)


def _types(table: ServerTable, columns: Sequence[str]) -> list[str]:
    """Return the columns' types without lengths, which may differ between a foreign key and its parent."""
    types = {column.source.name: column.type for column in table.columns}
    return [types[column].split("(")[0] for column in columns]


_PIPE_BYTES = 2**20
"""Largest pipe of an ordinary account: the next page is written while the last one is sent."""


def _load_rows(
    connection: Connection[Any],
    name: str,
    table: ServerTable,
    source: sqlite3.Connection,
    advance: Callable[[int], None],
) -> None:
    """Send every row of a table to the server's table with this full name."""
    reading, writing = os.pipe()
    with suppress(AttributeError, OSError):  # only Linux can do it
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
            sent.result()  # The server has refused, and this raises its reason.
            raise
        warning = sent.result()
    if warning:
        raise RowsChanged(warning)


def _write(pipe: int, page: bytes) -> None:
    rest = memoryview(page)
    while rest:
        rest = rest[os.write(pipe, rest) :]


def _statement(name: str, table: ServerTable, path: str) -> str:
    """Return the statement that reads pages: as binary, byte by byte; texts are still checked."""
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
"""Statements of `mysqldump` for replicas that the account may not run."""

_DENIED = frozenset({1044, 1045, 1142, 1227})
"""Errors that mean that a dump exceeds its rights."""


@contextmanager
def _writing(server: Server, staging: str) -> Iterator[Server]:
    """Yield a server whose reading role is an account for the dump; it is dropped at the end."""
    writer = replace(server, reader_user=_ACCOUNT)
    with connected(server) as connection:
        ask(connection, "DROP USER IF EXISTS %s@'%%'", [_ACCOUNT])
        ask(connection, "CREATE USER %s@'%%' IDENTIFIED BY %s", [_ACCOUNT, writer.reader_password])
        grant(connection, writer, _RIGHTS, staging)
    try:
        yield writer
    except pymysql.Error as error:
        words = f"{TARGETS[server.dialect].title} at {server.address}: {message(error)}"
        raise EngineUnavailable(f"{words}; run `bird-harness doctor`") from error
    finally:
        with connected(server) as connection:
            ask(connection, "DROP USER IF EXISTS %s@'%%'", [_ACCOUNT])


def reader_is_ready(server: Server) -> bool:
    """True if the reading role can log in."""
    try:
        with pymysql.connect(
            host=server.host, port=server.port, user=server.reader_user, password=server.reader_password,
            connect_timeout=CONNECT_SECONDS, ssl_disabled=server.is_local,
        ):  # fmt: skip
            return True
    except pymysql.OperationalError:
        return False


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
    """Return the tables of several databases, with one query; databases without tables are left out."""
    statement = "SELECT table_schema, table_name FROM information_schema.tables WHERE table_schema IN %s"
    found: dict[str, set[str]] = {}
    for database, name in ask(connection, statement, [sorted(databases)]) if databases else ():
        found.setdefault(database, set()).add(name)
    return found


_OWNED = f"{NAMESPACE}.functions"
"""Marks the functions' database as the harness's own."""

_FUNCTIONS_LOCK = f"{NAMESPACE} functions"
_COLLATION = "utf8mb4_0900_bin"
_MODES = "NO_BACKSLASH_ESCAPES"
"""A function keeps the modes of its creation; with these, division by zero is NULL, as in SQLite."""

_PLACE_FOR_COMMENT = re.compile(r"\bNO SQL\b")


def commented(statement: str) -> str:
    """Return the statement with its own digest as the function's comment."""
    return _PLACE_FOR_COMMENT.sub(f"NO SQL COMMENT '{_digest(statement)}'", statement, count=1)


def _own_functions(connection: Connection[Any], server: Server, dialect: Dialect) -> None:
    """Create the functions' database if missing, and check that it is ours."""
    ask(connection, f"CREATE DATABASE IF NOT EXISTS {NAMESPACE} COLLATE {_COLLATION}")
    ask(connection, f"CREATE TABLE IF NOT EXISTS {_OWNED} (name varchar(64) PRIMARY KEY, sha256 char(64))")
    owned = ask(connection, f"SELECT sha256 FROM {_OWNED} WHERE name = %s", [FUNCTIONS_NAMESPACE])  # noqa: S608 - a constant
    found = "SELECT 1 FROM information_schema.schemata WHERE schema_name = %s"
    exists = ask(connection, found, [FUNCTIONS_NAMESPACE])
    if exists and not owned:
        raise BadInput(
            f"{TARGETS[dialect].title} at {server.address}: database {FUNCTIONS_NAMESPACE} does not belong to"
            " bird-harness, which needs the name for SQLite's functions; rename it"
        )
    digest = functions.digest(dialect)
    if owned != [(digest,)]:
        remember = f"REPLACE INTO {_OWNED} VALUES (%s, %s)"  # noqa: S608 - a constant
        ask(connection, remember, [FUNCTIONS_NAMESPACE, digest])
    if not exists:
        ask(connection, f"CREATE DATABASE {FUNCTIONS_NAMESPACE} COLLATE {_COLLATION}")


def _functions_there(connection: Connection[Any]) -> dict[str, tuple[str, str, str, str]]:
    """Return the comment, modes, collation and body of each existing function."""
    statement = (
        "SELECT routine_name, routine_comment, sql_mode, collation_connection, routine_definition"
        " FROM information_schema.routines WHERE routine_schema = %s AND routine_type = 'FUNCTION'"
    )
    rows = ask(connection, statement, [FUNCTIONS_NAMESPACE])
    return {name: tuple(facts) for name, *facts in rows}


def _is_same(statement: str, found: tuple[str, str, str, str] | None) -> bool:
    """True if a function was created by that statement and has not been changed since."""
    if found is None:
        return False
    *facts, body = found
    return facts == [_digest(statement), _MODES, _COLLATION] and statement.endswith(body)


def _digest(statement: str) -> str:
    return hashlib.sha256(statement.encode()).hexdigest()
