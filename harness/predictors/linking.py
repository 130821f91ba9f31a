"""Which tables and columns a draft of a query names.

A name is looked up in the schema without case and quotes. A column without a table before it is that of every
table of the query that has one of its name; `*` is every column of its table. What the schema does not have
is nobody's: in SQLite and MySQL a text in double quotes looks like a name.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from dialects.enums import Dialect
from dialects.targets import SQLGLOT
from harness.engines import dialect_of
from harness.engines.base import TableText
from harness.predictors.base import DatabaseText

_LONGEST = 20_000
"""Characters of a draft that is read."""


class UnreadableDraft(Exception):
    """A draft from which nothing can be taken; `reason` is a short phrase."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def linked_columns(sql: str, database: DatabaseText) -> Mapping[str, frozenset[str]]:
    """The columns that a draft names, by table.

    Added are the columns by which tables of the draft refer to each other, and all columns of a table of
    which the draft names none.

    Raises:
        Unreadable: it is no query, cannot be parsed, or names no table of the schema.
    """
    queries = _parsed(sql, dialect_of(database.dialect))
    aliases = _aliases(queries, {table.name.casefold(): table for table in database.tables})
    named = {table.name: table for tables in aliases.values() for table in tables}
    if not named:
        raise UnreadableDraft("the draft names no table of the database")
    found: dict[str, set[str]] = {name: set() for name in named}
    for column in (column for query in queries for column in query.find_all(exp.Column)):
        before = column.table.casefold()
        for table in aliases.get(before, ()) if before else named.values():
            found[table.name].update(_columns(table, column))
    for select in (select for query in queries for select in query.find_all(exp.Select)):
        if any(isinstance(each, exp.Star) for each in select.expressions):
            for table in named.values():
                found[table.name].update(column.name for column in table.columns)
    return _completed(database, found)


def _parsed(sql: str, dialect: Dialect) -> list[exp.Query]:
    if len(sql) > _LONGEST:
        raise UnreadableDraft(f"the draft is longer than {_LONGEST:,} characters")
    try:
        trees = [tree for tree in sqlglot.parse(sql, read=SQLGLOT[dialect]) if tree is not None]
    except (SqlglotError, RecursionError, ValueError) as error:
        raise UnreadableDraft("the draft cannot be read as SQL") from error
    queries = [tree for tree in trees if isinstance(tree, exp.Query)]
    if not queries or len(queries) < len(trees):
        raise UnreadableDraft("the draft is no query")
    return queries


def _aliases(queries: list[exp.Query], tables: Mapping[str, TableText]) -> Mapping[str, list[TableText]]:
    """The tables that a name before a column may mean: several if subqueries give them one alias."""
    aliases: dict[str, list[TableText]] = {}
    for node in (node for query in queries for node in query.find_all(exp.Table)):
        table = tables.get(node.name.casefold())
        if table is not None:
            for alias in {table.name.casefold(), node.alias_or_name.casefold()}:
                if table not in aliases.setdefault(alias, []):
                    aliases[alias].append(table)
    return aliases


def _columns(table: TableText, named: exp.Column) -> Iterator[str]:
    name = named.name.casefold()
    return (column.name for column in table.columns if named.is_star or column.name.casefold() == name)


def _completed(database: DatabaseText, found: Mapping[str, set[str]]) -> Mapping[str, frozenset[str]]:
    """With the columns by which tables refer to each other, and the whole of a table instead of nothing."""
    complete = {
        table.name: found[table.name] or {column.name for column in table.columns}
        for table in database.tables
        if table.name in found
    }
    for table in database.tables:
        for columns, parent, there in table.foreign_keys:
            if table.name in complete and parent in complete and parent != table.name:
                complete[table.name] |= set(columns)
                complete[parent] |= set(there)
    return {name: frozenset(columns) for name, columns in complete.items()}


def narrowed(database: DatabaseText, linked: Mapping[str, frozenset[str]]) -> DatabaseText:
    """The schema with these tables and these of their columns alone.

    A table keeps its whole statement, and those foreign keys that lie within what is kept.
    """
    return replace(
        database,
        tables=tuple(_narrowed(table, linked) for table in database.tables if linked.get(table.name)),
    )


def _narrowed(table: TableText, linked: Mapping[str, frozenset[str]]) -> TableText:
    kept = [place for place, column in enumerate(table.columns) if column.name in linked[table.name]]
    return replace(
        table,
        columns=tuple(table.columns[place] for place in kept),
        rows=tuple(tuple(row[place] for place in kept) for row in table.rows),
        foreign_keys=tuple(
            key
            for key in table.foreign_keys
            if linked[table.name].issuperset(key[0]) and linked.get(key[1], frozenset()).issuperset(key[2])
        ),
    )
