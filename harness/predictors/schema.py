"""The schema of a database in the words of its engine, for prompts, as far as the reading role sees it.

The tables are those of the SQLite file, in its order and under the names that the loader gives them. In
profile official a server keeps all databases of a collection in one namespace: what belongs to another one is
left out, and so is what the loader added. Each engine is asked for its own statements (`schema` in the
engine's folder says how).
"""

import csv
import io
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from dialects.errors import BadInput
from dialects.identifiers import table_name
from harness.engines import EngineKind, kind_of
from harness.engines.base import ColumnText, Engine, Row, SqlError, TableText
from harness.predictors.base import DatabaseText
from loaders.base.errors import EngineUnavailable
from loaders.namespace import Database
from loaders.source import DeclaredTable, declarations, opened

_SECONDS = 30.0
"""For each statement; the longest sorts a million rows by their place."""

_LONGEST = 80
"""Characters of a value that are shown."""


def read_database(
    engine: Engine, database: Database, *, rows: int = 0, kind: EngineKind | None = None
) -> DatabaseText:
    """Read the schema of one database as it stands on an engine, without descriptions.

    Args:
        engine: where it is loaded; it is asked in sessions of the reading role.
        database: which, in the profile that is loaded.
        rows: how many rows of each table to take: the first in the order in which they are stored. A value of
            another type than text, number or truth value is the text that the engine shows for it, a blob its
            bytes in hexadecimal. In texts line breaks are blanks, and more than 80 characters end with `...`.
        kind: the engine's; default: the one that is named by its dialect.

    Raises:
        BadInput: the SQLite file, or a row of it that is asked for, cannot be read.
        EngineUnavailable: the engine does not answer, or a table is not loaded there.
    """
    with opened(database.sqlite_path) as connection:
        declared = declarations(connection).tables
    kind = kind or kind_of(engine.dialect)
    reader = kind.schema()
    try:
        with engine.session(database, _SECONDS) as session:

            def run(sql: str) -> list[Row]:
                return [row for batch in session.batches(sql) for row in batch]

            version = reader.version(run)
            tables = reader.tables(run, database, declared)
            _require(kind, database, declared, tables)
            if rows:
                tables = [
                    replace(table, rows=_shown(run(reader.first_rows(table, rows)))) for table in tables
                ]
    except SqlError as error:
        if not kind.has_server:
            raise BadInput(
                f"{database.sqlite_path}: {error.message}; give a complete SQLite file, or ask for no rows"
            ) from error
        raise EngineUnavailable(
            f"{kind.name}: the schema of {database.db_id} cannot be read ({error.message});"
            " load the database again"
        ) from error
    return DatabaseText(database.db_id, kind.name, tuple(tables), version)


def _require(
    kind: EngineKind, database: Database, declared: Sequence[DeclaredTable], tables: Sequence[TableText]
) -> None:
    there = {table.name for table in tables}
    wanted = (table_name(table.name, kind.dialect) for table in declared) if kind.has_server else ()
    missing = [name for name in wanted if name not in there]
    if missing:
        raise EngineUnavailable(
            f"{kind.name}: table {missing[0]} of {database.db_id} is not there in profile"
            f" {database.profile}; load the database"
        )


def _shown(rows: Sequence[Row]) -> tuple[tuple[object, ...], ...]:
    return tuple(tuple(_plain_value(value) for value in row) for row in rows)


def _plain_value(value: object) -> object:
    match value:
        case None | bool() | int():
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case bytes() | memoryview():
            return _cut(f"0x{bytes(value[:_LONGEST]).hex().upper()}")
        case _:
            return _cut(str(value))


def _cut(text: str) -> str:
    text = re.sub(r"\s+", " ", text)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


_NAME = "original_column_name"
_TEXTS = ("column_name", "column_description", "value_description")


def description_folder(databases: Path, db_id: str) -> Path:
    """Where the description files of a database are published."""
    return databases / db_id / "database_description"


def describe(database: DatabaseText, folder: Path) -> tuple[DatabaseText, list[str]]:
    """Put the published descriptions of a folder beside the columns of a schema, whatever engine it is from.

    Each table has a CSV file of its own, `<table>.csv`, with the columns
    `original_column_name, column_name, column_description, data_format, value_description`. The published
    files are UTF-8, with a byte order mark or without, or Windows-1252; their names differ from those of the
    databases in case and blanks. What belongs to no table or column is handed back in words, never lost.

    Names are the same if they are equal but for case and blanks at their ends; an equal one is preferred.
    A file that has no line for a column, or a column for which all is blank, is no fault.

    Args:
        database: a schema without descriptions.
        folder: of files named after tables. One that is not there describes nothing, which is told.

    Returns:
        The schema with its descriptions, and one line for each that belongs to nothing in it.

    Raises:
        BadInput: a file cannot be read, is no CSV, or has no column for the names.
    """
    if not folder.is_dir():
        return database, [f"{folder}: there are no descriptions of {database.db_id}"]
    left_over: list[str] = []
    tables = {table.name: table for table in database.tables}
    described: set[str] = set()
    for path in sorted(folder.glob("*.csv")):
        name = _find(path.stem, tables)
        if name is None:
            left_over.append(f"{path}: {database.db_id} has no table {path.stem.strip()}")
        elif name in described:
            left_over.append(f"{path}: table {name} is described by another file, too")
        else:
            described.add(name)
            tables[name], unused = _with(tables[name], _lines(path))
            left_over += [f"{path}: {fault}" for fault in unused]
    left_over += [f"{folder}: no file describes table {name}" for name in tables if name not in described]
    return replace(database, tables=tuple(tables.values())), left_over


_Line = tuple[int, str, list[str | None]]
"""The number of a line, the name of its column, and its texts; blank ones are None."""


def _lines(path: Path) -> list[_Line]:
    """The lines of one file that say anything."""
    try:
        rows = csv.reader(io.StringIO(_decoded(path.read_bytes()), newline=""), strict=True)
        header = [cell.strip().lower() for cell in next(rows, [])]
        if _NAME not in header:
            raise BadInput(
                f"{path}: line 1 has no column {_NAME}; a description file begins with"
                f" {_NAME},column_name,column_description,data_format,value_description"
            )
        found: list[_Line] = []
        start = rows.line_num + 1
        for row in rows:
            cells = dict(zip(header, (cell.strip() or None for cell in row), strict=False))
            name, texts = cells.get(_NAME) or "", [cells.get(text) for text in _TEXTS]
            if name or any(texts):
                found.append((start, name, texts))
            start = rows.line_num + 1
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror}); check its permissions") from error
    except csv.Error as error:
        raise BadInput(f"{path}: line {rows.line_num}: not CSV ({error}); correct it") from error
    return found


def _decoded(raw: bytes) -> str:
    """UTF-8, else Windows-1252; the five bytes that mean nothing there become a replacement character."""
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("cp1252", errors="replace")


def _with(table: TableText, lines: Sequence[_Line]) -> tuple[TableText, list[str]]:
    columns = {column.name: column for column in table.columns}
    described: set[str] = set()
    unused = []
    for number, named, (title, description, values) in lines:
        name = _find(named, columns) if named else None
        if name is None:
            unused.append(f"line {number}: table {table.name} has no column {named or '(no name)'}")
        elif name in described:
            unused.append(f"line {number}: describes column {name} a second time")
        else:
            described.add(name)
            columns[name] = replace(columns[name], title=title, description=description, values=values)
    return replace(table, columns=tuple(columns.values())), unused


def _find(name: str, among: Mapping[str, ColumnText] | Mapping[str, TableText]) -> str | None:
    def plain(spelled: str) -> str:
        return " ".join(spelled.split()).casefold()

    return name if name in among else next((each for each in among if plain(each) == plain(name)), None)
