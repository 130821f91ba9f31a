"""Superlatives and groups: which row comes first, of all or of each group."""

from sqlglot import exp

from harness.predictors.offline.catalog import Entity, Field, Sort
from harness.predictors.offline.draft import Draft, Order
from harness.predictors.offline.lexicon import (
    BY_COUNT,
    BY_DATE,
    EVERY,
    FALLING,
    FALLING_WORDS,
    NOT_SUPERLATIVE,
    RISING,
    RISING_WORDS,
)
from harness.predictors.offline.operations import Tree, aggregates
from harness.predictors.offline.reading import Reading
from harness.predictors.offline.tokens import Kind, number, place
from harness.predictors.offline.wanted import Asked

_REACH = 4
_SHORTEST = 5
_MOST = 1000
_BEHIND = frozenset({"by", "of", "terms", "with", "on", "regarding", "has", "have", "had", "having"})
"""Words that stand before what rows are ranked by."""


def add_groups(reading: Reading, draft: Draft) -> bool:
    """Puts into the draft what `each`, `every` and `per` stand before; says whether anything does."""
    for at in range(len(reading.tokens)):
        if reading.word(at) not in EVERY:
            continue
        for behind in range(at + 1, at + 4):
            columns = _alias(reading, behind)
            mention = reading.mention_at(behind)
            if columns:
                draft.group_by.extend(columns)
            elif mention is not None and mention.entity is draft.subject and reading.word(at) == "per":
                continue
            elif mention is not None and mention.entity is not None:
                draft.group.append(mention.entity.label)
                draft.group_by.extend(key.expression.copy() for key in mention.entity.keys)
            elif mention is not None:
                draft.group.append(reading.pick(mention))
            else:
                continue
            return True
    return False


def _alias(reading: Reading, at: int) -> list[Tree]:
    """What knowledge says a group is."""
    for one in reading.placed:
        value = one.definition.value
        if one.at(at) is not None and value is not None and not aggregates(value):
            return [value.copy()]
    return []


def add_order(reading: Reading, asked: Asked, draft: Draft, *, each: bool) -> None:
    """Puts into the draft the order that a superlative or a definition with a greatest value asks for."""
    at = _superlative(reading, asked.extreme)
    defined = next(
        (
            one
            for place_, one in enumerate(reading.placed)
            if one.definition.extreme is not None and place_ not in reading.used
        ),
        None,
    )
    if (
        defined is not None
        and defined.definition.extreme is not None
        and (at is None or defined.start >= 0 or asked.extreme is None)
    ):
        by, falling = defined.definition.extreme
        around = at if at is not None else max(defined.start, 0)
    elif at is not None:
        found = _by(reading, asked, draft, at)
        if found is None:
            return
        by, falling, around = found, reading.word(at) not in RISING_WORDS, at
        if reading.word(at) in BY_DATE and isinstance(by, exp.Column):
            falling = reading.word(at) in {"latest", "newest", "last", "youngest", "recent"} or (
                reading.word(at) == "oldest"
                and "ag" in "".join((reading.field(by) or draft.subject.fields[0]).words[:1])
            )
    else:
        return
    if (
        aggregates(by)
        and not draft.group_by
        and any(column.table not in {"", draft.subject.name} for column in by.find_all(exp.Column))
    ):
        draft.group_by.extend(key.expression.copy() for key in draft.subject.keys)
    limit, offset = _how_many(reading, draft, around)
    if reading.word(around + 1) == "first":
        draft.order = Order(by.copy(), falling, None)
        return
    draft.order = Order(by.copy(), falling, limit, offset, each=each and not aggregates(by))


def _superlative(reading: Reading, taken: int | None) -> int | None:
    for at, token in enumerate(reading.tokens):
        word = token.text.lower()
        if (
            token.kind is not Kind.WORD
            or at == taken
            or reading.word(at - 1) == "at"
            or "between" in {reading.word(near) for near in range(at - 6, at)}
        ):
            continue
        mention = reading.mention_at(at)
        if mention is not None and mention.score >= 1:
            continue
        if _tested(reading, at):
            continue
        if word in {"first", "last"} and reading.mention_at(at + 1) is None:
            continue
        if word in FALLING_WORDS | RISING_WORDS | BY_DATE or (
            len(word) > _SHORTEST and word.endswith("est") and word not in NOT_SUPERLATIVE
        ):
            if word in {"most", "last", "first"} and reading.word(at + 1) in {"of", "name", "names"}:
                continue
            return at
    return None


def _tested(reading: Reading, at: int) -> bool:
    """Whether a word is of a phrase that knowledge makes a condition of."""
    return any(one.start <= at < one.end and one.definition.condition is not None for one in reading.placed)


def _by(reading: Reading, asked: Asked, draft: Draft, at: int) -> Tree | None:  # noqa: C901, PLR0911 - ways to say it
    word = reading.word(at)
    if reading.word(at + 1) == "first" and asked.items and isinstance(asked.items[-1], exp.Expr):
        return asked.items[-1]
    if word not in {*FALLING, *RISING} and (explained := _unplaced(reading)) is not None:
        return explained
    passed = False
    for behind in range(at + 1, at + 2 * _REACH):
        mention = reading.mention_at(behind)
        if reading.word(behind) in {",", ".", "?", "and"}:
            break
        passed = passed or reading.word(behind) in _BEHIND
        if mention is None or (behind >= at + _REACH and not passed):
            continue
        if mention.entity is not None:
            if word in BY_COUNT or reading.word(at + 1) in {"number", "amount"}:
                return _counting(mention.entity, asked, draft)
            continue
        field = reading.pick(mention)
        if word in BY_COUNT and field.sort is Sort.TEXT:
            return _counting(reading.entity(field), asked, draft)
        if mention.score < 1 and behind > at + 1 and reading.mention_at(behind - 1) is not None:
            continue
        if field.sort is not Sort.TEXT or word in {"highest", "lowest", "largest", "smallest"}:
            return field.expression
    if word in BY_DATE:
        found = _date(draft.subject)
        if found is not None:
            return found.expression
    return _unplaced(reading) or _quantity(reading, asked, draft)


def _unplaced(reading: Reading) -> Tree | None:
    """The column of a definition whose phrase the question doesn't have: it explains another word of it."""
    return next(
        (one.definition.columns[0] for one in reading.placed if one.definition.columns and one.start < 0),
        None,
    )


def _quantity(reading: Reading, asked: Asked, draft: Draft) -> Tree | None:
    """A number that is shown, or the only one of the subject."""
    for item in asked.items:
        field_of = reading.field(item) if isinstance(item, exp.Expr) else None
        if field_of is not None and field_of.sort is Sort.NUMBER and not field_of.is_key:
            return field_of.expression
    numbers = [field for field in draft.subject.fields if field.sort is Sort.NUMBER and not field.is_key]
    return numbers[0].expression if len(numbers) == 1 else None


def _counting(counted: Entity, asked: Asked, draft: Draft) -> Tree:
    """How many rows of a table there are for what is shown."""
    if counted is not draft.subject and draft.subject.keys:
        draft.group_by.extend(key.expression.copy() for key in draft.subject.keys)
    else:
        draft.group_by.extend(
            item.copy() for item in asked.items if isinstance(item, exp.Expr) and not aggregates(item)
        )
    key = counted.keys[0] if counted.keys else counted.fields[0]
    return exp.Count(this=key.expression.copy())


def _date(entity: Entity) -> Field | None:
    dates = [field for field in entity.fields if field.sort in {Sort.DAY, Sort.MOMENT}]
    named = [field for field in entity.fields if {"dat", "date", "year", "birth", "born"} & set(field.words)]
    return next(iter((*dates, *named)), None)


def _how_many(reading: Reading, draft: Draft, at: int) -> tuple[int, int]:
    """How many rows are wanted, and behind how many others."""
    around = range(max(0, at - _REACH), at)
    places = [found for near in around if (found := place(reading.tokens[near])) is not None]
    if places and reading.word(at) != "first":
        return max(places) - min(places) + 1, min(places) - 1
    near_ones = [at + 1, at - 1, at - 2, *_counts_before(reading, draft)]
    for near in near_ones:
        value = number(reading.tokens[near]) if 0 <= near < len(reading.tokens) else None
        if value is not None and 0 < value <= _MOST:
            return value, 0
    return 1, 0


def _counts_before(reading: Reading, draft: Draft) -> list[int]:
    """Where a number may stand right before what the question is about: `which two ...`."""
    return [one.start - 1 for one in reading.mentions if one.entity is draft.subject and one.start]
