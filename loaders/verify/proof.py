"""Compare databases on a server with their files, and name the columns and rows that differ.

If a table's sums differ, the rows of both sides are divided into 4,096 buckets by their hashes. Only rows of
a few buckets whose sums differ are compared, which bounds the memory used.
"""

import time
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from dialects.enums import Dialect
from dialects.errors import BadInput
from dialects.identifiers import quoted
from dialects.targets import TARGETS
from loaders.namespace import Database, Key, Marker, filed, key, namespace
from loaders.server import Server, session_pool
from loaders.source import opened
from loaders.target import target
from loaders.verify.forms import Digest
from loaders.verify.sides import (
    ComparedRow,
    ComparedTable,
    FileSide,
    ServerSide,
    file_tables,
    types_there,
)
from loaders.verify.tables import (
    STORAGES,
    DifferenceKind,
    TableDifference,
    matched,
    table_name,
    wrong_types,
)


@dataclass(frozen=True)
class DatabaseVerification:
    """The result of comparing one database with its file."""

    database: Database
    dialect: Dialect
    tables: int
    rows: int
    values: int
    """Rows times columns, over all compared tables."""
    seconds: float
    differences: tuple[TableDifference, ...]

    @property
    def is_clean(self) -> bool:
        """True if there are no differences."""
        return not self.differences


def verify(databases: Sequence[Database], server: Server) -> Iterator[DatabaseVerification]:
    """Compare databases on a server with their files.

    Nothing is changed on either side. The only part of a load's marker that counts is whether values that a
    server cannot store were escaped.

    Args:
        databases: in any profiles and collections.
        server: MySQL or PostgreSQL, with the account that loads.

    Yields:
        The result for each database, in the order given. A table that no load created in the databases'
        namespace is reported with the first of them.

    Raises:
        BadInput: a file cannot be read.
        EngineUnavailable: the server cannot be reached or broke.
    """
    if server.dialect not in TARGETS:
        raise BadInput(f"nothing is loaded into {server.dialect}, so there is nothing to verify")
    with session_pool():
        markers = target(server.dialect).markers(server, databases)
        strangers = _strangers(databases, server, markers)
    for database in databases:
        others = strangers.pop(namespace(database, server.dialect), ())
        marker = markers.get(key(database))
        escape = marker is not None and marker.escape
        # Not across the yield: the sessions must be closed, and not shared with the caller.
        with session_pool():
            found = _verified(database, server, others, escape=escape)
        yield found


def _strangers(
    databases: Sequence[Database], server: Server, markers: Mapping[Key, Marker]
) -> dict[tuple[str, ...], Sequence[str]]:
    """Return the tables of each namespace that belong to none of these databases and to no load."""
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
        place: sorted(types_there(server, database).keys() - known[place])
        for place, database in places.items()
    }


def _verified(
    database: Database, server: Server, strangers: Sequence[str], *, escape: bool
) -> DatabaseVerification:
    started, dialect = time.monotonic(), server.dialect
    differences = [
        TableDifference(
            DifferenceKind.EXTRA_TABLE, name, None, f"is only on {dialect}, and no load created it"
        )
        for name in strangers
    ]
    types = STORAGES[dialect].types(database.profile, escape=escape)
    standing = types_there(server, database)
    tables: list[ComparedTable] = []
    unmatched: list[TableDifference] = []
    with opened(database.sqlite_path) as connection:
        for source in file_tables(connection):
            name = table_name(source.name, dialect)
            if name not in standing:
                differences.append(
                    TableDifference(DifferenceKind.MISSING_TABLE, source.name, None, f"is not on {dialect}")
                )
                continue
            place = f"{quoted(namespace(database, dialect)[-1])}.{quoted(name)}"
            where = (database, dialect, types)
            compared, found = matched(connection, source, place, standing[name], where, escape=escape)
            unmatched += found
            tables += [compared] if compared.columns else []
        differences += unmatched
        # The file's sums are computed while the server computes its own.
        with ThreadPoolExecutor(1) as pool:
            asked = pool.submit(_server_digests, tables, database, server)
            ours = []
            for table in tables:
                digest, classes = FileSide(connection).digest(table)
                ours.append(digest)
                differences += wrong_types(connection, table, classes, types, escape=escape)
            theirs = asked.result()
        for table, mine, other in zip(tables, ours, theirs, strict=True):
            if mine != other:
                with ServerSide.connected(database, server) as there:
                    differences += _values(FileSide(connection), there, table, (mine, other), dialect)
    rows = sum(one.rows for one in ours)
    values = sum(one.rows * len(table.columns) for one, table in zip(ours, tables, strict=True))
    seconds = time.monotonic() - started
    return DatabaseVerification(database, dialect, len(tables), rows, values, seconds, tuple(differences))


def _server_digests(tables: Sequence[ComparedTable], database: Database, server: Server) -> list[Digest]:
    if not tables:
        return []
    with ServerSide.connected(database, server) as there:
        return [there.digest(table) for table in tables]


def _values(
    here: FileSide, there: ServerSide, table: ComparedTable, digests: tuple[Digest, Digest], dialect: Dialect
) -> Iterator[TableDifference]:
    """Yield the columns and rows of a table that differ; each column is summed separately."""
    mine, other = digests
    name, ours, theirs = table.source.name, here.column_totals(table), there.column_totals(table)
    columns = [column.name for column, a, b in zip(table.columns, ours, theirs, strict=True) if a != b]
    rows = _differing_rows(here, there, table, dialect)
    if mine.rows != other.rows:
        yield TableDifference(
            DifferenceKind.ROWS, name, None, f"{other.rows:,} rows instead of {mine.rows:,}", rows
        )
    elif not columns:
        text = "every column has the right values, but in other rows"
        yield TableDifference(DifferenceKind.VALUES, name, None, text, rows)
    else:
        for number, column in enumerate(columns):
            yield TableDifference(
                DifferenceKind.VALUES, name, column, "values differ", rows if not number else ()
            )


_BUCKETS = 8
_NAMED = 5
"""Most rows that are listed."""
_CELLS = 6
"""Most values of a row that are shown."""


def _differing_rows(
    here: FileSide, there: ServerSide, table: ComparedTable, dialect: Dialect
) -> tuple[str, ...]:
    """Return a sentence about each of the first rows that differ between the file and the server."""
    wanted = _buckets(here, there, table)
    only_here, only_there = _apart(here.rows(table, wanted, ()), there.rows(table, wanted, ()))
    if not table.key:
        return _unkeyed(table, only_here, only_there, dialect)
    keys = list(dict.fromkeys(row.key for row in [*only_here[:_NAMED], *only_there[:_NAMED]]))
    file_rows, server_rows = (_by_key(side.rows(table, (), keys)) for side in (here, there))
    sentences = [_sentence(table, file_rows.get(key, []), server_rows.get(key, []), dialect) for key in keys]
    return tuple(filter(None, sentences))[:_NAMED]


def _buckets(here: FileSide, there: ServerSide, table: ComparedTable) -> list[str]:
    ours, theirs = here.buckets(table), there.buckets(table)
    differing = (digits for digits in ours.keys() | theirs.keys() if ours.get(digits) != theirs.get(digits))
    # Some from both sides, if one has lost rows and the other has not.
    return sorted(differing)[:_BUCKETS]


def _apart(
    ours: Sequence[ComparedRow], theirs: Sequence[ComparedRow]
) -> tuple[list[ComparedRow], list[ComparedRow]]:
    """Return the rows of each side that are missing on the other, or occur there less often."""
    here_counts, there_counts = Counter(row.hash for row in ours), Counter(row.hash for row in theirs)
    return _left(ours, here_counts - there_counts), _left(theirs, there_counts - here_counts)


def _left(rows: Sequence[ComparedRow], left: Counter[str]) -> list[ComparedRow]:
    found = []
    for row in rows:
        if left[row.hash] > 0:
            left[row.hash] -= 1
            found.append(row)
    return found


def _by_key(rows: Sequence[ComparedRow]) -> dict[str, list[ComparedRow]]:
    found: dict[str, list[ComparedRow]] = {}
    for row in rows:
        found.setdefault(row.key, []).append(row)
    return found


def _sentence(
    table: ComparedTable, ours: Sequence[ComparedRow], theirs: Sequence[ComparedRow], dialect: Dialect
) -> str:
    name = _name(table, (*ours, *theirs)[0])
    if not theirs:
        return f"{name} is not on {dialect}"
    if not ours:
        return f"{name} is not in the file"
    if len(ours) != len(theirs):
        return f"{name}: {len(ours)} in the file, {len(theirs)} on {dialect}"
    only_here, only_there = _apart(ours, theirs)
    if not only_here:
        return ""
    parts = [
        f"{column.name} is {_pair(mine, other, dialect)}"
        for column, mine, other in zip(table.columns, only_here[0].cells, only_there[0].cells, strict=False)
        if mine[0] != other[0]
    ]
    more = f" and {len(parts) - _CELLS} more" if len(parts) > _CELLS else ""
    return f"{name}: {'; '.join(parts[:_CELLS])}{more}"


def _pair(mine: tuple[str, str | None], other: tuple[str, str | None], dialect: Dialect) -> str:
    """Return two values for a message; in ASCII if they would look alike."""
    show = ascii if _looks(mine[1]) == _looks(other[1]) else repr
    a, b = ("NULL" if value is None else show(value) for value in (mine[1], other[1]))
    same = " (they are written alike, but are not the same)" if a == b else ""
    return f"{a} in the file, {b} on {dialect}{same}"


def _looks(value: str | None) -> str | None:
    return None if value is None else unicodedata.normalize("NFKC", value).casefold().strip()


def _unkeyed(
    table: ComparedTable, ours: Sequence[ComparedRow], theirs: Sequence[ComparedRow], dialect: Dialect
) -> tuple[str, ...]:
    half = _NAMED // 2 + 1
    return (
        *(f"a row is not on {dialect}, or not as often: {_content(table, row)}" for row in ours[:half]),
        *(f"a row is not in the file, or not as often: {_content(table, row)}" for row in theirs[:half]),
    )


def _content(table: ComparedTable, row: ComparedRow) -> str:
    cells = [
        f"{column.name} {'NULL' if shown is None else ascii(shown)}"
        for column, (_, shown) in zip(table.columns, row.cells, strict=False)
    ]
    return ", ".join(cells[:_CELLS]) + (", ..." if len(cells) > _CELLS else "")


def _name(table: ComparedTable, row: ComparedRow) -> str:
    shown = {column: cell[1] for column, cell in zip(table.columns, row.cells, strict=False)}
    return "row " + ", ".join(f"{column.name} {shown.get(column)!r}" for column in table.key)


def verified_lines(verified: Sequence[DatabaseVerification]) -> list[str]:
    """Return a line of figures about databases in one profile on one engine, then a line per difference."""
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
