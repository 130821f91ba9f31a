"""Which tables and columns of both sides belong together, and what has none on the other side."""

import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum

from dialects.enums import Dialect, Profile
from dialects.identifiers import quoted
from loaders.namespace import Database
from loaders.verify.forms import LONG, ValueForm, day, moment
from loaders.verify.sides import ComparedColumn, ComparedTable, FileColumn, FileTable, batches, classes_of


class Kind(StrEnum):
    """The closed vocabulary of differences between a file and what stands on a server."""

    MISSING_TABLE = "missing table"
    EXTRA_TABLE = "extra table"
    MISSING_COLUMN = "missing column"
    EXTRA_COLUMN = "extra column"
    TYPE = "type"
    ROWS = "rows"
    VALUES = "values"


@dataclass(frozen=True)
class Difference:
    """One thing that is not on the server as it is in the file."""

    kind: Kind
    table: str
    """The file's name for it; an extra table has the server's alone."""
    column: str | None
    """None where it is about the whole table."""
    text: str
    """What is different, as a part of a sentence."""
    rows: tuple[str, ...] = ()
    """The first rows that differ, a sentence each."""

    def lines(self, where: str) -> Iterator[str]:
        """What people are told; `where` names engine, profile and database."""
        column = f", column {self.column}" if self.column is not None else ""
        yield f"{where}: table {self.table}{column}: {self.text}"
        for row in self.rows:
            yield f"    {row}"


class Holding(StrEnum):
    """What a column of a SQLite file holds apart from NULL."""

    INTEGERS = "integers"
    REALS = "reals"
    """Alone, or with integers."""
    TEXTS = "texts"
    """Alone, or with numbers."""
    DAYS = "days"
    """Texts in a column declared DATE, each the text of a day."""
    MOMENTS = "moments"
    """Texts in a column declared DATE, DATETIME or TIMESTAMP, each the text of a plain day or a moment."""
    BLOBS = "blobs"
    HUGE = "reals beyond the type of others"
    """Where values may be escaped."""
    NOTHING = "nothing"
    MIXTURE = "blobs and other values"


Types = Mapping[Holding, tuple[str, ValueForm]]
"""The pattern of the right types, in the server's syntax, and the form of their values."""

_POSTGRESQL: Types = {
    Holding.INTEGERS: ("bigint", ValueForm.INTEGER),
    Holding.REALS: ("double precision", ValueForm.DOUBLE),
    Holding.TEXTS: ("text", ValueForm.TEXT),
    Holding.BLOBS: ("bytea", ValueForm.BLOB),
}
_MYSQL: Types = {
    Holding.INTEGERS: ("bigint", ValueForm.INTEGER),
    Holding.REALS: ("double", ValueForm.DOUBLE),
    Holding.TEXTS: (r"text|longtext|varchar\(\d+\)", ValueForm.TEXT),
    Holding.BLOBS: ("longblob", ValueForm.BLOB),
}
TYPES: Mapping[tuple[Dialect, Profile], Types] = {
    (Dialect.POSTGRESQL, Profile.FAITHFUL): _POSTGRESQL,
    (Dialect.POSTGRESQL, Profile.OFFICIAL): {
        **_POSTGRESQL,
        Holding.REALS: ("real", ValueForm.SINGLE),
        Holding.DAYS: ("date", ValueForm.DAY),
        Holding.MOMENTS: ("timestamp with time zone", ValueForm.MOMENT),
    },
    (Dialect.MYSQL, Profile.FAITHFUL): _MYSQL,
    (Dialect.MYSQL, Profile.OFFICIAL): {
        **_MYSQL,
        Holding.DAYS: ("date", ValueForm.DAY),
        Holding.MOMENTS: (r"datetime(\(6\))?", ValueForm.MOMENT),
    },
}

ESCAPING: Mapping[tuple[Dialect, Profile], Types] = {
    **TYPES,
    (Dialect.POSTGRESQL, Profile.OFFICIAL): {
        **TYPES[Dialect.POSTGRESQL, Profile.OFFICIAL],
        Holding.HUGE: _POSTGRESQL[Holding.REALS],
    },
}
"""Those where values may be escaped."""

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
"""Types that are not right, yet any value of them can be written in the form. The other forms take all."""

_DATE_WORDS = {"DATE": (Holding.DAYS, Holding.MOMENTS), "DATETIME": (Holding.MOMENTS,),
               "TIMESTAMP": (Holding.MOMENTS,)}  # fmt: skip

_PLAIN_NAME = re.compile("[A-Za-z_][A-Za-z0-9_$]*")


def _folded(name: str) -> str:
    return name.lower() if _PLAIN_NAME.fullmatch(name) else name


_TABLE_NAMES: Mapping[Dialect, Callable[[str], str]] = {
    Dialect.MYSQL: str.lower,
    Dialect.POSTGRESQL: _folded,
}
_COLUMN_NAMES: Mapping[Dialect, Callable[[str], str]] = {Dialect.MYSQL: str, Dialect.POSTGRESQL: _folded}

PLACED = frozenset({(Dialect.MYSQL, Profile.FAITHFUL)})
"""Where tables have a column with the rowid besides."""


def table_name(name: str, dialect: Dialect) -> str:
    """What a table of the file is called on the server."""
    return _TABLE_NAMES[dialect](name)


def column_name(name: str, dialect: Dialect) -> str:
    """What a column of the file is called on the server."""
    return _COLUMN_NAMES[dialect](name)


def holding(classes: AbstractSet[type]) -> Holding:
    """What a column holds whose values came from SQLite as these types; a bytearray is a text."""
    if not classes:
        return Holding.NOTHING
    if bytes in classes:
        return Holding.BLOBS if classes == {bytes} else Holding.MIXTURE
    if bytearray in classes:
        return Holding.TEXTS
    return Holding.REALS if float in classes else Holding.INTEGERS


def dates_of(declared: str) -> tuple[Holding, ...]:
    """Which kinds of dates texts in a column of that declaration may be, the narrower first."""
    words = declared.upper().replace("(", " ").split()
    return _DATE_WORDS.get(words[0], ()) if words else ()


def form_of(actual: str, types: Types) -> ValueForm | None:
    """The form of a type that the profile has; None for any other type."""
    return next((form for pattern, form in types.values() if re.fullmatch(pattern, actual)), None)


def is_readable(actual: str, form: ValueForm) -> bool:
    """True if any value of a type that the profile does not have can be written in that form."""
    return form not in _READABLE or re.fullmatch(_READABLE[form], actual) is not None


def is_right(actual: str, found: Holding, types: Types) -> bool:
    """True if a column that holds `found` has the right type; what holds nothing has any of the profile's."""
    if found is Holding.NOTHING:
        return form_of(actual, types) is not None
    return found in types and re.fullmatch(types[found][0], actual) is not None


def right_type(found: Holding, types: Types) -> str:
    """The right type as it is said to people."""
    if found not in types:
        return "a type that there is not"
    return types[found][0].replace("|", ", ").replace(r"\(\d+\)", "").replace(r"(\(6\))?", "")


_BEYOND_SINGLES = 2.0**128 - 2.0**103
"""The middle between the largest single and what would be the next one."""
_EXACT = 2**53


def becomes(
    connection: sqlite3.Connection, table: FileTable, column: str, holds: Holding, kind: str
) -> Holding:
    """What a column is taken for that a server cannot hold as it is.

    Args:
        connection: the file's.
        table: which table.
        column: which column.
        holds: what it holds.
        kind: the type of a server that holds its numbers as far as it can.
    """
    if holds is Holding.MIXTURE:
        return Holding.TEXTS
    if holds is not Holding.REALS:
        return holds
    name = quoted(column)
    [inexact, greatest] = connection.execute(
        f"SELECT max(typeof({name}) = 'integer' AND {name} NOT BETWEEN -{_EXACT} AND {_EXACT}),"  # noqa: S608
        f" max(abs({name})) FROM {quoted(table.name)}"
    ).fetchone()
    has_reals = {"real": _BEYOND_SINGLES, "double": float("inf")}
    if inexact:
        return Holding.TEXTS
    if kind in has_reals and greatest >= has_reals[kind]:
        return Holding.TEXTS if kind == "double" else Holding.HUGE
    return holds


PLACE = "sqlite_rowid"
"""The column of MySQL tables in profile faithful that has the rowid, where no column of the file has it."""

_READ: Mapping[Holding, Callable[[bytes], str | None]] = {Holding.DAYS: day, Holding.MOMENTS: moment}


def matched(  # noqa: PLR0913 - what is matched, and how
    connection: sqlite3.Connection,
    table: FileTable,
    target: str,
    standing: Mapping[str, str],
    where: tuple[Database, Dialect, Types],
    *,
    escape: bool = False,
) -> tuple[ComparedTable, list[Difference]]:
    """Put the columns of a table side by side; missing, extra and unreadable ones are differences.

    Args:
        connection: the file's.
        table: the file's table.
        target: the full name of the server's.
        standing: the types of the server's columns.
        where: whose table it is, on which engine, with which types.
        escape: whether values may be escaped.
    """
    database, dialect, types = where
    columns: list[ComparedColumn] = []
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
        made, trouble = _column(connection, table, column, kind, types)
        if trouble:
            differences.append(Difference(Kind.TYPE, table.name, column.name, trouble))
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
        Difference(Kind.EXTRA_COLUMN, table.name, name, f"is on {dialect} alone")
        for name in standing
        if name not in there
    ]
    return ComparedTable(table, target, tuple(columns), _key(table, columns)), differences


def _wanted(table: FileTable, database: Database, dialect: Dialect) -> list[tuple[FileColumn, str]]:
    """The columns that the server has to have, each with SQL that gives it in SQLite."""
    wanted = [(column, quoted(column.name)) for column in table.columns]
    taken = {column.name.lower() for column in table.columns}
    if (dialect, database.profile) in PLACED and table.place and PLACE not in taken:
        wanted.append((FileColumn(PLACE, "INTEGER"), table.place))
    return wanted


def _key(table: FileTable, columns: list[ComparedColumn]) -> tuple[ComparedColumn, ...]:
    by_name = {column.name: column for column in columns}
    names = table.key or (PLACE,)
    return tuple(by_name[name] for name in names) if by_name.keys() >= set(names) else ()


def _column(
    connection: sqlite3.Connection, table: FileTable, column: FileColumn, kind: str, types: Types
) -> tuple[ValueForm | None, str | None]:
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
    compared: ComparedTable,
    classes: list[set[type]],
    types: Types,
    *,
    escape: bool = False,
) -> Iterator[Difference]:
    """Columns whose type the profile has, but not for what the file holds.

    Args:
        connection: the file's.
        compared: the table.
        classes: of the values of each column that was compared.
        types: the profile's on this engine.
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
                reals = types[Holding.REALS][0]
                holds = becomes(connection, table, column.name, holds, reals)
        if not is_right(column.kind, holds, types):
            text = f"is {column.kind}, but holds {holds}: has to be {right_type(holds, types)}"
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
