"""A gold as it stands beside the rows of a twin: subqueries give way to what they return there.

Where golds compete for the same extreme, a row that is planted later takes it from those before. The query
that names the present holder can be answered with rows beside it.
"""

from sqlglot import exp

from loaders.twins.checking import Checked
from loaders.twins.shape import Value, folded

_MOST = 1_000


def settled(gold: exp.Expr, database: Checked) -> exp.Expr:
    """The gold with the values of its subqueries, as far as they stand on their own and return any."""
    copy = gold.copy()
    for node in list(copy.find_all(exp.Select)):
        if node is copy or node.find_ancestor(exp.CTE) is not None or node.root() is not copy:
            continue
        holder: exp.Expr | None = node.parent
        if isinstance(holder, exp.Subquery) and isinstance(holder.parent, exp.From | exp.Join):
            _settle_table(copy, holder, holder.alias, node, database)
        elif isinstance(holder, exp.Subquery) and not isinstance(holder.parent, exp.SetOperation):
            # A scalar subquery means its first row alone.
            _settle_value(holder, _values(node, copy, database, first=not isinstance(holder.parent, exp.In)))
    with_ = copy.args.get("with_")
    for cte in with_.expressions if with_ is not None else []:
        for table in list(copy.find_all(exp.Table)):
            if folded(table.name) == folded(cte.alias) and isinstance(cte.this, exp.Select):
                _settle_table(copy, table, table.alias_or_name, cte.this, database)
    return copy


def _values(
    node: exp.Select, gold: exp.Expr, database: Checked, *, first: bool = False
) -> list[tuple[Value, ...]]:
    query = node.copy()
    if first and query.args.get("limit") is None:
        query = query.limit(1)
    if gold.args.get("with_") is not None:
        query.set("with_", gold.args["with_"].copy())
    found = database.answer(query.sql("sqlite", copy=False))
    if isinstance(found, str):
        return []
    return sorted((row for row in found if None not in row), key=repr)[:_MOST]


def _settle_value(holder: exp.Subquery, rows: list[tuple[Value, ...]]) -> None:
    values = [literal for row in rows if (literal := _literal(row[0])) is not None]
    if not values:
        return
    above = holder.parent
    if isinstance(above, exp.In):
        above.set("query", None)
        above.set("expressions", values)
    elif not isinstance(above, exp.Exists):
        holder.replace(values[0])


def _settle_table(gold: exp.Expr, source: exp.Expr, alias: str, node: exp.Select, database: Checked) -> None:
    """Let a derived table of a few rows mean its first."""
    select = source.find_ancestor(exp.Select)
    if node.args.get("limit") is None or not isinstance(select, exp.Select) or not alias:
        return
    rows = _values(node, gold, database)
    if not rows:
        return
    for item, value in zip(node.expressions, rows[0], strict=False):
        literal = _literal(value)
        if item.alias_or_name and literal is not None and not item.find(exp.AggFunc):
            select.where(exp.EQ(this=exp.column(item.alias_or_name, alias), expression=literal), copy=False)


def _literal(value: Value) -> exp.Expr | None:
    if isinstance(value, str):
        return exp.Literal.string(value)
    if isinstance(value, int | float):
        number = exp.Literal.number(abs(value))
        return exp.Neg(this=number) if value < 0 else number
    return None
