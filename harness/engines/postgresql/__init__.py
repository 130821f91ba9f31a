"""PostgreSQL: its record, and the meaning of its errors."""

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
            "42601": ErrorCode("syntax_error", "unescape requote quote function read_as respell", "syntax"),
        },
        ErrorClass.UNKNOWN_TABLE: {
            "42P01": ErrorCode("undefined_table", "respell unqualify rename", "bad_name"),
            "42712": ErrorCode("duplicate_alias"),
            "42P09": ErrorCode("ambiguous_alias"),
            "3F000": ErrorCode("invalid_schema_name", "unqualify"),
        },
        ErrorClass.UNKNOWN_COLUMN: {
            "42703": ErrorCode("undefined_column", "respell text_quotes rename read_as", "bad_name"),
            "42702": ErrorCode("ambiguous_column", "qualify"),
            "42701": ErrorCode("duplicate_column"),
        },
        ErrorClass.TYPE_ERROR: {
            "42804": ErrorCode("datatype_mismatch", "cast read_as"),
            "42846": ErrorCode("cannot_coerce", "cast read_as"),
            "42883": ErrorCode("undefined_function", "function cast read_as", "bad_name"),
            "42725": ErrorCode("ambiguous_function", "cast"),
            "42P18": ErrorCode("indeterminate_datatype"),
            "42P21": ErrorCode("collation_mismatch"),
            "42P22": ErrorCode("indeterminate_collation"),
            "22007": ErrorCode("invalid_datetime_format", "cast read_as", "bad_value"),
            "22008": ErrorCode("datetime_field_overflow", "cast read_as", "bad_value"),
            "22018": ErrorCode("invalid_character_value_for_cast"),
            "22023": ErrorCode("invalid_parameter_value"),
            "22032": ErrorCode("invalid_json_text"),
            "22P02": ErrorCode("invalid_text_representation", "cast read_as", "bad_value"),
        },
        ErrorClass.WRONG_AGGREGATION: {
            "42803": ErrorCode("grouping_error", "group"),
            "42P20": ErrorCode("windowing_error"),
        },
        ErrorClass.WRONG_ORDER: {
            "42P10": ErrorCode("invalid_column_reference"),
            "2201W": ErrorCode("invalid_row_count_in_limit_clause"),
            "2201X": ErrorCode("invalid_row_count_in_result_offset_clause"),
        },
        None: {
            "21000": ErrorCode("cardinality_violation", "first_row", "several_rows"),
            "22012": ErrorCode("division_by_zero", "zero"),
        },
    }
)
"""By SQLSTATE. https://www.postgresql.org/docs/current/errcodes-appendix.html"""

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


def _class_of_error(code: str | None, message: str) -> ErrorClass | None:
    if code is None:
        return None
    if code == "42P01" and not message.startswith("relation"):
        # "missing FROM-clause entry": the other engines say that the column is unknown.
        return ErrorClass.UNKNOWN_COLUMN
    if code == "42883" and (function := _UNDEFINED_FUNCTION.match(message)):
        is_known = function[1].rpartition(".")[2].strip('"') in FUNCTIONS
        return ErrorClass.TYPE_ERROR if is_known else ErrorClass.SYNTAX
    return ERRORS.class_of(code) or (ErrorClass.SYNTAX if code.startswith(_SYNTAX_CLASSES) else None)


def _near(message: str) -> str | None:
    return message.partition('at or near "')[2].rpartition('"')[0] or None


REPAIRS = Repairs(
    of_error=ERRORS.edits_of,
    of_rows=(EditKind.NULLS, EditKind.DIVISION, EditKind.LIKE_CASE, EditKind.PRECISION),
    names=(
        re.compile(r'\A(?:column|relation|table) (?:reference )?"([^"\n]++)"'),
        re.compile(r'\Acolumn ([^\s"]++) (?:does not exist|must appear)'),
        re.compile(r'\Amissing FROM-clause entry for table "([^"\n]++)"'),
    ),
    near=_near,
    functions={
        "ifnull": "coalesce", "nvl": "coalesce", "isnull": "coalesce", "len": "length", "instr": "strpos",
        "ucase": "upper", "lcase": "lower",
    },
    casts=("TEXT", "NUMERIC", "DOUBLE PRECISION", "TIMESTAMP", "DATE", "BIGINT", "INTEGER"),
    like="ilike",
)  # fmt: skip

TROUBLES = Troubles(
    refused=re.compile("(?:28|3D)[0-9A-Z]{3}"),
    refused_words=("does not exist", "password authentication failed", "no pg_hba.conf entry"),
    full={"53100": ""},
    full_when_lost=re.compile("53[0-9A-Z]{3}"),
)


def _make(server: Server | None, *, pooled: bool) -> Engine:
    from harness.engines.postgresql.engine import PostgreSQLEngine  # noqa: PLC0415 - the driver is slow

    del pooled  # a server's connections always wait in its pool
    assert server is not None  # noqa: S101 - `has_server`
    return PostgreSQLEngine(server)


def _administration() -> Administration:
    from harness.engines.postgresql import connections  # noqa: PLC0415 - as above

    return connections


def _schema() -> SchemaReader:
    from harness.engines.postgresql import engine  # noqa: PLC0415 - for predictors alone

    return engine


KIND = EngineKind(
    name="postgresql",
    title="PostgreSQL",
    dialect=Dialect.POSTGRESQL,
    rank=30,
    has_server=True,
    make=_make,
    administration=_administration,
    schema=_schema,
    class_of_error=_class_of_error,
    coverage_reasons=ERRORS.reasons,
    troubles=TROUBLES,
    repairs=REPAIRS,
    idioms=("::", "to_char(", "to_date(", "date_trunc(", "string_agg(", " ilike "),
    today="SELECT CAST(CAST(now() AT TIME ZONE 'UTC' AS date) AS text)",
    row_number="ctid",
    example=Path(__file__).with_name("example.j2"),
    quotes_by_dollars=True,
)
