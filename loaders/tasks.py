"""The parts of a load that are done side by side, in processes of their own where that pays.

SQLite's rows become Python's values under the interpreter's lock, so that threads would take turns.
"""

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from dialects.enums import Dialect
from dialects.errors import BadInput
from dialects.schema import Schema
from dialects.server_schema import ServerTable
from dialects.targets import TARGETS
from loaders.census import census
from loaders.namespace import Database
from loaders.refusals import refuse_numbers
from loaders.server import Server
from loaders.source import opened
from loaders.target import FilledTable, LoadSource, Target

Result_co = TypeVar("Result_co", covariant=True)


class TaskFailure(Exception):
    """An error in another process that nobody foresaw; the text is its trace."""


class LoadTask(ABC, Generic[Result_co]):
    """Something to be done in any process; what it is made of can be sent there."""

    @abstractmethod
    def do(self, advance: Callable[[int], None]) -> Result_co:
        """Do it; `advance` is told how many more rows have been sent."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What to call it in a message."""


@dataclass(frozen=True)
class Survey(LoadTask[Schema]):
    """The census of a file."""

    path: Path
    jobs: int = field(default=1, compare=False)
    """Threads that take it."""
    escape: bool = field(default=False, compare=False)
    """See `loaders.census.census`."""

    def do(self, advance: Callable[[int], None]) -> Schema:  # noqa: ARG002 - nothing is sent
        """See `loaders.census.census`."""
        return census(self.path, jobs=self.jobs, escape=self.escape)

    @property
    def name(self) -> str:
        """See `LoadTask.name`."""
        return str(self.path)


@dataclass(frozen=True)
class Fill(LoadTask[FilledTable]):
    """One table of a database."""

    server: Server
    database: Database
    source: LoadSource
    table: ServerTable
    staging: str

    def do(self, advance: Callable[[int], None]) -> FilledTable:
        """See `Target.fill`."""
        dialect, path = self.server.dialect, self.source.path
        advance(0)
        with opened(path) as connection:
            refuse_numbers(connection, path, self.table, dialect, self.database.profile)
            return target(dialect).fill(
                self.server, self.database, self.source, self.table, self.staging, connection, advance
            )

    @property
    def name(self) -> str:
        """See `LoadTask.name`."""
        return f"{self.source.path}: table {self.table.source.name}"


@dataclass(frozen=True)
class Link(LoadTask[list[str]]):
    """What is between the tables of a database, once they are all there."""

    server: Server
    database: Database
    source: LoadSource
    staging: str

    def do(self, advance: Callable[[int], None]) -> list[str]:  # noqa: ARG002 - nothing is sent
        """See `Target.link`."""
        if not any(table.source.foreign_keys for table in self.source.tables):
            return []
        return target(self.server.dialect).link(self.server, self.database, self.source, self.staging)

    @property
    def name(self) -> str:
        """See `LoadTask.name`."""
        return f"{self.source.path}: foreign keys"


def target(dialect: Dialect) -> Target:
    """The module of that name. Each brings its driver along, which is slow to import.

    Raises:
        BadInput: it has no servers.
    """
    if dialect not in TARGETS:
        raise BadInput(f"nothing is loaded into {dialect}: it reads the files as they are")
    module: Any = importlib.import_module(f"loaders.{dialect}.target")
    return cast("Target", module)
