"""What MySQL's error numbers say of a statement.

An error that depends on the rows (a division by zero, a subquery with several rows) is in no class: there the
text of the query says more.
"""

from collections.abc import Mapping

from harness.engines.error_classes import ErrorClass

NUMBERS: Mapping[ErrorClass, Mapping[int, str]] = {
    ErrorClass.SYNTAX: {
        1064: "ER_PARSE_ERROR",
        1065: "ER_EMPTY_QUERY",
        1096: "ER_NO_TABLES_USED",
        1149: "ER_SYNTAX_ERROR",
        1193: "ER_UNKNOWN_SYSTEM_VARIABLE",
        1221: "ER_WRONG_USAGE",
        1222: "ER_WRONG_NUMBER_OF_COLUMNS_IN_SELECT",
        1235: "ER_NOT_SUPPORTED_YET",
        1241: "ER_OPERAND_COLUMNS",
        1248: "ER_DERIVED_MUST_HAVE_ALIAS",
        1273: "ER_UNKNOWN_COLLATION",
        1327: "ER_SP_UNDECLARED_VAR",
        3579: "ER_WINDOW_NO_SUCH_WINDOW",
        # A function that MySQL does not have. It asks for the right to run it first.
        1128: "ER_FUNCTION_NOT_DEFINED",
        1305: "ER_SP_DOES_NOT_EXIST",
        1370: "ER_PROCACCESS_DENIED_ERROR",
        1630: "ER_FUNC_INEXISTENT_NAME_COLLISION",
        # A statement that does more than read.
        1044: "ER_DBACCESS_DENIED_ERROR",
        1142: "ER_TABLEACCESS_DENIED_ERROR",
        1227: "ER_SPECIFIC_ACCESS_DENIED_ERROR",
        1792: "ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION",
    },
    ErrorClass.UNKNOWN_TABLE: {
        1051: "ER_BAD_TABLE_ERROR",
        1066: "ER_NONUNIQ_TABLE",
        1109: "ER_UNKNOWN_TABLE",
        1146: "ER_NO_SUCH_TABLE",
    },
    ErrorClass.UNKNOWN_COLUMN: {
        1052: "ER_NON_UNIQ_ERROR",
        1054: "ER_BAD_FIELD_ERROR",
        1060: "ER_DUP_FIELDNAME",
    },
    ErrorClass.TYPE_ERROR: {
        1210: "ER_WRONG_ARGUMENTS",
        1267: "ER_CANT_AGGREGATE_2COLLATIONS",
        1292: "ER_TRUNCATED_WRONG_VALUE",
        1366: "ER_TRUNCATED_WRONG_VALUE_FOR_FIELD",
        1367: "ER_ILLEGAL_VALUE_FOR_TYPE",
        1411: "ER_WRONG_VALUE_FOR_TYPE",
        1525: "ER_WRONG_VALUE",
        1582: "ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT",
        1583: "ER_WRONG_PARAMETERS_TO_NATIVE_FCT",
        3141: "ER_INVALID_JSON_TEXT_IN_PARAM",
        3143: "ER_INVALID_JSON_PATH",
    },
    ErrorClass.WRONG_AGGREGATION: {
        1055: "ER_WRONG_FIELD_WITH_GROUP",
        1056: "ER_WRONG_GROUP_FIELD",
        1111: "ER_INVALID_GROUP_FUNC_USE",
        1140: "ER_MIX_OF_GROUP_FUNC_AND_FIELDS",
        1247: "ER_ILLEGAL_REFERENCE",
        3029: "ER_AGGREGATE_ORDER_NON_AGG_QUERY",
        3593: "ER_WINDOW_INVALID_WINDOW_FUNC_USE",
    },
    ErrorClass.WRONG_ORDER: {3065: "ER_FIELD_IN_ORDER_NOT_SELECT"},
}
"""MySQL's numbers. https://dev.mysql.com/doc/mysql-errors/9.7/en/server-error-reference.html."""

_BY_NUMBER = {str(number): found for found, numbers in NUMBERS.items() for number in numbers}


def class_of_error(code: str | None, message: str) -> ErrorClass | None:
    """See `EngineKind.class_of_error`."""
    if code == "1142" and message.startswith("SELECT"):
        # A table of another database: whether it exists is asked after the right to read it.
        return ErrorClass.UNKNOWN_TABLE
    return _BY_NUMBER.get(code or "")
