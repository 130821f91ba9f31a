"""The engines that predictions run on: one folder each, with a record of everything others need to know.

Tables, options, reports, predictors and workers iterate over these records; none depends on an engine's name.
A folder below this one is an engine if it has a record `KIND`, and so is an entry point of the group
`bird_harness.engines` in an installed package (docs/how-to/engine.md). No record imports a driver: its
functions do, when they are called. `base` has the Protocol of a running engine.
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
"""`EngineKind.name`, which identifies an engine. Options, prediction files and run folders call it `dialect`;
the language of an engine's SQL is its `dialect_of`."""


class MakeEngine(Protocol):
    """Makes the engine of a server or, for an engine without servers, of files."""

    def __call__(self, server: Server | None, *, pooled: bool) -> Engine:
        """Make an engine, without connecting yet.

        Args:
            server: its server; None for an engine without servers.
            pooled: allow sessions to reuse connections that earlier ones have left open.
        """
        ...


class Administration(Protocol):
    """Access to the administrator account of a server."""

    @property
    def FAILURES(self) -> tuple[type[Exception], ...]:  # noqa: N802 - a constant of a module
        """Exceptions of the driver if a server does not answer."""
        ...

    def administrating(self, server: Server) -> Any:
        """Open a new connection of the administrator account. Raises `FAILURES`."""
        ...

    def rights_to_write(self, server: Server) -> list[str]:
        """Return the privileges of a private server's account beyond reading, in the engine's words.

        Raises:
            EngineLost: the server does not answer.
        """
        ...


Ask = Callable[[str], list[Row]]
"""Runs one of the harness's own statements in a session of the reading role."""


class SchemaReader(Protocol):
    """Reads the tables of a database as the engine describes them."""

    def version(self, run: Ask) -> str:
        """Return the engine's version as far as it decides which SQL it accepts: `3.46`, `9.7`, `18`."""
        ...

    def tables(self, run: Ask, database: Database, declared: Sequence[DeclaredTable]) -> list[TableText]:
        """Return the declared tables that exist, in their order, without rows."""
        ...

    def first_rows(self, table: TableText, count: int) -> str:
        """Return the statement for the first rows of a table, in the order in which they are stored."""
        ...


@dataclass(frozen=True, kw_only=True)
class EngineKind:
    """Everything that the rest of the harness needs to know about an engine."""

    name: EngineName
    """Name in options, file names and run folders: lower case letters and digits."""
    title: str
    """Name in tables, reports and prompts, as its makers spell it."""
    dialect: Dialect
    """Language of its SQL, in which gold is read, translated and parsed."""
    rank: int
    """Engines are ordered by this number, then by name."""
    has_server: bool
    """True if databases are loaded, rather than read from their SQLite files."""
    make: MakeEngine
    class_of_error: Callable[[str | None, str], ErrorClass | None]
    """Maps an error's code and message to the class of the statement's error, or None."""
    schema: Callable[[], SchemaReader]
    today: str
    """Query for the day in UTC, as a text `2024-12-31`."""
    example: Path
    """Template of the example in prompts, of its dialect."""
    administration: Callable[[], Administration] | None = None
    """None without a server."""
    embedded: Callable[[], Server] | None = None
    """Where databases are loaded for an engine in this process, in place of a server to find or start."""
    quote: str = '"'
    """Quotation mark of names."""
    row_number: str | None = None
    """Column that numbers the rows of any table."""
    ignores_case: bool = False
    """True if texts are compared without case in the published databases."""
    reads_quoted_names_as_texts: bool = False
    """True if double quotes around anything but a name make a text."""
    escapes_by_backslash: bool = False
    """True if a backslash in a text escapes the quote after it."""
    quotes_by_dollars: bool = False
    """True if a text can stand between `$$` or `$word$`."""
    begins_with_from: bool = False
    """True if `FROM t` is a query."""
    idioms: tuple[str, ...] = ()
    """Pieces of SQL, in lower case, that only this engine accepts."""
    coverage_reasons: Mapping[str, str] = field(default_factory=dict)
    """By error: why translated gold has no rows (`harness.analyses.coverage.answers.DifferenceReason`)."""
    troubles: Troubles = field(default_factory=Troubles)
    """Errors that are the server's fault; empty without a server."""
    by_default: bool = True
    """False if `all` leaves it out: it is started and used where it is named, and used by `auto` while up."""
    requires: Mapping[str, tuple[frozenset[str], str]] = field(default_factory=dict)
    """Settings that no session can change: the values that outcomes need, and what follows from others with
    the way to change it. A run tells of others."""
    repairs: Repairs | None = None
    """Edits that its errors suggest, to explain the gap between dialects; None if undefined."""


def unfit_settings(engine: Engine, name: EngineName) -> list[str]:
    """Return a sentence for each setting of an engine's server that changes outcomes."""
    kind, found = kind_of(name), engine.settings()
    return [
        f"{kind.title}: {setting} is {found.get(setting)}; {remedy}"
        for setting, (values, remedy) in kind.requires.items()
        if found.get(setting) not in values
    ]


GROUP = "bird_harness.engines"
"""Entry points by which an installed package provides engines: each names a record."""

_NAME = re.compile(r"[a-z][a-z0-9]*(?<!json)")
"""Names of prediction files end in `_<name>.json`, or, published ones, in `_<name>json.json`."""

_TAKEN = frozenset({"all", "auto"})
"""Values with a meaning of their own in `--dialect`."""


@cache
def kinds_by_name() -> Mapping[str, EngineKind]:
    """Return every engine by its name, in order.

    Raises:
        BadInput: an installed package provides one that cannot be used.
    """
    found = {kind.name: kind for kind in _own()}
    for point in entry_points(group=GROUP):
        kind = _brought(point)
        if kind.name in found:
            raise BadInput(f"{_whose(point)}: engine {kind.name!r} already exists; choose another name")
        found[kind.name] = kind
    return {kind.name: kind for kind in sorted(found.values(), key=lambda kind: (kind.rank, kind.name))}


def _own() -> Iterator[EngineKind]:
    """Yield the records of the packages in this folder."""
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        if module.ispkg:
            yield importlib.import_module(f"{__name__}.{module.name}").KIND


def _brought(point: EntryPoint) -> EngineKind:
    """Load the record that an entry point names.

    Raises:
        BadInput: there is none, or it cannot be used.
    """
    try:
        kind = point.load()
    except Exception as error:
        words = f"cannot be imported ({type(error).__name__}: {error})"
        raise BadInput(f"{_whose(point)}: {words}; repair or uninstall it") from error
    if not isinstance(kind, EngineKind):
        raise BadInput(f"{_whose(point)}: not an EngineKind; name a record of that class")
    if not _NAME.fullmatch(kind.name) or kind.name in _TAKEN:
        raise BadInput(
            f"{_whose(point)}: {kind.name!r} cannot be an engine's name; use lower case letters and digits"
        )
    if kind.has_server:
        raise BadInput(f"{_whose(point)}: has servers, which the loaders do not know; docs/how-to/engine.md")
    return kind


def _whose(point: EntryPoint) -> str:
    """Return the name of an entry point for messages."""
    package = f" of package {point.dist.name}" if point.dist is not None else ""
    return f"engine {point.value}{package}"


def packages() -> Mapping[EngineName, str]:
    """Return the top-level packages of engines from installed packages, by engine name."""
    return {_brought(point).name: point.module.partition(".")[0] for point in entry_points(group=GROUP)}


def kinds() -> tuple[EngineKind, ...]:
    """Return every engine, in order."""
    return tuple(kinds_by_name().values())


def in_order(names: Iterable[EngineName]) -> list[EngineName]:
    """Return these names without repetition, in the order of the tables."""
    wanted = set(names)
    return [name for name in kinds_by_name() if name in wanted]


def served() -> tuple[EngineKind, ...]:
    """Return the engines with servers that are found or started, in order."""
    return tuple(kind for kind in kinds() if kind.has_server and kind.embedded is None)


def kind_of(name: EngineName) -> EngineKind:
    """Return the engine of a name.

    Raises:
        BadInput: there is none.
    """
    found = kinds_by_name()
    if name not in found:
        raise BadInput(f"engine {name!r} is not known; choose one of {', '.join(found)}")
    return found[name]


def dialect_of(name: EngineName) -> Dialect:
    """Return the language of an engine's SQL.

    Raises:
        BadInput: there is no engine of that name.
    """
    return kind_of(name).dialect


class _Titles(Mapping[str, str]):
    """The titles of all engines by name, including those added later."""

    def __getitem__(self, name: str) -> str:
        return kinds_by_name()[name].title

    def __iter__(self) -> Iterator[str]:
        return iter(kinds_by_name())

    def __len__(self) -> int:
        return len(kinds_by_name())


TITLES: Mapping[str, str] = _Titles()
"""Titles of engines for people, by name."""


def on_server(server: Server) -> Engine:
    """Return the engine for `server`."""
    return kind_of(server.dialect).make(server, pooled=True)
