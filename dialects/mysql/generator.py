"""Write a compiled tree as SQL for MySQL 8.4 and later."""

from collections.abc import Mapping
from typing import ClassVar

from sqlglot import exp

from dialects import nodes
from dialects.base_generator import TargetGenerator
from dialects.errors import Untranslatable

_ESCAPES = str.maketrans({"\\": "\\\\", "'": "''", "\0": "\\0"})
"""https://dev.mysql.com/doc/refman/9.7/en/string-literals.html"""

_COLLATION = "utf8mb4_0900_bin"

_JSON_COLUMNS = ", ".join(
    f"{name} {kind} PATH '$.{name}'"
    for kind, names in ((f"LONGTEXT CHARACTER SET utf8mb4 COLLATE {_COLLATION}", "kvfq"), ("BIGINT", "np"))
    for name in names
)
"""The columns of JSON_TABLE, with the collation of profile `faithful`; CONVERT would use the server's."""


class MySQL(TargetGenerator):
    """For sessions whose `sql_mode` lacks NO_BACKSLASH_ESCAPES, PIPES_AS_CONCAT and ONLY_FULL_GROUP_BY."""

    DIALECT = "mysql"
    COLUMNS: ClassVar[tuple[str, ...]] = ("any", "mysql")
    BOUND: ClassVar = {
        "real": "DOUBLE",  # a driver may write 0.1 as a decimal number
        "term": "SIGNED",  # and a number in GROUP BY and ORDER BY is a column's
    }
    TYPES: ClassVar[Mapping[exp.DType, str]] = {
        exp.DType.BOOLEAN: "SIGNED",
        exp.DType.INT: "SIGNED",
        exp.DType.BIGINT: "SIGNED",
        exp.DType.DOUBLE: "DOUBLE",
        exp.DType.DECIMAL: "DECIMAL(65, 0)",
        exp.DType.TEXT: "CHAR",
        exp.DType.BLOB: "BINARY",
        exp.DType.VARBINARY: "BINARY",
    }

    def quoted(self, value: str) -> str:
        """See `TargetGenerator.quoted`."""
        return f"'{value.translate(_ESCAPES)}'"

    def row(self, node: exp.Expr) -> str:
        """See `TargetGenerator.row`. https://dev.mysql.com/doc/refman/9.7/en/values.html."""
        return f"ROW{self.sql(node)}"

    def level(self, node: exp.Expr) -> int:
        """Return the precedence; a condition is an integer in MySQL, so nothing is written around it."""
        return super().level(node.this.unnest() if isinstance(node, nodes.AsInteger) else node)

    def null_order(self, node: exp.Ordered, *, descending: bool) -> str:
        """Write nothing: NULLs are the smallest values in MySQL, as in SQLite."""
        first = node.args.get("nulls_first")
        if first is not None and bool(first) == descending:
            raise Untranslatable("NULLS FIRST or LAST", "MySQL does not have these words")
        return ""

    def double(self, node: nodes.Double) -> str:
        """Write a double: a number with an exponent is one. https://dev.mysql.com/doc/refman/9.7/en/number-literals.html."""
        digits = self.double_constant(node)
        if digits is None:
            return f"CAST({self.sql(node.this)} AS DOUBLE)"
        return digits if "e" in digits.lower() else f"{digits}e0"

    def decoded(self, node: nodes.Decoded) -> str:
        """Decode UTF-8; if `loose`, Latin-1, in which any byte is a character."""
        inner = self.sql(node.this)
        if node.args.get("loose"):
            inner = f"CONVERT({inner} USING latin1)"
        return f"CONVERT({inner} USING utf8mb4) COLLATE {_COLLATION}"

    def fits(self, node: nodes.Fits) -> str:
        """Match case-sensitively, whatever the collation. https://dev.mysql.com/doc/refman/9.7/en/regexp.html."""
        return self.func("REGEXP_LIKE", node.this, self.quoted(f"^({node.expression.this})\\z"), "'c'")

    def json_rows(self, node: nodes.JSONRows) -> str:
        """https://dev.mysql.com/doc/refman/9.7/en/json-table-functions.html."""
        table = f"JSON_TABLE({self.sql(node.this)}, '$[*]' COLUMNS ({_JSON_COLUMNS}))"
        return f"{table} AS {self.sql(node, 'alias')}"


GENERATOR = MySQL()
