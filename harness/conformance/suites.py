"""What a suite is made of, whoever wrote it: scripts of records, each with the line that it stands on."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

SQLITE = "sqlite"
"""What suites call SQLite, in `onlyif` and `skipif`."""


@dataclass(frozen=True)
class Expected:
    """The rows that a suite says a query has, as its file writes them: the second witness beside SQLite.

    `values` is None where the file has a digest; `count` and `md5` are None where it has the values.
    """

    types: str = ""
    """One letter a column: T text, I integer, R number with three decimals; others are as T."""
    sort: str = "nosort"
    """`nosort`, `rowsort` or `valuesort`: how rows are put in order before they are compared."""
    label: str | None = None
    """Queries of a script with the same label have the same rows."""
    values: tuple[str, ...] | None = None
    count: int | None = None
    md5: str | None = None


@dataclass(frozen=True)
class Statement:
    """What makes the database; `fails` is whether the suite expects an error, None if it does not say."""

    line: int
    sql: str
    fails: bool | None = None


@dataclass(frozen=True)
class Query:
    """What is held against SQLite."""

    line: int
    sql: str
    expected: Expected | None = None
    file: str = ""
    """Within the script's folder, where a script has several."""


@dataclass(frozen=True)
class Left:
    """A query or statement that is not run, and why."""

    line: int
    reason: str
    is_query: bool = True


Record = Statement | Query | Left


@dataclass(frozen=True)
class Script:
    """Records that are run one after the other on one database, which is empty at first.

    `base` is a SQLite file to begin with instead. `read` reads the records again each time, so that a large
    suite is not kept in memory; it raises `BadInput`.
    """

    name: str
    """The path within the suite."""
    read: Callable[[], Iterator[Record]] = field(compare=False)
    files: Sequence[Path] = ()
    base: Path | None = None

    def key(self, query: Query) -> str:
        """What names a query within the suite: file and line."""
        return f"{self.name}/{query.file}:{query.line}" if query.file else f"{self.name}:{query.line}"
