"""A small database, and texts of every kind whose work is counted on it."""

from pathlib import Path

from loaders.namespace import Database
from tests.sqlite_files import sqlite_file

TEXTS = (
    "SELECT n FROM number WHERE word LIKE '%7%' ORDER BY word, n",
    "SELECT word, COUNT(*), MAX(n) FROM number GROUP BY word ORDER BY 2 DESC, 1 LIMIT 3",
    "SELECT a.n FROM number a JOIN number b ON a.n = b.n WHERE b.word <> '3'",
    "SELECT n FROM number WHERE n > (SELECT AVG(n) FROM number) OR word IN (SELECT word FROM number)",
    "SELECT DISTINCT word FROM number UNION SELECT 'x'",
)


def numbers_in(folder: Path) -> Database:
    """Make the database."""
    path = sqlite_file(
        folder / "numbers" / "numbers.sqlite",
        "CREATE TABLE number (n INTEGER PRIMARY KEY, word TEXT)",
        number=[(n, str(n % 50)) for n in range(2000)],
    )
    return Database("bird_work_tests", "numbers", path)
