"""Write a compiled tree as SQL for MySQL 8.4 and later."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

from sqlglot import exp

from dialects import identifiers, nodes
from dialects.base_generator import TargetGenerator
from dialects.errors import Untranslatable

_WIDE = 67_108_864
"""Longest text in a recursive query, in characters: it sorts rows, and a row has at most 65,535 bytes."""

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

    def __init__(
        self,
        words: Mapping[type[exp.Expr], Callable[[Any, Any], str]] | None = None,
        shapes: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__("mysql", WORDS if words is None else words)
        self._shapes = SHAPES if shapes is None else shapes

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

    def ascii_case(self, node: exp.Expr, function: str) -> str:
        """Change the case of ASCII letters only, via TIS-620: it has no other letters with case, Unicode has.

        UTF-8 bytes beyond ASCII are treated as Thai letters. A stored function would take 20 times as long.
        """
        folded = f"{function}(CONVERT(CAST({self.sql(node.this)} AS BINARY) USING tis620))"
        return f"CONVERT(CAST({folded} AS BINARY) USING utf8mb4) COLLATE {_COLLATION}"

    def server_call(self, node: nodes.ServerCall) -> str:
        """Call a stored function, except for texts that a cast converts correctly.

        A call takes 20 times as long as a cast, and MySQL does not inline it.
        """
        parts = ", ".join(self.sql(part) for part in node.expressions)
        call = f"{identifiers.FUNCTIONS_NAMESPACE}.{node.this}({parts})"
        shape = self._shapes.get(node.this)
        if shape is None or not isinstance(node.expressions[0], exp.Column):
            return call
        return shape.format(text=parts, call=call)

    def decoded(self, node: nodes.Decoded) -> str:
        """Decode UTF-8; if `loose`, Latin-1, in which any byte is a character."""
        inner = self.sql(node.this)
        if node.args.get("loose"):
            inner = f"CONVERT({inner} USING latin1)"
        return f"CONVERT({inner} USING utf8mb4) COLLATE {_COLLATION}"

    def fits(self, node: nodes.Fits) -> str:
        """Match case-sensitively, whatever the collation. https://dev.mysql.com/doc/refman/9.7/en/regexp.html."""
        return self.func("REGEXP_LIKE", node.this, self.quoted(f"^({node.expression.this}){_END}"), "'c'")

    def trimmed(self, node: nodes.Trimmed) -> str:
        """https://dev.mysql.com/doc/refman/9.7/en/string-functions.html#function_trim."""
        return f"TRIM({node.args['side']} {self.sql(node.expression)} FROM {self.sql(node.this)})"

    def listed(self, node: nodes.Listed) -> str:
        """https://dev.mysql.com/doc/refman/9.7/en/aggregate-functions.html#function_group-concat."""
        distinct = "DISTINCT " if node.args.get("distinct") else ""
        sort = node.args.get("order")
        terms = [part for term in sort.expressions for part in self._terms_of_list(term)] if sort else []
        order = f" ORDER BY {', '.join(terms)}" if terms else ""
        return f"GROUP_CONCAT({distinct}{self.sql(node.this)}{order} SEPARATOR {self.sql(node, 'separator')})"

    def _terms_of_list(self, term: exp.Ordered) -> Iterator[str]:
        """Write an ORDER BY term of a list: GROUP_CONCAT sorts NULL as 0 or as the empty text."""
        if term.meta.get("nullable"):
            missing = exp.Is(this=nodes.grouped(term.this.copy()), expression=exp.Null())
            yield self.sql(missing) + ("" if term.args.get("desc") else " DESC")
        yield self.sql(term)

    def is_something(self, node: exp.Is) -> str:
        """Write <=> NULL for a window function: over a single row, MySQL evaluates IS NULL too early."""
        if isinstance(node.expression, exp.Null) and node.find(exp.Window):
            return self.infix(exp.NullSafeEQ(this=node.this, expression=node.expression), "<=>")
        return self.comparison(node, "IS")

    def negation(self, node: exp.Not) -> str:
        """See `TargetGenerator.negation`."""
        inner = node.this.unnest()
        if isinstance(inner, exp.Is) and isinstance(inner.expression, exp.Null) and inner.find(exp.Window):
            return f"NOT ({self.is_something(inner)})"
        return super().negation(node)

    def cte(self, node: exp.CTE) -> str:
        """Omit [NOT] MATERIALIZED, which MySQL lacks and which changes no rows."""
        return f"{self.sql(node, 'alias')} AS ({self.sql(node.this)})"


# A text is matched before it is cast: truncation is an error where a subquery stores its rows.
# Searching for any other character takes a quarter of the time of a match from end to end.
_DIGITS = "CHAR_LENGTH({text}) BETWEEN 1 AND 18 AND NOT REGEXP_LIKE({text}, '[^0-9]')"

_PLAIN = "REGEXP_LIKE({text}, '^(0|-?[1-9][0-9]{{0,17}})\\\\z')"

_SHORT = "REGEXP_LIKE({text}, '^ *[+-]?[0-9]{{1,9}}([.][0-9]{{0,4}})? *\\\\z')"

_SHORTLY = "CAST({text} AS DECIMAL(13, 4))"

_WHOLE = f"{_SHORTLY} = FLOOR({_SHORTLY})"

_SPACE = "[\\\\t-\\\\r ]*"

_NUMBER = (
    f"REGEXP_LIKE({{text}}, '^{_SPACE}[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?{_SPACE}\\\\z')"
)

SHAPES = {
    "as_integer": f"CASE WHEN {_DIGITS} OR {_PLAIN} THEN CAST({{text}} AS SIGNED)"
    f" WHEN {_SHORT} THEN CASE WHEN {_WHOLE} THEN CAST({_SHORTLY} AS SIGNED) END"
    f" WHEN {_NUMBER} THEN {{call}} END",
    "as_real": f"CASE WHEN ({_DIGITS} OR {_PLAIN}) AND CHAR_LENGTH({{text}}) < 16 OR {_SHORT}"
    f" THEN CAST({{text}} AS DOUBLE) + 0e0"
    f" WHEN {_NUMBER} THEN {{call}} END",
    "as_key": f"CASE WHEN {{text}} >= '1' AND {_DIGITS} OR {_PLAIN} THEN {{text}}"
    f" WHEN {_SHORT} THEN CASE WHEN {_WHOLE} THEN CAST(CAST({_SHORTLY} AS SIGNED) AS CHAR)"
    f" ELSE CAST(CAST({{text}} AS DOUBLE) AS CHAR) END COLLATE {_COLLATION}"
    f" WHEN {_NUMBER} THEN {{call}} ELSE {{text}} END",
}
"""The functions for join keys: inline SQL for most texts, and the call for the rest."""

_END = "\\z"
"""ICU's end of text; $ also matches before a final line break."""


def _safe(node: exp.Expr) -> exp.Expr:
    """Guard a division by zero: it is NULL, but an error where strict mode stores it, as for a sort."""
    divisor = node.expression
    while isinstance(divisor, exp.Paren):
        divisor = divisor.this
    if nodes.is_constant(divisor):
        return node
    safe = nodes.unless(divisor.copy(), nodes.number(0))
    return type(node)(this=node.args["this"].copy(), expression=safe)


WORDS: Mapping[type[exp.Expr], Callable[[Any, Any], str]] = {
    exp.CTE: MySQL.cte,
    exp.Is: MySQL.is_something,
    exp.NullSafeEQ: lambda self, e: self.infix(e, "<=>"),
    exp.BitwiseXor: lambda self, e: self.infix(e, "^"),
    exp.HexString: lambda _, e: f"X'{e.this}'",
    nodes.Whole: lambda self, e: self.infix(_safe(e), "DIV"),
    nodes.Quotient: lambda self, e: self.infix(_safe(e), "/"),
    nodes.Remainder: lambda self, e: self.infix(_safe(e), "%"),
    nodes.Joined: lambda self, e: self.func("CONCAT", *e.expressions),
    nodes.AsInteger: lambda self, e: self.sql(e.this.unnest()),
    nodes.Bigint: lambda self, e: f"CAST({self.sql(e.this)} AS SIGNED)",
    nodes.Truncated: lambda self, e: f"CAST(TRUNCATE({self.sql(e.this)}, 0) AS SIGNED)",
    nodes.Double: MySQL.double,
    nodes.Exact: lambda self, e: f"CAST({self.sql(e.this)} AS DECIMAL(65, 0))",
    nodes.Text: lambda self, e: f"CAST({self.sql(e.this)} AS CHAR)",
    nodes.Wide: lambda self, e: f"CAST({self.sql(e.this)} AS CHAR({_WIDE}))",
    nodes.Lower: lambda self, e: self.ascii_case(e, "LOWER"),
    nodes.Upper: lambda self, e: self.ascii_case(e, "UPPER"),
    nodes.Characters: lambda self, e: self.func("CHAR_LENGTH", e.this),
    nodes.Position: lambda self, e: self.func("LOCATE", e.expression, e.this),
    nodes.Slice: lambda self, e: self.func("SUBSTRING", e.this, e.args["start"], e.args.get("length")),
    nodes.Bytes: lambda self, e: f"CAST({self.sql(e, 'this')} AS BINARY)",
    nodes.Hexadecimal: lambda self, e: self.func("HEX", e.this),
    nodes.Unhexed: lambda self, e: self.func("UNHEX", e.this),
    nodes.Decoded: MySQL.decoded,
    nodes.JSONString: lambda self, e: f"JSON_QUOTE({self.sql(e.this)}) COLLATE {_COLLATION}",
    nodes.JSONNumber: lambda self, e: f"CAST(CAST({self.sql(e.this)} AS JSON) AS CHAR) COLLATE {_COLLATION}",
    nodes.JSONRows: lambda self, e: (
        f"JSON_TABLE({self.sql(e.this)}, '$[*]' COLUMNS ({_JSON_COLUMNS})) AS {self.sql(e, 'alias')}"
    ),
    nodes.Random: lambda _self, _e: "CAST(FLOOR((RAND() - 0.5e0) * 18446744073709549568e0) AS SIGNED)",
    nodes.JSONText: lambda self, e: f"JSON_UNQUOTE({self.sql(e.this)}) COLLATE {_COLLATION}",
    nodes.UtcNow: lambda *_: "DATE_FORMAT(UTC_TIMESTAMP(), '%Y-%m-%d %H:%i:%s')",
    nodes.AnyOf: lambda self, e: self.func("MIN", e.this),
    nodes.Whichever: lambda self, e: self.func("ANY_VALUE", e.this),
    nodes.Listed: MySQL.listed,
    nodes.DayNumber: lambda self, e: f"(TO_DAYS({self.sql(e.this)}) - 730485)",
    nodes.Fits: MySQL.fits,
    nodes.Trimmed: MySQL.trimmed,
    nodes.Tail: lambda self, e: self.func("RIGHT", e.this, e.args["length"]),
    nodes.ServerCall: MySQL.server_call,
}

GENERATOR = MySQL()
