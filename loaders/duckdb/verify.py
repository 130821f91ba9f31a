"""What verification knows about DuckDB: its types, and its SQL for hashes."""

from loaders.verify.forms import SUMMAND, ValueForm
from loaders.verify.sides import HEAD, HashSql
from loaders.verify.tables import ColumnContents, Storage

STORAGE = Storage(
    faithful={
        ColumnContents.INTEGERS: ("BIGINT", ValueForm.INTEGER),
        ColumnContents.REALS: ("DOUBLE", ValueForm.DOUBLE),
        ColumnContents.TEXTS: ("VARCHAR", ValueForm.TEXT),
        ColumnContents.BLOBS: ("BLOB", ValueForm.BLOB),
    },
    official={
        ColumnContents.REALS: ("FLOAT", ValueForm.SINGLE),
        ColumnContents.DAYS: ("DATE", ValueForm.DAY),
        ColumnContents.MOMENTS: ("TIMESTAMP WITH TIME ZONE", ValueForm.MOMENT),
    },
)

# https://duckdb.org/docs/stable/sql/functions/overview
HASHES = HashSql(
    begin=("BEGIN TRANSACTION", "SET TimeZone = 'UTC'"),
    database="SELECT ?",  # a missing file is opened as one without tables
    columns="SELECT table_name, column_name, data_type FROM duckdb_columns()"
    " WHERE NOT internal AND database_name = ? ORDER BY table_name, column_index",
    heads={
        ValueForm.INTEGER: "{0}::VARCHAR",
        ValueForm.DOUBLE: "lpad(lower(to_hex({0}::DOUBLE::BIT::UBIGINT)), 16, '0')",
        ValueForm.SINGLE: "lpad(lower(to_hex({0}::REAL::BIT::UINTEGER)), 8, '0')",
        ValueForm.TEXT: "octet_length(encode({0}::VARCHAR))::VARCHAR",
        ValueForm.LONG_TEXT: "sha256({0}::VARCHAR)",
        ValueForm.BLOB: "sha256({0})",
        ValueForm.DAY: "{0}::VARCHAR",
        ValueForm.MOMENT: "({0}::TIMESTAMPTZ AT TIME ZONE 'UTC')::VARCHAR",
    },
    text="{0}::VARCHAR",
    converted="{0}",
    sha="sha256({0})",
    summand=f"('0x' || left({{0}}, {SUMMAND}))::BIGINT",
    shown={
        **dict.fromkeys(ValueForm, "{0}::VARCHAR"),
        ValueForm.SINGLE: "{0}::DOUBLE::VARCHAR",
    },
    short={ValueForm.BLOB: f"'0x' || lower(left(hex({{0}}), {2 * HEAD}))"},
)
