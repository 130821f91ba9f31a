"""What MySQL's errors ask for. https://dev.mysql.com/doc/mysql-errors/9.7/en/server-error-reference.html."""

import re
from collections.abc import Mapping

from harness.engines.repairs import EditKind, Repairs

_BY_NUMBER: Mapping[str, tuple[EditKind, ...]] = {
    # ER_PARSE_ERROR
    "1064": (
        EditKind.QUOTE, EditKind.UNESCAPE, EditKind.REQUOTE, EditKind.FUNCTION, EditKind.READ_AS,
        EditKind.RESPELL,
    ),
    # ER_BAD_FIELD_ERROR
    "1054": (EditKind.RESPELL, EditKind.REQUOTE, EditKind.RENAME, EditKind.READ_AS),
    # ER_NO_SUCH_TABLE, and ER_TABLEACCESS_DENIED_ERROR of a table that is in no database
    "1146": (EditKind.RESPELL, EditKind.UNQUALIFY, EditKind.RENAME),
    "1142": (EditKind.UNQUALIFY, EditKind.RESPELL, EditKind.RENAME),
    "1044": (EditKind.UNQUALIFY,),
    # ER_NON_UNIQ_ERROR
    "1052": (EditKind.QUALIFY,),
    # ER_SP_DOES_NOT_EXIST, ER_PROCACCESS_DENIED_ERROR, ER_FUNC_INEXISTENT_NAME_COLLISION
    "1305": (EditKind.FUNCTION, EditKind.READ_AS),
    "1370": (EditKind.FUNCTION, EditKind.READ_AS),
    "1630": (EditKind.FUNCTION, EditKind.READ_AS),
    # ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT, ER_WRONG_PARAMETERS_TO_NATIVE_FCT
    "1582": (EditKind.READ_AS,),
    "1583": (EditKind.READ_AS,),
    # ER_SUBQUERY_NO_1_ROW
    "1242": (EditKind.FIRST_ROW,),
    # ER_WRONG_FIELD_WITH_GROUP, ER_MIX_OF_GROUP_FUNC_AND_FIELDS
    "1055": (EditKind.GROUP,),
    "1140": (EditKind.GROUP,),
    # ER_TRUNCATED_WRONG_VALUE, ER_WRONG_VALUE_FOR_TYPE, ER_WRONG_VALUE
    "1292": (EditKind.CAST, EditKind.READ_AS),
    "1411": (EditKind.CAST, EditKind.READ_AS),
    "1525": (EditKind.CAST, EditKind.READ_AS),
    "1267": (EditKind.COLLATE, EditKind.CAST),
}  # fmt: skip


def _of_error(code: str | None, message: str) -> tuple[EditKind, ...]:
    del message
    return _BY_NUMBER.get(code or "", (EditKind.READ_AS,))


def _near(message: str) -> str | None:
    return message.partition("syntax to use near '")[2].rpartition("' at line")[0] or None


REPAIRS = Repairs(
    of_error=_of_error,
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
