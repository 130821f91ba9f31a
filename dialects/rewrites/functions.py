"""Scalar functions: how `dialects.functions` is read, and functions that return an argument.

Constants are folded, NULL gives NULL, and alternatives stay separate. https://sqlite.org/lang_corefunc.html
"""

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from functools import partial

from sqlglot import exp

from dialects.coercions import (
    as_condition,
    as_double,
    as_text,
    bounds,
    choose,
    literal,
    most_of,
    plain,
    spread,
)
from dialects.errors import Untranslatable
from dialects.functions import Function, rows_of
from dialects.nodes import builtin, case, coalesced, every, is_not_null, server, some
from dialects.rewrites.comparison import collation, compare, equal, null_test
from dialects.source import Plus
from dialects.trees import has
from dialects.value_types import Affinity, Collation, Constant, Context, Kind, NumberFacts, Typed, null

Call = Callable[[Context, list[Typed]], Typed]


def called(
    c: Context,
    name: str,
    rewrite: Call,
    arguments: list[Typed],
    *,
    strict: bool = True,
    foldable: bool = True,
) -> Typed:
    """Compile a call of a function whose rewrite takes arguments of one kind each."""

    def is_null(each: Sequence[Typed]) -> bool:
        return strict and any(argument.kind is Kind.NULL for argument in each)

    arguments = [plain(c, argument) for argument in arguments]
    if is_null(arguments):
        return null()
    if foldable and (found := folded(c, name, arguments)) is not None:
        return found
    # An alternative may be NULL where the argument as a whole is not.
    return detached(
        arguments, apart(c, arguments, lambda each: null() if is_null(each) else rewrite(c, each))
    )


def formed(row: Function, c: Context, arguments: list[Typed]) -> Typed:
    """Compile a call by the row's form alone."""
    name = c.target.natives.get(row.names[0], row.form)
    if name is None:
        raise Untranslatable(f"{row.names[0]}()", f"{c.target.title} has no such function")
    form = partial(builtin, name) if isinstance(name, str) else name
    if row.rule is not None:
        c.applies(row.rule)
    read = [_CONVERSIONS[row.takes_at(at)](c, argument) for at, argument in enumerate(arguments)]
    if any(argument.kind is Kind.NULL for argument in read):
        return null()
    node = form(*(argument.node for argument in read))
    nullable = row.nulls or row.domain is not None or any(argument.nullable for argument in read)
    if row.domain is not None:
        c.applies("math-domain")
        node = case((row.domain(read[0].node.copy()), node))
    return Typed(node, row.result, nullable=nullable, number=NumberFacts(row.low, row.high))


def as_math(c: Context, x: Typed) -> Typed:
    """Return the argument of a mathematical function: a blob, or a text that is not a number, is NULL."""
    if x.kind is Kind.BLOB:
        return null()
    if x.kind is not Kind.TEXT:
        return x
    c.applies("math-of-text")
    return Typed(server("as_number", x.node), Kind.NUMBER)


def as_real(c: Context, x: Typed) -> Typed:
    """Return the argument of a mathematical function of REALs."""
    x = as_math(c, x)
    return x if x.kind is Kind.NULL else as_double(c, x)


_CONVERSIONS: dict[Kind | None, Callable[[Context, Typed], Typed]] = {Kind.TEXT: as_text, Kind.REAL: as_real}


def apart(c: Context, arguments: Sequence[Typed], rewrite: Callable[[list[Typed]], Typed]) -> Typed:
    """Rewrite once per combination of the arguments' alternatives, each of a single kind."""
    position = next((at for at, argument in enumerate(arguments) if argument.kind is Kind.ANY), None)
    if position is None:
        return rewrite(list(arguments))
    before, after = arguments[:position], arguments[position + 1 :]
    return spread(c, arguments[position], lambda part: apart(c, [*before, part, *after], rewrite))


def size(node: exp.Expr) -> int:
    """Return the number of nodes of an expression: the cost of writing it twice."""
    return sum(1 for _ in node.walk())


def folded(c: Context, name: str, arguments: Sequence[Typed]) -> Typed | None:
    """Return the value of a call with constant arguments; None if they are not constants, or SQLite fails."""
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


_LONGEST = 100_000
"""Longest literal text or blob, in bytes."""


def written_out(c: Context, node: exp.Expr) -> Typed | None:
    """Return the value of an expression of constants only; None if it is not one, or SQLite fails.

    Aggregates do not count; the caller knows their names.
    """
    if any(
        type(part) not in WRITTEN or (isinstance(part, exp.Anonymous) and _is_volatile(part.name.lower()))
        for part in node.walk()
        if not isinstance(part, _INSIDE)
    ):
        return None
    if not c.in_utf8 and has(node, exp.Cast):
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


def _is_volatile(name: str) -> bool:
    return any(row.volatile for row in rows_of(name))


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

"""The node types in an expression of constants."""

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
    """Return a result without affinity, but with the collation of a COLLATE operator inside the call.

    https://sqlite.org/datatype3.html#affinity_of_expressions
    """
    explicit = next((argument.text.collation for argument in arguments if argument.text.collates), None)
    return result.of(affinity=Affinity.NONE).with_text(collation=explicit, collates=explicit is not None)


def coalesce(c: Context, arguments: list[Typed]) -> Typed:
    """Return the first argument that is not NULL."""
    kept: list[Typed] = []
    for argument in (plain(c, argument) for argument in arguments):
        if argument.kind is Kind.NULL:
            continue
        kept.append(_bare(argument))
        if not argument.nullable:
            break
    if not kept:
        return literal(None)
    *earlier, last = kept
    kinds = {argument.kind for argument in kept}
    if not earlier:
        return last
    if len(kinds) == 1 and kinds <= {Kind.INTEGER, Kind.REAL, Kind.TEXT, Kind.BLOB}:
        low, high = bounds(kept)
        node = coalesced(kept[0].node, *(argument.node for argument in kept[1:]))
        facts = NumberFacts(low, high, most_of(kept))
        found = Typed(node, last.kind, nullable=last.nullable, number=facts)
        return detached(kept, found)
    c.applies("choice-of-types")
    chosen = choose(c, [(_present(c, argument), argument) for argument in earlier], last)
    return detached(kept, chosen.of(nullable=last.nullable))


def _present(c: Context, argument: Typed) -> exp.Expr:
    return exp.Not(this=exp.Paren(this=null_test(c, argument).node))


def _bare(argument: Typed) -> Typed:
    """Return a value without a column's affinity. https://sqlite.org/datatype3.html#affinity_of_expressions."""
    found = argument.of(affinity=Affinity.NONE)
    return found if argument.text.collates else found.with_text(collation=None)


def nullif(c: Context, arguments: list[Typed]) -> Typed:
    """Return the first argument, or NULL if it equals the second one."""
    x, y = (plain(c, argument) for argument in arguments)
    if x.kind is Kind.NULL:
        return literal(None)
    if y.kind is Kind.NULL:
        return _bare(x)
    binary = collation(x, y) is Collation.BINARY
    if binary and (known := folded(c, "nullif", [x, y])) is not None:
        return known
    same = equal(c, _unaffected(x), _unaffected(y))
    chosen = choose(c, [(same.node, literal(None))], x.of(constant=None))
    return detached([x, y], chosen.of(nullable=True))


def _unaffected(argument: Typed) -> Typed:
    """Return an argument as functions compare it: without affinity, with its collation."""
    return argument.of(node=argument.node.copy(), affinity=Affinity.NONE)


def iif(c: Context, arguments: list[Typed]) -> Typed:
    """CASE WHEN X THEN Y ELSE Z END."""
    test, first, second = arguments
    c.applies("iif")
    return detached(arguments, choose(c, [(as_condition(c, test).node, first)], second))


def likely(_c: Context, arguments: list[Typed]) -> Typed:
    """Return the value itself; the function is only a hint."""
    return detached(arguments, arguments[0])


def least(c: Context, arguments: list[Typed]) -> Typed:
    """Return the smallest argument."""
    return _extreme(c, arguments, "min")


def greatest(c: Context, arguments: list[Typed]) -> Typed:
    """Return the largest argument."""
    return _extreme(c, arguments, "max")


def _extreme(c: Context, arguments: Sequence[Typed], name: str) -> Typed:
    arguments = [plain(c, argument) for argument in arguments]
    if any(argument.kind is Kind.NULL for argument in arguments):
        return literal(None)
    chosen = next((argument.text.collation for argument in arguments if argument.text.collation), None)
    binary = chosen in {None, Collation.BINARY}
    if binary and (known := folded(c, name, arguments)) is not None:
        return known
    c.applies("scalar-min-max")
    alike = [argument.of(affinity=Affinity.NONE).with_text(collation=chosen) for argument in arguments]
    found = apart(c, alike, lambda each: _of_kinds(c, each, name))
    return found.with_text(collation=None, collates=False)


def _of_kinds(c: Context, arguments: Sequence[Typed], name: str) -> Typed:
    """Return the extreme of arguments of one kind each; different kinds are ordered by kind."""
    numbers = [argument for argument in arguments if argument.kind.is_numeric]
    texts = [argument for argument in arguments if not argument.kind.is_numeric]
    if numbers and texts:
        ruling, others = (numbers, texts) if name == "min" else (texts, numbers)
        found = _of_kinds(c, ruling, name)
        missing = [null_test(c, argument).node for argument in others if argument.nullable]
        return choose(c, [(some(missing), literal(None))], found) if missing else found
    first, *rest = arguments
    if not rest:
        return first
    kinds = {argument.kind for argument in arguments}
    # Over a single row, MySQL 9.7 evaluates a window function in GREATEST and LEAST twice.
    windows = any(has(argument.node, exp.Window) for argument in arguments)
    if (
        windows
        or len(kinds) > 1
        or kinds & {Kind.NUMBER, Kind.BLOB}
        or first.text.collation not in {None, Collation.BINARY}
    ):
        for argument in rest:
            first = _of_two(c, first, argument, name)
        return first
    return _native(c, arguments, name)


def _native(c: Context, arguments: Sequence[Typed], name: str) -> Typed:
    function_of = exp.Least if name == "min" else exp.Greatest
    first, *rest = (argument.node for argument in arguments)
    chosen: exp.Expr = function_of(this=first, expressions=rest)
    present = [is_not_null(argument.node) for argument in arguments if argument.nullable]
    if present and c.lowers("extremes-skip-null"):
        chosen = case((every(present), chosen))
    low, high = bounds(arguments)
    facts = NumberFacts(low, high, most_of(arguments))
    return Typed(chosen, arguments[0].kind, nullable=bool(present), number=facts)


def _of_two(c: Context, left: Typed, right: Typed, name: str) -> Typed:
    """Return the extreme of two; of equal ones, max() takes the first and min() the last."""
    operator = exp.GTE if name == "min" else exp.LT
    test = compare(c, operator, left.of(node=left.node.copy()), right.of(node=right.node.copy()))
    branches = [(test.node, right)]
    missing = [null_test(c, side).node for side in (left, right) if side.nullable]
    if missing:
        branches.insert(0, (some(missing), literal(None)))
    return choose(c, branches, left).with_text(collation=left.text.collation)
