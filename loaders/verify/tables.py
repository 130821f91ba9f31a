"""Match the tables and columns of a file and a server, and find those without a counterpart."""

import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum

from dialects.by_dialect import ByDialect
from dialects.enums import Dialect, Profile
from dialects.identifiers import quoted
from loaders.namespace import Database
from loaders.verify.forms import LONG, ValueForm, day, moment
from loaders.verify.sides import ComparedColumn, ComparedTable, FileColumn, FileTable, batches, classes_of


class DifferenceKind(StrEnum):
    """The kinds of differences between a file and a server."""

    MISSING_TABLE = "missing table"
    EXTRA_TABLE = "extra table"
    MISSING_COLUMN = "missing column"
    EXTRA_COLUMN = "extra column"
    TYPE = "type"
    ROWS = "rows"
    VALUES = "values"


@dataclass(frozen=True)
class TableDifference:
    """One difference between the server and the file."""

    kind: DifferenceKind
    table: str
    """Its name in the file; for an extra table, on the server."""
    column: str | None
    """None if it is about the whole table."""
    text: str
    """The difference, as a part of a sentence."""
    rows: tuple[str, ...] = ()
    """The first rows that differ, a sentence each."""

    def lines(self, where: str) -> Iterator[str]:
        """Yield the lines of the message; `where` names engine, profile and database."""
        column = f", column {self.column}" if self.column is not None else ""
        yield f"{where}: table {self.table}{column}: {self.text}"
        for row in self.rows:
            yield f"    {row}"


class ColumnContents(StrEnum):
    """The kind of a SQLite column's values other than NULL."""

    INTEGERS = "integers"
    REALS = "reals"
    """Alone, or with integers."""
    TEXTS = "texts"
    """Alone, or with numbers."""
    DAYS = "days"
    """Texts in a column declared DATE, each a day."""
    MOMENTS = "moments"
    """Texts in a column declared DATE, DATETIME or TIMESTAMP, each a plain day or a moment."""
    BLOBS = "blobs"
    HUGE = "reals beyond the type of others"
    """Only if values may be escaped."""
    NOTHING = "nothing"
    MIXTURE = "blobs and other values"


Types = Mapping[ColumnContents, tuple[str, ValueForm]]
"""The pattern of the right types, in the server's syntax, and the form of their values."""


@dataclass(frozen=True, kw_only=True)
class Storage:
    """How an engine stores a file's tables, said for the proof alone: it takes nothing from the loader."""

    faithful: Types
    official: Types
    """Where they differ from `faithful`."""
    table: Callable[[str], str] = str
    """Returns the name on the server of a table of the file."""
    column: Callable[[str], str] = str
    has_place: bool = False
    """True if tables in profile faithful have an additional column for the rowid."""

    def types(self, profile: Profile, *, escape: bool) -> Types:
        """Return the right types; `escape` is true if values may be escaped."""
        if profile is Profile.FAITHFUL:
            return self.faithful
        huge = {ColumnContents.HUGE: self.faithful[ColumnContents.REALS]} if escape else {}
        is_narrow = ColumnContents.REALS in self.official
        return {**self.faithful, **self.official, **(huge if is_narrow else {})}


STORAGES = ByDialect[Storage]("loaders.{}.verify", "STORAGE")

_NUMBERS = (
    r"(tiny|small|medium|big)?int(\(\d+\))?( unsigned)?|smallint|integer|real|double precision"
    r"|(float|double|decimal|numeric)\b.*"
)
_READABLE: Mapping[ValueForm, str] = {
    ValueForm.DOUBLE: _NUMBERS,
    ValueForm.SINGLE: _NUMBERS,
    ValueForm.BLOB: r"bytea|.*blob|(var)?binary.*",
    ValueForm.MOMENT: r"(timestamp|datetime)\b.*|date",
}
"""Wrong types whose values can still be written in the form. Other forms accept all types."""

_DATE_WORDS = {"DATE": (ColumnContents.DAYS, ColumnContents.MOMENTS), "DATETIME": (ColumnContents.MOMENTS,),
               "TIMESTAMP": (ColumnContents.MOMENTS,)}  # fmt: skip


def table_name(name: str, dialect: Dialect) -> str:
    """Return the name on the server of a table of the file."""
    return STORAGES[dialect].table(name)


def column_name(name: str, dialect: Dialect) -> str:
    """Return the name on the server of a column of the file."""
    return STORAGES[dialect].column(name)


def holding(classes: AbstractSet[type]) -> ColumnContents:
    """Return what a column holds, by the types of its values from SQLite; a bytearray is a text."""
    if not classes:
        return ColumnContents.NOTHING
    if bytes in classes:
        return ColumnContents.BLOBS if classes == {bytes} else ColumnContents.MIXTURE
    if bytearray in classes:
        return ColumnContents.TEXTS
    return ColumnContents.REALS if float in classes else ColumnContents.INTEGERS


def dates_of(declared: str) -> tuple[ColumnContents, ...]:
    """Return the kinds of dates that texts in a column of that declaration can be, the narrower first."""
    words = declared.upper().replace("(", " ").split()
    return _DATE_WORDS.get(words[0], ()) if words else ()


def form_of(actual: str, types: Types) -> ValueForm | None:
    """Return the form of a type that the profile uses; None for any other type."""
    return next((form for pattern, form in types.values() if re.fullmatch(pattern, actual)), None)


def is_readable(actual: str, form: ValueForm) -> bool:
    """True if any value of a type that the profile does not use can be written in that form."""
    return form not in _READABLE or re.fullmatch(_READABLE[form], actual) is not None


def is_right(actual: str, found: ColumnContents, types: Types) -> bool:
    """True if the type is right for a column that holds `found`; an empty column can have any type."""
    if found is ColumnContents.NOTHING:
        return form_of(actual, types) is not None
    return found in types and re.fullmatch(types[found][0], actual) is not None


def right_type(found: ColumnContents, types: Types) -> str:
    """Return the right type for a message."""
    if found not in types:
        return "a type that does not exist"
    return types[found][0].replace("|", ", ").replace(r"\(\d+\)", "").replace(r"(\(6\))?", "")


_BEYOND_SINGLES = 2.0**128 - 2.0**103
"""The midpoint between the largest single and what would be the next one."""
_EXACT = 2**53


def becomes(
    connection: sqlite3.Connection, table: FileTable, column: str, holds: ColumnContents, kind: str
) -> ColumnContents:
    """Return what a column counts as if a server cannot store its values unchanged.

    Args:
        connection: the file's.
        table: the table.
        column: the column.
        holds: what it holds.
        kind: the server's type for its numbers.
    """
    if holds is ColumnContents.MIXTURE:
        return ColumnContents.TEXTS
    if holds is not ColumnContents.REALS:
        return holds
    name = quoted(column)
    [inexact, greatest] = connection.execute(
        f"SELECT max(typeof({name}) = 'integer' AND {name} NOT BETWEEN -{_EXACT} AND {_EXACT}),"  # noqa: S608
        f" max(abs({name})) FROM {quoted(table.name)}"
    ).fetchone()
    has_reals = {"real": _BEYOND_SINGLES, "FLOAT": _BEYOND_SINGLES, "double": float("inf")}
    if inexact:
        return ColumnContents.TEXTS
    if kind in has_reals and greatest >= has_reals[kind]:
        return ColumnContents.TEXTS if kind == "double" else ColumnContents.HUGE
    return holds


PLACE = "sqlite_rowid"
"""MySQL's column for the rowid in profile `faithful`, if no column of the file is it."""

_READ: Mapping[ColumnContents, Callable[[bytes], str | None]] = {
    ColumnContents.DAYS: day,
    ColumnContents.MOMENTS: moment,
}


def matched(  # noqa: PLR0913 - the two tables, and the context
    connection: sqlite3.Connection,
    table: FileTable,
    target: str,
    standing: Mapping[str, str],
    where: tuple[Database, Dialect, Types],
    *,
    escape: bool = False,
) -> tuple[ComparedTable, list[TableDifference]]:
    """Match the columns of a table; missing, extra and unreadable ones are differences.

    Args:
        connection: the file's.
        table: the file's table.
        target: the full name of the server's table.
        standing: the types of the server's columns.
        where: the table's database, the engine, and its types.
        escape: whether values may be escaped.
    """
    database, dialect, types = where
    columns: list[ComparedColumn] = []
    differences: list[TableDifference] = []
    wanted = _wanted(table, database, dialect)
    for column, source in wanted:
        name = column_name(column.name, dialect)
        kind = standing.get(name)
        if kind is None:
            differences.append(
                TableDifference(
                    DifferenceKind.MISSING_COLUMN, table.name, column.name, f"is not on {dialect}"
                )
            )
            continue
        made, trouble = _column(connection, table, column, kind, types)
        if trouble:
            differences.append(TableDifference(DifferenceKind.TYPE, table.name, column.name, trouble))
        if made:
            form = ValueForm.LONG_TEXT if made is ValueForm.TEXT and column.longest > LONG else made
            among = None
            if escape and made is ValueForm.TEXT and column.name != PLACE:
                among = bool(classes_of(connection, table, column.name) - {bytearray})
            columns.append(
                ComparedColumn(column.name, source, quoted(name), form, among, kind, converted=bool(trouble))
            )
    there = {column_name(column.name, dialect) for column, _ in wanted}
    differences += [
        TableDifference(DifferenceKind.EXTRA_COLUMN, table.name, name, f"is only on {dialect}")
        for name in standing
        if name not in there
    ]
    return ComparedTable(table, target, tuple(columns), _key(table, columns)), differences


def _wanted(table: FileTable, database: Database, dialect: Dialect) -> list[tuple[FileColumn, str]]:
    """Return the columns that the server must have, each with SQL for it in SQLite."""
    wanted = [(column, quoted(column.name)) for column in table.columns]
    taken = {column.name.lower() for column in table.columns}
    if (
        STORAGES[dialect].has_place
        and database.profile is Profile.FAITHFUL
        and table.place
        and PLACE not in taken
    ):
        wanted.append((FileColumn(PLACE, "INTEGER"), table.place))
    return wanted


def _key(table: FileTable, columns: list[ComparedColumn]) -> tuple[ComparedColumn, ...]:
    by_name = {column.name: column for column in columns}
    names = table.key or (PLACE,)
    return tuple(by_name[name] for name in names) if by_name.keys() >= set(names) else ()


def _column(
    connection: sqlite3.Connection, table: FileTable, column: FileColumn, kind: str, types: Types
) -> tuple[ValueForm | None, str | None]:
    """Return the form of a column's values, None if its type allows none; and what is wrong with the type."""
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
    compared: ComparedTable,
    classes: list[set[type]],
    types: Types,
    *,
    escape: bool = False,
) -> Iterator[TableDifference]:
    """Yield columns whose type the profile uses, but not for the values in the file.

    Args:
        connection: the file's.
        compared: the table.
        classes: the types of the values of each compared column.
        types: the profile's types on this engine.
        escape: whether values may be escaped.
    """
    table = compared.source
    declared = {column.name: column for column in table.columns}
    for column, seen in zip(compared.columns, classes, strict=True):
        holds = holding(seen)
        if column.converted:
            continue
        if column.name in declared:
            [date, *_] = [*_dates(connection, table, declared[column.name], holds, types), None]
            holds = date or holds
            if escape:
                reals = types[ColumnContents.REALS][0]
                holds = becomes(connection, table, column.name, holds, reals)
        if not is_right(column.kind, holds, types):
            text = f"is {column.kind}, but holds {holds}: must be {right_type(holds, types)}"
            yield TableDifference(DifferenceKind.TYPE, table.name, column.name, text)


def _dates(
    connection: sqlite3.Connection, table: FileTable, column: FileColumn, found: ColumnContents, types: Types
) -> Iterator[ColumnContents]:
    """Yield the kinds of dates, of those that its declaration asks for, that all texts of a column are."""
    if found is not ColumnContents.TEXTS:
        return
    for kind in dates_of(column.declared):
        if kind in types and _are_all(connection, table, column, kind):
            yield kind


def _are_all(
    connection: sqlite3.Connection, table: FileTable, column: FileColumn, kind: ColumnContents
) -> bool:
    read = _READ[kind]
    return all(
        value is None or (isinstance(value, bytearray) and read(bytes(value)) is not None)
        for batch in batches(connection, table, [f"DISTINCT {quoted(column.name)}"])
        for (value,) in batch
    )
