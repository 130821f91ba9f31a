"""What an engine's error says of a prediction: the engines' codes and messages, as tables.

An error that depends on the rows (a division by zero, a subquery with several rows) is in none of them: there
the text of the query says more.
"""

import re
from collections.abc import Mapping, Sequence

from dialects.enums import Dialect
from harness.sqltree.error_classes import ErrorClass

SQLSTATES: Mapping[ErrorClass, Mapping[str, str]] = {
    ErrorClass.UNKNOWN_TABLE: {
        "42P01": "undefined_table",
        "42712": "duplicate_alias",
        "42P09": "ambiguous_alias",
        "3F000": "invalid_schema_name",
    },
    ErrorClass.UNKNOWN_COLUMN: {
        "42703": "undefined_column",
        "42702": "ambiguous_column",
        "42701": "duplicate_column",
    },
    ErrorClass.TYPE_ERROR: {
        "42804": "datatype_mismatch",
        "42846": "cannot_coerce",
        "42883": "undefined_function",
        "42725": "ambiguous_function",
        "42P18": "indeterminate_datatype",
        "42P21": "collation_mismatch",
        "42P22": "indeterminate_collation",
        "22007": "invalid_datetime_format",
        "22008": "datetime_field_overflow",
        "22018": "invalid_character_value_for_cast",
        "22023": "invalid_parameter_value",
        "22032": "invalid_json_text",
        "22P02": "invalid_text_representation",
    },
    ErrorClass.WRONG_AGGREGATION: {
        "42803": "grouping_error",
        "42P20": "windowing_error",
    },
    ErrorClass.WRONG_ORDER: {
        "42P10": "invalid_column_reference",
        "2201W": "invalid_row_count_in_limit_clause",
        "2201X": "invalid_row_count_in_result_offset_clause",
    },
}
"""PostgreSQL's codes. https://www.postgresql.org/docs/current/errcodes-appendix.html."""

_SYNTAX_CLASSES = ("42", "0A", "25", "26", "34")
"""SQLSTATE classes whose other codes are SYNTAX.

Syntax error or access rule violation, feature not supported, invalid transaction state (a statement that
writes), invalid statement name, invalid cursor name.
"""

MYSQL_NUMBERS: Mapping[ErrorClass, Mapping[int, str]] = {
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

_SQLITE: Sequence[tuple[ErrorClass, re.Pattern[str]]] = tuple(
    (found, re.compile(rf"\A(?:{start})"))
    for found, start in (
        (ErrorClass.UNKNOWN_TABLE, "no such table|unknown database"),
        (
            ErrorClass.UNKNOWN_COLUMN,
            "no such column|ambiguous column name|ON clause references tables|cannot join using",
        ),
        (ErrorClass.TYPE_ERROR, "wrong number of arguments|DISTINCT aggregates must|datatype mismatch"),
        (ErrorClass.TYPE_ERROR, "malformed JSON|bad JSON path|JSON path error|ESCAPE expression must"),
        (
            ErrorClass.WRONG_AGGREGATION,
            "misuse of |aggregate functions are not|HAVING clause on|GROUP BY clause is required",
        ),
        (ErrorClass.WRONG_AGGREGATION, r"\w+ GROUP BY term"),
        (ErrorClass.WRONG_ORDER, r"\w+ ORDER BY term"),
        (
            ErrorClass.SYNTAX,
            "near |unrecognized token|incomplete input|no such function|no such window|no tables specified",
        ),
        (
            ErrorClass.SYNTAX,
            "not authorized|unable to use function|You can only execute one|the query contains a null",
        ),
        (
            ErrorClass.SYNTAX,
            "SELECTs to the left|sub-select returns|row value misused|all VALUES must have|table .* has",
        ),
        (
            ErrorClass.SYNTAX,
            r"(ORDER BY|LIMIT) clause should|unknown join type|unknown or unsupported join|a NATURAL join",
        ),
        (ErrorClass.SYNTAX, "circular reference|unsupported frame|RANGE with offset"),
    )
)
"""How SQLite's messages begin: it has one code (SQLITE_ERROR) for every statement that it cannot prepare.

https://www.sqlite.org/rescode.html#error
"""

POSTGRESQL_FUNCTIONS = frozenset((
    "abs", "age", "array_agg", "array_length", "array_to_string", "avg", "bool_and", "bool_or",
    "btrim", "cbrt", "ceil", "ceiling", "char_length", "character_length", "chr", "clock_timestamp",
    "concat_ws", "corr", "count", "covar_pop", "covar_samp", "cume_dist", "date_bin", "date_part",
    "date_trunc", "degrees", "dense_rank", "div", "every", "exp", "extract", "first_value", "floor",
    "format", "generate_series", "initcap", "isfinite", "json_agg", "jsonb_agg", "justify_days",
    "justify_hours", "justify_interval", "lag", "last_value", "lead", "left", "length", "ln", "log",
    "log10", "lower", "lpad", "ltrim", "make_date", "make_interval", "make_time", "make_timestamp",
    "make_timestamptz", "max", "md5", "min", "mod", "mode", "now", "nth_value", "ntile",
    "octet_length", "overlay", "percent_rank", "percentile_cont", "percentile_disc", "pi",
    "position", "power", "quote_literal", "radians", "random", "rank", "regexp_count",
    "regexp_instr", "regexp_like", "regexp_match", "regexp_matches", "regexp_replace",
    "regexp_split_to_array", "regexp_split_to_table", "regexp_substr", "repeat", "replace",
    "reverse", "right", "round", "row_number", "rpad", "rtrim", "sign", "split_part", "sqrt",
    "starts_with", "stddev", "stddev_pop", "stddev_samp", "string_agg", "string_to_array", "strpos",
    "substr", "substring", "sum", "timezone", "to_char", "to_date", "to_number", "to_timestamp",
    "translate", "trunc", "unnest", "upper", "var_pop", "var_samp", "variance", "width_bucket",
))  # fmt: skip
"""Functions that PostgreSQL has, so that an undefined one of the name is called with other arguments.

https://www.postgresql.org/docs/15/functions.html
"""

_UNDEFINED_FUNCTION = re.compile(r'function ([\w."]+)\(')
_BY_SQLSTATE = {code: found for found, codes in SQLSTATES.items() for code in codes}
_BY_NUMBER = {str(number): found for found, numbers in MYSQL_NUMBERS.items() for number in numbers}


def class_of_error(dialect: Dialect, code: str | None, message: str) -> ErrorClass | None:
    """What an error of the engine says of the statement.

    Args:
        dialect: the engine.
        code: SQLSTATE on PostgreSQL, the error number on MySQL, the result code's name on SQLite.
        message: the engine's words.

    Returns:
        None if the error says nothing of it: it depends on the rows, is a limit's, or is not in the tables.
    """
    if dialect is Dialect.SQLITE:
        return next((found for found, start in _SQLITE if start.match(message)), None)
    if code is None:
        return None
    return _of_mysql(code, message) if dialect is Dialect.MYSQL else _of_postgresql(code, message)


def _of_mysql(code: str, message: str) -> ErrorClass | None:
    if code == "1142" and message.startswith("SELECT"):
        # A table of another database: whether it exists is asked after the right to read it.
        return ErrorClass.UNKNOWN_TABLE
    return _BY_NUMBER.get(code)


def _of_postgresql(code: str, message: str) -> ErrorClass | None:
    if code == "42P01" and not message.startswith("relation"):
        # "missing FROM-clause entry": the other engines say that the column is unknown.
        return ErrorClass.UNKNOWN_COLUMN
    if code == "42883" and (function := _UNDEFINED_FUNCTION.match(message)):
        is_known = function[1].rpartition(".")[2].strip('"') in POSTGRESQL_FUNCTIONS
        return ErrorClass.TYPE_ERROR if is_known else ErrorClass.SYNTAX
    return _BY_SQLSTATE.get(code) or (ErrorClass.SYNTAX if code.startswith(_SYNTAX_CLASSES) else None)
