"""What PostgreSQL's SQLSTATEs say of a statement.

An error that depends on the rows (a division by zero, a subquery with several rows) is in no class: there the
text of the query says more.
"""

import re
from collections.abc import Mapping

from harness.engines.error_classes import ErrorClass

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

FUNCTIONS = frozenset((
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


def class_of_error(code: str | None, message: str) -> ErrorClass | None:
    """See `EngineKind.class_of_error`."""
    if code is None:
        return None
    if code == "42P01" and not message.startswith("relation"):
        # "missing FROM-clause entry": the other engines say that the column is unknown.
        return ErrorClass.UNKNOWN_COLUMN
    if code == "42883" and (function := _UNDEFINED_FUNCTION.match(message)):
        is_known = function[1].rpartition(".")[2].strip('"') in FUNCTIONS
        return ErrorClass.TYPE_ERROR if is_known else ErrorClass.SYNTAX
    return _BY_SQLSTATE.get(code) or (ErrorClass.SYNTAX if code.startswith(_SYNTAX_CLASSES) else None)
