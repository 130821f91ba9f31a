"""PostgreSQL's tables: the CREATE TABLE statement that the server itself has none for, from its catalogs.

All of its words are the server's own functions' (`format_type`, `quote_ident`, `pg_get_expr`,
`pg_get_constraintdef`), so that the statement makes the same columns and keys on an empty database, after the
tables that it refers to. Left out are names of constraints, indexes that are no key, comments and options.
https://www.postgresql.org/docs/current/functions-info.html
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby

from dialects.enums import Dialect
from dialects.identifiers import quoted, table_name
from harness.engines.base import ColumnText, Row, TableText
from loaders.namespace import Database
from loaders.source import DeclaredTable

_AS_IT_IS = frozenset(
    {"bigint", "integer", "smallint", "real", "double precision", "boolean", "text", "bytea"}
)
"""Types whose values the driver returns as plain numbers, texts and bytes."""

_COLUMNS = """
SELECT c.relname::text, a.attname::text, format_type(a.atttypid, a.atttypmod),
    quote_ident(c.relname), quote_ident(a.attname),
    CASE WHEN a.attcollation <> t.typcollation THEN
        (SELECT quote_ident(collname) FROM pg_collation WHERE oid = a.attcollation) END,
    pg_get_expr(d.adbin, d.adrelid), a.attgenerated::text, a.attnotnull
FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid JOIN pg_type AS t ON t.oid = a.atttypid
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
    LEFT JOIN pg_attrdef AS d ON d.adrelid = c.oid AND d.adnum = a.attnum
WHERE n.nspname = {schema} AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY c.relname, a.attnum
"""
_CONSTRAINTS = """
SELECT c.relname::text, k.contype::text, pg_get_constraintdef(k.oid), p.relname::text,
    ARRAY(SELECT a.attname::text FROM unnest(k.conkey) WITH ORDINALITY AS u (number, place)
        JOIN pg_attribute AS a ON a.attrelid = k.conrelid AND a.attnum = u.number ORDER BY u.place),
    ARRAY(SELECT a.attname::text FROM unnest(k.confkey) WITH ORDINALITY AS u (number, place)
        JOIN pg_attribute AS a ON a.attrelid = k.confrelid AND a.attnum = u.number ORDER BY u.place)
FROM pg_constraint AS k JOIN pg_class AS c ON c.oid = k.conrelid
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
    LEFT JOIN pg_class AS p ON p.oid = k.confrelid
WHERE n.nspname = {schema} AND k.contype IN ('p', 'u', 'c', 'f', 'x')
ORDER BY c.relname, position(k.contype IN 'pucxf'), k.conkey, k.conname
"""


def version(run: Callable[[str], list[Row]]) -> str:
    """Major version of the server."""
    [[text]] = run("SHOW server_version")
    return str(text).split(".")[0].split()[0]


def tables(
    run: Callable[[str], list[Row]], database: Database, declared: Sequence[DeclaredTable]
) -> list[TableText]:
    """Those of the declared tables that are there, in their order."""
    names = [table_name(table.name, Dialect.POSTGRESQL) for table in declared]
    schema = "'" + database.postgresql_schema.replace("'", "''") + "'"
    columns = _by_table(run(_COLUMNS.format(schema=schema)))
    constraints = _by_table(run(_CONSTRAINTS.format(schema=schema)))
    return [
        _table(name, columns[name], [row for row in constraints.get(name, ()) if row[3] in {None, *names}])
        for name in names
        if name in columns
    ]


def _by_table(rows: Sequence[Row]) -> Mapping[str, Sequence[Row]]:
    return {str(name): list(group) for name, group in groupby(rows, key=lambda row: row[0])}


def _table(name: str, columns: Sequence[Row], constraints: Sequence[Row]) -> TableText:
    lines = [_column(row) for row in columns] + [str(definition) for _, _, definition, *_ in constraints]
    return TableText(
        name,
        f"CREATE TABLE {columns[0][3]} (\n    " + ",\n    ".join(lines) + "\n)",
        tuple(ColumnText(str(row[1]), str(row[2])) for row in columns),
        next((_names(row[4]) for row in constraints if row[1] == "p"), ()),
        tuple((_names(row[4]), str(row[3]), _names(row[5])) for row in constraints if row[1] == "f"),
    )


def _names(array: object) -> tuple[str, ...]:
    return tuple(map(str, array)) if isinstance(array, list) else ()


def _column(row: Row) -> str:
    _, _, kind, _, name, collation, expression, generated, not_null = row
    words = [f"{name} {kind}"]
    if collation is not None:
        words.append(f"COLLATE {collation}")
    if generated:
        words.append(f"GENERATED ALWAYS AS ({expression}) {'STORED' if generated == 's' else 'VIRTUAL'}")
    elif expression is not None:
        words.append(f"DEFAULT {expression}")
    if not_null:
        words.append("NOT NULL")
    return " ".join(words)


def first_rows(table: TableText, count: int) -> str:
    """The query for a table's first rows, by their place: a scan may begin anywhere, beside another one."""
    columns = ", ".join(
        f"{quoted(column.name)}{'' if column.type in _AS_IT_IS else '::text'}" for column in table.columns
    )
    return f"SELECT {columns} FROM {quoted(table.name)} ORDER BY ctid LIMIT {count}"  # noqa: S608 - quoted
