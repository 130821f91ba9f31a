"""Specialised use of psycopg: idle connections, rows as they arrive, and the server's clock."""

import contextlib
import os
import socket
import sys
from collections.abc import Callable, Iterator
from functools import partial

import psycopg
from psycopg import abc, generators, sql
from psycopg.adapt import Transformer
from psycopg.errors import error_from_result
from psycopg.pq import ExecStatus, TransactionStatus
from psycopg.pq.abc import PGresult
from psycopg.waiting import Wait

from harness.engines.base import BATCH_ROWS, EngineLost, Pool, Row, SqlUnreadable, is_readable
from loaders.postgresql.session import message
from loaders.server import Server

CONNECT_SECONDS = 10


class ConnectionPool:
    """The waiting connections of one engine, by how they were made. Any thread may use it.

    Authenticating takes most of a short query's time. A connection comes back only after a query that cannot
    have changed it, and is made as new all the same: `DISCARD ALL` undoes settings, prepared statements,
    temporary tables, locks and listening. https://www.postgresql.org/docs/current/sql-discard.html
    """

    def __init__(self) -> None:
        self._pool: Pool[psycopg.Connection] = Pool(psycopg.Connection.close)

    def take(self, conninfo: str) -> psycopg.Connection | None:
        """Return a connection for `conninfo` that is as new, if one waits."""
        while (connection := self._pool.take(conninfo)) and not _is_as_new(connection):
            connection.close()
        return connection

    def give(self, conninfo: str, connection: psycopg.Connection) -> None:
        """Keep a connection for the next session, if nothing runs in it.

        It is made as new meanwhile; whoever takes it waits for that.
        """
        if connection.pgconn.transaction_status == TransactionStatus.IDLE:
            try:
                connection.pgconn.send_query(b"DISCARD ALL")
                _flush(connection)
            except psycopg.Error:
                pass
            else:
                self._pool.give(conninfo, connection)
                return
        connection.close()

    def close(self) -> bool:
        """Close what waits. Whether there was anything."""
        return self._pool.close()


def _is_as_new(connection: psycopg.Connection) -> bool:
    """Return True if the server has made it as new, and has said nothing since: that would be a farewell."""
    try:
        said = list(iter(partial(_next_result, connection), None))
        return (
            [each.status for each in said] == [ExecStatus.COMMAND_OK]
            and connection.pgconn.transaction_status == TransactionStatus.IDLE
            and not is_readable(connection.pgconn.socket)
        )
    except (psycopg.Error, ReceivedTooMuch):
        return False


AT_ONCE_BYTES = 128 * 2**20
"""Maximum bytes received for one batch of rows; libpq keeps two to three copies."""

_WITH_ROWS = (ExecStatus.TUPLES_CHUNK, ExecStatus.TUPLES_OK)

_LOOKED_AT_FROM = 4
"""Looking at what has arrived begins with this read of a batch: most results take fewer."""

_BYTES_RECEIVED = slice(128, 136)
"""`tcpi_bytes_received` within Linux's `struct tcp_info`, <linux/tcp.h>, which only ever grows at its end."""


class ReceivedTooMuch(Exception):
    """More arrived for one batch than `AT_ONCE_BYTES`; the rest is still on its way."""


def results(
    connection: psycopg.Connection, text: bytes, name: Callable[[tuple[str, ...]], None] | None = None
) -> Iterator[list[Row] | None]:
    """Run one statement and yield its rows, at most `BATCH_ROWS` at a time; None if it is of a kind without.

    psycopg's own `Cursor.stream` cancels at the end of every result, which takes a connection each time, and
    reads a value of any size before anybody can look at it.

    Args:
        connection: to the server.
        text: the statement.
        name: called with the names of the columns before the first rows.

    Raises:
        psycopg.Error: of the server, after which the connection can be used; or of the connection.
        ReceivedTooMuch: the statement goes on running.
        SqlUnreadable: the same, perhaps.
    """
    transformer = Transformer(connection)
    is_named = False
    for result in _arriving(connection, text):
        if result is not None and name is not None and not is_named:
            is_named = True
            names = map(result.fname, range(result.nfields))
            name(tuple((each or b"").decode(errors="replace") for each in names))
        if result is None:
            yield None
        elif rows := _made(transformer, result):
            yield rows


def run(connection: psycopg.Connection, text: bytes) -> None:
    """Run one statement and drop its rows unconverted. Raises what `results` does."""
    for _ in _arriving(connection, text):
        pass


def _made(transformer: abc.Transformer, result: PGresult) -> list[Row]:
    """Convert the rows of a result to Python values."""
    try:
        transformer.set_pgresult(result)
        return transformer.load_rows(0, result.ntuples, tuple)
    except MemoryError:
        raise
    except Exception as error:  # nothing is asked of the server here, so whatever is raised is about a value
        raise SqlUnreadable(error) from error


def _arriving(connection: psycopg.Connection, text: bytes) -> Iterator[PGresult | None]:
    """Run one statement and yield what comes of it, rows in their bytes; see `results`."""
    connection.pgconn.send_query_params(text, None)
    connection.pgconn.set_chunked_rows_mode(BATCH_ROWS)
    _flush(connection)
    failed = None
    while result := _next_result(connection):
        status = result.status
        if status in _WITH_ROWS:
            yield result
        elif status == ExecStatus.FATAL_ERROR:
            failed = failed or error_from_result(result, encoding="utf-8")
        else:
            yield None
    if failed:
        raise failed


def parse(connection: psycopg.Connection, text: bytes) -> None:
    """Let the server read one statement and forget it. Raises what it says if it is none."""
    pgconn = connection.pgconn
    pgconn.send_prepare(b"", text)
    for result in connection.wait(generators.execute(pgconn)):
        if result.status == ExecStatus.FATAL_ERROR:
            raise error_from_result(result, encoding="utf-8")


def _flush(connection: psycopg.Connection) -> None:
    """Send what libpq has not sent yet; the socket usually takes it at once."""
    if connection.pgconn.flush():
        connection.wait(generators.send(connection.pgconn))


def _next_result(connection: psycopg.Connection) -> PGresult | None:
    """The next result of the statement that runs; None after the last one.

    Raises:
        psycopg.Error: the connection is broken.
        ReceivedTooMuch: see there.
    """
    if connection.pgconn.is_busy():
        connection.wait(_arrival(connection.pgconn))
    return connection.pgconn.get_result()


def _arrival(pgconn: psycopg.pq.abc.PGconn) -> abc.PQGen[None]:
    """Wait until a result has arrived; see `psycopg.generators.fetch`, which has no bound."""
    reads, most = 0, None
    while pgconn.is_busy():
        while not (yield Wait.R):
            pass
        pgconn.consume_input()
        reads += 1
        if reads >= _LOOKED_AT_FROM:
            received = _received(pgconn.socket)
            most = most or received + AT_ONCE_BYTES
            if received > most:
                raise ReceivedTooMuch(f"more than {AT_ONCE_BYTES:,} bytes in {BATCH_ROWS:,} rows or fewer")


def _received(descriptor: int) -> int:
    """Bytes that have arrived by a connection since it was made; 0 where that is not counted."""
    if sys.platform != "linux":
        return 0
    with contextlib.suppress(OSError), socket.socket(fileno=os.dup(descriptor)) as tcp:
        counted = tcp.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _BYTES_RECEIVED.stop)
        return int.from_bytes(counted[_BYTES_RECEIVED], "little")
    return 0


_SCHEMA = """
    SELECT nspname FROM pg_extension JOIN pg_namespace ON extnamespace = pg_namespace.oid
    WHERE extname = 'pg_stat_statements'"""

_TRACKS = "SELECT current_setting('pg_stat_statements.track', true) IN ('top', 'all')"


class PostgreSQLClock:
    """Reads what the server has counted for one role: the time that it planned and executed statements.

    The extension pg_stat_statements sums it up over all sessions of a role. The administrating account reads
    it, in a database that no prediction can reach.
    https://www.postgresql.org/docs/current/pgstatstatements.html

    Args:
        connection: of the administrating account, in autocommit mode; closed by `close`.
        role: the role whose statements count.
        is_ours: whether the extension may be created where the server has loaded it, and what it has counted
            may be forgotten: it keeps thousands of statements, and adding them up takes longer than most.
    """

    def __init__(self, connection: psycopg.Connection, role: str, *, is_ours: bool) -> None:
        self._connection = connection
        self._role = role
        self._is_ours = is_ours
        self._query: sql.Composed | None = None

    def seconds(self) -> float | None:
        """What has been counted for all sessions of the role, since a moment before this was first asked.

        None where the server does not count.
        """
        try:
            self._query = self._query or self._begun()
            if self._query is None:
                return None
            row = self._connection.execute(self._query, [self._role]).fetchone()
        except psycopg.Error:
            return None
        return float(row[0]) / 1000 if row else None

    def _begun(self) -> sql.Composed | None:
        """What reads the sum; None where there is none."""
        found = self._found()
        if found is None:
            return None
        schema = sql.Identifier(found)
        if self._is_ours:
            self._connection.execute(sql.SQL("SELECT {}.pg_stat_statements_reset()").format(schema))
        # Without the texts of the statements, which the server would have to read from a file.
        query = sql.SQL(
            "SELECT coalesce(sum(total_plan_time + total_exec_time), 0) FROM {}.pg_stat_statements(false)"
            " WHERE userid = (SELECT oid FROM pg_roles WHERE rolname = %s)"
        )
        return query.format(schema)

    def _found(self) -> str | None:
        """Return the schema of the extension, where it counts."""
        if self._connection.execute(_TRACKS).fetchone() != (True,):
            return None
        schema = self._connection.execute(_SCHEMA).fetchone()
        if schema is None and self._is_ours:
            self._connection.execute("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
            schema = self._connection.execute(_SCHEMA).fetchone()
        return None if schema is None else str(schema[0])

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


FAILURES = (psycopg.Error, OSError)
"""See `Administration.FAILURES`."""


def administrating(server: Server) -> psycopg.Connection:
    """See `Administration.administrating`."""
    return psycopg.connect(
        host=server.host, port=server.port, user=server.user, password=server.password,
        dbname=server.database or "postgres", connect_timeout=CONNECT_SECONDS, autocommit=True,
    )  # fmt: skip


_RIGHTS = """
SELECT 'superuser' FROM pg_roles WHERE rolname = current_user AND rolsuper
UNION ALL
SELECT 'attribute ' || a FROM pg_roles, LATERAL (VALUES
  ('CREATEROLE', rolcreaterole), ('CREATEDB', rolcreatedb), ('REPLICATION', rolreplication)) AS v (a, has)
  WHERE rolname = current_user AND has
UNION ALL
SELECT 'member of ' || rolname FROM pg_roles WHERE rolname <> current_user
  AND pg_has_role(current_user, oid, 'MEMBER')
  AND rolname IN ('pg_write_all_data', 'pg_write_server_files', 'pg_read_server_files',
    'pg_execute_server_program', 'pg_signal_backend', 'pg_database_owner')
UNION ALL
SELECT 'owner of database ' || datname FROM pg_database
  WHERE datname = current_database() AND pg_has_role(current_user, datdba, 'MEMBER')
UNION ALL
(SELECT p || ' on ' || c.oid::regclass FROM pg_class AS c, LATERAL (VALUES
  ('INSERT'), ('UPDATE'), ('DELETE'), ('TRUNCATE')) AS v (p)
  WHERE c.relkind IN ('r', 'p', 'v', 'f') AND c.relnamespace <> 'pg_catalog'::regnamespace
  AND c.relnamespace <> 'information_schema'::regnamespace
  AND has_table_privilege(c.oid, p) ORDER BY 1 LIMIT 5)
"""


def rights_to_write(server: Server) -> list[str]:
    """See `Administration.rights_to_write`: attributes, memberships, ownership and privileges on tables."""
    try:
        with administrating(server) as connection:
            return [str(what) for (what,) in connection.execute(_RIGHTS.encode())]
    except psycopg.Error as error:
        raise EngineLost(f"PostgreSQL at {server.address}: {message(error)}") from error
