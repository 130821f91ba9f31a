"""The steps from a reading to a query."""

from sqlglot import exp

from harness.predictors.offline.absence import add_absences
from harness.predictors.offline.amounts import add_amounts
from harness.predictors.offline.asked import asked
from harness.predictors.offline.assembly import assemble
from harness.predictors.offline.conditions import add_conditions, folded
from harness.predictors.offline.draft import Draft
from harness.predictors.offline.joins import joined
from harness.predictors.offline.operations import Tree, aggregates, counted, ratio
from harness.predictors.offline.ranking import add_groups, add_order
from harness.predictors.offline.reading import Reading
from harness.predictors.offline.settling import settle, tables_of
from harness.predictors.offline.tokens import number
from harness.predictors.offline.wanted import Asked, Counted

_BOTH = 2


def compose(reading: Reading) -> exp.Query:
    """The query that a reading comes to."""
    wanted = asked(reading)
    draft = Draft(reading.subject, distinct=wanted.distinct)
    each = add_groups(reading, draft)
    add_conditions(reading, wanted, draft)
    add_amounts(reading, draft)
    add_absences(reading, draft)
    add_order(reading, wanted, draft, each=each)
    if wanted.share and not wanted.items:
        _share(reading, wanted, draft)
    draft.places = _places(reading)
    _columns_shown(reading, wanted, draft, each=each)
    _contradictions(reading, draft)
    draft.select = [_lower(reading, folded(reading, tree)) for tree in draft.select]
    draft.group_by = [_lower(reading, tree) for tree in draft.group_by]
    return assemble(draft, reading.catalog)


def _columns_shown(reading: Reading, wanted: Asked, draft: Draft, *, each: bool) -> None:
    plain = [item for item in wanted.items if isinstance(item, exp.Expr)]
    draft.select = list(plain) or [reading.subject.label.expression.copy()]
    settle(draft, reading.catalog)
    tables = tables_of([*draft.select, *draft.where, *draft.group_by, *draft.having])
    settled = iter(draft.select)
    shown: list[Tree] = [
        _count(reading, item, [*tables, item.entity.name]) if isinstance(item, Counted) else next(settled)
        for item in wanted.items
    ]
    draft.select = shown or draft.select
    if each and all(aggregates(tree) for tree in draft.select):
        named: list[Tree] = [field.expression.copy() for field in draft.group]
        labels = named or [tree.copy() for tree in draft.group_by]
        draft.select = [*labels, *draft.select]
    if draft.group and not draft.group_by:
        draft.group_by = [field.expression.copy() for field in draft.group]


def _lower(reading: Reading, tree: Tree) -> Tree:
    """Small letters, where the question asks for them and the column has both."""
    lower = any(
        reading.word(at) == "lower" and reading.word(at + 1) == "case" for at in range(len(reading.tokens))
    )
    return (
        exp.Lower(this=tree)
        if lower and isinstance(tree, exp.Column) and tree.name in reading.folded
        else tree
    )


def _share(reading: Reading, wanted: Asked, draft: Draft) -> None:
    """What part of the rows the last condition holds for; a ratio is one of the rows of the last two."""
    if not draft.where:
        wanted.items.append(Counted(draft.subject))
        return
    last = draft.where.pop()
    if draft.where and any(token.text.lower() == "ratio" for token in reading.tokens):
        wanted.items.append(ratio(counted(draft.where.pop()), counted(last)))
    else:
        hundred = exp.Mul(this=counted(last), expression=exp.Literal.number(100))
        wanted.items.append(ratio(hundred, exp.Count(this=exp.Star())))


def _count(reading: Reading, item: Counted, tables: list[str]) -> Tree:
    """Rows of one table are counted as they are, but once each where a join may repeat them."""
    entity = item.entity
    key = entity.keys[0] if len(entity.keys) == 1 else None
    if key is None:
        return exp.Count(this=exp.Star())
    many = any(step.many for step in joined(reading.catalog, entity, tables))
    column: Tree = key.expression.copy()
    if item.distinct or many:
        column = exp.Distinct(expressions=[column])
    return exp.Count(this=column)


def _places(reading: Reading) -> int | None:
    """To how many decimal places the question wants numbers rounded."""
    for at in range(len(reading.tokens)):
        if reading.word(at) in {"decimal", "decimals"}:
            return next(
                (found for near in (at - 1, at - 2) if near >= 0 and (found := number(reading.tokens[near]))),
                None,
            )
    return None


def _contradictions(reading: Reading, draft: Draft) -> None:
    """One column can't equal two values: either will do, or, where the question says `both`, each alone."""
    by_column: dict[str, list[exp.EQ]] = {}
    for tree in draft.where:
        if isinstance(tree, exp.EQ) and isinstance(tree.expression, exp.Literal):
            by_column.setdefault(tree.this.sql(), []).append(tree)
    words = [token.text.lower() for token in reading.tokens]
    for same in by_column.values():
        if len({tree.expression.this for tree in same}) == 1:
            continue
        draft.where = [tree for tree in draft.where if not any(tree is one for one in same)]
        if "both" in words and len(same) == _BOTH:
            draft.either = list(same)
        else:
            draft.where.append(
                exp.In(this=same[0].this.copy(), expressions=[tree.expression.copy() for tree in same])
            )
