"""Read the schema of a database from its engine, for prompts, as far as the reading role sees it.

The tables are those of the SQLite file, in its order and under the names that the loader gives them. In
profile official a server keeps all databases of a collection in one namespace: the tables of others are left
out, and so is what the loader added. Each engine provides its own statements (`schema` in its folder).
"""

import math
import re
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from dialects.errors import BadInput
from dialects.identifiers import quoted, table_name
from harness.data.descriptions import read_descriptions
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
        views = _views(connection)
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
            if not kind.has_server and kind.embedded is None:
                tables = [*tables, *(_with_rows(view, rows, run) for view in views)]
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


def _views(connection: sqlite3.Connection) -> list[TableText]:
    """Return the views of a SQLite file that can be read, in their order; they are on no other engine."""
    found = []
    made = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'view' ORDER BY rowid")
    for name, sql in made.fetchall():
        try:
            columns = connection.execute(f"SELECT * FROM {quoted(name)} LIMIT 0").description or ()  # noqa: S608 - quoted
        except sqlite3.Error:
            continue
        found.append(
            TableText(name, str(sql).rstrip("; \n"), tuple(ColumnText(one[0], "") for one in columns))
        )
    return found


def _with_rows(view: TableText, rows: int, run: Callable[[str], list[Row]]) -> TableText:
    if not rows:
        return view
    return replace(view, rows=_shown(run(f"SELECT * FROM {quoted(view.name)} LIMIT {rows}")))  # noqa: S608 - quoted


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


def describe(database: DatabaseText, folder: Path) -> tuple[DatabaseText, list[str]]:
    """Add the published descriptions in a folder to the columns of a schema, from any engine.

    Args:
        database: a schema without descriptions.
        folder: as in `read_descriptions`.

    Returns:
        The schema with its descriptions, and one line for each description that belongs to nothing in it.

    Raises:
        BadInput: a file cannot be read, is not CSV, or has no column for the names.
    """
    names = {table.name: [column.name for column in table.columns] for table in database.tables}
    found = read_descriptions(folder, database.db_id, names)
    tables = (
        replace(
            table,
            columns=tuple(
                replace(column, **asdict(found.columns[table.name, column.name]))
                if (table.name, column.name) in found.columns
                else column
                for column in table.columns
            ),
        )
        for table in database.tables
    )
    return replace(database, tables=tuple(tables)), list(found.faults)
