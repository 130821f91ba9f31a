"""Write a compiled tree as SQL for DuckDB 1.4 and later, as for PostgreSQL where both say the same.

SQLite's functions that DuckDB lacks are those of `loaders.duckdb.functions`, which the harness brings to
its connections.
"""

from collections.abc import Mapping
from typing import ClassVar

from sqlglot import exp

from dialects import nodes
from dialects.identifiers import FUNCTIONS_NAMESPACE
from dialects.postgresql import generator as postgresql


class DuckDB(postgresql.PostgreSQL):
    """For sessions with DuckDB's default settings."""

    DIALECT = "duckdb"
    COLUMNS: ClassVar = (*postgresql.PostgreSQL.COLUMNS, "duckdb")
    TRIMS: ClassVar = {**postgresql.PostgreSQL.TRIMS, "BOTH": "TRIM"}
    BOUND: ClassVar = {**postgresql.PostgreSQL.BOUND, "real": "DOUBLE", "text": "VARCHAR", "blob": "BLOB"}
    TYPES: ClassVar[Mapping[exp.DType, str]] = {
        **postgresql.PostgreSQL.TYPES,
        exp.DType.DOUBLE: "DOUBLE",
        exp.DType.DECIMAL: "HUGEINT",
        exp.DType.BLOB: "BLOB",
        exp.DType.VARBINARY: "BLOB",
    }

    def quoted(self, value: str) -> str:
        """See `TargetGenerator.quoted`; a text ends where it has U+0000."""
        doubled = value.replace("'", "''")
        parts = [f"'{part}'" for part in doubled.split("\0")]
        return parts[0] if len(parts) == 1 else f"({' || CHR(0) || '.join(parts)})"

    def null_order(self, node: exp.Ordered, *, descending: bool) -> str:
        """Write NULLS FIRST if needed: NULLs come last in any order."""
        del descending
        return " NULLS FIRST" if node.args.get("nulls_first") else ""

    def double(self, node: nodes.Double) -> str:
        """Cast to double precision: a literal with a decimal point is a decimal."""
        digits = self.double_constant(node)
        return f"{digits}::DOUBLE" if digits else f"CAST({self.sql(node.this)} AS DOUBLE)"

    def decoded(self, node: nodes.Decoded) -> str:
        """Decode UTF-8; if `loose`, Latin-1, in which any byte is a character."""
        if node.args.get("loose"):
            return f"{FUNCTIONS_NAMESPACE}_latin1({self.sql(node.this)})"
        return self.func("DECODE", node.this)

    def slice(self, node: nodes.Slice) -> str:
        """Write SUBSTRING for a text; a blob is sliced by its first and last byte."""
        if node.args.get("octets"):
            first, length = self.parenthesized(node.args["start"]), node.args.get("length")
            last = f"{first} + {self.parenthesized(length)} - 1" if length else ""
            return f"({self.sql(node.this)})[{first}:{last}]"
        return self.func("SUBSTRING", node.this, node.args["start"], node.args.get("length"))


GENERATOR = DuckDB()
