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
    for at, node in enumerate(nodes):
        if isinstance(node, exp.Where | exp.Having):
            for conjunct in conjuncts(node.this):
                yield from _of_conjunct(gold, nodes, conjunct)
        elif isinstance(node, exp.Join) and node.args.get("on") is not None:
            for conjunct in on_of(node):
                if len({column.table for column in conjunct.find_all(exp.Column)}) < 2:  # noqa: PLR2004 - a pair
                    yield from _of_conjunct(gold, nodes, conjunct)
        elif isinstance(node, exp.Select):
            yield from _of_select(gold, nodes, node, at)


def replaced(gold: exp.Expr, at: int, new: exp.Expr) -> exp.Expr:
    """The gold with another node in the place of the one that `walk` comes to as the `at`th."""
    copy = gold.copy()
    target = next(node for number, node in enumerate(copy.walk()) if number == at)
    target.replace(new.copy())
    return copy


def _position(nodes: list[exp.Expr], wanted: exp.Expr) -> int:
    return next(at for at, node in enumerate(nodes) if node is wanted)


def _of_conjunct(gold: exp.Expr, nodes: list[exp.Expr], conjunct: exp.Expr) -> Iterator[Neighbour]:
    at = _position(nodes, conjunct)
    without = replaced(gold, at, exp.true())
    denied = exp.Not(this=exp.Paren(this=conjunct.copy()))
    if isinstance(conjunct, exp.Not):
        denied = conjunct.this.copy()
    yield Neighbour(without, replaced(gold, at, denied))
    for other, telling in _readings(conjunct):
        yield Neighbour(None if other is None else replaced(gold, at, other), replaced(gold, at, telling))


def _readings(node: exp.Expr) -> Iterator[tuple[exp.Expr | None, exp.Expr]]:
    """Other conditions in the place of one, with what a row has to meet that tells them apart."""
    turned: dict[type[exp.Expr], type[exp.Binary]] = {
        exp.GT: exp.GTE,
        exp.GTE: exp.GT,
        exp.LT: exp.LTE,
        exp.LTE: exp.LT,
    }
    if type(node) in turned:
        other = turned[type(node)](this=node.this.copy(), expression=node.expression.copy())
        yield other, exp.EQ(this=node.this.copy(), expression=node.expression.copy())
    elif isinstance(node, exp.Between):
        for end, beside in (("low", exp.GT), ("high", exp.LT)):
            bound = node.args[end]
            yield (
                exp.and_(node.copy(), beside(this=node.this.copy(), expression=bound.copy())),
                exp.EQ(this=node.this.copy(), expression=bound.copy()),
            )
    elif isinstance(node, exp.Or):
        a, b = node.this, node.expression
        yield a.copy(), exp.and_(exp.not_(exp.paren(a.copy())), exp.paren(b.copy()))
        yield b.copy(), exp.and_(exp.not_(exp.paren(b.copy())), exp.paren(a.copy()))
    elif isinstance(node, exp.In) and len(node.expressions) > 1:
        for item in node.expressions:
            rest = [each.copy() for each in node.expressions if each is not item]
            yield (
                exp.In(this=node.this.copy(), expressions=rest),
                exp.EQ(this=node.this.copy(), expression=item.copy()),
            )
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


def _of_select(gold: exp.Expr, nodes: list[exp.Expr], node: exp.Select, at: int) -> Iterator[Neighbour]:
    joins = joins_of(node)
    for number, join in enumerate(joins):
        if isinstance(join.this, exp.Table) and not join.side:
            yield from _without_join(gold, node, at, number)
    if node is gold:
        yield from _repeated(gold, nodes)
    for column in _nullable(node):
        copy = gold.copy()
        target = next(each for number, each in enumerate(copy.walk()) if number == at)
        if isinstance(target, exp.Select):
            missing = exp.Is(this=column.copy(), expression=exp.null())
            filled = copy.copy()
            again = next(each for number, each in enumerate(filled.walk()) if number == at)
            if isinstance(again, exp.Select):
                again.where(exp.not_(missing.copy()), copy=False)
            target.where(missing, copy=False)
            yield Neighbour(filled, copy)


def _repeated(gold: exp.Expr, nodes: list[exp.Expr]) -> Iterator[Neighbour]:
    """What differs where rows repeat: a gold's own row again, duplicates that are counted or not."""
    counted = list(gold.find_all(exp.Count))
    yield Neighbour(None, gold.copy(), "shown")
    if gold.args.get("limit") is not None:
        yield Neighbour(None, gold.copy(), "ordered")
    for item in counted:
        if isinstance(item.this, exp.Distinct) and item.this.expressions:
            plain = exp.Count(this=item.this.expressions[0].copy())
            yield Neighbour(replaced(gold, _position(nodes, item), plain), gold.copy(), "shown")
        elif isinstance(item.this, exp.Column):
            distinct = exp.Count(this=exp.Distinct(expressions=[item.this.copy()]))
            yield Neighbour(replaced(gold, _position(nodes, item), distinct), gold.copy(), "shown")


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


def _without_join(gold: exp.Expr, node: exp.Select, at: int, number: int) -> Iterator[Neighbour]:
    """A query without one of its tables, where it does without; its row has no partner there."""
    join = joins_of(node)[number]
    gone = join.this.alias_or_name.lower()
    copy = gold.copy()
    target = next(each for place, each in enumerate(copy.walk()) if place == at)
    others = [each for place, each in enumerate(joins_of(target)) if place != number]
    target.set("joins", others)

    def mentions(expression: exp.Expr) -> bool:
        return any(column.table.lower() in {gone, ""} for column in expression.find_all(exp.Column))

    needed = [each for each in others if each.args.get("on") is not None and mentions(each.args["on"])]
    if needed:
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
