"""Write a compiled tree as SQL for PostgreSQL 15 and later."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from sqlglot import exp

from dialects import identifiers, nodes
from dialects.base_generator import ATOM, TargetGenerator
from dialects.errors import Untranslatable


class PostgreSQL(TargetGenerator):
    """For sessions with standard_conforming_strings on, and databases with collation C."""

    SUPPORTS_WINDOW_EXCLUDE = True
    FOLDS_ASCII: ClassVar[bool] = True
    """True if ILIKE folds ASCII letters alone, as it does with collation C."""

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

    def __init__(
        self,
        dialect: str = "postgres",
        words: Mapping[type[exp.Expr], Callable[[Any, Any], str]] | None = None,
    ) -> None:
        super().__init__(dialect, WORDS if words is None else words)

    def quoted(self, value: str) -> str:
        """See `TargetGenerator.quoted`. https://www.postgresql.org/docs/current/sql-syntax-lexical.html."""
        if "\0" in value:
            raise Untranslatable("a text with U+0000", "PostgreSQL's texts cannot hold it")
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

    def divided(self, node: exp.Expr, symbol: str) -> str:
        """Write a division with NULLIF around the divisor, since dividing by zero is an error."""
        level = self.level(node)
        divisor = node.args["expression"]
        known = divisor.unnest()
        while isinstance(known, exp.Neg | nodes.Double):
            known = known.this.unnest()
        safe = isinstance(known, exp.Literal) and not known.is_string and float(known.this) != 0
        right = self.operand(divisor, level, strict=True) if safe else f"NULLIF({self.sql(divisor)}, 0)"
        return f"{self.operand(node.this, level, strict=True)} {symbol} {right}"

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

    def slice(self, node: nodes.Slice) -> str:
        """Write SUBSTR, whose positions are of type integer."""
        shown = [self.sql(node.this)]
        for bound in (node.args["start"], node.args.get("length")):
            if bound is not None:
                literal = isinstance(bound, exp.Literal)
                shown.append(self.sql(bound) if literal else f"CAST({self.sql(bound)} AS INTEGER)")
        return f"SUBSTR({', '.join(shown)})"

    def listed(self, node: nodes.Listed) -> str:
        """https://www.postgresql.org/docs/current/functions-aggregate.html."""
        distinct = "DISTINCT " if node.args.get("distinct") else ""
        listed = f"{distinct}{self.sql(node.this)}, {self.sql(node, 'separator')}"
        return f"STRING_AGG({listed}{self.sql(node, 'order')})"

    def comparison(self, node: exp.Expr, words: str) -> str:
        """Write ILIKE for LIKE of a text in lower case."""
        if (
            self.FOLDS_ASCII
            and isinstance(node, nodes.Matches)
            and isinstance(node.this.unnest(), nodes.Lower)
        ):
            pattern = node.expression.unnest()
            wanted = pattern.this if isinstance(pattern, nodes.Lower) else pattern
            node = nodes.Matches(
                this=node.this.unnest().this, expression=wanted, escape=node.args.get("escape")
            )
            words = words.replace("LIKE", "ILIKE")
        return super().comparison(node, words)

    def server_call(self, node: nodes.ServerCall) -> str:
        """Call a stored function."""
        parts = ", ".join(self.sql(part) for part in node.expressions)
        return f"{identifiers.FUNCTIONS_NAMESPACE}.{node.this}({parts})"

    def json_number(self, node: nodes.JSONNumber) -> str:
        """Write a double's shortest digits; infinity, which JSON lacks, as 1e999."""
        digits = f"REPLACE(CAST({self.sql(node.this)} AS TEXT), 'Infinity', '1e999')"
        return f"REGEXP_REPLACE({digits}, '^(-?[0-9]+)$', '\\1.0')"

    def first_of(self, node: nodes.FirstOf) -> str:
        """Write the first element of the group's ordered array."""
        terms = ", ".join(self.sql(term) for term in node.expressions)
        return f"(ARRAY_AGG({self.sql(node.this)}{f' ORDER BY {terms}' if terms else ''}))[1]"


_TRIMS = {"BOTH": "BTRIM", "LEADING": "LTRIM", "TRAILING": "RTRIM"}

WORDS: Mapping[type[exp.Expr], Callable[[Any, Any], str]] = {
    exp.NullSafeEQ: lambda self, e: self.infix(e, "IS NOT DISTINCT FROM"),
    exp.BitwiseXor: lambda self, e: self.infix(e, "#"),
    exp.HexString: lambda _, e: f"'\\x{e.this}'::bytea",
    nodes.Whole: lambda self, e: self.divided(e, "/"),
    nodes.Quotient: lambda self, e: self.divided(e, "/"),
    nodes.Remainder: lambda self, e: self.divided(e, "%"),
    nodes.Joined: PostgreSQL.joined,
    nodes.AsInteger: lambda self, e: f"CAST({self.sql(e.this.unnest())} AS INTEGER)",
    nodes.Bigint: lambda self, e: f"CAST({self.sql(e.this)} AS BIGINT)",
    nodes.Truncated: lambda self, e: f"CAST(TRUNC({self.sql(e.this)}) AS BIGINT)",
    nodes.Double: PostgreSQL.double,
    nodes.Exact: lambda self, e: f"CAST({self.sql(e.this)} AS NUMERIC)",
    nodes.Text: lambda self, e: f"CAST({self.sql(e.this)} AS TEXT)",
    nodes.Wide: lambda self, e: f"CAST({self.sql(e.this)} AS TEXT)",
    nodes.Lower: lambda self, e: self.func("LOWER", e.this),
    nodes.Upper: lambda self, e: self.func("UPPER", e.this),
    nodes.Characters: lambda self, e: f"CAST(CHAR_LENGTH({self.sql(e.this)}) AS BIGINT)",
    nodes.Position: lambda self, e: f"CAST(STRPOS({self.sql(e.this)}, {self.sql(e.expression)}) AS BIGINT)",
    nodes.Slice: PostgreSQL.slice,
    nodes.Bytes: lambda self, e: self.func("CONVERT_TO", e.this, nodes.string("UTF8")),
    nodes.Hexadecimal: PostgreSQL.hexadecimal,
    nodes.Unhexed: lambda self, e: self.func("DECODE", e.this, nodes.string("hex")),
    nodes.Decoded: PostgreSQL.decoded,
    nodes.JSONString: lambda self, e: f"CAST(TO_JSON(CAST({self.sql(e.this)} AS TEXT)) AS TEXT)",
    nodes.JSONNumber: PostgreSQL.json_number,
    nodes.JSONRows: lambda self, e: (
        f"JSONB_TO_RECORDSET(CAST({self.sql(e.this)} AS JSONB)) AS {self.sql(e, 'alias')}"
        "(k TEXT, v TEXT, n BIGINT, p BIGINT, f TEXT, q TEXT)"
    ),
    nodes.Random: lambda _self, _e: "CAST(FLOOR((RANDOM() - 0.5) * 18446744073709549568::float8) AS BIGINT)",
    nodes.JSONText: lambda self, e: f"(CAST({self.sql(e.this)} AS JSON) #>> '{{}}')",
    nodes.UtcNow: lambda *_: "TO_CHAR(STATEMENT_TIMESTAMP() AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS')",
    nodes.Whichever: lambda self, e: f"({self.func('ARRAY_AGG', e.this)})[1]",
    nodes.AnyOf: lambda self, e: self.func("MIN", e.this),
    nodes.FirstOf: PostgreSQL.first_of,
    nodes.Listed: PostgreSQL.listed,
    nodes.DayNumber: lambda self, e: f"CAST({self.sql(e.this)}::date - DATE '2000-01-01' AS BIGINT)",
    nodes.Fits: lambda self, e: f"{self.operand(e.this, ATOM)} ~ '^({e.expression.this})$'",
    nodes.Trimmed: lambda self, e: self.func(_TRIMS[e.args["side"]], e.this, e.expression),
    nodes.Tail: lambda self, e: self.func("RIGHT", e.this, e.args["length"]),
    nodes.ServerCall: PostgreSQL.server_call,
}

GENERATOR = PostgreSQL()
