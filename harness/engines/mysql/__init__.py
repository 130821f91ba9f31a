"""MySQL: its record, and the meaning of its errors."""

import re
from pathlib import Path

from dialects.enums import Dialect
from harness.engines import Administration, EngineKind, SchemaReader
from harness.engines.base import Engine
from harness.engines.errors import EditKind, ErrorClass, ErrorCode, ErrorTable, Repairs, Troubles
from loaders.server import Server

ERRORS = ErrorTable(
    {
        ErrorClass.SYNTAX: {
            "1064": ErrorCode("ER_PARSE_ERROR", "quote unescape requote function read_as respell", "syntax"),
            "1065": ErrorCode("ER_EMPTY_QUERY"),
            "1096": ErrorCode("ER_NO_TABLES_USED"),
            "1149": ErrorCode("ER_SYNTAX_ERROR"),
            "1193": ErrorCode("ER_UNKNOWN_SYSTEM_VARIABLE"),
            "1221": ErrorCode("ER_WRONG_USAGE"),
            "1222": ErrorCode("ER_WRONG_NUMBER_OF_COLUMNS_IN_SELECT"),
            "1235": ErrorCode("ER_NOT_SUPPORTED_YET"),
            "1241": ErrorCode("ER_OPERAND_COLUMNS"),
            "1248": ErrorCode("ER_DERIVED_MUST_HAVE_ALIAS"),
            "1273": ErrorCode("ER_UNKNOWN_COLLATION"),
            "1327": ErrorCode("ER_SP_UNDECLARED_VAR"),
            "3579": ErrorCode("ER_WINDOW_NO_SUCH_WINDOW"),
            # A function that MySQL does not have. It asks for the right to run it first.
            "1128": ErrorCode("ER_FUNCTION_NOT_DEFINED"),
            "1305": ErrorCode("ER_SP_DOES_NOT_EXIST", "function read_as", "bad_name"),
            "1370": ErrorCode("ER_PROCACCESS_DENIED_ERROR", "function read_as"),
            "1630": ErrorCode("ER_FUNC_INEXISTENT_NAME_COLLISION", "function read_as"),
            # A statement that does more than read.
            "1044": ErrorCode("ER_DBACCESS_DENIED_ERROR", "unqualify"),
            "1142": ErrorCode("ER_TABLEACCESS_DENIED_ERROR", "unqualify respell rename"),
            "1227": ErrorCode("ER_SPECIFIC_ACCESS_DENIED_ERROR"),
            "1792": ErrorCode("ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION"),
        },
        ErrorClass.UNKNOWN_TABLE: {
            "1051": ErrorCode("ER_BAD_TABLE_ERROR"),
            "1066": ErrorCode("ER_NONUNIQ_TABLE"),
            "1109": ErrorCode("ER_UNKNOWN_TABLE"),
            "1146": ErrorCode("ER_NO_SUCH_TABLE", "respell unqualify rename", "bad_name"),
        },
        ErrorClass.UNKNOWN_COLUMN: {
            "1052": ErrorCode("ER_NON_UNIQ_ERROR", "qualify"),
            "1054": ErrorCode("ER_BAD_FIELD_ERROR", "respell requote rename read_as", "bad_name"),
            "1060": ErrorCode("ER_DUP_FIELDNAME"),
        },
        ErrorClass.TYPE_ERROR: {
            "1210": ErrorCode("ER_WRONG_ARGUMENTS"),
            "1267": ErrorCode("ER_CANT_AGGREGATE_2COLLATIONS", "collate cast"),
            "1292": ErrorCode("ER_TRUNCATED_WRONG_VALUE", "cast read_as", "bad_value"),
            "1366": ErrorCode("ER_TRUNCATED_WRONG_VALUE_FOR_FIELD"),
            "1367": ErrorCode("ER_ILLEGAL_VALUE_FOR_TYPE"),
            "1411": ErrorCode("ER_WRONG_VALUE_FOR_TYPE", "cast read_as", "bad_value"),
            "1525": ErrorCode("ER_WRONG_VALUE", "cast read_as"),
            "1582": ErrorCode("ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT", "read_as"),
            "1583": ErrorCode("ER_WRONG_PARAMETERS_TO_NATIVE_FCT", "read_as"),
            "3141": ErrorCode("ER_INVALID_JSON_TEXT_IN_PARAM"),
            "3143": ErrorCode("ER_INVALID_JSON_PATH"),
        },
        ErrorClass.WRONG_AGGREGATION: {
            "1055": ErrorCode("ER_WRONG_FIELD_WITH_GROUP", "group"),
            "1056": ErrorCode("ER_WRONG_GROUP_FIELD"),
            "1111": ErrorCode("ER_INVALID_GROUP_FUNC_USE"),
            "1140": ErrorCode("ER_MIX_OF_GROUP_FUNC_AND_FIELDS", "group"),
            "1247": ErrorCode("ER_ILLEGAL_REFERENCE"),
            "3029": ErrorCode("ER_AGGREGATE_ORDER_NON_AGG_QUERY"),
            "3593": ErrorCode("ER_WINDOW_INVALID_WINDOW_FUNC_USE"),
        },
        ErrorClass.WRONG_ORDER: {"3065": ErrorCode("ER_FIELD_IN_ORDER_NOT_SELECT")},
        None: {"1242": ErrorCode("ER_SUBQUERY_NO_1_ROW", "first_row", "several_rows")},
    }
)
"""https://dev.mysql.com/doc/mysql-errors/9.7/en/server-error-reference.html"""


def _class_of_error(code: str | None, message: str) -> ErrorClass | None:
    if code == "1142" and message.startswith("SELECT"):
        # A table of another database: whether it exists is asked after the right to read it.
        return ErrorClass.UNKNOWN_TABLE
    return ERRORS.class_of(code)


def _near(message: str) -> str | None:
    return message.partition("syntax to use near '")[2].rpartition("' at line")[0] or None


REPAIRS = Repairs(
    of_error=ERRORS.edits_of,
    of_rows=(
        EditKind.CONCAT,
        EditKind.PRECISION,
        EditKind.DIVISION,
        EditKind.NULLS,
        EditKind.COLLATE,
        EditKind.REQUOTE,
    ),
    names=(
        re.compile(r"\A(?:Unknown column|Column) '([^']++)'"),
        re.compile(r"\ATable '([^']++)'"),
        re.compile(r"\A[A-Z]++ command denied to user [^\n]*? for table '([^'\n]++)'"),
    ),
    near=_near,
    functions={"len": "length", "nvl": "ifnull", "isnull": "ifnull", "strpos": "instr", "iif": "if"},
    casts=("CHAR", "DATE", "DATETIME", "SIGNED", "DOUBLE"),
    real="DOUBLE",
    collation="utf8mb4_0900_bin",
    divides_integers=False,
)

TROUBLES = Troubles(
    refused=re.compile("1044|1045|1049|1129|1130"),
    # ER_GET_ERRNO of a storage engine has the system's number for a full disk.
    full={"3": "", "1021": "", "1026": "", "1878": "", "1030": " 28 "},
    full_when_lost=re.compile("3|1021|1026|1878"),
    shared=re.compile("5|3044"),
)


def _make(server: Server | None, *, pooled: bool) -> Engine:
    from harness.engines.mysql.engine import MySQLEngine  # noqa: PLC0415 - the driver is slow to import

    del pooled  # a server's connections always wait in its pool
    assert server is not None  # noqa: S101 - `has_server`
    return MySQLEngine(server)


def _administration() -> Administration:
    from harness.engines.mysql import connections  # noqa: PLC0415 - as above

    return connections


def _schema() -> SchemaReader:
    from harness.engines.mysql import engine  # noqa: PLC0415 - for predictors alone

    return engine


KIND = EngineKind(
    name="mysql",
    title="MySQL",
    dialect=Dialect.MYSQL,
    rank=20,
    has_server=True,
    make=_make,
    administration=_administration,
    schema=_schema,
    class_of_error=_class_of_error,
    coverage_reasons=ERRORS.reasons,
    troubles=TROUBLES,
    requires={
        "lower_case_table_names": (
            frozenset({"1", "2"}),
            (
                "table names in other letters than the loader's are unknown there. It is chosen when a data"
                " folder is initialised: lower_case_table_names = 1 below [mysqld]"
            ),
        ),
    },
    repairs=REPAIRS,
    idioms=("date_format(", "str_to_date(", "timestampdiff(", "curdate(", "`"),
    today="SELECT CAST(UTC_DATE() AS CHAR)",
    quote="`",
    ignores_case=True,
    example=Path(__file__).with_name("example.j2"),
    escapes_by_backslash=True,
)
