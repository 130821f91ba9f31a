"""Rules for subqueries: IN as a join or EXISTS, a correlated subquery as a derived table."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from sqlglot import exp

from dialects.clauses import append_item, where_of
from harness.labs.study.rewriting.statement import (
    Attempt,
    RewrittenQuery,
    append_join,
    equals,
    has_star,
    is_scalar,
    set_where,
)
from harness.sqltree.parser import arguments, called, is_grouped, is_plain
from harness.sqltree.query import Fact, Named, Refused


@dataclass
class _Member:
    """A condition x [NOT] IN (SELECT y ...) that all rows of a SELECT must meet."""

    statement: RewrittenQuery
    select: exp.Select
    condition: exp.Expr
    node: exp.In

    @property
    def value(self) -> exp.Expr:
        """The left side of IN."""
        found: exp.Expr = self.node.this.unnest()
        return found

    @property
    def rest(self) -> list[exp.Expr]:
        """The other conditions."""
        return [one for one in where_of(self.select) if one is not self.condition]

    def replace(self, new: exp.Expr) -> None:
        """Put another condition in its place."""
        conditions = where_of(self.select)
        set_where(self.select, [new if one is self.condition else one for one in conditions])


def _memberships(statement: RewrittenQuery, *, negated: bool = False) -> Iterator[_Member]:
    for select in statement.selects():
        for condition in where_of(select):
            node = condition
            if negated != isinstance(node, exp.Not):
                continue
            node = node.this.unnest() if isinstance(node, exp.Not) else node
            if isinstance(node, exp.In) and node.args.get("query") is not None:
                yield _Member(statement, select, condition, node)


def _simple(member: _Member) -> tuple[exp.Select, Named, Named]:
    """Return the subquery, the column looked up, and the column of the subquery.

    Raises:
        Refused: it is no plain SELECT of one column, or what is compared are no columns of one type.
    """
    statement, inner = member.statement, member.node.args["query"].unnest()
    if not isinstance(inner, exp.Select) or len(inner.expressions) != 1 or inner.args.get("with_"):
        raise Refused("the subquery of IN is no plain SELECT of one column")
    plain = inner.copy()
    plain.set("distinct", None)
    if _shows_its_group(statement, inner):
        for part in ("group", "having"):
            plain.set(part, None)
    if not statement.sources(inner) or not is_plain(plain):
        raise Refused("the subquery of IN groups, sorts or cuts")
    one, other = statement.directly(member.value), statement.directly(inner.expressions[0].unalias())
    if one is None or other is None:
        raise Refused("what IN compares are no columns")
    if other.select is not inner:
        raise Refused("the subquery of IN shows a column of a query around it")
    statement.comparable(one, other)
    return inner, one, other


def _shows_its_group(statement: RewrittenQuery, inner: exp.Select) -> bool:
    """True if a subquery shows all that it groups by, so that no row comes twice."""
    group = inner.args.get("group")
    if group is None:
        return False
    keys = group.expressions
    if len(keys) != 1 or any(value for name, value in group.args.items() if name != "expressions"):
        return False
    key, shown = statement.named(keys[0]), statement.named(inner.expressions[0].unalias())
    return key is not None and shown is not None and key.place == shown.place


def in_to_join(statement: RewrittenQuery) -> Iterator[Attempt]:
    """See the rule in-to-join."""
    return (partial(_to_join, member) for member in _memberships(statement))


def _to_join(member: _Member) -> list[Fact]:
    inner, _, found = _simple(member)
    facts = _unique(member.statement, inner, found)
    _join(member, inner, distinct=False)
    return facts


def in_to_distinct_join(statement: RewrittenQuery) -> Iterator[Attempt]:
    """See the rule in-to-distinct-join."""
    return (partial(_to_distinct_join, member) for member in _memberships(statement))


def _to_distinct_join(member: _Member) -> list[Fact]:
    _join(member, _simple(member)[0], distinct=True)
    return []


def _unique(statement: RewrittenQuery, inner: exp.Select, found: Named) -> list[Fact]:
    """Require that no value comes twice, except NULL, which equals nothing."""
    if inner.args.get("distinct") or inner.args.get("group"):
        return []
    sources = statement.sources(inner)
    if len(sources) == 1 and found.source.table is not None:
        for key in statement.keys(found.source.table):
            if key.columns == (found.name,):
                return [key.fact]
    try:
        return statement.determined(inner, [found])
    except Refused as why:
        raise Refused(
            f"{found.title} is not known to be unique in the subquery, so that a join may repeat rows: {why}"
        ) from why


def _join(member: _Member, inner: exp.Select, *, distinct: bool) -> None:
    statement, select = member.statement, member.select
    if has_star(select):
        raise Refused("* would show the column of the joined subquery, too")
    if statement.outer_uses(inner):
        raise Refused("the subquery of IN is correlated")
    alias, name = statement.fresh("in"), statement.fresh("key")
    query = inner.copy()
    query.set("expressions", [exp.alias_(inner.expressions[0].unalias().copy(), name)])
    if distinct:
        query.set("distinct", exp.Distinct())
    on = equals(member.value, exp.column(name, table=alias))
    set_where(select, member.rest)
    append_join(statement, select, query.subquery(alias, copy=False), on)


def in_to_exists(statement: RewrittenQuery) -> Iterator[Attempt]:
    """See the rule in-to-exists."""
    return (partial(_to_exists, member) for member in _memberships(statement))


def _to_exists(member: _Member) -> list[Fact]:
    inner, one, _ = _simple(member)
    member.replace(_exists(member, inner, one))
    return []


def not_in_to_not_exists(statement: RewrittenQuery) -> Iterator[Attempt]:
    """See the rule not-in-to-not-exists."""
    return (partial(_to_not_exists, member) for member in _memberships(statement, negated=True))


def _to_not_exists(member: _Member) -> list[Fact]:
    inner, one, other = _simple(member)
    facts = [member.statement.not_null(one), member.statement.not_null(other)]
    member.replace(exp.Not(this=_exists(member, inner, one)))
    return facts


def _exists(member: _Member, inner: exp.Select, one: Named) -> exp.Exists:
    """Return EXISTS with the comparison of IN as a condition; its operands keep their meaning in there."""
    if inner.args.get("group"):
        raise Refused("the subquery of IN groups")
    selects = inner.find_all(exp.Select)
    if one.source.alias in {source.alias for each in selects for source in member.statement.sources(each)}:
        raise Refused(f"{one.source.alias} is also the name of a source of the subquery")
    query = inner.copy()
    query.set("distinct", None)
    query.set("expressions", [exp.Literal.number(1)])
    compared = equals(_qualified(member.value, one), inner.expressions[0].unalias())
    set_where(query, [*where_of(query), compared])
    return exp.Exists(this=query)


def _qualified(node: exp.Expr, named: Named) -> exp.Expr:
    """Return a column with the name of its source, as FROM spells it."""
    if node.args.get("table") is not None:
        return node.copy()
    found = node.copy()
    found.set("table", named.source.name)
    return found


# A correlated subquery as a derived table.

_EMPTY = {"COUNT": "0", "TOTAL": "0.0"}
"""The value of an aggregate over no rows, if it is not NULL."""

_AGGREGATES = frozenset({"COUNT", "SUM", "AVG", "TOTAL", "MIN", "MAX"})

_MOST_SUMMED = 2**53
"""A sum of integers below this neither overflows nor loses digits on any engine."""


def correlated_to_derived(statement: RewrittenQuery) -> Iterator[Attempt]:
    """See the rule correlated-to-derived."""
    for node in list(statement.tree.find_all(exp.Subquery)):
        inner = node.this
        if is_scalar(node) and isinstance(inner, exp.Select) and statement.outer_uses(inner):
            yield partial(_derive, statement, node, inner)


def _derive(statement: RewrittenQuery, node: exp.Subquery, inner: exp.Select) -> list[Fact]:
    select = node.find_ancestor(exp.Select)
    if select is None or any(named.select is not select for _, named in statement.outer_uses(inner)):
        raise Refused("the subquery is correlated to more than the query next to it")
    _may_join_left(statement, select, node)
    facts, call = _aggregate(statement, inner)
    keys: list[tuple[exp.Expr, exp.Expr]] = []
    local: list[exp.Expr] = []
    for condition in where_of(inner):
        outside = statement.outer_uses(inner, condition)
        if not outside:
            local.append(condition)
            continue
        keys.append(_correlation(statement, condition, inner))
    if len(keys) != 1:
        raise Refused("the subquery is not correlated by one equality")
    joining = [part for source in statement.joined(inner) for part in (*source.on, source.node)]
    if any(statement.outer_uses(inner, part) for part in joining):
        raise Refused("a join of the subquery is correlated")
    if any(statement.outer_uses(inner, one) for one in inner.expressions):
        raise Refused("what the subquery shows is correlated")
    [(own, outer)] = keys
    alias, key, value = statement.fresh("derived"), statement.fresh("key"), statement.fresh("value")
    derived = inner.copy()
    derived.set("expressions", [exp.alias_(own.copy(), key), exp.alias_(call.copy(), value)])
    derived.set("group", exp.Group(expressions=[own.copy()]))
    set_where(derived, local)
    shown: exp.Expr = exp.column(value, table=alias)
    empty = _EMPTY.get(called(call))
    if empty is not None:
        shown = exp.Coalesce(this=shown, expressions=[exp.Literal.number(empty)])
    named = statement.named(outer)
    on = equals(exp.column(key, table=alias), _qualified(outer, named) if named is not None else outer)
    if isinstance(node.parent, exp.Select) and node.arg_key == "expressions" and not node.alias:
        shown = exp.alias_(shown, statement.fresh("result"))
    elif node.alias:
        shown = exp.alias_(shown, node.args["alias"].this.copy())
    node.replace(shown)
    append_item(select, derived.subquery(alias, copy=False), on, side="LEFT")
    return facts


def _may_join_left(statement: RewrittenQuery, select: exp.Select, node: exp.Subquery) -> None:
    place: exp.Expr = node
    while place.parent is not select:
        if place.parent is None or isinstance(place.parent, exp.AggFunc | exp.Window):
            raise Refused("the subquery stands within an aggregate")
        place = place.parent
    if place.arg_key not in {"expressions", "where"}:
        raise Refused("the subquery stands neither among the results nor in WHERE")
    if is_grouped(select) and place.arg_key == "expressions":
        raise Refused("the subquery is computed for groups")
    if has_star(select):
        raise Refused("* would show the columns of the derived table, too")
    sources = statement.sources(select)
    if not sources or any(one.is_listed for one in sources):
        raise Refused("an outer join sees nothing before a comma")


def _aggregate(statement: RewrittenQuery, inner: exp.Select) -> tuple[list[Fact], exp.Expr]:
    """Return the one plain aggregate of a column in a subquery: no other group can make it fail."""
    parts = ("group", "having", "distinct", "order", "limit", "offset", "with_")
    if len(inner.expressions) != 1 or any(inner.args.get(part) for part in parts):
        raise Refused("the subquery groups, sorts or cuts")
    call = inner.expressions[0].unalias()
    if called(call) not in _AGGREGATES:
        raise Refused("the subquery shows no plain aggregate")
    values = arguments(call)
    value = values[0] if values else None
    if isinstance(value, exp.Distinct):
        value = value.expressions[0] if len(value.expressions) == 1 else None
    if isinstance(value, exp.Star) and called(call) == "COUNT":
        return [], call
    named = statement.named(value)
    if named is None or named.stored is None or named.select is not inner:
        raise Refused("the subquery shows no aggregate of a column of its own")
    if called(call) in {"SUM", "AVG", "TOTAL"}:
        return [_summable(named)], call
    return [], call


def _summable(named: Named) -> Fact:
    """Require that the sums of all groups, also those of no outer row, can be computed."""
    column_, table = named.stored, named.source.table
    if column_ is None or table is None or column_.type not in {"integer", "real"}:
        raise Refused(f"{named.title} is no column of numbers")
    least, greatest = column_.least or 0.0, column_.greatest or 0.0
    most = max(abs(least), abs(greatest)) * max(table.rows, 1)
    if column_.type == "integer" and most >= _MOST_SUMMED:
        raise Refused(f"a sum of {named.title} may overflow")
    return Fact(f"no sum of {named.title} overflows in the loaded data", declared=False)


def _correlation(
    statement: RewrittenQuery, condition: exp.Expr, inner: exp.Select
) -> tuple[exp.Expr, exp.Expr]:
    """Return the column of the subquery and the one outside that a condition equates."""
    if isinstance(condition, exp.EQ):
        nodes = [condition.this.unnest(), condition.expression.unnest()]
        named = [statement.directly(node) for node in nodes]
        for at, (one, other) in enumerate(((named[0], named[1]), (named[1], named[0]))):
            if one is not None and other is not None and one.select is inner and other.select is not inner:
                statement.comparable(one, other)
                return nodes[at], nodes[1 - at]
    raise Refused("the subquery is correlated by more than equalities of columns")
