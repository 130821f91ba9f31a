"""Whether a server has what a file has: every row of every table, each value with its type and its bits."""

import sqlite3
import struct
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from datetime import UTC, date, datetime
from typing import Any

from dialects.enums import Dialect, Profile
from dialects.identifiers import postgresql_name
from loaders.namespace import Database
from loaders.server import Server
from tests.loaders.servers import ask, read


def require_same(server: Server, database: Database, notes: Sequence[str]) -> int:
    """Hold what was loaded, with these notes, against the file; returns the number of rows."""
    place = (server.dialect, database.profile)
    rows = 0
    with closing(sqlite3.connect(database.sqlite_path)) as file:
        tables = _tables(file, left_out=" ".join(notes))
        assert len(standing(server, database)) == len(tables)
        for table, columns in tables.items():
            there = file.execute(f"SELECT {_list(columns)} FROM {_quoted(table)}").fetchall()
            here = read(server, database, _query(server.dialect, table, columns))
            assert _bag(here, place) == _bag(_mapped(there, here), place), table
            rows += len(there)
    return rows


def _tables(file: sqlite3.Connection, left_out: str) -> Mapping[str, Sequence[str]]:
    """The columns of every table that a note doesn't speak of; generated ones, too."""
    found = file.execute(
        "SELECT name FROM pragma_table_list"
        " WHERE schema = 'main' AND type = 'table' AND name NOT GLOB 'sqlite_*'"
    ).fetchall()
    return {
        name: [column for (column,) in file.execute("SELECT name FROM pragma_table_xinfo(?)", (name,))]
        for (name,) in found
        if f"table {name} is not loaded" not in left_out
    }


def standing(server: Server, database: Database) -> set[str]:
    """All tables where the database stands, and those of stagings."""
    if server.dialect is Dialect.MYSQL:
        where = f"table_schema = '{database.mysql_database}' OR table_schema LIKE 'bird\\_harness\\_%'"
    else:
        where = f"table_schema = '{database.postgresql_schema}' OR table_schema LIKE 'bird\\_harness\\_%'"
    sql = f"SELECT table_name FROM information_schema.tables WHERE {where}"
    return {name for (name,) in ask(server, database, sql)}


def _query(dialect: Dialect, table: str, columns: Sequence[str]) -> str:
    if dialect is Dialect.MYSQL:
        return f"SELECT {_list(columns)} FROM {_quoted(table.lower())}"
    return f"SELECT {_list(map(postgresql_name, columns))} FROM {_quoted(postgresql_name(table))}"


def _list(names: Iterable[str]) -> str:
    return ", ".join(map(_quoted, names))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _mapped(there: Sequence[Sequence[Any]], here: Sequence[Sequence[Any]]) -> list[tuple[Any, ...]]:
    """SQLite's rows, each column in the one type that arrived.

    The documented mappings: among texts a number is its shortest text, among fractions an integer is one,
    and in the profile official a day or moment is a date of the server.
    """
    columns = []
    for sent, arrived in zip(zip(*there, strict=True), zip(*here, strict=True), strict=True):
        [kind] = {type(value) for value in arrived if value is not None} or {type(None)}
        columns.append([None if value is None else _as(kind, value) for value in sent])
    return list(zip(*columns, strict=True))


def _as(kind: type, value: Any) -> Any:
    if kind is str and isinstance(value, int | float):
        return str(value)
    if kind is float and isinstance(value, int):
        assert int(float(value)) == value
        return float(value)
    if kind is date:
        return _day(value)
    if kind is datetime:
        day, _, time = value.partition(" ")
        return datetime.combine(_day(day), datetime.fromisoformat(f"2000-01-01 {time or '00:00'}").time())
    return value


def _day(text: str) -> date:
    form = "%m/%d/%Y" if text[2] == "/" else text[4].join(("%Y", "%m", "%d"))
    return datetime.strptime(text, form).replace(tzinfo=UTC).date()


def _bag(rows: Sequence[Sequence[Any]], place: tuple[Dialect, Profile]) -> Counter[tuple[Any, ...]]:
    """The rows without their order; each value with its type, a fraction bit by bit."""
    single = place == (Dialect.POSTGRESQL, Profile.OFFICIAL)
    return Counter(tuple(_exact(value, single=single) for value in row) for row in rows)


def _exact(value: Any, *, single: bool) -> tuple[type, Any]:
    if isinstance(value, datetime):
        return datetime, value.replace(tzinfo=None)
    if isinstance(value, float):
        return float, struct.pack("!f" if single else "!d", value)
    return type(value), value
