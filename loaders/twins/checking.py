"""Runs golds and their neighbours on a twin that is being made.

The current time is fixed and there is no clock in the limits, so that the answers are the same tomorrow.
"""

import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from sqlglot import exp

from loaders.twins.problem import TODAY
from loaders.twins.rows import Rows, insert_into
from loaders.twins.shape import Shape, TableName, Value, folded

_STEPS = 2_000
"""Of 10,000 instructions of SQLite's machine; about two seconds."""
_NOW = re.compile(r"'now'|\bCURRENT_(?:TIMESTAMP|DATE)\b(?:\s*\(\s*\))?", re.IGNORECASE)

Answer = frozenset[tuple[Value, ...]]


class CheckedTwin:
    """A twin in memory."""

    def __init__(self, connection: sqlite3.Connection, left_out: tuple[str, ...]) -> None:
        self._connection = connection
        self.left_out = left_out
        """A line for each index or view that SQLite does not take."""
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
        except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
            return str(error)

    def _step(self) -> int:
        self._left -= 1
        return int(self._left < 0)


@contextmanager
def checked(rows: Rows) -> Iterator[CheckedTwin]:
    """The twin as it is now, in memory; rows that SQLite refuses are taken away."""
    while True:
        connection = sqlite3.connect(":memory:", isolation_level=None)
        try:
            connection.text_factory = lambda text: text.decode("utf-8", "replace")
            connection.create_function("random", 0, lambda: 4)
            filled = fill(connection, rows)
            if filled.refused:
                rows.remove(filled.refused)
                continue
            yield CheckedTwin(connection, filled.left_out)
            return
        finally:
            connection.close()


@dataclass(frozen=True)
class FilledTwin:
    """What was not taken: rows by table and place, and a line for each index or view."""

    refused: Mapping[TableName, set[int]]
    left_out: tuple[str, ...]


def fill(connection: sqlite3.Connection, rows: Rows) -> FilledTwin:
    """Create the tables and put the rows in, each table's in order of its primary key.

    A row may be refused for what only the whole table decides, such as a unique index over an expression.
    """
    shape: Shape = rows.shape
    refused: dict[TableName, set[int]] = {}
    for table in shape.tables:
        connection.execute(table.create)
    indexes = [index for table in shape.tables for index in table.indexes]
    left_out = list(_create(connection, [each for each in indexes if _UNIQUE.match(each)]))
    connection.execute("BEGIN")
    for table in shape.tables:
        key = [table.positions[column] for column in table.primary_key]
        stored = list(enumerate(rows.data[table.key]))
        if key:
            stored.sort(key=lambda row: [_rank(row[1][at]) for at in key])
        statement = insert_into(table)
        for place, row in stored:
            try:
                connection.execute(statement, row)
            except sqlite3.IntegrityError:
                refused.setdefault(table.key, set()).add(place)
    connection.execute("COMMIT")
    left_out += _create(connection, [each for each in indexes if not _UNIQUE.match(each)])
    left_out += _create(connection, shape.views)
    return FilledTwin(refused, tuple(left_out))


_UNIQUE = re.compile(r"\s*CREATE\s+UNIQUE\b", re.IGNORECASE)


def _create(connection: sqlite3.Connection, statements: Sequence[str]) -> Iterator[str]:
    for statement in statements:
        try:
            connection.execute(statement)
        except sqlite3.OperationalError as error:
            yield f"left out: {' '.join(statement.split())} ({error})"


def _rank(value: Value) -> tuple[int, float, str]:
    if isinstance(value, int | float):
        return (0, value, "")
    return (1, 0.0, str(value))


def answered(answer: Answer | str) -> bool:
    """Whether there is a row, and a value in it that is neither NULL nor 0."""
    return not isinstance(answer, str) and any(value not in {None, 0} for row in answer for value in row)


_MOST = 1_000


def settled(gold: exp.Expr, database: CheckedTwin) -> exp.Expr:
    """The gold with the values of its subqueries, as far as they stand on their own and return any."""
    copy = gold.copy()
    for node in list(copy.find_all(exp.Select)):
        if node is copy or node.find_ancestor(exp.CTE) is not None or node.root() is not copy:
            continue
        holder: exp.Expr | None = node.parent
        if isinstance(holder, exp.Subquery) and isinstance(holder.parent, exp.From | exp.Join):
            _settle_table(copy, holder, holder.alias, node, database)
        elif isinstance(holder, exp.Subquery) and not isinstance(holder.parent, exp.SetOperation):
            # A scalar subquery means its first row alone.
            _settle_value(holder, _values(node, copy, database, first=not isinstance(holder.parent, exp.In)))
    with_ = copy.args.get("with_")
    for cte in with_.expressions if with_ is not None else []:
        for table in list(copy.find_all(exp.Table)):
            if folded(table.name) == folded(cte.alias) and isinstance(cte.this, exp.Select):
                _settle_table(copy, table, table.alias_or_name, cte.this, database)
    return copy


def _values(
    node: exp.Select, gold: exp.Expr, database: CheckedTwin, *, first: bool = False
) -> list[tuple[Value, ...]]:
    query = node.copy()
    if first and query.args.get("limit") is None:
        query = query.limit(1)
    if gold.args.get("with_") is not None:
        query.set("with_", gold.args["with_"].copy())
    found = database.answer(query.sql("sqlite", copy=False))
    if isinstance(found, str):
        return []
    return sorted((row for row in found if None not in row), key=repr)[:_MOST]


def _settle_value(holder: exp.Subquery, rows: list[tuple[Value, ...]]) -> None:
    values = [literal for row in rows if (literal := _literal(row[0])) is not None]
    if not values:
        return
    above = holder.parent
    if isinstance(above, exp.In):
        above.set("query", None)
        above.set("expressions", values)
    elif not isinstance(above, exp.Exists):
        holder.replace(values[0])


def _settle_table(
    gold: exp.Expr, source: exp.Expr, alias: str, node: exp.Select, database: CheckedTwin
) -> None:
    """Let a derived table of a few rows mean its first."""
    select = source.find_ancestor(exp.Select)
    if node.args.get("limit") is None or not isinstance(select, exp.Select) or not alias:
        return
    rows = _values(node, gold, database)
    if not rows:
        return
    for item, value in zip(node.expressions, rows[0], strict=False):
        literal = _literal(value)
        if item.alias_or_name and literal is not None and not item.find(exp.AggFunc):
            select.where(exp.EQ(this=exp.column(item.alias_or_name, alias), expression=literal), copy=False)


def _literal(value: Value) -> exp.Expr | None:
    if isinstance(value, str):
        return exp.Literal.string(value)
    if isinstance(value, int | float):
        number = exp.Literal.number(abs(value))
        return exp.Neg(this=number) if value < 0 else number
    return None
