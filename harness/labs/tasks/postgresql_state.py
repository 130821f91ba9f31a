"""The state of a database on PostgreSQL: its schema, and the rows of tables that may have been written."""

import hashlib
from collections.abc import Collection, Mapping
from typing import Any

import psycopg
from psycopg import sql

from harness.labs.tasks.engine import UNTOUCHED, State

EXACT_SINCE = 150000
"""Since this version statistics are in shared memory, and a database can be copied by its files."""

_POSTGRESQL_SCHEMA = """
SELECT 'column ' || n.nspname || '.' || c.relname || '.' || a.attname,
       concat_ws(' ', format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity,
       a.attgenerated, pg_get_expr(d.adbin, d.adrelid))
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND {own}
UNION ALL
SELECT 'constraint ' || n.nspname || '.' || c.relname || '.' || o.conname, pg_get_constraintdef(o.oid)
FROM pg_constraint o JOIN pg_class c ON c.oid = o.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE o.contype <> 'n' AND {own}
UNION ALL
SELECT 'index ' || n.nspname || '.' || c.relname, pg_get_indexdef(c.oid)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('i', 'I') AND {own}
UNION ALL
SELECT 'view ' || n.nspname || '.' || c.relname,
       concat(c.relkind, CASE WHEN NOT c.relispopulated THEN ' no data' END, pg_get_viewdef(c.oid))
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('v', 'm') AND {own}
UNION ALL
SELECT 'trigger ' || n.nspname || '.' || c.relname || '.' || t.tgname,
       concat(pg_get_triggerdef(t.oid), t.tgenabled)
FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE NOT t.tgisinternal AND {own}
UNION ALL
SELECT concat('function ', n.nspname, '.', p.proname, '(', pg_get_function_identity_arguments(p.oid), ')'),
       concat(p.prokind, pg_get_function_result(p.oid), p.prosrc)
FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
WHERE p.prokind <> 'a' AND {own}
      AND NOT EXISTS (SELECT FROM pg_depend e WHERE e.objid = p.oid AND e.deptype = 'e')
UNION ALL
SELECT 'type ' || n.nspname || '.' || t.typname, string_agg(e.enumlabel, ',' ORDER BY e.enumsortorder)
FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace JOIN pg_enum e ON e.enumtypid = t.oid
WHERE {own} GROUP BY n.nspname, t.typname
UNION ALL
SELECT 'schema ' || n.nspname, '' FROM pg_namespace n WHERE {own}
UNION ALL
SELECT 'policy ' || n.nspname || '.' || c.relname || '.' || p.polname,
       concat(p.polcmd, pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid))
FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE {own}
"""

_OWN = "n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\\_%'"

_TABLES = f"""
SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'm') AND c.relispopulated AND {_OWN}
"""  # noqa: S608 - a constant


_ENTRIES = _POSTGRESQL_SCHEMA.replace("{own}", _OWN).encode()


_MADE = f"""
SELECT format('rows %s.%s', n.nspname, c.relname),
       concat_ws(' ', c.oid, pg_relation_filenode(c.oid), c.relnatts, (SELECT string_agg(a.xmin::text, ' '
       ORDER BY a.attnum) FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0))
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'm') AND {_OWN}
"""  # noqa: S608 - a constant
"""What has changed if a table was made, filled or emptied anew, or its columns were changed."""

_TYPES_MADE = """
SELECT concat_ws(' ', (SELECT concat_ws(' ', count(*), sum(e.xmin::text::bigint)) FROM pg_enum e), count(*),
       sum(a.xmin::text::bigint))
FROM pg_attribute a WHERE a.attrelid IN (SELECT t.typrelid FROM pg_type t JOIN pg_attribute u
     ON u.atttypid IN (t.oid, t.typarray) WHERE t.typtype = 'c')
"""
"""What has changed if values of enumerations or composite types may be written otherwise."""

_TOUCHED = (
    "SELECT format('rows %s.%s', schemaname, relname) FROM pg_stat_user_tables"
    " WHERE n_tup_ins + n_tup_upd + n_tup_del > 0"
)

_PLAIN_SETTINGS = (
    *(
        "search_path = pg_catalog, pg_temp",
        "statement_timeout = 0",
        "row_security = off",
        "datestyle = 'ISO, MDY'",
    ),
    *("timezone = 'UTC'", "intervalstyle = postgres", "extra_float_digits = 1", "bytea_output = hex"),
    "lc_monetary = 'C'",
)
"""What a text has set for the session decides nothing; a temporary table hides no catalog."""


def tables_made(connection: psycopg.Connection[Any]) -> Mapping[str, object]:
    """Return what shows for each table that it is still the same, by the name of its rows' entry."""
    [(types,)] = connection.execute(_TYPES_MADE.encode()).fetchall()
    return {name: (text, types) for name, text in connection.execute(_MADE.encode()).fetchall()}


def _untouched(connection: psycopg.Connection[Any], made: Mapping[str, object]) -> set[str]:
    """Return the entries of tables that are the same as when `made` was found, and were never written."""
    written = {name for (name,) in connection.execute(_TOUCHED.encode()).fetchall()}
    now = tables_made(connection)
    return {name for name, text in now.items() if made.get(name) == text and name not in written}


def postgresql_state(
    connection: psycopg.Connection[Any],
    made: Mapping[str, object] | None = None,
    wanted: Collection[str] = (),
) -> State:
    """Return the state of a database; the next number of a sequence is no part of it.

    Args:
        connection: to the database.
        made: what `tables_made` returned before anything was written; None if nobody knows.
        wanted: names of entries that get their digest even if they are untouched.
    """
    is_known = bool(made) and connection.info.server_version >= EXACT_SINCE
    if is_known:
        # The statistics of this session are sent when this statement has ended.
        connection.execute("SELECT pg_catalog.pg_stat_force_next_flush()")
        connection.commit()
    with connection.transaction():
        for setting in _PLAIN_SETTINGS:
            connection.execute(f"SET LOCAL {setting}".encode())
        untouched = (
            {name for name in _untouched(connection, made) if name not in wanted}
            if made and is_known
            else set()
        )
        found = {name: value or "" for name, value in connection.execute(_ENTRIES).fetchall()}
        for schema, name in connection.execute(_TABLES.encode()).fetchall():
            if f"rows {schema}.{name}" in untouched:
                continue
            query = sql.SQL("SELECT count(*), sum(hashtextextended(t::text, 0)::numeric) FROM {} t").format(
                sql.Identifier(schema, name)
            )
            found[f"rows {schema}.{name}"] = repr(connection.execute(query).fetchone())
    digests = {name: hashlib.sha256(value.encode()).hexdigest() for name, value in found.items()}
    return digests | dict.fromkeys(untouched, UNTOUCHED)
