"""All that is known of PostgreSQL: sessions, connections, rows, the clock, which statements are queries."""

from dialects.enums import Dialect
from harness.engines.base import Engine
from harness.engines.postgresql.codes import class_of_error
from harness.engines.registry import Administration, EngineKind, SchemaReader
from harness.engines.repairs import Repairs
from loaders.server import Server


def _make(server: Server | None, *, pooled: bool) -> Engine:
    from harness.engines.postgresql.engine import PostgreSQLEngine  # noqa: PLC0415 - the driver is slow to import

    del pooled  # a server's connections always wait in its pool
    assert server is not None  # noqa: S101 - `has_server`
    return PostgreSQLEngine(server)


def _administration() -> Administration:
    from harness.engines.postgresql import engine  # noqa: PLC0415 - as above

    return engine


def _schema() -> SchemaReader:
    from harness.engines.postgresql import schema  # noqa: PLC0415 - for predictors alone

    return schema


def _repairs() -> Repairs:
    from harness.engines.postgresql.repairs import REPAIRS  # noqa: PLC0415 - where a gap is explained alone

    return REPAIRS


KIND = EngineKind(
    name="postgresql",
    title="PostgreSQL",
    dialect=Dialect.POSTGRESQL,
    rank=30,
    has_server=True,
    make=_make,
    administration=_administration,
    schema=_schema,
    class_of_error=class_of_error,
    repairs=_repairs,
    idioms=("::", "to_char(", "to_date(", "date_trunc(", "string_agg(", " ilike "),
    today="SELECT CAST(CAST(now() AT TIME ZONE 'UTC' AS date) AS text)",
    row_number="ctid",
    # https://www.postgresql.org/docs/current/errcodes-appendix.html
    coverage_reasons={
        "21000": "several_rows",
        "22007": "bad_value",
        "22008": "bad_value",
        "22P02": "bad_value",
        "42703": "bad_name",
        "42883": "bad_name",
        "42P01": "bad_name",
        "42601": "syntax",
    },
)
