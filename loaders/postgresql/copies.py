"""PostgreSQL's statements for the keys and indexes of copies (`loaders.index_copies`)."""

from loaders.index_copies import IndexSql

SQL = IndexSql(
    lock=f"SELECT pg_try_advisory_lock({int.from_bytes(b'birdstud')})",
    databases="SELECT datname FROM pg_database",
    add="CREATE INDEX {name} ON {table} {columns}",
    drop="DROP INDEX {schema}.{name}",
    keyed="SELECT relname, conname FROM pg_constraint JOIN pg_class ON conrelid = pg_class.oid"
    " JOIN pg_namespace ON relnamespace = pg_namespace.oid WHERE contype = 'p' AND nspname = %(place)s",
    # The columns stay NOT NULL, as declared.
    drop_key=("ALTER TABLE {table} DROP CONSTRAINT {name}",),
    # https://www.postgresql.org/docs/current/functions-admin.html#FUNCTIONS-ADMIN-DBSIZE
    sizes="SELECT tables.relname, indexes.relname, pg_relation_size(indexes.oid)"
    " FROM pg_index JOIN pg_class AS tables ON indrelid = tables.oid"
    " JOIN pg_class AS indexes ON indexrelid = indexes.oid"
    " JOIN pg_namespace ON tables.relnamespace = pg_namespace.oid"
    " WHERE nspname = %(place)s AND tables.relkind = 'r'"
    " UNION SELECT relname, '', pg_table_size(pg_class.oid) FROM pg_class"
    " JOIN pg_namespace ON relnamespace = pg_namespace.oid"
    " WHERE nspname = %(place)s AND relkind = 'r'",
)
