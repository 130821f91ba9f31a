"""The facts about PostgreSQL, 15 and later."""

import re

from dialects.enums import Dialect, ParamStyle, Profile
from dialects.facts import Facts
from dialects.identifiers import NamingRules
from dialects.schema import PortableType
from dialects.server_schema import types
from dialects.targets import Target

SQLGLOT = "postgres"

TARGET = Target(
    dialect=Dialect.POSTGRESQL,
    title="PostgreSQL",
    styles=(ParamStyle.FORMAT, ParamStyle.PYFORMAT),
    has_boolean=True,
    has_computed_offsets=True,
    has_filter=True,
    has_full_join=True,
    has_group_frames=True,
    has_list_over=True,
    has_null_order=True,
    has_offset_alone=True,
    has_ordered_picks=True,
    has_real_modulo=False,
    has_trim_sets=True,
    row_number="ctid",
    holds_infinity=True,
    indexes_texts=True,
    natives={"log10": "LOG"},
    hexadecimal="TO_HEX",
    truncates_to_places=False,
    formats_by_locale=False,
    list_hint=None,
    recursion_hint=None,
    planning_hint=None,
    sorting_hint=None,
    bits_are_unsigned=False,
    computes_in_32_bits=True,
    sums_exactly=True,
    extremes_skip_null=True,
    having_sees_keys=True,
    aliases_keep_case=True,
    columns_hide_tables=False,
    keeps_constants=False,
    counts_null_subqueries=False,
    subqueries_see_keys=False,
    aggregates_outward_of_no_rows=True,
    sorts_distinct_by_others=False,
    sorts_windows_by_constants=True,
    recurses_from_several=True,
    in_takes_any_query=True,
    joins_outward_by_subqueries=True,
    joins_ctes_to_themselves=True,
    set_operations_keep_null=True,
    frames_single_rows=True,
    computes_untaken=False,
    casts_to_narrow_integers=False,
    names_take_any_character=True,
    rereads_set_operations=True,
    limits_by_expressions=True,
    is_lazy=True,
    most_windows=None,
    most_levels=None,
    most_joined=None,
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
