"""Both sides of a proof, a file and a server: sums of hashes over tables, and the rows that differ.

The server computes every hash and sum itself, with the SQL in the engine's folder.
"""

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from dialects.by_dialect import ByDialect
from dialects.enums import Dialect
from dialects.identifiers import quoted
from loaders.namespace import Database, namespace
from loaders.server import Server, sessions
from loaders.verify.forms import (
    BUCKET,
    IDENTITY,
    NULL,
    SUMMAND,
    Cells,
    Digest,
    Value,
    ValueForm,
    as_text,
    bucket,
    hashes,
    identity,
    rows_of,
    stored,
    total,
    written,
)

_BATCH_ROWS = 2_000
_BATCH_BYTES = 8_000_000
_NUMBER_BYTES = 64
"""Approximate memory of a value besides its bytes."""
_RESULTS_AT_A_TIME = 1_000
"""SQLite returns at most 2,000 values per row. https://sqlite.org/limits.html#max_column."""
_HIDDEN = 1
"""A hidden column of a virtual table; generated columns have 2 and 3. https://sqlite.org/pragma.html#pragma_table_xinfo."""


@dataclass(frozen=True)
class FileColumn:
    """One column, generated ones included."""

    name: str
    declared: str
    longest: int = 0
    """Length of its longest text or blob, in bytes."""


@dataclass(frozen=True)
class FileTable:
    """One ordinary table: not a view, a virtual table or a shadow table."""

    name: str
    columns: tuple[FileColumn, ...]
    key: tuple[str, ...]
    """The columns of the primary key; empty if there is none."""
    place: str | None
    """SQLite's name for the rowid, if no column is the rowid or hides the name."""


def file_tables(connection: sqlite3.Connection) -> list[FileTable]:
    """Return every table of the file, sorted by name. https://sqlite.org/pragma.html#pragma_table_list."""
    found = connection.execute(
        "SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table'"
        r" AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY name"
    ).fetchall()
    return [_table(connection, name, has_rowid=not without) for name, without in found]


def _place(connection: sqlite3.Connection, name: str, *, has_rowid: bool) -> str | None:
    """Return the name for the rowid; a primary key without an index in a rowid table is the rowid itself.

    https://sqlite.org/lang_createtable.html#rowid
    """
    [keyed, hidden] = connection.execute(
        "SELECT max(pk), max(lower(name) = 'rowid') FROM pragma_table_xinfo(?)", (name,)
    ).fetchone()
    [indexes] = connection.execute(
        "SELECT count(*) FROM pragma_index_list(?) WHERE origin = 'pk'", (name,)
    ).fetchone()
    return "rowid" if has_rowid and not hidden and (indexes or not keyed) else None


def _table(connection: sqlite3.Connection, name: str, *, has_rowid: bool) -> FileTable:
    rows = connection.execute(
        "SELECT name, type, pk FROM pragma_table_xinfo(?) WHERE hidden != ?", (name, _HIDDEN)
    ).fetchall()
    sizes: list[int | None] = []
    for start in range(0, len(rows), _RESULTS_AT_A_TIME):
        wanted = ", ".join(
            f"max(CASE WHEN typeof({column}) IN ('text', 'blob') THEN length(CAST({column} AS BLOB)) END)"
            for column in (quoted(row[0]) for row in rows[start : start + _RESULTS_AT_A_TIME])
        )
        sizes += connection.execute(f"SELECT {wanted} FROM {quoted(name)} NOT INDEXED").fetchone()  # noqa: S608
    return FileTable(
        name,
        tuple(
            FileColumn(column, declared, size or 0)
            for (column, declared, _), size in zip(rows, sizes, strict=True)
        ),
        tuple(row[0] for row in sorted(rows, key=lambda row: int(row[2])) if row[2]),
        _place(connection, name, has_rowid=has_rowid),
    )


def classes_of(connection: sqlite3.Connection, table: FileTable, column: str) -> set[type]:
    """Return the types of a column's values, as `batches` yields them."""
    kinds = {"integer": int, "real": float, "text": bytearray, "blob": bytes}
    found = connection.execute(f"SELECT DISTINCT typeof({quoted(column)}) FROM {quoted(table.name)}")  # noqa: S608
    return {kinds[name] for (name,) in found if name != "null"}


def batches(
    connection: sqlite3.Connection, table: FileTable, columns: Sequence[str]
) -> Iterator[list[tuple[Value, ...]]]:
    """Yield all rows of some columns of a table, a bounded number of bytes at a time.

    Args:
        connection: the file's.
        table: the table.
        columns: SQL for each column.

    Yields:
        At least one row; a text is a bytearray of UTF-8, valid or not, and a blob is bytes. Until the last
        batch, this also applies to every other text read through the connection.
    """
    width = sum(_NUMBER_BYTES + column.longest for column in table.columns)
    size = max(1, min(_BATCH_ROWS, _BATCH_BYTES // width))
    factory, connection.text_factory = connection.text_factory, bytearray
    try:
        cursor = connection.execute(f"SELECT {', '.join(columns)} FROM {quoted(table.name)} NOT INDEXED")  # noqa: S608
        while rows := cursor.fetchmany(size):
            yield rows
    finally:
        connection.text_factory = factory


@dataclass(frozen=True)
class ComparedColumn:
    """A column of both sides, whose values both can write in the same form."""

    name: str
    """Its name in the file."""
    source: str
    """SQL for it in SQLite."""
    target: str
    """Its name on the server, quoted."""
    form: ValueForm
    among_others: bool | None = None
    """If texts may be escaped: True if the column also has other values. See `forms.stored`."""
    kind: str = ""
    """Its type on the server."""
    converted: bool = False
    """True if the form was made for another type."""


@dataclass(frozen=True)
class ComparedTable:
    """A table of both sides."""

    source: FileTable
    target: str
    """Its full name on the server, quoted."""
    columns: tuple[ComparedColumn, ...]
    key: tuple[ComparedColumn, ...]
    """The columns that identify a row on both sides; empty if there are none."""


@dataclass(frozen=True)
class ComparedRow:
    """A row of one side, with what is needed to name and compare it."""

    hash: str
    """The first digits of its hash."""
    key: str
    """The first digits of its key's hash; empty if there is no key."""
    cells: tuple[tuple[str, str | None], ...]
    """The first digits of each value's hash, and the value as shown; None is NULL."""


MOST_ROWS = 20_000
"""Most rows of one side in memory: enough for the buckets of a table of ten million rows."""

_SHOWN, HEAD, _TAIL = 80, 40, 20
"""Most characters of a value that are shown, else only the first and the last; bytes of a blob."""


class FileSide:
    """The file's side: hashes of the values that SQLite reads."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def digest(self, table: ComparedTable) -> tuple[Digest, list[set[type]]]:
        """Return the sum of the whole table, and the types of each column's values."""
        rows, summed = 0, 0
        classes: list[set[type]] = [set() for _ in table.columns]
        for columns in self._batches(table):
            for seen, values in zip(classes, columns, strict=True):
                seen.update(map(type, values))
            hashed = hashes(rows_of(_written(table.columns, columns)))
            rows += len(hashed)
            summed += total(hashed)
        return Digest(rows, summed), [seen - {type(None)} for seen in classes]

    def column_totals(self, table: ComparedTable) -> list[int]:
        """Return the sum of each column."""
        totals = [0] * len(table.columns)
        for columns in self._batches(table):
            for number, cells in enumerate(_written(table.columns, columns)):
                totals[number] += total(hashes(rows_of([cells])))
        return totals

    def buckets(self, table: ComparedTable) -> Mapping[str, Digest]:
        """Return the sum of each bucket, by the bucket's digits."""
        rows: dict[str, int] = defaultdict(int)
        sums: dict[str, int] = defaultdict(int)
        for columns in self._batches(table):
            for one in hashes(rows_of(_written(table.columns, columns))):
                rows[bucket(one)] += 1
                sums[bucket(one)] += total([one])
        return {digits: Digest(rows[digits], sums[digits]) for digits in rows}

    def rows(self, table: ComparedTable, wanted: Collection[str], keys: Collection[str]) -> list[ComparedRow]:
        """Return the rows in these buckets, and those with these keys; at most `MOST_ROWS`."""
        found: list[ComparedRow] = []
        places = [table.columns.index(column) for column in table.key]
        for columns in self._batches(table):
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

    def _batches(self, table: ComparedTable) -> Iterator[list[Sequence[Value]]]:
        """Yield the table's values in batches, column by column."""
        for batch in batches(self._connection, table.source, [column.source for column in table.columns]):
            yield list(zip(*batch, strict=True))


def _written(columns: Sequence[ComparedColumn], values: Sequence[Sequence[Value]]) -> list[Cells]:
    return [written(column.form, _stored(column, part)) for column, part in zip(columns, values, strict=True)]


def _stored(column: ComparedColumn, values: Sequence[Value]) -> Sequence[Value]:
    """Return the values as a server must store them."""
    if column.among_others is None:
        return values
    return [stored(value, among_others=column.among_others) for value in values]


def _cells(columns: Sequence[ComparedColumn], values: Sequence[Value]) -> tuple[tuple[str, str | None], ...]:
    cells = _written(columns, [[value] for value in values])
    hashed = [identity(hashes(rows_of([cell]))[0]) for cell in cells]
    shown = [_stored(column, [value])[0] for column, value in zip(columns, values, strict=True)]
    return tuple(zip(hashed, map(_shown, shown), strict=True))


def _shown(value: Value) -> str | None:
    """Return a value as the server shows it by `HashSql.shown`."""
    if value is None:
        return None
    if isinstance(value, bytes):
        return f"0x{value[:HEAD].hex()}"
    text = bytes(as_text(value)).decode(errors="replace")
    if len(text) <= _SHOWN:
        return text
    return f"{text[:HEAD]}...{text[-_TAIL:]} ({len(text)} characters)"


@dataclass(frozen=True)
class HashSql:
    """An engine's SQL for the forms in which values are hashed; `{0}` is a column or an expression."""

    begin: Sequence[str]
    """Statements after which all queries see the same state of the tables."""
    database: str
    """Query whether a database exists; `%s` is its name."""
    columns: str
    """Query for the tables of a namespace, also empty ones, with columns and types; `%s` is its name."""
    heads: Mapping[ValueForm, str]
    text: str
    """A text, as it follows the heads."""
    converted: str
    """A value of another type converted to text."""
    sha: str
    """A text's SHA-256 in hexadecimal."""
    summand: str
    """A hash's first digits as a number."""
    shown: Mapping[ValueForm, str]
    """A value as text, if that differs from `converted`."""
    short: Mapping[ValueForm, str]
    """A value as shown, if it is not a text truncated in the middle."""
    barrier: str = ""
    """Keeps a subquery's expressions from being evaluated for every use."""


_HASHES = ByDialect[HashSql]("loaders.{}.verify", "HASHES")

_ARGUMENTS = 90
"""PostgreSQL's functions take 100. https://www.postgresql.org/docs/current/runtime-config-preset.html."""

_CELLS_AT_A_TIME = 500
"""Columns of a result: PostgreSQL returns 1,664 at most."""

_TEXTS = frozenset({ValueForm.TEXT, ValueForm.LONG_TEXT, ValueForm.INTEGER, ValueForm.DAY})


def types_there(server: Server, database: Database) -> Mapping[str, Mapping[str, str]]:
    """Return the type of each column, in order, by table, for everything in a namespace that has rows."""
    sql, engine = _HASHES[server.dialect], sessions(server.dialect)
    place = namespace(database, server.dialect)
    with engine.connected(server) as connection:
        if not engine.ask(connection, sql.database, [place[0]]):
            return {}
    found: dict[str, dict[str, str]] = {}
    with engine.connected(server, place[0]) as connection:
        for table, column, kind in engine.ask(connection, sql.columns, [place[-1]]):
            columns = found.setdefault(table, {})
            if column is not None:
                columns[column] = kind
    return found


class ServerSide:
    """The server's side, like `FileSide`: the server itself computes hashes and sums."""

    def __init__(self, dialect: Dialect, ask: Callable[[str], list[Any]]) -> None:
        self._sql = _HASHES[dialect]
        self._ask = ask

    @classmethod
    @contextmanager
    def connected(cls, database: Database, server: Server) -> Iterator["ServerSide"]:
        """Yield the side of a server with the tables of `database`, all queries on the same state."""
        engine, place = sessions(server.dialect), namespace(database, server.dialect)
        with engine.connected(server, place[0]) as connection:
            for statement in _HASHES[server.dialect].begin:
                engine.ask(connection, statement)
            yield cls(server.dialect, lambda query: engine.ask(connection, query))
            # The next user of the session must see the tables as they are then.
            engine.ask(connection, "COMMIT")

    def digest(self, table: ComparedTable) -> Digest:
        """Return the sum of the whole table."""
        [(rows, summed)] = self._ask(
            f"SELECT count(*), sum({self._sql.summand.format('h')}) FROM {self._hashed_rows(table)}"  # noqa: S608 - quoted
        )
        return Digest(rows, int(summed or 0))

    def column_totals(self, table: ComparedTable) -> list[int]:
        """See `FileSide.column_totals`."""
        totals: list[int] = []
        for start in range(0, len(table.columns), _CELLS_AT_A_TIME):
            part = table.columns[start : start + _CELLS_AT_A_TIME]
            sums = ", ".join(f"sum({self._sql.summand.format(self._hashed([column]))})" for column in part)
            [found] = self._ask(f"SELECT {sums} FROM {table.target}")  # noqa: S608 - quoted
            totals += [int(value or 0) for value in found]
        return totals

    def buckets(self, table: ComparedTable) -> Mapping[str, Digest]:
        """See `FileSide.buckets`."""
        found = self._ask(
            f"SELECT substr(h, {SUMMAND + 1}, {BUCKET}), count(*), sum({self._sql.summand.format('h')})"  # noqa: S608 - quoted
            f" FROM {self._hashed_rows(table)} GROUP BY 1"
        )
        return {digits: Digest(rows, int(summed or 0)) for digits, rows, summed in found}

    def rows(self, table: ComparedTable, wanted: Collection[str], keys: Collection[str]) -> list[ComparedRow]:
        """See `FileSide.rows`."""
        key = self._identity(table.key) if table.key else "''"
        cells = [
            text
            for column in table.columns[:_CELLS_AT_A_TIME]
            for text in (self._identity([column]), self._shown(column))
        ]
        conditions = [f"substr(h, {SUMMAND + 1}, {BUCKET}) IN ({_listed(wanted)})"] if wanted else []
        conditions += [f"k IN ({_listed(keys)})"] if keys else []
        if not conditions:
            return []
        names = [f"c{number}" for number in range(len(cells))]
        aliased = ", ".join(f"{cell} AS {name}" for cell, name in zip(cells, names, strict=True))
        row = self._identity(table.columns)
        found = self._ask(
            f"SELECT h, k, {', '.join(names)}"  # noqa: S608 - quoted
            f" FROM (SELECT {row} AS h, {key} AS k, {aliased} FROM {table.target}) AS hashed"
            f" WHERE {' OR '.join(conditions)} LIMIT {MOST_ROWS}"
        )
        return [ComparedRow(h, k, tuple(zip(rest[::2], rest[1::2], strict=True))) for h, k, *rest in found]

    def _hashed_rows(self, table: ComparedTable) -> str:
        """Return a subquery with the hash of each row as h."""
        hashed = self._hashed(table.columns)
        return f"(SELECT {hashed} AS h FROM {table.target}{self._sql.barrier}) AS hashed"  # noqa: S608 - quoted

    def _identity(self, columns: Sequence[ComparedColumn]) -> str:
        return f"left({self._hashed(columns)}, {IDENTITY})"

    def _hashed(self, columns: Sequence[ComparedColumn]) -> str:
        """Return SQL for the SHA-256, in hexadecimal, of these columns of a row."""
        values = [(column.form, self._value(column)) for column in columns]
        heads = [f"coalesce({self._sql.heads[form].format(value)}, '{NULL}')" for form, value in values]
        texts = [self._sql.text.format(value) for form, value in values if form is ValueForm.TEXT]
        return self._sql.sha.format(_joined("", [_joined(",", heads), "'|'", *texts]))

    def _value(self, column: ComparedColumn) -> str:
        converts = column.converted and column.form in _TEXTS
        return self._sql.converted.format(column.target) if converts else column.target

    def _shown(self, column: ComparedColumn) -> str:
        """Return SQL for a value as text, truncated if it is long."""
        if short := self._sql.short.get(column.form):
            return short.format(column.target)
        text = self._sql.shown.get(column.form, self._sql.converted).format(column.target)
        return (
            f"CASE WHEN char_length({text}) > {_SHOWN} THEN concat(left({text}, {HEAD}), '...',"
            f" right({text}, {_TAIL}), ' (', char_length({text}), ' characters)') ELSE {text} END"
        )


def _joined(separator: str, values: Sequence[str]) -> str:
    """Return a call of concat_ws, nested so that no call has too many values."""
    if len(values) > _ARGUMENTS:
        parts = [values[start : start + _ARGUMENTS] for start in range(0, len(values), _ARGUMENTS)]
        return _joined(separator, [_joined(separator, part) for part in parts])
    return f"concat_ws('{separator}', {', '.join(values)})"


def _listed(values: Collection[str]) -> str:
    return ", ".join(f"'{value}'" for value in values)
