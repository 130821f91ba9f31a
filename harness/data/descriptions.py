"""Read the published descriptions of a database's columns: a folder with one CSV file for each table.

Each file is `<table>.csv`, with the columns
`original_column_name, column_name, column_description, data_format, value_description`. The published
files are UTF-8, with a byte order mark or without, or Windows-1252; their names differ from those of the
databases in case and blanks. A description of no known table or column is reported, never lost.
"""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dialects.errors import BadInput

_NAME = "original_column_name"
_TEXTS = ("column_name", "column_description", "value_description")

PLAIN, MARKED, WINDOWS = "UTF-8", "UTF-8 with a byte order mark", "Windows-1252"
"""The encodings of description files."""


@dataclass(frozen=True)
class ColumnDescription:
    """What a description file says of a column; None for a blank text."""

    title: str | None
    description: str | None
    values: str | None


@dataclass(frozen=True)
class Descriptions:
    """The descriptions of one database.

    `columns` are by table and column, spelled as in the database. `faults` has a line for each description
    that belongs to nothing, and for each table without a file. `encodings` has that of each file by its name.
    """

    columns: Mapping[tuple[str, str], ColumnDescription] = field(default_factory=dict)
    faults: Sequence[str] = ()
    encodings: Mapping[str, str] = field(default_factory=dict)

    @property
    def described(self) -> int:
        """The number of columns whose meaning or values are described."""
        return sum(bool(one.description or one.values) for one in self.columns.values())


def description_folder(databases: Path, db_id: str) -> Path:
    """Return the folder with the published description files of a database."""
    return databases / db_id / "database_description"


def read_descriptions(folder: Path, db_id: str, tables: Mapping[str, Sequence[str]]) -> Descriptions:
    """Read the descriptions in a folder, and match them with a database.

    Names match without case and outer blanks; an exactly equal one is preferred. A missing or blank line for
    a column is not an error.

    Args:
        folder: has files named after tables. If it does not exist, nothing is described, which is reported.
        db_id: the database, for messages.
        tables: the names of its columns by table.

    Raises:
        BadInput: a file cannot be read, is not CSV, or has no column for the names.
    """
    if not folder.is_dir():
        return Descriptions(faults=[f"{folder}: there are no descriptions of {db_id}"])
    faults: list[str] = []
    columns: dict[tuple[str, str], ColumnDescription] = {}
    encodings: dict[str, str] = {}
    described: set[str] = set()
    for path in sorted(folder.glob("*.csv")):
        lines, encodings[path.name] = _lines(path)
        name = _find(path.stem, tables)
        if name is None:
            faults.append(f"{path}: {db_id} has no table {path.stem.strip()}")
        elif name in described:
            faults.append(f"{path}: another file also describes table {name}")
        else:
            described.add(name)
            found, unused = _of_table(name, tables[name], lines)
            columns |= {(name, column): text for column, text in found.items()}
            faults += [f"{path}: {fault}" for fault in unused]
    faults += [f"{folder}: no file describes table {name}" for name in tables if name not in described]
    return Descriptions(columns, faults, encodings)


_Line = tuple[int, str, ColumnDescription]
"""The number of a line, the name of its column, and its texts."""


def _lines(path: Path) -> tuple[list[_Line], str]:
    """Read the lines of one file that are not blank, and name its encoding."""
    try:
        text, encoding = _decoded(path.read_bytes())
        rows = csv.reader(io.StringIO(text, newline=""), strict=True)
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
                found.append((start, name, ColumnDescription(*texts)))
            start = rows.line_num + 1
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror}); check its permissions") from error
    except csv.Error as error:
        raise BadInput(f"{path}: line {rows.line_num}: not CSV ({error}); correct it") from error
    return found, encoding


def _decoded(raw: bytes) -> tuple[str, str]:
    """Decode UTF-8, else Windows-1252; the five bytes undefined there become a replacement character."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("cp1252", errors="replace"), WINDOWS
    return text.removeprefix("\ufeff"), MARKED if text.startswith("\ufeff") else PLAIN


def _of_table(
    table: str, names: Sequence[str], lines: Sequence[_Line]
) -> tuple[dict[str, ColumnDescription], list[str]]:
    """Return the descriptions of a table by column, and a fault for each line that describes none."""
    found: dict[str, ColumnDescription] = {}
    unused = []
    for number, named, text in lines:
        name = _find(named, names) if named else None
        if name is None:
            unused.append(f"line {number}: table {table} has no column {named or '(no name)'}")
        elif name in found:
            unused.append(f"line {number}: describes column {name} a second time")
        else:
            found[name] = text
    return found, unused


def _find(name: str, among: Iterable[str]) -> str | None:
    def plain(spelled: str) -> str:
        return " ".join(spelled.split()).casefold()

    names = list(among)
    return name if name in names else next((each for each in names if plain(each) == plain(name)), None)
