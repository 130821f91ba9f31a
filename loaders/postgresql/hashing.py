"""PostgreSQL's spelling of the forms in which values are hashed: the server makes every hash and every sum.

float8send and float4send give the bits of a number; sha256 is there from version 11 on.
https://www.postgresql.org/docs/current/functions-binarystring.html
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from dialects.identifiers import quoted
from loaders.namespace import Database
from loaders.postgresql.session import MAINTENANCE, connected
from loaders.server import Server
from loaders.verify.forms import NULL, SUMMAND, ValueForm
from loaders.verify.sides import Ask, ComparedColumn

BARRIER = " OFFSET 0"

_ARGUMENTS = 90
"""A function takes 100. https://www.postgresql.org/docs/current/runtime-config-preset.html."""

_JOINED = "concat_ws(',', "
_HEADS = {
    ValueForm.INTEGER: "{0}::text",
    ValueForm.DOUBLE: "encode(float8send({0}::float8), 'hex')",
    ValueForm.SINGLE: "encode(float4send({0}::real), 'hex')",
    ValueForm.TEXT: "octet_length({0}::text)::text",
    ValueForm.LONG_TEXT: "encode(sha256(convert_to({0}::text, 'UTF8')), 'hex')",
    ValueForm.BLOB: "encode(sha256({0}), 'hex')",
    ValueForm.DAY: "{0}::text",
    ValueForm.MOMENT: "({0}::timestamptz AT TIME ZONE 'UTC')::text",
}


@contextmanager
def asking(server: Server, database: Database) -> Iterator[Ask]:
    """See `HashSyntax.asking`. All that is asked is asked of one state of the tables."""
    with connected(server, database.postgresql_database) as connection:
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        connection.execute("SET LOCAL DateStyle = 'ISO, YMD'")
        connection.execute("SET LOCAL TimeZone = 'UTC'")
        connection.execute("SET LOCAL extra_float_digits = 1")

        def ask(query: str) -> list[tuple[Any, ...]]:
            return connection.execute(query.encode()).fetchall()

        yield ask


def standing(server: Server, database: Database) -> Mapping[str, Mapping[str, str]]:
    """See `HashSyntax.standing`."""
    with connected(server, MAINTENANCE) as connection:
        name = [database.postgresql_database]
        if not connection.execute("SELECT FROM pg_database WHERE datname = %s", name).rowcount:
            return {}
    found: dict[str, dict[str, str]] = {}
    with connected(server, database.postgresql_database) as connection:
        rows = connection.execute(
            "SELECT relname, attname, format_type(atttypid, atttypmod)"
            " FROM pg_class JOIN pg_namespace ON relnamespace = pg_namespace.oid"
            " LEFT JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped"
            " WHERE nspname = %s AND relkind IN ('r', 'p', 'v', 'm', 'f') ORDER BY relname, attnum",
            [database.postgresql_schema],
        )
        for table, column, kind in rows:
            found.setdefault(table, {})
            if column is not None:
                found[table][column] = kind
    return found


def table(database: Database, name: str) -> str:
    """See `HashSyntax.table`."""
    return f"{quoted(database.postgresql_schema)}.{quoted(name)}"


def hashed(columns: Sequence[ComparedColumn]) -> str:
    """See `HashSyntax.hashed`."""
    heads = [f"coalesce({_HEADS[column.form].format(column.target)}, '{NULL}')" for column in columns]
    texts = [f"{column.target}::text" for column in columns if column.form is ValueForm.TEXT]
    body = ", " + _nested("concat(", texts) if texts else ""
    row = f"concat({_nested(_JOINED, heads)}, '|'{body})"
    return f"encode(sha256(convert_to({row}, 'UTF8')), 'hex')"


def summand(hashed: str) -> str:
    """See `HashSyntax.summand`."""
    return f"('x' || left({hashed}, {SUMMAND}))::bit({4 * SUMMAND})::bigint"


def shown(column: ComparedColumn) -> str:
    """See `HashSyntax.shown`."""
    text = (
        f"{column.target}::float8::text"
        if column.form in {ValueForm.DOUBLE, ValueForm.SINGLE}
        else f"{column.target}::text"
    )
    return (
        f"CASE WHEN char_length({text}) > 80 THEN concat(left({text}, 40), '...', right({text}, 20),"
        f" ' (', char_length({text}), ' characters)') ELSE {text} END"
    )


def _nested(call: str, values: Sequence[str]) -> str:
    """A call of a function that takes any number of values, by calls with few each."""
    if len(values) > _ARGUMENTS:
        starts = range(0, len(values), _ARGUMENTS)
        return _nested(call, [_nested(call, values[start : start + _ARGUMENTS]) for start in starts])
    return f"{call}{', '.join(values)})"
