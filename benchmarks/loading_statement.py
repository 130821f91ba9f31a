"""The engine's own statement for many rows, COPY or LOAD DATA, alone: what any loader takes at least.

Before the clock starts, the rows are text in files, and the tables are there, empty, with types but without
keys. As a command this sends the files; what to send comes as JSON on the standard input.
"""

import json
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pymysql
from psycopg import sql

from dialects.enums import Dialect
from dialects.errors import BadInput
from dialects.identifiers import quoted
from loaders.server import Server

_PIECE = 2**20
_CSV = "(FORMAT csv, HEADER false, DELIMITER '\\t', QUOTE '\"', NULLSTR '', ALLOW_QUOTED_NULLS false)"
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})
"""Both servers read them so: PostgreSQL's text format, and MySQL's default for LOAD DATA."""


@dataclass(frozen=True)
class TableText:
    """The rows of a table as text, in a file, and the statement that creates the table."""

    name: str
    path: str
    create: str


def written(path: Path, folder: Path, dialect: Dialect) -> list[TableText]:
    """Write the rows of each table of an SQLite file to a file of its own.

    Raises:
        BadInput: a value is a blob.
    """
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        return [
            _written(connection, name, folder / f"{place}.txt", dialect)
            for place, name in enumerate(tables_of(connection))
        ]


def tables_of(connection: sqlite3.Connection) -> list[str]:
    """Return the names of the tables of an SQLite file."""
    names = connection.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    )
    return [name for (name,) in names]


def _written(connection: sqlite3.Connection, name: str, path: Path, dialect: Dialect) -> TableText:
    table = quoted(name)
    columns = [column for (column,) in connection.execute("SELECT name FROM pragma_table_info(?)", (name,))]
    typed = ", ".join(f"{_quoted(column, dialect)} {_type(connection, table, column)}" for column in columns)
    text = _as_csv if dialect is Dialect.DUCKDB else _text
    with path.open("w", encoding="utf-8", newline="") as file:
        for row in connection.execute(f"SELECT * FROM {table}"):  # noqa: S608 - quoted
            file.write("\t".join(map(text, row)) + "\n")
    return TableText(name, str(path), f"CREATE TABLE {_quoted(name, dialect)} ({typed})")


def _type(connection: sqlite3.Connection, table: str, column: str) -> str:
    """Return the type that holds all values of a column."""
    kinds = {kind for (kind,) in connection.execute(f"SELECT DISTINCT typeof({quoted(column)}) FROM {table}")}  # noqa: S608
    if kinds <= {"integer", "null"}:
        return "BIGINT"
    return "DOUBLE PRECISION" if kinds <= {"integer", "real", "null"} else "TEXT"


def _text(value: Any) -> str:
    match value:
        case None:
            return "\\N"
        case bytes():
            raise BadInput("a blob cannot be compared; choose databases without blobs")
        case str():
            return value.translate(_ESCAPES)
        case _:
            return repr(value)


def _as_csv(value: Any) -> str:
    """Return a value as `_CSV` reads it: NULL is nothing, and no text is bare."""
    if value is None:
        return ""
    return '"' + value.replace('"', '""') + '"' if isinstance(value, str) else _text(value)


def _quoted(name: str, dialect: Dialect) -> str:
    is_standard = dialect in {Dialect.POSTGRESQL, Dialect.DUCKDB}
    return quoted(name) if is_standard else f"`{name.replace('`', '``')}`"


def told(server: Server, place: str, tables: list[TableText]) -> str:
    """Return what the command reads."""
    return json.dumps(
        {"server": asdict(server), "place": place, "tables": [asdict(table) for table in tables]}, default=str
    )


def _pieces(path: str) -> Iterator[bytes]:
    with Path(path).open("rb") as file:
        while piece := file.read(_PIECE):
            yield piece


def main() -> None:
    """Send the files, one after the other."""
    asked = json.load(sys.stdin)
    if asked["server"]["dialect"] == Dialect.DUCKDB:
        with duckdb.connect(Path(asked["server"]["host"], f"{asked['place']}.duckdb")) as file:
            for table in asked["tables"]:
                file.execute(f"COPY {quoted(table['name'])} FROM '{table['path']}' {_CSV}")
        return
    server = {name: asked["server"][name] for name in ("host", "port", "user", "password")}
    if asked["server"]["dialect"] == Dialect.POSTGRESQL:
        with psycopg.connect(**server, dbname=asked["place"], autocommit=True) as session:
            for table in asked["tables"]:
                statement = sql.SQL("COPY {} FROM STDIN").format(sql.Identifier(table["name"]))
                with session.cursor().copy(statement) as copy:
                    for piece in _pieces(table["path"]):
                        copy.write(piece)
        return
    with closing(
        pymysql.connect(**server, database=asked["place"], local_infile=True, autocommit=True)
    ) as connection:
        for table in asked["tables"]:
            name = _quoted(table["name"], Dialect.MYSQL)
            connection.cursor().execute(
                f"LOAD DATA LOCAL INFILE %s INTO TABLE {name} CHARACTER SET utf8mb4", (table["path"],)
            )


if __name__ == "__main__":
    main()
