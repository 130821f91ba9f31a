"""Answers of every kind -> the query in them, or none."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.predictors.extraction import take_sql

ANSWERS = {
    "nothing but SQL": ("SELECT 1", "SELECT 1"),
    "SQL and a semicolon": ("SELECT 1;", "SELECT 1;"),
    "a block": ("```sql\nSELECT 1;\n```", "SELECT 1;"),
    "a block without a language": ("```\nSELECT 1\n```", "SELECT 1"),
    "a block of tildes": ("~~~sql\nSELECT 1\n~~~", "SELECT 1"),
    "a block in prose": ("Sure!\n```sql\nSELECT a\nFROM t\n```\nThis works.", "SELECT a\nFROM t"),
    "a block on one line": ("```sql SELECT 5```", "SELECT 5"),
    "a block that was cut off": ("```sql\nSELECT 6", "SELECT 6"),
    "a closing fence alone": ("SELECT 1\n```\nIt selects 1.", "SELECT 1"),
    "the last of several blocks": (
        "First:\n```sql\nSELECT 1\n```\nBetter:\n```sql\nSELECT 2\n```\nDone.",
        "SELECT 2",
    ),
    "a block of rows after that of SQL": ("```sql\nSELECT 1\n```\nIt gives\n```\n| 1 |\n```", "SELECT 1"),
    "a block that is no SQL, then SQL": ("```\nplan: count\n```\nSELECT 4", "SELECT 4"),
    "SQL in backticks": ("The answer is `SELECT 3`.", "SELECT 3"),
    "a label": ("Answer: SELECT a FROM t", "SELECT a FROM t"),
    "prose after the semicolon": ("SELECT a FROM t; Hope it helps", "SELECT a FROM t;"),
    "a semicolon in a text": ("SELECT ';' FROM t; That is all", "SELECT ';' FROM t;"),
    "a semicolon in a comment": (
        "SELECT 1 -- one; really\nFROM t;\nDone",
        "SELECT 1 -- one; really\nFROM t;",
    ),
    "prose after a blank line": ("SELECT a\n\nFROM t\n\nThis query selects a.", "SELECT a\n\nFROM t"),
    "With as an English word": ("With this in mind:\nSELECT 1", "SELECT 1"),
    "Select as an English word": ("Select the rows that you like.", None),
    "a common table expression": (
        "WITH x AS (SELECT 1) SELECT * FROM x",
        "WITH x AS (SELECT 1) SELECT * FROM x",
    ),
    "a recursive one in prose": (
        "Here:\nWITH RECURSIVE c(n) AS (SELECT 1) SELECT n FROM c",
        "WITH RECURSIVE c(n) AS (SELECT 1) SELECT n FROM c",
    ),
    "a subquery on a line of its own": (
        "So:\nSELECT a FROM t WHERE b IN (\nSELECT c FROM d\n)",
        "SELECT a FROM t WHERE b IN (\nSELECT c FROM d\n)",
    ),
    "two queries in prose": ("Try SELECT?\nSELECT 1;\nor rather\nSELECT 2;", "SELECT 2;"),
    "a compound in brackets": ("(SELECT 1) UNION (SELECT 2)", "(SELECT 1) UNION (SELECT 2)"),
    "reasoning before it": ("<think>SELECT no</think>\nSELECT yes", "SELECT yes"),
    "reasoning that the prompt opened": ("SELECT no</think>SELECT yes", "SELECT yes"),
    "reasoning that was cut off": ("<think>I would SELECT a FROM", None),
    "JSON": ('{"sql": "SELECT 1", "confidence": 0.5}', "SELECT 1"),
    "JSON of another kind": ('{"query": "SELECT 2"}', "SELECT 2"),
    "JSON without a query": ('{"sql": "no"}', None),
    "a refusal": ("I cannot answer that.", None),
    "something else than a query": ("DROP TABLE customers", None),
    "nothing": ("", None),
}


@pytest.mark.parametrize(("answer", "sql"), ANSWERS.values(), ids=ANSWERS)
def test_the_query_of_an_answer_is_taken_or_none(answer: str, sql: str | None) -> None:
    assert take_sql(answer) == sql


PIECES = st.sampled_from([*"aS;\n `'\"(){}<>/:-", "SELECT ", "WITH x AS (", "```", "\n```sql\n", "</think>"])


@given(st.lists(PIECES).map("".join))
@settings(max_examples=400, derandomize=True, deadline=None)
def test_nothing_is_taken_that_is_not_in_the_answer(answer: str) -> None:
    sql = take_sql(answer)
    assert sql is None or sql in answer
