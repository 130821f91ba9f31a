"""The rules of `answer-1`, as the reference shows them: each with an example that a test runs."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ExtractionRule:
    """A rule of `answer-1`, with an answer and the SQL that is taken out of it; None if it has none."""

    name: str
    what: str
    answer: str
    sql: str | None


REPLY_RULES = (
    ExtractionRule(
        "turns",
        "Of several turns the assistant's first counts, up to the next question of anybody else. Marks of"
        " chat"
        " templates are left out, those of gpt-oss's channels too: the final one counts.",
        "<|im_start|>assistant\nSELECT 1<|im_end|>\n<|im_start|>user\nMore?",
        "SELECT 1",
    ),
    ExtractionRule(
        "reasoning",
        "Reasoning in tags (`<think>`, `<reasoning>`, `<reason>`, `<reflection>`, `<scratchpad>`, ...) is"
        " left"
        " out. An answer that was cut off within it has no SQL.",
        "<think>SELECT 1?</think>\nSELECT 2",
        "SELECT 2",
    ),
    ExtractionRule(
        "quotes",
        "Quoted lines that hold a query or a fence lose their `>`.",
        "> ```sql\n> SELECT 1\n> ```",
        "SELECT 1",
    ),
    ExtractionRule(
        "escaped lines",
        "A text of one line whose line breaks are written as `\\n`, before any quote, is unescaped.",
        "The SQL:\\nSELECT a\\nFROM t",
        "SELECT a\nFROM t",
    ),
    ExtractionRule(
        "bird",
        "What follows BIRD's separator is no SQL.",
        "SELECT 1\t----- bird -----\tfinancial",
        "SELECT 1",
    ),
)
"""What of an answer is read."""

KIND_RULES = (
    ExtractionRule(
        "answer",
        "Tags of an answer (`<answer>`, `<final_answer>`, `<solution>`) and `\\boxed{}`. Nothing else"
        " counts then;"
        " if they hold something else than a query, there is none.",
        "<sql>SELECT 1</sql> <answer>SELECT 2</answer>",
        "SELECT 2",
    ),
    ExtractionRule(
        "tag",
        "Tags of a query: `<sql>`, `<query>`, `[SQL]`, `<output>` and the like. A closing tag may be"
        " missing.",
        "<sql>SELECT 1</sql>",
        "SELECT 1",
    ),
    ExtractionRule(
        "block",
        "Code blocks: backticks or tildes, in list items, on one line, cut off, opened by the prompt. Of"
        " a program,"
        " the last literal that is a query, with those that are joined to it.",
        "So:\n```sql\nSELECT 1\n```\nDone.",
        "SELECT 1",
    ),
    ExtractionRule(
        "document",
        "JSON, or a Python literal: keys of SQL come before those of queries, these before `answer` and"
        " the like;"
        " a final query before others, a draft after them. Values are read as answers themselves.",
        '{"draft_sql": "SELECT 1", "result": {"final_sql": "SELECT 2"}}',
        "SELECT 2",
    ),
    ExtractionRule(
        "prose",
        "A query at the beginning of a line, or after a colon, a label or a quote. It ends at its"
        " semicolon, a tag,"
        " a fence, a heading, a label, or where prose begins.",
        "Final answer: SELECT 1\nSELECT was used because one row is wanted.",
        "SELECT 1",
    ),
    ExtractionRule(
        "inline", "A query in backticks, or in LaTeX's `texttt` and `verb`.", "It is `SELECT 1`.", "SELECT 1"
    ),
    ExtractionRule(
        "cell",
        "A cell of a Markdown table that is a statement; the last one counts.",
        "| step | SQL |\n|---|---|\n| 1 | SELECT a FROM t |",
        "SELECT a FROM t",
    ),
    ExtractionRule(
        "mention",
        "If there is no other: `SELECT ... FROM ...` within a sentence.",
        "The query is SELECT a FROM t.",
        "SELECT a FROM t",
    ),
    ExtractionRule(
        "continuation",
        "A text that continues a prompt that ends with `SELECT`; the word is put before it.",
        " COUNT(*) FROM t",
        "SELECT COUNT(*) FROM t",
    ),
)
"""How a query is marked, strongest first."""

CHOICE_RULES = (
    ExtractionRule(
        "parses",
        "A query that parses as one statement in the answer's dialect comes before one that does not."
        " Only the"
        " first 2,000 characters of candidates are parsed; what is longer counts as a statement.",
        "```sql\nSELECT a FROM t\n```\nPattern:\n```sql\nSELECT <column> FROM <table>\n```",
        "SELECT a FROM t",
    ),
    ExtractionRule(
        "emphasis",
        "One that is called final or a correction comes before others; one that is called an alternative, an"
        " example or a part of an explanation, or to which another is preferred (`rather than`), comes after"
        " them.",
        "```sql\nSELECT 1\n```\nAlternatively:\n```sql\nSELECT 2\n```",
        "SELECT 1",
    ),
    ExtractionRule(
        "engine",
        "One that is labelled for other engines than the answer's comes after others.",
        "SQLite:\n```sql\nSELECT 1\n```\nMySQL:\n```sql\nSELECT 2\n```",
        "SELECT 1",
    ),
    ExtractionRule(
        "choice",
        "One that is chosen by its label after all of them comes first.",
        "Option 1:\n```sql\nSELECT 1\n```\nOption 2:\n```sql\nSELECT 2\n```\nI recommend option 1.",
        "SELECT 1",
    ),
    ExtractionRule(
        "last",
        "Then the stronger mark counts, then the last query: models give their answer at the end.",
        "```sql\nSELECT 1\n```\nBetter:\n```sql\nSELECT 2\n```",
        "SELECT 2",
    ),
    ExtractionRule(
        "statements",
        "Of several statements, in a block or not, the last that is a query counts.",
        "```sql\nCREATE TABLE t (a INT);\nSELECT a FROM t;\n```",
        "SELECT a FROM t;",
    ),
)
"""Which of several queries is the answer."""

TEXT_RULES = (
    ExtractionRule(
        "literals",
        "A mark within a literal, a name or a comment of a query is a part of it.",
        "SELECT '</sql>' FROM t",
        "SELECT '</sql>' FROM t",
    ),
    ExtractionRule(
        "comments",
        "Comments before a query belong to it.",
        "/* count */ SELECT 2",
        "/* count */ SELECT 2",
    ),
    ExtractionRule(
        "entities",
        "A query with entities of HTML outside of literals was escaped, and is unescaped.",
        "SELECT a FROM t WHERE a &#60; 5",
        "SELECT a FROM t WHERE a < 5",
    ),
    ExtractionRule(
        "breaks",
        "`<br>` outside of literals is a new line, unless the query is a statement with it.",
        "SELECT a<br>FROM t",
        "SELECT a\nFROM t",
    ),
    ExtractionRule(
        "quoting",
        "Of a quoted text of YAML, doubled or escaped quotes stand for one.",
        "sql: 'SELECT a FROM t WHERE b = ''x'''",
        "SELECT a FROM t WHERE b = 'x'",
    ),
    ExtractionRule(
        "nothing", "An answer without a query has no SQL. None is invented.", "I cannot answer that.", None
    ),
)
"""What is taken of a query."""

RULES = {
    "What of an answer is read": REPLY_RULES,
    "How a query is marked": KIND_RULES,
    "Which query counts": CHOICE_RULES,
    "What is taken": TEXT_RULES,
}
"""The rules by part."""
