"""The files of `loaders.functions` define what translations call on each engine, and nothing else."""

import ast
import fnmatch
import re
import shutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import duckdb
import pytest

import dialects
from dialects.enums import Dialect
from dialects.identifiers import FUNCTIONS_NAMESPACE
from dialects.lowerings import lowerings
from dialects.nodes import SPELLINGS
from dialects.translation import translate
from loaders import functions
from loaders.duckdb import functions as duckdb_functions
from loaders.file_census import census
from tests.sqlite_files import sqlite_file

ENGINES = [Dialect.MYSQL, Dialect.MARIADB, Dialect.POSTGRESQL, Dialect.DUCKDB]
FILES = sorted(Path(functions.__file__).parent.glob("*.sql"))
TRANSLATOR = Path(dialects.__file__).parent
SECTION = "-- Engine: "
TRIMS = {"trim_set", "ltrim_set"}
"""Functions for sets of characters; `rtrim_set` compares under RTRIM, too."""

NAMED = re.compile(r"\bFUNCTIONS_NAMESPACE\}[._]([a-z]\w*)\(")
"""A function's name in a text that a generator writes."""
SPELLED = re.compile(rf"\b{FUNCTIONS_NAMESPACE}[._]([a-z]\w*)\(")
"""And in a node's spelling."""


def server_calls(path: Path) -> Iterator[str]:
    """The first arguments of `server(...)` and `partial(server, ...)` in a module, `*` for what varies."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and "server" in (words := [*map(ast.unparse, (node.func, *node.args))]):
            name = node.args[words.index("server")]
            if isinstance(name, ast.JoinedStr):
                yield "".join(
                    str(part.value) if isinstance(part, ast.Constant) else "*" for part in name.values
                )
            else:
                assert isinstance(name, ast.Constant), f"{path}:{node.lineno}: which function?"
                yield str(name.value)


@cache
def rewrites() -> set[str]:
    """The functions that rewrites call on some engine."""
    defined = {name for engine in ENGINES for name in functions.definitions(engine)}
    found = {name for path in TRANSLATOR.rglob("*.py") for name in server_calls(path)}
    return {name for pattern in found for name in fnmatch.filter(defined, pattern) or [pattern]}


def called(dialect: Dialect) -> set[str]:
    """The functions that translations for an engine can call."""
    found = set(rewrites())
    for path in (TRANSLATOR / dialect).glob("*.py"):
        found |= set(NAMED.findall(path.read_text(encoding="utf-8")))
    for cells in SPELLINGS.values():
        found |= set(SPELLED.findall(cells.get(dialect, "")))
    return found if lowerings(dialect)["trim-sets"] else found - TRIMS


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_says_what_it_is_about_and_whose_each_function_is(path: Path) -> None:
    about, *sections = path.read_text(encoding="utf-8").split(f"\n{SECTION}")
    assert about.startswith("-- ")
    assert [line for line in about.splitlines() if line and not line.startswith("--")] == []
    assert sections
    for engines, *_ in map(str.splitlines, sections):
        assert set(engines.split(", ")) <= set(ENGINES)


@pytest.mark.parametrize("dialect", ENGINES)
def test_each_statement_is_found_once_and_whole(dialect: Dialect) -> None:
    texts = [
        section.partition("\n")[2]
        for path in FILES
        for section in path.read_text(encoding="utf-8").split(f"\n{SECTION}")[1:]
        if dialect in section.partition("\n")[0].split(", ")
    ]
    definitions = functions.definitions(dialect)
    assert len(definitions) == sum(text.count("\nCREATE FUNCTION ") for text in texts) > 0
    for name, statement in definitions.items():
        assert statement.startswith(f"CREATE FUNCTION bird_sqlite.{name}(")
        assert not statement.endswith(";")
        assert any(f"{statement};\n" in text for text in texts)


@pytest.mark.parametrize("dialect", ENGINES)
def test_a_function_comes_after_those_that_it_calls(dialect: Dialect) -> None:
    seen: set[str] = set()
    definitions = functions.definitions(dialect)
    calls = functions.calls(definitions)
    for name in definitions:
        assert seen.issuperset(calls[name]), name
        seen.add(name)


@pytest.mark.parametrize("dialect", ENGINES)
def test_what_translations_call_is_defined_and_nothing_else(dialect: Dialect) -> None:
    calls = functions.calls(functions.definitions(dialect))
    reached: set[str] = set()
    waiting = called(dialect)
    assert len(waiting) > 35
    while waiting:
        name = waiting.pop()
        reached.add(name)
        waiting |= {*calls.get(name, ())} - reached
    assert reached == calls.keys()


@pytest.mark.parametrize("dialect", ENGINES)
def test_an_engine_that_trims_sets_calls_no_function_for_them(dialect: Dialect, tmp_path: Path) -> None:
    path = sqlite_file(tmp_path / "words.sqlite", "CREATE TABLE t (a TEXT, b TEXT)")
    found = translate("SELECT trim(a, b), ltrim(a, b) FROM t", census(path), dialect).sql
    assert {name for name in TRIMS if name in found} == (TRIMS if lowerings(dialect)["trim-sets"] else set())


DOUBLED = """-- x + x.

-- Engine: mysql, mariadb

CREATE FUNCTION bird_sqlite.doubled(x BIGINT) RETURNS BIGINT DETERMINISTIC NO SQL
RETURN bird_sqlite.quotient(x * x, x, 1) * 2;

-- Engine: postgresql

CREATE FUNCTION bird_sqlite.doubled(x bigint) RETURNS bigint LANGUAGE sql IMMUTABLE RETURN x + x;

-- Engine: duckdb

CREATE FUNCTION bird_sqlite.doubled(BIGINT) RETURNS BIGINT LANGUAGE sqlite AS $$ ?1 + ?1 $$;
"""


@pytest.fixture
def with_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Puts a file into a copy of the folder, from which functions are read until the test ends."""
    shutil.copytree(Path(functions.__file__).parent, tmp_path / "functions")
    monkeypatch.setattr(functions, "files", lambda _: tmp_path / "functions")
    monkeypatch.setattr(functions, "definitions", functions.definitions.__wrapped__)

    def put(text: str) -> None:
        (tmp_path / "functions" / "doubled.sql").write_text(text, encoding="utf-8")

    return put


@pytest.mark.parametrize("dialect", ENGINES)
def test_one_more_file_is_one_more_function(dialect: Dialect, with_file: Callable[[str], None]) -> None:
    before = functions.definitions(dialect)
    with_file(DOUBLED)
    found = functions.definitions(dialect)
    assert found.keys() - before.keys() == {"doubled"}
    assert {name: found[name] for name in before} == before


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("mysql, mariadb", "mysql, mariadbx", "doubled.sql: no engine mariadbx"),
        (
            "bird_sqlite.doubled(x BIGINT)",
            "bird_sqlite.shifted(x BIGINT)",
            "a function shifted already",
        ),
        ("bird_sqlite.quotient", "bird_sqlite.quotients", "doubled calls quotients, which mysql lacks"),
    ],
)
def test_a_file_with_a_mistake_is_named(
    old: str, new: str, says: str, with_file: Callable[[str], None]
) -> None:
    with_file(DOUBLED.replace(old, new))
    with pytest.raises(ValueError, match=re.escape(says)):
        functions.definitions(Dialect.MYSQL)


def test_duckdb_computes_what_a_file_defines(
    with_file: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    with_file(DOUBLED)
    monkeypatch.setattr(duckdb_functions, "definitions", functions.definitions)
    monkeypatch.setattr(duckdb_functions, "_defined", duckdb_functions._defined.__wrapped__)
    with duckdb.connect() as connection:
        duckdb_functions.install(connection)
        rows = connection.execute("SELECT bird_sqlite_doubled(21), bird_sqlite_doubled(NULL)").fetchall()
    assert rows == [(42, None)]
