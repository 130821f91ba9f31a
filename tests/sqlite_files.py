"""SQLite files that tests write."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path


def sqlite_file(path: Path, *scripts: str, **tables: Sequence[Sequence[object]]) -> Path:
    """Write a file by scripts, or add to it, then rows of tables; return its path.

    A folder that is missing is made.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as connection, connection:
        for script in scripts:
            connection.executescript(script)
        for table, rows in tables.items():
            values = ", ".join("?" * len(next(iter(rows), ())))
            connection.executemany(f"INSERT INTO {table} VALUES ({values})", rows)
    return path
