"""Operations that mean one thing on every engine: calls in a tree, by names of their own (see `spelling`)."""

from collections.abc import Callable
from enum import StrEnum

from sqlglot import exp

Tree = exp.Expr


class Operation(StrEnum):
    """What such a call does."""

    PART = "bird_part"
    """Of a date: what a format of strftime says of it, as text."""
    DAYS = "bird_days"
    """Of a date: days since 1970, with fractions."""
    EPOCH = "bird_epoch"
    """Of a date: whole seconds since 1970."""
    DAY = "bird_day"
    """Of a moment: its date."""
    EPOCH_DAY = "bird_epoch_day"
    """Of seconds since 1970: their date."""
    TODAY = "bird_today"
    """Today's date."""
    NUMERIC = "bird_numeric"
    """Of a text: the number that it begins with."""
    TEXT = "bird_text"
    """Of anything: its text."""
    RATIO = "bird_ratio"
    """Of two numbers: the quotient with fractions, NULL by zero."""
    WHOLE = "bird_whole"
    """Of two numbers: how many times the second goes into the first."""


_OPERATIONS = {one.value: one for one in Operation}


def call(operation: Operation, *arguments: Tree) -> exp.Anonymous:
    """A call of an operation."""
    return exp.Anonymous(this=operation.value, expressions=list(arguments))


def operation(tree: Tree) -> Operation | None:
    """The operation that a node calls, if it does."""
    name = tree.name if isinstance(tree, exp.Anonymous) else ""
    return _OPERATIONS.get(name)


def part(value: Tree, form: str) -> exp.Anonymous:
    """What a format of strftime says of a date."""
    return call(Operation.PART, value, exp.Literal.string(form))


def ratio(above: Tree, below: Tree) -> exp.Anonymous:
    """A quotient with fractions."""
    return call(Operation.RATIO, above, below)


def times(tree: Tree, factor: int) -> Tree:
    """A multiple; of a ratio it is the number above that is multiplied, which rounds once less."""
    if operation(tree) is Operation.RATIO:
        above, below = tree.expressions
        return ratio(exp.Mul(this=above, expression=exp.Literal.number(factor)), below)
    return exp.Mul(this=exp.paren(tree, copy=False), expression=exp.Literal.number(factor))


def counted(condition: Tree) -> Tree:
    """For how many rows a condition holds."""
    return exp.Sum(this=flag(condition))


def flag(condition: Tree) -> exp.Case:
    """1 where a condition holds, else 0."""
    one, nought = exp.Literal.number(1), exp.Literal.number(0)
    return exp.Case(ifs=[exp.If(this=condition, true=one)], default=nought)


PREDICATES = (
    exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between, exp.In, exp.Like, exp.Is, exp.And, exp.Or,
    exp.Not,
)  # fmt: skip


def is_predicate(tree: Tree) -> bool:
    """Whether a tree is true or false by itself, on every engine."""
    inner = tree.unnest()
    if isinstance(inner, exp.And | exp.Or):
        return is_predicate(inner.left) and is_predicate(inner.right)
    if isinstance(inner, exp.Not):
        return is_predicate(inner.this)
    return isinstance(inner, PREDICATES)


def aggregates(tree: Tree) -> bool:
    """Whether a tree has an aggregate in it that is not a subquery's."""
    return any(one.find_ancestor(exp.Subquery) is None for one in tree.find_all(exp.AggFunc))


def rewritten(tree: Tree, change: Callable[[Tree], Tree]) -> Tree:
    """A tree whose nodes are changed from the leaves upwards."""
    for key, value in list(tree.args.items()):
        if isinstance(value, exp.Expr):
            tree.set(key, rewritten(value, change))
        elif isinstance(value, list):
            tree.set(key, [rewritten(item, change) if isinstance(item, exp.Expr) else item for item in value])
    return change(tree)
