"""Which of the declared foreign keys a server can enforce, given the rows.

BIRD's data have dangling references; a load must neither fail on them nor drop their rows.
"""

import sqlite3
from collections.abc import Sequence

from dialects.identifiers import quoted
from dialects.schema import ForeignKey, Table


def kept_references(
    connection: sqlite3.Connection, table: Table, declared: Sequence[ForeignKey], tables: Sequence[Table]
) -> tuple[list[ForeignKey], list[str]]:
    """Check the declared foreign keys of one table.

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
