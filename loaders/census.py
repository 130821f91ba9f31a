"""What is really stored in a SQLite file, and the portable schema that follows from it.

SQLite does not hold a column to its declared type, servers do. So the types come from the data, keys are
kept only where the data satisfy them, and each departure from the declarations is noted.
"""

import sqlite3
from dataclasses import replace
from pathlib import Path

from harness.errors import BadInput
from loaders.declarations import DeclaredColumn, DeclaredTable, declarations
from loaders.figures import figures
from loaders.portable import Stored, Unrepresentable, portable_type
from loaders.references import kept_references
from loaders.refusals import refuse_utf16
from loaders.schema import Column, PortableType, Schema, Table
from loaders.source import opened, place, quoted


def census(path: Path) -> Schema:
    """Read a SQLite file through and say what it holds.

    Raises:
        BadInput: the file can't be read, has no table, or a column holds values that no type of a server
            can hold together.
    """
    with opened(path) as connection:
        declared = declarations(connection)
        if not declared.tables:
            raise BadInput(f"{path}: has no table; give a SQLite file with tables")
        notes = declared.notes
        bare = [_table(connection, path, table, notes) for table in declared.tables]
        tables = []
        for table, declaration in zip(bare, declared.tables, strict=True):
            kept, left_out = kept_references(connection, table, declaration.references, bare)
            tables.append(replace(table, foreign_keys=tuple(kept)))
            notes += left_out
    return Schema(tuple(tables), tuple(notes))


def _table(connection: sqlite3.Connection, path: Path, table: DeclaredTable, notes: list[str]) -> Table:
    """The table without its foreign keys, which need the other tables."""
    [rows] = connection.execute(f"SELECT count(*) FROM {quoted(table.name)}").fetchone()  # noqa: S608
    stored = figures(connection, table)
    columns = [
        _column(connection, path, table.name, column, stored[column.name], rows, notes)
        for column in table.columns
    ]
    primary_key, unique = _keys(table, stored, rows, notes)
    found = Table(
        table.name,
        tuple(columns),
        rows,
        primary_key,
        unique,
        table.indexes,
        has_rowid=table.has_rowid,
        has_key_index=table.has_key_index,
    )
    refuse_utf16(connection, path, found)
    return found


def _column(  # noqa: PLR0913, PLR0917 - what it is, what it holds, and where to say so
    connection: sqlite3.Connection,
    path: Path,
    table: str,
    column: DeclaredColumn,
    found: Stored,
    rows: int,
    notes: list[str],
) -> Column:
    try:
        chosen, holds = portable_type(column.declared, found)
    except Unrepresentable as error:
        where = place(connection, table, column.name, error.predicate)
        raise BadInput(f"{path}: {where}: {error}; make the column's values alike") from error
    if holds:
        notes.append(f"{table}.{column.name}, declared {column.declared}, is {chosen}: it holds {holds}")
    if chosen is PortableType.DATE and found.slashes:
        notes.append(f"{table}.{column.name} has days written with slashes: a date column has not")
    return Column(
        name=column.name,
        declared=column.declared,
        type=chosen,
        nullable=not column.not_null or found.values < rows,
        nulls=found.values < rows,
        longest=found.longest,
        least=found.least,
        greatest=found.greatest,
        slashes=chosen is PortableType.DATE and found.slashes,
        days=found.days and not found.slashes,
        moments=found.moments and not found.slashes,
        fractions=found.fractions,
        mixed=len(found.classes) > 1,
        collation=column.collation,
    )


def _keys(
    table: DeclaredTable, stored: dict[str, Stored], rows: int, notes: list[str]
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """The primary key and the unique keys. SQLite lets NULL into a primary key, servers don't.

    https://sqlite.org/lang_createtable.html#the_primary_key
    """
    if all(stored[name].values == rows for name in table.primary_key):
        return table.primary_key, table.unique
    notes.append(f"primary key of {table.name} is a unique key: it holds NULL")
    return (), (table.primary_key, *table.unique)
