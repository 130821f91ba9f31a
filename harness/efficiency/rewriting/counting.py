"""COUNT(*) as COUNT of a key."""

from sqlglot import exp

from harness.efficiency.rewriting.settled import aggregates
from harness.efficiency.rewriting.statement import Fact, Refused, Statement
from harness.sqltree.calls import arguments, called


def count_star_to_key(statement: Statement) -> list[Fact] | None:
    """See the rule count-star-to-key."""
    for select in statement.selects():
        for call in list(aggregates(select)):
            values = arguments(call)
            if called(call) != "COUNT" or not values or not isinstance(values[0], exp.Star):
                continue
            try:
                return _count_key(statement, select, call)
            except Refused as why:
                statement.refused.append(str(why))
    return None


def _count_key(statement: Statement, select: exp.Select, call: exp.Expr) -> list[Fact]:
    if is_named_by_text(select, call):
        raise Refused("the column is called after its text, and a query around it may use that name")
    why = Refused("no source has a key that holds no NULL")
    for source in statement.sources(select):
        if source.table is None:
            continue
        if source.optional:
            why = Refused(f"{source.alias} is joined so that its key may be NULL")
            continue
        for key, facts in statement.whole_keys(source.table):
            node = source.node.args.get("alias")
            alias = node.this.copy() if node is not None else source.node.this.copy()
            stored = statement.spelled(source.table, key.columns[0])
            counted = exp.Column(this=stored, table=alias)
            new = call.copy()
            if isinstance(new, exp.Anonymous):
                new.set("expressions", [counted])
            else:
                new.set("this", counted)
            call.replace(new)
            return facts[1:2]
    raise why


def is_named_by_text(select: exp.Select, node: exp.Expr) -> bool:
    """Whether a result without an alias, of which a node is a part, can be named from outside."""
    place = node
    while place.parent is not None and place.parent is not select:
        place = place.parent
    if place.arg_key != "expressions" or isinstance(place, exp.Alias):
        return False
    around = select.parent
    while isinstance(around, exp.Subquery | exp.SetOperation | exp.Paren):
        around = around.parent
    return isinstance(around, exp.From | exp.Join | exp.CTE)
