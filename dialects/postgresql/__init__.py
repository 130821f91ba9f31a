"""The facts about PostgreSQL, 15 and later."""

import re

from dialects.enums import Dialect, ParamStyle, Profile
from dialects.facts import Facts
from dialects.identifiers import NamingRules
from dialects.schema import PortableType
from dialects.server_schema import types
from dialects.targets import TargetFacts

SQLGLOT = "postgres"

TARGET = TargetFacts(
    dialect=Dialect.POSTGRESQL,
    title="PostgreSQL",
    styles=(ParamStyle.FORMAT, ParamStyle.PYFORMAT),
    has_boolean=True,
    has_null_order=True,
    row_number="ctid",
    holds_infinity=True,
    indexes_texts=True,
    has_ilike=True,  # of databases with collation C
    natives={"log10": "LOG"},
    aliases_keep_case=True,
)

_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_$]*")
"""https://www.postgresql.org/docs/current/sql-syntax-lexical.html#SQL-SYNTAX-IDENTIFIERS."""


def folded(name: str) -> str:
    """Return the name in lower case if that needs no quotes (reserved words included), else unchanged."""
    return name.lower() if _PLAIN_NAME.fullmatch(name) else name


NAMES = NamingRules(
    table=folded,
    column=folded,
    longest=63,
    length=lambda name: len(name.encode()),
    unit="bytes",
    own_tables=re.compile("pg_.*"),
    own_columns=re.compile("tableoid|xmin|cmin|xmax|cmax|ctid"),
)
"""https://www.postgresql.org/docs/current/ddl-system-columns.html"""

TYPES = types(real="real", exact="double precision", blob="bytea", datetime="timestamptz")

COLLATION = "C"
"""For both profiles: text sorts by code point, as in SQLite, on every operating system."""

FACTS = Facts(
    title=TARGET.title,
    fold=lambda name: name.name if name.args.get("quoted") else name.name.lower(),
    table=lambda table: NAMES.table(table.name),
    column=lambda column: NAMES.column(column.name),
    spelled=lambda column: NAMES.column(column.name),
    is_exact=lambda _column, _profile: True,
    enforces=True,
    merges=lambda column, profile: column.type is PortableType.REAL and profile is Profile.OFFICIAL,
    dates=lambda column, profile: TYPES[profile].get(column.type),
)
