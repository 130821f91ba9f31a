"""Write a compiled tree as SQL for PostgreSQL 15 and later."""

from collections.abc import Mapping
from typing import ClassVar

from sqlglot import exp

from dialects import nodes
from dialects.base_generator import ATOM, TargetGenerator


class PostgreSQL(TargetGenerator):
    """For sessions with standard_conforming_strings on, and databases with collation C."""

    SUPPORTS_WINDOW_EXCLUDE = True
    DIALECT = "postgres"
    COLUMNS: ClassVar[tuple[str, ...]] = ("any", "postgresql")
    TRIMS: ClassVar = {"BOTH": "BTRIM", "LEADING": "LTRIM", "TRAILING": "RTRIM"}
    BOUND: ClassVar = {
        "integer": "BIGINT",
        "term": "BIGINT",
        "real": "DOUBLE PRECISION",
        "text": "TEXT",
        "blob": "BYTEA",
    }
    TYPES: ClassVar[Mapping[exp.DType, str]] = {
        exp.DType.BOOLEAN: "BOOLEAN",
        exp.DType.INT: "INTEGER",
        exp.DType.BIGINT: "BIGINT",
        exp.DType.DOUBLE: "DOUBLE PRECISION",
        exp.DType.DECIMAL: "NUMERIC",
        exp.DType.TEXT: "TEXT",
        exp.DType.BLOB: "BYTEA",
        exp.DType.VARBINARY: "BYTEA",
    }

    def quoted(self, value: str) -> str:
        """See `TargetGenerator.quoted`. https://www.postgresql.org/docs/current/sql-syntax-lexical.html."""
        doubled = value.replace("'", "''")
        return f"'{doubled}'"

    def null_order(self, node: exp.Ordered, *, descending: bool) -> str:
        """Write NULLS FIRST or LAST if needed: NULLs are the largest values in PostgreSQL."""
        first = node.args.get("nulls_first")
        if first is None or bool(first) == descending:
            return ""
        return " NULLS FIRST" if first else " NULLS LAST"

    def double(self, node: nodes.Double) -> str:
        """Cast to double precision: a literal with a decimal point is numeric."""
        digits = self.double_constant(node)
        return f"{digits}::float8" if digits else f"CAST({self.sql(node.this)} AS DOUBLE PRECISION)"

    def joined(self, node: nodes.Joined) -> str:
        """Write TEXT || TEXT."""
        return " || ".join(self.operand(part, self.level(node), strict=True) for part in node.expressions)

    def fits(self, node: nodes.Fits) -> str:
        """https://www.postgresql.org/docs/current/functions-matching.html#FUNCTIONS-POSIX-REGEXP."""
        return f"{self.operand(node.this, ATOM)} ~ '^({node.expression.this})$'"

    def trimmed(self, node: nodes.Trimmed) -> str:
        """Write a function for each side."""
        return self.func(self.TRIMS[node.args["side"]], node.this, node.expression)

    def hexadecimal(self, node: nodes.Hexadecimal) -> str:
        """https://www.postgresql.org/docs/current/functions-binarystring.html."""
        found = self.sql(node.this)
        octets = found if node.args.get("blob") else f"CONVERT_TO({found}, 'UTF8')"
        return f"UPPER(ENCODE({octets}, 'hex'))"

    def decoded(self, node: nodes.Decoded) -> str:
        """Decode UTF-8; if `loose`, bytes beyond ASCII become a backslash and digits."""
        if node.args.get("loose"):
            return self.func("ENCODE", node.this, nodes.string("escape"))
        return self.func("CONVERT_FROM", node.this, nodes.string("UTF8"))


GENERATOR = PostgreSQL()
