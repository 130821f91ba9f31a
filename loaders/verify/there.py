"""The server's side of a proof: sums of hashes that the server makes, and rows that it names by them."""

from collections.abc import Collection, Sequence

from loaders.verify.forms import BUCKET, IDENTITY, SUMMAND, Digest
from loaders.verify.sides import Ask, ComparedColumn, ComparedRow, ComparedTable, HashSyntax

MOST_ROWS = 20_000
"""Of one side that are held in memory: enough for the buckets of a table of ten million rows."""

_CELLS_AT_A_TIME = 500
"""Columns of a result: PostgreSQL returns 1,664 at most."""


def digest(ask: Ask, syntax: HashSyntax, table: ComparedTable) -> Digest:
    """What the whole table comes to."""
    [(rows, total)] = ask(
        f"SELECT count(*), sum({syntax.summand('h')})"  # noqa: S608 - quoted
        f" FROM {_hashed(syntax, table)}"
    )
    return Digest(rows, int(total or 0))


def column_totals(ask: Ask, syntax: HashSyntax, table: ComparedTable) -> list[int]:
    """What each column comes to."""
    totals: list[int] = []
    for part in _parts(table.columns):
        sums = ", ".join(f"sum({syntax.summand(syntax.hashed([column]))})" for column in part)
        [found] = ask(f"SELECT {sums} FROM {table.target}")  # noqa: S608 - quoted
        totals += [int(value or 0) for value in found]
    return totals


def buckets(ask: Ask, syntax: HashSyntax, table: ComparedTable) -> dict[str, Digest]:
    """What the rows of each bucket come to, by the bucket's digits."""
    found = ask(
        f"SELECT substr(h, {SUMMAND + 1}, {BUCKET}), count(*), sum({syntax.summand('h')})"  # noqa: S608 - quoted
        f" FROM {_hashed(syntax, table)}"
        " GROUP BY 1"
    )
    return {bucket: Digest(rows, int(total or 0)) for bucket, rows, total in found}


def rows(
    ask: Ask, syntax: HashSyntax, table: ComparedTable, wanted: Collection[str], keys: Collection[str]
) -> list[ComparedRow]:
    """The rows in these buckets, and those with these keys; not more than `MOST_ROWS`."""
    columns = table.columns[:_CELLS_AT_A_TIME]
    key = _cut(syntax.hashed(table.key)) if table.key else "''"
    cells = [text for column in columns for text in (_cut(syntax.hashed([column])), syntax.shown(column))]
    conditions = [f"substr(h, {SUMMAND + 1}, {BUCKET}) IN ({_listed(wanted)})"] if wanted else []
    conditions += [f"k IN ({_listed(keys)})"] if keys else []
    if not conditions:
        return []
    names = [f"c{number}" for number in range(len(cells))]
    aliased = ", ".join(f"{cell} AS {name}" for cell, name in zip(cells, names, strict=True))
    row = _cut(syntax.hashed(table.columns))
    found = ask(
        f"SELECT h, k, {', '.join(names)}"  # noqa: S608 - quoted
        f" FROM (SELECT {row} AS h, {key} AS k, {aliased} FROM {table.target}) AS hashed"
        f" WHERE {' OR '.join(conditions)} LIMIT {MOST_ROWS}"
    )
    return [ComparedRow(h, k, tuple(zip(rest[::2], rest[1::2], strict=True))) for h, k, *rest in found]


def _hashed(syntax: HashSyntax, table: ComparedTable) -> str:
    """A subquery that gives the hash of each row as h."""
    hashed = syntax.hashed(table.columns)
    return f"(SELECT {hashed} AS h FROM {table.target}{syntax.BARRIER}) AS hashed"  # noqa: S608 - quoted


def _cut(hashed: str) -> str:
    return f"left({hashed}, {IDENTITY})"


def _listed(values: Collection[str]) -> str:
    return ", ".join(f"'{value}'" for value in values)


def _parts(columns: Sequence[ComparedColumn]) -> list[Sequence[ComparedColumn]]:
    return [columns[start : start + _CELLS_AT_A_TIME] for start in range(0, len(columns), _CELLS_AT_A_TIME)]
