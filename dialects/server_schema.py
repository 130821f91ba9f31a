"""How tables, columns and portable types are spelled on each server engine and in each profile."""

import math
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from dialects import identifiers
from dialects.enums import Dialect, Profile
from dialects.schema import Column, PortableType, Schema, Table
from dialects.targets import TARGETS

_SAME = {PortableType.INTEGER: "bigint", PortableType.TEXT: "text"}

TYPES: Mapping[Dialect, Mapping[Profile, Mapping[PortableType, str]]] = {
    Dialect.POSTGRESQL: {
        Profile.OFFICIAL: _SAME
        | {
            PortableType.REAL: "real",
            PortableType.BLOB: "bytea",
            PortableType.DATE: "date",
            PortableType.DATETIME: "timestamptz",
        },
        Profile.FAITHFUL: _SAME
        | {
            PortableType.REAL: "double precision",
            PortableType.BLOB: "bytea",
            PortableType.DATE: "text",
            PortableType.DATETIME: "text",
        },
    },
    Dialect.MYSQL: {
        Profile.OFFICIAL: _SAME
        | {
            PortableType.REAL: "double",
            PortableType.BLOB: "longblob",
            PortableType.DATE: "date",
            PortableType.DATETIME: "datetime",
        },
        Profile.FAITHFUL: _SAME
        | {
            PortableType.REAL: "double",
            PortableType.BLOB: "longblob",
            PortableType.DATE: "text",
            PortableType.DATETIME: "text",
        },
    },
}

MYSQL_COLLATIONS: Mapping[Profile, str] = {
    Profile.OFFICIAL: "utf8mb4_0900_ai_ci",
    Profile.FAITHFUL: "utf8mb4_0900_bin",
}
"""MySQL's default, and the one that compares as SQLite does.

https://dev.mysql.com/doc/refman/9.7/en/charset-unicode-sets.html
"""

POSTGRESQL_COLLATION = "C"
"""Of both profiles: the same order of text on every operating system, by code point as in SQLite."""

MYSQL_KEY_CHARACTERS = 768
"""InnoDB indexes 3,072 bytes, four to a character.

https://dev.mysql.com/doc/refman/9.7/en/innodb-limits.html
"""

LARGEST_REAL = 3.4028235677973366e38
"""The least double that rounds to infinity as an IEEE 754 single."""

_LONGEST_NUMBER = 24
"""Characters of a double's shortest text."""

_MYSQL_CHARACTER_BYTES = 4
_MYSQL_ROW_BYTES = 65_535
"""Of all columns together, of texts and blobs only what points to them.

https://dev.mysql.com/doc/refman/9.7/en/column-count-limit.html
"""
_MYSQL_COLUMN_BYTES = 16
"""What any column takes apart from the characters of a varchar, at most."""

_MYSQL_TEXT_BYTES = 65_535 // 2
"""What `text` holds; half, since a UTF-16 file's text can grow in UTF-8.

https://dev.mysql.com/doc/refman/9.7/en/storage-requirements.html
"""


@dataclass(frozen=True)
class ServerColumn:
    """A column as a server gets it."""

    source: Column
    name: str
    type: str


PLACE = "sqlite_rowid"
"""An invisible column of MySQL tables in profile faithful: the rowid, where no column has it.

PostgreSQL keeps the order in which rows were loaded, and can tell it.
https://dev.mysql.com/doc/refman/9.7/en/invisible-columns.html
"""


@dataclass(frozen=True)
class ServerTable:
    """A table as a server gets it."""

    source: Table
    name: str
    columns: tuple[ServerColumn, ...]
    place: str | None = None
    """The name of the column that has the rowid besides."""

    def spelled(self, columns: Iterable[str]) -> tuple[str, ...]:
        """The server's names of columns given by SQLite's."""
        spelling = {column.source.name: column.name for column in self.columns}
        return tuple(spelling[column] for column in columns)


def server_tables(schema: Schema, dialect: Dialect, profile: Profile, path: Path) -> tuple[ServerTable, ...]:
    """Spell a schema for a server engine.

    Raises:
        BadInput: a name is too long for the engine, or two become one. `path` is for the message.
    """
    identifiers.check_tables([table.name for table in schema.tables], dialect, f"{path}: tables")
    for table in schema.tables:
        columns = [column.name for column in table.columns]
        identifiers.check_columns(columns, dialect, f"{path}: columns of {table.name}")
    return tuple(
        _server_table(_widened(table, dialect) if schema.escapes else table, dialect, profile, schema.escapes)
        for table in schema.tables
    )


def _widened(table: Table, dialect: Dialect) -> Table:
    """The table with its numbers as texts where MySQL, which has no infinite ones, could not hold them."""
    if TARGETS[dialect].holds_infinity:
        return table
    columns = [
        replace(column, type=PortableType.TEXT, mixed=True, longest=_LONGEST_NUMBER)
        if column.type is PortableType.REAL and math.inf in {-(column.least or 0), column.greatest}
        else column
        for column in table.columns
    ]
    return replace(table, columns=tuple(columns))


def _server_table(table: Table, dialect: Dialect, profile: Profile, escapes: bool) -> ServerTable:  # noqa: FBT001 - no flag: a wish
    types = TYPES[dialect][profile]
    exact = TYPES[dialect][Profile.FAITHFUL][PortableType.REAL]
    short = frozenset() if TARGETS[dialect].indexes_texts else _short_keys(table, types)
    columns = [
        ServerColumn(
            column,
            identifiers.column_name(column.name, dialect),
            _mysql_type(column, types[column.type], short)
            if not TARGETS[dialect].indexes_texts
            else exact
            if escapes and _is_huge(column)
            else types[column.type],
        )
        for column in table.columns
    ]
    place = PLACE if _needs_place(table, dialect, profile) else None
    return ServerTable(table, identifiers.table_name(table.name, dialect), tuple(columns), place)


def _is_huge(column: Column) -> bool:
    return (
        column.type is PortableType.REAL and max(-(column.least or 0), column.greatest or 0) >= LARGEST_REAL
    )


def _needs_place(table: Table, dialect: Dialect, profile: Profile) -> bool:
    hidden = {"rowid", PLACE} & {column.name.lower() for column in table.columns}
    wanted = TARGETS[dialect].row_number is None and profile is Profile.FAITHFUL
    return wanted and table.has_rowid and table.rowid is None and not hidden


def _short_keys(table: Table, types: Mapping[PortableType, str]) -> AbstractSet[str]:
    """The columns that MySQL gets as varchar: it indexes a text only by a prefix, and no key is of one.

    Where a row has no room for all of them, those of plain indexes are the ones to go without.
    """
    keys = [table.primary_key, *table.unique, *(key.columns for key in table.foreign_keys), *table.indexes]
    room = _MYSQL_ROW_BYTES - _MYSQL_COLUMN_BYTES * (len(table.columns) + 1)
    short = set()
    for name in dict.fromkeys(chain.from_iterable(keys)):
        column = table.column(name)
        if types[column.type] == "text" and column.longest <= MYSQL_KEY_CHARACTERS:
            room -= _MYSQL_CHARACTER_BYTES * column.longest
            if room >= 0:
                short.add(name)
    return short


def _mysql_type(column: Column, name: str, short: AbstractSet[str]) -> str:
    if name == "datetime" and column.fractions:
        return "datetime(6)"
    if column.name in short:
        return f"varchar({max(column.longest, 1)})"
    return "longtext" if name == "text" and column.longest > _MYSQL_TEXT_BYTES else name
