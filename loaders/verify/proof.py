"""Holds databases on a server against their files."""

import importlib
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, cast

from dialects.enums import Dialect
from dialects.errors import BadInput
from dialects.targets import TARGETS
from loaders.namespace import Database, Key, Marker, filed, key, namespace
from loaders.server import Server, kept
from loaders.source import opened
from loaders.target import target
from loaders.verify import here, there
from loaders.verify.forms import Digest
from loaders.verify.locate import locate
from loaders.verify.sides import Difference, HashSyntax, Kind
from loaders.verify.sqlite import FileTable, file_tables
from loaders.verify.tables import ESCAPING, TYPES, MatchedTable, matched, table_name, wrong_types


@dataclass(frozen=True)
class Verified:
    """One database, held against its file."""

    database: Database
    dialect: Dialect
    tables: int
    rows: int
    values: int
    """Rows times columns, of all tables that were compared."""
    seconds: float
    differences: tuple[Difference, ...]

    @property
    def is_clean(self) -> bool:
        """Whether nothing differs."""
        return not self.differences


def verify(databases: Sequence[Database], server: Server) -> Iterator[Verified]:
    """Compare databases on a server, as they stand there, with their files.

    Nothing is changed on either side. Of what is remembered of a load one thing counts: whether it was to
    escape what a server cannot hold.

    Args:
        databases: in any profiles and collections.
        server: MySQL or PostgreSQL, with the account that loads.

    Yields:
        What was found about each database, in the order given. A table that no load has put where the
        databases stand is told of with the first of them.

    Raises:
        BadInput: a file cannot be read.
        EngineUnavailable: the server cannot be reached or broke.
    """
    syntax = _syntax(server.dialect)
    with kept():
        markers = target(server.dialect).markers(server, databases)
        strangers = _strangers(databases, server, syntax, markers)
    for database in databases:
        others = strangers.pop(namespace(database, server.dialect), ())
        marker = markers.get(key(database))
        escape = marker is not None and marker.escape
        # Not over the yield: nobody else is to get the sessions, and they are to end.
        with kept():
            found = _verified(database, server, syntax, others, escape=escape)
        yield found


def _syntax(dialect: Dialect) -> HashSyntax:
    if dialect not in TARGETS:
        raise BadInput(f"nothing is loaded into {dialect}, so there is nothing to verify")
    # Each brings its driver along, which is slow to import.
    module: Any = importlib.import_module(f"loaders.{dialect}.hashing")
    return cast("HashSyntax", module)


def _strangers(
    databases: Sequence[Database], server: Server, syntax: HashSyntax, markers: Mapping[Key, Marker]
) -> dict[tuple[str, ...], Sequence[str]]:
    """The tables of each namespace that none of these databases has, and nobody has loaded."""
    dialect = server.dialect
    known: dict[tuple[str, ...], set[str]] = {}
    for database in databases:
        with opened(database.sqlite_path) as connection:
            names = {table_name(table.name, dialect) for table in file_tables(connection)}
        known.setdefault(namespace(database, dialect), set()).update(names)
    for filed_under, marker in markers.items():
        known.setdefault(namespace(filed(*filed_under), dialect), set()).update(marker.tables)
    places = {namespace(database, dialect): database for database in reversed(databases)}
    return {
        place: sorted(syntax.standing(server, database).keys() - known[place])
        for place, database in places.items()
    }


def _verified(
    database: Database, server: Server, syntax: HashSyntax, strangers: Sequence[str], *, escape: bool
) -> Verified:
    started = time.monotonic()
    dialect = server.dialect
    differences = [
        Difference(Kind.EXTRA_TABLE, name, None, f"is on {dialect} alone, and nobody has loaded it")
        for name in strangers
    ]
    standing = syntax.standing(server, database)
    with opened(database.sqlite_path) as connection:
        tables = file_tables(connection)
        differences += _missing(tables, standing.keys(), dialect)
        pairs = list(_matched(connection, tables, standing, (database, dialect), syntax, escape=escape))
        differences += [difference for pair in pairs for difference in pair.differences]
        pairs = [pair for pair in pairs if pair.compared.columns]
        digests, found = _compared(connection, pairs, (database, server), syntax, escape=escape)
        differences += found
    values = sum(one.rows * len(pair.compared.columns) for one, pair in zip(digests, pairs, strict=True))
    seconds = time.monotonic() - started
    rows = sum(one.rows for one in digests)
    return Verified(database, dialect, len(pairs), rows, values, seconds, tuple(differences))


def _missing(tables: Sequence[FileTable], there: AbstractSet[str], dialect: Dialect) -> Iterator[Difference]:
    for table in tables:
        if table_name(table.name, dialect) not in there:
            yield Difference(Kind.MISSING_TABLE, table.name, None, f"is not on {dialect}")


def _matched(  # noqa: PLR0913 - what is matched, and how
    connection: sqlite3.Connection,
    tables: Sequence[FileTable],
    standing: Mapping[str, Mapping[str, str]],
    where: tuple[Database, Dialect],
    syntax: HashSyntax,
    *,
    escape: bool,
) -> Iterator[MatchedTable]:
    database, dialect = where
    types = (ESCAPING if escape else TYPES)[dialect, database.profile]
    for table in tables:
        name = table_name(table.name, dialect)
        if name in standing:
            place = syntax.table(database, name)
            yield matched(connection, table, place, standing[name], (database, dialect, types), escape=escape)


def _compared(
    connection: sqlite3.Connection,
    pairs: Sequence[MatchedTable],
    where: tuple[Database, Server],
    syntax: HashSyntax,
    *,
    escape: bool,
) -> tuple[list[Digest], list[Difference]]:
    """The file's sums, made while the server makes its own, and everything that differs."""
    database, server = where
    types = (ESCAPING if escape else TYPES)[server.dialect, database.profile]
    ours: list[Digest] = []
    differences: list[Difference] = []
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(_server_digests, pairs, where, syntax)
        for pair in pairs:
            digest, classes = here.digest(connection, pair.compared)
            ours.append(digest)
            differences += wrong_types(connection, pair, classes, types, escape=escape)
        theirs = asked.result()
    for pair, mine, other in zip(pairs, ours, theirs, strict=True):
        differences += _values(connection, pair, (mine, other), where, syntax)
    return ours, differences


def _server_digests(
    pairs: Sequence[MatchedTable], where: tuple[Database, Server], syntax: HashSyntax
) -> list[Digest]:
    database, server = where
    if not pairs:
        return []
    with syntax.asking(server, database) as ask:
        return [there.digest(ask, syntax, pair.compared) for pair in pairs]


def _values(
    connection: sqlite3.Connection,
    pair: MatchedTable,
    digests: tuple[Digest, Digest],
    where: tuple[Database, Server],
    syntax: HashSyntax,
) -> Iterator[Difference]:
    mine, other = digests
    database, server = where
    table = pair.compared.source.name
    if mine == other:
        return
    with syntax.asking(server, database) as ask:
        found = locate(connection, ask, syntax, pair.compared, server.dialect)
    if mine.rows != other.rows:
        text = f"{other.rows:,} rows instead of {mine.rows:,}"
        yield Difference(Kind.ROWS, table, None, text, found.rows)
    elif not found.columns:
        text = "every column has its values, but not in the rows that they belong to"
        yield Difference(Kind.VALUES, table, None, text, found.rows)
    else:
        for number, column in enumerate(found.columns):
            yield Difference(Kind.VALUES, table, column, "values differ", found.rows if not number else ())


def verified_lines(verified: Sequence[Verified]) -> list[str]:
    """One line of figures about databases in one profile on one engine, and every difference below it."""
    if not verified:
        return []
    first = verified[0]
    wrong = sum(not one.is_clean for one in verified)
    verdict = (
        f"{wrong} of {len(verified)} databases differ" if wrong else f"{len(verified)} databases are equal"
    )
    line = (
        f"{first.dialect}, {first.database.profile}: {verdict} to their files:"
        f" {sum(one.tables for one in verified)} tables, {sum(one.rows for one in verified):,} rows,"
        f" {sum(one.values for one in verified):,} values compared in"
        f" {sum(one.seconds for one in verified):.1f} s"
    )
    return [
        line.replace("differ to", "differ from"),
        *(
            text
            for one in verified
            for difference in one.differences
            for text in difference.lines(f"{one.dialect}, {one.database.profile}, {one.database.db_id}")
        ),
    ]
