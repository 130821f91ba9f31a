"""The figures of what is stored in each column of a table, gathered by SQLite itself.

Two passes over the table for all columns at once, more only over columns that mix storage classes.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from loaders.dates import FIGURES
from loaders.declarations import DeclaredColumn, DeclaredTable
from loaders.portable import AMBIGUOUS, INEXACT, Stored, declared_type
from loaders.schema import PortableType
from loaders.source import quoted, text_of

_RESULTS_AT_A_TIME = 1_500
"""SQLite returns at most 2,000 values per row. https://sqlite.org/limits.html#max_column."""

_EXTREMES = (
    "count({0})", "typeof(min({0}))", "typeof(max({0}))",
    "CASE WHEN typeof(min({0})) IN ('integer', 'real') THEN min({0}) END",
    "CASE WHEN typeof(max({0})) IN ('integer', 'real') THEN max({0}) END",
    "min({0}) GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-*' AND max({0}) GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-*'",
)  # fmt: skip
"""SQLite sorts NULL, numbers, texts, blobs: the classes of the extremes bound those of all values.

https://sqlite.org/datatype3.html#sort_order
"""

_NUMBER = frozenset({"integer", "real"})

_NUMBER_CLASSES = ("min(typeof({0}))", "max(typeof({0}))")
"""Where there are numbers and NULL alone: 'integer' < 'null' < 'real'."""

_LENGTH = "max(length(CAST({0} AS BLOB)))"


def figures(connection: sqlite3.Connection, table: DeclaredTable) -> dict[str, Stored]:
    """What each column of `table` holds, by the column's name.

    The connection is one of `loaders.source.opened`, for its `exact_text`.
    """
    first = ask(connection, table.name, {column.name: _EXTREMES for column in table.columns})
    second = ask(
        connection,
        table.name,
        {
            column.name: _second(column, *first[column.name][1:3], dated=bool(first[column.name][5]))
            for column in table.columns
        },
    )
    return {
        column.name: _stored(connection, table.name, column.name, first[column.name], second[column.name])
        for column in table.columns
    }


def _stored(
    connection: sqlite3.Connection, table: str, column: str, first: Sequence[Any], second: Sequence[Any]
) -> Stored:
    classes = frozenset(first[1:3]) - {"null"}
    if classes <= _NUMBER:
        classes = frozenset(second) - {"null"}
    if len(classes) > 1:
        return _mixed(connection, table, column, first)
    found = Stored(values=first[0], classes=classes, least=first[3], greatest=first[4])
    if classes <= _NUMBER:
        return found
    length, *dates = second
    if not dates or dates[-1]:
        return replace(found, longest=length)
    days, moments, slashes, fractions, _ = map(bool, dates)
    return replace(found, longest=length, days=days, moments=moments, slashes=slashes, fractions=fractions)


def _second(column: DeclaredColumn, lowest: str, highest: str, *, dated: bool) -> tuple[str, ...]:
    """The expressions that the second pass asks of a column, given the classes of its extremes.

    `dated` says that the extremes look like dates, so that all texts may be.
    """
    if {lowest, highest} <= _NUMBER:
        return _NUMBER_CLASSES
    if lowest == highest == "text":
        dated = dated or declared_type(column.declared) in {PortableType.DATE, PortableType.DATETIME}
        return (_LENGTH, *FIGURES) if dated else (_LENGTH,)
    return (_LENGTH,) if lowest == highest == "blob" else ()


def _mixed(connection: sqlite3.Connection, table: str, column: str, extremes: Sequence[Any]) -> Stored:
    """The figures of a column of several storage classes."""
    name, source = quoted(column), quoted(table)
    classes = {
        kind
        for (kind,) in connection.execute(f"SELECT DISTINCT typeof({name}) FROM {source}")  # noqa: S608
    } - {"null"}
    longest, clash = 0, 0
    if classes & {"text"} and "blob" not in classes:
        longest, clash = connection.execute(
            f"SELECT max(length(CAST({text_of(name)} AS BLOB))), max({AMBIGUOUS.format(name, source)})"  # noqa: S608
            f" FROM {source}"
        ).fetchone()
    inexact = connection.execute(
        f"SELECT EXISTS (SELECT 1 FROM {source} WHERE {INEXACT.format(name)})"  # noqa: S608
    ).fetchone()[0]
    return Stored(
        values=extremes[0],
        classes=frozenset(classes),
        least=extremes[3],
        greatest=extremes[4],
        longest=longest or 0,
        exact=not inexact,
        ambiguous=bool(clash),
    )


def ask(
    connection: sqlite3.Connection, table: str, wanted: Mapping[str, Sequence[str]]
) -> dict[str, tuple[Any, ...]]:
    """Evaluate aggregate expressions, `{0}` being the column, in as few passes as SQLite allows."""
    expressions = [text.format(quoted(column)) for column, texts in wanted.items() for text in texts]
    values: list[Any] = []
    for start in range(0, len(expressions), _RESULTS_AT_A_TIME):
        part = ", ".join(expressions[start : start + _RESULTS_AT_A_TIME])
        values += connection.execute(f"SELECT {part} FROM {quoted(table)} NOT INDEXED").fetchone()  # noqa: S608
    left = iter(values)
    return {column: tuple(islice(left, len(texts))) for column, texts in wanted.items()}
