"""The figures of what is stored in each column of a table, gathered by SQLite itself.

One pass over the table for all columns at once, more only over columns that hold dates, or something else
than their declarations say.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from dialects.identifiers import quoted
from dialects.schema import PortableType, affinity
from loaders.dates import FIGURES
from loaders.declarations import DeclaredColumn, DeclaredTable
from loaders.portable import AMBIGUOUS, INEXACT, READS_AS_NUMBER, Stored, declared_type
from loaders.source import text_of

_RESULTS_AT_A_TIME = 1_500
"""SQLite returns at most 2,000 values per row. https://sqlite.org/limits.html#max_column."""

_EXTREMES = (
    "count({0})", "typeof(min({0}))", "typeof(max({0}))",
    "CASE WHEN typeof(min({0})) IN ('integer', 'real') THEN min({0}) END",
    "CASE WHEN typeof(max({0})) IN ('integer', 'real') THEN max({0}) END",
    "min({0}) GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-*' AND max({0}) GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-*'",
    "min({0}) GLOB '[-0-9]*' AND max({0}) GLOB '[-0-9]*'",
)  # fmt: skip
"""SQLite sorts NULL, numbers, texts, blobs: the classes of the extremes bound those of all values.

https://sqlite.org/datatype3.html#sort_order
"""

_NUMBER = frozenset({"integer", "real"})

_NUMBER_CLASSES = ("min(typeof({0}))", "max(typeof({0}))")
"""Where there are numbers and NULL alone: 'integer' < 'null' < 'real'."""

_LENGTH = "max(length(CAST({0} AS BLOB)))"

_SUM_CLASS = "typeof(sum({0}))"
"""'integer' where all of only numbers are integers. https://sqlite.org/lang_aggfunc.html#sumunc"""

_DIGITS = (
    "min(CAST({0} AS TEXT) = CAST(CAST({0} AS INTEGER) AS TEXT) COLLATE BINARY)",
    "min(CAST({0} AS INTEGER))",
    "max(CAST({0} AS INTEGER))",
)
"""Whether all texts are INTEGERs as SQLite prints them, and the extremes of these."""

_OVERFLOW = "integer overflow"


def figures(connection: sqlite3.Connection, table: DeclaredTable) -> dict[str, Stored]:
    """What each column of `table` holds, by the column's name.

    The connection is one of `loaders.source.opened`, for its `exact_text`.
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
    """What the first pass asks besides, as the declaration lets expect what the column holds."""
    asked = declared_type(column.declared)
    if asked is PortableType.REAL or not column.declared:
        return ()
    return (_SUM_CLASS,) if asked in {PortableType.INTEGER, None} else (_LENGTH,)


def _needed(column: DeclaredColumn, extremes: Sequence[Any], known: Mapping[str, Any]) -> tuple[str, ...]:
    """The expressions that say the rest of a column, given what the first pass has said."""
    lowest, highest, dated, counted = *extremes[1:3], bool(extremes[5]), bool(extremes[6])
    if {lowest, highest} <= _NUMBER:
        is_real = affinity(column.declared) == "REAL"  # Integers in it become fractions when they are read.
        return () if is_real or known.get(_SUM_CLASS) == "integer" else _NUMBER_CLASSES
    if lowest == highest == "text":
        dated = dated or declared_type(column.declared) in {PortableType.DATE, PortableType.DATETIME}
        if dated:
            return (_LENGTH, *FIGURES)
        return (_LENGTH, *_DIGITS) if counted else (_LENGTH,)
    return (_LENGTH,) if lowest == highest == "blob" else ()


def _stored(
    connection: sqlite3.Connection, table: str, column: str, extremes: Sequence[Any], known: Mapping[str, Any]
) -> Stored:
    """The figures of a column, of which the expressions in `known` have been evaluated."""
    classes = frozenset(extremes[1:3]) - {"null"}
    if classes <= _NUMBER:
        classes |= {known[text] for text in _NUMBER_CLASSES if text in known} - {"null"}
    if len(classes) > 1:
        return _mixed(connection, table, column, extremes)
    found = Stored(values=extremes[0], classes=classes, least=extremes[3], greatest=extremes[4])
    if classes <= _NUMBER:
        return found
    found = replace(found, longest=known[_LENGTH])
    if known.get(_DIGITS[0]):
        _, least, greatest = (known[text] for text in _DIGITS)
        return replace(found, digits=True, least=least, greatest=greatest)
    dates = [known[text] for text in FIGURES if text in known]
    if not dates or dates[-1]:
        return found
    days, moments, slashes, fractions, _ = map(bool, dates)
    return replace(found, days=days, moments=moments, slashes=slashes, fractions=fractions)


def _mixed(connection: sqlite3.Connection, table: str, column: str, extremes: Sequence[Any]) -> Stored:
    """The figures of a column of several storage classes."""
    name, source = quoted(column), quoted(table)
    classes = {
        kind
        for (kind,) in connection.execute(f"SELECT DISTINCT typeof({name}) FROM {source}")  # noqa: S608
    } - {"null"}
    longest, clash, number, least, greatest = 0, 0, 1, extremes[3], extremes[4]
    if classes & {"text", "blob"}:
        numbers = f"CASE WHEN typeof({name}) IN ('integer', 'real') THEN {name} END"
        longest, clash, number, least, greatest = connection.execute(
            f"SELECT max(length(CAST({text_of(name)} AS BLOB))), max({AMBIGUOUS.format(name, source)}),"  # noqa: S608
            f" max({READS_AS_NUMBER.format(name)}), min({numbers}), max({numbers}) FROM {source}"
        ).fetchone()
    inexact = connection.execute(
        f"SELECT EXISTS (SELECT 1 FROM {source} WHERE {INEXACT.format(name)})"  # noqa: S608
    ).fetchone()[0]
    return Stored(
        values=extremes[0],
        classes=frozenset(classes),
        least=least,
        greatest=greatest,
        longest=longest or 0,
        apart=not number,
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
