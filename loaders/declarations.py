"""What a SQLite file says about its tables, read through its PRAGMAs and never by parsing SQL.

Left out, each with a note: views, virtual tables with their shadow tables, and indexes that are partial or
over expressions. Translations put the query of a view in its place. DEFAULT, CHECK and COLLATE clauses do not
matter to a database that is only read, or have no counterpart; SQLite's own tables (`sqlite_sequence`,
`sqlite_stat1`) are no data.
"""

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import groupby

from dialects.identifiers import quoted
from dialects.schema import ForeignKey, View


@dataclass(frozen=True)
class DeclaredColumn:
    """One column, generated ones included."""

    name: str
    declared: str
    not_null: bool
    collation: str = "BINARY"


@dataclass(frozen=True)
class DeclaredTable:
    """One ordinary table; keys spell its columns as it does itself."""

    name: str
    columns: tuple[DeclaredColumn, ...]
    primary_key: tuple[str, ...]
    unique: tuple[tuple[str, ...], ...]
    indexes: tuple[tuple[str, ...], ...]
    references: tuple[ForeignKey, ...]
    """As declared: `parent_columns` is empty where the parent's primary key is meant."""
    has_rowid: bool = True
    has_key_index: bool = False
    """See `dialects.schema.Table.has_key_index`."""


@dataclass
class Declarations:
    """All ordinary tables in the order of their creation, and what was left out."""

    tables: list[DeclaredTable] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    views: list[View] = field(default_factory=list)


def declarations(connection: sqlite3.Connection) -> Declarations:
    """Read every declaration of a file opened by `loaders.source.opened`."""
    found = Declarations()
    # Kinds: https://sqlite.org/pragma.html#pragma_table_list. A shadow table is the inside of a virtual one.
    entries = connection.execute(
        r"SELECT list.type, name, wr, strict, sql FROM sqlite_master AS entry"
        r" JOIN pragma_table_list AS list USING (name)"
        r" WHERE schema = 'main' AND entry.type IN ('table', 'view') AND name NOT LIKE 'sqlite\_%' ESCAPE '\'"
        r" ORDER BY entry.rowid"
    ).fetchall()
    for kind, name, without_rowid, strict, sql in entries:
        if kind == "view":
            found.views.append(View(name, sql))
            found.notes.append(f"view {name} is not loaded: only tables are")
        elif kind == "virtual":
            found.notes.append(f"virtual table {name} is not loaded: only ordinary tables are")
        elif kind == "table":
            table = _table(connection, name, found.notes, has_rowid=not without_rowid)
            found.tables.append(_without_any(table) if strict else table)
    return found


def _without_any(table: DeclaredTable) -> DeclaredTable:
    """A STRICT table, in which ANY says no more than no type. https://sqlite.org/stricttables.html."""
    columns = [
        replace(column, declared="") if column.declared.upper() == "ANY" else column
        for column in table.columns
    ]
    return replace(table, columns=tuple(columns))


def _table(connection: sqlite3.Connection, name: str, notes: list[str], *, has_rowid: bool) -> DeclaredTable:
    rows = connection.execute(
        'SELECT name, type, "notnull", pk FROM pragma_table_xinfo(?)', (name,)
    ).fetchall()
    unique, indexes = _indexes(connection, name, notes)
    return DeclaredTable(
        name=name,
        columns=tuple(
            DeclaredColumn(column, declared, bool(not_null), _collation(connection, name, column))
            for column, declared, not_null, _ in rows
        ),
        primary_key=tuple(row[0] for row in sorted(rows, key=lambda row: int(row[3])) if row[3]),
        unique=_without_repeats(unique),
        indexes=_without_repeats(indexes),
        references=_references(connection, name, [row[0] for row in rows]),
        has_rowid=has_rowid,
        has_key_index=connection.execute(
            "SELECT count(*) FROM pragma_index_list(?) WHERE origin = 'pk'", (name,)
        ).fetchone()
        != (0,),
    )


def _collation(connection: sqlite3.Connection, table: str, column: str) -> str:
    """What compares a column's texts: no PRAGMA says it, but the code of a comparison names it.

    https://sqlite.org/opcode.html#Eq
    """
    code = connection.execute(f"EXPLAIN SELECT {quoted(column)} = 'x' FROM {quoted(table)} NOT INDEXED")  # noqa: S608
    operands = [row[5] for row in code if row[1] in {"Eq", "Ne"} and row[5]]
    return str(operands[0]).split("-")[0] if operands else "BINARY"


def _indexes(
    connection: sqlite3.Connection, table: str, notes: list[str]
) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    unique: list[tuple[str, ...]] = []
    indexes: list[tuple[str, ...]] = []
    # The latest index comes first: https://sqlite.org/pragma.html#pragma_index_list
    for name, is_unique, origin, partial in connection.execute(
        'SELECT name, "unique", origin, partial FROM pragma_index_list(?) ORDER BY seq DESC', (table,)
    ):
        columns = tuple(
            column
            for (column,) in connection.execute(
                "SELECT name FROM pragma_index_xinfo(?) WHERE key ORDER BY seqno", (name,)
            )
        )
        if origin == "pk":
            continue
        if partial or None in columns:
            kind = "partial" if partial else "over an expression"
            notes.append(f"index {name} of table {table} is left out: it is {kind}")
        else:
            (unique if is_unique else indexes).append(columns)
    return unique, indexes


def _references(connection: sqlite3.Connection, table: str, columns: list[str]) -> tuple[ForeignKey, ...]:
    spelled = {column.lower(): column for column in columns}
    rows = connection.execute(
        'SELECT id, "table", "from", "to" FROM pragma_foreign_key_list(?) ORDER BY id DESC, seq', (table,)
    )
    references = []
    for _, group in groupby(rows, key=lambda row: row[0]):
        parts = list(group)
        own = tuple(spelled[part[2].lower()] for part in parts)
        references.append(
            ForeignKey(own, parts[0][1], tuple(part[3] for part in parts if part[3] is not None))
        )
    return tuple(dict.fromkeys(references))


def _without_repeats(keys: Iterable[tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    return tuple(dict.fromkeys(keys))
