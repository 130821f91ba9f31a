"""What PostgreSQL itself counts for statements: the time that it planned and executed them.

The extension pg_stat_statements sums it up over all sessions of a role. The administrating account reads it,
on a connection of its own, in a database that no prediction can reach.
https://www.postgresql.org/docs/current/pgstatstatements.html
"""

import psycopg
from psycopg import sql

_SCHEMA = """
    SELECT nspname FROM pg_extension JOIN pg_namespace ON extnamespace = pg_namespace.oid
    WHERE extname = 'pg_stat_statements'"""


class PostgreSQLClock:
    """Reads what the server has counted for one role.

    Args:
        connection: of the administrating account, in autocommit mode; closed by `close`.
        role: the role whose statements count.
        may_install: whether the extension may be created where the server has loaded it.
    """

    def __init__(self, connection: psycopg.Connection, role: str, *, may_install: bool) -> None:
        self._connection = connection
        self._role = role
        self._may_install = may_install
        self._query: sql.Composed | None = None

    def seconds(self) -> float | None:
        """What has been counted so far for all sessions of the role; None where the server does not count."""
        try:
            self._query = self._query or self._found()
            if self._query is None:
                return None
            row = self._connection.execute(self._query, [self._role]).fetchone()
        except psycopg.Error:
            return None
        return float(row[0]) / 1000 if row and row[0] is not None else None

    def _found(self) -> sql.Composed | None:
        schema = self._connection.execute(_SCHEMA).fetchone()
        if schema is None and self._may_install:
            self._connection.execute("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
            schema = self._connection.execute(_SCHEMA).fetchone()
        if schema is None:
            return None
        # Without the texts of the statements, which the server would have to read from a file.
        return sql.SQL(
            "SELECT sum(total_plan_time + total_exec_time) FROM {}.pg_stat_statements(false)"
            " WHERE userid = (SELECT oid FROM pg_roles WHERE rolname = %s)"
        ).format(sql.Identifier(schema[0]))

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()
