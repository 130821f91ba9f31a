"""Describes the sample's databases in the format of the published `dev_tables.json`.

The format is Spider's: https://github.com/taoyds/spider#tables.
`python -m tests.loaders.sample_tables` writes the committed file anew; a test holds it against the databases.
"""

import csv
import json
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import loaders.sample
from loaders.sample import build_databases, table_names

PATH = Path(loaders.sample.__file__).with_name("questions") / "sample_tables.json"


class _Column(NamedTuple):
    table: str
    name: str
    declared: str
    place_in_key: int


def describe(database: Path) -> dict[str, Any]:
    """One entry of `dev_tables.json`: tables, columns, types and keys of a SQLite file.

    The readable column names come from `database_description/<table>.csv` beside the file. Keys refer to
    columns by their position in `column_names_original`; a primary key of several columns is a list.
    """
    with closing(sqlite3.connect(database)) as connection:
        tables = table_names(connection)
        columns = [column for table in tables for column in _columns(connection, table)]
        references = [pair for table in tables for pair in _references(connection, table)]
    readable = {table: _readable_names(database, table) for table in tables}
    # Position 0 is "*".
    position = {(column.table, column.name): at for at, column in enumerate(columns, start=1)}
    return {
        "db_id": database.stem,
        "table_names_original": tables,
        "table_names": tables,
        "column_names_original": [[-1, "*"], *([tables.index(c.table), c.name] for c in columns)],
        "column_names": [
            [-1, "*"],
            *([tables.index(c.table), readable[c.table][c.name] or c.name] for c in columns),
        ],
        "column_types": ["text", *(c.declared.lower() for c in columns)],
        "primary_keys": [
            key if len(key) > 1 else key[0]
            for table in tables
            for key in [[position[c.table, c.name] for c in columns if c.table == table and c.place_in_key]]
        ],
        "foreign_keys": [[position[column], position[target]] for column, target in references],
    }


def describe_all() -> list[dict[str, Any]]:
    """The whole content of `sample_tables.json`, from databases built for the purpose."""
    with tempfile.TemporaryDirectory() as folder:
        return [describe(database) for database in build_databases(Path(folder))]


def _columns(connection: sqlite3.Connection, table: str) -> list[_Column]:
    rows = connection.execute("SELECT name, type, pk FROM PRAGMA_TABLE_INFO(?) ORDER BY cid", [table])
    return [_Column(table, *row) for row in rows]


def _references(connection: sqlite3.Connection, table: str) -> list[tuple[tuple[str, str], tuple[str, str]]]:
    """Each foreign key's column and the column that it refers to, as declared."""
    # SQLite counts a table's foreign keys from the last declared to the first.
    query = 'SELECT "from", "table", "to" FROM PRAGMA_FOREIGN_KEY_LIST(?) ORDER BY id DESC, seq'
    return [
        ((table, column), (other, target)) for column, other, target in connection.execute(query, [table])
    ]


def _readable_names(database: Path, table: str) -> dict[str, str]:
    path = database.parent / "database_description" / f"{table}.csv"
    with path.open(newline="", encoding="utf-8") as file:
        return {row["original_column_name"]: row["column_name"] for row in csv.DictReader(file, strict=True)}


if __name__ == "__main__":
    PATH.write_text(json.dumps(describe_all(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
