"""Every awkward file loads exactly, on each server and in each profile, or stops with its case's error."""

import re
import sqlite3
import struct
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dialects.enums import Dialect, Profile
from dialects.errors import BadInput
from dialects.postgresql import folded
from loaders.bulk_load import Loaded, load, load_each, loaded
from loaders.inventory import inventory
from loaders.namespace import Database, Marker
from loaders.server import Server
from tests.every_engine import OWN
from tests.loaders.awkward import tables, values
from tests.loaders.awkward.case import EVERYWHERE, Case, Place
from tests.loaders.awkward.values import LARGE
from tests.loaders.servers import ask, drop, read
from tests.sqlite_files import sqlite_file

SERVERS = OWN


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
    elif server.dialect is Dialect.DUCKDB:
        where = "table_schema = 'main'"
    else:
        where = f"table_schema = '{database.postgresql_schema}' OR table_schema LIKE 'bird\\_harness\\_%'"
    sql = f"SELECT table_name FROM information_schema.tables WHERE {where}"
    return {name for (name,) in ask(server, database, sql)}


def _query(dialect: Dialect, table: str, columns: Sequence[str]) -> str:
    if dialect is Dialect.MYSQL:
        return f"SELECT {_list(columns)} FROM {_quoted(table.lower())}"
    return f"SELECT {_list(map(folded, columns))} FROM {_quoted(folded(table))}"


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


pytestmark = [pytest.mark.engine, pytest.mark.thorough]

CASES = (*values.VALUES, *values.TEXTS, *tables.NAMES, *tables.TABLES, *tables.KEYS, *values.FILES)
ALTERNATING = CASES[len(values.VALUES) :]
"""Profiles differ in types: a server has each of these in one profile, in turn, unless it refuses it in one.

Into PostgreSQL's profile official comes every fourth: a database has to be made for each there.
"""


def cases_of(place: Place) -> list[Case]:
    """The cases that a server has in a profile."""
    dialect, profile = place
    every = 4 if dialect is Dialect.POSTGRESQL else 2
    others = [(dialect, each) for each in Profile if each is not profile]
    return [
        *values.VALUES,
        *(
            case
            for number, case in enumerate(ALTERNATING)
            if (number % every == 0) is (profile is Profile.OFFICIAL)
            or any(case.refused.get(place) != case.refused.get(other) for other in others)
        ),
    ]


@dataclass(frozen=True)
class Batch:
    """The files on one server in one profile, each in a namespace of its own."""

    server: Server
    databases: Mapping[str, Database]
    """By the name of the case."""
    done: Mapping[Database, Loaded]
    """What one load made of them; where a case is to be refused, of an earlier file in its place."""
    left: Mapping[Database, str]
    """Why it left the others."""
    standing: Mapping[Database, Marker]
    """What stood on the server afterwards."""


@pytest.fixture(scope="module")
def batch_of(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[Place], Batch]]:
    """The batch of a place, loaded when it is first asked for."""
    with ExitStack() as stack:

        @cache
        def batch(place: Place) -> Batch:
            server: Server = request.getfixturevalue(f"{place[0]}_server")
            return stack.enter_context(_loaded(place, server, tmp_path_factory.mktemp("awkward")))

        yield batch


@contextmanager
def _loaded(place: Place, server: Server, folder: Path) -> Iterator[Batch]:
    _, profile = place
    name = f"test_{uuid4().hex[:8]}"
    databases: dict[str, Database] = {}
    for number, case in enumerate(cases_of(place)):
        path = folder / str(number) / "shop.sqlite"
        path.parent.mkdir()
        # In profile official all databases of a collection have one namespace.
        collection = name if profile is Profile.FAITHFUL else f"{name}_{number}"
        databases[case.name] = Database(collection, f"shop{number}", path, profile)
        if place in case.refused:
            _write_earlier(path)
        else:
            case.write(path)
    try:
        done, left = load_each(list(databases.values()), server)
        yield Batch(
            server,
            databases,
            {one.database: one for one in done},
            {one.database: one.reason for one in left},
            loaded(list(databases.values()), server),
        )
    finally:
        drop(server, *{database.collection for database in databases.values()})


@pytest.mark.parametrize(
    ("place", "case"),
    [
        pytest.param(place, case, id="-".join((*place, case.name)))
        for place in EVERYWHERE
        for case in cases_of(place)
    ],
)
def test_it_loads_exactly_or_stops_with_a_clear_error(
    batch_of: Callable[[Place], Batch], place: Place, case: Case
) -> None:
    batch = batch_of(place)
    server, database = batch.server, batch.databases[case.name]
    assert database not in batch.left, batch.left[database]
    done = batch.done[database]
    if place in case.refused:
        _refused(server, database, case, case.refused[place])
        return
    wanted = (*case.notes, *case.more.get(place, ()))
    assert len(done.notes) == len(wanted), done.notes
    assert all(note.startswith(start) for note, start in zip(done.notes, wanted, strict=True)), done.notes
    assert batch.standing[database].notes == list(done.notes)
    assert require_same(server, database, done.notes) == done.rows


def _write_earlier(path: Path) -> None:
    sqlite_file(path, "CREATE TABLE earlier (a INTEGER); INSERT INTO earlier VALUES (5)")


def _refused(server: Server, database: Database, case: Case, words: str) -> None:
    """The file takes the place of the earlier one; the load stops, and the earlier one stays as it was."""
    path = database.sqlite_path
    path.unlink()
    case.write(path)
    with pytest.raises(BadInput, match=f"{re.escape(str(path))}: {words}") as error:
        load([database], server)
    assert "\n" not in str(error.value)
    assert loaded([database], server) == {}
    assert read(server, database, "SELECT a FROM earlier") == [(5,)]
    assert standing(server, database) == {"earlier"}


@pytest.mark.usefixtures("profile")
@pytest.mark.parametrize(("server", "profile"), LARGE, indirect=True)
def test_the_largest_values_load_exactly(server: Server, database: Database) -> None:
    LARGE[server.dialect, database.profile].write(database.sqlite_path)
    [done] = load([database], server, jobs=2)
    assert require_same(server, database, done.notes) == done.rows == 2


def test_there_are_enough_cases_of_either_kind() -> None:
    assert len({case.name for case in CASES}) == len(CASES) >= 40
    refused = [case for case in CASES if case.refused.keys() == set(EVERYWHERE)]
    assert len(refused) >= 10
    assert len(CASES) - len(refused) >= 30


DECLARED = ("", "INTEGER", "REAL", "TEXT", "BLOB", "NUMERIC", "DATE", "DATETIME", "BOOLEAN", "VARCHAR(5)")
EDGES = (0, 1, -1, 2**53, 2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63))
ANY_INTEGERS = st.sampled_from(EDGES) | st.integers(-(2**63), 2**63 - 1) | st.integers(-9, 9)
ANY_FRACTIONS = st.floats(allow_nan=False) | st.sampled_from((-0.0, 0.5, 1e39, float("inf"), 5e-324))
CHARACTERS = st.characters(codec="utf-8") | st.sampled_from("\0\t\n\r\\\x1a'\"\x08\x1b%é😀")
ANY_TEXTS = st.text(CHARACTERS, max_size=20) | st.sampled_from(
    ("", " ", "\\N", "NULL", "12", "1e5", "inf", "-0.0")
)
ANY_DAYS = st.dates().map(str) | st.dates().map(lambda day: day.strftime("%m/%d/%Y")) | st.just("0000-00-00")
ANY_MOMENTS = st.datetimes().map(lambda moment: moment.isoformat(" ")) | st.dates().map(str)
ANY_BYTES = st.binary(max_size=20)

ANY_KINDS = (
    ANY_INTEGERS,
    ANY_FRACTIONS,
    ANY_TEXTS,
    ANY_DAYS,
    ANY_MOMENTS,
    ANY_BYTES,
    ANY_INTEGERS | ANY_FRACTIONS,
    ANY_INTEGERS | ANY_TEXTS,
    ANY_DAYS | ANY_TEXTS,
)
COLUMNS = st.sampled_from(ANY_KINDS).flatmap(
    lambda kind: st.tuples(st.sampled_from(DECLARED), st.lists(st.none() | kind, min_size=1, max_size=6))
)
ANY_FILES = st.lists(COLUMNS, min_size=1, max_size=8)


@settings(max_examples=5, suppress_health_check=list(HealthCheck))
@given(columns=ANY_FILES)
@pytest.mark.usefixtures("profile")
def test_any_values_load_exactly_or_stop_where_they_are_said_to(
    server: Server, database: Database, columns: list[tuple[str, list[object]]]
) -> None:
    path = database.sqlite_path
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as file:
        for number, (declared, values) in enumerate(columns):
            file.execute(f"CREATE TABLE t{number} (v {declared})")
            file.executemany(f"INSERT INTO t{number} VALUES (?)", [(value,) for value in values])
        file.commit()
    stops = [
        stop.where
        for table in inventory(path).tables
        for column in table.columns
        for stop in column.stops
        if (server.dialect, database.profile) in stop.on
    ]
    if not stops:
        [done] = load([database], server)
        assert require_same(server, database, done.notes) == done.rows
        return
    with pytest.raises(BadInput) as error:
        load([database], server)
    assert any(f"{path}: {where}: " in str(error.value) for where in stops)
