"""A small database, and texts of every kind whose work is counted on it."""

import sqlite3
from pathlib import Path

from loaders.namespace import Database

TEXTS = (
    "SELECT n FROM number WHERE word LIKE '%7%' ORDER BY word, n",
    "SELECT word, COUNT(*), MAX(n) FROM number GROUP BY word ORDER BY 2 DESC, 1 LIMIT 3",
    "SELECT a.n FROM number a JOIN number b ON a.n = b.n WHERE b.word <> '3'",
    "SELECT n FROM number WHERE n > (SELECT AVG(n) FROM number) OR word IN (SELECT word FROM number)",
    "SELECT DISTINCT word FROM number UNION SELECT 'x'",
)


def numbers_in(folder: Path) -> Database:
    """Make the database."""
    path = folder / "numbers" / "numbers.sqlite"
    path.parent.mkdir()
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE number (n INTEGER PRIMARY KEY, word TEXT)")
    connection.executemany("INSERT INTO number VALUES (?, ?)", [(n, str(n % 50)) for n in range(2000)])
    connection.commit()
    connection.close()
    return Database("bird_work_tests", "numbers", path)
