import pytest

from dialects.translate import Untranslatable, translate
from harness.words import Dialect


@pytest.mark.parametrize(
    ("sql", "mysql", "postgresql"),
    [
        (
            "SELECT IIF(a > 1, 'x', \"b\") FROM t LIMIT 3",
            "SELECT IF(a > 1, 'x', `b`) FROM t LIMIT 3",
            'SELECT CASE WHEN "a" > 1 THEN \'x\' ELSE "b" END FROM "t" LIMIT 3',
        ),
        (
            "SELECT `Top Speed`, Legs FROM Animal AS A",
            "SELECT `Top Speed`, Legs FROM Animal AS A",
            'SELECT "Top Speed", "legs" FROM "animal" AS "a"',
        ),
    ],
)
def test_names_are_spelled_as_the_loaders_spell_them(sql: str, mysql: str, postgresql: str) -> None:
    assert translate(sql, Dialect.MYSQL).sql == mysql
    assert translate(sql, Dialect.POSTGRESQL).sql == postgresql


def test_sqlite_stays_as_it_was_written() -> None:
    assert translate("select  1 -- so", Dialect.SQLITE).sql == "select  1 -- so"


@pytest.mark.parametrize("sql", ["SELECT FROM WHERE", "SELECT 1; SELECT 2", "", "SELECT 'open"])
def test_what_is_no_statement_is_untranslatable(sql: str) -> None:
    with pytest.raises(Untranslatable, match="no translation to mysql"):
        translate(sql, Dialect.MYSQL)
