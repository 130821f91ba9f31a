"""The functions of SQLite on other engines: what each row's example is translated to."""

import re
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from dialects.enums import Dialect
from dialects.errors import Untranslatable
from dialects.functions import EXAMPLES, FUNCTIONS, Function
from dialects.identifiers import FUNCTIONS_NAMESPACE
from dialects.schema import Schema
from dialects.targets import TARGETS
from dialects.translation import translate
from loaders.file_census import census
from tests.docs.reference.markdown import cell
from tests.docs.reference.written import COMMAND
from tests.sqlite_files import sqlite_file

_BEGIN = f"<!-- Functions: written by `{COMMAND}` from `dialects/functions.py`. -->\n"
_END = "<!-- End of functions. -->\n"

_TOPICS = {
    "lang_corefunc.html": "Core functions",
    "lang_mathfunc.html": "Mathematics",
    "lang_datefunc.html": "Dates and times",
    "json1.html": "JSON functions",
    "lang_aggfunc.html": "Aggregates",
    "windowfunctions.html": "Window functions",
    "pragma.html": "Table functions of the schema",
}
"""Titles by the page of sqlite.org; other pages' functions are refused."""

_LONGEST = 150
"""The longest expression that is shown as a whole, in characters."""

_INSTALLED = re.compile(rf"\b{FUNCTIONS_NAMESPACE}[._]\w+")
_SELECT = re.compile(r"SELECT (?:/\*.*?\*/ )?(.*) FROM t", re.DOTALL)


def on_other_engines(page: Path) -> str:
    """The page with its functions as the code has them."""
    before, begin, rest = page.read_text(encoding="utf-8").partition(_BEGIN)
    return "".join((before, begin, "\n", _functions(), rest[rest.index(_END) :]))


@cache
def _functions() -> str:
    return "".join(_sections())


def _sections() -> Iterator[str]:
    yield "Examples are over the first row of this table; aggregates over all three.\n\n"
    yield f"```sql\n{EXAMPLES.strip()}\n```\n"
    titles = [TARGETS[target].title for target in TARGETS]
    schema = _schema()
    for page, title in _TOPICS.items():
        yield f"\n### {title}\n\n| function | example | {' | '.join(titles)} |\n"
        yield f"|---|---|{'---|' * len(titles)}\n"
        rows = (row for row in FUNCTIONS if row.source.partition("#")[0] == page)
        yield from (_line(row, schema) for row in rows if row.example and not row.refused)
    yield "\n### Functions that are refused\n\n"
    yield "A call of constants is computed even so, unless it can differ.\n\n"
    yield "| function | why |\n|---|---|\n"
    refused = (row for row in FUNCTIONS if row.refused)
    yield from (f"| {_names(row)} | {cell(str(row.refused))} |\n" for row in refused)
    yield "\n"


def _names(row: Function) -> str:
    return ", ".join(f"[`{name}`]({row.url})" for name in row.names)


def _line(row: Function, schema: Schema) -> str:
    gives = "NULL" if row.gives is None else str(row.gives)
    forms = " | ".join(_form(row, target, schema) for target in TARGETS)
    return f"| {_names(row)} | `{cell(row.example)}` is `{cell(gives)}` | {forms} |\n"


def _form(row: Function, target: Dialect, schema: Schema) -> str:
    """What the example is on an engine: the expression, what a long one calls, or why there is none."""
    try:
        sql = translate(f"SELECT {row.example} FROM t", schema, target).sql
    except Untranslatable as error:
        return f"refused: {cell(error.reason)}"
    found = _SELECT.fullmatch(sql)
    written = found[1] if found else sql
    if len(written) <= _LONGEST:
        return f"`{cell(written)}`"
    installed = ", ".join(f"`{name}`" for name in dict.fromkeys(_INSTALLED.findall(written)))
    return f"an expression with {installed}" if installed else "an expression"


def _schema() -> Schema:
    with tempfile.TemporaryDirectory() as folder:
        path = sqlite_file(Path(folder) / "examples.sqlite", EXAMPLES)
        return census(path)
