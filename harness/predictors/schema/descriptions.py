"""The published descriptions of columns, read as they are and put beside the columns that they mean.

Each table has a CSV file of its own, `<db_id>/database_description/<table>.csv`, with the columns
`original_column_name, column_name, column_description, data_format, value_description`. The published files
are UTF-8, with a byte order mark or without, or Windows-1252; their names differ from the databases' in case
and blanks. What belongs to no table or column is handed back in words, never lost.
"""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dialects.errors import BadInput
from harness.engines.tables import ColumnText, TableText
from harness.predictors.base import DatabaseText

_NAME = "original_column_name"
_TEXTS = ("column_name", "column_description", "value_description")


@dataclass(frozen=True)
class Described:
    """A schema with its descriptions, and one line for each that belongs to nothing in it.

    A file that has no line for a column, or a column for which all is blank, is no fault and not told.
    """

    database: DatabaseText
    left_over: tuple[str, ...]


@dataclass(frozen=True)
class _Line:
    number: int
    name: str
    texts: tuple[str | None, ...]


def description_folder(databases: Path, db_id: str) -> Path:
    """Where the description files of a database are published."""
    return databases / db_id / "database_description"


def describe(database: DatabaseText, folder: Path) -> Described:
    """Put the descriptions of a folder beside the columns of a schema, whatever engine it is from.

    Names are the same if they are equal but for case and blanks at their ends; an equal one is preferred.

    Args:
        database: a schema without descriptions.
        folder: of files named after tables. One that is not there describes nothing, which is told.

    Raises:
        BadInput: a file cannot be read, is no CSV, or has no column for the names.
    """
    if not folder.is_dir():
        return Described(database, (f"{folder}: there are no descriptions of {database.db_id}",))
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
    return Described(replace(database, tables=tuple(tables.values())), tuple(left_over))


def _lines(path: Path) -> list[_Line]:
    """The lines of one file that say anything; texts are stripped, blank ones None."""
    try:
        rows = csv.reader(io.StringIO(_decoded(path.read_bytes()), newline=""), strict=True)
        header = [cell.strip().lower() for cell in next(rows, [])]
        if _NAME not in header:
            raise BadInput(
                f"{path}: line 1 has no column {_NAME}; a description file begins with"
                f" {_NAME},column_name,column_description,data_format,value_description"
            )
        found = []
        start = rows.line_num + 1
        for row in rows:
            cells = dict(zip(header, (cell.strip() or None for cell in row), strict=False))
            if name := cells.get(_NAME):
                found.append(_Line(start, name, tuple(cells.get(text) for text in _TEXTS)))
            elif any(cells.get(text) for text in _TEXTS):
                found.append(_Line(start, "", tuple(cells.get(text) for text in _TEXTS)))
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
    for line in lines:
        name = _find(line.name, columns) if line.name else None
        if name is None:
            unused.append(f"line {line.number}: table {table.name} has no column {line.name or '(no name)'}")
        elif name in described:
            unused.append(f"line {line.number}: describes column {name} a second time")
        else:
            described.add(name)
            title, description, values = line.texts
            columns[name] = replace(columns[name], title=title, description=description, values=values)
    return replace(table, columns=tuple(columns.values())), unused


def _find(name: str, among: Mapping[str, ColumnText] | Mapping[str, TableText]) -> str | None:
    return name if name in among else next(_alike(name, among), None)


def _alike(name: str, among: Mapping[str, ColumnText] | Mapping[str, TableText]) -> Iterator[str]:
    return (each for each in among if _plain(each) == _plain(name))


def _plain(name: str) -> str:
    return " ".join(name.split()).casefold()
