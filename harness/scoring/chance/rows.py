"""The rows of a database while they are made up: keys stay unique, and every reference has its parent.

Golds and their neighbours run on them in memory. The current time is fixed and limits are not measured in
time, so that answers are reproducible.
"""

import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from random import Random

from dialects.identifiers import quoted
from harness.scoring.chance.queries import TODAY
from harness.scoring.chance.shape import ReferenceShape, Shape, TableName, TableShape, Value
from harness.scoring.chance.values import Values

_TRIES = 30
_PLAIN_TRIES = 15
"""Tries after which nullable columns are often NULL, which satisfies a CHECK."""
_DEEPEST = 40
"""Longest chain of rows added as parents of one another."""
_OF_NONE = 0.5
"""Share of the rows without a parent, if the parent is in their own table."""
_NULL_BELOW = 4
"""Depth from which optional references are NULL."""


_MOST = 2**62
"""Upper bound of new numeric keys."""


class NoRowFits(Exception):
    """No row can be added: every possible key is taken, or a constraint refuses the row."""


class Rows:
    """The rows of all tables.

    A row is a list of values in the order of the table's columns, identified by its position in the table. A
    pinned cell has a value that a gold or one of its neighbours needs, and is no longer changed.
    """

    def __init__(self, shape: Shape, values: Mapping[tuple[TableName, str], Values], rng: Random) -> None:
        self.shape, self.values, self.rng = shape, values, rng
        self.data: dict[TableName, list[list[Value]]] = {table.key: [] for table in shape.tables}
        self.pinned: set[tuple[TableName, int, str]] = set()
        self._index: dict[tuple[TableName, tuple[str, ...]], dict[tuple[Value, ...], int]] = {
            (table.key, key): {} for table in shape.tables for key in table.keys
        }
        self._highest: dict[tuple[TableName, str], int] = {}
        # Single rows are tried on the declared tables, with their types, NOT NULL, and CHECK.
        self._trial = sqlite3.connect(":memory:", isolation_level=None)
        for table in shape.tables:
            self._trial.execute(table.create)
        self._trial.execute("BEGIN")
        self._pending: list[tuple[TableName, dict[str, Value]]] = []
        self._added: list[TableName] = []

    def get(self, table: TableName, row: int, column: str) -> Value:
        """Return a stored value."""
        return self.data[table][row][self.shape.by_key[table].positions[column]]

    def column(self, table: TableName, column: str) -> list[Value]:
        """Return all values of a column."""
        at = self.shape.by_key[table].positions[column]
        return [row[at] for row in self.data[table]]

    def find(self, table: TableName, key: tuple[str, ...], values: Sequence[Value]) -> int | None:
        """Return the row with these values of a key; None if there is none."""
        return self._index[table, key].get(self.shape.by_key[table].key_of(key, values))

    def new_key(self, table: TableName, column: str) -> Value:
        """Return a value that a unique column does not have yet."""
        drawn = self.values[table, column]
        taken = self._index.get((table, (column,)), {})
        if drawn.column.numeric or (drawn.column.affinity == "INTEGER" and not drawn.texts):
            place = (table, column)
            numbers = [value for value in drawn.column.samples if isinstance(value, int)]
            highest = self._highest.get(place, min(numbers, default=1) - 1) + self.rng.randint(1, 2)
            if highest > _MOST:
                highest = 1
            while (drawn.column.made(highest),) in taken:
                highest += 1
            self._highest[place] = highest
            return drawn.column.made(highest)
        of = self.shape.by_key[table]
        value: Value = None
        for number in range(_TRIES):
            value = drawn.made_up(self.rng)
            if number > _TRIES // 2:
                value = f"{value} {len(taken) + number}"
            value = drawn.column.made(value)
            if of.key_of((column,), (value,)) not in taken:
                break
        return value

    def add(self, name: TableName, given: Mapping[str, Value]) -> int:
        """Add a row; draws missing values, and adds missing parents.

        Raises:
            NoRowFits: there is no free key, or a constraint refuses the row. Nothing was added.
        """
        table = self.shape.by_key[name]
        if len(self._pending) >= _DEEPEST:
            raise NoRowFits
        fixed = {column: table.by_key[column].stored(value) for column, value in given.items()}
        if not all(table.by_key[column].admits(value) for column, value in fixed.items()):
            raise NoRowFits
        mark = len(self._added)
        try:
            for number in range(_TRIES):
                row = self._tried(table, fixed, number)
                if row is not None:
                    return self._append(table, row)
                self._take_back(mark)
        except NoRowFits:
            self._take_back(mark)
            raise
        raise NoRowFits

    def _tried(self, table: TableShape, given: Mapping[str, Value], number: int) -> dict[str, Value] | None:
        """Return a row with all its parents; None if a key is taken or a constraint refuses it."""
        row = dict(given)
        self._pending.append((table.key, row))
        try:
            self._draw(table, row, number)
            if number:
                self._count_on(table, row, given)
            # A reference may have set a value of the parent's type.
            row.update({column: table.by_key[column].stored(value) for column, value in row.items()})
            if not self._fits(table, row):
                return None
            self._refer(table, row)
        finally:
            self._pending.pop()
        # Its new parents may have taken the key.
        return row if all(self._free(table, key, row) for key in table.keys) else None

    def _fits(self, table: TableShape, row: Mapping[str, Value]) -> bool:
        return all(self._free(table, key, row) for key in table.keys) and self._accepted(table, row)

    def _accepted(self, table: TableShape, row: Mapping[str, Value]) -> bool:
        try:
            self._trial.execute(table.insert, [row[column] for column in table.positions])
        except (sqlite3.Error, OverflowError, UnicodeEncodeError):
            return False
        self._trial.execute(f"DELETE FROM {quoted(table.name)}")  # noqa: S608 - quoted
        return True

    def _append(self, table: TableShape, row: Mapping[str, Value]) -> int:
        place = len(self.data[table.key])
        self.data[table.key].append([row[column.key] for column in table.columns])
        self._added.append(table.key)
        for key in table.keys:
            self._enter(table, key, row, place)
        return place

    def _enter(self, table: TableShape, key: tuple[str, ...], row: Mapping[str, Value], place: int) -> None:
        found = table.key_of(key, (row[column] for column in key))
        if None not in found:
            self._index[table.key, key][found] = place

    def _take_back(self, mark: int) -> None:
        """Remove the rows added since there were `mark`."""
        while len(self._added) > mark:
            table = self.shape.by_key[self._added.pop()]
            row = self.data[table.key].pop()
            for key in table.keys:
                values = table.key_of(key, (row[table.positions[column]] for column in key))
                if self._index[table.key, key].get(values) == len(self.data[table.key]):
                    del self._index[table.key, key][values]

    def remove(self, places: Mapping[TableName, set[int]]) -> None:
        """Remove rows, and those that refer to them."""
        gone = {name: set(rows) for name, rows in places.items()}
        while gone:
            for name, rows in gone.items():
                self._remove(self.shape.by_key[name], rows)
            gone = {}
            for table in self.shape.tables:
                for place, values in enumerate(self.data[table.key]):
                    row = {column.key: values[at] for at, column in enumerate(table.columns)}
                    if not all(self._is_there(reference, row) for reference in table.references):
                        gone.setdefault(table.key, set()).add(place)

    def _remove(self, table: TableShape, places: set[int]) -> None:
        left = [place for place in range(len(self.data[table.key])) if place not in places]
        moved = {before: now for now, before in enumerate(left)}
        self.data[table.key] = [self.data[table.key][place] for place in left]
        self.pinned = {
            (name, moved[place] if name == table.key else place, column)
            for name, place, column in self.pinned
            if name != table.key or place in moved
        }
        self._added = []
        for key in table.keys:
            self._index[table.key, key] = {}
            for place, values in enumerate(self.data[table.key]):
                self._enter(table, key, {each: values[table.positions[each]] for each in key}, place)

    def _is_there(self, reference: ReferenceShape, row: Mapping[str, Value]) -> bool:
        values = [row[column] for column in reference.columns]
        return None in values or self.find(reference.parent, reference.parent_columns, values) is not None

    def _count_on(self, table: TableShape, row: dict[str, Value], given: Mapping[str, Value]) -> None:
        """Set a numeric part of a key to a number that the table does not have yet."""
        for key in table.keys:
            for column in key if len(key) > 1 else ():
                free = column not in given and column not in table.referring
                if free and table.by_key[column].numeric and not self._is_referred_to(table, column):
                    row[column] = table.by_key[column].stored(
                        self.rng.randint(1, 2 * len(self.data[table.key]) + 9)
                    )

    def _is_referred_to(self, table: TableShape, column: str) -> bool:
        """True if a row added for this one may already refer to the column."""
        return any(
            each.parent == table.key and column in each.parent_columns
            for name, _ in self._pending
            for each in self.shape.by_key[name].references
        )

    def change(self, name: TableName, place: int, given: Mapping[str, Value]) -> bool:
        """Change cells of a row; False, without any change, if a pinned cell or a key prevents it."""
        table = self.shape.by_key[name]
        fixed = {column: table.by_key[column].stored(value) for column, value in given.items()}
        different = {
            column: value for column, value in fixed.items() if self.get(name, place, column) != value
        }
        if not different:
            return True
        if any((name, place, column) in self.pinned for column in different):
            return False
        row = {column.key: self.get(name, place, column.key) for column in table.columns} | different
        touched = [key for key in table.keys if set(key) & different.keys()]
        if table.primary_key in touched or not all(self._free(table, key, row) for key in touched):
            return False
        if any(self._has_children(table, key) for key in touched):
            return False
        if not self._accepted(table, row):
            return False
        self._refer(table, row)
        for key in touched:
            before = table.key_of(key, (self.get(name, place, column) for column in key))
            self._index[name, key].pop(before, None)
            self._enter(table, key, row, place)
        for column, value in different.items():
            self.data[name][place][table.positions[column]] = value
        return True

    def _has_children(self, table: TableShape, key: tuple[str, ...]) -> bool:
        """True if rows may refer to a key."""
        return any(
            each.parent == table.key and each.parent_columns == key
            for other in self.shape.tables
            for each in other.references
        )

    def pin(self, table: TableName, place: int, column: str) -> None:
        """Keep a cell unchanged from now on."""
        self.pinned.add((table, place, column))

    def _free(self, table: TableShape, key: tuple[str, ...], row: Mapping[str, Value]) -> bool:
        found = table.key_of(key, (row[column] for column in key))
        return None in found or found not in self._index[table.key, key]

    def _draw(self, table: TableShape, row: dict[str, Value], number: int) -> None:
        """Give a value to every column without one; `number` is the number of earlier tries."""
        single = {key[0] for key in table.keys if len(key) == 1}
        # Keys first: a parent of this row may have to refer back to it.
        for key in table.keys:
            for column in key:
                if column not in row and column not in table.referring:
                    row[column] = self._drawn(table, column, single=column in single)
        for reference in table.references:
            self._draw_reference(table, reference, row)
        for each in table.columns:
            if each.key in row:
                continue
            if (
                each.key not in single
                and each.nullable
                and self.rng.random() < self._nulls(each.nulls, number)
            ):
                row[each.key] = None
            else:
                row[each.key] = self._drawn(table, each.key, single=each.key in single)

    def _nulls(self, share: float, number: int) -> float:
        return share if number < _PLAIN_TRIES else max(share, 0.5)

    def _drawn(self, table: TableShape, column: str, *, single: bool) -> Value:
        if single:
            return self.new_key(table.key, column)
        return table.by_key[column].made(self.values[table.key, column].fresh(self.rng))

    def _draw_reference(self, table: TableShape, reference: ReferenceShape, row: dict[str, Value]) -> None:
        columns, parent, targets = reference.columns, reference.parent, reference.parent_columns
        missing = [column for column in columns if column not in row]
        if not missing:
            return
        nullable = [column for column in missing if table.by_key[column].nullable]
        count = len(self.data[parent])
        is_own = parent == table.key
        is_left = not count or (is_own and self.rng.random() < _OF_NONE)
        if nullable and is_left and (is_own or len(self._pending) > _NULL_BELOW):
            row.update(dict.fromkeys(nullable, None))
            self._draw_reference(table, reference, row)
            return
        if any(row.get(column, "") is None for column in columns):
            # One NULL is enough for a reference to have no parent.
            row.update(
                {column: self._drawn(table, column, single=(column,) in table.keys) for column in missing}
            )
            return
        alone = columns in table.keys
        for _ in range(_TRIES if count else 0):
            # Some parents get more references than others, the last ones none.
            place = int(count * 0.95 * self.rng.random() ** 1.5)
            values = tuple(self.get(parent, place, target) for target in targets)
            fits = all(row.get(column, value) == value for column, value in zip(columns, values, strict=True))
            if (
                fits
                and None not in values
                and not (alone and self.find(table.key, columns, values) is not None)
            ):
                row.update(zip(columns, values, strict=True))
                return
        if self._refer_back(table, reference, row):
            return
        known = {
            target: row[column] for column, target in zip(columns, targets, strict=True) if column in row
        }
        place = self.add(parent, known)
        for column, target in zip(columns, targets, strict=True):
            value = self.get(parent, place, target)
            # The row may have got a value meanwhile, from a row that refers back to it.
            if column in row and table.by_key[column].stored(value) != row[column]:
                raise NoRowFits
            row[column] = table.by_key[column].stored(value)

    def _refer_back(self, table: TableShape, reference: ReferenceShape, row: dict[str, Value]) -> bool:
        """Refer to a row that waits for this one, or to itself; False if none fits."""
        pairs = list(zip(reference.columns, reference.parent_columns, strict=True))
        for name, other in reversed(self._pending):
            if name != reference.parent:
                continue
            if any(c in row and t in other and row[c] != other[t] for c, t in pairs):
                continue
            for column, target in pairs:
                if target not in other:
                    other[target] = row[column] if column in row else self.new_key(name, target)
                row[column] = table.by_key[column].stored(other[target])
            return True
        return False

    def _refer(self, table: TableShape, row: Mapping[str, Value]) -> None:
        for reference in table.references:
            if self._is_there(reference, row):
                continue
            targets = {t: row[c] for c, t in zip(reference.columns, reference.parent_columns, strict=True)}
            waiting = [other for name, other in self._pending if name == reference.parent]
            if reference.parent == table.key:
                waiting.append(dict(row))
            if not any(all(other.get(t) == value for t, value in targets.items()) for other in waiting):
                self.add(reference.parent, targets)


_STEPS = 2_000
"""In 10,000 instructions of SQLite's virtual machine; about two seconds."""
_NOW = re.compile(r"'now'|\bCURRENT_(?:TIMESTAMP|DATE)\b(?:\s*\(\s*\))?", re.IGNORECASE)

Answer = frozenset[tuple[Value, ...]]


class StepLimit:
    """Interrupts a connection after `left` times 10,000 instructions of SQLite's virtual machine."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.left = 0
        connection.set_progress_handler(self._step, 10_000)

    def _step(self) -> int:
        self.left -= 1
        return int(self.left < 0)


class CheckedTwin:
    """A database in memory."""

    def __init__(self, connection: sqlite3.Connection, left_out: Sequence[str]) -> None:
        self._connection, self._limit = connection, StepLimit(connection)
        self.left_out = left_out
        """A line for each index or view that SQLite rejects."""

    def answer(self, sql: str, steps: int = _STEPS) -> Answer | str:
        """Return the rows of a query as a set, or SQLite's error message.

        Args:
            sql: the query.
            steps: the limit, in 10,000 instructions of SQLite's virtual machine.
        """
        self._limit.left = steps
        try:
            return frozenset(self._connection.execute(_NOW.sub(f"'{TODAY}'", sql)).fetchall())
        except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
            return str(error)


@contextmanager
def checked(rows: Rows) -> Iterator[CheckedTwin]:
    """Yield the current database in memory; rows that SQLite refuses are removed."""
    while True:
        connection = sqlite3.connect(":memory:", isolation_level=None)
        try:
            connection.text_factory = lambda text: text.decode("utf-8", "replace")
            connection.create_function("random", 0, lambda: 4)
            refused, left_out = fill(connection, rows)
            if refused:
                rows.remove(refused)
                continue
            yield CheckedTwin(connection, left_out)
            return
        finally:
            connection.close()


def fill(connection: sqlite3.Connection, rows: Rows) -> tuple[dict[TableName, set[int]], list[str]]:
    """Create the tables and insert the rows, each table's in order of its primary key.

    Returns:
        What SQLite rejects: rows by table and position, and a line for each index or view. Some constraints,
        such as a unique index over an expression, can only be checked on the whole table.
    """
    shape = rows.shape
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
        statement = table.insert
        for place, row in stored:
            try:
                connection.execute(statement, row)
            except sqlite3.IntegrityError:
                refused.setdefault(table.key, set()).add(place)
    connection.execute("COMMIT")
    left_out += _create(connection, [each for each in indexes if not _UNIQUE.match(each)])
    left_out += _create(connection, shape.views)
    return refused, left_out


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
    """True if there is a row with a value other than NULL and 0."""
    return not isinstance(answer, str) and any(value not in {None, 0} for row in answer for value in row)
