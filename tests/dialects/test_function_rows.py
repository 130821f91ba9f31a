"""The table of SQLite's functions: it is right on SQLite, and its examples are right on every engine."""

import math
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import pytest

from dialects.enums import Dialect, Profile
from dialects.errors import Untranslatable
from dialects.functions import EXAMPLES, FUNCTIONS, Function, Role, rows_of
from dialects.schema import Schema
from dialects.targets import TARGETS
from dialects.translation import translate
from dialects.value_types import Kind
from harness.engines import on_server
from loaders.file_census import census
from loaders.namespace import Database
from loaders.server import Server
from tests.every_engine import LOADED
from tests.sqlite_files import sqlite_file

SERVERS = LOADED

WITH_EXAMPLE = [row for row in FUNCTIONS if row.example]

SECONDS = 60


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sqlite_file(tmp_path_factory.mktemp("rows") / "examples.sqlite", EXAMPLES)


@pytest.fixture(scope="module")
def schema(path: Path) -> Schema:
    return census(path)


@pytest.fixture(scope="module")
def database(path: Path) -> Database:
    return Database(f"test_{uuid4().hex[:8]}", "examples", path, Profile.FAITHFUL)


@pytest.fixture
def examples(server: Server, database: Database, stand: Callable[[Server, Database], None]) -> Database:
    stand(server, database)
    return database


def _statement(rows: list[Function]) -> str:
    return f"SELECT {', '.join(row.example for row in rows)} FROM t"


def _ordered(rows: list[Function]) -> str:
    order = "" if rows[0].role is Role.AGGREGATE else " ORDER BY id"
    return _statement(rows) + order


def _is_built_in(row: Function) -> bool:
    """SQLite's makers of a build leave some functions out, such as soundex()."""
    with closing(sqlite3.connect(":memory:")) as connection:
        named = {name for (name,) in connection.execute("SELECT name FROM pragma_function_list")}
    return row.role is Role.TABLE or not named.isdisjoint(row.names)


def _same(found: object, expected: object) -> bool:
    if isinstance(expected, float) and isinstance(found, int | float):
        return math.isclose(found, expected, rel_tol=1e-9)
    return found == expected and (type(found) is type(expected) or isinstance(expected, int))


def _wrong(rows: list[Function], values: list[object]) -> list[tuple[str, object, object]]:
    return [
        (row.example, value, row.gives)
        for row, value in zip(rows, values, strict=True)
        if not _same(value, row.gives)
    ]


def test_examples_have_their_value_on_sqlite(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        for row in filter(_is_built_in, WITH_EXAMPLE):
            value = connection.execute(_ordered([row])).fetchone()[0]
            assert _same(value, row.gives), row.example


def test_results_have_their_type(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        for row in filter(_is_built_in, WITH_EXAMPLE):
            alone = row.example.partition(" OVER")[0].endswith(")") and row.example.startswith(row.names)
            if row.result is not Kind.ANY and alone:
                [kind, *_] = connection.execute(
                    f"SELECT typeof(v) FROM (SELECT {row.example} AS v FROM t)"
                ).fetchone()
                assert kind == row.result, row.example


def test_strict_functions_return_null_of_null(path: Path) -> None:
    strict = [
        row
        for row in FUNCTIONS
        if row.strict and row.role is Role.SCALAR and row.rewrite and row.least and row.names[0].isalnum()
    ]
    assert strict
    with closing(sqlite3.connect(path)) as connection:
        for row in strict:
            for at in range(row.least):
                arguments = ", ".join("NULL" if each == at else "1" for each in range(row.least))
                question = f"SELECT {row.names[0]}({arguments})"
                assert connection.execute(question).fetchone() == (None,), question


def test_every_function_of_sqlite_has_a_row() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        listed = connection.execute("SELECT DISTINCT name, narg FROM pragma_function_list").fetchall()
    # Later releases have others, which are refused until they have a row.
    listed = [(name, count) for name, count in listed if rows_of(name) or sqlite3.sqlite_version < "3.41"]
    assert listed
    unlike = [
        (name, count)
        for name, count in listed
        if not any(row.accepts(count) if count >= 0 else row.most is None for row in rows_of(name))
    ]
    assert unlike == []


def _is_translated(row: Function, schema: Schema, target: Dialect) -> bool:
    try:
        translate(_statement([row]), schema, target)
    except Untranslatable:
        return False
    return True


@pytest.mark.parametrize("target", LOADED)
def test_functions_are_refused_where_the_table_says_so(target: Dialect, schema: Schema) -> None:
    lacking = {name for name, own in TARGETS[target].natives.items() if own is None}
    for row in WITH_EXAMPLE:
        if not _is_translated(row, schema, target):
            assert row.refused or row.names[0] in lacking, row.example


@pytest.mark.engine
@pytest.mark.parametrize("role", [Role.SCALAR, Role.AGGREGATE, Role.WINDOW, Role.TABLE])
def test_examples_have_their_value_on_every_engine(
    role: Role, server: Server, schema: Schema, examples: Database
) -> None:
    rows = [row for row in WITH_EXAMPLE if row.role is role and _is_translated(row, schema, server.dialect)]
    translation = translate(_ordered(rows), schema, server.dialect)
    engine = on_server(server)
    with engine.session(examples, SECONDS) as session:
        found = [row for batch in session.batches(translation.sql) for row in batch]
    [first, *_] = translation.read(found)
    assert _wrong(rows, list(first)) == []
