"""What scalar functions share: constants are decided now, NULL gives NULL, alternatives are kept apart."""

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing

from sqlglot import exp

from dialects.coercions import literal, plain
from dialects.errors import Untranslatable
from dialects.functions import Call, function
from dialects.rules import Context, Rule
from dialects.source import Plus
from dialects.typed import Affinity, Constant, Kind, Typed, null

RULES = (
    Rule(
        "constant-call",
        "A function or operator of constants is a constant.",
        "https://sqlite.org/lang_expr.html",
        "Its value, asked of SQLite itself.",
    ),
)


def scalar(
    *names: str, least: int = 1, most: int | None = 1, strict: bool = True, foldable: bool = True
) -> Callable[[Call], Call]:
    """Enter a function into the table, its rewrite called with arguments of one kind each.

    Args:
        names: what SQLite calls it; the first one is asked of SQLite where the arguments are constants.
        least: how many arguments it takes,
        most: and at most; None is any number.
        strict: whether a NULL among the arguments makes the result NULL.
        foldable: whether constant arguments make the result a constant.
    """

    def enter(rewrite: Call) -> Call:
        def call(c: Context, arguments: list[Typed]) -> Typed:
            arguments = [plain(c, argument) for argument in arguments]
            if strict and any(argument.kind is Kind.NULL for argument in arguments):
                return null()
            if foldable and (found := folded(c, names[0], arguments)) is not None:
                return found
            return detached(arguments, apart(arguments, lambda each: rewrite(c, each)))

        function(*names, least=least, most=most)(call)
        return call

    return enter


def apart(arguments: Sequence[Typed], rewrite: Callable[[list[Typed]], Typed]) -> Typed:
    """Rewrite once for each combination of the arguments' alternatives, none of which is of several kinds."""
    position = next((at for at, argument in enumerate(arguments) if argument.kind is Kind.ANY), None)
    if position is None:
        return rewrite(list(arguments))
    each, before, after = arguments[position].each, arguments[:position], arguments[position + 1 :]
    if each is None:
        raise Untranslatable("values of several types", "they cannot be told apart on the target")
    return each(lambda part: apart([*before, part, *after], rewrite))


def size(node: exp.Expr) -> int:
    """How many nodes an expression has: what it costs to write it twice."""
    return sum(1 for _ in node.walk())


def folded(c: Context, name: str, arguments: Sequence[Typed]) -> Typed | None:
    """The value of a call whose arguments are all constants; None where they aren't, or SQLite refuses."""
    values = [argument.constant.value for argument in arguments if argument.constant is not None]
    if len(values) != len(arguments) or not arguments:
        return None
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            [(found,)] = connection.execute(f"SELECT {name}({', '.join('?' * len(values))})", values)
        except (sqlite3.Error, OverflowError):
            return None
    if isinstance(found, bytes):
        return None
    c.applies("constant-call")
    return literal(found)


_OPEN = frozenset({
    "random", "randomblob", "load_extension",
    "date", "time", "datetime", "julianday", "strftime", "unixepoch",
})  # fmt: skip
"""Functions that do not always say the same of the same constants."""

_LONGEST = 100_000
"""Bytes of a text or blob that is written out."""


def written_out(c: Context, node: exp.Expr) -> Typed | None:
    """The value of an expression of constants alone; None where SQLite refuses it, or it is no such.

    Aggregates are none: the caller knows their names.
    """
    if any(
        type(part) not in WRITTEN or (isinstance(part, exp.Anonymous) and part.name.lower() in _OPEN)
        for part in node.walk()
        if not isinstance(part, _INSIDE)
    ):
        return None
    if not c.in_utf8 and node.find(exp.Cast):
        return None
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
        try:
            [(found,)] = connection.execute(f"SELECT {_spelled(node)}")
        except (sqlite3.Error, OverflowError, ValueError):
            return None
    c.applies("constant-call")
    if isinstance(found, bytes):
        return Typed(exp.HexString(this=found.hex()), Kind.BLOB, nullable=False, constant=Constant(found))
    return literal(found)


_BINARY: dict[type[exp.Expr], str] = {
    exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.Mod: "%", exp.DPipe: "||",
    exp.BitwiseAnd: "&", exp.BitwiseOr: "|", exp.BitwiseLeftShift: "<<", exp.BitwiseRightShift: ">>",
    exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=",
    exp.Is: "IS", exp.NullSafeEQ: "IS", exp.NullSafeNEQ: "IS NOT", exp.And: "AND", exp.Or: "OR",
    exp.Like: "LIKE", exp.Glob: "GLOB", exp.JSONExtract: "->", exp.JSONExtractScalar: "->>",
}  # fmt: skip

_PREFIX: dict[type[exp.Expr], str] = {
    exp.Neg: "-", exp.Not: "NOT ", exp.BitwiseNot: "~", exp.Paren: "", Plus: "+",
}  # fmt: skip

WRITTEN = frozenset({
    *_BINARY, *_PREFIX,
    exp.Anonymous, exp.Literal, exp.Null, exp.Boolean, exp.HexString, exp.Tuple,
    exp.Case, exp.If, exp.Cast, exp.Collate, exp.Between, exp.In, exp.Escape,
})  # fmt: skip

"""The kinds of nodes of an expression of constants."""

_INSIDE = (exp.DataType, exp.Var, exp.Identifier)
"""The words of a type or a collation."""


def _spelled(node: exp.Expr) -> str:
    if (sign := _BINARY.get(type(node))) is not None:
        negated = "NOT " if node.args.get("negate") else ""
        return f"({_spelled(node.this)} {negated}{sign} {_spelled(node.expression)})"
    if (sign := _PREFIX.get(type(node))) is not None:
        return f"({sign}{_spelled(node.this)})"
    match node:
        case exp.Anonymous():
            return f"{node.name}({_several(node.expressions)})"
        case exp.Literal() if node.is_string:
            return _quoted(node.name, "'")
        case exp.Null():
            return "NULL"
        case exp.Boolean():
            return str(bool(node.this)).upper()
        case exp.HexString():
            return f"x'{node.name}'"
        case exp.Tuple():
            return f"({_several(node.expressions)})"
        case exp.Cast():
            words = _quoted(node.args["to"].args["kind"], '"')
            return f"CAST({_spelled(node.this)} AS {words})"
        case exp.Collate():
            name = _quoted(node.expression.name, '"')
            return f"({_spelled(node.this)} COLLATE {name})"
        case exp.Escape():
            like = node.this
            return f"({_spelled(like)[1:-1]} ESCAPE {_spelled(node.expression)})"
        case exp.Between():
            low, high = _spelled(node.args["low"]), _spelled(node.args["high"])
            return f"({_spelled(node.this)} BETWEEN {low} AND {high})"
        case exp.In() if node.args.get("query") is None and node.args.get("field") is None:
            return f"({_spelled(node.this)} IN ({_several(node.expressions)}))"
        case exp.Case():
            base = "" if node.this is None else f" {_spelled(node.this)}"
            branches = [
                f" WHEN {_spelled(part.this)} THEN {_spelled(part.args['true'])}" for part in node.args["ifs"]
            ]
            last = node.args.get("default")
            other = "" if last is None else f" ELSE {_spelled(last)}"
            return f"CASE{base}{''.join(branches)}{other} END"
        case exp.Literal():
            return node.name
        case _:
            raise ValueError(node.key)


def _several(nodes: Iterable[exp.Expr]) -> str:
    return ", ".join(_spelled(node) for node in nodes)


def _quoted(text: str, mark: str) -> str:
    return f"{mark}{text.replace(mark, mark * 2)}{mark}"


def detached(arguments: Sequence[Typed], result: Typed) -> Typed:
    """A result is no column, but a COLLATE operator inside of a call rules outside of it, too.

    https://sqlite.org/datatype3.html#affinity_of_expressions
    """
    explicit = next((argument.collation for argument in arguments if argument.collates), None)
    return result.of(affinity=Affinity.NONE, collation=explicit, collates=explicit is not None)
