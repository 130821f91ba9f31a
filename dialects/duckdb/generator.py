"""Write a compiled tree as SQL for DuckDB 1.4 and later, as for PostgreSQL where both say the same.

SQLite's functions that DuckDB lacks are those of `loaders.duckdb.functions`, which the harness brings to
its connections.
"""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from sqlglot import exp

from dialects import nodes
from dialects.errors import Untranslatable
from dialects.identifiers import FUNCTIONS_NAMESPACE
from dialects.postgresql import generator as postgresql

_JSON_ROWS = "STRUCT(k VARCHAR, v VARCHAR, n BIGINT, p BIGINT, f VARCHAR, q VARCHAR)[]"

_UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

_TRIMS = {"BOTH": "TRIM", "LEADING": "LTRIM", "TRAILING": "RTRIM"}


class DuckDB(postgresql.PostgreSQL):
    """For sessions with DuckDB's default settings."""

    FOLDS_ASCII = False
    BOUND: ClassVar = {**postgresql.PostgreSQL.BOUND, "real": "DOUBLE", "text": "VARCHAR", "blob": "BLOB"}
    TYPES: ClassVar[Mapping[exp.DType, str]] = {
        **postgresql.PostgreSQL.TYPES,
        exp.DType.DOUBLE: "DOUBLE",
        exp.DType.DECIMAL: "HUGEINT",
        exp.DType.BLOB: "BLOB",
        exp.DType.VARBINARY: "BLOB",
    }

    def __init__(self) -> None:
        super().__init__("duckdb", _WORDS)

    def generate(self, expression: exp.Expr, copy: bool = True) -> str:  # noqa: FBT001, FBT002
        """See `Generator.generate`.

        Raises:
            Untranslatable: a recursion ends only because no more rows are read, and DuckDB would read on.
        """
        for clauses in expression.find_all(exp.With):
            limited = {each.alias for each in clauses.expressions if each.this.args.get("limit")}
            if clauses.args.get("recursive") and limited and clauses.parent is not None:
                read = [table.name for table in clauses.parent.find_all(exp.Table) if table.name in limited]
                if len(read) > 1 or clauses.find_ancestor(exp.Subquery):
                    raise Untranslatable("a recursive query", "DuckDB ends it only where it is read once")
        return super().generate(expression, copy)

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

    def hexadecimal(self, node: nodes.Hexadecimal) -> str:
        """https://duckdb.org/docs/stable/sql/functions/text."""
        return self.func("HEX", node.this)

    def membership(self, node: exp.In, words: str = "IN") -> str:
        """Refuse a row IN a subquery that reads an outer row, which DuckDB does not have."""
        query = node.args.get("query")
        if query and isinstance(node.this, exp.Tuple) and nodes.reads_outer_rows(query):
            raise Untranslatable("a row IN a subquery that reads an outer row", "DuckDB does not have it")
        return super().membership(node, words)

    def over(self, node: exp.Window) -> str:
        """Refuse what DuckDB allows in no window: another window, and a subquery in a subquery."""
        keys = [key for key in (*(node.args.get("partition_by") or []), node.args.get("order")) if key]
        if any(key.find(exp.Window) for key in keys):
            raise Untranslatable("a window that is sorted by another window", "DuckDB does not have it")
        subqueries = [each for key in keys for each in key.find_all(exp.Subquery)]
        if any(inner is not each for each in subqueries for inner in each.find_all(exp.Subquery)):
            raise Untranslatable("a window that is sorted by nested subqueries", "DuckDB calls them volatile")
        return self.window_sql(node)

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

    def case_folded(self, node: exp.Expr, old: str, new: str) -> str:
        """Change the case of ASCII letters only, where LOWER and UPPER change those of Unicode."""
        return f"TRANSLATE({self.sql(node.this)}, '{old}', '{new}')"

    def divided(self, node: exp.Expr, symbol: str) -> str:
        """See `PostgreSQL.divided`; `/` is the division of real numbers."""
        return super().divided(node, "//" if isinstance(node, nodes.Whole) else symbol)

    def server_call(self, node: nodes.ServerCall) -> str:
        """Call one of SQLite's functions."""
        parts = ", ".join(self.sql(part) for part in node.expressions)
        return f"{FUNCTIONS_NAMESPACE}_{node.this}({parts})"

    def anonymous(self, node: exp.Anonymous) -> str:
        """Write a function that all targets have, or the ones for thousands and for bytes."""
        match node.expressions:
            case [exp.Null(), rows, default] if node.name.upper() in {"LAG", "LEAD"}:
                # NULL has no type to which the default could be cast.
                null = exp.Nullif(this=default.copy(), expression=default.copy())
                return self.func(node.name, null, rows, default)
        if node.name == "TO_CHAR":
            return self.func("FORMAT", nodes.string("{:,}"), node.expressions[0])
        if node.name == "OCTET_LENGTH":
            return f"(LENGTH(HEX({self.sql(node.expressions[0])})) // 2)"
        return self.anonymous_sql(node)


_WORDS: Mapping[type[exp.Expr], Callable[[Any, Any], str]] = {
    **postgresql.WORDS,
    exp.BitwiseXor: lambda self, e: self.func("XOR", e.this, e.expression),
    exp.HexString: lambda _, e: f"UNHEX('{e.this}')",
    exp.Anonymous: DuckDB.anonymous,
    exp.Window: DuckDB.over,
    nodes.Whole: lambda self, e: self.divided(e, "//"),
    nodes.Double: DuckDB.double,
    nodes.Exact: lambda self, e: f"CAST({self.sql(e.this)} AS HUGEINT)",
    nodes.Lower: lambda self, e: self.case_folded(e, _UPPER, _UPPER.lower()),
    nodes.Upper: lambda self, e: self.case_folded(e, _UPPER.lower(), _UPPER),
    nodes.Characters: lambda self, e: self.func("LENGTH", e.this),
    nodes.Position: lambda self, e: self.func("INSTR", e.this, e.expression),
    nodes.Slice: DuckDB.slice,
    nodes.Bytes: lambda self, e: self.func("ENCODE", e.this),
    nodes.Hexadecimal: DuckDB.hexadecimal,
    nodes.Unhexed: lambda self, e: self.func("UNHEX", e.this),
    nodes.Decoded: DuckDB.decoded,
    nodes.JSONString: lambda self, e: f"{FUNCTIONS_NAMESPACE}_json_quote({self.sql(e.this)})",
    nodes.JSONText: lambda self, e: f"(CAST({self.sql(e.this)} AS JSON) ->> '$')",
    nodes.JSONNumber: lambda self, e: f"REPLACE(CAST({self.sql(e.this)} AS TEXT), 'inf', '1e999')",
    nodes.JSONRows: lambda self, e: (
        f"(SELECT UNNEST(CAST(CAST({self.sql(e.this)} AS JSON) AS {_JSON_ROWS}), recursive := true))"
        f" AS {self.sql(e, 'alias')}"
    ),
    nodes.Random: lambda _self, _e: (
        "CAST(FLOOR((RANDOM() - 0.5::DOUBLE) * 18446744073709549568::DOUBLE) AS BIGINT)"
    ),
    nodes.UtcNow: lambda *_: "STRFTIME(NOW() AT TIME ZONE 'UTC', '%Y-%m-%d %H:%M:%S')",
    nodes.Fits: lambda self, e: self.func("REGEXP_FULL_MATCH", e.this, e.expression),
    nodes.Trimmed: lambda self, e: self.func(_TRIMS[e.args["side"]], e.this, e.expression),
    nodes.ServerCall: DuckDB.server_call,
}

GENERATOR = DuckDB()
