"""Loading a published dump: each database is there as the dump has it, or as it was before.

The dump fills a staging as an account that can do nothing else. Only when it has run to its end, and every
table of every database has come, are they put in place, one database after the other.
"""

import importlib
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from dialects.enums import Dialect, Profile
from dialects.errors import BadInput
from loaders.bookkeeping import Marker, key
from loaders.digests import digests
from loaders.namespace import Database
from loaders.owners import refuse_collisions, refuse_place
from loaders.packages.proof import sha256
from loaders.server import Server
from loaders.source import opened
from loaders.target import STAGING
from loaders.tasks import target

Advance = Callable[[int, int], None]
"""Told how many bytes of how many have been sent."""


@dataclass(frozen=True)
class DumpLoaded:
    """What came of a dump."""

    sha256: str
    tables: int
    rows: int
    notes: tuple[str, ...]
    """Where the dump has other numbers of rows than the SQLite files, a sentence each."""


def load_dump(dump: Path, databases: Sequence[Database], server: Server, advance: Advance) -> DumpLoaded:
    """Load the dump of a collection's databases, in profile official, and let the reading role read them.

    From then on they count as loaded from their SQLite files; their markers say that they come from a dump,
    and its SHA-256. Whoever else loads into the server waits for this to end, and the other way around.

    Args:
        dump: what `mysqldump`, or `pg_dump` as plain text, wrote of one database that has all their tables.
        databases: all those in it, of one collection.
        server: MySQL or PostgreSQL, with an account that may create databases and roles.
        advance: told how far it is.

    Raises:
        BadInput: the dump cannot be read, does not run, or has other tables than the SQLite files; or one
            would take the place of a table that is not its own.
        EngineUnavailable: the server cannot be reached or broke.
    """
    if {database.profile for database in databases} != {Profile.OFFICIAL}:
        raise BadInput(f"{dump}: a dump is loaded in profile official; leave --profile faithful out")
    engine, runner = target(server.dialect), _runner(server.dialect)
    digest, total = sha256(dump), dump.stat().st_size
    files = digests(database.sqlite_path for database in databases)
    declared = {database: _declared(database.sqlite_path) for database in databases}
    for database in databases:
        refuse_place(database, server.dialect)
    sent = 0

    def told(more: int) -> None:
        nonlocal sent
        sent = min(sent + more, total)
        advance(sent, total)

    with engine.exclusive(server), ExitStack() as stack:
        engine.tidy(server, databases)
        engine.admit_reader(server)
        token = secrets.token_hex(4)

        def staged(database: Database, number: int) -> str:
            staging = f"{STAGING}_{token}_d{number}"
            engine.prepare(server, database, staging)
            stack.callback(engine.discard, server, database, staging)
            return staging

        whole = staged(databases[0], 0)
        runner.fill(server, databases[0], whole, dump, told)
        found: dict[str, int] = runner.counts(server, databases[0], whole)
        tables = _shared_out(dump, found, declared)
        markers = engine.markers(server, databases)
        present = {database: engine.present(server, database) for database in databases}
        refuse_collisions(tables, markers, present, server.dialect)
        notes: list[str] = []
        stagings = []
        for number, database in enumerate(databases, start=1):
            stagings.append(staged(database, number))
            runner.move(server, database, whole, stagings[-1], tables[database])
        for database, staging in zip(databases, stagings, strict=True):
            rows = {name: found[name] for name in tables[database]}
            fresh = [f"from the dump {dump.name}, sha256 {digest}", *_differences(rows, declared[database])]
            marker = Marker.now(files[database.sqlite_path], rows, fresh)
            earlier = markers.get(key(database))
            engine.put_in_place(server, database, staging, tuple(earlier.tables) if earlier else (), marker)
            notes += [f"{database.db_id}: {note}" for note in fresh[1:]]
    return DumpLoaded(digest, len(found), sum(found.values()), tuple(notes))


def _runner(dialect: Dialect) -> ModuleType:
    # Each brings its driver along, which is slow to import.
    return importlib.import_module(f"loaders.dumps.{dialect}")


def _declared(path: Path) -> dict[str, int]:
    """The rows of each table of a SQLite file."""
    with opened(path) as connection:
        names = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'"
        ).fetchall()
        found = {}
        for (name,) in names:
            spelled = name.replace('"', '""')
            [found[name]] = connection.execute(f'SELECT count(*) FROM "{spelled}"').fetchone()  # noqa: S608 - quoted
        return found


def _shared_out(
    dump: Path, found: Mapping[str, int], declared: Mapping[Database, Mapping[str, int]]
) -> dict[Database, list[str]]:
    """Which of the dump's tables are whose.

    Raises:
        BadInput: there are others than in the SQLite files.
    """
    there = {name.casefold(): name for name in found}
    wanted = [(database, name) for database, names in declared.items() for name in names]
    missing = [f"{database.db_id}.{name}" for database, name in wanted if name.casefold() not in there]
    extra = sorted(there.keys() - {name.casefold() for _, name in wanted})
    if missing or extra or len(there) != len(wanted):
        faults = [f"has no {', '.join(missing)}"] if missing else []
        faults += [f"has {', '.join(extra)}, which no database of the set has"] if extra else []
        raise BadInput(f"{dump}: {' and '.join(faults) or 'has tables twice'}; is it the dump of this set?")
    return {database: [there[name.casefold()] for name in names] for database, names in declared.items()}


def _differences(rows: Mapping[str, int], declared: Mapping[str, int]) -> list[str]:
    expected = {name.casefold(): count for name, count in declared.items()}
    return [
        f"table {name}: {count} rows in the dump, {expected[name.casefold()]} in the SQLite file"
        for name, count in rows.items()
        if count != expected[name.casefold()]
    ]
