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

_TRACKS = "SELECT current_setting('pg_stat_statements.track', true) IN ('top', 'all')"


class PostgreSQLClock:
    """Reads what the server has counted for one role.

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
        """The schema of the extension, where it counts."""
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
