"""Answers of every kind -> the query in them, or none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.predictors.extraction import take_sql

ALL = "all of it"
LABELS = ("answer", "sql", "SQL", "query", "final_answer")
LANGUAGES = ("sql", "SQL", "sqlite", "mysql", "postgresql", "")
PREFIXES = ("SQL:", "Final answer:", "**SQL:**", "**Final Answer**:", "### Answer:\n", "SQLQuery:\n", "> ")
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
    **{f"tags: {tag}": (f"So <{tag}>SELECT 1</{tag}>", "SELECT 1") for tag in LABELS},
    **{f"a key: {key}": (f'{{"{key}": "SELECT 1"}}', "SELECT 1") for key in LABELS},
    **{f"a key in prose: {key}": (f'So {{"{key}": "SELECT 1"}}.', "SELECT 1") for key in LABELS},
    **{f"a block of {tag}": (f"So\n```{tag}\nSELECT 1\n```\n.", "SELECT 1") for tag in LANGUAGES},
    **{f"a word before it: {word}": (f"{word} SELECT 1", "SELECT 1") for word in PREFIXES},
    "a closing tag alone": ("SELECT 1</answer>", "SELECT 1"),
    "a closing tag alone, in prose": ("Here: SELECT 1\n</sql>\nas asked", "SELECT 1"),
    "an opening tag alone": ("<answer>\nSELECT 1\n\nThis is all.", "SELECT 1"),
    "tags that are talked of": ("I use <answer> tags.\n<answer>SELECT 1</answer>", "SELECT 1"),
    "tags in tags": ("<answer><sql>\nSELECT 1\n</sql></answer>", "SELECT 1"),
    "several tags": ("<sql>SELECT 1</sql> or rather <sql>SELECT 2</sql>", "SELECT 2"),
    "tags before a block": ("<answer>SELECT 1</answer>\n```sql\nSELECT 2\n```", "SELECT 1"),
    "tags after a query": ("SELECT 1\n<answer>SELECT 2</answer>", "SELECT 2"),
    "tags after a query and a blank line": ("SELECT 1\n\n<answer>SELECT 2</answer>", "SELECT 2"),
    "tags with a semicolon": ("<answer>SELECT 1;</answer>", "SELECT 1;"),
    "tags with a label": ("<answer>SQL: SELECT 1</answer>", "SELECT 1"),
    "tags in bold": ("<answer>**SELECT 1**</answer>", "SELECT 1"),
    "tags around backticks": ("<answer>`SELECT 1`</answer>", "SELECT 1"),
    "tags around a block": ("<answer>\n```sql\nSELECT 1\n```\n</answer>", "SELECT 1"),
    "tags around a block on their lines": ("<answer>```sql\nSELECT 1\n```</answer>", "SELECT 1"),
    "tags around JSON": ('<answer>{"sql": "SELECT 1"}</answer>', "SELECT 1"),
    "tags within a block": ("```xml\n<answer>SELECT 1</answer>\n```", "SELECT 1"),
    "tags without a query": ("Try SELECT 1\n<answer>none</answer>", None),
    "reasoning, then tags": ("<think><answer>SELECT 1</answer></think><sql>SELECT 2</sql>", "SELECT 2"),
    "CDATA": ("<sql><![CDATA[ SELECT a < 1 ]]></sql>", "SELECT a < 1"),
    "CDATA that was cut off": ("<sql><![CDATA[SELECT 1", "SELECT 1"),
    "escaped": ("<sql>SELECT a &lt; 1 AND b &gt;= &apos;x&apos;</sql>", "SELECT a < 1 AND b >= 'x'"),
    "escaped in prose": ("So: SELECT a &lt; 1; That is all.", "SELECT a < 1;"),
    "an entity in a text": ("<sql>SELECT 'AT&amp;T'</sql>", "SELECT 'AT&amp;T'"),
    "bold": ("**SELECT COUNT(*) FROM t**", "SELECT COUNT(*) FROM t"),
    "bold after a star": ("So: **SELECT ***", "SELECT *"),
    "JSON in a block": ('```json\n{"sql": "SELECT 1"}\n```', "SELECT 1"),
    "JSON in a block without a language": ('```\n{"sql": "SELECT 1"}\n```', "SELECT 1"),
    "JSON in a block that was cut off": ('So\n```json\n{"sql": "SELECT 1"}', "SELECT 1"),
    "JSON with a line break": ('```json\n{"sql": "SELECT 1\nFROM t",}\n```', "SELECT 1\nFROM t"),
    "JSON with escapes": ('So {"sql": "SELECT \\"a\\"\\nFROM t"}', 'SELECT "a"\nFROM t'),
    "JSON, two keys": ('{"sql": "SELECT 1", "query": "SELECT 2"}', "SELECT 1"),
    "JSON, two keys, one in words": ('{"query": "How many?", "sql": "SELECT 1"}', "SELECT 1"),
    "JSON with alternatives": ('{"sql": "SELECT 1", "others": [{"sql": "SELECT 2"}]}', "SELECT 1"),
    "JSON after a block": ('```sql\nSELECT 1\n```\n```json\n{"sql": "SELECT 2"}\n```', "SELECT 2"),
    "JSON before a block": ('{"sql": "SELECT 1"}\n```sql\nSELECT 2\n```', "SELECT 2"),
    "JSON of a key within a query": ('SELECT \'{"sql": "SELECT 1"}\' FROM t', ALL),
    "JSON cut off": ('{"sql": "SELECT 1', None),
    "a block whose query begins beside its language": ("```sql SELECT 1\nFROM t\n```", "SELECT 1\nFROM t"),
    "tags in a text": ("SELECT '<answer>SELECT 1</answer>' FROM t", ALL),
    "a closing tag in a text": ("SELECT a FROM t WHERE b = 'x</answer>y'", ALL),
    "a closing tag in a name": ('SELECT "</sql>" FROM t', ALL),
    "a closing tag in a comment": ("SELECT 1 -- </sql>\nFROM t", ALL),
    "tags in a text in a block": (
        "```sql\nSELECT '<sql>SELECT 1</sql>'\n```",
        "SELECT '<sql>SELECT 1</sql>'",
    ),
    "tags in a text in prose": ("So:\nSELECT '<sql>SELECT 1</sql>'", "SELECT '<sql>SELECT 1</sql>'"),
    "tags in a text in tags": ("<sql>SELECT '<sql>SELECT 1</sql>'</sql>", "SELECT '<sql>SELECT 1</sql>'"),
    "a closing tag in a block in tags": ("<sql>\n```\nSELECT '</sql>'\n```\n</sql>", "SELECT '</sql>'"),
    "less than a name like a tag": ("SELECT a FROM t WHERE a<answer AND b>sql", ALL),
    "less and greater": ("SELECT a FROM t WHERE a<answer>b", ALL),
    "less than a name in tags": ("<sql>SELECT a<answer, b>sql FROM t</sql>", "SELECT a<answer, b>sql FROM t"),
    "an index of an index": ("SELECT a[b[1]]>0 FROM t", ALL),
    "a refusal": ("I cannot answer that.", None),
    "something else than a query": ("DROP TABLE customers", None),
    "nothing": ("", None),
}


@pytest.mark.parametrize(("answer", "sql"), ANSWERS.values(), ids=ANSWERS)
def test_the_query_of_an_answer_is_taken_or_none(answer: str, sql: str | None) -> None:
    assert take_sql(answer) == (answer if sql == ALL else sql)


PIECES = st.sampled_from(
    [*"aS;\n `'\"(){}<>/:-", "SELECT ", "WITH x AS (", "```", "\n```sql\n", "</think>", "<sql>", "</sql>"]
)


@given(st.lists(PIECES).map("".join))
def test_nothing_is_taken_that_is_not_in_the_answer(answer: str) -> None:
    sql = take_sql(answer)
    assert sql is None or sql in answer
