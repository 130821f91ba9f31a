"""Prove that two queries return the same rows on every database, within a stated fragment.

Both are brought to one form by rules that hold for every database: names in place of aliases, conditions
of inner joins in WHERE, tables and conditions in one order, comparisons in one direction, BETWEEN as two
of them, IN as OR, IIF as CASE. Among conditions that must all hold, a column that equals another one of its
type is compared with values in that one's place. EX compares sets, so the outermost query loses DISTINCT, and
ORDER BY without LIMIT. Equal forms are equal queries, but for what both leave open: ties at a LIMIT, and the
row of a scalar subquery that has several.

A query is outside of the fragment if a table occurs twice in it, or if it has a common table expression,
a query in FROM, a set operation, a window, `*` among its results, an aggregate of lists, or a bare column
beside an aggregate; or if a name is ambiguous, or a table compares texts by a collation of its own.
"""

from collections.abc import Callable, Sequence

from sqlglot import exp

from dialects.clauses import drop_joins, on_of, sources_of, where_of
from harness.scoring.chance.search import PairToRefute
from harness.scoring.chance.shape import Shape, TableName, folded
from harness.sqltree.parser import is_aggregate

_OUTSIDE = (exp.CTE, exp.SetOperation, exp.Window, exp.GroupConcat, exp.ArrayAgg, exp.Collate, exp.Values)
_COMPARED = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
_TURNED: dict[type[exp.Expr], type[exp.Binary]] = {exp.GT: exp.LT, exp.GTE: exp.LTE}


class _Outside(Exception):
    """The query is outside of the fragment."""


def is_equal_to_a_gold(shape: Shape, pair: PairToRefute) -> bool:
    """True if a prediction is proven to return the rows of one of its golds; False says nothing."""
    try:
        ours, *theirs = (_form(tree, shape) for tree in pair.trees)
    except (_Outside, RecursionError, ValueError):
        return False
    return ours in theirs


def _form(tree: exp.Query, shape: Shape) -> exp.Expr:
    if not isinstance(tree, exp.Select) or tree.find(*_OUTSIDE) is not None:
        raise _Outside
    found = tree.copy().transform(_as_case, copy=False)
    assert isinstance(found, exp.Select)  # noqa: S101 - only IIF is replaced
    _name(found, shape)
    for select in list(found.find_all(exp.Select)):
        _check(select)
        _merge(select)
        if where := where_of(select):
            select.set("where", exp.Where(this=_all_of(_with_one_name(where, shape))))
        select.set("expressions", [each.unalias() for each in select.expressions])
    if found.args.get("limit") is None and found.args.get("offset") is None:
        found.set("order", None)
        found.set("distinct", None)
    return found.transform(lambda node: node.unnest() if isinstance(node, exp.Paren) else node)


def _name(tree: exp.Select, shape: Shape) -> None:
    """Put the names of tables in place of aliases, and before every column."""
    tables = list(tree.find_all(exp.Table))
    names = {folded(table.alias_or_name): folded(table.name) for table in tables}
    known = {folded(table.name): shape.by_key.get(folded(table.name)) for table in tables}
    if len(known) < len(tables) or len(names) < len(tables):
        raise _Outside
    results = {folded(each.alias) for each in tree.find_all(exp.Alias)}
    for column in list(tree.find_all(exp.Column)):
        name = folded(column.name)
        owners = [key for key, table in known.items() if table is not None and name in table.by_key]
        owner = names.get(folded(column.table)) if column.table else owners[0] if len(owners) == 1 else None
        if owner not in owners or (not column.table and name in results):
            raise _Outside
        column.replace(exp.column(exp.to_identifier(name), table=exp.to_identifier(owner)))
    for table in tables:
        stored = known[folded(table.name)]
        if stored is None or "COLLATE" in stored.create.upper() or isinstance(table.parent, exp.Subquery):
            raise _Outside
        table.replace(exp.Table(this=exp.to_identifier(stored.key)))


def _check(select: exp.Select) -> None:
    """Refuse results that depend on more than the bag of rows that they are made of."""
    if not all(isinstance(item.node, exp.Table) for item in sources_of(select)):
        raise _Outside
    if any(each.is_star for each in select.expressions):
        raise _Outside
    group = select.args.get("group")
    grouped = list(group.expressions) if group is not None else []
    own = [each.unalias() for each in select.expressions]
    made = [any(is_aggregate(call) for call in each.find_all(exp.Func)) for each in own]
    if grouped or any(made):
        for each, is_made in zip(own, made, strict=True):
            if not is_made and each not in grouped and each.find(exp.Column) is not None:
                raise _Outside


def _merge(select: exp.Select) -> None:
    """Move the conditions of inner joins to WHERE, and put their tables in one order."""
    items = sources_of(select)
    joins = [item.join for item in items if item.join is not None]
    if isinstance(select.parent, exp.Subquery) or any(
        join.side
        or join.args.get("using")
        or join.method
        or join.kind not in {"", "INNER", "CROSS"}
        or join.parent is not select
        for join in joins
    ):
        # Outer joins stay as they are, and so does the order of a scalar subquery's rows.
        return
    conditions = [*where_of(select), *(each for join in joins for each in on_of(join))]
    first, *rest = sorted((item.node.copy() for item in items), key=lambda table: str(table.name))
    drop_joins(select, joins)
    select.from_(first, copy=False)
    for table in rest:
        select.join(table, copy=False)
    select.set("where", exp.Where(this=_all_of(conditions)) if conditions else None)


def _as_case(node: exp.Expr) -> exp.Expr:
    if not isinstance(node, exp.If) or isinstance(node.parent, exp.Case):
        return node
    one = exp.If(this=node.this, true=node.args["true"])
    return exp.Case(ifs=[one], default=node.args.get("false"))


def _with_one_name(conditions: Sequence[exp.Expr], shape: Shape) -> list[exp.Expr]:
    """Return conditions in which the first of equal columns is compared with values and with the others.

    Only in comparisons, and for columns of one type: LIKE and functions may tell equal values apart.
    """
    least: dict[exp.Expr, exp.Expr] = {}

    def first(column: exp.Expr) -> exp.Expr:
        while column in least:
            column = least[column]
        return column

    found: list[exp.Expr] = []
    for each in (one.unnest() for condition in conditions for one in _conjuncts(condition)):
        sides = (each.left, each.right) if isinstance(each, exp.EQ) else ()
        types = {_type(side, shape) for side in sides}
        if len(types) == 1 and None not in types:
            one, other = sorted(map(first, sides), key=lambda side: side.sql())
            if one != other:
                least[other] = one
        else:
            found.append(each)
    for each in found:
        if isinstance(each, _COMPARED) and any(
            isinstance(side, exp.Literal) for side in (each.left, each.right)
        ):
            each.set("this", first(each.left).copy())
            each.set("expression", first(each.right).copy())
    return [*found, *(exp.EQ(this=first(other).copy(), expression=other.copy()) for other in least)]


def _type(node: exp.Expr, shape: Shape) -> str | None:
    """Return the declared type of a column; None for what is none."""
    if not isinstance(node, exp.Column):
        return None
    return shape.by_key[TableName(node.table)].by_key[node.name].declared.upper()


def _conjuncts(condition: exp.Expr) -> list[exp.Expr]:
    condition = condition.unnest()
    return list(condition.flatten()) if isinstance(condition, exp.And) else [condition]


def _all_of(conditions: Sequence[exp.Expr], join: Callable[..., exp.Expr] = exp.and_) -> exp.Expr:
    """Join conditions, each once and in one order: all must hold, or with `exp.or_` one."""
    made = [each for condition in conditions for each in _turned(condition.unnest())]
    return join(*{each.sql(): each for each in sorted(made, key=lambda one: one.sql())}.values())


def _turned(node: exp.Expr) -> list[exp.Expr]:
    """Return a comparison in one direction, and what AND and OR join in one order; all else as it is."""
    if isinstance(node, exp.In) and node.expressions:
        node = exp.or_(*(exp.EQ(this=node.this.copy(), expression=each.copy()) for each in node.expressions))
    if isinstance(node, exp.Or):
        return [_all_of(list(node.flatten()), exp.or_)]
    if isinstance(node, exp.And):
        return [_all_of(list(node.flatten()))]
    if isinstance(node, exp.Between):
        low, high = node.args["low"], node.args["high"]
        return [
            exp.LTE(this=low.copy(), expression=node.this.copy()),
            exp.LTE(this=node.this.copy(), expression=high.copy()),
        ]
    if type(node) in _TURNED:
        return [_TURNED[type(node)](this=node.expression.copy(), expression=node.this.copy())]
    if isinstance(node, exp.EQ | exp.NEQ):
        sides = sorted((node.this, node.expression), key=lambda side: side.sql())
        return [type(node)(this=sides[0].copy(), expression=sides[1].copy())]
    return [node.copy()]
