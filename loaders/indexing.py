"""The seam to a server for copies of databases whose keys and indexes are changed: never a user's own.

`loaders.<dialect>.indexing` stands for it. A copy is a database that `loaders.load` has loaded under a
collection of `copy_collection`; nothing else has such a name, and whatever has is nobody's once no study
holds the server.
"""

import importlib
import re
import secrets
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, cast

from dialects.enums import Dialect
from dialects.server_schema import ServerTable
from loaders.namespace import NAMESPACE, Database
from loaders.server import Server

COPY = f"{NAMESPACE}_study"
"""How the collection of every copy begins."""

_DIGITS = 16
IS_COPY = re.compile(rf"{COPY}_[0-9a-f]{{{_DIGITS}}}(?:_.*)?")
"""The names of the databases that copies stand in, on every server and in every profile."""

STUDY_LOCK = f"{NAMESPACE} study"
"""What a study holds on a server while it has copies there."""


def copy_collection() -> str:
    """A collection that no other copy has."""
    return f"{COPY}_{secrets.token_hex(_DIGITS // 2)}"


class Indexing(Protocol):
    """What a module for a server engine does, under the administrating account.

    Every function raises `EngineUnavailable` when the server cannot be reached or breaks.
    """

    def hold(self, server: Server) -> AbstractContextManager[bool]:
        """Be the only study that has copies on this server; False where another one has.

        The server itself ends it when the process dies.
        """
        ...

    def copies(self, server: Server) -> list[str]:
        """The databases on the server that are copies, whoever made them."""
        ...

    def drop(self, server: Server, names: Sequence[str]) -> None:
        """Drop databases that are copies, with the rights on them and what is remembered of their loads."""
        ...

    def add_index(
        self, server: Server, database: Database, table: ServerTable, columns: Sequence[str], name: str
    ) -> str | None:
        """Make an index; why the server refused it, None where it is there.

        Args:
            server: where.
            database: a copy.
            table: one of its tables.
            columns: by SQLite's names.
            name: the index's.
        """
        ...

    def drop_index(self, server: Server, database: Database, table: ServerTable, name: str) -> None:
        """Drop an index that `add_index` made."""
        ...

    def drop_primary_keys(self, server: Server, database: Database, tables: Sequence[ServerTable]) -> None:
        """Drop the primary keys of the tables that have one."""
        ...

    def sizes(self, server: Server, database: Database) -> Mapping[tuple[str, str], int]:
        """Bytes of every index, by the server's names of table and index; of tables by (`table`, "")."""
        ...


def indexing(dialect: Dialect) -> Indexing:
    """The module of that name; brings its driver along."""
    module: Any = importlib.import_module(f"loaders.{dialect}.indexing")
    return cast("Indexing", module)
