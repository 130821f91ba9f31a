"""Which rows of a table differ, once its sum says that some do.

The rows of both sides fall into 4,096 buckets by their hashes. Only rows of a few buckets whose sums differ
are looked at, so that no more than those are held in memory, however large the table is.
"""

import sqlite3
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from dialects.enums import Dialect
from loaders.verify import here, there
from loaders.verify.sides import Ask, ComparedRow, ComparedTable, HashSyntax

_BUCKETS = 8
_NAMED = 5
"""Rows that are named."""
_CELLS = 6
"""Values of a row that are shown."""


@dataclass(frozen=True)
class Located:
    """Where a table's values differ."""

    columns: tuple[str, ...]
    """Those whose values, all together, are not the same; empty if they are, and stand in other rows."""
    rows: tuple[str, ...]
    """A sentence about each of the first rows that differ."""


def locate(
    connection: sqlite3.Connection, ask: Ask, syntax: HashSyntax, table: ComparedTable, dialect: Dialect
) -> Located:
    """Find columns and rows of a table that differ between the file and the server."""
    ours, theirs = here.column_totals(connection, table), there.column_totals(ask, syntax, table)
    differing = [column.name for column, a, b in zip(table.columns, ours, theirs, strict=True) if a != b]
    wanted = _buckets(connection, ask, syntax, table)
    only_here, only_there = _apart(
        here.rows(connection, table, wanted, ()),
        there.rows(ask, syntax, table, wanted, ()),
    )
    if not table.key:
        return Located(tuple(differing), _unkeyed(table, only_here, only_there, dialect))
    keys = list(dict.fromkeys(row.key for row in [*only_here[:_NAMED], *only_there[:_NAMED]]))
    file_rows = _by_key(here.rows(connection, table, (), keys))
    server_rows = _by_key(there.rows(ask, syntax, table, (), keys))
    sentences = [_sentence(table, file_rows.get(key, []), server_rows.get(key, []), dialect) for key in keys]
    return Located(tuple(differing), tuple(filter(None, sentences))[:_NAMED])


def _buckets(connection: sqlite3.Connection, ask: Ask, syntax: HashSyntax, table: ComparedTable) -> list[str]:
    ours, theirs = here.buckets(connection, table), there.buckets(ask, syntax, table)
    differing = sorted(
        digits for digits in ours.keys() | theirs.keys() if ours.get(digits) != theirs.get(digits)
    )
    # Of both sides some, where one has lost rows and the other has not.
    return differing[:_BUCKETS]


def _apart(
    ours: Sequence[ComparedRow], theirs: Sequence[ComparedRow]
) -> tuple[list[ComparedRow], list[ComparedRow]]:
    """The rows of each side that the other has not, or not as often."""
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
    """What is wrong with the rows of one key."""
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
    """Two values; in ASCII alone where they look alike otherwise."""
    show = ascii if _looks(mine[1]) == _looks(other[1]) else repr
    a, b = ("NULL" if value is None else show(value) for value in (mine[1], other[1]))
    same = " (they are written alike, and are not the same)" if a == b else ""
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
