"""How tables, columns and portable types are spelled on each server engine and in each profile."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.errors import BadInput
from harness.words import Dialect, Profile
from loaders.schema import Column, PortableType, Schema, Table

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

_MYSQL_TEXT_BYTES = 65_535 // 2
"""What `text` holds; half, since a UTF-16 file's text can grow in UTF-8.

https://dev.mysql.com/doc/refman/9.7/en/storage-requirements.html
"""

_PLAIN_POSTGRESQL_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_$]*")
"""https://www.postgresql.org/docs/current/sql-syntax-lexical.html#SQL-SYNTAX-IDENTIFIERS."""

_LONGEST_NAMES: Mapping[Dialect, tuple[int, Callable[[str], int], str]] = {
    Dialect.POSTGRESQL: (63, lambda name: len(name.encode()), "bytes"),
    Dialect.MYSQL: (64, len, "characters"),
}


_LAST_OF_BMP = "\uffff"
"""MySQL's names are utf8mb3. https://dev.mysql.com/doc/refman/9.7/en/identifiers.html."""


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
        names = {column.source.name: column.name for column in self.columns}
        return tuple(names[column] for column in columns)


def postgresql_name(name: str) -> str:
    """In lower case where that needs no quotes, reserved words included; else exactly as it is."""
    return name.lower() if _PLAIN_POSTGRESQL_NAME.fullmatch(name) else name


def server_tables(schema: Schema, dialect: Dialect, profile: Profile, path: Path) -> tuple[ServerTable, ...]:
    """Spell a schema for a server engine.

    Raises:
        BadInput: a name is too long for the engine, or two become one. `path` is for the message.
    """
    _check_names([table.name for table in schema.tables], dialect, f"{path}: tables")
    for table in schema.tables:
        _check_names([column.name for column in table.columns], dialect, f"{path}: columns of {table.name}")
    return tuple(
        ServerTable(
            table,
            _table_name(table.name, dialect),
            tuple(
                ServerColumn(
                    column, _column_name(column.name, dialect), _type(column, table, dialect, profile)
                )
                for column in table.columns
            ),
            PLACE if _needs_place(table, dialect, profile) else None,
        )
        for table in schema.tables
    )


def _table_name(name: str, dialect: Dialect) -> str:
    # As lower_case_table_names=1 stores it.
    return postgresql_name(name) if dialect is Dialect.POSTGRESQL else name.lower()


def _column_name(name: str, dialect: Dialect) -> str:
    return postgresql_name(name) if dialect is Dialect.POSTGRESQL else name


def _needs_place(table: Table, dialect: Dialect, profile: Profile) -> bool:
    hidden = {"rowid", PLACE} & {column.name.lower() for column in table.columns}
    wanted = dialect is Dialect.MYSQL and profile is Profile.FAITHFUL
    return wanted and table.has_rowid and table.rowid is None and not hidden


def _check_names(names: Sequence[str], dialect: Dialect, where: str) -> None:
    most, length, unit = _LONGEST_NAMES[dialect]
    seen: dict[str, str] = {}
    for name in names:
        # MySQL tells neither tables nor columns apart by case; PostgreSQL folds no more than SQLite does.
        spelled = _table_name(name, dialect)
        if length(spelled) > most:
            raise BadInput(f"{where}: {name!r} is longer than {dialect}'s {most} {unit}; rename it")
        if dialect is Dialect.MYSQL and max(name, default="") > _LAST_OF_BMP:
            raise BadInput(f"{where}: {name!r} has characters that {dialect} takes in values only; rename it")
        if spelled in seen:
            raise BadInput(f"{where}: {seen[spelled]!r} and {name!r} are one name on {dialect}; rename one")
        seen[spelled] = name


def _type(column: Column, table: Table, dialect: Dialect, profile: Profile) -> str:
    name = TYPES[dialect][profile][column.type]
    if dialect is not Dialect.MYSQL:
        return name
    if name == "datetime" and column.fractions:
        return "datetime(6)"
    if name == "text" and column.longest <= MYSQL_KEY_CHARACTERS and _is_keyed(column.name, table):
        # MySQL indexes a text only by a prefix, and no foreign key can refer to that.
        return f"varchar({max(column.longest, 1)})"
    return "longtext" if name == "text" and column.longest > _MYSQL_TEXT_BYTES else name


def _is_keyed(column: str, table: Table) -> bool:
    keys = [table.primary_key, *table.unique, *table.indexes, *(key.columns for key in table.foreign_keys)]
    return any(column in key for key in keys)
