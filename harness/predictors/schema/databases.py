"""The schema of a database in the words of its engine, for prompts, as far as the reading role sees it.

The tables are those of the SQLite file, in its order and under the names that the loader gives them. In
profile official a server keeps all databases of a collection in one namespace: what belongs to another one is
left out, and so is what the loader added. Each engine is asked for its own statements (`schema` in the
engine's folder says how).
"""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from dialects.errors import BadInput
from dialects.identifiers import table_name
from harness.engines import kind_of
from harness.engines.base import Engine, Row, Session, SqlError
from harness.engines.tables import TableText
from harness.predictors.base import DatabaseText
from loaders.declarations import DeclaredTable, declarations
from loaders.errors import EngineUnavailable
from loaders.namespace import Database
from loaders.source import opened

_SECONDS = 30.0
"""For each statement; the longest sorts a million rows by their place."""

_LONGEST = 80
"""Characters of a value that are shown."""


def read_database(engine: Engine, database: Database, *, rows: int = 0) -> DatabaseText:
    """Read the schema of one database as it stands on an engine, without descriptions.

    Args:
        engine: where it is loaded; it is asked in sessions of the reading role.
        database: which, in the profile that is loaded.
        rows: how many rows of each table to take: the first in the order in which they are stored. A value of
            another type than text, number or truth value is the text that the engine shows for it, a blob its
            bytes in hexadecimal. In texts line breaks are blanks, and more than 80 characters end with `...`.

    Raises:
        BadInput: the SQLite file, or a row of it that is asked for, cannot be read.
        EngineUnavailable: the engine does not answer, or a table is not loaded there.
    """
    with opened(database.sqlite_path) as connection:
        declared = declarations(connection).tables
    kind = kind_of(engine.dialect)
    reader = kind.schema()
    try:
        with engine.session(database, _SECONDS) as session:
            run = _runner(session)
            version = reader.version(run)
            tables = reader.tables(run, database, declared)
            _require(engine, database, declared, tables)
            tables = [
                replace(table, rows=_shown(run(reader.first_rows(table, rows)))) if rows else table
                for table in tables
            ]
    except SqlError as error:
        if not kind.has_server:
            raise BadInput(
                f"{database.sqlite_path}: {error.message}; give a complete SQLite file, or ask for no rows"
            ) from error
        raise EngineUnavailable(
            f"{engine.dialect}: the schema of {database.db_id} cannot be read ({error.message});"
            " load the database again"
        ) from error
    return DatabaseText(database.db_id, engine.dialect, tuple(tables), version)


def _runner(session: Session) -> Callable[[str], list[Row]]:
    return lambda sql: [row for batch in session.batches(sql) for row in batch]


def _require(
    engine: Engine, database: Database, declared: Sequence[DeclaredTable], tables: Sequence[TableText]
) -> None:
    there = {table.name for table in tables}
    kind = kind_of(engine.dialect)
    wanted = (table_name(table.name, kind.dialect) for table in declared) if kind.has_server else ()
    missing = [name for name in wanted if name not in there]
    if missing:
        raise EngineUnavailable(
            f"{engine.dialect}: table {missing[0]} of {database.db_id} is not there in profile"
            f" {database.profile}; load the database"
        )


def _shown(rows: Sequence[Row]) -> tuple[tuple[object, ...], ...]:
    return tuple(tuple(_plain(value) for value in row) for row in rows)


def _plain(value: object) -> object:
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
