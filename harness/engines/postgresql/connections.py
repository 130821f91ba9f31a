"""PostgreSQL connections that wait for the next session; authenticating takes most of a short query's time.

A connection comes back only after a query that cannot have changed it, and is made as new all the same:
`DISCARD ALL` undoes settings, prepared statements, temporary tables, locks and listening.
https://www.postgresql.org/docs/current/sql-discard.html
"""

import select

import psycopg
from psycopg import generators
from psycopg.pq import ExecStatus, TransactionStatus

from harness.engines.pool import Pool


class ConnectionPool:
    """The waiting connections of one engine, by how they were made. Any thread may use it."""

    def __init__(self) -> None:
        self._pool: Pool[psycopg.Connection] = Pool(psycopg.Connection.close)

    def take(self, conninfo: str) -> psycopg.Connection | None:
        """A connection for `conninfo` that is as new, if one waits."""
        while (connection := self._pool.take(conninfo)) and not _is_as_new(connection):
            connection.close()
        return connection

    def give(self, conninfo: str, connection: psycopg.Connection) -> None:
        """Keep a connection for the next session, if nothing runs in it.

        It is made as new meanwhile; whoever takes it waits for that.
        """
        if connection.info.transaction_status is TransactionStatus.IDLE:
            try:
                connection.pgconn.send_query(b"DISCARD ALL")
                connection.wait(generators.send(connection.pgconn))
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
    """Whether the server has made it as new, and has said nothing since: that would be a farewell."""
    try:
        said = connection.wait(generators.fetch_many(connection.pgconn))
        return (
            [each.status for each in said] == [ExecStatus.COMMAND_OK]
            and connection.info.transaction_status is TransactionStatus.IDLE
            and not _is_readable(connection.fileno())
        )
    except psycopg.Error:
        return False


def _is_readable(descriptor: int) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))
