import io
import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from dialects.enums import Profile
from harness.engines import on_server
from harness.engines.execution import Limits, execute
from loaders.load import load
from loaders.namespace import Database
from loaders.server import Server
from tests.harness import own_sets
from tests.harness.conftest import Call

SERVERS = ("mysql", "postgresql")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return own_sets.database(tmp_path / "shop.sqlite")


@pytest.mark.engine
def test_what_is_printed_gives_sqlites_rows_on_the_server(shop: Path, server: Server, call: Call) -> None:
    query = "SELECT name, price / 2, name || price FROM items WHERE name LIKE 'P%' OR price > '5' ORDER BY id"
    code, printed, said = call("translate", query, "--database", str(shop), "--dialect", server.dialect)
    assert (code, said) == (0, "")
    database = Database("translate_text", "shop", shop, Profile.FAITHFUL)
    load([database], server)
    with closing(sqlite3.connect(shop)) as connection:
        expected = connection.execute(query).fetchall()
    assert len(expected) == 3
    found = execute(on_server(server), database, printed, Limits(seconds=10))
    assert list(found.rows) == expected


@pytest.mark.parametrize("dialect", SERVERS)
def test_a_warning_stands_beside_the_translation(shop: Path, call: Call, dialect: str) -> None:
    query = "SELECT name, SUM(price) FROM items"
    code, printed, said = call("translate", query, "--database", str(shop), "--dialect", dialect)
    assert code == 0
    assert printed.startswith("SELECT ")
    assert said.startswith("warning: a column is neither grouped nor aggregated")
    asked = ("--database", str(shop), "--dialect", dialect, "--json")
    found = json.loads(call("translate", query, *asked)[1])
    assert found["sql"] == printed.removesuffix("\n")
    assert found["dialect"] == dialect
    assert len(found["warnings"]) == 1


def test_a_text_is_read_from_standard_input(shop: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = ("--database", str(shop), "--dialect", "mysql")
    query = "SELECT 'Ž'\nFROM items;\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(query.encode())))
    assert call("translate", "-", *asked) == call("translate", query, *asked)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"SELECT '\xff'")))
    code, printed, said = call("translate", "-", *asked)
    assert (code, printed) == (2, "")
    assert "standard input: is not UTF-8" in said


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("SELECT ? FROM items", "placeholder"),
        ("DELETE FROM items", "it does not begin like a query"),
    ],
)
def test_what_has_no_translation_exits_with_1(shop: Path, call: Call, query: str, says: str) -> None:
    asked = ("--database", str(shop), "--dialect", "postgresql")
    code, printed, said = call("translate", query, *asked)
    assert (code, printed) == (1, "")
    assert said.startswith("no translation: ")
    assert says in said
    code, printed, _ = call("translate", query, *asked, "--json")
    assert code == 1
    refused = json.loads(printed)
    assert refused["sql"] is None
    assert says in refused["refusal"]
    with closing(sqlite3.connect(shop)) as connection:
        assert connection.execute("SELECT COUNT(*) FROM items").fetchone() == (3,)


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("SELECT 1; SELECT 2",), "several statements"),
        (("SELECT FROM",), "syntax error"),
        (("SELECT cost FROM items",), "no such column: cost"),
        (("SELECT 1 FROM orders",), "no such table: orders"),
        (("",), "incomplete input"),
        (("/* nothing */",), "incomplete input"),
        (("SELECT '\udcff'",), "characters that no text has"),
        (("SELECT 1", "--database", "text.txt"), "file is not a database"),
        (("SELECT 1", "--database", "missing.sqlite"), "unable to open database file"),
        (("SELECT 1", "--database", "."), "give the path of a complete SQLite file"),
        (("SELECT 1", "--dialect", "sqlite"), "name mysql or postgresql"),
        (("SELECT 1", "--dialect", "all"), "name mysql or postgresql"),
        (("SELECT 1", "--dialect", "oracle"), "is not a dialect"),
    ],
)
def test_bad_input_is_one_line_and_exits_with_2(
    shop: Path, call: Call, args: tuple[str, ...], says: str
) -> None:
    (shop.parent / "text.txt").write_text("no database " * 200)
    usual = ("--database", str(shop), "--dialect", "mysql")
    code, printed, said = call("translate", *usual, *args)
    assert (code, printed) == (2, "")
    assert says in said
    assert said.count("\n") == 1
