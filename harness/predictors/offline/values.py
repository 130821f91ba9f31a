"""Values that a question names itself, in quotes or with capitals, and the columns that may hold them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from harness.predictors.offline.catalog import Entity, Field, Sort
from harness.predictors.offline.draft import Draft
from harness.predictors.offline.lexicon import MONTHS, NEGATIONS, PLACES
from harness.predictors.offline.operations import Tree
from harness.predictors.offline.reading import Reading
from harness.predictors.offline.tokens import Kind

_APART = 2
_JOINERS = frozenset(
    {"of", "the", "de", "la", "le", "du", "des", "and", "&", "'", "-", "van", "von", "di", "da"}
)
_NOT_NAMES = frozenset({"i", "id", "ids", "a"})


@dataclass(frozen=True)
class Named:
    """A value that stands at a token, in parts with their columns; denied, or a part of what is stored."""

    start: int
    fields: tuple[tuple[str, Field], ...]
    negated: bool
    within: bool


def literals(trees: list[Tree]) -> list[str]:
    """The literals of trees, as text in lower case."""
    return [str(one.this).lower().strip("%") for tree in trees for one in tree.find_all(exp.Literal)]


def _known(reading: Reading) -> list[str]:
    trees = [
        tree
        for one in reading.placed
        for tree in (one.definition.condition, one.definition.value)
        if tree is not None
    ]
    return literals(trees)


def is_explained(reading: Reading, start: int, end: int, value: str) -> bool:
    """Whether knowledge says already what tokens mean, by its phrases or by the values of its conditions."""
    lowered = value.lower()
    for one in reading.placed:
        definition = one.definition
        tested = definition.condition is not None or definition.value is not None
        if tested and one.start <= start and end <= one.end and one.start >= 0:
            return True
    return any(
        lowered == known or (len(known) > _APART and (known in lowered or lowered in known))
        for known in _known(reading)
    )


def named_values(reading: Reading, draft: Draft) -> Iterator[Named]:
    """The values that no knowledge explains, in their order."""
    last: tuple[int, list[tuple[str, Field]]] = (-9, [])
    for start, end, value in _values(reading):
        if is_explained(reading, start, end, value) or _of_form(reading, start):
            continue
        negated = bool({reading.word(at) for at in range(start - 2, start)} & NEGATIONS) or (
            reading.word(start - 2),
            reading.word(start - 1),
        ) == ("other", "than")
        fields = _fields_of(reading, draft, start, end, value)
        if (
            start - last[0] <= _APART
            and len(last[1]) == 1
            and reading.word(start - 1) in {"and", "or", "from", ","}
        ):
            fields = [(value, last[1][0][1])]
        last = end, fields
        within = (
            reading.word(end) == "in"
            and reading.word(end + 1) in {"their", "its", "the"}
            and (reading.tokens[start].kind is Kind.QUOTED)
        )
        within = within or reading.tokens[start - 1 if start else 0].stem in {"contain", "includ", "hav"}
        yield Named(start, tuple(fields), negated, within)


def _of_form(reading: Reading, start: int) -> bool:
    """Whether a value is none of the data: how to write the answer."""
    before = {reading.word(at) for at in range(start - 2, start)}
    return bool(before & {"separated", "write", "label"})


def _values(reading: Reading) -> Iterator[tuple[int, int, str]]:
    """Where values stand: in quotes, with capitals, or as a number right behind a column."""
    at, found = 0, reading.tokens
    first = True
    while at < len(found):
        token = found[at]
        if token.kind is Kind.QUOTED or (token.kind is Kind.NUMBER and _numbered(reading, at)):
            yield at, at + 1, token.text
        elif (
            token.capital
            and not first
            and token.text.lower() not in _NOT_NAMES | set(MONTHS)
            and not _of_schema(reading, at)
        ):
            end = at + 1
            while end < len(found) and _goes_on(reading, end):
                end += 1
            yield at, end, _joined(reading, at, end)
            at = end - 1
        first = token.kind is Kind.MARK and token.text in ".?!:"
        at += 1


def _joined(reading: Reading, start: int, end: int) -> str:
    text = " ".join(token.text for token in reading.tokens[start:end])
    return re.sub(r"['’]s$", "", text)  # noqa: RUF001 - as people type it


def _goes_on(reading: Reading, at: int) -> bool:
    found = reading.tokens
    if found[at].capital or (
        found[at].kind is Kind.NUMBER and found[at - 1].capital and not found[at - 1].text.islower()
    ):
        return True
    return found[at].text.lower() in _JOINERS - {"and"} and at + 1 < len(found) and found[at + 1].capital


def _of_schema(reading: Reading, at: int) -> bool:
    mention = reading.mention_at(at)
    return mention is not None and mention.score >= 1


def _numbered(reading: Reading, at: int) -> bool:
    """Whether a number is the value of a column: it stands right behind its exact name."""
    mention = reading.mention_at(at - 1)
    return mention is not None and bool(mention.fields) and mention.end == at and mention.score >= 1


def _fields_of(reading: Reading, draft: Draft, start: int, end: int, value: str) -> list[tuple[str, Field]]:
    """The column that has a value, or several for the parts of a person's name."""
    stored = _stored(reading, value)
    if stored is not None:
        return [stored]
    before = reading.mention_at(start - 1) or (
        reading.mention_at(start - 2)
        if reading.word(start - 1) in {"is", "of", "=", "named", "called"}
        else None
    )
    behind = reading.mention_at(end)
    for mention in (before, behind):
        if mention is not None and mention.fields:
            field = reading.pick(mention)
            if field.sort is Sort.TEXT or value.replace(".", "", 1).isdecimal():
                return [(value, field)]
    for mention in (before, behind):
        if mention is not None and mention.entity is not None:
            return _naming(mention.entity, value)
    if reading.word(start - 1) in {"in", "from"}:
        places = [
            field
            for field in reading.catalog.fields()
            if PLACES & set(field.words) and field.sort is Sort.TEXT
        ]
        places.sort(key=lambda field: field.table != draft.subject.name)
        if places:
            return [(value, places[0])]
    return _naming(draft.subject, value)


def _stored(reading: Reading, value: str) -> tuple[str, Field] | None:
    """A column one of whose sample rows has the value, as it is written there."""
    for field in reading.catalog.fields():
        for one in field.values:
            if isinstance(one, str) and one.casefold() == value.casefold():
                return one, field
    return None


_FIRST = frozenset({"first", "given", "fore", "forenam"})
_LAST = frozenset({"last", "family", "sur", "surnam"})


def _naming(entity: Entity, value: str) -> list[tuple[str, Field]]:
    """By which columns a row of a table is called so."""
    words = value.split(" ")
    texts = [field for field in entity.fields if field.sort is Sort.TEXT]
    first = next((field for field in texts if _FIRST & set(field.words)), None)
    last = next((field for field in texts if _LAST & set(field.words)), None)
    if first is not None and last is not None and len(words) > 1:
        return [(words[0], first), (" ".join(words[1:]), last)]
    code = len(words) == 1 and any(sign.isdigit() for sign in value)
    key = next((field for field in entity.keys if field.sort is Sort.TEXT), None)
    if code and key is not None:
        return [(value, key)]
    label = entity.label
    return [(value, label)] if label.sort is Sort.TEXT else []
