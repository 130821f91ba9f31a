"""Read what a SQLite file really stores, and derive the portable schema from it.

Unlike servers, SQLite does not enforce a column's declared type. So the types come from the data, keys are
kept only if the data satisfy them, and each deviation from the declarations is noted. SQLite computes the
figures itself, in one pass over a table for all columns at once; only columns with dates, or with values
that their declarations do not suggest, need more.
"""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from dialects.errors import BadInput
from dialects.identifiers import BUILT_IN_COLLATIONS, quoted
from dialects.schema import Column, ForeignKey, PortableType, Schema, Table, affinity
from loaders.portable import (
    AMBIGUOUS,
    DATE_FIGURES,
    INEXACT,
    READS_AS_NUMBER,
    ColumnStatistics,
    Unrepresentable,
    declared_type,
    escaped_value,
    portable_type,
)
from loaders.source import (
    OPAQUE,
    UNREADABLE,
    DeclaredColumn,
    DeclaredTable,
    declarations,
    opened,
    place,
    refuse_utf16,
    rowid_name,
    text_of,
)

_MOST_RUNS = 64


def census(path: Path, *, jobs: int = 1, escape: bool = False, lenient: bool = False) -> Schema:
    """Read a whole SQLite file and return its portable schema.

    Args:
        path: the file.
        jobs: threads that read it. SQLite computes the figures without holding Python's lock.
        escape: whether columns that fit no type become escaped texts, see `loaders.portable`.
        lenient: whether such a column is `unfit` otherwise, so that only queries that read it are refused.

    Raises:
        BadInput: the file can't be read, has no table, or no type of a server fits all values of a column.
    """
    with ExitStack() as stack:
        connections = [stack.enter_context(opened(path)) for _ in range(jobs)]
        [connection, *_] = connections
        declared = declarations(connection)
        if not declared.tables:
            raise BadInput(f"{path}: has no table; give a SQLite file with tables")
        notes = declared.notes
        [encoding] = connection.execute("PRAGMA encoding").fetchone()
        counts = [_rows(connection, table) for table in declared.tables]
        # Split by columns, since one table often has most of the rows.
        parts = [
            (number, replace(table, columns=table.columns[start::jobs]))
            for number, table in enumerate(declared.tables)
            for start in range(min(jobs, len(table.columns)))
        ]
        stored: list[dict[str, ColumnStatistics]] = [{} for _ in declared.tables]
        weights = [counts[number] * len(part.columns) for number, part in parts]
        for (number, _), found in zip(parts, _each(connections, _figures, parts, weights), strict=True):
            stored[number] |= found
        bare = [
            _table(connection, path, table, (rows, of_columns), notes, escape=escape, lenient=lenient)
            for table, rows, of_columns in zip(declared.tables, counts, stored, strict=True)
        ]
        references = [
            (bare, table, declaration) for table, declaration in zip(bare, declared.tables, strict=True)
        ]
        weights = [rows * len(table.references) for rows, table in zip(counts, declared.tables, strict=True)]
        tables = []
        for table, (kept, left_out) in zip(bare, _each(connections, _kept, references, weights), strict=True):
            tables.append(replace(table, foreign_keys=tuple(kept)))
            notes += left_out
    views, virtual = tuple(declared.views), tuple(declared.virtual)
    return Schema(tuple(tables), tuple(notes), escape, views, encoding, virtual, tuple(declared.catalogue))


def _figures(connection: sqlite3.Connection, part: tuple[int, DeclaredTable]) -> dict[str, ColumnStatistics]:
    return figures(connection, part[1])


def _kept(
    connection: sqlite3.Connection, part: tuple[Sequence[Table], Table, DeclaredTable]
) -> tuple[list[ForeignKey], list[str]]:
    tables, table, declaration = part
    return kept_references(connection, table, declaration.references, tables)


def _rows(connection: sqlite3.Connection, table: DeclaredTable) -> int:
    [rows] = connection.execute(f"SELECT count(*) FROM {quoted(table.name)}").fetchone()  # noqa: S608
    return int(rows)


def _rowids(connection: sqlite3.Connection, table: DeclaredTable, rows: int) -> tuple[tuple[int, int], ...]:
    """See `Table.rowids`. Rowids are distinct integers."""
    name = rowid_name(column.name for column in table.columns)
    if not table.has_rowid or name is None:
        return ()
    least, greatest = (f"(SELECT {end}({name}) FROM {quoted(table.name)})" for end in ("min", "max"))  # noqa: S608
    if rows == 0 or connection.execute(f"SELECT {least}, {greatest}").fetchone() == (1, rows):
        return ((1, 1),)
    runs: list[tuple[int, int]] = []
    every = connection.execute(f"SELECT {name} FROM {quoted(table.name)} ORDER BY {name}")  # noqa: S608
    for row, (rowid,) in enumerate(every, 1):
        if not runs or rowid - row != runs[-1][1] - runs[-1][0]:
            if len(runs) == _MOST_RUNS:
                return ()
            runs.append((row, rowid))
    return tuple(runs)


def _table(  # noqa: PLR0913 - as _column
    connection: sqlite3.Connection,
    path: Path,
    table: DeclaredTable,
    held: tuple[int, dict[str, ColumnStatistics]],
    notes: list[str],
    *,
    escape: bool,
    lenient: bool,
) -> Table:
    """Return the table without foreign keys, which need the other tables; `held` are its rows and columns."""
    rows, stored = held
    columns = [
        _column(
            connection, path, table.name, column, stored[column.name], rows, notes,
            escape=escape, lenient=lenient,
        )
        for column in table.columns
    ]  # fmt: skip
    if escape:
        columns = [_escaped(connection, table.name, column, notes) for column in columns]
    primary_key, unique = _keys(table, stored, rows, notes)
    found = Table(
        table.name,
        tuple(columns),
        rows,
        primary_key,
        unique,
        table.indexes,
        has_rowid=table.has_rowid,
        rowids=_rowids(connection, table, rows),
        has_key_index=table.has_key_index,
    )
    refuse_utf16(connection, path, found)
    return found


def _column(  # noqa: PLR0913, PLR0917 - the column, its values, and the place for notes
    connection: sqlite3.Connection,
    path: Path,
    table: str,
    column: DeclaredColumn,
    found: ColumnStatistics,
    rows: int,
    notes: list[str],
    *,
    escape: bool,
    lenient: bool,
) -> Column:
    chosen: PortableType
    named = f"{table}.{column.name}, declared {column.declared or 'without a type'},"
    try:
        chosen, holds = portable_type(column.declared, found)
    except Unrepresentable as error:
        if escape:
            notes.append(f"{named} is text: it holds {error}")
            return replace(_measured(column, found, rows, PortableType.TEXT), untyped=True)
        if lenient:
            return replace(_measured(column, found, rows, PortableType.TEXT), unfit=str(error))
        where = place(connection, table, column.name, error.predicate)
        raise BadInput(
            f"{path}: {where}: {error}; make the column's values alike, or load with --escape"
        ) from error
    if holds:
        notes.append(f"{named} is {chosen}: it holds {holds}")
    if chosen is PortableType.DATE and found.slashes:
        notes.append(f"{table}.{column.name} has days written with slashes: a date column has not")
    return _measured(column, found, rows, chosen)


def _measured(column: DeclaredColumn, found: ColumnStatistics, rows: int, chosen: PortableType) -> Column:
    return Column(
        name=column.name,
        declared=column.declared,
        type=chosen,
        nullable=not column.not_null or found.values < rows,
        nulls=found.values < rows,
        longest=found.longest,
        least=found.least,
        greatest=found.greatest,
        slashes=chosen is PortableType.DATE and found.slashes,
        days=found.days and not found.slashes,
        moments=found.moments and not found.slashes,
        digits=found.digits,
        long_numbers=found.long_numbers,
        first_year=found.first_year,
        fractions=found.fractions,
        mixed=len(found.classes) > 1,
        apart=found.apart,
        blobs=len(found.classes) > 1 and "blob" in found.classes,
        collation=column.collation,
    )


def _escaped(connection: sqlite3.Connection, table: str, column: Column, notes: list[str]) -> Column:
    """Return the column with the facts about its escaped values."""
    if column.type is not PortableType.TEXT:
        return column
    name = quoted(column.name)
    written = escaped_value(name, among_others=column.mixed)
    count, longest, opaque, unreadable = connection.execute(
        "SELECT sum(w IS NOT s), max(length(CAST(w AS BLOB))), max(o), max(u) FROM"  # noqa: S608 - quoted
        f" (SELECT {written} AS w, {text_of(name)} AS s, {OPAQUE.format(name)} AS o,"
        f" {UNREADABLE.format(name)} AS u FROM {quoted(table)} NOT INDEXED)"
    ).fetchone()
    if not count:
        return replace(column, longest=max(column.longest, longest or 0))
    notes.append(f"{table}.{column.name} has {count} values that are escaped")
    return replace(column, escaped=True, readable=not unreadable, opaque=bool(opaque), longest=longest)


def _keys(
    table: DeclaredTable, stored: dict[str, ColumnStatistics], rows: int, notes: list[str]
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return the primary key and the unique keys. SQLite allows NULL in a primary key, servers don't.

    https://sqlite.org/lang_createtable.html#the_primary_key
    """
    if all(stored[name].values == rows for name in table.primary_key):
        return table.primary_key, table.unique
    notes.append(f"primary key of {table.name} is a unique key: it holds NULL")
    return (), (table.primary_key, *table.unique)


_Part = TypeVar("_Part")
_Found = TypeVar("_Found")


def _each(
    connections: Sequence[sqlite3.Connection],
    do: Callable[[sqlite3.Connection, _Part], _Found],
    parts: Sequence[_Part],
    weights: Sequence[int],
) -> list[_Found]:
    """Call `do` for each part, on all connections at once, and return the results in order."""
    shares: list[list[int]] = [[] for _ in connections]
    loads = [0] * len(connections)
    for number in sorted(range(len(parts)), key=lambda number: -weights[number]):
        least = loads.index(min(loads))
        loads[least] += weights[number]
        shares[least].append(number)

    def work(connection: sqlite3.Connection, share: Sequence[int]) -> dict[int, _Found]:
        return {number: do(connection, parts[number]) for number in share}

    if len(connections) == 1:
        done = work(connections[0], shares[0])
        return [done[number] for number in range(len(parts))]
    with ThreadPoolExecutor(len(connections)) as pool:
        try:
            waiting = [pool.submit(work, *each) for each in zip(connections, shares, strict=True)]
            done = {number: found for some in waiting for number, found in some.result().items()}
        except BaseException:
            for connection in connections:
                connection.interrupt()
            raise
    return [done[number] for number in range(len(parts))]


def kept_references(
    connection: sqlite3.Connection, table: Table, declared: Sequence[ForeignKey], tables: Sequence[Table]
) -> tuple[list[ForeignKey], list[str]]:
    """Return the declared foreign keys of one table that a server can enforce on its rows.

    BIRD's data have dangling references; a load must neither fail on them nor drop their rows.

    Args:
        connection: the file's.
        table: the table that refers.
        declared: its foreign keys; names of parents may have any case, and no parent columns mean the
            parent's primary key.
        tables: all tables of the file.

    Returns:
        Those that refer to a unique key of the same types and that no row violates; and a note on each other.
    """
    kept, notes = [], []
    for reference in declared:
        resolved, trouble = _resolved(reference, table, tables)
        if resolved:
            parent = next(other for other in tables if other.name == resolved.parent)
            if dangling := _dangling(connection, table, parent, resolved):
                trouble = f"{dangling} rows have no parent"
        if resolved and not trouble:
            kept.append(resolved)
        else:
            names = f"{table.name} ({', '.join(reference.columns)}) to {reference.parent}"
            notes.append(f"foreign key of {names} is left out: {trouble}")
    return kept, notes


def _resolved(  # noqa: PLR0911 - one for each reason
    reference: ForeignKey, table: Table, tables: Sequence[Table]
) -> tuple[ForeignKey | None, str]:
    parent = next((other for other in tables if other.name.lower() == reference.parent.lower()), None)
    if parent is None:
        return None, "there is no such table"
    spelled = {column.name.lower(): column.name for column in parent.columns}
    columns = tuple(spelled.get(name.lower(), "") for name in reference.parent_columns) or parent.primary_key
    if "" in columns or len(columns) != len(reference.columns):
        return None, "the parent has no such key"
    if not any(sorted(columns) == sorted(key) for key in (parent.primary_key, *parent.unique)):
        return None, "the parent's columns are not unique"
    types = [table.column(name).type for name in reference.columns]
    if types != [parent.column(name).type for name in columns]:
        return None, "the columns hold different types"
    compared = [*map(table.column, reference.columns), *map(parent.column, columns)]
    if any(column.escaped for column in compared):
        return None, "values are escaped"
    if own := next((each.collation for each in compared if each.collation not in BUILT_IN_COLLATIONS), None):
        return None, f"the collation {own} is the application's own"
    return ForeignKey(reference.columns, parent.name, columns), ""


def _dangling(connection: sqlite3.Connection, child: Table, parent: Table, reference: ForeignKey) -> int:
    """Return the number of rows with a complete reference to a missing parent. https://sqlite.org/foreignkeys.html#fk_composite."""
    own = [child.column(name) for name in reference.columns]
    there = [parent.column(name) for name in reference.parent_columns]
    if len(own) == 1 and not there[0].nulls and own[0].collation == there[0].collation == "BINARY":
        # For one column SQLite searches the parent's key, in a third of the time or less.
        lost = f"{quoted(own[0].name)} NOT IN (SELECT {quoted(there[0].name)} FROM {quoted(parent.name)})"  # noqa: S608 - quoted
    else:
        # Values equal only under NOCASE differ on a server; with its own collation SQLite uses an index.
        pairs = [
            (f"parent.{quoted(theirs.name)}", f"child.{quoted(ours.name)}")
            for theirs, ours in zip(there, own, strict=True)
        ]
        whole = " AND ".join(f"{ours} IS NOT NULL" for _, ours in pairs)
        match = " AND ".join(
            f"{theirs} = {ours} AND {theirs} COLLATE BINARY = {ours}" for theirs, ours in pairs
        )
        lost = f"{whole} AND NOT EXISTS (SELECT 1 FROM {quoted(parent.name)} AS parent WHERE {match})"  # noqa: S608 - quoted
    [count] = connection.execute(
        f"SELECT count(*) FROM {quoted(child.name)} AS child WHERE {lost}"  # noqa: S608 - quoted
    ).fetchone()
    return int(count)


_RESULTS_AT_A_TIME = 1_500
"""SQLite returns at most 2,000 values per row. https://sqlite.org/limits.html#max_column."""

_EXTREMES = (
    "count({0})", "typeof(min({0}))", "typeof(max({0}))",
    "CASE WHEN typeof(min({0})) IN ('integer', 'real') THEN min({0}) END",
    "CASE WHEN typeof(max({0})) IN ('integer', 'real') THEN max({0}) END",
    "min({0}) GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-*' AND max({0}) GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-*'",
    "min({0}) GLOB '[-0-9]*' AND max({0}) GLOB '[-0-9]*'",
    "min({0}) < '-4713.' AND max({0}) > '-4713-'",
)  # fmt: skip
"""SQLite sorts NULL, numbers, texts, blobs: the classes of the extremes bound those of all values.

https://sqlite.org/datatype3.html#sort_order
"""

_NUMBER = frozenset({"integer", "real"})

_NUMBER_CLASSES = ("min(typeof({0}))", "max(typeof({0}))")
"""For columns of only numbers and NULL: 'integer' < 'null' < 'real'."""

_LENGTH = "max(length(CAST({0} AS BLOB)))"

_SUM_CLASS = "typeof(sum({0}))"
"""'integer' if all values are integers, in a column of only numbers. https://sqlite.org/lang_aggfunc.html#sumunc"""

_LONG = 16
_LONG_NUMBER = f"max(CASE WHEN length({{0}}) >= {_LONG} THEN {{0}} GLOB '*{'[0-9]' * _LONG}*' END)"
"""True if a text has 16 digits in a row, as many as 2^53 has."""

_FIRST_YEAR = "max({0} GLOB '-4713-*')"

_DIGITS = (
    "min(CAST({0} AS TEXT) = CAST(CAST({0} AS INTEGER) AS TEXT) COLLATE BINARY)",
    "min(CAST({0} AS INTEGER))",
    "max(CAST({0} AS INTEGER))",
)
"""True if all texts are INTEGERs as SQLite prints them; and the least and greatest of them."""

_OVERFLOW = "integer overflow"


def figures(connection: sqlite3.Connection, table: DeclaredTable) -> dict[str, ColumnStatistics]:
    """Return the figures about each column of `table`, by the column's name.

    The connection must be from `loaders.source.opened`, which defines `exact_text`.
    """
    expected = {column.name: _expected(column) for column in table.columns}
    try:
        first = _first(connection, table, expected)
    except sqlite3.OperationalError as error:
        if str(error) != _OVERFLOW:
            raise
        expected = dict.fromkeys(expected, ())
        first = _first(connection, table, expected)
    known = {
        name: dict(zip(expected[name], found[len(_EXTREMES) :], strict=True)) for name, found in first.items()
    }
    wanted = {
        column.name: [
            text
            for text in _needed(column, first[column.name], known[column.name])
            if text not in known[column.name]
        ]
        for column in table.columns
    }
    second = ask(connection, table.name, wanted)
    for name, texts in wanted.items():
        known[name] |= zip(texts, second[name], strict=True)
    return {name: _stored(connection, table.name, name, found, known[name]) for name, found in first.items()}


def _first(
    connection: sqlite3.Connection, table: DeclaredTable, expected: Mapping[str, Sequence[str]]
) -> dict[str, tuple[Any, ...]]:
    return ask(connection, table.name, {name: (*_EXTREMES, *texts) for name, texts in expected.items()})


def _expected(column: DeclaredColumn) -> tuple[str, ...]:
    """Return the additional expressions of the first pass, chosen by the declaration."""
    asked = declared_type(column.declared)
    if asked is PortableType.REAL or not column.declared:
        return ()
    return (_SUM_CLASS,) if asked in {PortableType.INTEGER, None} else (_LENGTH,)


def _needed(column: DeclaredColumn, extremes: Sequence[Any], known: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the expressions still needed for a column after the first pass."""
    lowest, highest, dated, counted = *extremes[1:3], bool(extremes[5]), bool(extremes[6])
    if {lowest, highest} <= _NUMBER:
        is_real = affinity(column.declared) == "REAL"  # Integers in it become fractions when they are read.
        return () if is_real or known.get(_SUM_CLASS) == "integer" else _NUMBER_CLASSES
    if lowest == highest == "text":
        first_year = (_FIRST_YEAR,) if extremes[7] else ()
        dated = dated or declared_type(column.declared) in {PortableType.DATE, PortableType.DATETIME}
        shaped = DATE_FIGURES if dated else _DIGITS if counted else ()
        longer = (_LONG_NUMBER,) if known.get(_LENGTH, _LONG) >= _LONG else ()
        return (_LENGTH, *longer, *shaped, *first_year)
    return (_LENGTH,) if lowest == highest == "blob" else ()


def _stored(
    connection: sqlite3.Connection, table: str, column: str, extremes: Sequence[Any], known: Mapping[str, Any]
) -> ColumnStatistics:
    """Return the figures of a column from the evaluated expressions in `known`."""
    classes = frozenset(extremes[1:3]) - {"null"}
    if classes <= _NUMBER:
        classes |= {known[text] for text in _NUMBER_CLASSES if text in known} - {"null"}
    if len(classes) > 1:
        return _mixed(connection, table, column, extremes)
    found = ColumnStatistics(values=extremes[0], classes=classes, least=extremes[3], greatest=extremes[4])
    if classes <= _NUMBER:
        return found
    long_numbers, first_year = (bool(known.get(text)) for text in (_LONG_NUMBER, _FIRST_YEAR))
    found = replace(found, longest=known[_LENGTH], long_numbers=long_numbers, first_year=first_year)
    if known.get(_DIGITS[0]):
        _, least, greatest = (known[text] for text in _DIGITS)
        return replace(found, digits=True, least=least, greatest=greatest)
    dates = [known[text] for text in DATE_FIGURES if text in known]
    if not dates or dates[-1]:
        return found
    days, moments, slashes, fractions, _ = map(bool, dates)
    return replace(found, days=days, moments=moments, slashes=slashes, fractions=fractions)


def _mixed(
    connection: sqlite3.Connection, table: str, column: str, extremes: Sequence[Any]
) -> ColumnStatistics:
    """Return the figures of a column of several storage classes."""
    name, source = quoted(column), quoted(table)
    classes = {
        kind
        for (kind,) in connection.execute(f"SELECT DISTINCT typeof({name}) FROM {source}")  # noqa: S608
    } - {"null"}
    longest, clash, number, least, greatest, long = 0, 0, 1, extremes[3], extremes[4], 0
    if classes & {"text", "blob"}:
        numbers = f"CASE WHEN typeof({name}) IN ('integer', 'real') THEN {name} END"
        texts = f"CASE typeof({name}) WHEN 'text' THEN {name} END"
        longest, clash, number, least, greatest, long = connection.execute(
            f"SELECT max(length(CAST({text_of(name)} AS BLOB))), max({AMBIGUOUS.format(name, source)}),"  # noqa: S608
            f" max({READS_AS_NUMBER.format(name)}), min({numbers}), max({numbers}),"
            f" {_LONG_NUMBER.format(texts)} FROM {source}"
        ).fetchone()
    inexact = connection.execute(
        f"SELECT EXISTS (SELECT 1 FROM {source} WHERE {INEXACT.format(name)})"  # noqa: S608
    ).fetchone()[0]
    return ColumnStatistics(
        values=extremes[0],
        classes=frozenset(classes),
        least=least,
        greatest=greatest,
        longest=longest or 0,
        long_numbers=bool(long),
        apart=not number,
        exact=not inexact,
        ambiguous=bool(clash),
    )


def ask(
    connection: sqlite3.Connection, table: str, wanted: Mapping[str, Sequence[str]]
) -> dict[str, tuple[Any, ...]]:
    """Evaluate aggregate expressions (`{0}` is the column) in as few passes as SQLite allows."""
    expressions = [text.format(quoted(column)) for column, texts in wanted.items() for text in texts]
    values: list[Any] = []
    for start in range(0, len(expressions), _RESULTS_AT_A_TIME):
        part = ", ".join(expressions[start : start + _RESULTS_AT_A_TIME])
        values += connection.execute(f"SELECT {part} FROM {quoted(table)} NOT INDEXED").fetchone()  # noqa: S608
    left = iter(values)
    return {column: tuple(islice(left, len(texts))) for column, texts in wanted.items()}
