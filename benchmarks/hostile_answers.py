"""Measure how long a policy of extraction takes for hostile answers of a megabyte.

The texts repeat every piece that `tests.linear` attacks readers with, and more of them; others are shapes
(nested fences, tags, documents and braces, comments that nobody closes, labels without an end, escapes,
quotes). Each comes after several beginnings and before several ends. Then come random mixtures of pieces,
and every pair of those of `tests.linear`. The engines take turns.

Each text is read once, and the slowest ones several times, by the processor time of the thread. Prints the
slowest, and exits with 1 if a median is above the limit.

    python -m benchmarks.hostile_answers
"""

import gc
import itertools
import random
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Annotated

import typer

from dialects.enums import Dialect
from harness.data.answers import LONGEST, Extract, extract
from tests.linear import attacks, test_functions

DIALECTS = (Dialect.SQLITE, Dialect.MYSQL, Dialect.POSTGRESQL, Dialect.DUCKDB)
LIMIT = 50.0
"""Milliseconds for a text of a megabyte."""
ATTACKS = tuple(dict.fromkeys([*test_functions.PIECES, *attacks.PIECES]))
PIECES = tuple(dict.fromkeys([
    *ATTACKS,
    "> ", "> > ", "\r\n", "\r", "\\n", '\\"', "&#60;", "&#x27;", "&amp;lt;", "<br>", "<![CDATA[", "]]>",
    "<answer>", "</answer>", "<pre>", "<code>", "<tool_call>", "\\boxed{", "\\texttt{", '{"sql": "', '{"a":',
    "[[", "}", '"sql"', "'sql': '", "sql: |\n  ", "| SELECT a FROM t |", "|", "||", "Final answer: ", "SQL: ",
    "最终答案\uff1a", "Answer:\n", "Question:", "### ", "1. ", "- ", "select a from t\n", "SELECT a FROM t\n",
    "SELECT a FROM t;\n", "SELECT a FROM t. ", "SELECT a, b\n\n", "(SELECT ", "WITH a AS (SELECT 1) ",
    "VALUES (1)", "FROM t ", "UNION ", "'SELECT 1'", '"SELECT a FROM t" + \n', "`SELECT a FROM t` ",
    "```sql\nSELECT a FROM t\n```\n", '```json\n{"sql": "SELECT 1"}\n```\n', "Wait, ", "Option 1: ",
    "<|im_start|>", "<|im_end|>\n", "<|channel|>final", "[INST]", "[SQL]", "assistant\n\n",
    "\ufeff", "\u200b",
    "\uff1a", "“", "\U0001d4ae", "COUNT(", "CASE WHEN ", "NOT ", "a + ", "a.b ", "x = 'a' AND ", "1, ",
]))  # fmt: skip
BEGINNINGS = ("", "So:\nSELECT 1 ", "```sql\n", "<sql>", "</think>", '{"sql": "', "\\boxed{")
ENDS = ("", "\nSELECT a FROM t", "\n```\n")


def _times(piece: str, size: int) -> str:
    return piece * (size // len(piece))


def _nested(opening: str, middle: str, closing: str) -> Callable[[int], str]:
    """Return what nests as deeply as the end of a text that is read allows, after a long beginning."""

    def text(size: int) -> str:
        depth = (LONGEST - 500 - len(middle)) // (len(opening) + len(closing))
        inner = opening * depth + middle + closing * depth
        return "word " * ((size - len(inner)) // 5) + "\n" + inner

    return text


def _numbered(line: str) -> Callable[[int], str]:
    """Return lines that differ by their number: what is remembered of one helps with no other."""

    def text(size: int) -> str:
        count = size // (len(line) + 6)
        return "".join(line.replace("@", str(number)) for number in range(count))

    return text


SHAPES: Mapping[str, Callable[[int], str]] = {
    "fences in fences": lambda size: "".join("`" * (3 + n % 90) + "sql\n" for n in range(size // 50)),
    "fences of two kinds": lambda size: _times("~~~sql\nSELECT 1\n```sql\nSELECT 2\n", size),
    "fences in lists": _numbered("1. ```sql\n   SELECT @ FROM t\n   ```\n"),
    "fences without an end": _numbered("```sql\nSELECT @ FROM t\n"),
    "blocks": _numbered("```sql\nSELECT a@ FROM t\n```\nThe final answer:\n"),
    "blocks of Python": _numbered('```python\nq = "SELECT a@ " \\\n  "FROM t"\n```\n'),
    "tags": _nested("<sql>", "SELECT a FROM t", "</sql>"),
    "tags of answers": _nested("<answer><sql>", "SELECT a FROM t", "</sql></answer>"),
    "tags that cross": lambda size: _times("<sql><query></sql></query>", size),
    "tags with attributes": _numbered("<parameter=a@ b=c>SELECT a@ FROM t</parameter>\n"),
    "CDATA": _numbered("<sql><![CDATA[SELECT a@ FROM t]]></sql>"),
    "JSON's depth": _nested('{"sql":', '"SELECT a FROM t"', "}"),
    "JSON's depth, cut off": lambda size: _times('{"sql":', size),
    "lists' depth": _nested("[", '"SELECT a FROM t"', "]"),
    "JSON in JSON": lambda size: _times('{"sql": "{\\"sql\\": \\"SELECT 1', size),
    "documents": _numbered('{"sql": "SELECT a@ FROM t"}\n'),
    "a document's keys": lambda size: '{"a": 1' + _numbered(', "sql@": "SELECT @"')(size) + "}",
    "quotes that nobody escaped": _numbered('{"sql": "SELECT "a@" FROM t", "b": "c" d}\n'),
    "lists of texts": lambda size: "['" + _times("SELECT a', 'FROM t\n", size),
    "braces": lambda size: _times("{", size) + "SELECT a FROM t",  # noqa: S608 - never executed
    "boxes": _nested("\\boxed{", "SELECT a FROM t", "}"),
    "boxes without an end": lambda size: _times("\\boxed{SELECT a FROM t ", size),
    "boxes of text": _nested("\\boxed{\\text{", "SELECT a FROM t", "}}"),
    "LaTeX": _numbered("\\verb|SELECT a@ FROM t| and \\texttt{SELECT a\\_@ FROM t}\n"),
    "comments that nobody closes": lambda size: "SELECT a FROM t\n" + _times("/* a\n", size),  # noqa: S608 - never executed
    "comments in comments": _nested("/*", "SELECT a FROM t", "*/"),
    "comments of a line": _numbered("-- a@\n"),
    "comments before queries": _numbered("-- a@\nSELECT @ FROM t\n"),
    "comments within a query": lambda size: "SELECT a\n" + _times("-- b\n, c\n", size) + "FROM t",
    "labels": lambda size: _times("Final answer: ", size),
    "labels with queries": _numbered("Final answer: SELECT a@ FROM t\n"),
    "labels of engines": _numbered("MySQL: SELECT a@ FROM t\nSQLite: SELECT b@ FROM t\n"),
    "options": _numbered("Option @: SELECT a@ FROM t\nI recommend option @\n"),
    "corrections": _numbered("Wait, wrong: SELECT a@ FROM t\n"),
    "statements": _numbered("SELECT a@ FROM t;\n"),
    "statements of a line": lambda size: _times("SELECT a FROM t; ", size),
    "queries and prose": _numbered("SELECT a@ FROM t\nThis is what it does\n"),
    "queries and blank lines": _numbered("SELECT a@,\n\nb\n\nFROM t\n\n"),
    "queries that are none": _numbered("SELECT a@ FROM WHERE\n"),
    "mentions": lambda size: _times("we use SELECT a FROM t here and ", size),
    "mentions without a table": lambda size: _times("we SELECT a, ", size),
    "inline": _numbered("Use `SELECT a@ FROM t` here. "),
    "inline, two marks": _numbered("``SELECT `a@` FROM t`` "),
    "cells": _numbered("| @ | SELECT a@ FROM t | 'a|b' |\n"),
    "cells without an end": lambda size: "| a " + _times("| SELECT 'a ", size),
    "entities": lambda size: "SELECT a FROM t WHERE a " + _times("&lt;", size),  # noqa: S608 - never executed
    "entities in literals": lambda size: "SELECT '" + _times("&lt;''", size),
    "quoted lines": _numbered("> SELECT a@ FROM t\n"),
    "quotes of quotes": lambda size: _times("> " * 100 + "SELECT a FROM t\n", size),
    "quoted fences": _numbered("> ```sql\n> SELECT a@ FROM t\n> ```\n"),
    "CRLF": _numbered("SELECT a@\r\n\r\nFROM t\r\n\r\n"),
    "CR": _numbered("SELECT a@\rFROM t\r"),
    "Unicode": _numbered("查询@\uff1aSELECT 名@ FROM 表\uff1b“SELECT b” «SELECT c»\n"),
    "marks of order": lambda size: _times("\ufeff\u200b", size) + "SELECT a FROM t",  # noqa: S608 - never executed
    "smileys": lambda size: "SELECT '" + _times("\U0001f600", size // 2),
    "turns": _numbered("<|im_start|>user\n@<|im_end|>\n<|im_start|>assistant\nSELECT @<|im_end|>\n"),
    "channels": _numbered("<|channel|>analysis<|message|>SELECT @<|end|><|channel|>final<|message|>SELECT @"),
    "thoughts": _numbered("<think>SELECT a@</think>SELECT b@\n"),
    "thoughts of many names": _numbered("<think><plan><cot>SELECT a@</cot></plan>\n"),
    "thoughts in literals": _numbered("SELECT '<think>' , '</think>', @ "),
    "YAML": _numbered("sql: |\n  SELECT a@\n  FROM t\n"),
    "clients": _numbered("mysql> SELECT a@\n    -> FROM t;\n"),
    "line breaks of HTML": _numbered("SELECT a@<br>FROM t<br>"),
    "diff": _numbered("```diff\n-SELECT a@ FROM t\n+SELECT b@ FROM t\n```\n"),
    "a long query": lambda size: "SELECT a FROM t WHERE b IN (" + _times("1, ", size) + "2)",  # noqa: S608 - never executed
    "a long query of lines": lambda size: "SELECT a,\n" + _times("b,\n", size) + "c FROM t",  # noqa: S608 - never executed
    "a long literal": lambda size: "SELECT '" + _times("''", size) + "' FROM t",  # noqa: S608 - never executed
    "brackets": _nested("(", "SELECT 1", ")"),
    "brackets at a label": lambda size: _times("Answer: SELECT ((((((((((1 FROM t\nSo this is\n", size),
    "brackets in queries": _numbered("```sql\nSELECT " + "(" * 40 + "@" + ")" * 40 + " FROM t\n```\n"),
    "operators": _numbered("```sql\nSELECT " + "a + " * 60 + "@ FROM t\n```\n"),
    "cases": _numbered("```sql\nSELECT " + "CASE WHEN a THEN " * 15 + "@" + " END" * 15 + " FROM t\n```\n"),
    "calls": _numbered("```sql\nSELECT " + "ABS(" * 50 + "@" + ")" * 50 + " FROM t\n```\n"),
    "negations": _numbered("```sql\nSELECT " + "NOT " * 60 + "@ FROM t\n```\n"),
    "signs": _numbered("```sql\nSELECT " + "- " * 120 + "@ FROM t\n```\n"),
    "unions": _numbered("```sql\n" + "SELECT 1 UNION " * 15 + "SELECT @\n```\n"),
    "subqueries": _numbered("```sql\n" + "SELECT * FROM (" * 15 + "SELECT @" + ")" * 15 + "\n```\n"),
    "casts": _numbered("```sql\nSELECT a" + "::int" * 50 + ", @ FROM t\n```\n"),
    "joins": _numbered("```sql\nSELECT @ FROM t" + " JOIN u USING (a)" * 12 + "\n```\n"),
    "broken blocks": _numbered("```sql\nSELECT a, FROM t WHERE @ = = 1 AND\n```\n"),
}  # fmt: skip
"""Texts of roughly a size, each by its own rule."""
_MIXTURES = 1_000


@dataclass(frozen=True)
class HostileText:
    """A text, told by how it is made, and the engine whose answer it is."""

    name: str
    make: Callable[[], str]
    dialect: Dialect


def hostile_texts(size: int, *, has_pairs: bool, seed: int = 1) -> Iterator[HostileText]:
    """Yield every text, of `size` characters or a few more."""
    frames = list(itertools.product(BEGINNINGS, ENDS))
    dialects = itertools.cycle(DIALECTS)
    for piece, frame in itertools.product(PIECES, frames):
        yield _repeated(piece, *frame, next(dialects), size)
    for name, make in SHAPES.items():
        body = cache(partial(make, size))  # Others take as long to make as to read.
        for frame in frames:
            yield HostileText(f"{name}{_framed(*frame)}", partial(_text, body, *frame), next(dialects))
    drawn = random.Random(seed)  # noqa: S311 - a seeded order
    for number in range(_MIXTURES):
        few = drawn.sample(PIECES, drawn.randint(3, 12))
        unit = "".join(drawn.choices(few, k=2_000))
        yield HostileText(f"mixture {number} of {few}", partial(_times, unit, size), next(dialects))
    framed = itertools.cycle(frames)
    for first, second in itertools.permutations(ATTACKS, 2) if has_pairs else ():
        yield _repeated(first + second, *next(framed), next(dialects), size)


def _repeated(piece: str, beginning: str, end: str, dialect: Dialect, size: int) -> HostileText:
    make = partial(_text, partial(_times, piece, size), beginning, end)
    return HostileText(f"{piece!r} repeated{_framed(beginning, end)}", make, dialect)


def _text(body: Callable[[], str], beginning: str, end: str) -> str:
    return beginning + body() + end


def _framed(beginning: str, end: str) -> str:
    return f"{beginning and f', after {beginning!r}'}{end and f', before {end!r}'}"


def milliseconds(text: str, policy: Extract, dialect: Dialect) -> float:
    """Return the processor time of one reading."""
    begun = time.thread_time()
    extract(text, policy, dialect)
    return 1_000 * (time.thread_time() - begun)


def main(  # noqa: PLR0913, PLR0917 - a benchmark's options
    size: Annotated[int, typer.Option(help="Characters of a text.", min=1)] = 1_000_000,
    policy: Annotated[Extract, typer.Option(help="What is measured.")] = Extract.ANSWER_1,
    runs: Annotated[int, typer.Option(help="Readings of each of the slowest texts.", min=1)] = 5,
    slowest: Annotated[int, typer.Option(help="Texts that are read several times and shown.", min=1)] = 20,
    limit: Annotated[float, typer.Option(help="Milliseconds; a median above it is an error.")] = LIMIT,
    every: Annotated[int, typer.Option(help="Read every n-th text only.", min=1)] = 1,
    pairs: Annotated[bool, typer.Option(help="Read every pair of pieces, too.")] = True,  # noqa: FBT002 - an option
) -> None:
    """Print a row for each of the slowest texts, and how many there are."""
    for dialect in DIALECTS:  # What is imported and compiled at the first answer is no part of the next one.
        extract("```sql\nSELECT a FROM t\n```\n```sql\nSELECT b FROM t\n```", policy, dialect)
    gc.freeze()
    texts = itertools.islice(hostile_texts(size, has_pairs=pairs), 0, None, every)
    first = [(milliseconds(each.make(), policy, each.dialect), each) for each in texts]
    first.sort(key=lambda one: one[0], reverse=True)
    # One reading may be slow because of what else the machine does; none is too quick.
    measured = []
    for _, each in first[: 5 * slowest]:
        text = each.make()
        times = [milliseconds(text, policy, each.dialect) for _ in range(runs)]
        measured.append((statistics.median(times), max(times), each))
    measured.sort(key=lambda one: one[:2], reverse=True)
    print("| text | dialect | median (ms) | maximum (ms) |\n|---|---|--:|--:|")
    for median, most, each in measured[:slowest]:
        print(f"| {each.name.replace('|', chr(92) + '|')} | {each.dialect} | {median:.1f} | {most:.1f} |")
    once = [taken for taken, _ in first]
    print(
        f"\n{len(first):,} texts of {size:,} characters, each once: median {statistics.median(once):.1f} ms;"
        f"\nof the slowest {len(measured)}, each read {runs} times: highest median {measured[0][0]:.1f} ms,"
        f" highest of all {max(most for _, most, _ in measured):.1f} ms"
    )
    if measured[0][0] > limit:
        raise SystemExit(f"a text takes {measured[0][0]:.1f} ms, more than {limit:g}")


if __name__ == "__main__":
    typer.run(main)
