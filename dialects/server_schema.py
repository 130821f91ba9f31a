"""The names and types of tables and columns for each server engine and profile."""

import math
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path

from dialects import identifiers
from dialects.by_dialect import ByDialect
from dialects.enums import Dialect, Profile
from dialects.schema import Column, PortableType, Schema, Table
from dialects.targets import TARGETS

TYPES = ByDialect[Mapping[Profile, Mapping[PortableType, str]]]("dialects.{}", "TYPES")

MYSQL_KEY_CHARACTERS = 768
"""InnoDB indexes 3,072 bytes, four to a character.

https://dev.mysql.com/doc/refman/9.7/en/innodb-limits.html
"""

LARGEST_REAL = 3.4028235677973366e38
"""The least double that rounds to infinity in single precision."""

_LONGEST_NUMBER = 24
"""Length of a double printed with its shortest digits, in characters."""

_MYSQL_CHARACTER_BYTES = 4
_MYSQL_ROW_BYTES = 65_535
"""Limit of all columns together; a text or blob counts only as a pointer.

https://dev.mysql.com/doc/refman/9.7/en/column-count-limit.html
"""
_MYSQL_COLUMN_BYTES = 16
"""Upper bound for any column, without the characters of a varchar."""

_MYSQL_TEXT_BYTES = 65_535 // 2
"""Half the limit of `text`, since a text of a UTF-16 file can grow in UTF-8.

https://dev.mysql.com/doc/refman/9.7/en/storage-requirements.html
"""


@dataclass(frozen=True)
class ServerColumn:
    """A column on a server."""

    source: Column
    name: str
    type: str


PLACE = "sqlite_rowid"
"""An invisible column of MySQL tables in profile `faithful`: the rowid, if no other column is it.

PostgreSQL keeps the order in which rows were loaded, in `ctid`.
https://dev.mysql.com/doc/refman/9.7/en/invisible-columns.html
"""


@dataclass(frozen=True)
class ServerTable:
    """A table on a server."""

    source: Table
    name: str
    columns: tuple[ServerColumn, ...]
    place: str | None = None
    """The name of the additional column for the rowid, if there is one."""

    @cached_property
    def keys(self) -> tuple[frozenset[str], ...]:
        """The sets of columns without NULL that are unique together, by their names on the server."""
        return tuple(
            frozenset(self.spelled(key))
            for key in (self.source.primary_key, *self.source.unique)
            if key and not any(self.source.column(column).nulls for column in key)
        )

    def spelled(self, columns: Iterable[str]) -> tuple[str, ...]:
        """Return the names on the server of columns given by their names in SQLite."""
        spelling = {column.source.name: column.name for column in self.columns}
        return tuple(spelling[column] for column in columns)


def types(*, real: str, exact: str, blob: str, datetime: str) -> Mapping[Profile, Mapping[PortableType, str]]:
    """Return an engine's types: a REAL is `real` in official and `exact`, a double, in faithful."""
    same = {PortableType.INTEGER: "bigint", PortableType.TEXT: "text", PortableType.BLOB: blob}
    dates = {PortableType.DATE: "date", PortableType.DATETIME: datetime}
    return {
        Profile.OFFICIAL: {**same, **dates, PortableType.REAL: real},
        Profile.FAITHFUL: {**same, **dict.fromkeys(dates, "text"), PortableType.REAL: exact},
    }


def server_tables(schema: Schema, dialect: Dialect, profile: Profile, path: Path) -> tuple[ServerTable, ...]:
    """Return the tables of a schema with a server engine's names and types.

    Raises:
        BadInput: a name is too long for the engine, or two names become equal. `path` is for the message.
    """
    identifiers.check_tables([table.name for table in schema.tables], dialect, f"{path}: tables")
    for table in schema.tables:
        columns = [column.name for column in table.columns]
        identifiers.check_columns(columns, dialect, f"{path}: columns of {table.name}")
    return tuple(
        _server_table(_widened(table, dialect) if schema.escapes else table, dialect, profile, schema.escapes)
        for table in schema.tables
    )


def escaped_columns(schema: Schema, dialect: Dialect) -> list[tuple[str, str]]:
    """Return the columns whose values a load with escaping changes on an engine, each with its table's name.

    A query that reads another column returns what it would return without escaping.
    """
    return [
        (table.name, column.name)
        for table in schema.tables
        for column, widened in zip(table.columns, _widened(table, dialect).columns, strict=True)
        if schema.escapes and (column.escaped or column.untyped or widened is not column)
    ]


def _widened(table: Table, dialect: Dialect) -> Table:
    """Change columns with infinite numbers to texts for MySQL, which has no infinity."""
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
    """Return the columns that become varchar on MySQL, which indexes only prefixes of texts.

    If a row has no room for all, columns of plain indexes are left out first.
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
