"""The facts about MySQL, 8.4 and later."""

import re
from collections.abc import Mapping

from dialects.enums import Dialect, ParamStyle, Profile
from dialects.facts import Facts
from dialects.identifiers import NamingRules
from dialects.schema import Column, PortableType
from dialects.server_schema import types
from dialects.targets import TargetFacts

SQLGLOT = "mysql"

TARGET = TargetFacts(
    dialect=Dialect.MYSQL,
    title="MySQL",
    styles=(ParamStyle.FORMAT, ParamStyle.PYFORMAT),
    has_boolean=False,
    has_null_order=False,
    row_number=None,
    holds_infinity=False,
    indexes_texts=False,
    has_ilike=False,
    natives=dict.fromkeys(("sinh", "cosh", "tanh", "asinh", "acosh")),
    aliases_keep_case=False,
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
