"""The paper's groups of errors, by what the database holds and evidence explains."""

import pytest

from dialects.enums import Dialect
from harness.analyses.error_groups import error_group
from harness.engines.errors import ErrorClass
from harness.sqltree.diagnosis import ErrorGroup, read
from harness.sqltree.diagnosis.differences import Equated
from tests.harness.sqltree.diagnosis.library import LIBRARY, diagnosed

STORED = {"author.country": {"France", "Spain", "uk"}, "genre.genre": {"novel"}, "book.title": {"Dracula"}}


def held(one: Equated) -> bool | None:
    values = STORED.get(one.column)
    return None if values is None else one.text.strip("%") in values


def group(prediction: str, gold: str, question: str = "", evidence: str = "") -> ErrorGroup:
    return error_group(
        diagnosed(prediction, gold, Dialect.SQLITE),
        None,
        question=question,
        evidence=evidence,
        prediction=read(prediction, Dialect.SQLITE, LIBRARY),
        gold=read(gold, Dialect.SQLITE, LIBRARY),
        holds=held,
    )


BY_COUNTRY = "SELECT Name FROM Author WHERE Country = '{}'"
NOWHERE = BY_COUNTRY.format("nowhere")
LIKE = "SELECT Name FROM Author WHERE Country LIKE '{}'"
BY_PAGES = "SELECT Title FROM Book WHERE Pages > {}"
OLDEST = "SELECT Title FROM Book ORDER BY Published {} LIMIT 1"
TOTAL = "SELECT SUM(Fine) FROM Loan"
JOINED = "SELECT Title FROM Book JOIN Author ON Book.{} = Author.AuthorID"
CASES = [
    # A value that no row has, whatever evidence says; then one that is there, and another is meant.
    ("database_content", BY_COUNTRY.format("french"), BY_COUNTRY.format("France"), "", "it is 'France'"),
    ("database_content", BY_COUNTRY.format("france"), BY_COUNTRY.format("France"), "", ""),
    ("database_content", LIKE.format("%Span%"), BY_COUNTRY.format("Spain"), "", ""),
    ("knowledge_evidence", BY_COUNTRY.format("Spain"), BY_COUNTRY.format("uk"), "Who is British?", "'uk'"),
    ("unassigned", BY_COUNTRY.format("Spain"), BY_COUNTRY.format("uk"), "Who is from the uk?", "'uk'"),
    # Gold has the value as well, perhaps in another column, or nobody knows whether it is stored.
    ("schema_linking", f"{NOWHERE} AND Editor = 1", NOWHERE, "", ""),
    ("schema_linking", BY_COUNTRY.format("Ann"), "SELECT Name FROM Author WHERE Name = 'Ann'", "", ""),
    ("unassigned", "SELECT Day FROM Loan WHERE Fine = 'x'", "SELECT Day FROM Loan WHERE Fine = 'y'", "", ""),
    # A threshold of evidence, and one that the question has itself.
    ("knowledge_evidence", BY_PAGES.format(100), BY_PAGES.format(500), "Which are long?", "Pages > 500"),
    ("unassigned", BY_PAGES.format(100), BY_PAGES.format(500), "Which have over 500 pages?", "Pages > 500"),
    # A formula, and what is sorted by.
    ("knowledge_evidence", TOTAL, f"{TOTAL} HAVING COUNT(*) > 1", "", "DIVIDE(SUM(Fine), COUNT(Day))"),
    ("unassigned", TOTAL, "SELECT COUNT(Fine) FROM Loan", "", ""),
    ("knowledge_evidence", OLDEST.format("DESC"), OLDEST.format("ASC"), "The oldest?", "MIN(published)"),
    ("unassigned", OLDEST.format("DESC"), OLDEST.format("ASC"), "The first?", ""),
    # Other tables, columns and joins; more columns in the result, or another order of them, are none.
    ("schema_linking", "SELECT Day FROM Loan", "SELECT Title FROM Book", "", ""),
    ("schema_linking", "SELECT Price FROM Book", "SELECT Pages FROM Book", "", ""),
    ("schema_linking", JOINED.format("BookID"), JOINED.format("AuthorID"), "", ""),
    ("unassigned", "SELECT Price, Pages FROM Book", "SELECT Pages, Price FROM Book", "", ""),
    ("unassigned", "SELECT Title, Price FROM Book", "SELECT Title FROM Book", "", ""),
]  # fmt: skip


@pytest.mark.parametrize(("expected", "prediction", "gold", "question", "evidence"), CASES)
def test_a_text_that_runs_is_sorted_by_values_evidence_and_columns(
    expected: str, prediction: str, gold: str, question: str, evidence: str
) -> None:
    assert group(prediction, gold, question, evidence) == expected


@pytest.mark.parametrize(
    ("error_class", "error", "expected"),
    [
        (ErrorClass.SYNTAX, 'near "WHERE": syntax error', ErrorGroup.SYNTAX),
        (ErrorClass.SYNTAX, "no such function: DIVIDE", ErrorGroup.KNOWLEDGE_EVIDENCE),
        (ErrorClass.SYNTAX, "no such function: YEAR", ErrorGroup.SYNTAX),
        (ErrorClass.SYNTAX, "execute command denied to user 'x' for routine 'db.divide'",
         ErrorGroup.KNOWLEDGE_EVIDENCE),
        (ErrorClass.UNKNOWN_TABLE, "no such table: lap_records", ErrorGroup.DATABASE_CONTENT),
        (ErrorClass.UNKNOWN_COLUMN, "no such column: rtype", ErrorGroup.DATABASE_CONTENT),
        (ErrorClass.UNKNOWN_COLUMN, "ambiguous column name: id", ErrorGroup.SYNTAX),
        (ErrorClass.UNKNOWN_COLUMN, "Column 'id' in field list is ambiguous", ErrorGroup.SYNTAX),
        (ErrorClass.UNKNOWN_TABLE, "Not unique table/alias: 'colour'", ErrorGroup.SYNTAX),
        (ErrorClass.UNKNOWN_TABLE, 'table name "colour" specified more than once', ErrorGroup.SYNTAX),
        (ErrorClass.TYPE_ERROR, "operator does not exist: text > integer", ErrorGroup.DATABASE_CONTENT),
        (ErrorClass.OTHER, None, ErrorGroup.UNASSIGNED),
    ],
)  # fmt: skip
def test_an_error_of_the_engine_is_sorted_by_its_class_and_names(
    error_class: ErrorClass, error: str | None, expected: ErrorGroup
) -> None:
    evidence = "ratio = DIVIDE(COUNT(a), COUNT(b)) if YEAR(d) = 2001"
    found = error_group(
        error_class, error, question="", evidence=evidence, prediction=None, gold=None, holds=held
    )
    assert found is expected
