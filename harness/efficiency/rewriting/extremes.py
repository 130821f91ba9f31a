"""ORDER BY x LIMIT 1 as the row, or the value, of MAX or MIN."""

from sqlglot import exp

from harness.efficiency.rewriting.conditions import equals, set_where, where_of
from harness.efficiency.rewriting.settled import is_plain, is_scalar
from harness.efficiency.rewriting.statement import Fact, Named, Refused, Statement


def limit_to_extreme(statement: Statement) -> list[Fact] | None:
    """See the rule limit-to-extreme."""
    for select in statement.selects():
        limit, order = select.args.get("limit"), select.args.get("order")
        if order is None or not isinstance(limit, exp.Limit) or limit.expression.name != "1":
            continue
        try:
            return _extreme(statement, select, order.expressions)
        except Refused as why:
            statement.refused.append(str(why))
    return None


def _extreme(statement: Statement, select: exp.Select, order: list[exp.Expr]) -> list[Fact]:
    bare = select.copy()
    for part in ("order", "limit"):
        bare.set(part, None)
    if select.args.get("offset") or select.args["limit"].args.get("offset") or not is_plain(bare):
        raise Refused("the query groups, or skips rows before LIMIT 1")
    first = order[0]
    meaning = statement.meaning(first.this) if isinstance(first.this, exp.Column) else None
    if isinstance(meaning, exp.Expr):
        # By the name of a result, which is gone where MAX stands in its place.
        first = first.copy()
        first.set("this", meaning.copy())
    named = statement.named(order[0].this)
    if named is None or named.stored is None or named.select is not select:
        raise Refused("it sorts by what is no column")
    extreme = exp.Max if first.args.get("desc") else exp.Min
    if len(select.expressions) == 1 and _is(statement, select.expressions[0].unalias(), named):
        return _value(statement, select, first, named, extreme)
    return _row(statement, select, first, named, extreme)


def _is(statement: Statement, node: exp.Expr, named: Named) -> bool:
    found = statement.named(node)
    return found is not None and found.place == named.place


def _value(
    statement: Statement, select: exp.Select, first: exp.Expr, named: Named, extreme: type[exp.AggFunc]
) -> list[Fact]:
    """Only what is sorted by is shown: rows that tie look alike."""
    facts = [] if not first.args.get("nulls_first") else _not_null(statement, select, named)
    output = select.expressions[0]
    found = extreme(this=output.unalias().copy())
    name = output.args["alias"] if isinstance(output, exp.Alias) else output.this
    select.set("expressions", [exp.alias_(found, name.copy())])
    select.set("order", None)
    select.set("limit", None)
    parent = select.parent
    if not (isinstance(parent, exp.Subquery) and is_scalar(parent)):
        # Of no rows there is an extreme, which is NULL, and no first row.
        count = exp.Count(this=exp.Star())
        select.set("having", exp.Having(this=exp.GT(this=count, expression=exp.Literal.number(0))))
    return facts


def _row(
    statement: Statement, select: exp.Select, first: exp.Expr, named: Named, extreme: type[exp.AggFunc]
) -> list[Fact]:
    """The row of the extreme, which is one."""
    facts = _not_null(statement, select, named)
    try:
        facts += statement.determined(select, [named])
    except Refused as why:
        raise Refused(f"several rows may have the extreme of {named.title}: {why}") from why
    inner = select.copy()
    for part in ("order", "limit", "with_"):
        inner.set(part, None)
    inner.set("expressions", [extreme(this=first.this.copy())])
    node = first.this.copy()
    set_where(select, [*where_of(select), equals(node, inner.subquery(copy=False))])
    select.set("order", None)
    select.set("limit", None)
    return facts


def _not_null(statement: Statement, select: exp.Select, named: Named) -> list[Fact]:
    for condition in statement.conditions(select):
        if isinstance(condition, exp.Not) and isinstance(condition.this, exp.Is):
            test = condition.this
            if isinstance(test.expression, exp.Null) and _is(statement, test.this.unnest(), named):
                return []
    return [statement.not_null(named)]
