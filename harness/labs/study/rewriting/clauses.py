"""Rules about one clause: COUNT(*), ORDER BY with LIMIT 1, OR, and WITH."""

from collections.abc import Iterator
from functools import partial

from sqlglot import exp

from dialects.clauses import is_source, where_of
from harness.labs.study.rewriting.statement import (
    Attempt,
    RewrittenQuery,
    about,
    equals,
    is_scalar,
    set_where,
)
from harness.sqltree.parser import aggregates, arguments, called, is_plain, with_argument
from harness.sqltree.query import Fact, Named, Refused

# COUNT(*) as COUNT of a key.


def count_star_to_key(statement: RewrittenQuery) -> Iterator[Attempt]:
    """See the rule count-star-to-key."""
    for select in statement.selects():
        for call in list(aggregates(select)):
            values = arguments(call)
            if called(call) == "COUNT" and values and isinstance(values[0], exp.Star):
                yield partial(_count_key, statement, select, call)


def _count_key(statement: RewrittenQuery, select: exp.Select, call: exp.Expr) -> list[Fact]:
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
            stored = statement.spelled(source.table, key.columns[0])
            call.replace(with_argument(call, exp.Column(this=stored, table=source.name)))
            return facts[1:2]
    raise why


def is_named_by_text(select: exp.Select, node: exp.Expr) -> bool:
    """True if a node is in a result without an alias that an outer query can name."""
    place = node
    while place.parent is not None and place.parent is not select:
        place = place.parent
    if place.arg_key != "expressions" or isinstance(place, exp.Alias):
        return False
    place = select
    while isinstance(place.parent, exp.Subquery | exp.SetOperation | exp.Paren):
        place = place.parent
    return is_source(place) or isinstance(place.parent, exp.CTE)


# ORDER BY x LIMIT 1 as the row, or the value, of MAX or MIN.


def limit_to_extreme(statement: RewrittenQuery) -> Iterator[Attempt]:
    """See the rule limit-to-extreme."""
    for select in statement.selects():
        limit, order = select.args.get("limit"), select.args.get("order")
        if order is not None and isinstance(limit, exp.Limit) and limit.expression.name == "1":
            yield partial(_extreme, statement, select, order.expressions)


def _extreme(statement: RewrittenQuery, select: exp.Select, order: list[exp.Expr]) -> list[Fact]:
    bare = select.copy()
    for part in ("order", "limit"):
        bare.set(part, None)
    if select.args.get("offset") or select.args["limit"].args.get("offset") or not is_plain(bare):
        raise Refused("the query groups, or skips rows before LIMIT 1")
    first = order[0]
    meaning = statement.meaning(first.this) if isinstance(first.this, exp.Column) else None
    if isinstance(meaning, exp.Expr):
        # By the name of a result, which MAX replaces.
        first = first.copy()
        first.set("this", meaning.copy())
    named = statement.named(order[0].this)
    if named is None or named.stored is None or named.select is not select:
        raise Refused("it sorts by what is no column")
    extreme = exp.Max if first.args.get("desc") else exp.Min
    if len(select.expressions) == 1 and _is(statement, select.expressions[0].unalias(), named):
        return _value(statement, select, first, named, extreme)
    return _row(statement, select, first, named, extreme)


def _is(statement: RewrittenQuery, node: exp.Expr, named: Named) -> bool:
    found = statement.named(node)
    return found is not None and found.place == named.place


def _value(
    statement: RewrittenQuery, select: exp.Select, first: exp.Expr, named: Named, extreme: type[exp.AggFunc]
) -> list[Fact]:
    """Return the facts by which a SELECT shows only its sort key, so that tied rows look alike."""
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
    statement: RewrittenQuery, select: exp.Select, first: exp.Expr, named: Named, extreme: type[exp.AggFunc]
) -> list[Fact]:
    """Require that one row has the extreme."""
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


def _not_null(statement: RewrittenQuery, select: exp.Select, named: Named) -> list[Fact]:
    for condition in statement.conditions(select):
        if isinstance(condition, exp.Not) and isinstance(condition.this, exp.Is):
            test = condition.this
            if isinstance(test.expression, exp.Null) and _is(statement, test.this.unnest(), named):
                return []
    return [statement.not_null(named)]


# OR as UNION ALL of disjoint parts, so that each can be found by an index of its own.

_MOST_PARTS = 4


def or_to_union_all(statement: RewrittenQuery) -> Iterator[Attempt]:
    """See the rule or-to-union-all."""
    for select in statement.selects():
        for condition in where_of(select):
            parts = list(_disjuncts(condition))
            if len(parts) > 1:
                yield partial(_union, statement, select, condition, parts)


def _disjuncts(condition: exp.Expr) -> Iterator[exp.Expr]:
    node = condition.unnest()
    if isinstance(node, exp.Or):
        yield from _disjuncts(node.this)
        yield from _disjuncts(node.expression)
    else:
        yield condition


def _union(  # noqa: C901, PLR0912 - one check after another
    statement: RewrittenQuery, select: exp.Select, condition: exp.Expr, parts: list[exp.Expr]
) -> list[Fact]:
    bare = select.copy()
    order = select.args.get("order")
    bare.set("order", None)
    if not is_plain(bare) or (isinstance(select.parent, exp.Subquery) and is_scalar(select.parent)):
        raise Refused("the query groups, cuts or shows each row once")
    if len(parts) > _MOST_PARTS:
        raise Refused(f"OR has more than {_MOST_PARTS} parts")
    columns = [frozenset(named.place for _, named in statement.uses(part)) for part in parts]
    if len(set(columns)) != len(columns):
        raise Refused("the parts of OR are about the same columns, which one index finds")
    if isinstance(select.parent, exp.SetOperation):
        raise Refused("the query is a part of a set operation")
    if any(part.find(exp.Query) for part in parts):
        raise Refused("OR has a subquery")
    numbers = _numbers(statement, select) if order is not None else None
    if order is not None and select.parent is not None:
        raise Refused("a subquery is sorted")
    branches = []
    for at, part in enumerate(parts):
        branch = select.copy()
        for name in ("order", "with_"):
            branch.set(name, None)
        others = [
            exp.Not(this=exp.Is(this=exp.paren(one.copy()), expression=exp.true())) for one in parts[:at]
        ]
        rest = [one for one in where_of(select) if one is not condition]
        set_where(branch, [*rest, part, *others])
        branches.append(branch)
    union: exp.Expr = branches[0]
    for branch in branches[1:]:
        union = exp.Union(this=union, expression=branch, distinct=False)
    if select.args.get("with_") is not None:
        union.set("with_", select.args["with_"].copy())
    if order is not None and numbers is not None:
        ordered = []
        for number, term in zip(numbers, order.expressions, strict=True):
            new = term.copy()
            new.set("this", exp.Literal.number(number))
            ordered.append(new)
        union.set("order", exp.Order(expressions=ordered))
    if select is statement.tree:
        assert isinstance(union, exp.Query)  # noqa: S101 - OR has two parts
        statement.tree = union
    else:
        select.replace(union)
    return []


def _numbers(statement: RewrittenQuery, select: exp.Select) -> list[int]:
    """Return the results that a SELECT sorts by, each by its number: nothing else can sort a UNION."""
    numbers = []
    for term in select.args["order"].expressions:
        node = term.this
        if isinstance(node, exp.Literal) and node.is_int:
            numbers.append(int(node.name))
            continue
        meaning = statement.meaning(node) if isinstance(node, exp.Column) else None
        sought = meaning if isinstance(meaning, exp.Expr) else node
        place = getattr(statement.named(sought), "place", None)
        found = [
            number
            for number, output in enumerate(select.expressions, start=1)
            if output.unalias() == sought
            or (place and getattr(statement.named(output.unalias()), "place", None) == place)
        ]
        if not found or any(output.is_star for output in select.expressions):
            raise Refused("it sorts by what is not in its result")
        numbers.append(found[0])
    return numbers


# A common table expression that is used once, put where it is used.


def cte_inline(statement: RewrittenQuery) -> Iterator[Attempt]:
    """See the rule cte-inline."""
    for cte in list(statement.tree.find_all(exp.CTE)):
        yield partial(about, cte.alias, partial(_inline, statement, cte))


def _inline(statement: RewrittenQuery, cte: exp.CTE) -> list[Fact]:  # noqa: C901 - one check after another
    held = cte.parent
    if not isinstance(held, exp.With) or held.args.get("recursive"):
        raise Refused("it may be recursive")
    if cte.args["alias"].columns:
        raise Refused("it names its columns apart")
    names = [statement.engine.fold(one.args["alias"].this) for one in statement.tree.find_all(exp.CTE)]
    if len(set(names)) != len(names):
        raise Refused("two common table expressions have one name")
    if not isinstance(cte.this, exp.Query) or cte.this.args.get("with_"):
        raise Refused("it has a WITH of its own")
    if statement.outer_uses(cte.this):
        raise Refused("it is correlated")
    name = statement.engine.fold(cte.args["alias"].this)
    uses = [table for table in statement.tree.find_all(exp.Table) if statement.cte(table) is cte]
    if len(uses) != 1:
        raise Refused(f"it is used {len(uses)} times")
    [use] = uses
    node: exp.Expr | None = use
    while node is not None:
        if node is cte:
            raise Refused("it may be recursive")
        node = node.parent
    if {key for key, value in use.args.items() if value} - {"this", "alias"}:
        raise Refused("it is used with joins or hints of its own")
    stored = {statement.engine.fold(one.this) for one in cte.this.find_all(exp.Table) if one.name}
    if name in stored:
        raise Refused("it reads a table of its own name")
    alias = use.args.get("alias")
    table_alias = alias.copy() if alias is not None else exp.TableAlias(this=use.this.copy())
    use.replace(exp.Subquery(this=cte.this.copy(), alias=table_alias))
    rest = [one for one in held.expressions if one is not cte]
    holder = held.parent
    if rest:
        held.set("expressions", rest)
    elif holder is not None:
        holder.set("with_", None)
    return []
