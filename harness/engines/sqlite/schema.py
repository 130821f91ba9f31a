"""A SQLite file's tables: each statement as its author wrote it, from `sqlite_master`.

Names and keys are read through PRAGMAs, never from the statements.
"""

from collections.abc import Callable, Iterable, Sequence

from dialects.identifiers import quoted
from harness.engines.base import Row
from harness.engines.tables import ColumnText, TableText
from loaders.declarations import DeclaredTable
from loaders.namespace import Database


def version(run: Callable[[str], list[Row]]) -> str:
    """Major and minor version of the library."""
    [[text]] = run("SELECT sqlite_version()")
    return ".".join(str(text).split(".")[:2])


def tables(
    run: Callable[[str], list[Row]],
    database: Database,  # noqa: ARG001 - one file, one database
    declared: Sequence[DeclaredTable],
) -> list[TableText]:
    """The declared tables, in their order."""
    found = run("SELECT name, sql FROM sqlite_master WHERE type = 'table'")
    statements = {str(name): str(sql).rstrip() for name, sql in found}
    spelled = {table.name.lower(): table for table in declared}
    return [
        TableText(
            table.name,
            statements[table.name],
            tuple(ColumnText(column.name, column.declared) for column in table.columns),
            table.primary_key,
            tuple(_references(table, spelled)),
        )
        for table in declared
    ]


def _references(
    table: DeclaredTable, spelled: dict[str, DeclaredTable]
) -> Iterable[tuple[tuple[str, ...], str, tuple[str, ...]]]:
    for reference in table.references:
        parent = spelled.get(reference.parent.lower())
        if parent is not None:
            names = {column.name.lower(): column.name for column in parent.columns}
            there = tuple(names.get(name.lower(), name) for name in reference.parent_columns)
            yield reference.columns, parent.name, there or parent.primary_key


def first_rows(table: TableText, count: int) -> str:
    """The query for a table's first rows, by rowid."""
    columns = ", ".join(quoted(column.name) for column in table.columns)
    return f"SELECT {columns} FROM {quoted(table.name)} NOT INDEXED LIMIT {count}"  # noqa: S608 - quoted
