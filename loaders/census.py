"""What is really stored in a SQLite file, and the portable schema that follows from it.

SQLite does not hold a column to its declared type, servers do. So the types come from the data, keys are
kept only where the data satisfy them, and each departure from the declarations is noted.
"""

import sqlite3
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from dialects.errors import BadInput
from dialects.identifiers import quoted
from dialects.schema import Column, ForeignKey, PortableType, Schema, Table
from loaders.column_statistics import figures
from loaders.declarations import DeclaredColumn, DeclaredTable, declarations
from loaders.escaping import escaped_value
from loaders.portable import Stored, Unrepresentable, portable_type
from loaders.references import kept_references
from loaders.refusals import refuse_utf16
from loaders.sharing import each
from loaders.source import opened, place, text_of


def census(path: Path, *, jobs: int = 1, escape: bool = False) -> Schema:
    """Read a SQLite file through and say what it holds.

    Args:
        path: the file.
        jobs: threads that read it. SQLite computes the figures, and Python's lock does not hold it up.
        escape: whether columns that no type holds become texts as `loaders.escaping` writes them.

    Raises:
        BadInput: the file can't be read, has no table, or a column holds values that no type of a server
            can hold together.
    """
    with ExitStack() as stack:
        connections = [stack.enter_context(opened(path)) for _ in range(jobs)]
        [connection, *_] = connections
        declared = declarations(connection)
        if not declared.tables:
            raise BadInput(f"{path}: has no table; give a SQLite file with tables")
        notes = declared.notes
        counts = [_rows(connection, table) for table in declared.tables]
        # Each by columns: most rows are often those of one table.
        parts = [
            (number, replace(table, columns=table.columns[start::jobs]))
            for number, table in enumerate(declared.tables)
            for start in range(min(jobs, len(table.columns)))
        ]
        stored: list[dict[str, Stored]] = [{} for _ in declared.tables]
        weights = [counts[number] * len(part.columns) for number, part in parts]
        for (number, _), found in zip(parts, each(connections, _figures, parts, weights), strict=True):
            stored[number] |= found
        bare = [
            _table(connection, path, table, (rows, of_columns), notes, escape=escape)
            for table, rows, of_columns in zip(declared.tables, counts, stored, strict=True)
        ]
        references = [
            (bare, table, declaration) for table, declaration in zip(bare, declared.tables, strict=True)
        ]
        weights = [rows * len(table.references) for rows, table in zip(counts, declared.tables, strict=True)]
        tables = []
        for table, (kept, left_out) in zip(bare, each(connections, _kept, references, weights), strict=True):
            tables.append(replace(table, foreign_keys=tuple(kept)))
            notes += left_out
    return Schema(tuple(tables), tuple(notes), escape)


def _figures(connection: sqlite3.Connection, part: tuple[int, DeclaredTable]) -> dict[str, Stored]:
    return figures(connection, part[1])


def _kept(
    connection: sqlite3.Connection, part: tuple[Sequence[Table], Table, DeclaredTable]
) -> tuple[list[ForeignKey], list[str]]:
    tables, table, declaration = part
    return kept_references(connection, table, declaration.references, tables)


def _rows(connection: sqlite3.Connection, table: DeclaredTable) -> int:
    [rows] = connection.execute(f"SELECT count(*) FROM {quoted(table.name)}").fetchone()  # noqa: S608
    return int(rows)


def _table(  # noqa: PLR0913 - as _column
    connection: sqlite3.Connection,
    path: Path,
    table: DeclaredTable,
    held: tuple[int, dict[str, Stored]],
    notes: list[str],
    *,
    escape: bool,
) -> Table:
    """The table without its foreign keys, which need the other tables; `held` are its rows and columns."""
    rows, stored = held
    columns = [
        _column(connection, path, table.name, column, stored[column.name], rows, notes, escape=escape)
        for column in table.columns
    ]
    if escape:
        columns = [_escaped(connection, table.name, column, notes) for column in columns]
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
    *,
    escape: bool,
) -> Column:
    chosen: PortableType
    try:
        chosen, holds = portable_type(column.declared, found)
    except Unrepresentable as error:
        if escape:
            notes.append(f"{table}.{column.name}, declared {column.declared}, is text: it holds {error}")
            return _measured(column, found, rows, PortableType.TEXT)
        where = place(connection, table, column.name, error.predicate)
        raise BadInput(f"{path}: {where}: {error}; make the column's values alike") from error
    if holds:
        notes.append(f"{table}.{column.name}, declared {column.declared}, is {chosen}: it holds {holds}")
    if chosen is PortableType.DATE and found.slashes:
        notes.append(f"{table}.{column.name} has days written with slashes: a date column has not")
    return _measured(column, found, rows, chosen)


def _measured(column: DeclaredColumn, found: Stored, rows: int, chosen: PortableType) -> Column:
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


def _escaped(connection: sqlite3.Connection, table: str, column: Column, notes: list[str]) -> Column:
    """The column as it is written where values of it have to be escaped."""
    if column.type is not PortableType.TEXT:
        return column
    name = quoted(column.name)
    written = escaped_value(name, among_others=column.mixed)
    count, longest = connection.execute(
        "SELECT sum(w IS NOT s), max(length(CAST(w AS BLOB))) FROM"  # noqa: S608 - quoted
        f" (SELECT {written} AS w, {text_of(name)} AS s FROM {quoted(table)} NOT INDEXED)"
    ).fetchone()
    if not count:
        return replace(column, longest=max(column.longest, longest or 0))
    notes.append(f"{table}.{column.name} has {count} values that are escaped")
    return replace(column, escaped=True, longest=longest)


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
