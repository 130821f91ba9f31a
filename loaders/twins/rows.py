"""The rows of a twin while it is made: keys stay unique, and every reference finds its row."""

from collections.abc import Mapping
from random import Random

from loaders.twins.shape import Shape, Table, TableName, Value
from loaders.twins.values import Values

_TRIES = 30


class Full(Exception):
    """No further row fits: every key that can be drawn is taken."""


class Rows:
    """The rows of all tables.

    A row is a list of values in the order of the table's columns and is known by its place in the table. A
    pinned cell holds what a gold or one of its neighbours needs and is not changed any more.
    """

    def __init__(self, shape: Shape, values: Mapping[tuple[TableName, str], Values], rng: Random) -> None:
        self.shape, self.values, self.rng = shape, values, rng
        self.data: dict[TableName, list[list[Value]]] = {table.key: [] for table in shape.tables}
        self.pinned: set[tuple[TableName, int, str]] = set()
        self._index: dict[tuple[TableName, tuple[str, ...]], dict[tuple[Value, ...], int]] = {
            (table.key, key): {} for table in shape.tables for key in table.keys
        }
        self._highest: dict[tuple[TableName, str], int] = {}
        self._depth = 0

    def get(self, table: TableName, row: int, column: str) -> Value:
        """A stored value."""
        return self.data[table][row][self.shape.by_key[table].positions[column]]

    def column(self, table: TableName, column: str) -> list[Value]:
        """All values of a column."""
        at = self.shape.by_key[table].positions[column]
        return [row[at] for row in self.data[table]]

    def find(self, table: TableName, key: tuple[str, ...], values: tuple[Value, ...]) -> int | None:
        """The row with these values of a key, or None."""
        return self._index[table, key].get(values)

    def new_key(self, table: TableName, column: str) -> Value:
        """A value that a column of unique values does not have yet."""
        drawn = self.values[table, column]
        taken = self._index.get((table, (column,)), {})
        if drawn.column.numeric or drawn.column.affinity == "INTEGER":
            place = (table, column)
            numbers = [value for value in drawn.column.samples if isinstance(value, int)]
            highest = self._highest.get(place, min(numbers, default=1) - 1) + self.rng.randint(1, 2)
            while (highest,) in taken:
                highest += 1
            self._highest[place] = highest
            return drawn.column.stored(highest)
        for _ in range(_TRIES):
            value = drawn.made_up(self.rng)
            if (value,) not in taken:
                return value
        return f"{drawn.made_up(self.rng)} {len(taken) + 1}"

    def add(self, name: TableName, given: Mapping[str, Value]) -> int:
        """Add a row; what is not given is drawn, and what it refers to is added where it is missing.

        Raises:
            Full: there is no key left for it.
        """
        table = self.shape.by_key[name]
        self._depth += 1
        try:
            for number in range(_TRIES):
                row = self._drawn(table, given)
                if number:
                    self._count_on(table, row, given)
                if all(self._free(table, key, row) for key in table.keys):
                    break
            else:
                raise Full
            self._refer(table, row)
        finally:
            self._depth -= 1
        place = len(self.data[name])
        self.data[name].append([row[column.key] for column in table.columns])
        for key in table.keys:
            found = tuple(row[column] for column in key)
            if None not in found:
                self._index[name, key][found] = place
        return place

    def _count_on(self, table: Table, row: dict[str, Value], given: Mapping[str, Value]) -> None:
        """Let a number that is part of a key be one that the table does not have yet."""
        for key in table.keys:
            for column in key if len(key) > 1 else ():
                free = column not in given and column not in table.referring
                if free and table.by_key[column].numeric:
                    row[column] = table.by_key[column].stored(
                        self.rng.randint(1, 2 * len(self.data[table.key]) + 9)
                    )

    def change(self, name: TableName, place: int, given: Mapping[str, Value]) -> bool:
        """Change cells of a row; False, and nothing is changed, where a pin or a key is in the way."""
        table = self.shape.by_key[name]
        different = {
            column: value for column, value in given.items() if self.get(name, place, column) != value
        }
        if any((name, place, column) in self.pinned for column in different):
            return False
        row = {column.key: self.get(name, place, column.key) for column in table.columns} | different
        touched = [key for key in table.keys if set(key) & different.keys()]
        if table.primary_key in touched or not all(self._free(table, key, row) for key in touched):
            return False
        self._refer(table, row)
        for key in touched:
            self._index[name, key].pop(tuple(self.get(name, place, column) for column in key), None)
            self._index[name, key][tuple(row[column] for column in key)] = place
        for column, value in different.items():
            self.data[name][place][table.positions[column]] = value
        return True

    def pin(self, table: TableName, place: int, column: str) -> None:
        """Let a cell stay as it is."""
        self.pinned.add((table, place, column))

    def _free(self, table: Table, key: tuple[str, ...], row: Mapping[str, Value]) -> bool:
        found = tuple(row[column] for column in key)
        return None in found or found not in self._index[table.key, key]

    def _drawn(self, table: Table, given: Mapping[str, Value]) -> dict[str, Value]:
        row = dict(given)
        for reference in table.references:
            self._draw_reference(table, reference.columns, reference.parent, reference.parent_columns, row)
        single = {key[0] for key in table.keys if len(key) == 1}
        for column in table.columns:
            if column.key in row:
                continue
            if column.key in single:
                row[column.key] = self.new_key(table.key, column.key)
            elif column.nullable and column.nulls and self.rng.random() < column.nulls:
                row[column.key] = None
            else:
                row[column.key] = column.stored(self.values[table.key, column.key].fresh(self.rng))
        return row

    def _draw_reference(
        self,
        table: Table,
        columns: tuple[str, ...],
        parent: TableName,
        targets: tuple[str, ...],
        row: dict[str, Value],
    ) -> None:
        missing = [column for column in columns if column not in row]
        if not missing:
            return
        nullable = [column for column in missing if table.by_key[column].nullable]
        count = len(self.data[parent])
        if not count or (parent == table.key and self.rng.random() < 0.5 and nullable):  # noqa: PLR2004 - a coin
            if nullable and (parent == table.key or self._depth > 4):  # noqa: PLR2004 - a circle of references
                row.update(dict.fromkeys(nullable, None))
                return
            if parent == table.key:
                return
        alone = columns in table.keys
        for _ in range(_TRIES if count else 0):
            # Some rows are referred to more often than others, the last ones never.
            place = int(count * 0.95 * self.rng.random() ** 1.5)
            values = tuple(self.get(parent, place, target) for target in targets)
            fits = all(row.get(column, value) == value for column, value in zip(columns, values, strict=True))
            if fits and None not in values and not (alone and values in self._index[table.key, columns]):
                row.update(zip(columns, values, strict=True))
                return
        known = {
            target: row[column] for column, target in zip(columns, targets, strict=True) if column in row
        }
        place = self.add(parent, known)
        row.update(zip(columns, (self.get(parent, place, target) for target in targets), strict=True))

    def _refer(self, table: Table, row: Mapping[str, Value]) -> None:
        """Add what the row refers to and is not there."""
        for reference in table.references:
            values = tuple(row[column] for column in reference.columns)
            if None in values or values in self._index[reference.parent, reference.parent_columns]:
                continue
            targets = dict(zip(reference.parent_columns, values, strict=True))
            itself = reference.parent == table.key and all(row.get(c) == v for c, v in targets.items())
            if not itself:
                if self._depth > _TRIES:
                    raise Full
                self.add(reference.parent, targets)
