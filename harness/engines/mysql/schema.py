"""MySQL's tables: what SHOW CREATE TABLE prints, without what says nothing of how to query a table.

Left out are invisible columns (the loader's, for SQLite's order of rows), ordinary indexes, the names of
foreign keys, and the table's options (engine, character set, counters, statistics). A collation is told once
for a table, and only if it is not MySQL's default, which ignores case and accents.
https://dev.mysql.com/doc/refman/9.7/en/show-create-table.html
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby

from dialects.enums import Dialect
from dialects.identifiers import table_name
from harness.engines.base import ColumnText, Row, TableText
from loaders.namespace import Database
from loaders.source import DeclaredTable

_DEFAULT_COLLATION = "utf8mb4_0900_ai_ci"
_PIECE = re.compile(r"`(?:[^`]|``)*+`|'(?:[^'\\]|''|\\.)*+'|,\n {2}|\n\)|[^`',\n]++|.", re.DOTALL)
_COLUMN = re.compile(
    r"(?P<column>`(?:[^`]|``)*+` [a-z]\w*(?:\((?:'(?:[^']|'')*+'|[^)'])*+\))?)"
    r"(?: CHARACTER SET \w+)?(?: COLLATE (?P<collation>\w+))?"
)
_COLLATION = re.compile(r"\bCOLLATE=(\w+)")
_REFERENCE = re.compile(r"CONSTRAINT `(?:[^`]|``)*+` (?=FOREIGN KEY)")
_INVISIBLE = "/*!80023 INVISIBLE */"

_AS_IT_IS = re.compile(
    r"(?:tiny|small|medium|big)?int\b|double|float|(?:var)?(?:char|binary)|(?:tiny|medium|long)?(?:text|blob)"
)
"""Types whose values the driver returns as plain numbers, texts and bytes."""

_COLUMNS = """
SELECT table_name AS t, column_name AS c, column_type AS type FROM information_schema.columns
WHERE table_schema = DATABASE() AND extra NOT LIKE '%INVISIBLE%' ORDER BY table_name, ordinal_position
"""
_KEYS = """
SELECT table_name AS t, constraint_name AS k, referenced_table_name AS parent, column_name AS c,
    referenced_column_name AS there
FROM information_schema.key_column_usage
WHERE table_schema = DATABASE() AND (constraint_name = 'PRIMARY' OR referenced_table_schema = DATABASE())
ORDER BY table_name, constraint_name, ordinal_position
"""


def version(run: Callable[[str], list[Row]]) -> str:
    """Major and minor version of the server."""
    [[text]] = run("SELECT VERSION()")
    return ".".join(str(text).split(".")[:2])


def tables(
    run: Callable[[str], list[Row]],
    database: Database,  # noqa: ARG001 - the session's
    declared: Sequence[DeclaredTable],
) -> list[TableText]:
    """Those of the declared tables that are there, in their order."""
    names = [table_name(table.name, Dialect.MYSQL) for table in declared]
    columns = {
        name: tuple(ColumnText(str(column), str(kind)) for _, column, kind in rows)
        for name, rows in groupby(run(_COLUMNS), key=lambda row: row[0])
    }
    keys = _keys(run(_KEYS))
    made = []
    for name in (name for name in names if name in columns):
        [[_, statement, *_]] = run(f"SHOW CREATE TABLE {_quoted(name)}")
        own = keys.get(name, [])
        made.append(
            TableText(
                name,
                without_noise(str(statement)),
                columns[name],
                next((columns for columns, parent, _ in own if parent is None), ()),
                tuple((columns, parent, there) for columns, parent, there in own if parent in names),
            )
        )
    return made


_Key = tuple[tuple[str, ...], str | None, tuple[str, ...]]


def _keys(rows: Sequence[Row]) -> Mapping[str, Sequence[_Key]]:
    found: dict[str, list[_Key]] = {}
    for (table, _, parent), group in groupby(rows, key=lambda row: row[:3]):
        parts = list(group)
        there = tuple(str(part[4]) for part in parts) if parent is not None else ()
        key = tuple(str(part[3]) for part in parts), None if parent is None else str(parent), there
        found.setdefault(str(table), []).append(key)
    return found


def without_noise(statement: str) -> str:
    """What SHOW CREATE TABLE printed, without what the module says is left out."""
    first, *items, options = _split(statement)
    collation = _COLLATION.search(options)
    special = collation[1] if collation and collation[1] != _DEFAULT_COLLATION else None
    kept = [
        _REFERENCE.sub("", _without_collation(item, special or _DEFAULT_COLLATION))
        for item in items
        if not item.startswith("KEY ") and _INVISIBLE not in item
    ]
    return f"{first}\n  " + ",\n  ".join(kept) + "\n)" + (f" COLLATE={special}" if special else "")


def _without_collation(item: str, of_table: str) -> str:
    column = _COLUMN.match(item)
    if column is None or column["collation"] not in {None, of_table}:
        return item
    return column["column"] + item[column.end() :]


def _split(statement: str) -> Iterator[str]:
    """The first line, one text for each column and key, and what follows the last parenthesis."""
    first, body = statement.split("(\n  ", maxsplit=1)
    yield f"{first}("
    item = ""
    pieces = _PIECE.finditer(body)
    for piece in pieces:
        if piece[0] == "\n)":
            yield item
            yield body[piece.end() :]
            return
        if piece[0] == ",\n  ":
            yield item
            item = ""
        else:
            item += piece[0]


def first_rows(table: TableText, count: int) -> str:
    """The query for a table's first rows, in the order of the clustered index."""
    columns = ", ".join(
        _quoted(column.name)
        if _AS_IT_IS.match(column.type)
        else f"CAST({_quoted(column.name)} AS CHAR) AS {_quoted(column.name)}"
        for column in table.columns
    )
    # https://dev.mysql.com/doc/refman/9.7/en/index-hints.html: without indexes, the table itself is read.
    return f"SELECT {columns} FROM {_quoted(table.name)} USE INDEX () LIMIT {count}"  # noqa: S608 - quoted


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
