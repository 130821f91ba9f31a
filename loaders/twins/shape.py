"""What a twin is made from: the tables of a database, and the little that is known of their values."""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from math import inf, isfinite
from string import ascii_lowercase, ascii_uppercase
from typing import NewType

from dialects.identifiers import quoted
from dialects.numbers import well_formed
from dialects.schema import affinity

Value = int | float | str | bytes | None
TableName = NewType("TableName", str)
"""A table's name as `folded` gives it."""

_UPPER = str.maketrans(ascii_uppercase, ascii_lowercase)
_INTEGERS = range(-(2**63), 2**63)


def folded(name: str) -> str:
    """A name as SQLite compares names: without the case of ASCII letters, and of no others."""
    return name.translate(_UPPER)


@dataclass(frozen=True)
class ColumnCollation:
    """How a column tells texts apart where it has to be unique."""

    name: str = "BINARY"

    def key(self, value: Value) -> Value:
        """The same for values that are equal to it."""
        if self.name != "BINARY" and isinstance(value, str):
            if self.name == "NOCASE":
                return folded(value)
            if self.name == "RTRIM":
                return value.rstrip(" ")
        return value


@dataclass(frozen=True)
class ColumnShape:
    """One column.

    `samples` are stored values, most frequent first; `complete` says that there are no others. `low` and
    `high` are the extremes of the stored values where known, `nulls` is the share of NULL in them. `strict`
    says that nothing is stored but what the declared type names, as in STRICT tables and in an INTEGER
    PRIMARY KEY.
    """

    name: str
    declared: str
    samples: tuple[Value, ...] = ()
    complete: bool = False
    nulls: float = 0.0
    nullable: bool = True
    low: Value = None
    high: Value = None
    strict: bool = False
    collation: ColumnCollation = ColumnCollation()

    @cached_property
    def key(self) -> str:
        """The name by which queries find it."""
        return folded(self.name)

    @cached_property
    def affinity(self) -> str:
        """INTEGER, REAL, NUMERIC, TEXT or BLOB, as which ANY in a STRICT table counts."""
        return "BLOB" if self.strict and self.declared.upper() == "ANY" else affinity(self.declared)

    @cached_property
    def numeric(self) -> bool:
        """Whether its values are numbers; of a NUMERIC column, such as DATE, the samples decide."""
        if self.affinity in {"INTEGER", "REAL"}:
            return self.strict or not any(isinstance(value, str) for value in self.samples)
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
        """The value as this column stores it, as SQLite's affinities have it."""
        if value is None or isinstance(value, bytes):
            return value
        if isinstance(value, int) and value not in _INTEGERS:
            value = _fraction(value)
        affinity = self.affinity
        if affinity == "TEXT":
            return value if isinstance(value, str) else str(value)
        if affinity == "BLOB":
            return value
        number = well_formed(value) if isinstance(value, str) else value
        if number is None:
            return value
        if affinity == "REAL":
            return _fraction(number)
        is_other = type(number) is not int and float(number).is_integer() and abs(number) < _EXACT
        return int(number) if is_other else number

    def compared(self, value: Value) -> Value:
        """What it stores, in the form in which equal values are the same."""
        return self.collation.key(self.stored(value))

    def made(self, value: Value) -> Value:
        """A value that was made up for it: bytes where it takes nothing else."""
        if self.strict and self.declared.upper() == "BLOB" and value is not None:
            return value if isinstance(value, bytes) else str(value).encode()
        return self.stored(value)

    def admits(self, value: Value) -> bool:
        """Whether it can be stored at all, constraints of the table aside."""
        stored = self.stored(value)
        if stored is None:
            return self.nullable
        if isinstance(stored, float) and not isfinite(stored):
            return False
        if not self.strict or self.declared.upper() == "ANY":
            return True
        return isinstance(stored, _STRICT.get(self.affinity, (str,)))


_EXACT = 2**53
_LOOKUP_COLUMNS = 3
_STRICT: dict[str, tuple[type, ...]] = {"INTEGER": (int,), "REAL": (float,), "BLOB": (bytes,)}


def _fraction(number: float) -> float:
    try:
        return float(number)
    except OverflowError:
        return inf if number > 0 else -inf


@dataclass(frozen=True)
class ReferenceShape:
    """A foreign key; columns by their keys, the parent by its table's key."""

    columns: tuple[str, ...]
    parent: TableName
    parent_columns: tuple[str, ...]


@dataclass(frozen=True)
class TableShape:
    """One table. `rows` is the number of rows of the real one, None where nobody knows it."""

    name: str
    columns: tuple[ColumnShape, ...]
    rows: int | None
    create: str
    primary_key: tuple[str, ...] = ()
    unique: tuple[tuple[str, ...], ...] = ()
    """Other columns whose values no two rows share, declared or observed."""
    references: tuple[ReferenceShape, ...] = ()
    indexes: tuple[str, ...] = ()
    """The statements that create its indexes."""
    checked: tuple[tuple[str, tuple[Value, ...]], ...] = ()
    """Columns that CHECK constraints name, with the literals there."""

    @cached_property
    def key(self) -> TableName:
        """The name by which queries find it."""
        return TableName(folded(self.name))

    @cached_property
    def by_key(self) -> dict[str, ColumnShape]:
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

    def key_of(self, key: tuple[str, ...], values: Iterable[Value]) -> tuple[Value, ...]:
        """Values of a key in the form in which equal ones are the same; NULL is equal to nothing."""
        columns = self.by_key
        return tuple([columns[name].compared(value) for name, value in zip(key, values, strict=True)])

    @cached_property
    def referring(self) -> dict[str, ReferenceShape]:
        """The first reference that a column takes part in, by the column's key."""
        found: dict[str, ReferenceShape] = {}
        for reference in self.references:
            for column in reference.columns:
                found.setdefault(column, reference)
        return found


@dataclass(frozen=True)
class Shape:
    """The tables of a database in the order in which they are created, and the views over them."""

    db_id: str
    tables: tuple[TableShape, ...]
    views: tuple[str, ...] = field(default=())

    @cached_property
    def by_key(self) -> dict[str, TableShape]:
        """The tables by their keys."""
        return {table.key: table for table in self.tables}


def with_targets(tables: tuple[TableShape, ...]) -> tuple[TableShape, ...]:
    """The tables with every reference to columns that are there, and a statement to create each.

    A reference to what is not there is none: SQLite takes it, and no row can keep it.
    """
    by_key = {table.key: table for table in tables}
    found = []
    for table in tables:
        references = []
        for reference in table.references:
            parent = by_key.get(reference.parent)
            if parent is None:
                continue
            targets = reference.parent_columns if all(reference.parent_columns) else parent.primary_key
            if len(targets) == len(reference.columns) and set(targets) <= set(parent.by_key):
                references.append(ReferenceShape(reference.columns, reference.parent, tuple(targets)))
        create = table.create or _create(table, references, by_key)
        found.append(replace(table, create=create, references=tuple(references)))
    wanted = {(each.parent, each.parent_columns) for table in found for each in table.references}
    return tuple(_with_unique(table, wanted) for table in found)


def _with_unique(table: TableShape, wanted: set[tuple[TableName, tuple[str, ...]]]) -> TableShape:
    """The table with what others refer to among its keys."""
    more = sorted(columns for parent, columns in wanted if parent == table.key and columns not in table.keys)
    if not more:
        return table
    return replace(table, unique=(*table.unique, *more))


def _create(
    table: TableShape, references: Sequence[ReferenceShape], tables: Mapping[TableName, TableShape]
) -> str:
    def names(of: TableShape, columns: Sequence[str]) -> str:
        return ", ".join(quoted(of.by_key[column].name) for column in columns)

    parts = [f"{quoted(column.name)} {_type(column.declared)}".rstrip() for column in table.columns]
    if table.primary_key:
        parts.append(f"PRIMARY KEY ({names(table, table.primary_key)})")
    wanted = {
        each.parent_columns
        for other in tables.values()
        for each in other.references
        if each.parent == table.key
    }
    parts += [
        f"UNIQUE ({names(table, columns)})"
        for columns in sorted(wanted)
        if all(columns) and columns != table.primary_key and set(columns) <= set(table.by_key)
    ]
    for reference in references:
        parent = tables[reference.parent]
        parts.append(
            f"FOREIGN KEY ({names(table, reference.columns)}) REFERENCES {quoted(parent.name)} "
            f"({names(parent, reference.parent_columns)})"
        )
    return f"CREATE TABLE {quoted(table.name)} ({', '.join(parts)})"


@cache
def _type(declared: str) -> str:
    """A declared type as it can be written in a statement: as it is, or quoted where it would be more."""
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            connection.execute(f"CREATE TABLE t (c {declared})")
            found = connection.execute("SELECT type, \"notnull\", dflt_value, pk FROM pragma_table_info('t')")
            if found.fetchall() == [(declared, 0, None, 0)]:
                return declared
        except sqlite3.Error:
            pass
    return quoted(declared)
