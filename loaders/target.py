"""The seam between loading and a server engine, for which the `target` of its folder stands.

New tables are filled in a place of their own, the staging, and put in place all at once: whatever interrupts
a load, the database is the old or the new one.
"""

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from dialects.server_schema import ServerTable
from loaders.bookkeeping import Key, Marker
from loaders.namespace import Database
from loaders.server import Server


@dataclass(frozen=True)
class Source:
    """One SQLite file, and what is to be loaded of it."""

    path: Path
    sha256: str
    tables: Sequence[ServerTable]
    """All of them; their keys and indexes are those that are wanted."""
    notes: Sequence[str]
    """What the census could not take over as declared."""


@dataclass(frozen=True)
class Filled:
    """One staged table with all its rows."""

    rows: int
    """As the server counts them."""
    notes: tuple[str, ...]
    """The keys and indexes that the server refused, one sentence each."""


class Target(Protocol):
    """What a module for a server engine does. All of it under the server's administrating account.

    `fill` and `link` run in processes of their own, many at once; everything else in the one that loads. Each
    has its own connections. Every function raises `EngineUnavailable` when the server cannot be reached or
    breaks.
    """

    def in_processes(self) -> bool:
        """Whether tables are filled in processes, because Python works on every row that is sent."""
        ...

    def exclusive(self, server: Server) -> AbstractContextManager[None]:
        """Be the only one who loads into this server; waits for another one to finish.

        The server itself ends the exclusion when the process dies.
        """
        ...

    def tidy(self, server: Server, databases: Sequence[Database]) -> None:
        """Drop every staging that a killed load left where `databases` stand or would stand."""
        ...

    def admit_reader(self, server: Server) -> None:
        """Make sure that the reading role exists and can log in."""
        ...

    def install_functions(self, server: Server, databases: Sequence[Database]) -> None:
        """Make sure that the functions of `loaders.functions` are there for databases of profile faithful.

        Raises:
            BadInput: something else has their namespace.
        """
        ...

    def markers(self, server: Server, databases: Sequence[Database]) -> dict[Key, Marker]:
        """The markers where `databases` stand or would stand, and those of their neighbours there.

        A database that has lost a table since is not called whole: see `Marker.checked`.
        """
        ...

    def present(self, server: Server, database: Database) -> set[str]:
        """The tables that stand where those of `database` do or would."""
        ...

    def prepare(self, server: Server, database: Database, staging: str) -> None:
        """Make an empty staging, which the reading role cannot use.

        Args:
            server: where.
            database: what will be staged.
            staging: its name, which no other load and no other database has.

        Raises:
            BadInput: the place of `database` is not fit for it.
        """
        ...

    def fill(  # noqa: PLR0913, PLR0917 - what one table takes
        self,
        server: Server,
        database: Database,
        source: Source,
        table: ServerTable,
        staging: str,
        connection: sqlite3.Connection,
        advance: Callable[[int], None],
    ) -> Filled:
        """Stage one table: its rows, then primary key, unique keys and indexes, then statistics.

        Args:
            server: where to.
            database: whose table it is.
            source: all its tables.
            table: one of them.
            staging: see `prepare`.
            connection: to the file.
            advance: told how many more rows have been sent.

        Raises:
            BadInput: the server cannot hold what the file holds, or other rows arrived than were sent.
        """
        ...

    def link(self, server: Server, database: Database, source: Source, staging: str) -> list[str]:
        """Add the foreign keys between the staged tables, and return a note on each that is left out."""
        ...

    def put_in_place(
        self, server: Server, database: Database, staging: str, old: Sequence[str], marker: Marker
    ) -> None:
        """Put the staged tables in place of the tables `old`, and remember it as `marker`.

        Until the end the old tables are there, from then on the new ones. The reading role can read those,
        and nothing else.
        """
        ...

    def discard(self, server: Server, database: Database, staging: str) -> None:
        """Drop what is left of a staging, if anything is; a server that does not answer is passed over."""
        ...
