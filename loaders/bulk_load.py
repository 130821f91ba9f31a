"""Load databases into a server: unchanged ones are skipped, changed ones replaced as a whole."""

import math
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypedDict, Unpack

from dialects.enums import Profile
from dialects.errors import BadInput
from dialects.schema import Schema
from dialects.server_schema import ServerTable, server_tables
from loaders.base.digests import digests
from loaders.base.errors import command
from loaders.base.processes import processors
from loaders.namespace import (
    STAGING,
    Database,
    Key,
    Marker,
    key,
    refuse_collisions,
    refuse_place,
)
from loaders.server import Server, session_pool
from loaders.target import FilledTable, LoadSource, Target, target
from loaders.workers import Fill, Link, LoadTask, LoadWorkers, Survey, workers

_LEAST_BYTES = 16 * 2**20
"""Total size of files below which loading takes less time than starting processes."""

_MOST_JOBS = 8
"""Default limit: a process takes about 50 MB."""


Progress = Callable[[Database, int, int], None]
"""Called with a database, its rows sent so far, and their total: first, after every batch, and last.

Several databases are loaded at once. It is called in the thread of `load`.
"""


@dataclass(frozen=True)
class Loaded:
    """One database as it now is on the server."""

    database: Database
    rows: int
    seconds: float
    """Since the load began or, if that is later, since the previous database was in place.

    So the times of all databases add up to the total, although several are loaded at once.
    """
    skipped: bool
    """True if it was loaded before, from the same file by the same loader."""
    notes: tuple[str, ...]
    """Declarations that could not be kept, one sentence each."""
    content: str
    """A digest of what is loaded now; see `Marker.content`."""
    escape: bool = False
    """See `Marker.escape`."""
    tables: Mapping[str, int] = field(default_factory=dict)
    """Rows of each table as they were loaded, by its name on the server."""


class LoadOptions(TypedDict, total=False):
    """The options of `load`."""

    force: bool
    indexes: bool | None
    escape: bool | None
    recount: bool
    jobs: int | None
    progress: Progress | None


def load(  # noqa: PLR0913 - the options of a load
    databases: Sequence[Database],
    server: Server,
    *,
    force: bool = False,
    indexes: bool | None = None,
    escape: bool | None = None,
    recount: bool = False,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> list[Loaded]:
    """Load databases into a server and let its reading role read them.

    Whatever interrupts the load, each database is either completely loaded or unchanged. Loads into the same
    server wait for each other.

    Args:
        databases: in any profiles and collections.
        server: MySQL or PostgreSQL, with an account that may create databases and roles.
        force: also reload unchanged databases; a file's size and times are then not used to detect changes.
        indexes: True for all keys and indexes of the file, False for primary keys only; by default, either is
            accepted in a database that is there, and a new one gets all.
        escape: True to escape values that the server cannot store, see `loaders.portable`; False to let them
            stop the load; by default, either is accepted in a database that is there, and they stop the load
            of a new one.
        recount: also reload unchanged databases whose tables have other numbers of rows on the server.
        jobs: tables to load at once, each by a thread or, into MySQL, by a process; 1 uses only this thread.
            By default the number of cores, up to 8, and 1 if the files are small.
        progress: called for each database that is loaded.

    Returns:
        One entry per database, in the order given.

    Raises:
        BadInput: a file cannot be read or has values that the server cannot store, or a table would replace
            one of another owner. Databases loaded before that stay loaded.
        EngineUnavailable: the server cannot be reached or broke.
    """
    engine = target(server.dialect)
    for database in databases:
        refuse_place(database, server.dialect)
    found = digests(_paths(databases), trust=not force)
    with engine.exclusive(server), session_pool():
        engine.tidy(server, databases)
        engine.admit_reader(server)
        markers = engine.markers(server, databases)
        done = {} if force else {
            database: _skipped(database, markers[key(database)])
            for database in databases
            if _is_current(database, markers, found, indexes=indexes, escape=escape)
        }  # fmt: skip
        if recount:
            changed = changed_tables(done.values(), server)
            done = {database: one for database, one in done.items() if database not in changed}
        stale = [database for database in dict.fromkeys(databases) if database not in done]
        with workers(
            _jobs(jobs, _paths(stale)), processes=engine.in_processes, alone=engine.locks_files
        ) as pool:
            plans = _plans(
                stale, server, found, markers, pool, indexes=indexes is not False, escape=bool(escape)
            )
            planned = {plan.database: [table.name for table in plan.source.tables] for plan in plans}
            present = {database: engine.present(server, database) for database in planned}
            refuse_collisions(planned, markers, present, server.dialect)
            if faithful := [database for database in databases if database.profile is Profile.FAITHFUL]:
                engine.install_functions(server, faithful)
            with _prepared(engine, server, plans, pool):
                done |= _replaced(engine, server, plans, pool, progress)
    return [done[database] for database in databases]


@dataclass(frozen=True)
class Unloaded:
    """One database that could not be loaded, and why."""

    database: Database
    reason: str


def load_each(
    databases: Sequence[Database], server: Server, **options: Unpack[LoadOptions]
) -> tuple[list[Loaded], list[Unloaded]]:
    """Load as `load` does, but continue with other databases if one fails.

    Args:
        databases: in any profiles and collections.
        server: MySQL or PostgreSQL.
        options: those of `load`.

    Returns:
        The databases that are loaded, and those that are not; both in the order given.

    Raises:
        EngineUnavailable: the server cannot be reached or broke.
    """
    try:
        return load(databases, server, **options), []
    except BadInput as error:
        if len(databases) == 1:
            return [], [Unloaded(databases[0], str(error))]
    done, left = [], []
    # One at a time shows which one fails; those already in place are not loaded again.
    for database in databases:
        try:
            done += load([database], server, **options)
        except BadInput as error:
            left.append(Unloaded(database, str(error)))
    return done, left


def loaded(databases: Sequence[Database], server: Server) -> dict[Database, Marker]:
    """Return the markers of the databases that are on the server as `load` would leave them.

    Databases loaded from another file or by an older loader are not included.

    Raises:
        BadInput: a file cannot be read.
        EngineUnavailable: the server cannot be reached.
    """
    markers = target(server.dialect).markers(server, databases)
    found = digests(_paths(databases))
    return {
        database: markers[key(database)] for database in databases if _is_current(database, markers, found)
    }


def changed_tables(done: Iterable[Loaded], server: Server) -> dict[Database, str]:
    """Return the databases with tables that have other numbers of rows than were loaded, each with a phrase.

    An embedded engine's files belong to the harness alone and are not asked.

    Raises:
        EngineUnavailable: the server cannot be reached.
    """
    if not server.port:
        return {}
    loaded_rows = {(one.database, name): rows for one in done for name, rows in one.tables.items()}
    found = target(server.dialect).counts(server, list(loaded_rows))
    return {
        database: f"table {name} has {now:,} rows, and {rows:,} were loaded"
        for ((database, name), rows), now in zip(loaded_rows.items(), found, strict=True)
        if now != rows
    }


def refuse_changed(done: Sequence[Loaded], server: Server) -> None:
    """Reject databases whose tables have other numbers of rows than were loaded; new loads are not counted.

    Raises:
        BadInput: somebody added or deleted rows since a load.
        EngineUnavailable: the server cannot be reached.
    """
    for database, phrase in changed_tables((one for one in done if one.skipped), server).items():
        raise BadInput(
            f"{server.dialect}, {database.db_id} ({database.profile}): {phrase}; load its set again"
            f" (`{command('load', set='...')}`)"
        )


@dataclass
class _Plan:
    database: Database
    source: LoadSource
    rows: int
    indexes: bool
    escape: bool
    old: tuple[str, ...]
    """The tables of an earlier load."""
    staging: str
    sent: int = 0
    filled: dict[str, FilledTable] = field(default_factory=dict)
    """The filled tables, by name on the server."""
    is_done: bool = False

    def marker(self, notes: Sequence[str]) -> Marker:
        """Return the marker for it; `notes` are those on foreign keys."""
        filled = {table.name: self.filled[table.name] for table in self.source.tables}
        counts = {name: one.rows for name, one in filled.items()}
        refused = [note for one in filled.values() for note in one.notes]
        every = (*self.source.notes, *refused, *notes)
        return Marker.now(self.source.sha256, counts, every, indexes=self.indexes, escape=self.escape)


def _paths(databases: Sequence[Database]) -> list[Path]:
    return list(dict.fromkeys(database.sqlite_path for database in databases))


def _jobs(wanted: int | None, paths: Sequence[Path]) -> int:
    if wanted is not None:
        return wanted
    is_small = sum(path.stat().st_size for path in paths) < _LEAST_BYTES
    return 1 if is_small else min(processors(), _MOST_JOBS)


def _is_current(
    database: Database,
    markers: Mapping[Key, Marker],
    found: Mapping[Path, str],
    *,
    indexes: bool | None = None,
    escape: bool | None = None,
) -> bool:
    marker = markers.get(key(database))
    return marker is not None and marker.is_current(
        found[database.sqlite_path], indexes=indexes, escape=escape
    )


def _skipped(database: Database, marker: Marker) -> Loaded:
    return Loaded(
        database,
        marker.rows,
        0.0,
        skipped=True,
        notes=tuple(marker.notes),
        content=marker.content,
        escape=marker.escape,
        tables=marker.tables,
    )


def _plans(  # noqa: PLR0913 - the parts of a plan
    databases: Sequence[Database],
    server: Server,
    found: Mapping[Path, str],
    markers: Mapping[Key, Marker],
    pool: LoadWorkers,
    *,
    indexes: bool,
    escape: bool,
) -> list[_Plan]:
    """Plan all loads, with one census per file, however many profiles it is loaded in."""
    paths = _paths(databases)
    threads = -(-pool.number // max(len(paths), 1))
    for path in paths:
        pool.give(Survey(path, threads, escape), (path.stat().st_size, 0))
    schemas: dict[LoadTask, Schema] = dict(pool.results(lambda _, __: None))
    token = secrets.token_hex(4)
    plans = []
    for number, database in enumerate(databases):
        path = database.sqlite_path
        schema = schemas[Survey(path)]
        tables = server_tables(schema, server.dialect, database.profile, path)
        source = LoadSource(path, found[path], tables if indexes else _bare(tables), schema.notes)
        earlier = markers.get(key(database))
        old = tuple(earlier.tables) if earlier else ()
        staging = f"{STAGING}_{token}_{number}"
        plans.append(_Plan(database, source, schema.rows, indexes, escape, old, staging))
    return plans


def _bare(tables: Sequence[ServerTable]) -> tuple[ServerTable, ...]:
    """Return the tables with only their primary keys; column types stay as chosen for all keys."""
    return tuple(
        replace(table, source=replace(table.source, unique=(), indexes=(), foreign_keys=()))
        for table in tables
    )


@contextmanager
def _prepared(engine: Target, server: Server, plans: Sequence[_Plan], pool: LoadWorkers) -> Iterator[None]:
    """Create stagings for all plans; at the end, stop workers and drop the stagings."""
    try:
        for plan in plans:
            engine.prepare(server, plan.database, plan.staging)
        yield
    finally:
        pool.end()
        for plan in plans:
            if not plan.is_done:
                engine.discard(server, plan.database, plan.staging)


def _replaced(
    engine: Target, server: Server, plans: Sequence[_Plan], pool: LoadWorkers, progress: Progress | None
) -> dict[Database, Loaded]:
    """Load all plans, one database after the other, large tables first so that none delays the others."""
    of, started = {plan.database: plan for plan in plans}, time.monotonic()
    done: dict[Database, Loaded] = {}
    for plan in plans:
        fills = [
            Fill(server, plan.database, plan.source, table, plan.staging) for table in plan.source.tables
        ]
        cells = [fill.table.source.rows * len(fill.table.columns) for fill in fills]
        for fill, weight in zip(fills, cells, strict=True):
            pool.give(fill, (sum(cells), weight))

    def advance(task: LoadTask, rows: int) -> None:
        if isinstance(task, Fill):
            plan = of[task.database]
            plan.sent += rows
            if progress:
                progress(plan.database, plan.sent, plan.rows)

    for task, result in pool.results(advance):
        if not isinstance(task, Fill | Link):
            continue
        plan = of[task.database]
        if isinstance(task, Fill):
            plan.filled[task.table.name] = result
            if len(plan.filled) == len(plan.source.tables):
                pool.give(Link(server, plan.database, plan.source, plan.staging), (math.inf, 0))
            continue
        marker = plan.marker(result)
        engine.put_in_place(server, plan.database, plan.staging, plan.old, marker)
        engine.discard(server, plan.database, plan.staging)
        plan.is_done = True
        started, seconds = time.monotonic(), time.monotonic() - started
        done[plan.database] = Loaded(
            plan.database,
            marker.rows,
            seconds,
            skipped=False,
            notes=tuple(marker.notes),
            content=marker.content,
            escape=marker.escape,
            tables=marker.tables,
        )
    return done
