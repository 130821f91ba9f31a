"""Texts that are not SQLite's own SQL are refused with the name of the dialect; a fault stops one text."""

from pathlib import Path

import pytest

from dialects import translation as module
from dialects.enums import Dialect
from dialects.errors import TranslatorFault
from dialects.schema import Schema
from dialects.source import foreign
from dialects.translation import Untranslatable, translate
from loaders.file_census import census
from tests.harness import own_sets

FOREIGN = (
    ("SELECT id::text FROM items", "PostgreSQL"),
    ("SELECT name FROM items WHERE name ILIKE 'p%'", "PostgreSQL"),
    ("SELECT DISTINCT ON (name) id FROM items", "PostgreSQL"),
    ("SELECT name FROM items WHERE name ~ '^p'", "PostgreSQL"),
    ("SELECT TO_CHAR(price, '9') FROM items", "PostgreSQL"),
    ("SELECT name FROM items WHERE name = E'pen'", "PostgreSQL"),
    ("SELECT price DIV 2 FROM items", "MySQL"),
    ("SELECT GROUP_CONCAT(name SEPARATOR ',') FROM items", "MySQL"),
    ("SELECT `name` FROM `items` WHERE name RLIKE 'p'", "MySQL"),
    ("SELECT DATE_FORMAT(name, '%Y') FROM items", "MySQL"),
    ("SELECT EXTRACT(YEAR FROM name) FROM items", "MySQL and PostgreSQL"),
    ("SELECT CURRENT_DATE - INTERVAL 1 DAY", "MySQL and PostgreSQL"),
    ("SELECT TOP 3 name FROM items", "SQL Server"),
)

OWN = (
    "SELECT name FROM items WHERE name = 'a::text' -- ILIKE, TO_CHAR(x)",
    'SELECT "a::b" FROM items',
    "SELECT `name`, [price] FROM items",
    "SELECT div, interval, separator FROM items",
    "SELECT name FROM items ORDER BY nothing",
    "SELECT name FROM items WHERE",
)


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> Schema:
    return census(own_sets.database(Path(tmp_path_factory.mktemp("foreign"), "shop.sqlite")))


@pytest.mark.parametrize(("sql", "whose"), FOREIGN)
def test_the_dialect_of_a_foreign_text_is_named(schema: Schema, sql: str, whose: str) -> None:
    with pytest.raises(Untranslatable) as refused:
        translate(sql, schema, Dialect.POSTGRESQL)
    assert not isinstance(refused.value, TranslatorFault)
    assert f" is {whose} syntax" in str(refused.value) or f" is a {whose} function" in str(refused.value)


@pytest.mark.parametrize("sql", OWN)
def test_no_dialect_is_named_where_none_is_to_blame(sql: str) -> None:
    assert foreign(sql) is None


@pytest.mark.parametrize(
    "sql", ["SELECT x'0'", "SELECT group_concat()", "SELECT 1 IN", "SELECT", "SELECT ((("]
)
def test_a_text_that_sqlite_refuses_is_no_fault_of_the_translator(schema: Schema, sql: str) -> None:
    with pytest.raises(Untranslatable) as refused:
        translate(sql, schema, Dialect.MYSQL)
    assert not isinstance(refused.value, TranslatorFault)


def test_a_fault_of_the_translator_refuses_the_text(schema: Schema, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> str:
        raise KeyError("kind")

    monkeypatch.setattr(module, "spell", broken)
    with pytest.raises(TranslatorFault, match=r"the statement: the translator failed \(KeyError: 'kind'\)"):
        translate("SELECT name FROM items", schema, Dialect.MYSQL)
