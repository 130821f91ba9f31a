"""Functions that choose one of their arguments. https://sqlite.org/lang_corefunc.html."""

from collections.abc import Sequence

from sqlglot import exp

from dialects.coercions import as_condition, bounds, choose, literal, plain
from dialects.functions import function
from dialects.nodes import case, every, is_not_null, some
from dialects.rewrites.calls import apart, detached, folded
from dialects.rewrites.comparison import collation, compare, equal, null_test
from dialects.rules import Context, Rule
from dialects.typed import Affinity, Collation, Kind, Typed

RULES = (
    Rule(
        "choice-of-types",
        "A function may give values of several types.",
        "https://sqlite.org/lang_corefunc.html#coalesce",
        "CASE, and what is done with the result is done in each branch.",
    ),
    Rule(
        "scalar-min-max",
        "min() and max() of several arguments compare numbers below texts, and are NULL if one of them is.",
        "https://sqlite.org/lang_corefunc.html#max_scalar",
        "LEAST and GREATEST, on PostgreSQL within CASE, or CASE alone.",
    ),
    Rule("iif", "iif(X, Y, Z) is a CASE.", "https://sqlite.org/lang_corefunc.html#iif", "CASE."),
)


@function("coalesce", "ifnull", least=2, most=None)
def coalesce(c: Context, arguments: list[Typed]) -> Typed:
    """The first argument that is not NULL."""
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
        node = exp.Coalesce(this=kept[0].node, expressions=[argument.node for argument in kept[1:]])
        return detached(kept, Typed(node, last.kind, nullable=last.nullable, low=low, high=high))
    c.applies("choice-of-types")
    chosen = choose(c, [(_present(argument), argument) for argument in earlier], last)
    return detached(kept, chosen.of(nullable=last.nullable))


def _present(argument: Typed) -> exp.Expr:
    """Whether the value is there."""
    return exp.Not(this=exp.Paren(this=null_test(argument).node))


def _bare(argument: Typed) -> Typed:
    """A value that is no column any more. https://sqlite.org/datatype3.html#affinity_of_expressions."""
    return argument.of(affinity=Affinity.NONE, collation=argument.collation if argument.collates else None)


@function("nullif", least=2, most=2)
def nullif(c: Context, arguments: list[Typed]) -> Typed:
    """The first argument, or NULL where it equals the second one."""
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
    """An argument as a function compares it: its affinity does nothing, its collation counts."""
    return argument.of(node=argument.node.copy(), affinity=Affinity.NONE)


@function("iif", least=3, most=3)
def iif(c: Context, arguments: list[Typed]) -> Typed:
    """CASE WHEN X THEN Y ELSE Z END."""
    test, first, second = arguments
    c.applies("iif")
    return detached(arguments, choose(c, [(as_condition(c, test).node, first)], second))


@function("likely", "unlikely")
def likely(_c: Context, arguments: list[Typed]) -> Typed:
    """A hint, and the value itself."""
    return detached(arguments, arguments[0])


@function("likelihood", least=2, most=2)
def likelihood(_c: Context, arguments: list[Typed]) -> Typed:
    """A hint, and the value itself."""
    return detached(arguments, arguments[0])


@function("min", least=2, most=None)
def least(c: Context, arguments: list[Typed]) -> Typed:
    """The smallest argument."""
    return _extreme(c, arguments, "min")


@function("max", least=2, most=None)
def greatest(c: Context, arguments: list[Typed]) -> Typed:
    """The largest argument."""
    return _extreme(c, arguments, "max")


def _extreme(c: Context, arguments: Sequence[Typed], name: str) -> Typed:
    arguments = [plain(c, argument) for argument in arguments]
    if any(argument.kind is Kind.NULL for argument in arguments):
        return literal(None)
    chosen = next((argument.collation for argument in arguments if argument.collation), None)
    binary = chosen in {None, Collation.BINARY}
    if binary and (known := folded(c, name, arguments)) is not None:
        return known
    c.applies("scalar-min-max")
    alike = [argument.of(affinity=Affinity.NONE, collation=chosen) for argument in arguments]
    found = apart(alike, lambda each: _of_kinds(c, each, name))
    return found.of(collation=None, collates=False)


def _of_kinds(c: Context, arguments: Sequence[Typed], name: str) -> Typed:
    """The extreme one of arguments of one kind each: between kinds the kinds decide."""
    numbers = [argument for argument in arguments if argument.kind.is_numeric]
    texts = [argument for argument in arguments if not argument.kind.is_numeric]
    if numbers and texts:
        ruling, others = (numbers, texts) if name == "min" else (texts, numbers)
        found = _of_kinds(c, ruling, name)
        missing = [null_test(argument).node for argument in others if argument.nullable]
        return choose(c, [(some(missing), literal(None))], found) if missing else found
    first, *rest = arguments
    if not rest:
        return first
    kinds = {argument.kind for argument in arguments}
    # Over a single row MySQL 9.7 evaluates a window function twice inside of GREATEST and LEAST.
    windows = any(argument.node.find(exp.Window) for argument in arguments)
    if (
        windows
        or len(kinds) > 1
        or kinds & {Kind.NUMBER, Kind.BLOB}
        or first.collation not in {None, Collation.BINARY}
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
    if present and c.target.extremes_skip_null:
        chosen = case((every(present), chosen))
    low, high = bounds(arguments)
    return Typed(chosen, arguments[0].kind, nullable=bool(present), low=low, high=high)


def _of_two(c: Context, left: Typed, right: Typed, name: str) -> Typed:
    """Of equal ones, max() takes the first and min() the last."""
    operator = exp.GTE if name == "min" else exp.LT
    test = compare(c, operator, left.of(node=left.node.copy()), right.of(node=right.node.copy()))
    branches = [(test.node, right)]
    missing = [null_test(side).node for side in (left, right) if side.nullable]
    if missing:
        branches.insert(0, (some(missing), literal(None)))
    return choose(c, branches, left).of(collation=left.collation)
