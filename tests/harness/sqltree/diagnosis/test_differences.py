"""One kind of difference, one class; of several, the first in the order of the rules."""

from collections.abc import Mapping, Sequence

import pytest

from dialects.enums import Dialect
from harness.engines.errors import ErrorClass
from harness.sqltree.diagnosis.differences import RULES
from tests.harness.sqltree.diagnosis.library import diagnosed

GOLD = (
    "SELECT T1.Title, T2.Name FROM Book AS T1 INNER JOIN Author AS T2 ON T1.AuthorID = T2.AuthorID "
    "WHERE T1.Pages > 100 AND T2.Country = 'France' ORDER BY T1.Price DESC LIMIT 3"
)
GROUPED = (
    "SELECT T2.Name, SUM(T1.Price), COUNT(*) FROM Book AS T1 INNER JOIN Author AS T2 "
    "ON T1.AuthorID = T2.AuthorID GROUP BY T2.AuthorID HAVING COUNT(*) > 2"
)
SHARE = "SELECT SUM(CASE WHEN Pages > 100 THEN 1 ELSE 0 END) * 100.0 / COUNT(*) FROM Book"
TOP = "SELECT Title FROM Book WHERE Pages = (SELECT MAX(Pages) FROM Book)"
UNION = "SELECT Title FROM Book UNION SELECT Name FROM Author"

EDITS: Mapping[ErrorClass, Sequence[tuple[str, str, str]]] = {
    ErrorClass.WRONG_TABLES: [
        (GOLD, "Author AS T2", "Genre AS T2"),
        (GOLD, " INNER JOIN Author AS T2 ON T1.AuthorID = T2.AuthorID", ""),
        (GOLD, " WHERE", " INNER JOIN Loan AS T3 ON T3.Book = T1.BookID WHERE"),
        (GOLD, " WHERE", " INNER JOIN Loan AS T3 ON T3.Book = T1.BookID WHERE T3.Fine > 0 AND"),
        (UNION, " UNION SELECT Name FROM Author", ""),
    ],
    ErrorClass.WRONG_COLUMNS: [
        (GOLD, "T1.Title, T2.Name", "T1.Title"),
        (GOLD, "T1.Title, T2.Name", "T2.Name, T1.Title"),
        (GOLD, "T1.Title, T2.Name", "T1.Title, T2.Country"),
        (GOLD, "T1.Title, T2.Name", "*"),
        (GOLD, "T1.Title", "T1.Title, T1.Price"),
        (GOLD, "T1.Title", "UPPER(T1.Title)"),
        (GOLD, "T1.Title, T2.Name", "CONCAT(T1.Title, T2.Name)"),
        (GROUPED, "SUM(T1.Price)", "SUM(T1.Pages)"),
        (GROUPED, "SUM(T1.Price), COUNT(*)", "COUNT(*), SUM(T1.Price)"),
    ],
    ErrorClass.WRONG_AGGREGATION: [
        (GROUPED, "SUM(T1.Price)", "AVG(T1.Price)"),
        (GROUPED, "SUM(T1.Price)", "T1.Price"),
        (GROUPED, "SUM(T1.Price)", "SUM(DISTINCT T1.Price)"),
        (GROUPED, "SUM(T1.Price)", "SUM(T1.Price) / 12"),
        (GROUPED, "COUNT(*) FROM", "COUNT(DISTINCT T1.BookID) FROM"),
        (GROUPED, "COUNT(*) FROM", "COUNT(T1.Published) FROM"),
        (GROUPED, "GROUP BY T2.AuthorID", "GROUP BY T2.Country"),
        (GROUPED, " GROUP BY T2.AuthorID", ""),
        (GROUPED, "GROUP BY T2.AuthorID", "GROUP BY T2.AuthorID, T2.Country"),
        (SHARE, "* 100.0 /", "/"),
        (SHARE, "THEN 1", "THEN Pages"),
    ],
    ErrorClass.WRONG_CONDITION: [
        (GOLD, "T1.Pages > 100 AND ", ""),
        (GOLD, "WHERE", "WHERE T1.Published IS NOT NULL AND"),
        (GOLD, "WHERE T1.Pages", "WHERE T1.Price"),
        (GOLD, "Pages > 100", "Pages >= 100"),
        (GOLD, "T1.Pages > 100", "NOT T1.Pages > 100"),
        (GOLD, "T2.Country = 'France'", "T2.Country <> 'France'"),
        (GOLD, "T2.Country = 'France'", "T2.Country NOT LIKE 'France'"),
        (GOLD, "T2.Country = 'France'", "T2.Country NOT IN ('France')"),
        (GOLD, "T2.Country = 'France'", "NOT EXISTS (SELECT * FROM Author WHERE Country = 'France')"),
        (GOLD, "T1.Pages > 100 AND", "T1.Pages > 100 OR"),
        (GOLD, "T2.Country = 'France'", "UPPER(T2.Country) = 'France'"),
        (GOLD, "T1.AuthorID = T2.AuthorID", "T1.BookID = T2.AuthorID"),
        (GOLD, "INNER JOIN", "LEFT JOIN"),
        (GROUPED, " HAVING COUNT(*) > 2", ""),
        (GROUPED, "HAVING COUNT(*) > 2", "HAVING SUM(T1.Price) > 2"),
        (SHARE, "Pages > 100", "Price > 100"),
        (SHARE, "FROM Book", "FROM Book WHERE Price IS NOT NULL"),
        (UNION, "UNION", "EXCEPT"),
    ],
    ErrorClass.WRONG_LITERAL: [
        (GOLD, "'France'", "'FR'"),
        (GOLD, "= 'France'", "LIKE '%Fran%'"),
        (GOLD, "= 'France'", "IN ('France', 'Italy')"),
        (GOLD, "100", "1000"),
        (GROUPED, "> 2", "> 3"),
        (SHARE, "> 100 THEN", "> 200 THEN"),
        (SHARE, "100.0", "1000.0"),
    ],
    ErrorClass.WRONG_ORDER: [
        (GOLD, "DESC", "ASC"),
        (GOLD, "LIMIT 3", "LIMIT 1"),
        (GOLD, "LIMIT 3", "LIMIT 3 OFFSET 1"),
        (GOLD, " LIMIT 3", ""),
        (GOLD, " ORDER BY T1.Price DESC", ""),
        (GOLD, "ORDER BY T1.Price DESC", "ORDER BY T1.Pages DESC"),
        (GOLD, "ORDER BY T1.Price", "ORDER BY ABS(T1.Price)"),
        (GOLD, "SELECT", "SELECT DISTINCT"),
        (TOP, "MAX", "MIN"),
        (TOP, "WHERE Pages = (SELECT MAX(Pages) FROM Book)", "ORDER BY Pages LIMIT 1"),
        (TOP, "WHERE Pages = (SELECT MAX(Pages) FROM Book)", "ORDER BY Pages DESC LIMIT 1"),
    ],
    ErrorClass.OTHER: [
        (GOLD, "INNER JOIN", "JOIN"),
        (GOLD, "T1.Pages > 100", "T1.Pages > 100 AND TRUE"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("expected", "gold", "old", "new"),
    [(expected, *edit) for expected, edits in EDITS.items() for edit in edits],
)
@pytest.mark.parametrize("dialect", Dialect)
def test_an_edit_of_one_kind_has_its_class(
    dialect: Dialect, expected: ErrorClass, gold: str, old: str, new: str
) -> None:
    prediction = gold.replace(old, new, 1)
    assert prediction != gold
    assert diagnosed(prediction, gold, dialect) is expected


FIRST_ROUND = [
    (ErrorClass.WRONG_TABLES, "Author AS T2", "Genre AS T2"),
    (ErrorClass.WRONG_COLUMNS, "T1.Title, T2.Name", "T1.Title"),
    (ErrorClass.WRONG_AGGREGATION, "FROM Book", ", COUNT(*) FROM Book"),
    (ErrorClass.WRONG_CONDITION, "T1.Pages > 100 AND ", ""),
    (ErrorClass.WRONG_LITERAL, "'France'", "'FR'"),
    (ErrorClass.WRONG_ORDER, "DESC LIMIT 3", "LIMIT 3"),
]


def test_of_several_differences_the_first_in_order_counts() -> None:
    gold = GOLD.replace("FROM Book", ", MAX(T1.Price) FROM Book", 1)
    for place, (expected, *_) in enumerate(FIRST_ROUND):
        prediction = gold
        for error_class, old, new in FIRST_ROUND[place:]:
            if error_class is ErrorClass.WRONG_AGGREGATION:
                prediction = prediction.replace("MAX(T1.Price)", "MIN(T1.Price)")
            else:
                prediction = prediction.replace(old, new, 1)
        assert diagnosed(prediction, gold, Dialect.SQLITE) is expected
    assert [error_class for error_class, *_ in FIRST_ROUND] == [found for found, _ in RULES[:6]]


def test_a_table_that_is_only_joined_comes_after_what_decides_rows() -> None:
    joined = GOLD.replace(" WHERE", " JOIN Loan AS T3 ON T3.Book = T1.BookID WHERE")
    assert diagnosed(joined, GOLD, Dialect.SQLITE) is ErrorClass.WRONG_TABLES
    assert diagnosed(joined.replace("'France'", "'FR'"), GOLD, Dialect.SQLITE) is ErrorClass.WRONG_LITERAL


@pytest.mark.parametrize("gold", [GOLD, GROUPED, SHARE, TOP, UNION])
@pytest.mark.parametrize("dialect", Dialect)
def test_a_prediction_that_says_what_gold_says_has_no_class_of_its_own(dialect: Dialect, gold: str) -> None:
    assert diagnosed(gold, gold, dialect) is ErrorClass.OTHER
