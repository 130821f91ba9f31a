"""The queries beside a gold: what somebody may have written instead, and the row that tells it apart.

The kinds of change are those of test suites for SQL (https://arxiv.org/abs/2010.02840): a condition left out,
a boundary in or out, another reading of a text, a duplicate or NULL counted or not, a join lost.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from dialects.clauses import conjuncts, joins_of, on_of, where_of

Repeat = Literal["", "shown", "ordered"]


_TURNED: dict[type[exp.Expr], type[exp.Binary]] = {
    exp.GT: exp.GTE,
    exp.GTE: exp.GT,
    exp.LT: exp.LTE,
    exp.LTE: exp.LT,
}


@dataclass(frozen=True)
class Neighbour:
    """A query that is not the gold.

    `query` is what somebody may have written, None where there is no such text; `telling` is a query that a
    row answers which tells them apart; `repeat` says what of the gold's own row this one shares.
    """

    query: exp.Expr | None
    telling: exp.Expr
    repeat: Repeat = ""


def neighbours(gold: exp.Expr) -> Iterator[Neighbour]:
    """The neighbours of a gold, in an order that depends on its text alone."""
    nodes = list(gold.walk())
    for node in nodes:
        if isinstance(node, exp.Where | exp.Having):
            for conjunct in conjuncts(node.this):
                yield from _of_conjunct(gold, nodes, conjunct)
        elif isinstance(node, exp.Join) and node.args.get("on") is not None:
            for conjunct in on_of(node):
                if len({column.table for column in conjunct.find_all(exp.Column)}) < 2:  # noqa: PLR2004 - a pair
                    yield from _of_conjunct(gold, nodes, conjunct)
        elif isinstance(node, exp.Select):
            yield from _of_select(gold, nodes, node)


def _copied(gold: exp.Expr, nodes: list[exp.Expr], wanted: exp.Expr) -> tuple[exp.Expr, exp.Expr]:
    """A copy of the gold, and in it the node that stands where `wanted` does in the gold."""
    copy = gold.copy()
    return copy, next(new for node, new in zip(nodes, copy.walk(), strict=True) if node is wanted)


def _replaced(gold: exp.Expr, nodes: list[exp.Expr], old: exp.Expr, new: exp.Expr) -> exp.Expr:
    """The gold with another node in the place of one."""
    copy, target = _copied(gold, nodes, old)
    target.replace(new.copy())
    return copy


def _of_conjunct(gold: exp.Expr, nodes: list[exp.Expr], conjunct: exp.Expr) -> Iterator[Neighbour]:
    def instead(new: exp.Expr) -> exp.Expr:
        return _replaced(gold, nodes, conjunct, new)

    is_not = isinstance(conjunct, exp.Not)
    denied = conjunct.this if is_not else exp.Not(this=exp.Paren(this=conjunct.copy()))
    yield Neighbour(instead(exp.true()), instead(denied))
    for other, telling in _readings(conjunct):
        yield Neighbour(None if other is None else instead(other), instead(telling))


def _readings(node: exp.Expr) -> Iterator[tuple[exp.Expr | None, exp.Expr]]:
    """Other conditions in the place of one, with what a row has to meet that tells them apart."""

    def compared(kind: type[exp.Binary], right: exp.Expr) -> exp.Binary:
        return kind(this=node.this.copy(), expression=right.copy())

    if type(node) in _TURNED:
        yield compared(_TURNED[type(node)], node.expression), compared(exp.EQ, node.expression)
    elif isinstance(node, exp.Between):
        for end, beside in (("low", exp.GT), ("high", exp.LT)):
            bound = node.args[end]
            yield exp.and_(node.copy(), compared(beside, bound)), compared(exp.EQ, bound)
    elif isinstance(node, exp.Or):
        a, b = node.this, node.expression
        yield a.copy(), exp.and_(exp.not_(exp.paren(a.copy())), exp.paren(b.copy()))
        yield b.copy(), exp.and_(exp.not_(exp.paren(b.copy())), exp.paren(a.copy()))
    elif isinstance(node, exp.In) and len(node.expressions) > 1:
        for item in node.expressions:
            rest = [each.copy() for each in node.expressions if each is not item]
            yield exp.In(this=node.this.copy(), expressions=rest), compared(exp.EQ, item)
    else:
        yield from _readings_of_texts(node)


def _readings_of_texts(node: exp.Expr) -> Iterator[tuple[exp.Expr | None, exp.Expr]]:
    """The same for a text that is compared, and for what a NULL does not meet."""
    if isinstance(node, exp.Like) and isinstance(node.expression, exp.Literal):
        plain = exp.Literal.string(node.expression.this.strip("%"))
        same = exp.EQ(this=node.this.copy(), expression=plain)
        yield same, exp.and_(node.copy(), exp.not_(same.copy()))
    elif isinstance(node, exp.EQ) and isinstance(node.expression, exp.Literal) and node.expression.is_string:
        text = node.expression.this
        within = exp.Like(this=node.this.copy(), expression=exp.Literal.string(f"%{text}%"))
        yield within, exp.and_(within.copy(), exp.not_(node.copy()))
    elif isinstance(node, exp.NEQ | exp.Not) and not isinstance(node.find(exp.Is), exp.Is):
        column = node.find(exp.Column)
        if column is not None:
            yield None, exp.Is(this=column.copy(), expression=exp.null())


def _of_select(gold: exp.Expr, nodes: list[exp.Expr], node: exp.Select) -> Iterator[Neighbour]:
    for number, join in enumerate(joins_of(node)):
        if isinstance(join.this, exp.Table) and not join.side:
            yield from _without_join(gold, nodes, node, number)
    if node is gold:
        yield from _repeated(gold, nodes)
    for column in _nullable(node):
        missing = exp.Is(this=column.copy(), expression=exp.null())
        (filled, there), (lacking, absent) = _copied(gold, nodes, node), _copied(gold, nodes, node)
        if isinstance(there, exp.Select) and isinstance(absent, exp.Select):
            there.where(exp.not_(missing.copy()), copy=False)
            absent.where(missing, copy=False)
            yield Neighbour(filled, lacking)


def _repeated(gold: exp.Expr, nodes: list[exp.Expr]) -> Iterator[Neighbour]:
    """What differs where rows repeat: a gold's own row again, duplicates that are counted or not."""
    yield Neighbour(None, gold.copy(), "shown")
    if gold.args.get("limit") is not None:
        yield Neighbour(None, gold.copy(), "ordered")
    for item in list(gold.find_all(exp.Count)):
        if isinstance(item.this, exp.Distinct) and item.this.expressions:
            other = item.this.expressions[0].copy()
        elif isinstance(item.this, exp.Column):
            other = exp.Distinct(expressions=[item.this.copy()])
        else:
            continue
        yield Neighbour(_replaced(gold, nodes, item, exp.Count(this=other)), gold.copy(), "shown")


def _nullable(node: exp.Select) -> list[exp.Column]:
    """The columns of what a SELECT shows and orders by, each once."""
    found: dict[str, exp.Column] = {}
    order = node.args.get("order")
    ordered = order.expressions if order is not None else []
    group = node.args.get("group")
    # A NULL would come first, or be a group, and be the answer.
    first = [*(each for each in ordered if not each.args.get("desc")), *(group.expressions if group else [])]
    least = {column.sql().lower() for each in first for column in each.find_all(exp.Column)}
    for item in [*node.expressions, *ordered]:
        for column in item.find_all(exp.Column):
            if column.find_ancestor(exp.Select) is node and column.sql().lower() not in least:
                found.setdefault(column.sql().lower(), column)
    return list(found.values())


def _without_join(
    gold: exp.Expr, nodes: list[exp.Expr], node: exp.Select, number: int
) -> Iterator[Neighbour]:
    """A query without one of its tables, where it does without; its row has no partner there."""
    gone = joins_of(node)[number].this.alias_or_name.lower()
    copy, target = _copied(gold, nodes, node)
    others = [each for place, each in enumerate(joins_of(target)) if place != number]
    target.set("joins", others)

    def mentions(expression: exp.Expr) -> bool:
        return any(column.table.lower() in {gone, ""} for column in expression.find_all(exp.Column))

    if any(each.args.get("on") is not None and mentions(each.args["on"]) for each in others):
        return
    conditions = where_of(target)
    if conditions:
        kept = [each.copy() for each in conditions if not mentions(each)]
        target.set("where", exp.Where(this=exp.and_(*kept)) if kept else None)
    shown = [each for each in target.expressions if not mentions(each)]
    complete = len(shown) == len(target.expressions) and not any(map(mentions, conditions))
    target.set("expressions", shown or [exp.Literal.number(1)])
    for part in ("order", "group", "having"):
        clause = target.args.get(part)
        if clause is not None and mentions(clause):
            target.set(part, None)
            complete = False
    yield Neighbour(copy if complete else None, copy.copy())
