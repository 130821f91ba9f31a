"""Values that a server cannot hold, and where in the SQLite file they stand.

What SQLite's figures can tell is refused before anything is written; what only the text itself shows is
looked for when a load has failed on it.
"""

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from dialects.enums import Dialect, Profile
from dialects.errors import BadInput
from dialects.schema import PortableType, Table
from dialects.server_schema import LARGEST_REAL, ServerTable
from loaders.source import place


@dataclass(frozen=True)
class Refusal:
    """A kind of value that an engine cannot hold."""

    what: str
    predicate: str
    """SQL that finds it, `{0}` being the column."""


_INFINITE = Refusal("an infinite number, which MySQL has not", "abs({0}) = 9e999")
_TOO_LARGE = Refusal(
    "a number beyond PostgreSQL's real, the type in the profile official",
    f"abs({{0}}) >= {LARGEST_REAL!r} AND abs({{0}}) < 9e999",
)
_NUL = Refusal("a NUL character, which PostgreSQL's text cannot hold", "instr({0}, char(0))")
_NOT_TEXT = Refusal(
    "text with bytes that are no characters", "typeof({0}) = 'text' AND NOT is_text(CAST({0} AS BLOB))"
)

OPAQUE = f"CASE WHEN typeof({{0}}) = 'text' THEN {_NUL.predicate} OR {_NOT_TEXT.predicate} ELSE 0 END"
"""SQL, `{0}` the column: a text that is never told as one, escaped or not."""

UNREADABLE = "CASE WHEN typeof({0}) = 'blob' THEN NOT is_text({0}) OR instr({0}, x'00') ELSE 0 END"
"""SQL, `{0}` the column: a blob whose bytes are no text, or one with a NUL."""

_NUMBERS = {
    (Dialect.MYSQL, Profile.OFFICIAL): (_INFINITE,),
    (Dialect.MYSQL, Profile.FAITHFUL): (_INFINITE,),
    (Dialect.POSTGRESQL, Profile.OFFICIAL): (_TOO_LARGE,),
    (Dialect.POSTGRESQL, Profile.FAITHFUL): (),
}
_TEXTS = {Dialect.MYSQL: (_NOT_TEXT,), Dialect.POSTGRESQL: (_NOT_TEXT, _NUL)}

PLACES = tuple(_NUMBERS)
"""Every server in every profile."""


def refusals(type_: PortableType) -> dict[Refusal, list[tuple[Dialect, Profile]]]:
    """What a column of that type is refused for, and where."""
    found: dict[Refusal, list[tuple[Dialect, Profile]]] = {}
    for (dialect, profile), of_numbers in _NUMBERS.items():
        of_type = {PortableType.REAL: of_numbers, PortableType.TEXT: _TEXTS[dialect]}
        for refusal in of_type.get(type_, ()):
            found.setdefault(refusal, []).append((dialect, profile))
    return found


def refuse_numbers(
    connection: sqlite3.Connection, path: Path, table: ServerTable, dialect: Dialect, profile: Profile
) -> None:
    """Refuse numbers that the engine cannot hold, looking only where the census saw huge ones.

    Raises:
        BadInput: with the file, table, column and row of the first.
    """
    huge = [
        column.source.name
        for column in table.columns
        if column.type in {"real", "double"}
        and max(-(column.source.least or 0), column.source.greatest or 0) >= LARGEST_REAL
    ]
    _refuse(connection, path, table.source, huge, _NUMBERS[dialect, profile])


def refuse_text(connection: sqlite3.Connection, path: Path, table: Table, dialect: Dialect) -> None:
    """Refuse text that the engine cannot hold, looking at every text of the table.

    Raises:
        BadInput: with the file, table, column and row of the first.
    """
    _refuse(connection, path, table, _texts(table), _TEXTS[dialect])


def refuse_utf16(connection: sqlite3.Connection, path: Path, table: Table) -> None:
    """Refuse text of a UTF-16 file that is no UTF-16: SQLite gives other characters for it and says nothing.

    Raises:
        BadInput: with the file, table, column and row of the first.
    """
    if connection.execute("PRAGMA encoding").fetchone() != ("UTF-8",):
        _refuse(connection, path, table, _texts(table), [_NOT_TEXT])


def _texts(table: Table) -> list[str]:
    return [column.name for column in table.columns if column.type is PortableType.TEXT]


def _refuse(
    connection: sqlite3.Connection,
    path: Path,
    table: Table,
    columns: Iterable[str],
    refusals: Iterable[Refusal],
) -> None:
    for column in columns:
        for refusal in refusals:
            if where := place(connection, table.name, column, refusal.predicate):
                raise BadInput(
                    f"{path}: {where}: {refusal.what}; correct it in the file, or load with --escape"
                )
