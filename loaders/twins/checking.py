"""Runs golds and their neighbours on a twin that is being made.

The current time is fixed and there is no clock in the limits, so that the answers are the same tomorrow.
"""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from loaders.source import quoted
from loaders.twins.problem import TODAY
from loaders.twins.rows import Rows
from loaders.twins.shape import Shape, Value

_STEPS = 2_000
"""Of 10,000 instructions of SQLite's machine; about two seconds."""
_NOW = re.compile(r"'now'|\bCURRENT_(?:TIMESTAMP|DATE)\b(?:\s*\(\s*\))?", re.IGNORECASE)

Answer = frozenset[tuple[Value, ...]]


class Checked:
    """A twin in memory."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._left = 0
        connection.set_progress_handler(self._step, 10_000)

    def answer(self, sql: str, steps: int = _STEPS) -> Answer | str:
        """The rows of a query as a set, or what SQLite says against it.

        Args:
            sql: the query.
            steps: how long it may take, in 10,000 instructions of SQLite's machine.
        """
        self._left = steps
        try:
            return frozenset(self._connection.execute(_NOW.sub(f"'{TODAY}'", sql)).fetchall())
        except (sqlite3.Error, sqlite3.Warning) as error:
            return str(error)

    def _step(self) -> int:
        self._left -= 1
        return int(self._left < 0)


@contextmanager
def checked(rows: Rows) -> Iterator[Checked]:
    """The twin as it is now, in memory."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    try:
        connection.text_factory = lambda text: text.decode("utf-8", "replace")
        connection.create_function("random", 0, lambda: 4)
        fill(connection, rows)
        yield Checked(connection)
    finally:
        connection.close()


def fill(connection: sqlite3.Connection, rows: Rows) -> None:
    """Create the tables and put the rows in, each table's in order of its primary key."""
    shape: Shape = rows.shape
    for table in shape.tables:
        connection.execute(table.create)
    connection.execute("BEGIN")
    for table in shape.tables:
        names = ", ".join(quoted(column.name) for column in table.columns)
        marks = ", ".join("?" * len(table.columns))
        key = [table.positions[column] for column in table.primary_key]
        data = rows.data[table.key]
        stored = sorted(data, key=lambda row: [_rank(row[at]) for at in key]) if key else data
        connection.executemany(f"INSERT INTO {quoted(table.name)} ({names}) VALUES ({marks})", stored)  # noqa: S608
    connection.execute("COMMIT")
    for table in shape.tables:
        for index in table.indexes:
            connection.execute(index)
    for view in shape.views:
        connection.execute(view)


def _rank(value: Value) -> tuple[int, float, str]:
    if isinstance(value, int | float):
        return (0, value, "")
    return (1, 0.0, str(value))


def answered(answer: Answer | str) -> bool:
    """Whether there is a row, and a value in it that is neither NULL nor 0."""
    return not isinstance(answer, str) and any(value not in {None, 0} for row in answer for value in row)
