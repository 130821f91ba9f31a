"""Keys and indexes, added once the rows are there; what a server refuses is left out and noted.

The rows satisfy every key in SQLite, yet not always on a server: two texts that MySQL's default collation
calls equal, two doubles that round to one single, a value too long for an index. No row is lost for a key.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from dialects.schema import ForeignKey
from dialects.server_schema import ServerTable


class KeySyntax(Protocol):
    """How an engine writes what the keys stand on."""

    def table(self, table: ServerTable) -> str:
        """The table's full name."""
        ...

    def columns(self, table: ServerTable, columns: Sequence[str], *, whole: bool) -> str:
        """A list of columns, given by SQLite's names; `whole` where a prefix of a value will not do."""
        ...

    def index(self, table: str, columns: str) -> str:
        """The statement that adds an ordinary index."""
        ...


Attempt = Callable[[str], str | None]
"""Runs a statement and returns None, or undoes it and returns why the server refused it."""


def add_keys(
    table: ServerTable, syntax: KeySyntax, attempt: Attempt, *, primary_key: bool = True
) -> list[str]:
    """Add primary key, unique keys and indexes; an ordinary index stands in for a key that is refused.

    Args:
        table: the table, filled.
        syntax: the engine's.
        attempt: runs a statement.
        primary_key: whether the primary key is still to be added.

    Returns:
        A note on each that is left out.
    """
    source, name, notes = table.source, syntax.table(table), []
    wanted = (
        [("primary key", "PRIMARY KEY", source.primary_key)] if primary_key and source.primary_key else []
    )
    wanted += [("unique key", "UNIQUE", columns) for columns in source.unique]
    indexes = list(source.indexes)
    for kind, words, columns in wanted:
        whole = syntax.columns(table, columns, whole=True)
        if refused := attempt(f"ALTER TABLE {name} ADD {words} {whole}"):
            notes.append(f"{kind} of {_named(table, columns)} is an ordinary index: {refused}")
            indexes.append(columns)
    for columns in indexes:
        part = syntax.columns(table, columns, whole=False)
        if refused := attempt(syntax.index(name, part)):
            notes.append(f"index of {_named(table, columns)} is left out: {refused}")
    return notes


def add_foreign_keys(
    table: ServerTable, tables: Sequence[ServerTable], syntax: KeySyntax, attempt: Attempt
) -> list[str]:
    """Add the foreign keys of one table, once the keys of all tables are there.

    Returns:
        A note on each that is left out.
    """
    name = syntax.table(table)
    clauses = {
        f"{_named(table, reference.columns)} to {reference.parent}": _clause(table, tables, reference, syntax)
        for reference in table.source.foreign_keys
    }
    # At once they cost little more than one alone.
    if not clauses or attempt(f"ALTER TABLE {name} {', '.join(clauses.values())}") is None:
        return []
    refusals = {names: attempt(f"ALTER TABLE {name} {clause}") for names, clause in clauses.items()}
    return [f"foreign key of {names} is left out: {why}" for names, why in refusals.items() if why]


def _clause(
    table: ServerTable, tables: Sequence[ServerTable], reference: ForeignKey, syntax: KeySyntax
) -> str:
    parent = next(other for other in tables if other.source.name == reference.parent)
    own = syntax.columns(table, reference.columns, whole=True)
    there = syntax.columns(parent, reference.parent_columns, whole=True)
    return f"ADD FOREIGN KEY {own} REFERENCES {syntax.table(parent)} {there}"


def _named(table: ServerTable, columns: Sequence[str]) -> str:
    return f"{table.source.name} ({', '.join(columns)})"
