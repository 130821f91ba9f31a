"""Which tables and columns of both sides belong together, and what has none on the other side."""

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from dialects.enums import Dialect
from dialects.identifiers import quoted
from loaders.namespace import Database
from loaders.verify.days import day, moment
from loaders.verify.difference import Difference, Kind
from loaders.verify.escapes import becomes
from loaders.verify.forms import LONG, Form
from loaders.verify.mapping import (
    PLACED,
    Holding,
    Types,
    column_name,
    dates_of,
    form_of,
    holding,
    is_readable,
    is_right,
    right_type,
)
from loaders.verify.sides import Column, Compared
from loaders.verify.sqlite import FileColumn, FileTable, batches, classes_of

PLACE = "sqlite_rowid"
"""The column of MySQL tables in profile faithful that has the rowid, where no column of the file has it."""

_READ: Mapping[Holding, Callable[[bytes], str | None]] = {Holding.DAYS: day, Holding.MOMENTS: moment}


@dataclass(frozen=True)
class Matched:
    """A table that both sides have, as far as its columns say what is right."""

    compared: Compared
    types: Mapping[str, str]
    """The server's type of each column that is compared, by the file's name for it."""
    differences: tuple[Difference, ...]
    """Missing, extra and unreadable columns."""


def matched(  # noqa: PLR0913 - what is matched, and how
    connection: sqlite3.Connection,
    table: FileTable,
    target: str,
    standing: Mapping[str, str],
    where: tuple[Database, Dialect, Types],
    *,
    escape: bool = False,
) -> Matched:
    """Put the columns of a table side by side.

    Args:
        connection: the file's.
        table: the file's table.
        target: the full name of the server's.
        standing: the types of the server's columns.
        where: whose table it is, on which engine, with which types.
        escape: whether values may be escaped.
    """
    database, dialect, types = where
    columns: list[Column] = []
    actual: dict[str, str] = {}
    differences: list[Difference] = []
    wanted = _wanted(table, database, dialect)
    for column, source in wanted:
        name = column_name(column.name, dialect)
        kind = standing.get(name)
        if kind is None:
            differences.append(
                Difference(Kind.MISSING_COLUMN, table.name, column.name, f"is not on {dialect}")
            )
            continue
        actual[column.name] = kind
        made, trouble = _column(connection, table, column, kind, types)
        if trouble:
            differences.append(Difference(Kind.TYPE, table.name, column.name, trouble))
        if made:
            form = Form.LONG_TEXT if made is Form.TEXT and column.longest > LONG else made
            among = None
            if escape and made is Form.TEXT and column.name != PLACE:
                among = bool(classes_of(connection, table, column.name) - {bytearray})
            columns.append(Column(column.name, source, quoted(name), form, among, converted=bool(trouble)))
    there = {column_name(column.name, dialect) for column, _ in wanted}
    differences += [
        Difference(Kind.EXTRA_COLUMN, table.name, name, f"is on {dialect} alone")
        for name in standing
        if name not in there
    ]
    compared = Compared(table, target, tuple(columns), _key(table, columns))
    return Matched(compared, actual, tuple(differences))


def _wanted(table: FileTable, database: Database, dialect: Dialect) -> list[tuple[FileColumn, str]]:
    """The columns that the server has to have, each with SQL that gives it in SQLite."""
    wanted = [(column, quoted(column.name)) for column in table.columns]
    taken = {column.name.lower() for column in table.columns}
    if (dialect, database.profile) in PLACED and table.place and PLACE not in taken:
        wanted.append((FileColumn(PLACE, "INTEGER"), table.place))
    return wanted


def _key(table: FileTable, columns: list[Column]) -> tuple[Column, ...]:
    by_name = {column.name: column for column in columns}
    names = table.key or (PLACE,)
    return tuple(by_name[name] for name in names) if by_name.keys() >= set(names) else ()


def _column(
    connection: sqlite3.Connection, table: FileTable, column: FileColumn, kind: str, types: Types
) -> tuple[Form | None, str | None]:
    """The form of a column's values, and what is wrong with its type; no form where it allows of none."""
    if form := form_of(kind, types):
        return form, None
    found = holding(classes_of(connection, table, column.name) if column.name != PLACE else {int})
    [date, *_] = [*_dates(connection, table, column, found, types), None]
    right = date or found
    if right not in types:
        return None, f"is {kind}"
    trouble = f"is {kind} instead of {right_type(right, types)}"
    return (types[right][1], trouble) if is_readable(kind, types[right][1]) else (None, trouble)


def wrong_types(
    connection: sqlite3.Connection,
    found: Matched,
    classes: list[set[type]],
    types: Types,
    *,
    escape: bool = False,
) -> Iterator[Difference]:
    """Columns whose type the profile has, but not for what the file holds.

    Args:
        connection: the file's.
        found: the table.
        classes: of the values of each column that was compared.
        types: the profile's on this engine.
        escape: whether values may be escaped.
    """
    table = found.compared.source
    declared = {column.name: column for column in table.columns}
    for column, seen in zip(found.compared.columns, classes, strict=True):
        kind, holds = found.types[column.name], holding(seen)
        if column.converted:
            continue
        if column.name in declared:
            [date, *_] = [*_dates(connection, table, declared[column.name], holds, types), None]
            holds = date or holds
            if escape:
                reals = types[Holding.REALS][0]
                holds = becomes(connection, table, column.name, holds, reals)
        if not is_right(kind, holds, types):
            text = f"is {kind}, but holds {holds}: has to be {right_type(holds, types)}"
            yield Difference(Kind.TYPE, table.name, column.name, text)


def _dates(
    connection: sqlite3.Connection, table: FileTable, column: FileColumn, found: Holding, types: Types
) -> Iterator[Holding]:
    """The kinds of dates that all texts of a column are, of those that its declaration asks for."""
    if found is not Holding.TEXTS:
        return
    for kind in dates_of(column.declared):
        if kind in types and _are_all(connection, table, column, kind):
            yield kind


def _are_all(connection: sqlite3.Connection, table: FileTable, column: FileColumn, kind: Holding) -> bool:
    read = _READ[kind]
    return all(
        value is None or (isinstance(value, bytearray) and read(bytes(value)) is not None)
        for batch in batches(connection, table, [f"DISTINCT {quoted(column.name)}"])
        for (value,) in batch
    )
