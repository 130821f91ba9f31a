"""Statistics of a table that another load of the same rows comes to as well, so that plans stay the same.

ANALYZE looks at 300 rows for each unit of the statistics target, by default at 30,000, which it draws by lot.
A larger target of the columns would make it look at more, and the planner slower, for it keeps as many
values. An object of extended statistics has a target of its own that decides alike how many rows are looked
at: it is made for the while. So the statistics of the columns have their usual size, and are of all rows.

https://www.postgresql.org/docs/current/sql-alterstatistics.html
"""

from typing import Any

from psycopg import Connection

from dialects.identifiers import quoted
from loaders.postgresql.session import run

_BY_DEFAULT = 30_000
"""Rows that are looked at anyway."""
_ROWS_OF_ONE = 300
_MOST = 10_000
"""The largest target: 3,000,000 rows. Of larger tables so many are drawn by lot."""


def analyze(connection: Connection[Any], schema: str, table: str) -> None:
    """Gather the statistics of a table, over all of its rows.

    Args:
        connection: of the administrating account, in a transaction.
        schema: where the table stands.
        table: its name.
    """
    name = f"{quoted(schema)}.{quoted(table)}"
    [rows] = connection.execute(f"SELECT count(*) FROM {name}".encode()).fetchone() or (0,)  # noqa: S608 - quoted
    if rows <= _BY_DEFAULT:
        run(connection, f"ANALYZE {name}")
        return
    [first] = connection.execute(
        "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped"
        " ORDER BY attnum LIMIT 1",
        [name],
    ).fetchone() or (None,)
    statistics = f"{quoted(schema)}.bird_all_rows"
    run(connection, f"CREATE STATISTICS {statistics} ON ({quoted(str(first))} IS NULL) FROM {name}")
    target = min(_MOST, -(-rows // _ROWS_OF_ONE))
    run(connection, f"ALTER STATISTICS {statistics} SET STATISTICS {target}")
    run(connection, f"ANALYZE {name}")
    run(connection, f"DROP STATISTICS {statistics}")
