"""What a twin is made from: the tables of a database, and the little that is known of their values."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import NewType

Value = int | float | str | bytes | None
TableName = NewType("TableName", str)
"""A table's name in lower case: SQLite's names ignore the case of ASCII letters."""


@dataclass(frozen=True)
class Column:
    """One column.

    `samples` are stored values, most frequent first; `complete` says that there are no others. `low` and
    `high` are the extremes of the stored values where known, `nulls` is the share of NULL in them.
    """

    name: str
    declared: str
    samples: tuple[Value, ...] = ()
    complete: bool = False
    nulls: float = 0.0
    nullable: bool = True
    low: Value = None
    high: Value = None

    @property
    def key(self) -> str:
        """The name by which queries find it."""
        return self.name.lower()

    @cached_property
    def affinity(self) -> str:
        """INTEGER, REAL, NUMERIC, TEXT or BLOB. https://sqlite.org/datatype3.html#determination_of_column_affinity."""
        declared = self.declared.upper()
        if "INT" in declared:
            return "INTEGER"
        if any(word in declared for word in ("CHAR", "CLOB", "TEXT")):
            return "TEXT"
        if not declared or "BLOB" in declared:
            return "BLOB"
        if any(word in declared for word in ("REAL", "FLOA", "DOUB")):
            return "REAL"
        return "NUMERIC"

    @cached_property
    def numeric(self) -> bool:
        """Whether its values are numbers; of a NUMERIC column, such as DATE, the samples decide."""
        if self.affinity in {"INTEGER", "REAL"}:
            return not any(isinstance(value, str) for value in self.samples)
        if self.affinity == "TEXT":
            return False
        numbers = [isinstance(value, int | float) for value in self.samples]
        if not numbers:
            return "DATE" not in self.declared.upper() and "TIME" not in self.declared.upper()
        return all(numbers)

    @cached_property
    def whole(self) -> bool:
        """Whether its numbers are integers."""
        return self.affinity == "INTEGER" or (
            self.affinity != "REAL" and all(isinstance(value, int) for value in self.samples)
        )

    def stored(self, value: Value) -> Value:
        """The value as this column stores it."""
        if value is None or isinstance(value, bytes):
            return value
        if self.affinity == "TEXT":
            return value if isinstance(value, str) else str(value)
        if self.affinity == "BLOB":
            return value
        number = _number(value)
        if number is None:
            return value
        if self.affinity == "REAL":
            return float(number)
        return int(number) if float(number).is_integer() and abs(number) < _EXACT else number


_EXACT = 2**53
_LOOKUP_COLUMNS = 3


def _number(value: float | str) -> float | None:
    if isinstance(value, int | float):
        return value
    try:
        return int(value)
    except ValueError:
        pass
    try:
        number = float(value)
    except ValueError:
        return None
    return number if number - number == 0 else None


@dataclass(frozen=True)
class Reference:
    """A foreign key; columns by their keys, the parent by its table's key."""

    columns: tuple[str, ...]
    parent: TableName
    parent_columns: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """One table. `rows` is the number of rows of the real one, None where nobody knows it."""

    name: str
    columns: tuple[Column, ...]
    rows: int | None
    create: str
    primary_key: tuple[str, ...] = ()
    unique: tuple[tuple[str, ...], ...] = ()
    """Other columns whose values no two rows share, declared or observed."""
    references: tuple[Reference, ...] = ()
    indexes: tuple[str, ...] = ()
    """The statements that create its indexes, for after the rows."""

    @property
    def key(self) -> TableName:
        """The name by which queries find it."""
        return TableName(self.name.lower())

    @cached_property
    def by_key(self) -> dict[str, Column]:
        """The columns by their keys."""
        return {column.key: column for column in self.columns}

    @cached_property
    def positions(self) -> dict[str, int]:
        """Where a column stands in a row, by its key."""
        return {column.key: at for at, column in enumerate(self.columns)}

    @cached_property
    def names_only(self) -> bool:
        """Whether it only gives names to numbers, as a table of colours does."""
        return bool(self.unique) and not self.references and len(self.columns) <= _LOOKUP_COLUMNS

    @cached_property
    def keys(self) -> tuple[tuple[str, ...], ...]:
        """All sets of columns whose values no two rows share, the primary key first."""
        found = [self.primary_key] if self.primary_key else []
        return tuple(dict.fromkeys([*found, *self.unique]))

    @cached_property
    def referring(self) -> dict[str, Reference]:
        """The first reference that a column takes part in, by the column's key."""
        found: dict[str, Reference] = {}
        for reference in self.references:
            for column in reference.columns:
                found.setdefault(column, reference)
        return found


@dataclass(frozen=True)
class Shape:
    """The tables of a database in the order in which they are created, and the views over them."""

    db_id: str
    tables: tuple[Table, ...]
    views: tuple[str, ...] = field(default=())

    @cached_property
    def by_key(self) -> dict[str, Table]:
        """The tables by their keys."""
        return {table.key: table for table in self.tables}
