"""The facts about MySQL, 8.4 and later."""

import re
from collections.abc import Mapping

from dialects.enums import Dialect, ParamStyle, Profile
from dialects.facts import Facts
from dialects.identifiers import NamingRules
from dialects.schema import Column, PortableType
from dialects.server_schema import types
from dialects.targets import Target

SQLGLOT = "mysql"

TARGET = Target(
    dialect=Dialect.MYSQL,
    title="MySQL",
    styles=(ParamStyle.FORMAT, ParamStyle.PYFORMAT),
    has_boolean=False,
    has_computed_offsets=False,
    has_filter=False,
    has_full_join=False,
    has_group_frames=False,
    has_list_over=False,
    has_null_order=False,
    has_offset_alone=False,
    has_ordered_picks=False,
    has_real_modulo=True,
    has_trim_sets=False,
    row_number=None,
    holds_infinity=False,
    indexes_texts=False,
    natives=dict.fromkeys(("sinh", "cosh", "tanh", "asinh", "acosh")),
    hexadecimal="HEX",
    truncates_to_places=True,
    formats_by_locale=True,
    list_hint="SET_VAR(group_concat_max_len = 1073741824)",
    recursion_hint="SET_VAR(cte_max_recursion_depth = 4294967295)",
    planning_hint="SET_VAR(optimizer_search_depth = 5)",
    sorting_hint="SET_VAR(sort_buffer_size = 33554432)",
    bits_are_unsigned=True,
    computes_in_32_bits=False,
    sums_exactly=False,
    extremes_skip_null=False,
    having_sees_keys=False,
    aliases_keep_case=False,
    columns_hide_tables=False,
    keeps_constants=True,
    counts_null_subqueries=True,
    subqueries_see_keys=True,
    aggregates_outward_of_no_rows=False,
    sorts_distinct_by_others=True,
    sorts_windows_by_constants=False,
    recurses_from_several=False,
    in_takes_any_query=False,
    joins_outward_by_subqueries=False,
    joins_ctes_to_themselves=False,
    set_operations_keep_null=False,
    frames_single_rows=False,
    computes_untaken=True,
    casts_to_narrow_integers=False,
    names_take_any_character=True,
    rereads_set_operations=False,
    limits_by_expressions=False,
    is_lazy=False,
    most_windows=127,
    most_levels=64,
    most_joined=61,
)

_LAST_OF_BMP = "\uffff"
"""Names are utf8mb3. https://dev.mysql.com/doc/refman/9.7/en/identifiers.html."""

NAMES = NamingRules(
    table=str.lower,  # as lower_case_table_names=1 stores it
    longest=64,
    length=len,
    unit="characters",
    own_columns=re.compile("db_row_id|db_trx_id|db_roll_ptr", re.IGNORECASE),
    last_character=_LAST_OF_BMP,
    may_end_with_space=False,
    has_files=True,
)
"""https://dev.mysql.com/doc/refman/9.7/en/innodb-limits.html"""

TYPES = types(real="double", exact="double", blob="longblob", datetime="datetime")

COLLATIONS: Mapping[Profile, str] = {
    Profile.OFFICIAL: "utf8mb4_0900_ai_ci",
    Profile.FAITHFUL: "utf8mb4_0900_bin",
}
"""The default, and the one that compares as SQLite does.

https://dev.mysql.com/doc/refman/9.7/en/charset-unicode-sets.html
"""


def _merges(column: Column, profile: Profile) -> bool:
    return column.type is PortableType.TEXT and not COLLATIONS[profile].endswith("_bin")


FACTS = Facts(
    title=TARGET.title,
    fold=lambda name: name.name.lower(),
    table=lambda table: NAMES.table(table.name),
    column=lambda column: NAMES.column(column.name).lower(),
    spelled=lambda column: NAMES.column(column.name),
    is_exact=lambda column, profile: not _merges(column, profile) or column.days or column.moments,
    enforces=True,
    merges=_merges,
    dates=lambda column, profile: TYPES[profile].get(column.type),
)
