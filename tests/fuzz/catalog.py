"""What the grammar knows of a database: its tables, and of each column what its values are good for."""

import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from enum import StrEnum

from dialects import schema as portable
from dialects.identifiers import quoted
from dialects.schema import PortableType
from loaders.file_census import census
from loaders.namespace import Database


class Kind(StrEnum):
    """What an expression mostly is; any of them can be NULL, or something else after all."""

    INTEGER = "integer"
    REAL = "real"
    TEXT = "text"
    DATE = "date"
    """A text that mostly is a date or a moment."""
    JSON = "json"
    """A text that mostly is JSON."""
    BLOB = "blob"
    CONDITION = "condition"
    """1, 0 or NULL."""


NUMBERS = (Kind.INTEGER, Kind.REAL)
TEXTS = (Kind.TEXT, Kind.DATE)


@dataclass(frozen=True)
class Column:
    """A column of a table, or one that a subquery puts out."""

    name: str
    kind: Kind
    values: tuple[object, ...] = ()
    """Some of the values other than NULL."""
    unique: bool = False
    exact: bool = False
    """Whether its values, as numbers, have sums that are exact in any order."""
    folded: bool = False
    """Whether texts that differ in case are equal, so that one of a group stands for all."""
    target: tuple[str, str] | None = None
    """The table and column that it refers to."""


@dataclass(frozen=True)
class Table:
    """A table; `key` is unique, or empty. How many rows a query in its place has is a guess."""

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()
    rows: int = 50


@dataclass(frozen=True)
class Catalog:
    """A database with what generates queries over it, and with what translates them."""

    database: Database
    schema: portable.Schema
    tables: tuple[Table, ...]


_KINDS = {
    PortableType.INTEGER: Kind.INTEGER,
    PortableType.REAL: Kind.REAL,
    PortableType.TEXT: Kind.TEXT,
    PortableType.BLOB: Kind.BLOB,
    PortableType.DATE: Kind.DATE,
    PortableType.DATETIME: Kind.DATE,
}
_STEPS = 2**12
_MOST = 2**24
_VALUES = 24
_LONGEST = 200
"""Of a value that becomes a literal, in characters."""
_DATES_ENOUGH = 0.5


def catalog(database: Database) -> Catalog:
    """Read what a database holds."""
    found = census(database.sqlite_path)
    with closing(sqlite3.connect(database.sqlite_path)) as connection:
        tables = tuple(
            Table(
                table.name,
                tuple(_column(connection, table, column) for column in table.columns),
                table.primary_key,
                table.rows,
            )
            for table in found.tables
        )
    return Catalog(database, found, tables)


def _column(connection: sqlite3.Connection, table: portable.Table, column: portable.Column) -> Column:
    name = quoted(column.name)
    values, numbers = zip(
        *connection.execute(
            f"SELECT {name}, CASE typeof({name}) WHEN 'integer' THEN {name} ELSE CAST({name} AS REAL) END"
            f" FROM {quoted(table.name)} WHERE {name} NOT NULL UNION ALL SELECT NULL, NULL"
        ),
        strict=True,
    )
    values, numbers = values[:-1], numbers[:-1]
    different = tuple(dict.fromkeys(values))
    short = tuple(value for value in different if not isinstance(value, str) or len(value) <= _LONGEST)
    targets = {
        key.columns[0]: (key.parent, key.parent_columns[0])
        for key in table.foreign_keys
        if len(key.columns) == 1
    }
    return Column(
        column.name,
        _kind(column, values),
        short[:_VALUES],
        unique=table.rows > 0 and len(different) == table.rows,
        exact=bool(numbers) and all(_is_exact(number) for number in numbers),
        folded=any(
            "COLLATE NOCASE" in line and re.match(rf"\s*{column.name}\b", line)
            for (sql,) in connection.execute("SELECT sql FROM sqlite_master WHERE name = ?", (table.name,))
            for line in sql.splitlines()
        ),
        target=targets.get(column.name),
    )


def _kind(column: portable.Column, values: Sequence[object]) -> Kind:
    if column.type is PortableType.TEXT and values:
        if sum(str(value).startswith(("{", "[")) for value in values) > len(values) * _DATES_ENOUGH:
            return Kind.JSON
        if sum(bool(re.match(r"\d{4}-", str(value))) for value in values) > len(values) * _DATES_ENOUGH:
            return Kind.DATE
    return _KINDS[column.type]


def _is_exact(value: object) -> bool:
    return isinstance(value, int | float) and abs(value) <= _MOST and float(value * _STEPS).is_integer()
