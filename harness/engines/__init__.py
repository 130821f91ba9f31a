"""The engines that predictions run on: one folder each, with a record of all that others ask about it.

Tables, options, reports, predictors and workers iterate over these records and ask them; none knows an engine
by name. A folder below this one is an engine if it has a record `KIND`, and so is what an installed package
names as an entry point of the group `bird_harness.engines` (docs/how-to/engine.md). No record imports a
driver: its functions do, when they are called. `base` is the Protocol of a running engine.
"""

import importlib
import pkgutil
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.engines.base import Engine, Row, TableText
from harness.engines.errors import ErrorClass, Repairs, Troubles
from loaders.namespace import Database
from loaders.server import Server
from loaders.source import DeclaredTable

EngineName: TypeAlias = str
"""`EngineKind.name`: what tells engines apart. In options, prediction files and run folders it stands as
`dialect`; the language of an engine's SQL is `dialect_of` it."""


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

    def rights_to_write(self, server: Server) -> list[str]:
        """What the account of a private server may do beside reading, in the engine's words.

        Raises:
            EngineLost: the server does not answer.
        """
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

    name: EngineName
    """In options, file names and run folders: lower case letters and digits."""
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
    idioms: tuple[str, ...] = ()
    """Pieces of texts, in lower case, that tell its SQL from that of other engines, which refuse them."""
    coverage_reasons: Mapping[str, str] = field(default_factory=dict)
    """By error code: the `harness.analyses.coverage.answers.Reason` for which translated gold has no rows."""
    troubles: Troubles = field(default_factory=Troubles)
    """Which of its errors are the server's; none where it has no server."""
    repairs: Repairs | None = None
    """What its errors ask for, where the gap between dialects is explained; None where nobody has said."""


GROUP = "bird_harness.engines"
"""The entry points by which an installed package brings engines: each names a record."""

_NAME = re.compile(r"[a-z][a-z0-9]*(?<!json)")
"""Names of prediction files end in `_<name>.json`, or, published ones, in `_<name>json.json`."""

_TAKEN = frozenset({"all", "auto"})
"""What `--dialect` means by itself."""


@cache
def kinds_by_name() -> Mapping[str, EngineKind]:
    """Every engine by its name, in order.

    Raises:
        BadInput: an installed package brings one that cannot be used.
    """
    found = {kind.name: kind for kind in _own()}
    for point in entry_points(group=GROUP):
        kind = _brought(point)
        if kind.name in found:
            raise BadInput(f"{_whose(point)}: engine {kind.name!r} is there already; choose another name")
        found[kind.name] = kind
    return {kind.name: kind for kind in sorted(found.values(), key=lambda kind: (kind.rank, kind.name))}


def _own() -> Iterator[EngineKind]:
    """The records of the folders beside this module."""
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        if module.ispkg:
            yield importlib.import_module(f"{__name__}.{module.name}").KIND


def _brought(point: EntryPoint) -> EngineKind:
    """The record that an entry point names.

    Raises:
        BadInput: there is none, or it cannot be used.
    """
    try:
        kind = point.load()
    except Exception as error:
        words = f"cannot be imported ({type(error).__name__}: {error})"
        raise BadInput(f"{_whose(point)}: {words}; mend or uninstall it") from error
    if not isinstance(kind, EngineKind):
        raise BadInput(f"{_whose(point)}: is no EngineKind; name a record of that class")
    if not _NAME.fullmatch(kind.name) or kind.name in _TAKEN:
        raise BadInput(
            f"{_whose(point)}: {kind.name!r} is no name of an engine; choose lower case letters and digits"
        )
    if kind.has_server:
        raise BadInput(f"{_whose(point)}: has servers, which the loaders do not know; docs/how-to/engine.md")
    return kind


def _whose(point: EntryPoint) -> str:
    """An entry point as messages call it."""
    package = f" of package {point.dist.name}" if point.dist is not None else ""
    return f"engine {point.value}{package}"


def packages() -> Mapping[EngineName, str]:
    """The top-level packages of the engines that are brought from outside, by the engines' names."""
    return {_brought(point).name: point.module.partition(".")[0] for point in entry_points(group=GROUP)}


def kinds() -> tuple[EngineKind, ...]:
    """Every engine, in order."""
    return tuple(kinds_by_name().values())


def in_order(names: Iterable[EngineName]) -> list[EngineName]:
    """The engines of these names, each once, in the order of the tables."""
    wanted = set(names)
    return [name for name in kinds_by_name() if name in wanted]


def served() -> tuple[EngineKind, ...]:
    """The engines that have servers, in order."""
    return tuple(kind for kind in kinds() if kind.has_server)


def kind_of(name: EngineName) -> EngineKind:
    """The engine of a name.

    Raises:
        BadInput: there is none.
    """
    found = kinds_by_name()
    if name not in found:
        raise BadInput(f"engine {name!r} is not known; choose one of {', '.join(found)}")
    return found[name]


def dialect_of(name: EngineName) -> Dialect:
    """The language of an engine's SQL.

    Raises:
        BadInput: there is no engine of that name.
    """
    return kind_of(name).dialect


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


def on_server(server: Server) -> Engine:
    """The engine that speaks to `server`."""
    return kind_of(server.dialect).make(server, pooled=True)
