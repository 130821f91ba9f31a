"""What verification knows about PostgreSQL: its types and names, and its SQL for hashes."""

import re

from loaders.verify.forms import SUMMAND, ValueForm
from loaders.verify.sides import HashSql
from loaders.verify.tables import ColumnContents, Storage

_PLAIN_NAME = re.compile("[A-Za-z_][A-Za-z0-9_$]*")


def _folded(name: str) -> str:
    return name.lower() if _PLAIN_NAME.fullmatch(name) else name


STORAGE = Storage(
    faithful={
        ColumnContents.INTEGERS: ("bigint", ValueForm.INTEGER),
        ColumnContents.REALS: ("double precision", ValueForm.DOUBLE),
        ColumnContents.TEXTS: ("text", ValueForm.TEXT),
        ColumnContents.BLOBS: ("bytea", ValueForm.BLOB),
    },
    official={
        ColumnContents.REALS: ("real", ValueForm.SINGLE),
        ColumnContents.DAYS: ("date", ValueForm.DAY),
        ColumnContents.MOMENTS: ("timestamp with time zone", ValueForm.MOMENT),
    },
    table=_folded,
    column=_folded,
)

# https://www.postgresql.org/docs/current/functions-binarystring.html; sha256 is there from version 11 on.
HASHES = HashSql(
    begin=(
        "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY",
        "SET LOCAL DateStyle = 'ISO, YMD'",
        "SET LOCAL TimeZone = 'UTC'",
        "SET LOCAL extra_float_digits = 1",
    ),
    database="SELECT 1 FROM pg_database WHERE datname = %s",
    columns="SELECT relname, attname, format_type(atttypid, atttypmod)"
    " FROM pg_class JOIN pg_namespace ON relnamespace = pg_namespace.oid"
    " LEFT JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped"
    " WHERE nspname = %s AND relkind IN ('r', 'p', 'v', 'm', 'f') ORDER BY relname, attnum",
    heads={
        ValueForm.INTEGER: "{0}::text",
        ValueForm.DOUBLE: "encode(float8send({0}::float8), 'hex')",
        ValueForm.SINGLE: "encode(float4send({0}::real), 'hex')",
        ValueForm.TEXT: "octet_length({0}::text)::text",
        ValueForm.LONG_TEXT: "encode(sha256(convert_to({0}::text, 'UTF8')), 'hex')",
        ValueForm.BLOB: "encode(sha256({0}), 'hex')",
        ValueForm.DAY: "{0}::text",
        ValueForm.MOMENT: "({0}::timestamptz AT TIME ZONE 'UTC')::text",
    },
    text="{0}::text",
    converted="{0}",
    sha="encode(sha256(convert_to({0}, 'UTF8')), 'hex')",
    summand=f"('x' || left({{0}}, {SUMMAND}))::bit({4 * SUMMAND})::bigint",
    shown={
        **dict.fromkeys(ValueForm, "{0}::text"),
        ValueForm.DOUBLE: "{0}::float8::text",
        ValueForm.SINGLE: "{0}::float8::text",
    },
    short={},
    barrier=" OFFSET 0",
)
