"""The seam between loading and a server engine, for which `loaders.mysql` and `loaders.postgresql` stand."""

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from harness.engines.namespace import Database
from harness.engines.server import Server
from loaders.bookkeeping import Key, Marker
from loaders.profiles import ServerTable


@dataclass(frozen=True)
class Source:
    """One SQLite file, ready to be loaded."""

    path: Path
    sha256: str
    connection: sqlite3.Connection
    tables: Sequence[ServerTable]
    notes: Sequence[str]
    """What the census could not take over as declared."""


class Target(Protocol):
    """What a module for a server engine does. All of it under the server's administrating account.

    Every function raises `EngineUnavailable` when the server cannot be reached or breaks.
    """

    def exclusive(self, server: Server) -> AbstractContextManager[None]:
        """Be the only one who loads into this server; waits for another one to finish.

        The server itself ends the exclusion when the process dies.
        """
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

    def replace(
        self,
        server: Server,
        database: Database,
        source: Source,
        old: Sequence[str],
        advance: Callable[[int], None],
    ) -> Marker:
        """Put the tables of `source` in place of the tables `old`, and remember it.

        Until the end the old tables are there, from then on the new ones. The reading role can read those,
        and nothing else.

        Args:
            server: where to.
            database: whose tables they are.
            source: the tables.
            old: what an earlier load of `database` left.
            advance: told how many more rows have been sent.

        Raises:
            BadInput: the server cannot hold what the file holds, or other rows arrived than were sent.
        """
        ...
