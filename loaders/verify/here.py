"""The file's side of a proof: the same sums and rows as the server's, from what SQLite reads."""

import sqlite3
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

from loaders.verify.forms import (
    Cells,
    Digest,
    Value,
    as_text,
    bucket,
    hashes,
    identity,
    rows_of,
    total,
    written,
)
from loaders.verify.sides import ComparedColumn, ComparedRow, ComparedTable
from loaders.verify.sqlite import batches
from loaders.verify.tables import stored
from loaders.verify.there import MOST_ROWS

_SHOWN, _HEAD, _TAIL = 80, 40, 20


def digest(connection: sqlite3.Connection, table: ComparedTable) -> tuple[Digest, list[set[type]]]:
    """What the whole table comes to, and the classes that `sqlite.batches` gives each column's values."""
    rows, summed = 0, 0
    classes: list[set[type]] = [set() for _ in table.columns]
    for columns in _batches(connection, table):
        for seen, values in zip(classes, columns, strict=True):
            seen.update(map(type, values))
        hashed = hashes(rows_of(_written(table.columns, columns)))
        rows += len(hashed)
        summed += total(hashed)
    return Digest(rows, summed), [seen - {type(None)} for seen in classes]


def column_totals(connection: sqlite3.Connection, table: ComparedTable) -> list[int]:
    """What each column comes to."""
    totals = [0] * len(table.columns)
    for columns in _batches(connection, table):
        for number, cells in enumerate(_written(table.columns, columns)):
            totals[number] += total(hashes(rows_of([cells])))
    return totals


def buckets(connection: sqlite3.Connection, table: ComparedTable) -> dict[str, Digest]:
    """What the rows of each bucket come to, by the bucket's digits."""
    rows: dict[str, int] = defaultdict(int)
    sums: dict[str, int] = defaultdict(int)
    for columns in _batches(connection, table):
        for one in hashes(rows_of(_written(table.columns, columns))):
            rows[bucket(one)] += 1
            sums[bucket(one)] += total([one])
    return {digits: Digest(rows[digits], sums[digits]) for digits in rows}


def rows(
    connection: sqlite3.Connection,
    table: ComparedTable,
    wanted: Collection[str],
    keys: Collection[str],
) -> list[ComparedRow]:
    """The rows in these buckets, and those with these keys; not more than `MOST_ROWS`."""
    found: list[ComparedRow] = []
    places = [table.columns.index(column) for column in table.key]
    for columns in _batches(connection, table):
        cells = _written(table.columns, columns)
        hashed = hashes(rows_of(cells))
        keyed = list(map(identity, hashes(rows_of([cells[place] for place in places])))) if places else []
        for number, one in enumerate(hashed):
            key = keyed[number] if keyed else ""
            if bucket(one) in wanted or key in keys:
                values = [column[number] for column in columns]
                found.append(ComparedRow(identity(one), key, _cells(table.columns, values)))
        if len(found) >= MOST_ROWS:
            break
    return found[:MOST_ROWS]


def _batches(connection: sqlite3.Connection, table: ComparedTable) -> Iterator[list[Sequence[Value]]]:
    """The table's values, column by column."""
    for batch in batches(connection, table.source, [column.source for column in table.columns]):
        yield list(zip(*batch, strict=True))


def _written(columns: Sequence[ComparedColumn], values: Sequence[Sequence[Value]]) -> list[Cells]:
    return [written(column.form, _stored(column, part)) for column, part in zip(columns, values, strict=True)]


def _stored(column: ComparedColumn, values: Sequence[Value]) -> Sequence[Value]:
    """The values as they have to stand on a server."""
    if column.among_others is None:
        return values
    return [stored(value, among_others=column.among_others) for value in values]


def _cells(columns: Sequence[ComparedColumn], values: Sequence[Value]) -> tuple[tuple[str, str | None], ...]:
    cells = _written(columns, [[value] for value in values])
    hashed = [identity(hashes(rows_of([cell]))[0]) for cell in cells]
    shown = [_stored(column, [value])[0] for column, value in zip(columns, values, strict=True)]
    return tuple(zip(hashed, map(_shown, shown), strict=True))


def _shown(value: Value) -> str | None:
    """A value as `HashSyntax.shown` has the server write it."""
    if value is None:
        return None
    if isinstance(value, bytes):
        return f"0x{value[:_HEAD].hex()}"
    text = bytes(as_text(value)).decode(errors="replace")
    if len(text) <= _SHOWN:
        return text
    return f"{text[:_HEAD]}...{text[-_TAIL:]} ({len(text)} characters)"
