"""Loading databases into a server: what has not changed is left alone, what has is replaced as a whole."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Protocol

from harness.engines.namespace import Database
from harness.engines.server import Server
from harness.errors import BadInput
from harness.known.digests import digests
from harness.words import Dialect, Profile
from loaders.bookkeeping import Key, Marker, key
from loaders.census import census
from loaders.owners import refuse_collisions, refuse_place
from loaders.profiles import ServerTable, server_tables
from loaders.refusals import refuse_numbers
from loaders.schema import Schema
from loaders.source import opened
from loaders.target import Source, Target


class Progress(Protocol):
    """Told how far the load of a database is: at its start, after every batch of rows, at its end."""

    def __call__(self, database: Database, done: int, total: int, /) -> None:
        """`done` of the `total` rows of `database` have been sent."""
        ...


@dataclass(frozen=True)
class Loaded:
    """One database as it now stands on the server."""

    database: Database
    rows: int
    seconds: float
    skipped: bool
    """Whether it was there already, loaded from the same file by the same loader."""
    notes: tuple[str, ...]
    """What could not be taken over as declared, one sentence each."""


def load(
    databases: Sequence[Database], server: Server, *, force: bool = False, progress: Progress | None = None
) -> list[Loaded]:
    """Bring databases onto a server and let its reading role read them.

    Each database is there as a whole or as it was before, whatever interrupts the load. Processes that load
    into the same server take turns.

    Args:
        databases: in any profiles and collections.
        server: MySQL or PostgreSQL, with an account that may create databases and roles.
        force: load again what has not changed, too; whether a file has changed is then not guessed from its
            times.
        progress: told about each database that is loaded.

    Returns:
        One entry per database, in the order given.

    Raises:
        BadInput: a file cannot be read or holds what the server cannot, or a table would take the place of
            one that is not its own. Databases loaded before that stay loaded.
        EngineUnavailable: the server cannot be reached or broke.
    """
    target = _target(server)
    for database in databases:
        refuse_place(database, server.dialect)
    found = digests(_paths(databases), trust=not force)
    with target.exclusive(server):
        target.admit_reader(server)
        markers = target.markers(server, databases)
        done = {} if force else {
            database: _skipped(database, markers[key(database)])
            for database in databases
            if _is_current(database, markers, found)
        }  # fmt: skip
        stale = [database for database in databases if database not in done]
        plans = _plans(stale, server.dialect, found, markers)
        planned = {plan.database: [table.name for table in plan.tables] for plan in plans}
        present = {database: target.present(server, database) for database in planned}
        refuse_collisions(planned, markers, present, server.dialect)
        if faithful := [database for database in databases if database.profile is Profile.FAITHFUL]:
            target.install_functions(server, faithful)
        for plan in plans:
            done[plan.database] = _replaced(target, server, plan, progress)
    return [done[database] for database in databases]


def loaded(databases: Sequence[Database], server: Server) -> dict[Database, Marker]:
    """Say which databases stand on the server as `load` would leave them, and how.

    One that was loaded from another file or by an older loader is not among them.

    Raises:
        BadInput: a file cannot be read.
        EngineUnavailable: the server cannot be reached.
    """
    markers = _target(server).markers(server, databases)
    found = digests(_paths(databases))
    return {
        database: markers[key(database)] for database in databases if _is_current(database, markers, found)
    }


@dataclass(frozen=True)
class _Plan:
    """What is to be loaded."""

    database: Database
    sha256: str
    schema: Schema
    tables: tuple[ServerTable, ...]
    old: tuple[str, ...]
    """The tables that an earlier load left."""


def _target(server: Server) -> Target:
    # Each brings its driver along, which is slow to import.
    match server.dialect:
        case Dialect.MYSQL:
            from loaders import mysql  # noqa: PLC0415

            return mysql
        case Dialect.POSTGRESQL:
            from loaders import postgresql  # noqa: PLC0415

            return postgresql
        case Dialect.SQLITE:
            raise BadInput(f"nothing is loaded into {server.dialect}: it reads the files as they are")


def _paths(databases: Sequence[Database]) -> list[Path]:
    return list(dict.fromkeys(database.sqlite_path for database in databases))


def _is_current(database: Database, markers: Mapping[Key, Marker], found: Mapping[Path, str]) -> bool:
    marker = markers.get(key(database))
    return marker is not None and marker.is_current(found[database.sqlite_path])


def _skipped(database: Database, marker: Marker) -> Loaded:
    return Loaded(database, marker.rows, 0.0, skipped=True, notes=tuple(marker.notes))


def _plans(
    databases: Sequence[Database],
    dialect: Dialect,
    found: Mapping[Path, str],
    markers: Mapping[Key, Marker],
) -> list[_Plan]:
    """Take the census of each file once, however many profiles it is loaded in."""
    read = cache(census)
    plans = []
    for database in dict.fromkeys(databases):
        path = database.sqlite_path
        schema = read(path)
        tables = server_tables(schema, dialect, database.profile, path)
        earlier = markers.get(key(database))
        old = tuple(earlier.tables) if earlier else ()
        plans.append(_Plan(database, found[path], schema, tables, old))
    return plans


def _replaced(target: Target, server: Server, plan: _Plan, progress: Progress | None) -> Loaded:
    started = time.monotonic()
    database, path = plan.database, plan.database.sqlite_path
    sent = 0

    def advance(rows: int) -> None:
        nonlocal sent
        sent += rows
        if progress:
            progress(database, sent, plan.schema.rows)

    with opened(path) as connection:
        for table in plan.schema.tables:
            refuse_numbers(connection, path, table, server.dialect, database.profile)
        advance(0)
        source = Source(path, plan.sha256, connection, plan.tables, plan.schema.notes)
        marker = target.replace(server, database, source, plan.old, advance)
    seconds = time.monotonic() - started
    return Loaded(database, marker.rows, seconds, skipped=False, notes=tuple(marker.notes))
