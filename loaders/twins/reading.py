"""Reads what a twin is made from out of a SQLite file.

The statements that create the tables are kept word for word, and of each column the share of NULL, the
extremes and a few of its values: a twin can repeat those values, and never a row.
"""

import csv
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dialects.errors import BadInput
from dialects.identifiers import quoted
from loaders.base.files import parse_json, read_text
from loaders.source import opened
from loaders.twins.shape import (
    ColumnCollation,
    ColumnShape,
    ReferenceShape,
    Shape,
    TableName,
    TableShape,
    Value,
    folded,
    with_targets,
)

_COMPLETE = 30
"""A column with no more different values than this is known completely,"""
_REPEATED = 4
"""if it has each so many times on average."""
_FREQUENT = 12
_SPREAD = 12
_CHECK = re.compile(r"\bCHECK\s*\(", re.IGNORECASE)
_WORD = re.compile(r"""'(?:[^']|'')*+'?|"(?:[^"]|"")*+"?|`[^`]*+`?|\[[^\]]*+\]?|\d++(?:\.\d++)?|\w++|[()]""")
"""What is opened and never closed goes to the end."""
_MOMENT = re.compile(r"\d{1,4}[-/:.]\d|\d+$")


def of_file(path: Path) -> Shape:
    """The tables of a SQLite file.

    Raises:
        BadInput: it is no complete SQLite file, or has virtual tables.
    """
    with opened(path) as connection:
        connection.text_factory = lambda text: text.decode("utf-8", "replace")
        listed = connection.execute(
            "SELECT type, name, sql, tbl_name FROM sqlite_master WHERE sql IS NOT NULL "
            "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid"
        ).fetchall()
        virtual = [name for kind, name, sql, _ in listed if kind == "table" and _is_virtual(sql)]
        if virtual:
            raise BadInput(f"{path}: table {virtual[0]} is virtual; twins are made of ordinary tables alone")
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
                collation=ColumnCollation(collations.get(column.key, "BINARY")),
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
    )


def _checks(sql: str, columns: Sequence[ColumnShape]) -> Iterator[tuple[str, tuple[Value, ...]]]:
    """The columns that CHECK constraints name, with the literals there."""
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
    """The column, and whether it seems to be a name of which there can be one only."""
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
    """What is declared to be unique besides the primary key, and the widest collation of each column."""
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


_PUBLISHED_SAMPLES = 5
"""The published schema gives up to so many values of a column: fewer are all that there are."""
_DESCRIBED = re.compile(
    r"""["'“]([^"'“”]{1,40})["'”]|(?:^|[\n;,•*])[^\S\n]*+([^\s:\uff1a=;,"']{1,30})\s*[:\uff1a=]"""
)


def of_published(path: Path, descriptions: Path | None = None) -> dict[str, Shape]:
    """The databases of a published schema, by their names.

    The format maps a database to `tables`, those to `columns`, each with `name`, `type`, `primary_key`,
    `foreign_keys` (of `target_table`, `target_column`) and `value_samples`, up to five values.

    Args:
        path: the JSON file.
        descriptions: a folder with `<db_id>/database_description/<table>.csv`, whose value descriptions name
            further values.

    Raises:
        BadInput: it is not such a file.
    """
    try:
        content = parse_json(read_text(path).text)
        databases = {
            str(db_id): with_targets(
                tuple(
                    _published_table(each, _described(descriptions, str(db_id), str(each["name"])))
                    for name, each in database["tables"].items()
                    if not name.startswith("sqlite_") and each["columns"]
                ),
            )
            for db_id, database in content.items()
        }
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadInput(
            f"{path}: is no published schema ({type(error).__name__}: {error}); "
            "give a SQLite file, or a JSON file as docs/twins.md describes it"
        ) from error
    return {db_id: Shape(db_id, tables) for db_id, tables in databases.items()}


def _published_table(spec: Mapping[str, Any], described: Mapping[str, list[str]]) -> TableShape:
    key = tuple(folded(str(each["name"])) for each in spec["columns"] if each["primary_key"])
    columns = tuple(
        _published_column(each, described, is_rowid=_is_rowid(each, key)) for each in spec["columns"]
    )
    references = tuple(
        ReferenceShape(
            (folded(str(each["name"])),),
            TableName(folded(str(target["target_table"]))),
            (folded(str(target["target_column"] or "")),),
        )
        for each in spec["columns"]
        for target in each["foreign_keys"]
    )
    return TableShape(
        str(spec["name"]), columns, None, "", key, tuple(_lookup_names(columns, key, references)), references
    )


def _is_rowid(spec: Mapping[str, Any], key: tuple[str, ...]) -> bool:
    return bool(spec["primary_key"]) and len(key) == 1 and str(spec["type"] or "").upper() == "INTEGER"


def _published_column(
    spec: Mapping[str, Any], described: Mapping[str, list[str]], *, is_rowid: bool
) -> ColumnShape:
    samples = tuple(
        dict.fromkeys(
            value
            for value in spec["value_samples"]
            if isinstance(value, int if is_rowid else int | float | str)
        )
    )
    column = ColumnShape(
        str(spec["name"]),
        str(spec["type"] or ""),
        samples,
        complete=0 < len(samples) < _PUBLISHED_SAMPLES,
        nulls=0.0 if spec["primary_key"] else 0.05,
        nullable=not spec["primary_key"],
        strict=is_rowid,
    )
    told = [column.stored(value) for value in described.get(column.key, [])]
    # Only where the text lists values: then it lists a known one, too.
    if not column.complete and set(told) & set(samples):
        samples = tuple(dict.fromkeys([*samples, *told]))
    return replace(column, samples=samples)


def _lookup_names(
    columns: Sequence[ColumnShape], key: Sequence[str], references: Sequence[ReferenceShape]
) -> Iterator[tuple[str, ...]]:
    """The name of a table that only numbers names, such as colours."""
    texts = [column for column in columns if column.key not in key and column.affinity == "TEXT"]
    if len(key) == 1 and len(columns) - len(key) - len(texts) <= 1 and len(texts) == 1 and not references:
        yield (texts[0].key,)


def _described(folder: Path | None, db_id: str, table: str) -> dict[str, list[str]]:
    """What the description of a table seems to name as values, by column."""
    place = folder / db_id / "database_description" if folder else None
    if place is None or not place.is_dir():
        return {}
    path = next(
        (each for each in sorted(place.glob("*.csv")) if folded(each.stem.strip()) == folded(table)), None
    )
    if path is None:
        return {}
    lines = csv.reader(path.read_bytes().decode("utf-8-sig", "replace").splitlines(keepends=True))
    return {
        folded(line[0].strip()): [
            (first or second).strip() for first, second in _DESCRIBED.findall("\n".join(line[4:]))
        ]
        for line in lines
        if line
    }


def read_golds(path: Path) -> dict[str, list[str]]:
    """The gold SQL of a question file in the published format, by database.

    Raises:
        BadInput: it is not such a file.
    """
    try:
        found: dict[str, list[str]] = {}
        for each in parse_json(read_text(path).text):
            found.setdefault(str(each["db_id"]), []).append(str(each["SQL"]))
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput(
            f"{path}: is no question file ({type(error).__name__}: {error}); "
            "it has to be a JSON list of objects with db_id and SQL"
        ) from error
    return found
