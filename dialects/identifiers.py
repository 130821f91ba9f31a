"""The names of tables and columns on each server, and the names that a server rejects."""

import re
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from string import ascii_uppercase

from dialects.by_dialect import ByDialect
from dialects.enums import Dialect
from dialects.errors import BadInput

FUNCTIONS_NAMESPACE = "bird_sqlite"
"""Holds SQLite's functions: a MySQL database, or a schema in each PostgreSQL database of `faithful`."""

_LONGEST_FILE_NAME = 255 - len(".ibd")
_IN_FILES = re.compile("[0-9A-Za-z_]")
_LETTERS = re.compile("[\u00c0-\u05ff\u1e00-\u1fff\u2160-\u217f\u24b0-\u24ef\uff20-\uff5f]")
"""A table's file is named after it: these characters unchanged, letters as three, all others as five.

https://dev.mysql.com/doc/refman/9.7/en/identifier-mapping.html
"""


def _file_name_bytes(table: str) -> int:
    return sum(1 if _IN_FILES.fullmatch(c) else 3 if _LETTERS.fullmatch(c) else 5 for c in table)


_NONE = re.compile("(?!)")
_CAPITALS = {ord(letter): letter.lower() for letter in ascii_uppercase}


@dataclass(frozen=True, kw_only=True)
class NamingRules:
    """How one server changes names, and which names it allows."""

    table: Callable[[str], str] = str
    column: Callable[[str], str] = str
    longest: int
    length: Callable[[str], int]
    unit: str
    """The unit of `length` and `longest`."""
    own_tables: re.Pattern[str] = _NONE
    """Names that mean a system table if not qualified by a schema."""
    own_columns: re.Pattern[str] = _NONE
    last_character: str = "\U0010ffff"
    may_end_with_space: bool = True
    has_files: bool = False
    """True if each table has a file with its name."""


_NAMES = ByDialect[NamingRules]("dialects.{}", "NAMES")


def table_name(name: str, dialect: Dialect) -> str:
    """Return the name of a table on the server."""
    return _NAMES[dialect].table(name)


def column_name(name: str, dialect: Dialect) -> str:
    """Return the name of a column on the server."""
    return _NAMES[dialect].column(name)


def check_tables(names: Sequence[str], dialect: Dialect, where: str) -> None:
    """Reject table names that the server does not allow or cannot distinguish.

    Raises:
        BadInput: for the first such name; `where` locates the tables.
    """
    _check(names, dialect, _NAMES[dialect].own_tables, where)
    for name in names:
        if _NAMES[dialect].has_files and _file_name_bytes(name) > _LONGEST_FILE_NAME:
            raise BadInput(f"{where}: {name!r} makes a file name too long for {dialect}; rename it")


def check_columns(names: Sequence[str], dialect: Dialect, where: str) -> None:
    """Reject names of one table's columns, as `check_tables` does."""
    _check(names, dialect, _NAMES[dialect].own_columns, where)


def _check(names: Sequence[str], dialect: Dialect, own: re.Pattern[str], where: str) -> None:
    seen: dict[str, str] = {}
    for name in names:
        # MySQL ignores case in names of tables and columns; PostgreSQL folds no more than SQLite does.
        spelled = table_name(name, dialect)
        if trouble := _fault(name, spelled, dialect, own):
            raise BadInput(f"{where}: {name!r} {trouble}; rename it")
        if spelled in seen:
            raise BadInput(f"{where}: {seen[spelled]!r} and {name!r} are one name on {dialect}; rename one")
        seen[spelled] = name


def _fault(name: str, spelled: str, dialect: Dialect, own: re.Pattern[str]) -> str | None:
    allowed = _NAMES[dialect]
    if not name:
        return f"is not a valid name on {dialect}"
    if allowed.length(spelled) > allowed.longest:
        return f"is longer than {dialect}'s {allowed.longest} {allowed.unit}"
    if own.fullmatch(spelled):
        return f"is a name that {dialect} reserves"
    if max(name) > allowed.last_character:
        return f"has characters that {dialect} does not allow in names"
    if name.endswith(" ") and not allowed.may_end_with_space:
        return f"ends with a space, which {dialect} does not allow"
    return None


def ascii_lower(name: str) -> str:
    """Return a name as SQLite compares names: A-Z in lower case, and no other letter."""
    return name.lower() if name.isascii() else name.translate(_CAPITALS)


def quoted(name: str) -> str:
    """Return `name` quoted as an identifier for SQLite and PostgreSQL."""
    return '"' + name.replace('"', '""') + '"'


BUILT_IN_COLLATIONS = frozenset({"BINARY", "NOCASE", "RTRIM"})
"""https://sqlite.org/datatype3.html#collating_sequences"""

_COLLATE = re.compile(r"\bcollate\s++(?:(?P<name>\w++)|[\"'`\[](?P<quoted>[^\"'`\]]++))", re.IGNORECASE)


def collations_in(definitions: Iterable[str | None]) -> set[str]:
    """Return what may be the names of collations in the statements of a schema."""
    found = (each for sql in definitions for each in _COLLATE.finditer(sql or ""))
    return {each["name"] or each["quoted"] for each in found}


def register_collations(connection: sqlite3.Connection, names: Iterable[str]) -> None:
    """Let SQLite read tables with collations of an application; as nothing is known of them, bytes decide."""
    for name in names:
        if name.upper() not in BUILT_IN_COLLATIONS:
            connection.create_collation(name, lambda one, other: (one > other) - (one < other))
