"""How tables and columns are called on each server, and which names a server cannot take."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from dialects.enums import Dialect
from dialects.errors import BadInput

FUNCTIONS_NAMESPACE = "bird_sqlite"
"""SQLite's functions: a MySQL database, and a schema in each PostgreSQL database of profile `faithful`."""

_PLAIN_POSTGRESQL_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_$]*")
"""https://www.postgresql.org/docs/current/sql-syntax-lexical.html#SQL-SYNTAX-IDENTIFIERS."""

_LAST_OF_BMP = "\uffff"
"""MySQL's names are utf8mb3. https://dev.mysql.com/doc/refman/9.7/en/identifiers.html."""

_LONGEST_FILE_NAME = 255 - len(".ibd")
_IN_FILES = re.compile("[0-9A-Za-z_]")
_LETTERS = re.compile("[\u00c0-\u05ff\u1e00-\u1fff\u2160-\u217f\u24b0-\u24ef\uff20-\uff5f]")
"""A table's file has its name: these characters as they are, letters as three, all others as five.

https://dev.mysql.com/doc/refman/9.7/en/identifier-mapping.html
"""


def postgresql_name(name: str) -> str:
    """In lower case where that needs no quotes, reserved words included; else exactly as it is."""
    return name.lower() if _PLAIN_POSTGRESQL_NAME.fullmatch(name) else name


def _bytes(text: str) -> int:
    return len(text.encode())


def _file_name_bytes(table: str) -> int:
    return sum(1 if _IN_FILES.fullmatch(c) else 3 if _LETTERS.fullmatch(c) else 5 for c in table)


@dataclass(frozen=True, kw_only=True)
class _Names:
    """What one server makes of names, and which it takes."""

    table: Callable[[str], str]
    column: Callable[[str], str]
    longest: int
    length: Callable[[str], int]
    unit: str
    """What `length` counts, and `longest` is a number of."""
    own_tables: re.Pattern[str]
    """Without a schema before it such a name is that of a table of the system."""
    own_columns: re.Pattern[str]
    last_character: str = "\U0010ffff"
    may_end_with_space: bool = True
    has_files: bool = False
    """A table has a file with its name."""


_NAMES: Mapping[Dialect, _Names] = {
    Dialect.MYSQL: _Names(
        table=str.lower,  # as lower_case_table_names=1 stores it
        column=str,
        longest=64,
        length=len,
        unit="characters",
        own_tables=re.compile("(?!)"),
        own_columns=re.compile("db_row_id|db_trx_id|db_roll_ptr", re.IGNORECASE),
        last_character=_LAST_OF_BMP,
        may_end_with_space=False,
        has_files=True,
    ),
    Dialect.POSTGRESQL: _Names(
        table=postgresql_name,
        column=postgresql_name,
        longest=63,
        length=_bytes,
        unit="bytes",
        own_tables=re.compile("pg_.*"),
        own_columns=re.compile("tableoid|xmin|cmin|xmax|cmax|ctid"),
    ),
}
"""https://www.postgresql.org/docs/current/ddl-system-columns.html
https://dev.mysql.com/doc/refman/9.7/en/innodb-limits.html
"""


def table_name(name: str, dialect: Dialect) -> str:
    """What a table is called on the server."""
    return _NAMES[dialect].table(name)


def column_name(name: str, dialect: Dialect) -> str:
    """What a column is called on the server."""
    return _NAMES[dialect].column(name)


def check_tables(names: Sequence[str], dialect: Dialect, where: str) -> None:
    """Refuse names of tables that the server does not take or cannot tell apart.

    Raises:
        BadInput: for the first of them; `where` says whose tables they are.
    """
    _check(names, dialect, _NAMES[dialect].own_tables, where)
    for name in names:
        if _NAMES[dialect].has_files and _file_name_bytes(name) > _LONGEST_FILE_NAME:
            raise BadInput(f"{where}: {name!r} gives a file of {dialect} too long a name; rename it")


def check_columns(names: Sequence[str], dialect: Dialect, where: str) -> None:
    """Refuse names of one table's columns, as `check_tables` does."""
    _check(names, dialect, _NAMES[dialect].own_columns, where)


def _check(names: Sequence[str], dialect: Dialect, own: re.Pattern[str], where: str) -> None:
    seen: dict[str, str] = {}
    for name in names:
        # MySQL tells neither tables nor columns apart by case; PostgreSQL folds no more than SQLite does.
        spelled = table_name(name, dialect)
        if trouble := _trouble(name, spelled, dialect, own):
            raise BadInput(f"{where}: {name!r} {trouble}; rename it")
        if spelled in seen:
            raise BadInput(f"{where}: {seen[spelled]!r} and {name!r} are one name on {dialect}; rename one")
        seen[spelled] = name


def _trouble(name: str, spelled: str, dialect: Dialect, own: re.Pattern[str]) -> str | None:
    allowed = _NAMES[dialect]
    if not name:
        return f"is no name on {dialect}"
    if allowed.length(spelled) > allowed.longest:
        return f"is longer than {dialect}'s {allowed.longest} {allowed.unit}"
    if own.fullmatch(spelled):
        return f"is a name that {dialect} has for itself"
    if max(name) > allowed.last_character:
        return f"has characters that {dialect} takes in values only"
    if name.endswith(" ") and not allowed.may_end_with_space:
        return f"ends with a space, which is no name on {dialect}"
    return None


def quoted(name: str) -> str:
    """`name` as an identifier of SQLite and PostgreSQL."""
    return '"' + name.replace('"', '""') + '"'
