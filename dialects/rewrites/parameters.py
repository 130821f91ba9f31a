"""Parameters, typed by a sample value or by their place. https://sqlite.org/lang_expr.html#varparam."""

from collections.abc import Iterator, Sequence

from sqlglot import exp

from dialects.coercions import BIGGEST, EXACT
from dialects.compiler import Compiler
from dialects.errors import Untranslatable
from dialects.functions import Function, find
from dialects.nodes import BoundValue
from dialects.parameters import Parameters
from dialects.rewrites.dates import is_reading
from dialects.scope import Scope
from dialects.trees import find_all, has
from dialects.value_types import Kind, Typed, null

_COMPARED = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Is)
_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod)
_TEXTS = (exp.Like, exp.Glob, exp.Escape, exp.DPipe)
_CONDITIONS = (exp.And, exp.Or, exp.Not, exp.Where, exp.Having, exp.If)
_COUNTS = (exp.Limit, exp.Offset, exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseLeftShift, exp.BitwiseRightShift)
_CASTS = {"TEXT": Kind.TEXT, "INTEGER": Kind.INTEGER, "REAL": Kind.REAL}
_KNOWN = frozenset({Kind.INTEGER, Kind.REAL, Kind.TEXT, Kind.BLOB})


def parameter(c: Compiler, node: exp.Expr, scope: Scope) -> Typed:
    """Compile a parameter to a value that the driver binds.

    Raises:
        Untranslatable: neither a sample value nor its place tells the kind of its values.
    """
    name = c.parameters.of(node.name)
    if c.parameters.decided.get(name, name) is None:
        return null()
    kind = c.parameters.kinds.get(name)
    if kind is None:
        kind = _by_place(c, node, scope)
        if kind is None:
            # Another place may tell: the query is compiled again with what was found.
            c.parameters.unknown[name] = None
        else:
            c.parameters.kinds[name] = kind
    kind = kind or Kind.TEXT
    cast = kind.value
    if isinstance(node.parent, exp.Limit | exp.Offset):
        cast = ""
    elif kind is Kind.INTEGER and isinstance(_around(node)[1], exp.Select | exp.Ordered | exp.Group):
        cast = "term"
    found = Typed(BoundValue(this=c.parameters.place(node.name), kind=cast), kind)
    sample = c.parameters.samples.get(name)
    if kind is Kind.INTEGER and isinstance(node.find_ancestor(exp.Limit, exp.Offset, exp.Query), _COUNTS[:2]):
        # Where a product of pages does not fit, SQLite raises an error, too.
        return found.with_number(fits=True)
    if kind is Kind.INTEGER and isinstance(sample, int) and abs(sample) >= EXACT:
        found = found.with_number(low=-BIGGEST - 1, high=BIGGEST)
    return found


def decide(tree: exp.Expr, parameters: Parameters) -> None:
    """Put sample values in where a translation depends on a parameter's value: it is for these alone.

    Raises:
        Untranslatable: one of them has no sample value.
    """
    for node in list(find_all(tree, exp.Placeholder)) if parameters.names else ():
        name = parameters.of(node.name)
        value = parameters.samples.get(name)
        what = _needs_value(node, value)
        if what is None:
            continue
        if not isinstance(value, str | int | float):
            reason = f"it is {what}, whose value decides the translation; give it, --param {name}=VALUE"
            raise Untranslatable(f"the parameter {name}", reason)
        parameters.decided[name] = value
        node.replace(exp.convert(value))


def _needs_value(node: exp.Expr, sample: object) -> str | None:
    """Return what a parameter is, where only its value tells a translation."""
    inner, around = _around(node)
    if isinstance(around, exp.WindowSpec):
        return "a window frame's bound"
    if isinstance(around, exp.Escape) and inner is around.expression:
        return "the character of ESCAPE"
    if isinstance(around, exp.Limit | exp.Offset):
        query = around.parent
        cte = None if query is None else query.parent
        if isinstance(cte, exp.CTE) and any(
            cte.alias == table.name for table in find_all(cte.this, exp.Table)
        ):
            return "the LIMIT of a recursive query"
        if isinstance(sample, int | float) and sample < 0:
            return "a LIMIT below 0, without end"
    if isinstance(around, exp.Anonymous):
        row, _ = _called(around, inner)
        if row is not None and str(row.rewrite).startswith("dates.") and is_reading(sample):
            return "the modifier that says what a number is"
        return _constant(around, inner)
    return None


def _constant(call: exp.Anonymous, argument: exp.Expr) -> str | None:
    """Return what an argument is that has no translation unless it is a constant."""
    row, place = _called(call, argument)
    if row is None or row.constant is None:
        return None
    what, places = row.constant
    return what if place in range(*places.indices(len(call.expressions))) else None


def _called(call: exp.Anonymous, argument: exp.Expr) -> tuple[Function | None, int]:
    """Return a call's function, and the place of an argument."""
    place = next((at for at, each in enumerate(call.expressions) if each is argument), 0)
    return find(call.name.lower(), len(call.expressions)), place


def _around(node: exp.Expr) -> tuple[exp.Expr, exp.Expr | None]:
    """Return the operator or clause around a parameter, and the operand of it that the parameter is."""
    inner, around = node, node.parent
    while isinstance(around, exp.Paren | exp.Collate | exp.Neg | exp.Alias):
        inner, around = around, around.parent
    return inner, around


def _by_place(c: Compiler, node: exp.Expr, scope: Scope) -> Kind | None:
    """Return the kind that the operator or function around a parameter says; None if it says none."""
    inner, around = _around(node)
    if isinstance(around, exp.Is) and isinstance(around.expression, exp.Null):
        return _by_alternative(c, around, scope)
    if isinstance(around, exp.Tuple):
        inner, around = _opposite(inner, around)
    if isinstance(around, _TEXTS):
        return Kind.TEXT
    if isinstance(around, _COUNTS + _CONDITIONS):
        if isinstance(around, exp.If) and inner is around.args.get("true"):
            return _of(c, _branches(around.parent, inner), scope)
        return Kind.INTEGER
    if isinstance(around, exp.Cast):
        return _CASTS.get(str(around.to.args.get("kind")).upper())
    if isinstance(around, exp.Anonymous):
        return _by_function(c, around, inner, scope)
    if isinstance(around, exp.Case):
        return _of(c, _branches(around, inner), scope)
    if isinstance(around, exp.In) and inner is not around.this:
        return _of(c, [around.this], scope)
    if isinstance(around, (*_COMPARED, *_ARITHMETIC, exp.Between, exp.In)):
        found = _of(c, [each for each in around.iter_expressions() if each is not inner], scope)
        return Kind.INTEGER if found is None and isinstance(around, _ARITHMETIC) else found
    return None


def _by_alternative(c: Compiler, test: exp.Is, scope: Scope) -> Kind | None:
    """Return the kind of the only parameter beside `? IS NULL`: of `? IS NULL OR c = ?`, that of `c`.

    Applications bind one value to both.
    """
    whole: exp.Expr = test
    while isinstance(whole.parent, exp.Or | exp.And | exp.Not | exp.Paren):
        whole = whole.parent
        beside = [each for each in find_all(whole, exp.Placeholder) if each is not test.this.unnest()]
        if beside:
            return _by_place(c, beside[0], scope) if len(beside) == 1 else None
    return None


def _opposite(inner: exp.Expr, values: exp.Tuple) -> tuple[exp.Expr, exp.Expr | None]:
    """Return the comparison of a member of a row value with its opposite."""
    row, around = _around(values)
    if isinstance(around, _COMPARED):
        other = around.expression if row is around.this else around.this
        at = next(at for at, each in enumerate(values.expressions) if each is inner)
        if isinstance(other.unnest(), exp.Tuple) and at < len(other.unnest().expressions):
            return inner, exp.EQ(this=inner.copy(), expression=other.unnest().expressions[at].copy())
    return inner, None


def _branches(case: exp.Expr | None, inner: exp.Expr) -> list[exp.Expr]:
    if case is None:
        return []
    results = [branch.args.get("true") for branch in case.args.get("ifs") or ()]
    results.append(case.args.get("default"))
    if inner is case.this:
        results = [branch.this for branch in case.args["ifs"]]
    return [each for each in results if each is not None and each is not inner]


def _by_function(c: Compiler, call: exp.Anonymous, inner: exp.Expr, scope: Scope) -> Kind | None:
    row, place = _called(call, inner)
    kind = None if row is None else row.takes_at(place)
    if kind is Kind.ANY:
        others = [each for each in call.expressions if each is not inner]
        return _of(c, others, scope) or _by_place(c, call, scope)
    return kind


def _of(c: Compiler, others: Sequence[exp.Expr], scope: Scope) -> Kind | None:
    """Return the kind of the first expression whose values are of one kind."""
    return next(_kinds(c, others, scope), None)


def _only_column(node: exp.Expr) -> exp.Expr:
    """Return the column of a subquery that is one value; the node itself if it is none."""
    query = node.unnest()
    if isinstance(query, exp.Select) and len(query.selects) == 1:
        return query.selects[0].unalias()
    return node


def _kinds(c: Compiler, others: Sequence[exp.Expr], scope: Scope) -> Iterator[Kind]:
    for each in others:
        shown = _only_column(each)
        if isinstance(shown, exp.Anonymous) and shown.name.lower() == "count":
            yield Kind.INTEGER
            continue
        if isinstance(each, exp.Query | exp.Subquery) or has(each, exp.Placeholder):
            continue
        try:
            found = c.expression(each.copy() if each.parent is None else each, scope)
        except Untranslatable:
            continue  # what it is refused for is said where it is compiled
        if found.kind in _KNOWN:
            yield found.kind
