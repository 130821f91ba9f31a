"""Which rows a question is about: conditions of its knowledge, and of values that it names itself."""

from itertools import pairwise

from sqlglot import exp

from harness.predictors.offline.absence import absent, same_as
from harness.predictors.offline.catalog import Field, Sort
from harness.predictors.offline.draft import Draft
from harness.predictors.offline.lexicon import LEAVING, NEGATIONS
from harness.predictors.offline.operations import Tree, aggregates
from harness.predictors.offline.placing import Placed
from harness.predictors.offline.reading import Reading
from harness.predictors.offline.values import Named, named_values
from harness.predictors.offline.wanted import Asked


def add_conditions(reading: Reading, asked: Asked, draft: Draft) -> None:  # noqa: C901 - kinds of them
    """Puts into the draft what knowledge and the question say of the rows."""
    shown = [item for item in asked.items if isinstance(item, exp.Expr)]
    for place, one in enumerate(reading.placed):
        condition = one.definition.condition
        alone = one.definition.value is None and not one.definition.columns and one.definition.extreme is None
        if condition is None or (alone and place in reading.used) or (alone and _inside(condition, shown)):
            continue
        nothing = absent(reading, one)
        if nothing is not None:
            draft.where.append(nothing)
            continue
        if _negated(reading, one):
            condition = _without(condition)
        for part in condition.flatten() if isinstance(condition, exp.And) else [condition]:
            (draft.having if aggregates(part) else draft.where).append(part.copy())
    for value in named_values(reading, draft):
        tests = [(field.expression, _test(reading, part, field, value)) for part, field in value.fields]
        same = same_as(reading, value.start, tests)
        if same is not None:
            draft.where.append(same)
        for _, test in tests:
            if same is None:
                draft.where.append(exp.Not(this=exp.paren(test, copy=False)) if value.negated else test)
            elif any(token.text.lower() in {"other", "else"} for token in reading.tokens):
                draft.where.append(exp.Not(this=exp.paren(test.copy(), copy=False)))
    draft.where = [folded(reading, tree) for tree in draft.where]


def _test(reading: Reading, part: str, field: Field, value: Named) -> Tree:
    kind = exp.Like if value.within and field.sort is Sort.TEXT else exp.EQ
    literal = exp.Literal.string(f"%{part}%" if kind is exp.Like else part)
    return folded(reading, kind(this=field.expression.copy(), expression=literal))


def _without(condition: Tree) -> Tree:
    """The rows that a condition doesn't hold for; where a value is missing it doesn't."""
    denied: Tree = exp.Not(this=exp.paren(condition.copy(), copy=False))
    columns = {column.sql(): column for column in condition.find_all(exp.Column)}
    for column in columns.values():
        denied = exp.Or(this=denied, expression=exp.Is(this=column.copy(), expression=exp.Null()))
    return exp.paren(denied, copy=False)


def _inside(condition: Tree, shown: list[Tree]) -> bool:
    """Whether a formula that is shown has a condition in it already."""
    text = condition.sql()
    return any(text == node.sql() for tree in shown for node in tree.find_all(type(condition)))


def _negated(reading: Reading, one: Placed) -> bool:
    """Whether the question leaves out the rows that a phrase means; a phrase may say `not` for itself."""
    words = {word.lower() for word in one.definition.phrase.split()}
    if one.start < 0:
        return False
    before = [reading.word(at) for at in range(max(0, one.start - 7), one.start)]
    behind = [reading.word(at) for at in range(one.end, one.end + 2)]
    pairs = list(pairwise(before))
    leaving = any(pair in pairs for pair in LEAVING)
    if (
        leaving
        or "excluding" in before
        or "except" in before
        or "aside" in behind
        or behind == ["left", "out"]
    ):
        return True
    return before[-1:] == ["not"] and not words & NEGATIONS


def folded(reading: Reading, tree: Tree) -> Tree:
    """Compares without capitals where knowledge says that spelling varies."""
    for node in list(tree.find_all(exp.EQ, exp.NEQ)):
        column, literal = node.this, node.expression
        if (
            isinstance(column, exp.Column)
            and column.name in reading.folded
            and isinstance(literal, exp.Literal)
        ):
            node.set("this", exp.Lower(this=column.copy()))
            node.set("expression", exp.Literal.string(literal.name.lower()))
    return tree
