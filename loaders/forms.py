"""The forms of text in which servers read tables: separators, NULL, and numbers that read back as they are.

https://dev.mysql.com/doc/refman/9.7/en/load-data.html
https://www.postgresql.org/docs/current/sql-copy.html
"""

from collections.abc import Mapping
from dataclasses import dataclass

_REAL = (
    "CASE WHEN {0} IS NULL THEN NULL"
    " WHEN abs({0}) < 1e9 AND {0} != 0 AND round({0} * 1e6) / 1e6 = {0}"
    " THEN CAST(round({0} * 1e6) AS INTEGER) || 'e-6'"
    " ELSE exact_text({0}) END"
)
"""A double as text that reads back as the same double.

The quotient of two doubles that are exact is rounded once, and so is the text of that quotient when it is
read. So six decimals need no shortest text, for which Python has to be asked. Zero may have a sign.
"""

_SINGLE = _REAL.replace("exact_text", "single_text")
"""A double as text that reads as the single next to it.

A text is not read as the double is rounded where one of them alone is in the middle between two singles. Such
a middle has 25 bits: none is so near to a number of six decimals, unless it is that number.
"""


@dataclass(frozen=True)
class Form:
    """How a server reads a table as text."""

    escape: bytes
    """Stands before N where a value is NULL."""
    field: bytes
    """Between two fields."""
    line: bytes
    """What ends a line."""
    escapes: Mapping[bytes, bytes]
    """What is written for a character that would be taken for more than itself; `escape` is the first."""
    reals: Mapping[str, str]
    """SQL for a value of each type of fractions as text."""

    @property
    def null(self) -> bytes:
        """What is written for NULL."""
        return self.escape + b"N"


MYSQL = Form(
    escape=b"\x1d",
    field=b"\x1f",
    line=b"\x1e",
    escapes={special: b"\x1d" + special for special in (b"\x1d", b"\x1e", b"\x1f")},
    reals={"double": _REAL},
)
"""With ASCII's separators of data."""

POSTGRESQL = Form(
    escape=b"\\",
    field=b"\x1f",
    line=b"\n",
    escapes={b"\\": b"\\\\", b"\n": b"\\n", b"\r": b"\\r", b"\x1f": b"\\\x1f"},
    reals={"double precision": _REAL, "real": _SINGLE},
)
"""The text format of COPY, whose fields alone may be separated by another character."""
