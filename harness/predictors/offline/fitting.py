"""Makes both sides of every operation the same sort, so that no engine refuses it and all find the same.

SQLite compares anything with anything and sums up texts; PostgreSQL refuses both.
"""

import re

from sqlglot import exp

from harness.predictors.offline.catalog import Catalog, Sort
from harness.predictors.offline.operations import (
    Operation,
    Tree,
    call,
    flag,
    is_predicate,
    operation,
    part,
    rewritten,
)

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2} \d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?")
_PARTS = ((re.compile(r"\d{4}"), "%Y"), (re.compile(r"\d{4}-\d{2}"), "%Y-%m"), (_DAY, "%Y-%m-%d"))
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_WIDTHS = {"%Y": 4, "%m": 2, "%d": 2, "%H": 2, "%M": 2, "%S": 2}
_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE)
_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div)
_NUMERIC = (exp.Count, exp.Sum, exp.Avg, exp.Round, exp.Length, exp.Abs, exp.Neg, *_ARITHMETIC)
_SAME = (exp.Max, exp.Min, exp.Paren, exp.Distinct, exp.Ordered, exp.Alias)


def fit(tree: Tree, catalog: Catalog) -> Tree:
    """The tree with casts where sorts differ; columns carry their tables."""
    return rewritten(tree, lambda node: _fitted(node, catalog))


def sort(tree: Tree, catalog: Catalog) -> Sort:  # noqa: PLR0911 - one case for each kind of node
    """What the values of an expression are."""
    if isinstance(tree, exp.Column):
        field = catalog.field(tree)
        return field.sort if field else Sort.TEXT
    if isinstance(tree, exp.Literal):
        return Sort.TEXT if tree.is_string else Sort.NUMBER
    if isinstance(tree, _SAME):
        inner = tree.expressions[0] if isinstance(tree, exp.Distinct) and tree.expressions else tree.this
        return sort(inner, catalog)
    if isinstance(tree, exp.CurrentDate):
        return Sort.DAY
    if isinstance(tree, exp.Subquery):
        return sort(tree.this.expressions[0], catalog)
    if isinstance(tree, exp.Case):
        return sort(tree.args["ifs"][0].args["true"], catalog)
    if isinstance(tree, exp.Cast):
        return Sort.NUMBER if tree.is_type(*exp.DataType.NUMERIC_TYPES) else Sort.TEXT
    called = operation(tree)
    if called in {Operation.DAYS, Operation.EPOCH, Operation.NUMERIC, Operation.RATIO, Operation.WHOLE}:
        return Sort.NUMBER
    if called in {Operation.DAY, Operation.EPOCH_DAY, Operation.TODAY}:
        return Sort.DAY
    return Sort.NUMBER if isinstance(tree, _NUMERIC) else Sort.TEXT


def number(tree: Tree, catalog: Catalog) -> Tree:
    """The tree as a number."""
    if isinstance(tree, exp.Null):
        return tree
    if is_predicate(tree):
        return flag(tree)
    found = sort(tree, catalog)
    if found is Sort.NUMBER:
        return tree
    if isinstance(tree, exp.Literal) and _NUMBER.fullmatch(tree.this):
        return exp.Literal.number(tree.this)
    if found is Sort.TEXT:
        return call(Operation.NUMERIC, tree)
    return call(Operation.DAYS, tree)


def text(tree: Tree, catalog: Catalog) -> Tree:
    """The tree as text."""
    as_it_is = isinstance(tree, exp.Null) or sort(tree, catalog) is Sort.TEXT
    return tree if as_it_is else call(Operation.TEXT, tree)


def _fitted(node: Tree, catalog: Catalog) -> Tree:
    if isinstance(node, _COMPARISONS):
        return _compared(node, catalog)
    if isinstance(node, exp.Between):
        low = _compared(exp.GTE(this=node.this, expression=node.args["low"]), catalog)
        high = _compared(exp.LTE(this=node.this.copy(), expression=node.args["high"]), catalog)
        return exp.paren(exp.And(this=low, expression=high), copy=False)
    if isinstance(node, exp.In) and node.expressions:
        return _listed(node, catalog)
    if isinstance(node, exp.Like):
        if isinstance(node.expression, exp.Boolean):
            node.set("expression", exp.Literal.string(str(node.expression.this).lower()))
        node.set("this", text(node.this, catalog))
        node.set("expression", text(node.expression, catalog))
    elif isinstance(node, exp.Lower | exp.Upper | exp.Length | exp.Substring):
        node.set("this", text(node.this, catalog))
    elif (isinstance(node, exp.Sum | exp.Avg) and not isinstance(node.this, exp.Distinct)) or isinstance(
        node, exp.Round | exp.Abs | exp.Neg
    ):
        node.set("this", number(node.this, catalog))
    elif isinstance(node, _ARITHMETIC):
        node.set("this", number(node.this, catalog))
        node.set("expression", number(node.expression, catalog))
    elif operation(node) in {Operation.RATIO, Operation.WHOLE}:
        node.set("expressions", [number(item, catalog) for item in node.expressions])
    return node


def _listed(node: exp.In, catalog: Catalog) -> Tree:
    """A value among several; where these are not of one sort, one comparison for each."""
    items = [item for item in node.expressions if not isinstance(item, exp.Null)]
    pairs = [_pair(node.this.copy(), item, catalog, order=False) for item in items]
    if not pairs:
        return exp.EQ(this=node.this, expression=exp.Null())
    if all(left == pairs[0][0] for left, _ in pairs):
        return exp.In(this=pairs[0][0], expressions=[item for _, item in pairs])
    return exp.paren(exp.or_(*(exp.EQ(this=left, expression=item) for left, item in pairs)), copy=False)


def _compared(node: exp.Binary, catalog: Catalog) -> Tree:
    order = not isinstance(node, exp.EQ | exp.NEQ)
    left, right = _pair(node.this, node.expression, catalog, order=order)
    node.set("this", left)
    node.set("expression", right)
    return node


def _pair(left: Tree, right: Tree, catalog: Catalog, *, order: bool) -> tuple[Tree, Tree]:  # noqa: PLR0911 - one case for each pair of sorts
    """Both sides of a comparison, or of a value and one item of a list, of one sort."""
    if isinstance(left, exp.Literal) and not isinstance(right, exp.Literal):
        right, left = _pair(right, left, catalog, order=order)
        return left, right
    if isinstance(left, exp.Null) or isinstance(right, exp.Null):
        return left, right
    if is_predicate(left) or is_predicate(right):
        return number(left, catalog), number(right, catalog)
    a, b = sort(left, catalog), sort(right, catalog)
    if isinstance(right, exp.Boolean):
        right = (
            exp.Literal.number(int(right.this))
            if a is Sort.NUMBER
            else exp.Literal.string(str(right.this).lower())
        )
    if isinstance(right, exp.Literal):
        return _against_literal(left, right, a, catalog, order=order)
    if a is b or {a, b} == {Sort.DAY, Sort.MOMENT}:
        return left, right
    if Sort.NUMBER in {a, b}:
        return number(left, catalog), number(right, catalog)
    return text(left, catalog), text(right, catalog)


def _against_literal(  # noqa: PLR0911 - one case for each sort
    left: Tree, literal: exp.Literal, of: Sort, catalog: Catalog, *, order: bool
) -> tuple[Tree, Tree]:
    value = str(literal.this)
    if of is Sort.NUMBER:
        numeric = not literal.is_string or _NUMBER.fullmatch(value)
        return (left, exp.Literal.number(value)) if numeric else (text(left, catalog), literal)
    if of is Sort.TEXT:
        if literal.is_string:
            return left, literal
        if operation(left) is Operation.PART:
            return left, exp.Literal.string(value.zfill(_WIDTHS.get(left.expressions[1].name, 0)))
        return (number(left, catalog), literal) if order else (left, exp.Literal.string(value))
    if _MOMENT.fullmatch(value) or (_DAY.fullmatch(value) and (order or of is Sort.DAY)):
        return left, exp.Literal.string(value)
    for pattern, form in _PARTS:
        if pattern.fullmatch(value):
            return part(left, form), exp.Literal.string(value)
    return text(left, catalog), exp.Literal.string(value)
