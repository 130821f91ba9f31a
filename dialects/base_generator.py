"""Write a tree as SQL, exactly as it is: nothing is rewritten, and an unknown node is an error.

sqlglot's own generators adapt one dialect's tree to another's ways. The compiler has done that already, so a
table of the nodes that it makes takes their place, and `nodes.SPELLINGS` has the targets' own words.
"""

from collections.abc import Callable, Mapping
from string import Formatter
from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.errors import ErrorLevel, UnsupportedError
from sqlglot.generator import Generator
from sqlglot.helper import ensure_list

from dialects.by_dialect import ByDialect
from dialects.enums import Dialect
from dialects.errors import Untranslatable
from dialects.nodes import (
    OF_COLUMNS,
    SPELLINGS,
    Alternatives,
    BoundValue,
    Double,
    Fits,
    Joined,
    JSONString,
    Matches,
    Quotient,
    Remainder,
    ServerCall,
    Whole,
)  # fmt: skip

_OR, _AND, _NOT, _COMPARISON, _OTHER, _SUM, _PRODUCT, _SIGN, ATOM = range(1, 10)

_LEVELS: dict[type[exp.Expr], int] = {
    kind: level
    for level, kinds in {
        _OR: (exp.Or,),
        _AND: (exp.And,),
        _NOT: (exp.Not,),
        _COMPARISON: (
            exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Is,
            exp.In, exp.Between, Matches, Fits,
        ),
        _OTHER: (
            exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor, exp.BitwiseLeftShift, exp.BitwiseRightShift,
            Joined, exp.BitwiseNot,
        ),
        _SUM: (exp.Add, exp.Sub),
        _PRODUCT: (exp.Mul, Quotient, Remainder, Whole),
        _SIGN: (exp.Neg, exp.Collate),
    }.items()
    for kind in kinds
}  # fmt: skip
"""Operator precedence, as far as the targets agree; where they differ, parentheses are written."""

_SYMBOLS: dict[type[exp.Expr], str] = {
    exp.Or: "OR",
    exp.And: "AND",
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.BitwiseAnd: "&",
    exp.BitwiseOr: "|",
    exp.BitwiseLeftShift: "<<",
    exp.BitwiseRightShift: ">>",
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
}

_CHAINS = frozenset({exp.Or, exp.And, exp.Add, exp.Sub, exp.Mul})
"""a - b - c is (a - b) - c."""

_QUERIES = (exp.Select, exp.SetOperation, exp.Values)

_STRUCTURES: tuple[type[exp.Expr], ...] = (
    exp.With, exp.CTE, exp.Subquery, exp.TableAlias, exp.Star, exp.Distinct, exp.Tuple, exp.Case,
    exp.Null, exp.Boolean, exp.Exists, exp.Window, exp.WindowSpec, exp.Filter, exp.Lateral, exp.Anonymous,
    exp.Dot, exp.Var, exp.Hint,
)  # fmt: skip
"""Nodes that sqlglot writes unchanged."""

_FUNCTIONS: tuple[type[exp.Expr], ...] = (
    exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max, exp.Coalesce, exp.Nullif, exp.Greatest, exp.Least,
    exp.Abs, exp.Sign, exp.RowNumber, exp.Rank, exp.DenseRank, exp.PercentRank, exp.CumeDist, exp.Ntile,
    exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue, exp.NthValue,
)  # fmt: skip
"""Functions with the same name and arguments on both targets."""

Writer = Callable[[Any, Any], str]
"""Writes a node: a method of a generator."""


def _template(text: str) -> Writer:
    """Return what writes a node as a template of `nodes.SPELLINGS`."""
    parts = list(Formatter().parse(text))

    def write(self: "TargetGenerator", node: exp.Expr) -> str:
        written: list[str] = []
        for literal, name, before, how in parts:
            written.append(literal)
            value = node.args.get(name) if name else None
            if not value:
                continue
            written.append(before or "")
            if how == "o":
                written.append(self.operand(value, self.level(node), strict=True))
            elif isinstance(value, list):
                written.append(", ".join(map(self.sql, value)))
            elif value is not True:
                written.append(self.sql(value.unnest() if how == "u" else value))
        return "".join(written)

    return write


def _of_column(shapes: Mapping[str, str], otherwise: Writer) -> Writer:
    """Return what writes a call of `nodes.OF_COLUMNS` with a column as its argument."""

    def write(self: "TargetGenerator", node: exp.Expr) -> str:
        is_call = isinstance(node, ServerCall)
        name, texts = (node.this, node.expressions) if is_call else (node.key, [node.this])
        call, shape = otherwise(self, node), shapes.get(name)
        if shape is None or not isinstance(texts[0], exp.Column):
            return call
        return shape.format(text=self.sql(texts[0]), call=call)

    return write


class TargetGenerator(Generator):
    """Writes the compiler's tree in the syntax of one target."""

    QUERY_HINT_SEP = " "

    DIALECT: ClassVar[str]
    """sqlglot's name of it."""
    COLUMNS: ClassVar[tuple[str, ...]] = ("any",)
    """Its columns of `nodes.SPELLINGS`: a later one counts, where it has the node."""
    TYPES: ClassVar[Mapping[exp.DType, str]] = {}
    """The names of types in CAST."""
    BOUND: ClassVar[Mapping[str, str]] = {}
    """The types to which values that a driver binds are cast, by their storage class."""

    def __init__(self) -> None:
        super().__init__(
            dialect=self.DIALECT, identify=True, comments=False, unsupported_level=ErrorLevel.IMMEDIATE
        )
        ours = type(self)
        table: dict[type[exp.Expr], Writer] = {
            kind: getattr(Generator, f"{kind.key}_sql") for kind in _STRUCTURES
        }
        table |= dict.fromkeys(_FUNCTIONS, ours.call)
        table |= dict.fromkeys(_SYMBOLS, ours.operator)
        table |= {
            exp.Not: ours.negation,
            exp.Neg: ours.negative,
            exp.BitwiseNot: lambda self, e: f"~{self.operand(e.this, _SIGN, strict=True)}",
            exp.NullSafeNEQ: lambda self, e: f"NOT {self.parenthesized(exp.NullSafeEQ(**e.args))}",
            exp.Is: lambda self, e: self.comparison(e, "IS"),
            exp.In: ours.membership,
            exp.Between: lambda self, e: self.comparison(e, "BETWEEN"),
            Matches: lambda self, e: self.comparison(e, "LIKE"),
            exp.Collate: lambda self, e: f"{self.operand(e.this, ATOM)} COLLATE {self.sql(e.expression)}",
            exp.Paren: lambda self, e: f"({self.sql(e.this)})",
            exp.If: lambda self, e: self.case_sql(exp.Case(ifs=[e], default=e.args.get("false"))),
            exp.Literal: ours.constant,
            exp.Identifier: lambda self, e: e.args["this"] if e.args.get("bare") else self.identifier_sql(e),
            exp.Cast: lambda self, e: f"CAST({self.sql(e.this)} AS {self.type_name(e.to)})",
            exp.Table: ours.source,
            exp.Join: ours.joining,
            exp.Ordered: ours.order_term,
            exp.Select: ours.selection,
            exp.Column: ours.column,
            exp.Alias: _template("{this} AS {alias}"),
            exp.From: _template(" FROM {this}"),
            exp.Where: _template(" WHERE {this}"),
            exp.Group: _template(" GROUP BY {expressions}"),
            exp.Having: _template(" HAVING {this}"),
            exp.Order: _template(" ORDER BY {expressions}"),
            exp.Limit: _template(" LIMIT {expression}"),
            exp.Offset: _template(" OFFSET {expression}"),
            exp.Union: ours.compound,
            exp.Intersect: ours.compound,
            exp.Except: ours.compound,
            exp.Values: ours.rows,
        }
        for kind, row in SPELLINGS.items():
            for column in self.COLUMNS:
                if cell := row.get(column):
                    table[kind] = getattr(ours, cell) if cell.isidentifier() else _template(cell)
        for shapes in [OF_COLUMNS[column] for column in self.COLUMNS if column in OF_COLUMNS][-1:]:
            table |= {kind: _of_column(shapes, table[kind]) for kind in (ServerCall, JSONString)}
        self._dispatch = table

    def sql(self, expression: Any, key: str | None = None, comment: bool = True) -> str:  # noqa: FBT001, FBT002
        """Write a node.

        Raises:
            Untranslatable: the compiler does not make such a node.
            TypeError: a rewrite has taken a value of several types for one.
        """
        writer = self._dispatch.get(type(expression))
        if writer is not None and key is None:
            return writer(self, expression)
        if isinstance(expression, Alternatives):
            raise TypeError("a value of several types is used as one")
        if isinstance(expression, exp.Expr) and key is None:
            raise Untranslatable(type(expression).__name__, "no target spells this node")
        return super().sql(expression, key, comment)

    def parenthesized(self, node: exp.Expr) -> str:
        """Write the node in one pair of parentheses."""
        return f"({self.sql(node.unnest())})"

    def operand(self, node: exp.Expr, level: int, *, strict: bool = False) -> str:
        """Write an operand, in parentheses if it binds looser than `level`; if `strict`, also if equally."""
        inner = node.unnest()
        if isinstance(inner, _QUERIES):
            return f"({self.sql(inner)})"
        own = self.level(inner)
        if own < level or (own == level and (strict or level in {_COMPARISON, _OTHER})):
            return f"({self.sql(inner)})"
        return self.sql(inner)

    def level(self, node: exp.Expr) -> int:
        """Return the precedence of a node's text."""
        return _LEVELS.get(type(node), ATOM)

    def operator(self, node: exp.Binary) -> str:
        """Write an operator that all targets spell alike; long chains are walked without recursion."""
        return self.infix(node, _SYMBOLS[type(node)])

    def infix(self, node: exp.Expr, symbol: str) -> str:
        """Write `a symbol b`; a chain of the same operator gets no parentheses on the left."""
        kind = type(node)
        level = _LEVELS[kind]
        parts: list[str] = []
        while True:
            parts.append(self.operand(node.args["expression"], level, strict=True))
            left = node.args["this"]
            inner = left.unnest()
            if kind not in _CHAINS or type(inner) is not kind:
                break
            node = inner
        parts.append(self.operand(left, level, strict=kind not in _CHAINS))
        return f" {symbol} ".join(reversed(parts))

    def negative(self, node: exp.Neg) -> str:
        """Write a minus sign; two in a row would begin a comment."""
        shown = self.operand(node.this, _SIGN, strict=True)
        return f"-({shown})" if shown.startswith("-") else f"-{shown}"

    def negation(self, node: exp.Not) -> str:
        """Write NOT, inside the comparison where it has such a form: IS NOT, NOT IN and so on."""
        inner = node.this.unnest()
        match inner:
            case exp.Is():
                return self.comparison(inner, "IS NOT")
            case exp.In():
                return self.membership(inner, "NOT IN")
            case exp.Between():
                return self.comparison(inner, "NOT BETWEEN")
            case Matches():
                return self.comparison(inner, "NOT LIKE")
        return f"NOT {self.operand(inner, ATOM)}"

    def comparison(self, node: exp.Expr, words: str) -> str:
        """Write IS, IN, BETWEEN or LIKE."""
        left = self.operand(node.this, _COMPARISON)
        if isinstance(node, exp.Between):
            low, high = (self.operand(node.args[bound], _COMPARISON) for bound in ("low", "high"))
            return f"{left} {words} {low} AND {high}"
        if isinstance(node, exp.In):
            return f"{left} {words} {self.members(node)}"
        if isinstance(node, Matches):
            escape, pattern = node.args.get("escape"), node.expression.unnest()
            words = words.replace("LIKE", "ILIKE") if node.args.get("folds") else words
            written = f"{left} {words} {self.operand(pattern, _COMPARISON)}"
            if escape is None and isinstance(pattern, exp.Literal) and "\\" not in pattern.this:
                return written
            return f"{written} ESCAPE {self.sql(escape) if escape else self.quoted('')}"
        return f"{left} {words} {self.operand(node.expression, _COMPARISON)}"

    def membership(self, node: exp.In, words: str = "IN") -> str:
        """Write IN, or NOT IN (`words`)."""
        return self.comparison(node, words)

    def members(self, node: exp.In) -> str:
        """Write the list or the subquery of IN."""
        query = node.args.get("query")
        if query is not None:
            return f"({self.sql(query.unnest())})"
        if not node.expressions:
            raise Untranslatable("IN ()", "no target has an empty list")
        return f"({', '.join(self.sql(member) for member in node.expressions)})"

    def constant(self, node: exp.Literal) -> str:
        """Write a number unchanged, or a text in quotes."""
        return self.quoted(node.this) if node.is_string else str(node.this)

    def bound(self, node: BoundValue) -> str:
        """Write what stands for a value that the driver binds, with its type if the target asks for one."""
        kind = self.BOUND.get(node.args["kind"])
        return f"CAST({node.this} AS {kind})" if kind else str(node.this)

    def quoted(self, value: str) -> str:
        """Write a text constant."""
        raise NotImplementedError

    def type_name(self, to: exp.DataType) -> str:
        """Return the name of a type in CAST."""
        name = self.TYPES.get(to.this) if isinstance(to.this, exp.DType) else None
        if name is None or to.expressions:
            raise Untranslatable(f"CAST AS {to.this}", "the compiler makes no such type")
        return name

    def double_constant(self, node: Double) -> str | None:
        """Return the digits of a constant in double precision; None if it is not a constant."""
        inner = node.this.unnest()
        sign = ""
        if isinstance(inner, exp.Neg):
            sign, inner = "-", inner.this.unnest()
        if not isinstance(inner, exp.Literal) or inner.is_string:
            return None
        return f"{sign}{inner.this.removesuffix('.0')}"

    def selection(self, node: exp.Select) -> str:
        """Write a SELECT."""
        args = node.args
        hint, source = (self.sql(args[part]) if args.get(part) else "" for part in ("hint", "from_"))
        start = f"SELECT{hint}{' DISTINCT' if args.get('distinct') else ''}"
        text = self.query_modifiers(node, f"{start} {', '.join(map(self.sql, args['expressions']))}", source)
        return self.prepend_ctes(node, text) if args.get("with_") else text

    def call(self, node: exp.Func) -> str:
        """Write a call of `_FUNCTIONS`."""
        given = (each for name in node.arg_types for each in ensure_list(node.args.get(name)))
        return (
            f"{node.sql_name()}({', '.join(self.sql(each) for each in given if isinstance(each, exp.Expr))})"
        )

    def column(self, node: exp.Column) -> str:
        """Write a column, after its table if that is given."""
        table, name = node.args.get("table"), self.sql(node.args["this"])
        return f"{self.sql(table)}.{name}" if table else name

    def source(self, node: exp.Table) -> str:
        """Write a table, and its joins in the same parentheses."""
        alias = node.args.get("alias")
        joins = "".join(self.sql(join) for join in node.args.get("joins") or ())
        return f"{self.table_parts(node)}{f' AS {self.sql(alias)}' if alias else ''}{joins}"

    def query_modifiers(self, expression: exp.Expr, *sqls: str) -> str:
        """Write the clauses that follow FROM."""
        args = expression.args
        written = [*sqls, *map(self.sql, args.get("joins") or ())]
        written += [self.sql(args[part]) for part in ("where", "group", "having") if args.get(part)]
        if args.get("windows"):
            written.append(f" WINDOW {', '.join(map(self.sql, args['windows']))}")
        written += [self.sql(args[part]) for part in ("order", "limit", "offset") if args.get(part)]
        return "".join(written)

    def joining(self, node: exp.Join) -> str:
        """Write a join; a comma becomes CROSS JOIN, left-associative like every join in SQLite."""
        on, using = node.args.get("on"), node.args.get("using")
        if not (on or using or node.method or node.side):
            return f" CROSS JOIN {self.sql(node.this)}"
        words = " ".join(word for word in (node.method, node.side, node.kind, "JOIN") if word)
        text = f" {words} {self.sql(node.this)}"
        if on:
            return f"{text} ON {self.sql(on)}"
        return f"{text} USING ({', '.join(self.sql(name) for name in using)})" if using else text

    def order_term(self, node: exp.Ordered) -> str:
        """Write one ORDER BY term; with NULLS FIRST or LAST only if the target's default differs."""
        descending = bool(node.args.get("desc"))
        words = f"{' DESC' if descending else ''}{self.null_order(node, descending=descending)}"
        return f"{self.sql(node.this)}{words}"

    def null_order(self, node: exp.Ordered, *, descending: bool) -> str:
        """Write NULLS FIRST, NULLS LAST, or nothing."""
        raise NotImplementedError

    def compound(self, node: exp.SetOperation) -> str:
        """Write UNION, INTERSECT or EXCEPT, grouped as in the tree."""
        parts: list[str] = []
        left: exp.Expr = node
        while isinstance(left, exp.SetOperation):
            everything = "" if left.args.get("distinct") is not False else " ALL"
            parts.append(f"{left.key.upper()}{everything} {self.term(left.expression)}")
            tight = isinstance(left, exp.Intersect)
            left = left.this
            if isinstance(left, exp.SetOperation) and (_is_modified(left) or tight):
                break
        parts.append(self.term(left))
        return self.prepend_ctes(node, self.query_modifiers(node, " ".join(reversed(parts))))

    def term(self, node: exp.Expr) -> str:
        """Write an operand of a compound SELECT."""
        if isinstance(node, exp.SetOperation) or _is_modified(node):
            return f"({self.sql(node)})"
        return self.sql(node)

    def rows(self, node: exp.Values) -> str:
        """Write VALUES as a query or, with an alias, as an item of FROM."""
        text = f"VALUES {', '.join(self.row(values) for values in node.expressions)}"
        alias = self.sql(node, "alias")
        return f"({text}) AS {alias}" if alias else self.query_modifiers(node, text)

    def row(self, node: exp.Expr) -> str:
        """Write one row of VALUES."""
        return self.sql(node)


def _is_modified(node: exp.Expr) -> bool:
    return any(node.args.get(key) for key in ("order", "limit", "offset", "with_"))


_GENERATORS = ByDialect[TargetGenerator]("dialects.{}.generator", "GENERATOR")


def spell(tree: exp.Expr, target: Dialect) -> str:
    """Write the tree for a target, exactly as it is.

    Raises:
        Untranslatable: it has a node that the compiler does not make, or that the target cannot express.
    """
    try:
        return _GENERATORS[target].sql(tree)
    except UnsupportedError as error:
        raise Untranslatable(type(tree).__name__, str(error)) from error
