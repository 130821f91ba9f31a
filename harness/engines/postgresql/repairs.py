"""What PostgreSQL's errors ask for. https://www.postgresql.org/docs/current/errcodes-appendix.html."""

import re
from collections.abc import Mapping

from harness.engines.repairs import EditKind, Repairs

_BY_SQLSTATE: Mapping[str, tuple[EditKind, ...]] = {
    # syntax_error
    "42601": (
        EditKind.UNESCAPE, EditKind.REQUOTE, EditKind.QUOTE, EditKind.FUNCTION, EditKind.READ_AS,
        EditKind.RESPELL,
    ),
    # undefined_column, undefined_table, invalid_schema_name
    "42703": (EditKind.RESPELL, EditKind.TEXT_QUOTES, EditKind.RENAME, EditKind.READ_AS),
    "42P01": (EditKind.RESPELL, EditKind.UNQUALIFY, EditKind.RENAME),
    "3F000": (EditKind.UNQUALIFY,),
    # ambiguous_column
    "42702": (EditKind.QUALIFY,),
    # undefined_function, datatype_mismatch, cannot_coerce, ambiguous_function
    "42883": (EditKind.FUNCTION, EditKind.CAST, EditKind.READ_AS),
    "42804": (EditKind.CAST, EditKind.READ_AS),
    "42846": (EditKind.CAST, EditKind.READ_AS),
    "42725": (EditKind.CAST,),
    # invalid_datetime_format, datetime_field_overflow, invalid_text_representation
    "22007": (EditKind.CAST, EditKind.READ_AS),
    "22008": (EditKind.CAST, EditKind.READ_AS),
    "22P02": (EditKind.CAST, EditKind.READ_AS),
    # grouping_error
    "42803": (EditKind.GROUP,),
    # cardinality_violation
    "21000": (EditKind.FIRST_ROW,),
    # division_by_zero
    "22012": (EditKind.ZERO,),
}  # fmt: skip


def _of_error(code: str | None, message: str) -> tuple[EditKind, ...]:
    del message
    return _BY_SQLSTATE.get(code or "", (EditKind.READ_AS,))


def _near(message: str) -> str | None:
    return message.partition('at or near "')[2].rpartition('"')[0] or None


REPAIRS = Repairs(
    of_error=_of_error,
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
