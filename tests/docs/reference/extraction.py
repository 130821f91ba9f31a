"""The page of how SQL is taken out of answers."""

import json

from harness.data import answers
from harness.data.answers.candidates import MOST_MARKS
from harness.data.answers.rules import RULES
from tests.docs.reference.markdown import cell
from tests.docs.reference.vocabularies import enum_table
from tests.docs.reference.written import WRITTEN

_ABOUT = """\
Models answer with reasoning, fences, tags, JSON and prose. Which SQL is taken out of that decides points,
so there is one set of rules, and it has a name. The option `extract` chooses it everywhere: `--extract` of
`eval`, `predict`, `reproduce`, `serve` and `mcp`, `extract=` of [`Evaluator`](api.md#evaluator), of the
reward functions and of `DatabaseTools`, and `extract` in a request to the server.

A name never changes what it means: other rules get another name. Run folders, bundles, replies of the server
and of MCP's `score` record it. `compare` names it where two runs differ, and `board` has a page for each.

| where | default |
|---|---|
| `eval`, `Evaluator`, `serve`; `predict` for functions, commands and files | `none` |
| `predict` for models, `mcp`, reward functions and every adapter | `answer-1` |
| `reproduce` | `fences` |

An answer without SQL is wrong: `missing` in a prediction file, `prediction_error` if it is scored by the
library, a server or an adapter, with the words `the answer has no SQL in it`. Nothing is executed for it.
"""

_RULES = f"""\
## The rules of answer-1

The first {answers.LONGEST:,} characters of an answer, or the last ones if it does not begin with a query,
are read, and up to {MOST_MARKS:,} marks (fences, tags, keys, ...) in them. A bare `VALUES (1), (2)` is a
query, too, and in answers for DuckDB `FROM t SELECT a` or `FROM t`.
"""


def extraction() -> str:
    """The page."""
    parts = [WRITTEN, "# Extraction of SQL\n", _ABOUT, *enum_table(answers.Extract, answers), _RULES]
    for title, rules in RULES.items():
        parts += [f"### {title}\n", "| rule | what it does | answer | SQL |\n|---|---|---|---|"]
        parts += [
            f"| {rule.name} | {cell(rule.what)} | {_code(rule.answer)} |"
            f" {'none' if rule.sql is None else _code(rule.sql)} |"
            for rule in rules
        ]
        parts.append("")
    return "\n".join(parts)


def _code(text: str) -> str:
    """Return a text as code in a table's cell, with the escapes of JSON."""
    code = json.dumps(text, ensure_ascii=False)[1:-1].replace('\\"', '"').replace("|", "\\|")
    return f"`` {code} ``"
