"""SQLite: its record, and the meaning of its errors."""

import re
from functools import partial
from pathlib import Path

from dialects.enums import Dialect
from harness.engines import EngineKind, SchemaReader
from harness.engines.base import Engine
from harness.engines.errors import EditKind, ErrorClass, Repairs, beginnings, class_by_words, edits_by_words
from loaders.server import Server

_MESSAGES = beginnings(
    (ErrorClass.UNKNOWN_TABLE, "no such table", "respell unqualify rename"),
    (ErrorClass.UNKNOWN_TABLE, "unknown database", "unqualify"),
    (ErrorClass.UNKNOWN_COLUMN, "no such column", "respell text_quotes rename"),
    (ErrorClass.UNKNOWN_COLUMN, "ambiguous column name", "qualify"),
    (ErrorClass.UNKNOWN_COLUMN, "ON clause references tables|cannot join using", ""),
    (ErrorClass.TYPE_ERROR, "wrong number of arguments", "function read_as"),
    (ErrorClass.TYPE_ERROR, "DISTINCT aggregates must|datatype mismatch", ""),
    (ErrorClass.TYPE_ERROR, "malformed JSON|bad JSON path|JSON path error|ESCAPE expression must", ""),
    (ErrorClass.WRONG_AGGREGATION, "misuse of |aggregate functions are not|HAVING clause on", ""),
    (ErrorClass.WRONG_AGGREGATION, r"GROUP BY clause is required|\w+ GROUP BY term", ""),
    (ErrorClass.WRONG_ORDER, r"\w+ ORDER BY term", ""),
    (ErrorClass.SYNTAX, "near ", "quote read_as respell"),
    (ErrorClass.SYNTAX, "unrecognized token", "unescape read_as"),
    (ErrorClass.SYNTAX, "no such function", "function read_as"),
    (ErrorClass.SYNTAX, "incomplete input|no such window|no tables specified", ""),
    (ErrorClass.SYNTAX, "not authorized|unable to use function|You can only execute one", ""),
    (ErrorClass.SYNTAX, "the query contains a null|SELECTs to the left|sub-select returns", ""),
    (ErrorClass.SYNTAX, "row value misused|all VALUES must have|table .* has", ""),
    (ErrorClass.SYNTAX, r"(ORDER BY|LIMIT) clause should|unknown join type|a NATURAL join", ""),
    (ErrorClass.SYNTAX, "unknown or unsupported join|circular reference|unsupported frame", ""),
    (ErrorClass.SYNTAX, "RANGE with offset", ""),
)
"""How SQLite's messages begin: it has one code (SQLITE_ERROR) for every statement that it cannot prepare.

An error that depends on the rows is of no class. https://www.sqlite.org/rescode.html#error,
https://sqlite.org/src/file?name=src/resolve.c, src/parse.y
"""


def _near(message: str) -> str | None:
    word, found, _ = message.removeprefix('near "').partition('": syntax error')
    return word if found else None


REPAIRS = Repairs(
    of_error=partial(edits_by_words, _MESSAGES),
    of_rows=(EditKind.DIVISION, EditKind.NULLS, EditKind.COLLATE, EditKind.LIKE_CASE, EditKind.TEXT_QUOTES),
    names=(
        re.compile(r"\Ano such (?:column|table|function): ([^\n]++)"),
        re.compile(r"\Aambiguous column name: ([^\n]++)"),
    ),
    near=_near,
    functions={
        "if": "iif", "char_length": "length", "character_length": "length", "len": "length",
        "greatest": "max", "least": "min", "nvl": "ifnull", "isnull": "ifnull", "strpos": "instr",
        "string_agg": "group_concat", "substring": "substr", "ucase": "upper", "lcase": "lower",
        "ceiling": "ceil", "pow": "power",
    },
    casts=("REAL", "INTEGER", "TEXT"),
    real="REAL",
    collation="NOCASE",
    like="glob",
)  # fmt: skip


def _make(server: Server | None, *, pooled: bool) -> Engine:
    from harness.engines.sqlite.engine import SQLiteEngine  # noqa: PLC0415 - where it is used

    assert server is None  # noqa: S101 - it has none
    return SQLiteEngine(pooled=pooled)


def _schema() -> SchemaReader:
    from harness.engines.sqlite import engine  # noqa: PLC0415 - for predictors alone

    return engine


KIND = EngineKind(
    name="sqlite",
    title="SQLite",
    dialect=Dialect.SQLITE,
    rank=10,
    has_server=False,
    make=_make,
    schema=_schema,
    class_of_error=partial(class_by_words, _MESSAGES),
    repairs=REPAIRS,
    idioms=("strftime(", "julianday(", "`"),
    today="SELECT date('now')",
    row_number="rowid",
    reads_quoted_names_as_texts=True,
    example=Path(__file__).with_name("example.j2"),
)
