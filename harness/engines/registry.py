"""The engines that there are: one record each, made in the engine's own folder.

Tables, options, reports, predictors and workers iterate over these records and ask them; none knows an engine
by name. A folder below this one is an engine if it has a record `KIND`; `register` adds one from elsewhere
(docs/how-to/engine.md). No record imports a driver: its functions do, when they are called.
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.engines.base import Engine, Row
from harness.engines.error_classes import ErrorClass
from harness.engines.tables import TableText
from loaders.declarations import DeclaredTable
from loaders.namespace import Database
from loaders.server import Server


class MakeEngine(Protocol):
    """Makes the engine of a server or, where an engine has none, of files."""

    def __call__(self, server: Server | None, *, pooled: bool) -> Engine:
        """An engine; nothing is connected yet.

        Args:
            server: whose; None for an engine without servers.
            pooled: whether sessions may use what earlier ones have left open.
        """
        ...


class Administration(Protocol):
    """How the administrating account of a server is reached."""

    @property
    def FAILURES(self) -> tuple[type[Exception], ...]:  # noqa: N802 - a constant of a module
        """What the driver raises where a server does not answer."""
        ...

    def administrating(self, server: Server) -> Any:
        """A new connection of the administrating account. Raises `FAILURES`."""
        ...


Ask = Callable[[str], list[Row]]
"""Runs one statement of the harness's own in a session of the reading role."""


class SchemaReader(Protocol):
    """Reads the tables of a database in the engine's own words."""

    def version(self, run: Ask) -> str:
        """The engine's version as far as it decides what SQL it takes: `3.46`, `9.7`, `18`."""
        ...

    def tables(self, run: Ask, database: Database, declared: Sequence[DeclaredTable]) -> list[TableText]:
        """Those of the declared tables that are there, in their order, without rows."""
        ...

    def first_rows(self, table: TableText, count: int) -> str:
        """The statement for the first rows of a table, in the order in which they are stored."""
        ...


@dataclass(frozen=True, kw_only=True)
class EngineKind:
    """All that the rest of the harness asks about an engine."""

    name: str
    """In options, file names and run folders: lower case letters, digits and `_`."""
    title: str
    """In tables, reports and prompts, as its makers write it."""
    dialect: Dialect
    """The language of its SQL: gold is taken, translated and parsed in it."""
    rank: int
    """Engines come in the order of this number, those with the same one by name."""
    has_server: bool
    """Whether databases are loaded into a server, and not read from their SQLite files."""
    make: MakeEngine
    class_of_error: Callable[[str | None, str], ErrorClass | None]
    """What an error, by its code and its words, says of a statement; None if nothing."""
    schema: Callable[[], SchemaReader]
    today: str
    """A query for the day in UTC, as a text `2024-12-31`."""
    administration: Callable[[], Administration] | None = None
    """None where there is no server."""
    quote: str = '"'
    """What names are put in."""
    row_number: str | None = None
    """A column that numbers the rows of any table."""
    ignores_case: bool = False
    """Texts are compared without case in the published databases."""
    reads_quoted_names_as_texts: bool = False
    """A text in double quotes that is no name is a text."""
    coverage_reasons: Mapping[str, str] = field(default_factory=dict)
    """By error code: the `harness.coverage.answers.Reason` for which translated gold has no rows."""


_REGISTERED: dict[str, EngineKind] = {}


@cache
def _own() -> Mapping[str, EngineKind]:
    """The records of the folders beside this module."""
    found = (
        importlib.import_module(f"{__package__}.{module.name}")
        for module in pkgutil.iter_modules([str(Path(__file__).parent)])
        if module.ispkg
    )
    return {package.KIND.name: package.KIND for package in found}


def register(kind: EngineKind) -> None:
    """Add an engine that has no folder here, in this process and in the workers that it starts.

    Raises:
        BadInput: there is another one of that name.
    """
    if kinds_by_name().get(kind.name, kind) != kind:
        raise BadInput(f"engine {kind.name!r} is there already; choose another name")
    _REGISTERED[kind.name] = kind


def registered() -> tuple[EngineKind, ...]:
    """The engines that were added with `register`."""
    return tuple(_REGISTERED.values())


def kinds_by_name() -> Mapping[str, EngineKind]:
    """Every engine by its name, in order."""
    found = {**_own(), **_REGISTERED}
    return {kind.name: kind for kind in sorted(found.values(), key=lambda kind: (kind.rank, kind.name))}


def kinds() -> tuple[EngineKind, ...]:
    """Every engine, in order."""
    return tuple(kinds_by_name().values())


def served() -> tuple[EngineKind, ...]:
    """The engines that have servers, in order."""
    return tuple(kind for kind in kinds() if kind.has_server)


def kind_of(name: str) -> EngineKind:
    """The engine of a name.

    Raises:
        BadInput: there is none.
    """
    found = kinds_by_name()
    if name not in found:
        raise BadInput(f"engine {name!r} is not known; choose one of {', '.join(found)}")
    return found[name]


class _Titles(Mapping[str, str]):
    """The titles of the engines by name, of those that are added later, too."""

    def __getitem__(self, name: str) -> str:
        return kinds_by_name()[name].title

    def __iter__(self) -> Iterator[str]:
        return iter(kinds_by_name())

    def __len__(self) -> int:
        return len(kinds_by_name())


TITLES: Mapping[str, str] = _Titles()
"""What an engine is called where people read, by its name."""
