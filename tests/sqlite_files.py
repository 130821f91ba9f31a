"""SQLite files that tests write."""

import sqlite3
from contextlib import closing
from pathlib import Path


def sqlite_file(path: Path, *scripts: str) -> Path:
    """Write a file by scripts, or add to it, and return its path; a folder that is missing is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        for script in scripts:
            connection.executescript(script)
    return path
