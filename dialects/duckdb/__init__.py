"""The facts about DuckDB, 2.0: most are PostgreSQL's."""

from dataclasses import replace

from dialects import postgresql
from dialects.enums import Dialect, ParamStyle
from dialects.identifiers import NamingRules
from dialects.server_schema import types

SQLGLOT = "duckdb"

TARGET = replace(
    postgresql.TARGET,
    dialect=Dialect.DUCKDB,
    title="DuckDB",
    styles=(ParamStyle.QMARK, ParamStyle.DOLLAR),
    row_number="rowid",
    has_ilike=False,  # its own folds all letters
    natives={},
)

NAMES = NamingRules(longest=10_000, length=len, unit="characters")
"""It has no limit of its own."""

TYPES = types(real="real", exact="double", blob="blob", datetime="timestamptz")

FACTS = replace(
    postgresql.FACTS,
    title=TARGET.title,
    fold=lambda name: name.name.lower(),
    table=lambda table: table.name.lower(),
    column=lambda column: column.name.lower(),
    spelled=lambda column: column.name,
    enforces=False,
    dates=lambda column, profile: TYPES[profile].get(column.type),
)
