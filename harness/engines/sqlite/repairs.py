"""What SQLite's errors ask for. Its code is the same for most, so that the words tell them apart."""

import re
from collections.abc import Mapping

from harness.engines.repairs import EditKind, Repairs

_BY_WORDS: Mapping[str, tuple[EditKind, ...]] = {
    "no such function": (EditKind.FUNCTION, EditKind.READ_AS),
    "wrong number of arguments": (EditKind.FUNCTION, EditKind.READ_AS),
    "no such column": (EditKind.RESPELL, EditKind.TEXT_QUOTES, EditKind.RENAME),
    "no such table": (EditKind.RESPELL, EditKind.UNQUALIFY, EditKind.RENAME),
    "unknown database": (EditKind.UNQUALIFY,),
    "ambiguous column name": (EditKind.QUALIFY,),
    "unrecognized token": (EditKind.UNESCAPE, EditKind.READ_AS),
    "near": (EditKind.QUOTE, EditKind.READ_AS, EditKind.RESPELL),
    "no such collation": (EditKind.READ_AS,),
    "incomplete input": (EditKind.READ_AS,),
}
"""By the words that a message begins with. https://sqlite.org/src/file?name=src/resolve.c, src/parse.y."""


def _of_error(code: str | None, message: str) -> tuple[EditKind, ...]:
    del code
    return next(
        (kinds for words, kinds in _BY_WORDS.items() if message.startswith(words)), (EditKind.READ_AS,)
    )


def _near(message: str) -> str | None:
    word, found, _ = message.removeprefix('near "').partition('": syntax error')
    return word if found else None


REPAIRS = Repairs(
    of_error=_of_error,
    of_rows=(EditKind.DIVISION, EditKind.NULLS, EditKind.COLLATE, EditKind.LIKE_CASE, EditKind.TEXT_QUOTES),
    names=(
        re.compile(r"\Ano such (?:column|table|function): ([^\n]++)"),
        re.compile(r"\Aambiguous column name: ([^\n]++)"),
    ),
    near=_near,
    functions={
        "if": "iif", "char_length": "length", "character_length": "length", "len": "length",
        "greatest": "max", "least": "min", "nvl": "ifnull", "isnull": "ifnull", "strpos": "instr",
        "string_agg": "group_concat", "substring": "substr", "ucase": "upper", "lcase": "lower",
        "ceiling": "ceil", "pow": "power",
    },
    casts=("REAL", "INTEGER", "TEXT"),
    real="REAL",
    collation="NOCASE",
    like="glob",
)  # fmt: skip
