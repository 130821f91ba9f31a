"""Every lowering is needed: its query has SQLite's rows on the engine with it, and not without it."""

import re
import sqlite3
from collections.abc import Callable, Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from uuid import uuid4

import pytest

from dialects.enums import Dialect, Profile
from dialects.lowerings import EXAMPLE, LOWERINGS, Lowering, lowerings
from dialects.schema import Schema
from dialects.translation import Untranslatable, translate
from harness.engines import on_server
from harness.engines.base import Engine
from harness.engines.execution import Ending, Limits, execute
from harness.engines.sqlite.engine import SQLiteEngine
from harness.metrics.comparison import compare
from loaders.file_census import census
from loaders.namespace import Database
from loaders.server import Server
from tests.every_engine import LOADED

SERVERS = LOADED

LIMITS = Limits(seconds=60)

BRIEF = Limits(seconds=3)
"""Without its lowering a query may not end."""


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Database:
    path = tmp_path_factory.mktemp("lowerings") / "example.sqlite"
    with sqlite3.connect(path) as connection:
        connection.executescript(EXAMPLE)
    return Database(f"test_{uuid4().hex[:8]}", "example", path, Profile.FAITHFUL)


@cache
def _engine(server: Server) -> Engine:
    """One for all queries, which keeps its connections."""
    return on_server(server)


def fault(lowering: Lowering, server: Server, example: Database, schema: Schema) -> str | None:
    """What is wrong with a lowering on an engine: it does not help, or is not needed."""
    expected = execute(SQLiteEngine(), example, lowering.query, LIMITS)
    assert expected.ending is Ending.ROWS, f"{lowering.query}: {expected.error}"
    sorted_ = re.search(r"\bORDER BY\b(?![^(]*\))", lowering.query) is not None

    def answers(sql: str, limits: Limits) -> bool:
        found = execute(_engine(server), example, sql, limits)
        compared = compare(expected.rows, found.rows)
        same = compared.same_order or (compared.same_bag and not sorted_)
        return found.ending is Ending.ROWS and same

    written = _translated(lowering.query, schema, server.dialect)
    if (written is None) is not (lowering.instead is None):
        return f"is refused, or should be: {written}"
    if written is not None and not answers(written, LIMITS):
        return f"does not help: {written}"
    bare = _translated(lowering.query, schema, server.dialect, frozenset({lowering.name}))
    if bare == written:
        return f"changes nothing: {bare}"
    version = _engine(server).version()
    is_over = lowering.until is not None and _numbers(version) >= _numbers(lowering.until)
    if bare is not None and not (is_over or lowering.crashes) and answers(bare, BRIEF):
        return f"is no longer needed on {version}: {bare}"
    return None


def _translated(
    sql: str, schema: Schema, target: Dialect, without: frozenset[str] = frozenset()
) -> str | None:
    """Return the translation; None where it is refused, be it for want of words in the generator."""
    try:
        return translate(sql, schema, target, without=without).sql
    except Untranslatable:
        return None


def _numbers(version: str) -> list[int]:
    return [int(part) for part in re.findall("[0-9]+", version.split("-", maxsplit=1)[0])]


@pytest.mark.engine
def test_a_lowering_is_needed_and_helps(
    server: Server, example: Database, stand: Callable[[Server, Database], None]
) -> None:
    stand(server, example)
    schema = census(example.sqlite_path, escape=True)
    found = {each.name: fault(each, server, example, schema) for each in LOWERINGS[server.dialect]}
    assert {name: each for name, each in found.items() if each} == {}


def _asked() -> Iterator[str]:
    for path in (Path(__file__).parents[2] / "dialects").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        yield from re.findall(r"\.(?:lowers|most|hint)\(\s*\"([\w-]+)\"", text)


def test_what_is_asked_for_is_what_the_targets_have() -> None:
    names = [[each.name for each in one] for one in LOWERINGS.values()]
    assert all(len(set(each)) == len(each) for each in names)
    changing = {each.name for one in LOWERINGS.values() for each in one if each.change}
    assert {*_asked(), *changing} == set(chain.from_iterable(names))


def test_a_name_that_no_target_has_is_an_error() -> None:
    with pytest.raises(ValueError, match="no lowering has the name ful-join"):
        lowerings(Dialect.DUCKDB, frozenset({"ful-join"}))
    with pytest.raises(KeyError):
        lowerings(Dialect.DUCKDB)["ful-join"]
