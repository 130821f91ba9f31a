"""Every rewrite is needed by a query, and every query has SQLite's rows on the real servers."""

import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from uuid import uuid4

import pytest

from dialects.enums import Dialect, Profile
from dialects.schema import Schema
from dialects.source import parse
from dialects.translation import Translation, Untranslatable, translate
from harness.engines import on_server
from harness.engines.base import Engine
from harness.engines.execution import Ending, Execution, Limits, execute
from harness.engines.sqlite.engine import SQLiteEngine
from harness.metrics.comparison import compare
from loaders.file_census import census
from loaders.namespace import Database
from loaders.server import Server
from tests.dialects.school import build
from tests.every_engine import LOADED

SERVERS = LOADED


def _read(name: str) -> dict[str, list[str]]:
    """The queries of a file, by the line above them. One with ORDER BY has one order."""
    text = (Path(__file__).parent / "queries" / f"{name}.sql").read_text(encoding="utf-8")
    parts = re.split(r"^-- (.+)\n", text, flags=re.MULTILINE)[1:]
    return {
        heading: [sql.strip() for sql in re.split(r";\n", queries) if sql.strip()]
        for heading, queries in zip(parts[::2], parts[1::2], strict=True)
    }


ROWS = {**_read("values"), **_read("functions"), **_read("clauses")}
"""What each rewrite is needed for."""

COMMON = _read("common")
"""What people write for SQLite, by what is odd about it."""

SETTLED = _read("settled")
"""What looks as if SQLite left it open, and has one answer: there is no warning."""

OPEN = _read("open")
"""What SQLite leaves open, or gets wrong: there is a warning."""

REFUSED = _read("refused")
"""What no target can say exactly."""


LACKING = {
    Dialect.MARIADB: frozenset(
        {
            "a subquery in FROM that reads an outer row",
            "WITH that reads an outer row",
            "EXISTS of several set operations",
        }
    )
}
"""Constructs that an engine does not have: no query with them is translated to it."""

LIMITS = Limits(seconds=60)


@pytest.fixture(scope="module")
def school(tmp_path_factory: pytest.TempPathFactory) -> Database:
    path = tmp_path_factory.mktemp("rewrites") / "school.sqlite"
    build(path, motley=True)
    return Database(f"test_{uuid4().hex[:8]}", "school", path, Profile.FAITHFUL)


@pytest.fixture(scope="module")
def schema(school: Database) -> Schema:
    return census(school.sqlite_path, escape=True)


@pytest.fixture
def standing(server: Server, school: Database, stand: Callable[[Server, Database], None]) -> Server:
    """Each server engine in turn, with the school loaded."""
    stand(server, school)
    return server


@cache
def _engine(server: Server) -> Engine:
    """One for all queries, which keeps its connections."""
    return on_server(server)


_TRANSLATIONS: dict[tuple[str, Dialect], Translation] = {}
"""Of the module's only schema: several tests look at most of them."""


def _translated(sql: str, schema: Schema, target: Dialect) -> Translation | None:
    """The translation, or None where the target lacks a construct of the query."""
    if (known := _TRANSLATIONS.get((sql, target))) is not None:
        return known
    try:
        return _TRANSLATIONS.setdefault((sql, target), translate(sql, schema, target))
    except Untranslatable as error:
        if error.construct in LACKING.get(target, ()):
            return None
        raise


@cache
def _expected(school: Database, sql: str) -> Execution:
    """SQLite's rows, which each server's are compared with."""
    return execute(SQLiteEngine(), school, sql, LIMITS)


def _difference(server: Server, school: Database, schema: Schema, sql: str) -> str | None:
    """What is wrong with the answer of a server."""
    expected = _expected(school, sql)
    assert expected.ending is Ending.ROWS, f"{sql}: {expected.error}"
    try:
        translation = _translated(sql, schema, server.dialect)
    except Untranslatable as error:
        return f"{sql}\n{error}"
    if translation is None:
        return None
    found = execute(_engine(server), school, translation.sql, LIMITS)
    if found.ending is not Ending.ROWS:
        return f"{sql}\n{translation.sql}\n{found.error}"
    rows = translation.read(found.rows)
    compared = compare(expected.rows, rows)
    if compared.same_order or (compared.same_bag and parse(sql).args.get("order") is None):
        return None
    return f"{sql}\n{translation.sql}\n{expected.rows}\n{rows}"


def _differences(server: Server, school: Database, schema: Schema, queries: Sequence[str]) -> list[str]:
    found = [_difference(server, school, schema, sql) for sql in queries]
    return [each for each in found if each is not None]


@pytest.mark.engine
@pytest.mark.parametrize("rule", ROWS)
def test_a_rewrite_gives_the_rows_that_sqlite_gives(
    standing: Server, school: Database, schema: Schema, rule: str
) -> None:
    differences = _differences(standing, school, schema, ROWS[rule])
    assert not differences, "\n\n".join(differences)


@pytest.mark.engine
@pytest.mark.parametrize("topic", COMMON)
def test_common_queries_give_the_rows_that_sqlite_gives(
    standing: Server, school: Database, schema: Schema, topic: str
) -> None:
    differences = _differences(standing, school, schema, COMMON[topic])
    assert not differences, "\n\n".join(differences)


def test_subqueries_that_read_rows_outside_are_rewritten_without_lateral(schema: Schema) -> None:
    queries = COMMON["subqueries in FROM that read a row outside"]
    assert [sql for sql in queries if _translated(sql, schema, Dialect.MARIADB) is None] == []


@pytest.mark.engine
@pytest.mark.parametrize("topic", SETTLED)
def test_what_has_one_answer_has_it_without_a_warning(
    standing: Server, school: Database, schema: Schema, topic: str
) -> None:
    differences = _differences(standing, school, schema, SETTLED[topic])
    assert not differences, "\n\n".join(differences)
    found = {sql: _translated(sql, schema, standing.dialect) for sql in SETTLED[topic]}
    assert {sql: each.warnings for sql, each in found.items() if each and each.warnings} == {}


@pytest.mark.engine
@pytest.mark.parametrize("topic", OPEN)
def test_what_is_open_runs_with_a_warning(
    standing: Server, school: Database, schema: Schema, topic: str
) -> None:
    for sql in OPEN[topic]:
        translated = translate(sql, schema, standing.dialect)
        assert translated.warnings, sql
        found = execute(_engine(standing), school, translated.sql, LIMITS)
        assert found.ending is Ending.ROWS, f"{translated.sql}\n{found.error}"


@pytest.mark.parametrize("target", LOADED)
@pytest.mark.parametrize("topic", REFUSED)
def test_what_cannot_be_exact_is_refused(schema: Schema, target: Dialect, topic: str) -> None:
    for sql in REFUSED[topic]:
        with pytest.raises(Untranslatable):
            translate(sql, schema, target)


@pytest.mark.slow
@pytest.mark.parametrize("rule", ROWS)
def test_every_query_of_a_rewrite_needs_it(schema: Schema, rule: str) -> None:
    def applied(sql: str) -> set[str]:
        found = [_translated(sql, schema, target) for target in LOADED]
        return {name for each in found if each for name in each.rules}

    assert [sql for sql in ROWS[rule] if rule not in applied(sql)] == []


def test_the_page_of_rewrites_has_each_that_is_applied_and_each_has_queries() -> None:
    root = Path(__file__).parents[2]
    sources = [path.read_text(encoding="utf-8") for path in (root / "dialects").rglob("*.py")]
    page = (root / "docs" / "reference" / "rewrites.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| (?:● )?`([\w-]+)` \|", page, re.MULTILINE)
    assert len(listed) == len(set(listed))
    assert set(listed) == set(ROWS)
    assert {name for source in sources for name in re.findall(r"\bapplies\(\s*\"([\w-]+)\"", source)} <= set(
        listed
    )
