"""What there must not be: `never returned`, `without a guest`; and what has to be the same as elsewhere."""

from sqlglot import exp

from harness.predictors.offline.catalog import Catalog, Entity
from harness.predictors.offline.draft import Draft
from harness.predictors.offline.joins import links
from harness.predictors.offline.lexicon import ABSENT
from harness.predictors.offline.operations import Tree
from harness.predictors.offline.placing import Placed
from harness.predictors.offline.reading import Reading

_BEFORE = 3


def absent(reading: Reading, placed: Placed) -> Tree | None:
    """That no row of a table that refers to the subject is as a phrase says, where `never` says so."""
    condition = placed.definition.condition
    words = {reading.word(at) for at in range(placed.start - _BEFORE - 1, placed.start)}
    if condition is None or placed.start < 0 or "never" not in words | {reading.word(placed.start)}:
        return None
    tables = {column.table for column in condition.find_all(exp.Column)}
    table = tables.pop() if len(tables) == 1 else ""
    entity = reading.catalog.by_table.get(table.lower())
    return None if entity is None else _none_of(reading.catalog, reading.subject, entity, condition)


def add_absences(reading: Reading, draft: Draft) -> None:
    """Puts into the draft which tables must have no row for the subject."""
    for mention in reading.mentions:
        entity = mention.entity
        if entity is None or entity is draft.subject:
            continue
        before = [reading.word(at) for at in range(mention.start - _BEFORE, mention.start)]
        if not ABSENT & set(before):
            continue
        condition = _none_of(reading.catalog, draft.subject, entity, None)
        if condition is not None:
            draft.where.append(condition)
            return


def _none_of(catalog: Catalog, subject: Entity, entity: Entity, condition: Tree | None) -> Tree | None:
    for link in links(catalog):
        if (
            link.source == entity.name
            and link.target == subject.name
            and entity is not subject
            and len(link.columns) == 1
        ):
            referring = exp.column(link.columns[0], table=link.source, quoted=True)
            inner = exp.select(referring).from_(exp.Table(this=exp.to_identifier(entity.name, quoted=True)))
            inner = inner.where(
                exp.Not(this=exp.Is(this=referring.copy(), expression=exp.Null())), copy=False
            )
            if condition is not None:
                inner = inner.where(condition.copy(), copy=False)
            key = exp.column(link.referred[0], table=link.target, quoted=True)
            return exp.Not(this=exp.In(this=key, query=exp.Subquery(this=inner)))
    return None


def same_as(reading: Reading, start: int, tests: list[tuple[exp.Column, Tree]]) -> Tree | None:
    """For a value behind `the same X as`: X has to be that of the row which has the value."""
    at = next((at for at in range(start - 1, max(-1, start - 4), -1) if reading.word(at) == "as"), None)
    mention = reading.mention_at(at - 1) if at else None
    if at is None or mention is None or not mention.fields or not tests:
        return None
    if "same" not in {reading.word(near) for near in range(mention.start - 3, mention.start)}:
        return None
    field = reading.pick(mention)
    if any(column.table != field.table for column, _ in tests):
        return None
    inner = exp.select(_value(reading, field.expression)).from_(
        exp.Table(this=exp.to_identifier(field.table, quoted=True))
    )
    for _, test in tests:
        inner = inner.where(test, copy=False)
    return exp.In(this=_value(reading, field.expression), query=exp.Subquery(this=inner))


def _value(reading: Reading, column: exp.Column) -> Tree:
    return exp.Lower(this=column.copy()) if column.name in reading.folded else column.copy()
