"""The rewrite for each type of expression node. https://sqlite.org/lang_expr.html."""

from collections.abc import Callable, Mapping
from functools import partial

from sqlglot import exp

from dialects.coercions import as_condition, choose, literal
from dialects.compiler import Compiler, Handler
from dialects.errors import Untranslatable
from dialects.functions import FUNCTIONS, Function, Role, find, rows_of
from dialects.identifiers import ascii_lower
from dialects.nodes import grouped, number
from dialects.rewrites import comparison, dates, functions, json, numeric, operators, text
from dialects.rewrites.aggregates import aggregate, is_aggregate
from dialects.rewrites.functions import WRITTEN, written_out
from dialects.rewrites.names import resolve, shared
from dialects.rewrites.names import value as column_value
from dialects.rewrites.operators import cast, cast_affinity
from dialects.rewrites.parameters import parameter
from dialects.rewrites.subqueries import exists, membership, row, scalar
from dialects.rewrites.text import glob, like
from dialects.rewrites.windows import filtered, window
from dialects.scope import Scope
from dialects.source import Plus, Starred, position
from dialects.trees import find_all
from dialects.value_types import Affinity, Collation, Constant, Kind, Typed, boolean, null

TRANSPARENT = (exp.And, exp.Or, exp.Paren, exp.EQ, exp.In)
"""Operators for whose operands NULL and FALSE are equivalent if they are for the result."""

_MODULES = {each.__name__.rpartition(".")[2]: each for each in (dates, functions, json, numeric, text)}


def _call(row: Function) -> functions.Call:
    """Return what compiles the calls of a scalar function with compiled arguments."""
    if row.rewrite is None:
        rewrite: functions.Call = partial(functions.formed, row)
    else:
        module, _, name = row.rewrite.partition(".")
        rewrite = getattr(_MODULES[module], name)
    if row.raw:
        return rewrite
    return lambda c, arguments: functions.called(
        c, row.names[0], rewrite, arguments, strict=row.strict, foldable=row.foldable
    )


_CALLS = {row: _call(row) for row in FUNCTIONS if row.role is Role.SCALAR and not row.as_written}


def _binary(rewrite: Callable[..., Typed]) -> Handler:
    def handle(c: Compiler, node: exp.Expr, scope: Scope) -> Typed:
        return rewrite(c, c.expression(node.this, scope), c.expression(node.expression, scope))

    return handle


def _operator(rewrite: Callable[..., Typed]) -> Handler:
    def handle(c: Compiler, node: exp.Expr, scope: Scope) -> Typed:
        return rewrite(c, type(node), c.expression(node.this, scope), c.expression(node.expression, scope))

    return handle


def _compare(c: Compiler, node: exp.Expr, scope: Scope) -> Typed:
    left, right = row(c, node.this, scope), row(c, node.expression, scope)
    assert isinstance(node, exp.Binary)  # noqa: S101 - by the table of handlers
    operator = type(node)
    if left is not None or right is not None:
        if left is None or right is None:
            raise Untranslatable("a row value", "it is compared with a single value")
        return comparison.compare_rows(c, operator, left, right)
    wanted = node.expression
    while isinstance(wanted, exp.Paren | exp.Collate) and not isinstance(wanted, Plus):
        wanted = wanted.this
    wanted = _aliased(wanted, scope)
    if _is_truth(wanted, scope) and operator in {exp.NullSafeEQ, exp.NullSafeNEQ}:
        found = comparison.is_value(c, c.expression(node.this, scope), wanted.this)
        return found if operator is exp.NullSafeEQ else found.of(node=exp.Not(this=grouped(found.node)))
    with c.filtered(False):
        a = c.expression(node.this, scope)
        b = c.expression(node.expression, scope)
    return comparison.compare(c, operator, a, b)


def _starred(c: Compiler, node: exp.Expr, scope: Scope) -> Typed:
    source = scope.sources[node.args["source"]]
    column = source.columns[node.args["column"]]
    name = column.key
    if name in source.outranked:
        return shared(c, scope, name, source.outranked[name][name])
    return column_value(c, scope, source, column)


def _literal(_c: Compiler, node: exp.Expr, _scope: Scope) -> Typed:
    if node.args.get("is_string"):
        return literal(node.name)
    digits = node.name
    if digits.isdigit():
        found = int(digits)
        return literal(found if found < 2**63 else float(found))
    try:
        return literal(float(digits))
    except ValueError:
        raise Untranslatable(f"the number {digits}", "it cannot be read", position(node)) from None


def _null(_c: Compiler, _node: exp.Expr, _scope: Scope) -> Typed:
    return null()


def _bool(c: Compiler, node: exp.Expr, scope: Scope) -> Typed:
    """Compile TRUE or FALSE, which a column or an alias of that name hides."""
    name = "true" if node.this else "false"
    for place in scope.outward():
        if name in place.aliases or any(source.column(name) for source in place.sources):
            return resolve(c, exp.Column(this=exp.to_identifier(name)), scope)
    return boolean(exp.Boolean(this=node.this), nullable=False, constant=Constant(int(node.this)))


def _blob(_c: Compiler, node: exp.Expr, _scope: Scope) -> Typed:
    return Typed(
        exp.HexString(this=node.this), Kind.BLOB, nullable=False, constant=Constant(bytes.fromhex(node.name))
    )


def _paren(c: Compiler, node: exp.Expr, scope: Scope) -> Typed:
    return c.expression(node.this, scope)


def _plus(c: Compiler, node: exp.Expr, scope: Scope) -> Typed:
    return c.expression(node.this, scope).of(affinity=Affinity.NONE)


def _neg(c: Compiler, node: exp.Expr, scope: Scope) -> Typed:
    if isinstance(node.this, exp.Literal) and not node.this.is_string and node.this.name.isdigit():
        found = -int(node.this.name)
        return literal(found if found >= -(2**63) else float(found))
    return operators.negate(c, c.expression(node.this, scope))


def _not(c: Compiler, node: exp.Expr, scope: Scope) -> Typed:
    found = as_condition(c, c.expression(node.this, scope))
    if isinstance(found.node, exp.Boolean):
        return boolean(exp.Boolean(this=not found.node.this), nullable=False)
    return boolean(exp.Not(this=grouped(found.node)), nullable=found.nullable)


_LONG = 40
"""Operands of `||`; more are compiled in a loop, as the depth of recursion has a limit."""


def _concatenated(c: Compiler, node: exp.Expr, scope: Scope) -> Typed:
    parts = list(node.flatten(unnest=False))
    if len(parts) <= _LONG:
        left, right = c.expression(node.this, scope), c.expression(node.expression, scope)
        return operators.concatenate(c, left, right)
    found = c.expression(parts[0], scope)
    for part in parts[1:]:
        found = operators.concatenate(c, found, c.expression(part, scope))
    return found


_ZERO = number(0)


def _logic(c: Compiler, node: exp.Expr, scope: Scope) -> Typed:
    if isinstance(node, exp.And) and any(each.unnest() == _ZERO for each in node.flatten()):
        _refuse_dropped_aggregates(node, "AND with 0")
    parts = [as_condition(c, c.expression(part, scope)) for part in node.flatten(unnest=False)]
    result = parts[0].node
    for found in parts[1:]:
        result = type(node)(this=_grouped_logic(result, node), expression=_grouped_logic(found.node, node))
    return boolean(result, nullable=any(part.nullable for part in parts))


def _membership(c: Compiler, node: exp.Expr, scope: Scope) -> Typed:
    if not any(node.args.get(name) for name in ("expressions", "query", "field")):
        _refuse_dropped_aggregates(node, "IN with an empty list")
    return membership(c, node, scope)


def _refuse_dropped_aggregates(node: exp.Expr, construct: str) -> None:
    select = node.parent_select
    calls = (call for call in find_all(node, exp.Anonymous) if call.parent_select is select)
    grouped = select is None or select.args.get("group") is not None
    if not grouped and any(is_aggregate(ascii_lower(call.name), call.expressions) for call in calls):
        raise Untranslatable(construct, "SQLite drops the aggregate beside it, and then groups no rows")


def _grouped_logic(part: exp.Expr, node: exp.Expr) -> exp.Expr:
    # AND of comparisons needs no parentheses on any target.
    if isinstance(part, (exp.And, exp.Or)) and type(part) is not type(node):
        return exp.Paren(this=part)
    return part


def _is_truth(wanted: exp.Expr, scope: Scope) -> bool:
    """True for TRUE and FALSE, unless a column has that name."""
    name = "true" if wanted.this else "false"
    return isinstance(wanted, exp.Boolean) and not any(
        source.column(name) for place in scope.outward() for source in place.sources
    )


def _aliased(wanted: exp.Expr, scope: Scope) -> exp.Expr:
    """Return TRUE or FALSE for an alias of it: after IS, SQLite treats them alike."""
    if not isinstance(wanted, exp.Column) or wanted.table:
        return wanted
    for place in scope.outward():
        if any(source.column(wanted.name) for source in place.sources):
            return wanted
        if (found := place.aliases.get(ascii_lower(wanted.name))) is not None:
            return found if isinstance(found, exp.Boolean) else wanted
    return wanted


def _is(c: Compiler, node: exp.Expr, scope: Scope) -> Typed:
    wanted = _aliased(node.expression, scope)
    found = c.expression(node.this, scope)
    if _is_truth(wanted, scope):
        return comparison.is_value(c, found, wanted.this)
    if isinstance(wanted, exp.Null):
        return comparison.null_test(c, found)
    return comparison.compare(c, exp.NullSafeEQ, found, c.expression(wanted, scope))


def _between(c: Compiler, node: exp.Expr, scope: Scope) -> Typed:
    rows = [row(c, part, scope) for part in (node.this, node.args["low"], node.args["high"])]
    middle, least, most = rows
    if middle is not None and least is not None and most is not None:
        above = comparison.compare_rows(c, exp.GTE, middle, least).node
        again = [part.of(node=part.node.copy()) for part in middle]
        below = comparison.compare_rows(c, exp.LTE, again, most).node
        return boolean(exp.And(this=grouped(above), expression=grouped(below)))
    found = c.expression(node.this, scope)
    low = comparison.compare(c, exp.GTE, found, c.expression(node.args["low"], scope))
    high = comparison.compare(c, exp.LTE, found, c.expression(node.args["high"], scope))
    a, b = low.node, high.node
    if isinstance(a, exp.GTE) and isinstance(b, exp.LTE) and a.this == b.this:
        return boolean(
            exp.Between(this=a.this, low=a.expression, high=b.expression),
            nullable=low.nullable or high.nullable,
        )
    return boolean(exp.And(this=grouped(a), expression=grouped(b)), nullable=low.nullable or high.nullable)


def _case(c: Compiler, node: exp.Expr, scope: Scope) -> Typed:
    parts = None if node.this is None else row(c, node.this, scope)
    base = None if node.this is None or parts is not None else c.expression(node.this, scope)
    branches = []
    for branch in node.args["ifs"]:
        if parts is not None:
            others = row(c, branch.this, scope)
            if others is None:
                raise Untranslatable("a row value", "it is compared with a single value")
            own = [part.of(node=part.node.copy()) for part in parts]
            same = comparison.compare_rows(c, exp.EQ, own, others)
            branches.append((same.node, c.expression(branch.args["true"], scope)))
            continue
        tested = c.expression(branch.this, scope)
        test = (
            as_condition(c, tested)
            if base is None
            else comparison.compare(c, exp.EQ, base.of(node=base.node.copy()), tested)
        )
        branches.append((test.node, c.expression(branch.args["true"], scope)))
    last = node.args.get("default")
    return choose(c, branches, None if last is None else c.expression(last, scope))


def _collate(c: Compiler, node: exp.Expr, scope: Scope) -> Typed:
    name = node.expression.name.upper()
    if name not in Collation.__members__:
        reason = comparison.OWN_COLLATION
        raise Untranslatable(f"the collation {node.expression.name}", reason, position(node))
    return c.expression(node.this, scope).with_text(collation=Collation(name), collates=True)


def _known(rewrite: Handler) -> Handler:
    """Wrap a rewrite: if it rejects an expression of constants, SQLite evaluates it."""

    def handle(c: Compiler, node: exp.Expr, scope: Scope) -> Typed:
        try:
            return rewrite(c, node, scope)
        except Untranslatable:
            if any(
                is_aggregate(ascii_lower(call.name), call.expressions)
                for call in find_all(node, exp.Anonymous)
            ):
                raise
            known = written_out(c, node)
            if known is None:
                raise
            if isinstance(node, exp.Cast):
                return known.of(affinity=cast_affinity(node))
            return known

    return handle


def _called(c: Compiler, node: exp.Expr, scope: Scope) -> Typed:
    name = ascii_lower(node.name)
    arguments = node.expressions
    row = find(name, len(arguments))
    if row is None:
        raise Untranslatable(f"{name}()", "SQLite 3.40 has no such function", position(node))
    if row.as_written:
        return json.build(c, node, scope)
    if row.is_json_function:
        c.documents.append(scope)
    if row.role is Role.AGGREGATE:
        return aggregate(c, node, scope, None)
    if (reason := row.refused_for(len(arguments))) is not None:
        raise Untranslatable(f"{name}()", reason, position(node))
    try:
        return _CALLS[row](c, [c.expression(argument, scope) for argument in arguments])
    except Untranslatable as error:
        if error.position is None:
            raise Untranslatable(error.construct, error.reason, position(node)) from None
        raise


def _clock(name: str) -> Handler:
    [row] = rows_of(name)

    def handle(c: Compiler, _node: exp.Expr, _scope: Scope) -> Typed:
        return _CALLS[row](c, [literal("now")])

    return handle


def _like(c: Compiler, node: exp.Expr, scope: Scope) -> Typed:
    escape = None
    if isinstance(node, exp.Escape):
        escape = c.expression(node.expression, scope)
        node = node.this
    found = like(c, c.expression(node.this, scope), c.expression(node.expression, scope), escape)
    if node.args.get("negate"):
        return boolean(exp.Not(this=grouped(found.node)), nullable=found.nullable)
    return found


def _glob(c: Compiler, node: exp.Expr, scope: Scope) -> Typed:
    return glob(c, c.expression(node.this, scope), c.expression(node.expression, scope))


def _json(name: str) -> Handler:
    [row] = rows_of(name)

    def handle(c: Compiler, node: exp.Expr, scope: Scope) -> Typed:
        c.documents.append(scope)
        return _CALLS[row](c, [c.expression(node.this, scope), c.expression(node.expression, scope)])

    return handle


def _lambda(c: Compiler, node: exp.Expr, scope: Scope) -> Typed:
    """Compile a -> b as the first argument of a function, which sqlglot parses as a lambda."""
    if len(node.expressions) != 1 or not isinstance(node.this, exp.Literal):
        raise Untranslatable("->", "the expression around it cannot be parsed")
    name = exp.Column(this=node.expressions[0].copy())
    return c.expression(exp.JSONExtract(this=name, expression=node.this.copy()), scope)


_REWRITES: dict[type[exp.Expr], Handler] = {
    exp.Lambda: _lambda,
    exp.Placeholder: parameter,
    exp.Column: resolve,
    Starred: _starred,
    exp.Identifier: lambda c, node, scope: resolve(c, exp.Column(this=node.copy()), scope),
    exp.Literal: _literal,
    exp.Null: _null,
    exp.Boolean: _bool,
    exp.HexString: _blob,
    exp.Paren: _paren,
    exp.Alias: lambda c, node, scope: c.expression(node.this, scope),
    Plus: _plus,
    exp.Neg: _neg,
    exp.Not: _not,
    exp.And: _logic,
    exp.Or: _logic,
    exp.Is: _is,
    exp.Between: _between,
    exp.Case: _case,
    exp.Collate: _collate,
    exp.Anonymous: _called,
    exp.CurrentDate: _clock("current_date"),
    exp.CurrentTime: _clock("current_time"),
    exp.CurrentTimestamp: _clock("current_timestamp"),
    exp.Like: _like,
    exp.Escape: _like,
    exp.Glob: _glob,
    exp.Add: _operator(operators.arithmetic),
    exp.Sub: _operator(operators.arithmetic),
    exp.Mul: _operator(operators.arithmetic),
    exp.Div: _binary(operators.divide),
    exp.Mod: _binary(operators.modulo),
    exp.DPipe: _concatenated,
    exp.BitwiseAnd: _operator(operators.bits),
    exp.BitwiseOr: _operator(operators.bits),
    exp.BitwiseLeftShift: _operator(operators.bits),
    exp.BitwiseRightShift: _operator(operators.bits),
    exp.BitwiseNot: lambda c, node, scope: operators.invert(c, c.expression(node.this, scope)),
    exp.JSONExtract: _json("->"),
    exp.JSONExtractScalar: _json("->>"),
    **dict.fromkeys(
        (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ), _compare
    ),
    exp.Cast: cast,
    exp.In: _membership,
    exp.Exists: exists,
    exp.Subquery: scalar,
    exp.Window: window,
    exp.Filter: filtered,
}

HANDLERS: Mapping[type[exp.Expr], Handler] = {
    kind: _known(rewrite) if kind in WRITTEN else rewrite for kind, rewrite in _REWRITES.items()
}
