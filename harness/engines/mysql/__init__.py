"""All that is known of MySQL: sessions, connections, error codes, the clock, which statements are queries."""

from dialects.enums import Dialect
from harness.engines.base import Engine
from harness.engines.mysql.codes import class_of_error
from harness.engines.registry import Administration, EngineKind, SchemaReader
from harness.engines.repairs import Repairs
from loaders.server import Server


def _make(server: Server | None, *, pooled: bool) -> Engine:
    from harness.engines.mysql.engine import MySQLEngine  # noqa: PLC0415 - the driver takes a tenth of a second

    del pooled  # a server's connections always wait in its pool
    assert server is not None  # noqa: S101 - `has_server`
    return MySQLEngine(server)


def _administration() -> Administration:
    from harness.engines.mysql import accounts  # noqa: PLC0415 - as above

    return accounts


def _schema() -> SchemaReader:
    from harness.engines.mysql import schema  # noqa: PLC0415 - for predictors alone

    return schema


def _repairs() -> Repairs:
    from harness.engines.mysql.repairs import REPAIRS  # noqa: PLC0415 - where a gap is explained alone

    return REPAIRS


KIND = EngineKind(
    name="mysql",
    title="MySQL",
    dialect=Dialect.MYSQL,
    rank=20,
    has_server=True,
    make=_make,
    administration=_administration,
    schema=_schema,
    class_of_error=class_of_error,
    repairs=_repairs,
    idioms=("date_format(", "str_to_date(", "timestampdiff(", "curdate(", "`"),
    today="SELECT CAST(UTC_DATE() AS CHAR)",
    quote="`",
    ignores_case=True,
    # https://dev.mysql.com/doc/mysql-errors/9.7/en/server-error-reference.html
    coverage_reasons={
        "1242": "several_rows",
        "1292": "bad_value",
        "1411": "bad_value",
        "1054": "bad_name",
        "1146": "bad_name",
        "1305": "bad_name",
        "1064": "syntax",
    },
)
