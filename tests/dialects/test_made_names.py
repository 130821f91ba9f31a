"""Names that a translation makes are new, whatever the statement and the schema call their own."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp, parse_one

from dialects.enums import Dialect
from dialects.tables import folded
from dialects.translation import translate
from loaders.file_census import census
from tests.sqlite_files import sqlite_file

TARGETS = {Dialect.MYSQL: "mysql", Dialect.POSTGRESQL: "postgres"}
PLAIN = ("tables", "others", "other", "number", "label", "one", "two", "three")
# Not `_c1`, `_o1` and `_place`: these are columns, new among those of one derived table.
STEMS = ("q", "all", "full", "rows", "frame", "n", "g", "k", "sort", "t", "tables")
MADE = st.builds("_{}{}".format, st.sampled_from(STEMS), st.integers(1, 4)) | st.just("_")

QUERIES = (
    "SELECT * FROM {t} AS {a}, (SELECT {x} AS {b} FROM {u})",
    "SELECT (SELECT COUNT(*) FROM (SELECT {x} FROM {u}) WHERE {x} < {a}.{y}) FROM {t} AS {a}",
    (
        "SELECT {a}.{y}, {b}.{x} FROM {t} AS {a} FULL JOIN {u} AS {b} ON {a}.{y} < {b}.{x} "
        "FULL JOIN {t} AS {d} ON {d}.{y} > {b}.{x}"
    ),
    (
        "WITH {a} AS (SELECT {y} FROM {t}), {t} AS (SELECT {x} AS {y} FROM {u}) "
        "SELECT {y} FROM {a} UNION SELECT {y} FROM {t}"
    ),
    "SELECT {y}, {z}, MAX({y}) FROM {t} AS {a} GROUP BY {z} ORDER BY {z}",
    "SELECT {y} FROM {t} UNION SELECT {x} FROM {u} EXCEPT SELECT {y} FROM {t} LIMIT 2",
    "SELECT SUM({y}) OVER (ORDER BY {z} GROUPS 1 PRECEDING) AS {b} FROM {t} AS {a} LIMIT (SELECT 2)",
    "SELECT {b}, {d} FROM (SELECT 1 AS {b}, 2, {y} AS {d} FROM {t} AS {a})",
)


def translated(query: str, chosen: list[str], target: Dialect, folder: Path) -> str:
    """The translation of a query, each name in it replaced by the number of its first appearance."""
    names = {
        key: '"' + name + '"'
        for key, name in zip(("t", "u", "x", "y", "z", "a", "b", "d"), chosen, strict=True)
    }
    path = folder / "made.sqlite"
    path.unlink(missing_ok=True)
    sqlite_file(
        path,
        "CREATE TABLE {t} ({y} INTEGER, {z} TEXT)".format_map(names),
        "CREATE TABLE {u} ({x} INTEGER)".format_map(names),
    )
    tree = parse_one(translate(query.format_map(names), census(path), target).sql, read=TARGETS[target])
    # A name that neither the query nor the schema has may be made.
    used = [key in "tuxyz" or f"{{{key}}}" in query for key in names]
    known = {folded(name): f"name {at}" for at, name in enumerate(chosen) if used[at]}
    for identifier in tree.find_all(exp.Identifier):
        parts = [known.setdefault(folded(part), f"made {len(known)}") for part in identifier.name.split(".")]
        identifier.set("this", ".".join(parts))
    return tree.sql()


@pytest.fixture(autouse=True)
def whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every name written in full: what may be left out depends on the names."""
    monkeypatch.setattr("dialects.translation.simplify", lambda *_: None)


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("query", QUERIES)
def test_a_translation_is_the_same_whatever_the_names_are(
    query: str, target: Dialect, tmp_path: Path
) -> None:
    expected = translated(query, list(PLAIN), target, tmp_path)

    @settings(max_examples=12)
    @given(st.lists(MADE, min_size=8, max_size=8, unique_by=folded))
    def holds(chosen: list[str]) -> None:
        assert translated(query, chosen, target, tmp_path) == expected

    holds()


@pytest.mark.parametrize("name", ["_Q1", "_q\u0301" + "1"])
def test_names_are_new_beside_those_that_mysql_takes_for_the_same(name: str, tmp_path: Path) -> None:
    expected = translated(QUERIES[0], list(PLAIN), Dialect.MYSQL, tmp_path)
    chosen = [*PLAIN[:5], name, *PLAIN[6:]]
    assert translated(QUERIES[0], chosen, Dialect.MYSQL, tmp_path) == expected
