"""How tables and columns are called on each server, and which names a server cannot take."""

import re
from collections.abc import Callable, Mapping, Sequence

from dialects.enums import Dialect
from dialects.errors import BadInput

_PLAIN_POSTGRESQL_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_$]*")
"""https://www.postgresql.org/docs/current/sql-syntax-lexical.html#SQL-SYNTAX-IDENTIFIERS."""

_LONGEST: Mapping[Dialect, tuple[int, Callable[[str], int], str]] = {
    Dialect.POSTGRESQL: (63, lambda name: len(name.encode()), "bytes"),
    Dialect.MYSQL: (64, len, "characters"),
}

_LAST_OF_BMP = "\uffff"
"""MySQL's names are utf8mb3. https://dev.mysql.com/doc/refman/9.7/en/identifiers.html."""

_OWN_TABLES: Mapping[Dialect, re.Pattern[str]] = {
    # Without a schema before it such a name is that of a table of the system.
    Dialect.POSTGRESQL: re.compile("pg_.*"),
    Dialect.MYSQL: re.compile("(?!)"),
}
_OWN_COLUMNS: Mapping[Dialect, re.Pattern[str]] = {
    Dialect.POSTGRESQL: re.compile("tableoid|xmin|cmin|xmax|cmax|ctid"),
    Dialect.MYSQL: re.compile("db_row_id|db_trx_id|db_roll_ptr", re.IGNORECASE),
}
"""https://www.postgresql.org/docs/current/ddl-system-columns.html
https://dev.mysql.com/doc/refman/9.7/en/innodb-limits.html
"""

_LONGEST_FILE_NAME = 255 - len(".ibd")
_IN_FILES = re.compile("[0-9A-Za-z_]")
_LETTERS = re.compile("[\u00c0-\u05ff\u1e00-\u1fff\u2160-\u217f\u24b0-\u24ef\uff20-\uff5f]")
"""A table's file has its name: these characters as they are, letters as three, all others as five.

https://dev.mysql.com/doc/refman/9.7/en/identifier-mapping.html
"""


def postgresql_name(name: str) -> str:
    """In lower case where that needs no quotes, reserved words included; else exactly as it is."""
    return name.lower() if _PLAIN_POSTGRESQL_NAME.fullmatch(name) else name


def table_name(name: str, dialect: Dialect) -> str:
    """What a table is called on the server; on MySQL as `lower_case_table_names=1` stores it."""
    return postgresql_name(name) if dialect is Dialect.POSTGRESQL else name.lower()


def column_name(name: str, dialect: Dialect) -> str:
    """What a column is called on the server."""
    return postgresql_name(name) if dialect is Dialect.POSTGRESQL else name


def check_tables(names: Sequence[str], dialect: Dialect, where: str) -> None:
    """Refuse names of tables that the server does not take or cannot tell apart.

    Raises:
        BadInput: for the first of them; `where` says whose tables they are.
    """
    _check(names, dialect, _OWN_TABLES[dialect], where)
    for name in names:
        if dialect is Dialect.MYSQL and _file_name_bytes(name) > _LONGEST_FILE_NAME:
            raise BadInput(f"{where}: {name!r} gives a file of {dialect} too long a name; rename it")


def _file_name_bytes(table: str) -> int:
    return sum(1 if _IN_FILES.fullmatch(c) else 3 if _LETTERS.fullmatch(c) else 5 for c in table)


def check_columns(names: Sequence[str], dialect: Dialect, where: str) -> None:
    """Refuse names of one table's columns, as `check_tables` does."""
    _check(names, dialect, _OWN_COLUMNS[dialect], where)


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
    most, length, unit = _LONGEST[dialect]
    if not name:
        return f"is no name on {dialect}"
    if length(spelled) > most:
        return f"is longer than {dialect}'s {most} {unit}"
    if own.fullmatch(spelled):
        return f"is a name that {dialect} has for itself"
    if dialect is Dialect.MYSQL:
        if max(name) > _LAST_OF_BMP:
            return f"has characters that {dialect} takes in values only"
        if name.endswith(" "):
            return f"ends with a space, which is no name on {dialect}"
    return None


def quoted(name: str) -> str:
    """`name` as an identifier of SQLite and PostgreSQL."""
    return '"' + name.replace('"', '""') + '"'
