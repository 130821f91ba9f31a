"""Conditions with numbers that a question names itself: `more than 5`, `more than the average`."""

from sqlglot import exp

from harness.predictors.offline.catalog import Entity, Field, Sort
from harness.predictors.offline.dates import (
    EARLIEST,
    LATEST,
    add_date,
    add_month,
    date_field,
    is_year,
    tested,
)
from harness.predictors.offline.draft import Draft
from harness.predictors.offline.lexicon import MONTHS
from harness.predictors.offline.operations import Tree, aggregates
from harness.predictors.offline.reading import Reading
from harness.predictors.offline.signs import TREES, sign_of
from harness.predictors.offline.tokens import Kind, number
from harness.predictors.offline.values import is_explained

_REACH = 5
_TIMES = {"once": 1, "twice": 2}


def add_amounts(reading: Reading, draft: Draft) -> None:
    """Puts into the draft what the question says of numbers and dates."""
    at = 0
    while at < len(reading.tokens):
        at = max(at + 1, _at(reading, draft, at))


def _at(reading: Reading, draft: Draft, at: int) -> int:
    token = reading.tokens[at]
    if _between(reading, draft, at):
        return at + 4
    if token.kind is Kind.DATE and "/" not in token.text:
        add_date(reading, draft, at, at + 1, token.text, sign_of(reading, at, at + 1) or "=")
    elif token.text.lower() in MONTHS and token.capital:
        return add_month(reading, draft, at)
    elif token.kind is Kind.NUMBER and is_year(reading, at):
        add_date(reading, draft, at, at + 1, token.text, sign_of(reading, at, at + 1) or "=")
    elif token.text.lower() in {"average", "mean"}:
        _above_average(reading, draft, at)
    elif reading.word(at + 1) in MONTHS and at + 1 < len(reading.tokens) and reading.tokens[at + 1].capital:
        return at + 1
    elif token.text.lower() in _TIMES and reading.word(at - 2) == "more":
        draft.having.append(
            exp.GT(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(_TIMES[token.text.lower()]))
        )
        draft.group_by.extend(key.expression.copy() for key in draft.subject.keys)
    elif number(token) is not None or token.kind is Kind.NUMBER:
        sign = sign_of(reading, at, at + 1)
        if sign is not None and not is_explained(reading, at, at + 1, token.text):
            _compared(reading, draft, at, sign)
    return at + 1


def _above_average(reading: Reading, draft: Draft, at: int) -> None:
    """`more than the average X`: of all rows of the table."""
    start = at - 1 if reading.word(at - 1) in {"the", "an"} else at
    sign = sign_of(reading, start, at + 1)
    field = _number_field(reading, at) if sign in {">", "<", ">=", "<="} else None
    if sign is not None and field is not None:
        inner = exp.select(exp.Avg(this=field.expression.copy())).from_(
            exp.Table(this=exp.to_identifier(field.table, quoted=True))
        )
        draft.where.append(TREES[sign](this=field.expression.copy(), expression=exp.Subquery(this=inner)))


def _between(reading: Reading, draft: Draft, at: int) -> bool:
    if (
        reading.word(at) not in {"between", "from"}
        or reading.word(at + 2) not in {"and", "to"}
        or at + 3 >= len(reading.tokens)
    ):
        return False
    low, high = reading.tokens[at + 1], reading.tokens[at + 3]
    kinds = {Kind.NUMBER, Kind.DATE}
    if low.kind not in kinds or low.kind is not high.kind or is_explained(reading, at + 1, at + 4, low.text):
        return low.kind in kinds and low.kind is high.kind
    years = low.kind is Kind.DATE or (
        len(low.text) == len(high.text) == len(str(LATEST)) and EARLIEST <= (number(low) or 0) <= LATEST
    )
    field = date_field(reading, draft, at) if years else _number_field(reading, at)
    if field is not None:
        for sign, token in ((">=", low), ("<=", high)):
            draft.where.append(
                TREES[sign](this=tested(field, token.text), expression=exp.Literal.string(token.text))
            )
    return True


def _number_field(reading: Reading, at: int) -> Field | None:
    """The column of numbers that is mentioned nearest to a token."""
    near = sorted(
        (one for one in reading.mentions if one.fields),
        key=lambda one: min(abs(one.end - 1 - at), abs(one.start - at)),
    )
    for mention in near:
        if min(abs(mention.end - 1 - at), abs(mention.start - at)) <= _REACH + 2:
            field = reading.pick(mention)
            near_by = mention.end in {at, at - 1, at - 2, at - 3}
            if not field.is_key and (field.sort is Sort.NUMBER or (near_by and _of_numbers(field))):
                return field
    return None


def _of_numbers(field: Field) -> bool:
    """Whether a column of texts has numbers in it, as far as rows are shown."""
    return any(isinstance(value, str) and value.replace(".", "", 1).isdecimal() for value in field.values)


def _compared(reading: Reading, draft: Draft, at: int, sign: str) -> None:
    """A number with a comparison: of a column, or of how many rows of a table there are."""
    value = number(reading.tokens[at])
    literal = exp.Literal.number(value if value is not None else reading.tokens[at].text.removeprefix("-"))
    for place, one in enumerate(reading.placed):
        value_of = one.definition.value
        if value_of is not None and one.start in {at + 1, at + 2} and place not in reading.used:
            reading.used.add(place)
            target = draft.having if aggregates(value_of) else draft.where
            target.append(TREES[sign](this=value_of.copy(), expression=literal))
            return
    for offset in (1, 2):
        behind = reading.mention_at(at + offset)
        if behind is not None and behind.entity is not None and behind.entity is not draft.subject:
            draft.having.append(TREES[sign](this=_rows(behind.entity), expression=literal))
            draft.group_by.extend(key.expression.copy() for key in draft.subject.keys)
            return
    field = _number_field(reading, at)
    if field is not None:
        draft.where.append(TREES[sign](this=field.expression.copy(), expression=literal))


def _rows(entity: Entity) -> Tree:
    key = entity.keys[0] if entity.keys else entity.fields[0]
    return exp.Count(this=key.expression.copy())
