"""Read the schema of a database from its engine, for prompts, as far as the reading role sees it.

The tables are those of the SQLite file, in its order and under the names that the loader gives them. In
profile official a server keeps all databases of a collection in one namespace: the tables of others are left
out, and so is what the loader added. Each engine provides its own statements (`schema` in its folder).
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
"""Limit for each statement; the longest sorts a million rows by their position."""

_LONGEST = 80
"""Maximum characters shown of a value."""


def read_database(
    engine: Engine, database: Database, *, rows: int = 0, kind: EngineKind | None = None
) -> DatabaseText:
    """Read the schema of one database from an engine, without descriptions.

    Args:
        engine: where it is loaded; queried in sessions of the reading role.
        database: the database, in the loaded profile.
        rows: how many rows of each table to read: the first as stored. A value other than text, number or
        truth value becomes the text that the engine shows for it, a blob its bytes in hexadecimal. In texts
        line breaks become blanks, and more than 80 characters end with `...`.
        kind: the engine's kind; default: the one named by its dialect.

    Raises:
        BadInput: the SQLite file, or a requested row of it, cannot be read.
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
                f"{database.sqlite_path}: {error.message}; give a complete SQLite file, or request no rows"
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
            f"{kind.name}: table {missing[0]} of {database.db_id} is not loaded in profile"
            f" {database.profile}; load the database"
        )


def _shown(rows: Sequence[Row]) -> tuple[tuple[object, ...], ...]:
    return tuple(tuple(plain_value(value) for value in row) for row in rows)


def plain_value(value: object) -> object:
    """Return a number, truth value or None as it is, and the text of another value, cut to 80 characters."""
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
    """Return the folder with the published description files of a database."""
    return databases / db_id / "database_description"


def describe(database: DatabaseText, folder: Path) -> tuple[DatabaseText, list[str]]:
    """Add the published descriptions in a folder to the columns of a schema, from any engine.

    Each table has its own CSV file, `<table>.csv`, with the columns
    `original_column_name, column_name, column_description, data_format, value_description`. The published
    files are UTF-8, with a byte order mark or without, or Windows-1252; their names differ from those of the
    databases in case and blanks. Descriptions of no known table or column are reported, never lost.

    Names match without case and outer blanks; an exactly equal one is preferred. A missing or blank line for
    a column is not an error.

    Args:
        database: a schema without descriptions.
        folder: has files named after tables. If it does not exist, nothing is described, which is reported.

    Returns:
        The schema with its descriptions, and one line for each description that belongs to nothing in it.

    Raises:
        BadInput: a file cannot be read, is not CSV, or has no column for the names.
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
            left_over.append(f"{path}: another file also describes table {name}")
        else:
            described.add(name)
            tables[name], unused = _with(tables[name], _lines(path))
            left_over += [f"{path}: {fault}" for fault in unused]
    left_over += [f"{folder}: no file describes table {name}" for name in tables if name not in described]
    return replace(database, tables=tuple(tables.values())), left_over


_Line = tuple[int, str, list[str | None]]
"""The number of a line, the name of its column, and its texts; blank ones are None."""


def _lines(path: Path) -> list[_Line]:
    """Read the lines of one file that are not blank."""
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
    """Decode UTF-8, else Windows-1252; the five bytes undefined there become a replacement character."""
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
