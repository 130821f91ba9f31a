"""What is really stored in a SQLite file, and the portable schema that follows from it.

SQLite does not hold a column to its declared type, servers do. So the types come from the data, keys are
kept only where the data satisfy them, and each departure from the declarations is noted.
"""

import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from dialects.errors import BadInput
from dialects.identifiers import quoted
from dialects.schema import Column, ForeignKey, PortableType, Schema, Table
from loaders.column_statistics import figures
from loaders.declarations import DeclaredColumn, DeclaredTable, declarations
from loaders.escaping import escaped_value
from loaders.portable import Stored, Unrepresentable, portable_type
from loaders.refusals import OPAQUE, UNREADABLE, refuse_utf16
from loaders.source import opened, place, rowid_name, text_of

_MOST_RUNS = 64


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
        [encoding] = connection.execute("PRAGMA encoding").fetchone()
        counts = [_rows(connection, table) for table in declared.tables]
        # Each by columns: most rows are often those of one table.
        parts = [
            (number, replace(table, columns=table.columns[start::jobs]))
            for number, table in enumerate(declared.tables)
            for start in range(min(jobs, len(table.columns)))
        ]
        stored: list[dict[str, Stored]] = [{} for _ in declared.tables]
        weights = [counts[number] * len(part.columns) for number, part in parts]
        for (number, _), found in zip(parts, _each(connections, _figures, parts, weights), strict=True):
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
        for table, (kept, left_out) in zip(bare, _each(connections, _kept, references, weights), strict=True):
            tables.append(replace(table, foreign_keys=tuple(kept)))
            notes += left_out
    return Schema(tuple(tables), tuple(notes), escape, tuple(declared.views), encoding)


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


def _rowids(connection: sqlite3.Connection, table: DeclaredTable, rows: int) -> tuple[tuple[int, int], ...]:
    """See `Table.rowids`. They are different integers."""
    name = rowid_name(column.name for column in table.columns)
    if not table.has_rowid or name is None:
        return ()
    least, greatest = (f"(SELECT {end}({name}) FROM {quoted(table.name)})" for end in ("min", "max"))  # noqa: S608
    if rows == 0 or connection.execute(f"SELECT {least}, {greatest}").fetchone() == (1, rows):
        return ((1, 1),)
    runs: list[tuple[int, int]] = []
    every = connection.execute(f"SELECT {name} FROM {quoted(table.name)} ORDER BY {name}")  # noqa: S608
    for row, (rowid,) in enumerate(every, 1):
        if not runs or rowid - row != runs[-1][1] - runs[-1][0]:
            if len(runs) == _MOST_RUNS:
                return ()
            runs.append((row, rowid))
    return tuple(runs)


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
        rowids=_rowids(connection, table, rows),
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
        raise BadInput(
            f"{path}: {where}: {error}; make the column's values alike, or load with --escape"
        ) from error
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
        digits=found.digits,
        fractions=found.fractions,
        mixed=len(found.classes) > 1,
        apart=found.apart,
        blobs=len(found.classes) > 1 and "blob" in found.classes,
        collation=column.collation,
    )


def _escaped(connection: sqlite3.Connection, table: str, column: Column, notes: list[str]) -> Column:
    """The column as it is written where values of it have to be escaped."""
    if column.type is not PortableType.TEXT:
        return column
    name = quoted(column.name)
    written = escaped_value(name, among_others=column.mixed)
    count, longest, opaque, unreadable = connection.execute(
        "SELECT sum(w IS NOT s), max(length(CAST(w AS BLOB))), max(o), max(u) FROM"  # noqa: S608 - quoted
        f" (SELECT {written} AS w, {text_of(name)} AS s, {OPAQUE.format(name)} AS o,"
        f" {UNREADABLE.format(name)} AS u FROM {quoted(table)} NOT INDEXED)"
    ).fetchone()
    if not count:
        return replace(column, longest=max(column.longest, longest or 0))
    notes.append(f"{table}.{column.name} has {count} values that are escaped")
    return replace(column, escaped=True, readable=not unreadable, opaque=bool(opaque), longest=longest)


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


_Part = TypeVar("_Part")
_Found = TypeVar("_Found")


def _each(
    connections: Sequence[sqlite3.Connection],
    do: Callable[[sqlite3.Connection, _Part], _Found],
    parts: Sequence[_Part],
    weights: Sequence[int],
) -> list[_Found]:
    """Do something for each part, on all connections at once, and return what comes in their order."""
    shares: list[list[int]] = [[] for _ in connections]
    loads = [0] * len(connections)
    for number in sorted(range(len(parts)), key=lambda number: -weights[number]):
        least = loads.index(min(loads))
        loads[least] += weights[number]
        shares[least].append(number)

    def work(connection: sqlite3.Connection, share: Sequence[int]) -> dict[int, _Found]:
        return {number: do(connection, parts[number]) for number in share}

    if len(connections) == 1:
        done = work(connections[0], shares[0])
        return [done[number] for number in range(len(parts))]
    with ThreadPoolExecutor(len(connections)) as pool:
        try:
            waiting = [pool.submit(work, *each) for each in zip(connections, shares, strict=True)]
            done = {number: found for some in waiting for number, found in some.result().items()}
        except BaseException:
            for connection in connections:
                connection.interrupt()
            raise
    return [done[number] for number in range(len(parts))]


def kept_references(
    connection: sqlite3.Connection, table: Table, declared: Sequence[ForeignKey], tables: Sequence[Table]
) -> tuple[list[ForeignKey], list[str]]:
    """Check which of the declared foreign keys of one table a server can enforce, given the rows.

    BIRD's data have dangling references; a load must neither fail on them nor drop their rows.

    Args:
        connection: the file's.
        table: the table that refers.
        declared: its foreign keys; names of parents may be spelled in any case, no parent columns stand
            for the parent's primary key.
        tables: all tables of the file.

    Returns:
        Those that name a unique key of the same types and that no row violates, and a note on each other.
    """
    kept, notes = [], []
    for reference in declared:
        resolved, trouble = _resolved(reference, table, tables)
        if resolved:
            parent = next(other for other in tables if other.name == resolved.parent)
            if dangling := _dangling(connection, table, parent, resolved):
                trouble = f"{dangling} rows have no parent"
        if resolved and not trouble:
            kept.append(resolved)
        else:
            names = f"{table.name} ({', '.join(reference.columns)}) to {reference.parent}"
            notes.append(f"foreign key of {names} is left out: {trouble}")
    return kept, notes


def _resolved(reference: ForeignKey, table: Table, tables: Sequence[Table]) -> tuple[ForeignKey | None, str]:
    parent = next((other for other in tables if other.name.lower() == reference.parent.lower()), None)
    if parent is None:
        return None, "there is no such table"
    spelled = {column.name.lower(): column.name for column in parent.columns}
    columns = tuple(spelled.get(name.lower(), "") for name in reference.parent_columns) or parent.primary_key
    if "" in columns or len(columns) != len(reference.columns):
        return None, "the parent has no such key"
    if not any(sorted(columns) == sorted(key) for key in (parent.primary_key, *parent.unique)):
        return None, "the parent's columns are not unique"
    types = [table.column(name).type for name in reference.columns]
    if types != [parent.column(name).type for name in columns]:
        return None, "the columns hold different types"
    if any(table.column(name).escaped for name in reference.columns) or any(
        parent.column(name).escaped for name in columns
    ):
        return None, "values are escaped"
    return ForeignKey(reference.columns, parent.name, columns), ""


def _dangling(connection: sqlite3.Connection, child: Table, parent: Table, reference: ForeignKey) -> int:
    """Rows whose reference is whole and leads nowhere. https://sqlite.org/foreignkeys.html#fk_composite."""
    own = [child.column(name) for name in reference.columns]
    there = [parent.column(name) for name in reference.parent_columns]
    if len(own) == 1 and not there[0].nulls and own[0].collation == there[0].collation == "BINARY":
        # Of one column SQLite looks into the parent's own key, in a third of the time or less.
        lost = f"{quoted(own[0].name)} NOT IN (SELECT {quoted(there[0].name)} FROM {quoted(parent.name)})"  # noqa: S608 - quoted
    else:
        # What only NOCASE takes for equal is not equal on a server; by its own collation an index finds it.
        pairs = [
            (f"parent.{quoted(theirs.name)}", f"child.{quoted(ours.name)}")
            for theirs, ours in zip(there, own, strict=True)
        ]
        whole = " AND ".join(f"{ours} IS NOT NULL" for _, ours in pairs)
        match = " AND ".join(
            f"{theirs} = {ours} AND {theirs} COLLATE BINARY = {ours}" for theirs, ours in pairs
        )
        lost = f"{whole} AND NOT EXISTS (SELECT 1 FROM {quoted(parent.name)} AS parent WHERE {match})"  # noqa: S608 - quoted
    [count] = connection.execute(
        f"SELECT count(*) FROM {quoted(child.name)} AS child WHERE {lost}"  # noqa: S608 - quoted
    ).fetchone()
    return int(count)
