"""Reads what a twin is made from out of a SQLite file.

The statements that create the tables are kept word for word, and of each column the share of NULL, the
extremes and a few of its values: a twin can repeat those values, and never a row.
"""

import re
import sqlite3
from pathlib import Path

from harness.errors import BadInput
from loaders.source import opened, quoted
from loaders.twins.shape import Column, Reference, Shape, Table, TableName
from loaders.twins.targets import with_targets

_COMPLETE = 30
"""A column with no more different values than this is known completely,"""
_REPEATED = 4
"""if it has each so many times on average."""
_FREQUENT = 12
_SPREAD = 12
_MOMENT = re.compile(r"\d{1,4}[-/:.]\d|\d+$")


def of_file(path: Path) -> Shape:
    """The tables of a SQLite file.

    Raises:
        BadInput: it is no complete SQLite file, or has virtual tables.
    """
    with opened(path) as connection:
        connection.text_factory = lambda text: text.decode("utf-8", "replace")
        listed = connection.execute(
            "SELECT type, name, sql, tbl_name FROM sqlite_master WHERE sql IS NOT NULL "
            "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid"
        ).fetchall()
        virtual = [name for kind, name, sql, _ in listed if kind == "table" and _is_virtual(sql)]
        if virtual:
            raise BadInput(f"{path}: table {virtual[0]} is virtual; twins are made of ordinary tables alone")
        indexes: dict[str, list[str]] = {}
        for kind, _, sql, table in listed:
            if kind == "index":
                indexes.setdefault(str(table).lower(), []).append(sql)
        tables = tuple(
            _stored_table(connection, name, sql, tuple(indexes.get(name.lower(), ())))
            for kind, name, sql, _ in listed
            if kind == "table"
        )
        views = tuple(sql for kind, _, sql, _ in listed if kind == "view")
    return Shape(path.stem, with_targets(tables, path), views)


def _is_virtual(sql: str) -> bool:
    return re.match(r"\s*CREATE\s+VIRTUAL\b", sql, re.IGNORECASE) is not None


def _stored_table(connection: sqlite3.Connection, name: str, sql: str, indexes: tuple[str, ...]) -> Table:
    info = connection.execute(
        'SELECT name, type, "notnull", pk FROM pragma_table_xinfo(?) WHERE hidden = 0 ORDER BY cid', [name]
    ).fetchall()
    [(rows,)] = connection.execute(f"SELECT COUNT(*) FROM {quoted(name)}")  # noqa: S608 - quoted
    columns, unique = [], _unique_indexes(connection, name)
    for column_name, declared, not_null, in_key in info:
        column, observed = _stored_column(
            connection, name, column_name, declared or "", nullable=not (not_null or in_key)
        )
        columns.append(column)
        if observed and not in_key:
            unique.append((column.key,))
    key = tuple(str(each[0]).lower() for each in sorted(info, key=lambda each: each[3]) if each[3])
    return Table(
        name,
        tuple(columns),
        rows,
        sql,
        key,
        tuple(dict.fromkeys(unique)),
        _declared(connection, name),
        indexes,
    )


def _stored_column(
    connection: sqlite3.Connection, table: str, name: str, declared: str, *, nullable: bool
) -> tuple[Column, bool]:
    """The column, and whether it seems to be a name of which there can be one only."""
    column, of = quoted(name), f"FROM {quoted(table)} WHERE {quoted(name)} IS NOT NULL"
    [(rows, filled, distinct, low, high)] = connection.execute(
        f"SELECT COUNT(*), COUNT({column}), COUNT(DISTINCT {column}), MIN({column}), MAX({column}) "  # noqa: S608
        f"FROM {quoted(table)}"
    )
    limit = _COMPLETE if distinct <= _COMPLETE else _FREQUENT
    samples = [
        value
        for value, _ in connection.execute(
            f"SELECT {column}, COUNT(*) AS n {of} GROUP BY 1 ORDER BY n DESC, 1 LIMIT {limit}"
        )
    ]
    if distinct > _COMPLETE and isinstance(high, str):
        step = max(1, distinct // _SPREAD)
        samples += [
            value
            for (value,) in connection.execute(
                f"SELECT v FROM (SELECT {column} AS v, ROW_NUMBER() OVER (ORDER BY {column}) AS n "  # noqa: S608
                f"{of} GROUP BY 1) WHERE n % {step} = 0 LIMIT {_SPREAD}"
            )
        ]
    kept = tuple(dict.fromkeys(samples))
    found = Column(
        name,
        declared,
        kept,
        complete=0 < distinct <= _COMPLETE and filled >= _REPEATED * distinct,
        nulls=1 - filled / rows if rows else 0.0,
        nullable=nullable and filled < rows,
        low=low,
        high=high,
    )
    names = bool(kept) and not found.numeric and not any(_MOMENT.match(str(value)) for value in kept)
    return found, names and distinct == filled and filled > 1


def _unique_indexes(connection: sqlite3.Connection, table: str) -> list[tuple[str, ...]]:
    found = []
    for (index,) in connection.execute(
        "SELECT name FROM pragma_index_list(?) "
        "WHERE \"unique\" AND NOT partial AND origin <> 'pk' ORDER BY seq",
        [table],
    ).fetchall():
        names = [name for (name,) in connection.execute("SELECT name FROM pragma_index_info(?)", [index])]
        if None not in names:
            found.append(tuple(str(name).lower() for name in names))
    return found


def _declared(connection: sqlite3.Connection, table: str) -> tuple[Reference, ...]:
    found: dict[int, list[tuple[str, str, str | None]]] = {}
    query = 'SELECT id, "from", "table", "to" FROM pragma_foreign_key_list(?) ORDER BY id, seq'
    for number, column, parent, target in connection.execute(query, [table]):
        found.setdefault(number, []).append((column, parent, target))
    return tuple(
        Reference(
            tuple(column.lower() for column, _, _ in parts),
            TableName(parts[0][1].lower()),
            tuple((target or "").lower() for _, _, target in parts),
        )
        for parts in found.values()
    )
