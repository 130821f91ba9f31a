"""What is compared, a table of the file beside its table on the server, and what can be different."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from loaders.namespace import Database
from loaders.server import Server
from loaders.verify.forms import ValueForm
from loaders.verify.sqlite import FileTable

Ask = Callable[[str], list[tuple[Any, ...]]]
"""Runs a query on the server and returns its rows."""


@dataclass(frozen=True)
class ComparedColumn:
    """A column that both sides have, and whose values both can write in one form."""

    name: str
    """The file's name for it."""
    source: str
    """SQL that gives it in SQLite."""
    target: str
    """Its name on the server, quoted."""
    form: ValueForm
    among_others: bool | None = None
    """Where a column's texts may be escaped: whether it holds other values, too. See `verify.escapes`."""
    converted: bool = False
    """Whether its type on the server is another one than the form is made for."""


@dataclass(frozen=True)
class ComparedTable:
    """A table that both sides have."""

    source: FileTable
    target: str
    """Its full name on the server, quoted."""
    columns: tuple[ComparedColumn, ...]
    key: tuple[ComparedColumn, ...]
    """Those by which a row of one side is found on the other; empty if there are none."""


@dataclass(frozen=True)
class ComparedRow:
    """A row of one side, as far as it is needed to name and to compare it."""

    hash: str
    """The first digits of its hash."""
    key: str
    """Those of the hash of its key; empty if there is none."""
    cells: tuple[tuple[str, str | None], ...]
    """Those of each value's hash, and the value as it is shown; None is NULL."""


class HashSyntax(Protocol):
    """How a server engine is asked for hashes. `loaders.mysql.hashing` and `.postgresql` stand for it."""

    def asking(self, server: Server, database: Database) -> AbstractContextManager[Ask]:
        """A session of the administrator where the tables of `database` stand."""
        ...

    def standing(self, server: Server, database: Database) -> Mapping[str, Mapping[str, str]]:
        """Everything that stands there with rows: the type of each column, in its order, by table."""
        ...

    def table(self, database: Database, name: str) -> str:
        """A table's full name, quoted."""
        ...

    def hashed(self, columns: Sequence[ComparedColumn]) -> str:
        """SQL for the SHA-256, in hexadecimal, of these columns of a row."""
        ...

    def summand(self, hashed: str) -> str:
        """SQL for the number that a hash adds to the sum."""
        ...

    def shown(self, column: ComparedColumn) -> str:
        """SQL for a value as text, cut where it is long."""
        ...

    BARRIER: str
    """What keeps a subquery's expressions from being evaluated once for every use."""


class Kind(StrEnum):
    """The closed vocabulary of differences between a file and what stands on a server."""

    MISSING_TABLE = "missing table"
    EXTRA_TABLE = "extra table"
    MISSING_COLUMN = "missing column"
    EXTRA_COLUMN = "extra column"
    TYPE = "type"
    ROWS = "rows"
    VALUES = "values"


@dataclass(frozen=True)
class Difference:
    """One thing that is not on the server as it is in the file."""

    kind: Kind
    table: str
    """The file's name for it; an extra table has the server's alone."""
    column: str | None
    """None where it is about the whole table."""
    text: str
    """What is different, as a part of a sentence."""
    rows: tuple[str, ...] = ()
    """The first rows that differ, a sentence each."""

    def lines(self, where: str) -> Iterator[str]:
        """What people are told; `where` names engine, profile and database."""
        column = f", column {self.column}" if self.column is not None else ""
        yield f"{where}: table {self.table}{column}: {self.text}"
        for row in self.rows:
            yield f"    {row}"
