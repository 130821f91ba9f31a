"""Scalar functions give on the servers what SQLite gives, over columns with every kind of awkward value."""

import math
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import pytest

from dialects.enums import Dialect, Profile
from dialects.schema import Schema
from dialects.translation import Untranslatable, translate
from harness.engines import on_server
from loaders.file_census import census
from loaders.namespace import Database
from loaders.server import Server
from tests.dialects.function_calls import CALLS, CLOCK, REFUSED, ROWS, TABLE
from tests.every_engine import LOADED

SERVERS = LOADED

SECONDS = 60


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("functions") / "calls.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(TABLE)
        connection.executemany(f"INSERT INTO t VALUES ({', '.join('?' * len(ROWS[0]))})", ROWS)
        connection.commit()
    return path


@pytest.fixture(scope="module")
def schema(path: Path) -> Schema:
    return census(path)


@pytest.fixture(scope="module")
def database(path: Path) -> Database:
    return Database(f"test_{uuid4().hex[:8]}", "calls", path, Profile.FAITHFUL)


@pytest.fixture
def calls(server: Server, database: Database, stand: Callable[[Server, Database], None]) -> Database:
    stand(server, database)
    return database


def _differs(found: object, expected: object) -> bool:
    if isinstance(expected, int | float) and not isinstance(found, str | None):
        return not math.isclose(float(found), expected, rel_tol=1e-9)  # type: ignore[arg-type]
    return type(found) is not type(expected) or found != expected


@pytest.mark.engine
@pytest.mark.parametrize("group", CALLS)
def test_calls_give_what_sqlite_gives(
    server: Server, group: str, path: Path, schema: Schema, calls: Database
) -> None:
    engine = on_server(server)
    wrong = []
    with closing(sqlite3.connect(path)) as connection, engine.session(calls, SECONDS) as session:
        for call in CALLS[group]:
            question = f"SELECT {call} FROM t ORDER BY id"
            expected = [value for (value,) in connection.execute(question)]
            translation = translate(question, schema, server.dialect)
            rows = [row for batch in session.batches(translation.sql) for row in batch]
            found = [value for (value,) in translation.read(rows)]
            if any(_differs(*pair) for pair in zip(found, expected, strict=True)):
                wrong.append((call, expected, found, translation.sql))
    assert not wrong


@pytest.mark.engine
@pytest.mark.parametrize("condition", CLOCK)
def test_the_clock_is_the_same_in_every_form(
    server: Server, condition: str, schema: Schema, calls: Database
) -> None:
    translation = translate(f"SELECT {condition}", schema, server.dialect)
    engine = on_server(server)
    with engine.session(calls, SECONDS) as session:
        assert list(session.batches(translation.sql)) == [[(1,)]]


@pytest.mark.parametrize("target", LOADED)
@pytest.mark.parametrize("call", REFUSED)
def test_what_cannot_be_exact_is_refused(call: str, target: Dialect, schema: Schema) -> None:
    with pytest.raises(Untranslatable):
        translate(f"SELECT {call} FROM t", schema, target)


@pytest.mark.parametrize("target", LOADED)
def test_calls_of_constants_are_constants(schema: Schema, target: Dialect) -> None:
    asked = (
        "SELECT substr('hello', -3), printf('%05.1f', 2.25), date('2011-01-31', '+1 month'), hex('a') = '61'"
    )
    text = translate(asked, schema, target).sql
    assert all(value in text for value in ("'llo'", "'002.3'", "'2011-03-03'"))
    assert "bird_sqlite" not in text


@pytest.mark.parametrize("target", LOADED)
def test_days_are_cut_up_in_place(schema: Schema, target: Dialect) -> None:
    asked = "SELECT strftime('%Y', d), strftime('%m-%d', d), date(d), julianday(d), strftime('%H', m) FROM t"
    assert "bird_sqlite" not in translate(asked, schema, target).sql


def test_local_time_is_an_assumption(schema: Schema) -> None:
    assert translate("SELECT date(d, 'localtime') FROM t", schema, Dialect.MYSQL).warnings
    assert not translate("SELECT date(d, '+1 day') FROM t", schema, Dialect.MYSQL).warnings
