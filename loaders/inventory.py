"""Count all values in the columns of a SQLite file, and find everything that would stop a load.

`loaders.file_census` computes only what types and keys depend on. This module examines every value, and finds
all problems instead of the first.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from dialects.enums import Dialect, Profile
from dialects.errors import BadInput
from dialects.identifiers import quoted
from dialects.schema import PortableType
from loaders.file_census import ask, census, figures
from loaders.portable import DATE_FORMS, ColumnStatistics, Unrepresentable, portable_type
from loaders.source import (
    PLACES,
    DeclaredColumn,
    DeclaredTable,
    Refusal,
    declarations,
    opened,
    place,
    refusals,
)

CLASSES = ("null", "integer", "real", "text", "blob")
"""The storage classes, as `typeof` names them. https://sqlite.org/datatype3.html"""

Range = tuple[Any, Any]
"""The least and the greatest value."""


@dataclass(frozen=True)
class Stop:
    """Values that stop a load."""

    on: Sequence[tuple[Dialect, Profile]]
    """The engines and profiles that cannot store them."""
    what: str
    values: int
    """Number of such values in the column."""
    where: str
    """Table, column and row of the first one."""


@dataclass(frozen=True)
class ColumnInventory:
    """The contents of one column."""

    table: str
    column: str
    declared: str
    type: PortableType | None
    """The type it would get; None if no type fits all its values."""
    classes: Mapping[str, int]
    """Number of values of each storage class that occurs."""
    integers: Range | None
    reals: Range | None
    characters: Range | None
    """Length of its texts."""
    text_bytes: Range | None
    """Length of its texts in the file's encoding."""
    blob_bytes: Range | None
    with_nul: int
    """Number of texts with a NUL character."""
    not_text: int
    """Number of texts with bytes that are invalid in the file's encoding."""
    dates: Mapping[str, int]
    """Number of texts in each of `loaders.portable.DATE_FORMS` that occurs."""
    stops: Sequence[Stop]


@dataclass(frozen=True)
class TableInventory:
    """One ordinary table."""

    name: str
    rows: int
    columns: Sequence[ColumnInventory]


@dataclass(frozen=True)
class Inventory:
    """One file."""

    path: Path
    encoding: str
    """Encoding of its texts: UTF-8, UTF-16le or UTF-16be."""
    tables: Sequence[TableInventory]
    notes: Sequence[str]
    """Declarations that a load could not keep, if nothing stops it."""


_NOT_ASCII = "({0} GLOB '*[^' || char(1) || '-' || char(127) || ']*' OR instr({0}, char(0)))"
"""A condition on a text: only if it holds, a slow Python function must examine the text."""

_ASKED = (
    *(f"count(CASE typeof({{0}}) WHEN '{name}' THEN 1 END)" for name in CLASSES),
    *(
        f"{function}(CASE typeof({{0}}) WHEN '{kind}' THEN {measure} END)"
        for kind, measure in (
            ("integer", "{0}"), ("real", "{0}"), ("text", "length({0})"),
            ("text", "length(CAST({0} AS BLOB))"), ("blob", "length({0})"),
        )
        for function in ("min", "max")
    ),
    "total(typeof({0}) = 'text' AND instr({0}, char(0)) > 0)",
    f"total(CASE WHEN typeof({{0}}) = 'text' AND {_NOT_ASCII} THEN NOT is_text(CAST({{0}} AS BLOB)) END)",
    "total(typeof({0}) = 'text' AND {0} GLOB '[0-9]*[-/][0-9]*')",
)  # fmt: skip
"""Expressions evaluated for a column, `{0}`, in one pass."""


def inventory(path: Path) -> Inventory:
    """Read a whole SQLite file.

    Raises:
        BadInput: the file can't be read or has no table.
    """
    with opened(path) as connection:
        declared = declarations(connection)
        if not declared.tables:
            raise BadInput(f"{path}: has no table; give a SQLite file with tables")
        [encoding] = connection.execute("PRAGMA encoding").fetchone()
        connection.create_function("characters", 1, partial(_characters, encoding), deterministic=True)
        tables = [_table(connection, table) for table in declared.tables]
    try:
        notes = census(path).notes
    except BadInput:
        if not any(column.stops for table in tables for column in table.columns):
            raise
        notes = ()
    return Inventory(path, encoding, tables, notes)


@dataclass(frozen=True)
class Size:
    """The size of a file, without checking for values that stop a load.

    `values` counts the values of all columns by kind: those of `CLASSES`, except that texts that are a day
    count as `date`, and those with a time as `datetime`.
    """

    tables: int
    columns: int
    rows: int
    file_bytes: int
    values: Mapping[str, int]


def size(path: Path) -> Size:
    """Count the tables, columns, rows and values of a SQLite file, in one pass over each table.

    Raises:
        BadInput: the file can't be read.
    """
    values: dict[str, int] = dict.fromkeys((*CLASSES, *dict.fromkeys(_DATE_KINDS.values())), 0)
    rows = 0
    with opened(path) as connection:
        declared = declarations(connection).tables
        for table in declared:
            asked = (*_ASKED[: len(CLASSES)], _ASKED[-1])
            found = ask(connection, table.name, {column.name: asked for column in table.columns})
            for name, (*counts, dated) in found.items():
                dates = _dates(connection, quoted(name), f"{quoted(table.name)} NOT INDEXED") if dated else {}
                for kind, count in zip(CLASSES, counts, strict=True):
                    values[kind] += count
                for form, count in dates.items():
                    if form in _DATE_KINDS:
                        values[_DATE_KINDS[form]] += count
                        values["text"] -= count
            [count] = connection.execute(f"SELECT count(*) FROM {quoted(table.name)}").fetchone()  # noqa: S608
            rows += count
    columns = sum(len(table.columns) for table in declared)
    return Size(len(declared), columns, rows, path.stat().st_size, values)


_DATE_KINDS = {form: "datetime" if "HH" in form else "date" for form, _ in DATE_FORMS if "YYYY" in form}


def _characters(encoding: str, text: bytes) -> int:
    """Return a text's length; SQLite's own length() stops at a NUL character."""
    return len(text.decode(encoding, "replace"))


def _table(connection: sqlite3.Connection, table: DeclaredTable) -> TableInventory:
    stored = figures(connection, table)
    asked = ask(connection, table.name, {column.name: _ASKED for column in table.columns})
    columns = [
        _column(connection, table.name, column, stored[column.name], asked[column.name])
        for column in table.columns
    ]
    [rows] = connection.execute(f"SELECT count(*) FROM {quoted(table.name)}").fetchone()  # noqa: S608
    return TableInventory(table.name, rows, columns)


def _column(
    connection: sqlite3.Connection,
    table: str,
    column: DeclaredColumn,
    stored: ColumnStatistics,
    found: tuple[Any, ...],
) -> ColumnInventory:
    """Return the inventory of one column; `found` are the values of `_ASKED`."""
    name, source = quoted(column.name), f"{quoted(table)} NOT INDEXED"
    counts, extremes, (with_nul, not_text, dated) = found[:5], found[5:15], found[15:]
    integers, reals, characters, text_bytes, blob_bytes = (
        None if least is None else (least, greatest)
        for least, greatest in zip(extremes[::2], extremes[1::2], strict=True)
    )
    if with_nul:
        exact = f"characters(CAST({name} AS BLOB))"
        characters = connection.execute(
            f"SELECT min({exact}), max({exact}) FROM {source} WHERE typeof({name}) = 'text'"  # noqa: S608
        ).fetchone()
    odd = bool(with_nul or not_text or reals)
    type_, stops = _stops(connection, table, column, stored, odd=odd)
    return ColumnInventory(
        table=table,
        column=column.name,
        declared=column.declared,
        type=type_,
        classes={kind: count for kind, count in zip(CLASSES, counts, strict=True) if count},
        integers=integers,
        reals=reals,
        characters=characters,
        text_bytes=text_bytes,
        blob_bytes=blob_bytes,
        with_nul=int(with_nul),
        not_text=int(not_text),
        dates=_dates(connection, name, source) if dated else {},
        stops=stops,
    )


def _stops(
    connection: sqlite3.Connection, table: str, column: DeclaredColumn, stored: ColumnStatistics, *, odd: bool
) -> tuple[PortableType | None, list[Stop]]:
    """Return the type of a column, and the values that stop a load; `odd` if it may have such values."""
    type_: PortableType | None = None
    wanted: dict[Refusal, list[tuple[Dialect, Profile]]] = {}
    try:
        type_, _ = portable_type(column.declared, stored)
        wanted = refusals(type_) if odd else {}
    except Unrepresentable as error:
        wanted = {Refusal(str(error), error.predicate): list(PLACES)}
    stops = []
    for refusal, places in wanted.items():
        if where := place(connection, table, column.name, refusal.predicate):
            condition = refusal.predicate.format(quoted(column.name), quoted(table))
            [values] = connection.execute(
                f"SELECT count(*) FROM {quoted(table)} WHERE {condition}"  # noqa: S608 - quoted
            ).fetchone()
            stops.append(Stop(places, refusal.what, values, where))
    return type_, stops


def _dates(connection: sqlite3.Connection, name: str, source: str) -> dict[str, int]:
    cases = " ".join(f"WHEN {predicate.format(name)} THEN '{form}'" for form, predicate in DATE_FORMS)
    found = dict(
        connection.execute(
            f"SELECT CASE {cases} END AS form, count(*) FROM {source}"  # noqa: S608 - quoted
            f" WHERE typeof({name}) = 'text' AND NOT instr({name}, char(0)) GROUP BY form"
        )
    )
    return {form: found[form] for form, _ in DATE_FORMS if form in found}
