"""DuckDB: its record, and the meaning of its errors."""

import re
from functools import partial
from pathlib import Path

from dialects.enums import Dialect
from harness.engines import EngineKind, SchemaReader
from harness.engines.base import Engine
from harness.engines.errors import EditKind, ErrorClass, Repairs, beginnings, class_by_words, edits_by_words
from loaders.base import paths
from loaders.server import Origin, Server

_MESSAGES = beginnings(
    (ErrorClass.UNKNOWN_TABLE, "Catalog Error: Table with name", "respell unqualify rename"),
    (ErrorClass.UNKNOWN_TABLE, "Catalog Error: (?:Schema|Catalog) with name", "unqualify"),
    (ErrorClass.UNKNOWN_TABLE, 'Binder Error: (?:Catalog "|Duplicate alias)', "unqualify"),
    (ErrorClass.UNKNOWN_COLUMN, "Binder Error: Referenced column", "respell text_quotes rename read_as"),
    (ErrorClass.UNKNOWN_COLUMN, "Binder Error: Referenced table", "respell read_as"),
    (ErrorClass.UNKNOWN_COLUMN, "Binder Error: Ambiguous reference to", "qualify"),
    (ErrorClass.UNKNOWN_COLUMN, 'Binder Error: Table "[^"\n]*" does not have a column', "respell rename"),
    (ErrorClass.UNKNOWN_COLUMN, 'Binder Error: table "[^"\n]*" has duplicate column', ""),
    (ErrorClass.WRONG_AGGREGATION, 'Binder Error: column "?[^\n]*must appear in the GROUP BY', "group"),
    (ErrorClass.WRONG_AGGREGATION, r"Binder Error: [\w ]{1,40}cannot contain (?:aggregates|window)", ""),
    (ErrorClass.WRONG_AGGREGATION, "Binder Error: aggregate function calls cannot", ""),
    (ErrorClass.WRONG_AGGREGATION, r"Binder Error: [\w ]{1,60}aggregate", ""),
    (ErrorClass.WRONG_ORDER, "Binder Error: (?:ORDER|LIMIT|OFFSET|In a DISTINCT)", ""),
    (ErrorClass.WRONG_ORDER, "Binder Error: for SELECT DISTINCT", ""),
    (ErrorClass.TYPE_ERROR, "Binder Error: (?:No function matches|Cannot (?:compare|mix|cast))", "cast"),
    (ErrorClass.TYPE_ERROR, "Binder Error: Could not choose", "cast read_as"),
    (ErrorClass.TYPE_ERROR, "(?:Conversion|Mismatch Type) Error: ", "cast read_as"),
    (ErrorClass.TYPE_ERROR, "Invalid Input Error: (?!Division by zero|More than one row)", "cast"),
    (ErrorClass.SYNTAX, "Catalog Error: [^\n]*Function with name", "function read_as"),
    (ErrorClass.SYNTAX, "(?:Parser|Catalog|Binder|Permission|Not implemented) Error: ", "read_as"),
    (ErrorClass.SYNTAX, "the text |the statement ", ""),
)
"""How DuckDB's messages begin: it has no codes. An error that depends on the rows is of no class.

https://duckdb.org/docs/stable/clients/c/query, src/common/exception.cpp
"""


def _near(message: str) -> str | None:
    return message.partition('at or near "')[2].partition('"')[0] or None


def server() -> Server:
    """Return the folder of the databases, as a server without an account."""
    return Server(Dialect.DUCKDB, str(paths.cache() / "duckdb"), 0, "", "", Origin.EMBEDDED)


def _make(server: Server | None, *, pooled: bool) -> Engine:
    from harness.engines.duckdb.engine import DuckDBEngine  # noqa: PLC0415 - the library is slow

    assert server is not None  # noqa: S101 - `embedded`
    return DuckDBEngine(server, pooled=pooled)


def _schema() -> SchemaReader:
    from harness.engines.duckdb import engine  # noqa: PLC0415 - for predictors alone

    return engine


KIND = EngineKind(
    name="duckdb",
    title="DuckDB",
    dialect=Dialect.DUCKDB,
    rank=40,
    has_server=True,
    embedded=server,
    make=_make,
    schema=_schema,
    class_of_error=partial(class_by_words, _MESSAGES),
    repairs=Repairs(
        of_error=partial(edits_by_words, _MESSAGES),
        of_rows=(EditKind.NULLS, EditKind.DIVISION, EditKind.LIKE_CASE, EditKind.PRECISION),
        names=(
            re.compile(r'\A(?:Catalog|Binder) Error: [^"\n]*"([^"\n]++)"'),
            re.compile(r"\ACatalog Error: Table with name (\S++) does not exist"),
        ),
        near=_near,
        functions={"instr": "strpos", "nvl": "coalesce", "isnull": "coalesce", "datetime": "timestamp"},
        casts=("TEXT", "DOUBLE", "TIMESTAMP", "DATE", "BIGINT"),
        real="DOUBLE",
        collation="NOCASE",
        like="ilike",
        divides_integers=False,
    ),
    idioms=("strptime(", "date_diff(", "list_", " exclude (", "epoch("),
    today="SELECT CAST(CAST(NOW() AT TIME ZONE 'UTC' AS DATE) AS TEXT)",
    row_number="rowid",
    example=Path(__file__).with_name("example.j2"),
    quotes_by_dollars=True,
    begins_with_from=True,
)
