"""What MySQL itself counts for the statements of a session: how long they ran, and on the processor.

It stands in performance_schema, which shows everybody's statements. So it is the administrating account that
reads it, on a connection of its own, and never the reading role.
https://dev.mysql.com/doc/refman/9.7/en/performance-schema-events-statements-current-table.html
"""

import time
from functools import cached_property
from typing import Any

import pymysql

_LAST_STATEMENT = """
    SELECT event_id, timer_wait, cpu_time, end_event_id IS NOT NULL
    FROM performance_schema.threads JOIN performance_schema.events_statements_current USING (thread_id)
    WHERE processlist_id = %s AND nesting_event_level = 0"""

_COUNTS = """
    SELECT COUNT(*) = 4 FROM performance_schema.setup_consumers WHERE enabled = 'YES' AND name IN (
        'global_instrumentation', 'thread_instrumentation',
        'events_statements_current', 'events_statements_cpu'
    )"""

_PATIENCE_SECONDS = 1.0
"""How long the server may take to book a statement whose last row the client already has."""

_PICOSECONDS = 1e12


class MySQLClock:
    """Adds up the times of the statements of one session; has to be read after each of them.

    Args:
        connection: of the administrating account; closed by `close`.
        session_id: the id of the session's connection, as `CONNECTION_ID()` gives it.
    """

    def __init__(self, connection: "pymysql.Connection[Any]", session_id: int) -> None:
        self._connection = connection
        self._session_id = session_id
        self._last: object = None
        self._elapsed = self._processor = 0.0

    def spent(self) -> tuple[float, float] | None:
        """Seconds so far, all and those on the processor; None where the server does not count."""
        try:
            return (self._elapsed, self._processor) if self._counts and self._book() else None
        except pymysql.Error:
            return None

    @cached_property
    def _counts(self) -> bool:
        return self._ask(_COUNTS) == (1,)

    def _book(self) -> bool:
        """Add the last statement, if it was not added before. Whether it could be found."""
        until = time.monotonic() + _PATIENCE_SECONDS
        while time.monotonic() < until:
            # There is no row while it is being written.
            match self._ask(_LAST_STATEMENT, self._session_id):
                case (event, int(elapsed), int(processor), 1):
                    if event != self._last:
                        self._last = event
                        self._elapsed += elapsed / _PICOSECONDS
                        self._processor += processor / _PICOSECONDS
                    return True
        return False

    def _ask(self, sql: str, *values: object) -> tuple[Any, ...] | None:
        with self._connection.cursor() as cursor:
            cursor.execute(sql, values)
            row: tuple[Any, ...] | None = cursor.fetchone()
            return row

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()
