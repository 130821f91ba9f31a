"""The shape of a database: its tables, and a few facts about their values, to make up rows by.

From a SQLite file, the statements that create the tables are kept verbatim, and for each column the share of
NULL, the extremes and a few of its values: made-up rows can repeat those values, but never a row.
"""

import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from math import inf, isfinite
from pathlib import Path
from string import ascii_lowercase, ascii_uppercase
from typing import NewType

from dialects.errors import BadInput
from dialects.identifiers import quoted
from dialects.numbers import well_formed
from dialects.schema import affinity
from loaders.source import opened

Value = int | float | str | bytes | None
TableName = NewType("TableName", str)
"""A table's name, folded by `folded`."""

_UPPER = str.maketrans(ascii_uppercase, ascii_lowercase)
_INTEGERS = range(-(2**63), 2**63)


def folded(name: str) -> str:
    """Fold a name as SQLite compares names: only ASCII letters, to lower case."""
    return name.translate(_UPPER)


@dataclass(frozen=True)
class ColumnShape:
    """One column.

    `samples` are stored values, most frequent first; `complete` if there are no others. `low` and `high` are
    the extremes of the stored values if known, `nulls` is the share of NULL. `strict` if only values of the
    declared type can be stored, as in STRICT tables and in an INTEGER PRIMARY KEY.
    """

    name: str
    declared: str
    samples: tuple[Value, ...] = ()
    complete: bool = False
    nulls: float = 0.0
    nullable: bool = True
    low: Value = None
    high: Value = None
    strict: bool = False
    collation: str = "BINARY"
    """How texts are compared if the column must be unique."""

    @cached_property
    def key(self) -> str:
        """The folded name."""
        return folded(self.name)

    @cached_property
    def affinity(self) -> str:
        """INTEGER, REAL, NUMERIC, TEXT or BLOB; also BLOB for ANY in a STRICT table."""
        return "BLOB" if self.strict and self.declared.upper() == "ANY" else affinity(self.declared)

    @cached_property
    def numeric(self) -> bool:
        """True if its values are numbers; for a NUMERIC column, such as DATE, the samples decide."""
        if self.affinity in {"INTEGER", "REAL"}:
            return self.strict or not any(isinstance(value, str) for value in self.samples)
        if self.affinity == "TEXT":
            return False
        numbers = [isinstance(value, int | float) for value in self.samples]
        if not numbers:
            return "DATE" not in self.declared.upper() and "TIME" not in self.declared.upper()
        return all(numbers)

    @cached_property
    def whole(self) -> bool:
        """True if its numbers are integers."""
        return self.affinity == "INTEGER" or (
            self.affinity != "REAL" and all(isinstance(value, int) for value in self.samples)
        )

    def stored(self, value: Value) -> Value:
        """Return the value as this column stores it, by SQLite's affinities."""
        if value is None or isinstance(value, bytes):
            return value
        if isinstance(value, int) and value not in _INTEGERS:
            value = _fraction(value)
        affinity = self.affinity
        if affinity == "TEXT":
            return value if isinstance(value, str) else str(value)
        if affinity == "BLOB":
            return value
        number = well_formed(value) if isinstance(value, str) else value
        if number is None:
            return value
        if affinity == "REAL":
            return _fraction(number)
        is_other = type(number) is not int and float(number).is_integer() and abs(number) < _EXACT
        return int(number) if is_other else number

    def compared(self, value: Value) -> Value:
        """Return the stored value in a form that is identical for equal values."""
        stored = self.stored(value)
        if not isinstance(stored, str) or self.collation not in {"NOCASE", "RTRIM"}:
            return stored
        return folded(stored) if self.collation == "NOCASE" else stored.rstrip(" ")

    def made(self, value: Value) -> Value:
        """Return a generated value for it: as bytes if it stores nothing else."""
        if self.strict and self.declared.upper() == "BLOB" and value is not None:
            return value if isinstance(value, bytes) else str(value).encode()
        return self.stored(value)

    def admits(self, value: Value) -> bool:
        """True if it can be stored, apart from the table's constraints."""
        stored = self.stored(value)
        if stored is None:
            return self.nullable
        if isinstance(stored, float) and not isfinite(stored):
            return False
        if not self.strict or self.declared.upper() == "ANY":
            return True
        return isinstance(stored, _STRICT.get(self.affinity, (str,)))


_EXACT = 2**53
_LOOKUP_COLUMNS = 3
_STRICT: dict[str, tuple[type, ...]] = {"INTEGER": (int,), "REAL": (float,), "BLOB": (bytes,)}


def _fraction(number: float) -> float:
    try:
        return float(number)
    except OverflowError:
        return inf if number > 0 else -inf


@dataclass(frozen=True)
class ReferenceShape:
    """A foreign key, with folded names of columns and of the parent."""

    columns: tuple[str, ...]
    parent: TableName
    parent_columns: tuple[str, ...]


@dataclass(frozen=True)
class TableShape:
    """One table. `rows` is the number of rows of the real one, None if unknown."""

    name: str
    columns: tuple[ColumnShape, ...]
    rows: int | None
    create: str
    primary_key: tuple[str, ...] = ()
    unique: tuple[tuple[str, ...], ...] = ()
    """Other unique sets of columns, declared or observed."""
    references: tuple[ReferenceShape, ...] = ()
    indexes: tuple[str, ...] = ()
    """The statements that create its indexes."""
    checked: tuple[tuple[str, tuple[Value, ...]], ...] = ()
    """Columns in CHECK constraints, with the literals there."""
    observed: tuple[tuple[str, ...], ...] = ()
    """The unique sets of columns that are not declared."""

    @cached_property
    def key(self) -> TableName:
        """The folded name."""
        return TableName(folded(self.name))

    @cached_property
    def by_key(self) -> dict[str, ColumnShape]:
        """The columns by folded name."""
        return {column.key: column for column in self.columns}

    @cached_property
    def positions(self) -> dict[str, int]:
        """The position of a column in a row, by folded name."""
        return {column.key: at for at, column in enumerate(self.columns)}

    @cached_property
    def insert(self) -> str:
        """The INSERT statement for one row; a violated constraint aborts it, whatever the schema declares."""
        names = ", ".join(quoted(column.name) for column in self.columns)
        marks = ", ".join("?" * len(self.columns))
        return f"INSERT OR ABORT INTO {quoted(self.name)} ({names}) VALUES ({marks})"  # noqa: S608 - quoted

    @cached_property
    def names_only(self) -> bool:
        """True if it only maps numbers to names, like a table of colours."""
        return bool(self.unique) and not self.references and len(self.columns) <= _LOOKUP_COLUMNS

    @cached_property
    def keys(self) -> tuple[tuple[str, ...], ...]:
        """All unique sets of columns, the primary key first."""
        found = [self.primary_key] if self.primary_key else []
        return tuple(dict.fromkeys([*found, *self.unique]))

    def key_of(self, key: tuple[str, ...], values: Iterable[Value]) -> tuple[Value, ...]:
        """Return a key's values in a form that is identical for equal ones; NULL equals nothing."""
        columns = self.by_key
        return tuple([columns[name].compared(value) for name, value in zip(key, values, strict=True)])

    @cached_property
    def referring(self) -> dict[str, ReferenceShape]:
        """The first reference with a column, by the column's folded name."""
        found: dict[str, ReferenceShape] = {}
        for reference in self.references:
            for column in reference.columns:
                found.setdefault(column, reference)
        return found


@dataclass(frozen=True)
class Shape:
    """The tables of a database in the order in which they are created, and the views over them."""

    db_id: str
    tables: tuple[TableShape, ...]
    views: tuple[str, ...] = field(default=())

    @cached_property
    def by_key(self) -> dict[str, TableShape]:
        """The tables by folded name."""
        return {table.key: table for table in self.tables}


def with_targets(tables: tuple[TableShape, ...]) -> tuple[TableShape, ...]:
    """Return the tables with their references to existing columns, and a statement to create each.

    References to missing tables or columns are dropped: SQLite accepts them, but no row can satisfy them.
    """
    by_key = {table.key: table for table in tables}
    found = []
    for table in tables:
        references = []
        for reference in table.references:
            parent = by_key.get(reference.parent)
            if parent is None:
                continue
            targets = reference.parent_columns if all(reference.parent_columns) else parent.primary_key
            if len(targets) == len(reference.columns) and set(targets) <= set(parent.by_key):
                references.append(ReferenceShape(reference.columns, reference.parent, tuple(targets)))
        create = table.create or _create(table, references, by_key)
        found.append(replace(table, create=create, references=tuple(references)))
    wanted = {(each.parent, each.parent_columns) for table in found for each in table.references}
    return tuple(_with_unique(table, wanted) for table in found)


def _with_unique(table: TableShape, wanted: set[tuple[TableName, tuple[str, ...]]]) -> TableShape:
    """Return the table with the columns that others refer to as keys."""
    more = sorted(columns for parent, columns in wanted if parent == table.key and columns not in table.keys)
    if not more:
        return table
    return replace(table, unique=(*table.unique, *more))


def _create(
    table: TableShape, references: Sequence[ReferenceShape], tables: Mapping[TableName, TableShape]
) -> str:
    def names(of: TableShape, columns: Sequence[str]) -> str:
        return ", ".join(quoted(of.by_key[column].name) for column in columns)

    parts = [f"{quoted(column.name)} {_type(column.declared)}".rstrip() for column in table.columns]
    if table.primary_key:
        parts.append(f"PRIMARY KEY ({names(table, table.primary_key)})")
    wanted = {
        each.parent_columns
        for other in tables.values()
        for each in other.references
        if each.parent == table.key
    }
    parts += [
        f"UNIQUE ({names(table, columns)})"
        for columns in sorted(wanted)
        if all(columns) and columns != table.primary_key and set(columns) <= set(table.by_key)
    ]
    for reference in references:
        parent = tables[reference.parent]
        parts.append(
            f"FOREIGN KEY ({names(table, reference.columns)}) REFERENCES {quoted(parent.name)} "
            f"({names(parent, reference.parent_columns)})"
        )
    return f"CREATE TABLE {quoted(table.name)} ({', '.join(parts)})"


@cache
def _type(declared: str) -> str:
    """Return a declared type for a statement: unchanged, or quoted if it could be more than a type."""
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            connection.execute(f"CREATE TABLE t (c {declared})")
            found = connection.execute("SELECT type, \"notnull\", dflt_value, pk FROM pragma_table_info('t')")
            if found.fetchall() == [(declared, 0, None, 0)]:
                return declared
        except sqlite3.Error:
            pass
    return quoted(declared)


_COMPLETE = 30
"""Most distinct values of a column whose values are all kept,"""
_REPEATED = 4
"""if each occurs so often on average."""
_FREQUENT = 12
_SPREAD = 12
_CHECK = re.compile(r"\bCHECK\s*\(", re.IGNORECASE)
_WORD = re.compile(r"""'(?:[^']|'')*+'?|"(?:[^"]|"")*+"?|`[^`]*+`?|\[[^\]]*+\]?|\d++(?:\.\d++)?|\w++|[()]""")
"""Quotes and comments that are not closed extend to the end."""
_MOMENT = re.compile(r"\d{1,4}[-/:.]\d|\d+$")


def of_file(path: Path) -> Shape:
    """Read the tables of a SQLite file.

    Raises:
        BadInput: it is not a complete SQLite file, or has virtual tables.
    """
    with opened(path) as connection:
        connection.text_factory = lambda text: text.decode("utf-8", "replace")
        listed = connection.execute(
            "SELECT type, name, sql, tbl_name FROM sqlite_master WHERE sql IS NOT NULL "
            "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid"
        ).fetchall()
        virtual = [name for kind, name, sql, _ in listed if kind == "table" and _is_virtual(sql)]
        if virtual:
            raise BadInput(f"{path}: table {virtual[0]} is virtual; twins are made of ordinary tables only")
        indexes: dict[str, list[str]] = {}
        for kind, _, sql, table in listed:
            if kind == "index":
                indexes.setdefault(folded(str(table)), []).append(sql)
        tables = tuple(
            _stored_table(connection, name, sql, tuple(indexes.get(folded(name), ())))
            for kind, name, sql, _ in listed
            if kind == "table"
        )
        views = tuple(sql for kind, _, sql, _ in listed if kind == "view")
    return Shape(path.stem, with_targets(tables), views)


def _is_virtual(sql: str) -> bool:
    return re.match(r"\s*CREATE\s+VIRTUAL\b", sql, re.IGNORECASE) is not None


def _stored_table(
    connection: sqlite3.Connection, name: str, sql: str, indexes: tuple[str, ...]
) -> TableShape:
    info = connection.execute(
        'SELECT name, type, "notnull", pk FROM pragma_table_xinfo(?) WHERE hidden = 0 ORDER BY cid', [name]
    ).fetchall()
    [(rows,)] = connection.execute(f"SELECT COUNT(*) FROM {quoted(name)}")  # noqa: S608 - quoted
    [(without_rowid, is_strict)] = connection.execute(
        "SELECT wr, strict FROM pragma_table_list WHERE schema = 'main' AND name = ? COLLATE BINARY", [name]
    )
    unique, collations = _unique_indexes(connection, name)
    declared_keys = set(unique)
    key = tuple(folded(str(each[0])) for each in sorted(info, key=lambda each: each[3]) if each[3])
    columns = []
    for column_name, declared, not_null, in_key in info:
        is_rowid = key == (folded(column_name),) and not without_rowid and declared.upper() == "INTEGER"
        column, observed = _stored_column(
            connection, name, column_name, declared or "", nullable=not (not_null or in_key)
        )
        columns.append(
            replace(
                column,
                strict=bool(is_strict) or is_rowid,
                collation=collations.get(column.key, "BINARY"),
            )
        )
        if observed and not in_key:
            unique.append((column.key,))
    names = {column.key for column in columns}
    return TableShape(
        name,
        tuple(columns),
        rows,
        sql,
        key if set(key) <= names else (),
        tuple(each for each in dict.fromkeys(unique) if set(each) <= names),
        tuple(each for each in _declared(connection, name) if set(each.columns) <= names),
        indexes,
        tuple(_checks(sql, columns)),
        tuple(each for each in unique if each not in declared_keys),
    )


def _checks(sql: str, columns: Sequence[ColumnShape]) -> Iterator[tuple[str, tuple[Value, ...]]]:
    """Yield the columns in CHECK constraints, with the literals there."""
    for start in _CHECK.finditer(sql):
        depth, words = 1, set()
        literals: list[Value] = []
        for word in _WORD.finditer(sql, start.end()):
            text = word[0]
            depth += {"(": 1, ")": -1}.get(text, 0)
            if not depth:
                break
            if text.startswith("'"):
                literals.append(text[1:-1].replace("''", "'"))
            elif text[0].isdigit():
                literals.append(float(text) if "." in text else int(text))
            else:
                words.add(folded(text.strip('"`[]').replace('""', '"')))
        for column in columns:
            if column.key in words and literals:
                yield column.key, tuple(literals)


def _stored_column(
    connection: sqlite3.Connection, table: str, name: str, declared: str, *, nullable: bool
) -> tuple[ColumnShape, bool]:
    """Return the column, and whether it seems to contain unique names."""
    column, of = quoted(name), f"FROM {quoted(table)} WHERE {quoted(name)} IS NOT NULL"
    [(rows, filled, distinct, low, high)] = connection.execute(
        f"SELECT COUNT(*), COUNT({column}), COUNT(DISTINCT {column}), MIN({column}), MAX({column}) "  # noqa: S608
        f"FROM {quoted(table)}"
    )
    limit = _COMPLETE if distinct <= _COMPLETE else _FREQUENT
    samples = [
        value
        for value, _ in connection.execute(
            f"SELECT {column}, COUNT(*) AS n {of} GROUP BY 1 ORDER BY n DESC, 1 LIMIT {limit}"
        )
    ]
    if distinct > _COMPLETE and isinstance(high, str):
        step = max(1, distinct // _SPREAD)
        samples += [
            value
            for (value,) in connection.execute(
                f"SELECT v FROM (SELECT {column} AS v, ROW_NUMBER() OVER (ORDER BY {column}) AS n "  # noqa: S608
                f"{of} GROUP BY 1) WHERE n % {step} = 0 LIMIT {_SPREAD}"
            )
        ]
    kept = tuple(dict.fromkeys(samples))
    found = ColumnShape(
        name,
        declared,
        kept,
        complete=0 < distinct <= _COMPLETE and filled >= _REPEATED * distinct,
        nulls=1 - filled / rows if rows else 0.0,
        nullable=nullable and filled < rows,
        low=low,
        high=high,
    )
    names = bool(kept) and not found.numeric and not any(_MOMENT.match(str(value)) for value in kept)
    return found, names and distinct == filled and filled > 1


def _unique_indexes(
    connection: sqlite3.Connection, table: str
) -> tuple[list[tuple[str, ...]], dict[str, str]]:
    """Return the unique keys besides the primary key, and the widest collation of each column."""
    found = []
    collations = {
        folded(str(name)): str(collation).upper()
        for name, collation in connection.execute(
            "SELECT x.name, x.coll FROM pragma_index_list(?) i, pragma_index_xinfo(i.name) x "
            "WHERE i.\"unique\" AND x.key AND x.name IS NOT NULL AND x.coll <> 'BINARY' COLLATE NOCASE",
            [table],
        )
    }
    for (index,) in connection.execute(
        "SELECT name FROM pragma_index_list(?) "
        "WHERE \"unique\" AND NOT partial AND origin <> 'pk' ORDER BY seq",
        [table],
    ).fetchall():
        names = [name for (name,) in connection.execute("SELECT name FROM pragma_index_info(?)", [index])]
        if None not in names:
            found.append(tuple(folded(str(name)) for name in names))
    return found, collations


def _declared(connection: sqlite3.Connection, table: str) -> tuple[ReferenceShape, ...]:
    found: dict[int, list[tuple[str, str, str | None]]] = {}
    query = 'SELECT id, "from", "table", "to" FROM pragma_foreign_key_list(?) ORDER BY id, seq'
    for number, column, parent, target in connection.execute(query, [table]):
        found.setdefault(number, []).append((column, parent, target))
    return tuple(
        ReferenceShape(
            tuple(folded(column) for column, _, _ in parts),
            TableName(folded(parts[0][1])),
            tuple(folded(target or "") for _, _, target in parts),
        )
        for parts in found.values()
    )


def parents_first(shape: Shape) -> list[TableShape]:
    """Return the tables, each after those that it refers to, unless there is a cycle."""
    found: list[TableShape] = []
    left = list(shape.tables)
    while left:
        ready = [
            table
            for table in left
            if not any(
                each.parent != table.key and any(other.key == each.parent for other in left)
                for each in table.references
            )
        ]
        for table in ready or left[:1]:
            found.append(table)
            left.remove(table)
    return found
