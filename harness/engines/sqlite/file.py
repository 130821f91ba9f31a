"""Open SQLite files so that no statement can write, attach, load code, or take too much memory."""

import sqlite3
import sys
from functools import cache
from pathlib import Path
from urllib.parse import quote

from harness.engines.base import EngineLost
from loaders.source import unwritten

HEAP_BYTES = 256 * 2**20
"""Memory limit of SQLite in this process, temporary tables and sorters included."""

VALUE_BYTES = 16 * 2**20
"""The largest text, blob or row; `SQLITE_TOOBIG` beyond it."""

MAPPED_BYTES = 64 * 2**20
"""How much of a file a connection that is used again reads where the system has it, instead of copying it.

https://www.sqlite.org/mmap.html
"""

LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: VALUE_BYTES,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 2**20,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 1_000_000,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
"""Far above what a question needs. The library's own limits stand for depth, columns and compound selects.

https://www.sqlite.org/limits.html
"""

SETTINGS = ("PRAGMA temp_store=MEMORY", "PRAGMA trusted_schema=OFF")
"""Of every connection."""

_READING = frozenset(
    {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
)

_FORBIDDEN_FUNCTIONS = frozenset({"load_extension", "fts3_tokenizer"})
"""Functions that load code, or take and show addresses in this process.

https://www.sqlite.org/fts3.html#custom_application_defined_tokenizers
"""

_FORBIDDEN_TABLES = frozenset({"sqlite_stmt", "sqlite_dbpage", "sqlite_memstat"})
"""Tables that the library makes up of what the process does: the texts of other statements, pages, memory."""


def allow_reading(
    action: int, first: str | None, second: str | None, schema: str | None, trigger: str | None
) -> int:
    """Allow what a query needs and nothing that could write, attach a file or load code.

    `mode=ro` alone is not enough: ATTACH would still create a new file. Every PRAGMA is refused, and
    the functions `pragma_...` with them, so that a connection stays as it was made.
    https://www.sqlite.org/c3ref/set_authorizer.html
    """
    del schema, trigger
    if action == sqlite3.SQLITE_UPDATE and first == "sqlite_master":
        # Asked when a virtual table, like json_each, is connected. UPDATE itself may not modify that table.
        return sqlite3.SQLITE_OK
    if (
        action not in _READING
        or (action == sqlite3.SQLITE_FUNCTION and (second or "").lower() in _FORBIDDEN_FUNCTIONS)
        or (action == sqlite3.SQLITE_READ and (first or "").lower() in _FORBIDDEN_TABLES)
    ):
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK


@cache
def bound_memory() -> None:
    """Set the limit of this process, once: it can only be lowered afterwards.

    https://www.sqlite.org/c3ref/hard_heap_limit64.html
    """
    connection = sqlite3.connect(":memory:")
    connection.execute(f"PRAGMA hard_heap_limit={HEAP_BYTES}")
    connection.close()


def address(path: Path) -> str:
    """Return the URI of a database file that opens it read-only and immutable."""
    return f"file:{quote(str(path.absolute()))}?mode=ro&immutable=1"


def connect(
    path: Path, kept_statements: int, mapped_bytes: int = 0, *, trusts_schema: bool = False
) -> sqlite3.Connection:
    """Open a database file for reading, with all the limits.

    Temporary tables and sorters stay in memory, under the heap limit: so no statement can fill a disk, and
    none leaves a file behind. There is room: 1.2 million rows of ten columns, sorted by two of them, take
    110 MB there. `trusts_schema`: views may call the functions that this process gives the connection.
    """
    bound_memory()
    if fault := unwritten(path):
        raise EngineLost(f"SQLite cannot open {path}: {fault}")
    try:
        # A session moves between threads only one at a time; `interrupt` is the documented exception.
        connection = sqlite3.connect(
            address(path), uri=True, check_same_thread=False, cached_statements=kept_statements
        )
    except sqlite3.Error as error:
        raise EngineLost(f"SQLite cannot open {path}: {error}") from error
    for setting in SETTINGS:
        connection.execute(setting)
    if trusts_schema:
        connection.execute("PRAGMA trusted_schema=ON")
    if mapped_bytes:
        connection.execute(f"PRAGMA mmap_size={mapped_bytes}")
    if sys.version_info >= (3, 12):
        connection.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE, True)
    for category, limit in LIMITS.items():
        connection.setlimit(category, limit)
    connection.set_authorizer(allow_reading)
    return connection
