"""MariaDB: its record. What is not said here is as for MySQL."""

import re
from dataclasses import replace
from pathlib import Path

from dialects.enums import Dialect
from harness.engines import Administration
from harness.engines.base import Engine
from harness.engines.errors import ErrorClass, ErrorCode, ErrorTable
from harness.engines.mysql import KIND as MYSQL
from harness.engines.mysql import REPAIRS
from loaders.server import Server

ERRORS = ErrorTable(
    {
        ErrorClass.SYNTAX: {
            "4002": ErrorCode("ER_WITH_COL_WRONG_LIST"),
            "4004": ErrorCode("ER_DUP_QUERY_NAME"),
            "4009": ErrorCode("ER_WRONG_WINDOW_SPEC_NAME"),
            "4018": ErrorCode("ER_NO_ORDER_LIST_IN_WINDOW_SPEC"),
            "4099": ErrorCode("ER_WRONG_NUMBER_OF_VALUES_IN_TVC"),
        },
        ErrorClass.TYPE_ERROR: {
            "4021": ErrorCode("ER_WRONG_TYPE_FOR_RANGE_FRAME"),
            "4078": ErrorCode("ER_ILLEGAL_PARAMETER_DATA_TYPES2_FOR_OPERATION"),
            "4079": ErrorCode("ER_ILLEGAL_PARAMETER_DATA_TYPE_FOR_OPERATION"),
        },
        ErrorClass.WRONG_AGGREGATION: {
            "4015": ErrorCode("ER_WRONG_PLACEMENT_OF_WINDOW_FUNCTION"),
            "4074": ErrorCode("ER_SUM_FUNC_WITH_WINDOW_FUNC_AS_ARG"),
        },
    }
)
"""What MySQL does not have: https://mariadb.com/kb/en/mariadb-error-codes/."""


def _class_of_error(code: str | None, message: str) -> ErrorClass | None:
    return ERRORS.class_of(code) or MYSQL.class_of_error(code, message)


def _make(server: Server | None, *, pooled: bool) -> Engine:
    from harness.engines.mariadb.engine import MariaDBEngine  # noqa: PLC0415 - the driver is slow to import

    del pooled  # a server's connections always wait in its pool
    assert server is not None  # noqa: S101 - `has_server`
    return MariaDBEngine(server)


def _administration() -> Administration:
    from harness.engines.mariadb import connections  # noqa: PLC0415 - as above

    return connections


KIND = replace(
    MYSQL,
    name="mariadb",
    title="MariaDB",
    dialect=Dialect.MARIADB,
    rank=50,
    by_default=False,
    make=_make,
    class_of_error=_class_of_error,
    administration=_administration,
    repairs=replace(
        REPAIRS, names=(*REPAIRS.names, re.compile(r"\AFUNCTION (?:\w+\.)?(\w+) does not exist"))
    ),
    example=Path(__file__).with_name("example.j2"),
)
