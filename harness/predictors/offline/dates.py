"""Conditions with dates and years that a question names itself: `in 2012`, `since May 2020`."""

from sqlglot import exp

from harness.predictors.offline.catalog import Entity, Field, Sort
from harness.predictors.offline.draft import Draft
from harness.predictors.offline.lexicon import DATES, MONTHS, YEARS
from harness.predictors.offline.operations import Tree, part
from harness.predictors.offline.reading import Reading
from harness.predictors.offline.signs import TREES, sign_of
from harness.predictors.offline.tokens import number
from harness.predictors.offline.values import is_explained

EARLIEST = 1500
LATEST = 2100
"""The years that a number may be."""
_DAYS = 31
_REACH = 5


def is_year(reading: Reading, at: int) -> bool:
    """Whether a number is a year, by its size and the word before it."""
    value = number(reading.tokens[at])
    if value is None or not EARLIEST <= value <= LATEST:
        return False
    mention = reading.mention_at(at - 1)
    if mention is not None and mention.fields and mention.score >= 1:
        return False
    words = {"in", "of", "during", "since", "after", "before", "year", "from", "until", "by", "than"}
    return reading.word(at - 1) in words or reading.word(at + 1) == "or"


def add_month(reading: Reading, draft: Draft, at: int) -> int:
    """`May 2023`, `1 June 2023`, `June 1, 2023`, or a month alone."""
    month, end, day = MONTHS[reading.word(at)], at + 1, 0
    start = at
    before = number(reading.tokens[at - 1]) if at else None
    if before is not None and before <= _DAYS:
        day, start = before, at - 1
    elif (behind := _number_at(reading, end)) is not None and behind <= _DAYS:
        day, end = behind, end + 1
        end += reading.word(end) == ","
    year = _number_at(reading, end)
    if year is None or not EARLIEST <= year <= LATEST:
        return at + 1
    text = f"{year:04}-{month:02}" + (f"-{day:02}" if day else "")
    add_date(reading, draft, start, end + 1, text, sign_of(reading, start, end + 1) or "=")
    return end + 1


def _number_at(reading: Reading, at: int) -> int | None:
    return number(reading.tokens[at]) if at < len(reading.tokens) else None


def add_date(reading: Reading, draft: Draft, start: int, end: int, text: str, sign: str) -> None:  # noqa: PLR0913, PLR0917
    """Puts into the draft that a date is, or is before or after, what the tokens say."""
    if is_explained(reading, start, end, text) or _explained_date(reading, text):
        return
    field = date_field(reading, draft, start)
    if field is not None:
        draft.where.append(TREES[sign](this=tested(field, text), expression=exp.Literal.string(text)))


def _explained_date(reading: Reading, text: str) -> bool:
    """Whether knowledge has a condition with this date, or its year, in whatever form."""
    trees = [one.definition.condition for one in reading.placed if one.definition.condition is not None]
    return any(text[:4] in str(one.this) for tree in trees for one in tree.find_all(exp.Literal))


_FORMS = {4: "%Y", 7: "%Y-%m"}


def tested(field: Field, text: str) -> Tree:
    """What of a column is compared with a date or a year."""
    if field.sort is Sort.NUMBER or len(text) not in _FORMS or set(text) - set("0123456789-"):
        return field.expression.copy()
    if field.sort is Sort.TEXT:
        return exp.Substring(
            this=field.expression.copy(), start=exp.Literal.number(1), length=exp.Literal.number(len(text))
        )
    return part(field.expression.copy(), _FORMS[len(text)])


def date_field(reading: Reading, draft: Draft, at: int) -> Field | None:
    """The date that is meant: one mentioned near, else one of the subject, else of any table named."""
    near = sorted(reading.mentions, key=lambda one: min(abs(one.start - at), abs(one.end - at)))
    for mention in near:
        if mention.fields and abs(mention.start - at) <= _REACH:
            field = reading.pick(mention)
            if _is_date(field):
                return field
    named = [draft.subject, *(one.entity for one in near if one.entity is not None)]
    for entity in named:
        found = _date_of(entity)
        if found is not None:
            return found
    return None


def _date_of(entity: Entity) -> Field | None:
    sorted_ones = [field for field in entity.fields if field.sort in {Sort.DAY, Sort.MOMENT}]
    return next(iter((*sorted_ones, *(field for field in entity.fields if _is_date(field)))), None)


def _is_date(field: Field) -> bool:
    if field.sort in {Sort.DAY, Sort.MOMENT}:
        return True
    if field.sort is Sort.NUMBER:
        return bool(YEARS & set(field.words))
    shown = [value for value in field.values if isinstance(value, str)]
    return (bool(shown) and all(value[:4].isdecimal() and value[4:5] == "-" for value in shown)) or bool(
        not shown and DATES & set(field.words)
    )
