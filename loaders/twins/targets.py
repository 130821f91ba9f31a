"""What references refer to: found, made unique, and written into the statement that creates a table."""

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import cache

from dialects.identifiers import quoted
from loaders.twins.shape import Reference, Table, TableName


def with_targets(tables: tuple[Table, ...]) -> tuple[Table, ...]:
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
                references.append(Reference(reference.columns, reference.parent, tuple(targets)))
        create = table.create or _create(table, references, by_key)
        found.append(replace(table, create=create, references=tuple(references)))
    wanted = {(each.parent, each.parent_columns) for table in found for each in table.references}
    return tuple(_with_unique(table, wanted) for table in found)


def _with_unique(table: Table, wanted: set[tuple[TableName, tuple[str, ...]]]) -> Table:
    """The table with what others refer to among its keys."""
    more = sorted(columns for parent, columns in wanted if parent == table.key and columns not in table.keys)
    if not more:
        return table
    return replace(table, unique=(*table.unique, *more))


def _create(table: Table, references: Sequence[Reference], tables: Mapping[TableName, Table]) -> str:
    def names(of: Table, columns: Sequence[str]) -> str:
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
