"""The table of SQLite's versions holds for two libraries, and no difference between them is silent."""

import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import apsw
import pytest

from dialects import versions
from dialects.enums import Dialect
from dialects.rewrites import functions
from dialects.schema import Schema
from dialects.translation import Untranslatable, translate
from harness.metrics.comparison import compare
from loaders.file_census import census
from tests.dialects.school import build
from tests.every_engine import LOADED

Rows = Sequence[tuple[object, ...]]
Library = Callable[[str], Rows]

LATER = tuple(map(int, apsw.sqlite_lib_version().split(".")))[:2]
"""The release of the second library."""

CLAIMS = {
    versions.FIRST_ROW: ("3 IN ((SELECT 1 UNION ALL SELECT 3))", 0),
    versions.ONE_COLLATED: ("'a' IN ('A' COLLATE NOCASE)", 1),
    versions.FIRST_OF_COMPOUND: ("(SELECT 3 UNION SELECT 1 UNION SELECT 2)", 1),
    versions.ROW_COLLATION: ("(SELECT (SELECT p.name, 1) = (p.nick, 1) FROM pupil p WHERE p.id = 4)", 0),
    versions.SHARED_COLLATION: (
        """(SELECT COUNT(a.id) FROM pupil a JOIN (SELECT name FROM pupil) USING (name)
        RIGHT JOIN (SELECT nick AS name FROM pupil) USING (name))""",
        5,
    ),
    versions.NULL_LABEL: ("json_group_object(none, 1)", "{:1}"),
    versions.SUM_COMPARED: (
        "(SELECT SUM(x) = 0.6 FROM (SELECT 0.1 AS x UNION ALL SELECT 0.2 UNION ALL SELECT 0.3))",
        0,
    ),
    "texts that are JSON5 or no JSON": ("json_valid(none)", 0),
    "reals that are rounded": ("round(real, 2) || printf(' %.1f', other)", "2.68 20.0"),
    "days that no calendar has, the time 24:00 and modifiers of dates": ("date(day)", "2020-02-30"),
    "reals as texts": ("long || ''", "1.23456789012346e+17"),
}
"""For each change an expression, and its value before."""
_ROW = """(SELECT NULL AS none, 2.675 AS real, 19.95 AS other, '2020-02-30' AS day,
    123456789012345678.0 AS long)"""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found: Path = tmp_path_factory.mktemp("versions") / "school.sqlite"
    build(found)
    return found


@pytest.fixture(scope="module")
def schema(path: Path) -> Schema:
    return census(path)


@pytest.fixture(scope="module")
def libraries(path: Path) -> Iterator[dict[tuple[int, ...], Library]]:
    with closing(sqlite3.connect(path)) as running, closing(apsw.Connection(str(path))) as later:
        yield {
            versions.RUNNING: lambda sql: running.execute(sql).fetchall(),
            LATER: lambda sql: list(later.execute(sql)),
        }


@pytest.fixture(autouse=True)
def at_the_later_release(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions, "RUNNING", LATER)


def test_each_change_has_a_claim() -> None:
    assert {change.what for change in versions.CHANGES} == set(CLAIMS)


@pytest.mark.parametrize("change", versions.CHANGES, ids=lambda change: change.what)
def test_a_change_begins_where_the_table_says(
    libraries: dict[tuple[int, ...], Library], change: versions.VersionChange
) -> None:
    expression, before = CLAIMS[change.what]
    for release, library in libraries.items():
        [[value]] = library(f"SELECT {expression} FROM {_ROW}")
        if release < change.since:
            assert value == before
        if release == LATER:
            assert value != before


_QUERIES = sorted(
    {
        sql.strip()
        for path in (Path(__file__).parent / "queries").glob("*.sql")
        for sql in re.split(
            r";\n", re.sub(r"^-- .*\n", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        )
    }
    - {""}
)
_COLUMNS = (
    "ROUND(height, {0})", "printf('%.{0}f', height)", "date(born, '+{0} month')", "time(seen, '+{0} hours')",
    "strftime('%e %f %G', seen)", "json_valid(nick)", "json_type(nick)", "json_quote(height)",
    "json_array(height / 3)", "quote(height / 3)", "height / 3 || ''", "CAST(height / 3 AS TEXT)",
    "GROUP_CONCAT(height / 3)", "LENGTH(height / 3)", "SUBSTR(height / 3, 1, 20)", "printf('%s', height / 3)",
    "printf('%g', height / 3)", "ROUND(points / 3.0, {0})", "julianday(seen, '+{0} days')", "unixepoch(born)",
    "height / 3 LIKE '0.%3'", "id IN ((SELECT weight FROM mark))",
    "json_extract('{{a:' || id || '}}', '$.a')",
    "json_object('a', height / 3)", "json_group_array(height / 3)", "height / 3 IN ('0.6', '0.58')",
    "REPLACE(height / 3, '3', 'x')", "UPPER(height / 3)", "json_set('{{}}', '$.a', height / 3)",
)  # fmt: skip
_MADE = [f"SELECT {each.format(at)} FROM pupil GROUP BY id" for each in _COLUMNS for at in (1, 2, 13)]


@pytest.mark.slow
def test_no_difference_between_the_libraries_is_silent(
    libraries: dict[tuple[int, ...], Library], schema: Schema, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Constants are computed by the library that runs gold.
    monkeypatch.setattr(functions, "sqlite3", SimpleNamespace(connect=apsw.Connection, Error=apsw.Error))
    release, before = next(iter(libraries.items()))
    after = libraries[LATER]
    differ = [sql for sql in (*_QUERIES, *_MADE) if _differs(_rows(before, sql), _rows(after, sql), sql)]
    assert len(differ) > len(CLAIMS) or release > versions.FOLLOWED
    silent = [(sql, target) for sql in differ for target in LOADED if _is_silent(sql, schema, target)]
    assert silent == []


def _rows(library: Library, sql: str) -> Rows | None:
    try:
        return library(sql)
    except (sqlite3.Error, apsw.Error):
        return None


def _differs(before: Rows | None, after: Rows | None, sql: str) -> bool:
    if before is None or "random" in sql.lower():
        return False
    return after is None or not compare(before, after).same_order


def _is_silent(sql: str, schema: Schema, target: Dialect) -> bool:
    try:
        found = translate(sql, schema, target)
    except Untranslatable:
        return False
    return not found.warnings and "constant-call" not in found.rules
