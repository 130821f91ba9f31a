"""OR as UNION ALL of disjoint parts, so that each can be found by an index of its own."""

from collections.abc import Iterator

from sqlglot import exp

from harness.efficiency.rewriting.conditions import set_where, where_of
from harness.efficiency.rewriting.settled import is_plain, is_scalar
from harness.efficiency.rewriting.statement import Fact, Refused, Statement

_MOST_PARTS = 4


def or_to_union_all(statement: Statement) -> list[Fact] | None:
    """See the rule or-to-union-all."""
    for select in statement.selects():
        for condition in where_of(select):
            parts = list(_disjuncts(condition))
            if len(parts) == 1:
                continue
            try:
                return _union(statement, select, condition, parts)
            except Refused as why:
                statement.refused.append(str(why))
    return None


def _disjuncts(condition: exp.Expr) -> Iterator[exp.Expr]:
    node = condition.unnest()
    if isinstance(node, exp.Or):
        yield from _disjuncts(node.this)
        yield from _disjuncts(node.expression)
    else:
        yield condition


def _union(  # noqa: C901, PLR0912 - what stands in the way, one by one
    statement: Statement, select: exp.Select, condition: exp.Expr, parts: list[exp.Expr]
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


def _numbers(statement: Statement, select: exp.Select) -> list[int]:
    """The results that a SELECT sorts by, each by its number: nothing else can sort a UNION."""
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
