"""A question beside its schema and its external knowledge: which words mean what, and what it is about."""

from dataclasses import dataclass, field

from sqlglot import exp

from harness.predictors.base import Problem
from harness.predictors.offline.catalog import Catalog, Entity, Field
from harness.predictors.offline.knowledge import Definition, knowledge
from harness.predictors.offline.lexicon import EVERY
from harness.predictors.offline.linking import Linker, Mention
from harness.predictors.offline.operations import Tree
from harness.predictors.offline.placing import Placed, placed_in
from harness.predictors.offline.tokens import Token, tokens
from harness.predictors.offline.zones import Zone, zones

_NEAR = 6
_BACK = frozenset({"its", "their", "them", "these", "it"})
"""Words that stand for something named before."""


@dataclass
class Reading:
    """All that the steps look at."""

    catalog: Catalog
    tokens: tuple[Token, ...]
    mentions: list[Mention]
    placed: list[Placed]
    folded: frozenset[str]
    zones: list[Zone]
    subject: Entity
    used: set[int] = field(default_factory=set)
    """Definitions that something has been made of, by their places in `placed`."""

    def word(self, at: int) -> str:
        """The token at a place in lower case, empty outside."""
        return self.tokens[at].text.lower() if 0 <= at < len(self.tokens) else ""

    def mention_at(self, at: int) -> Mention | None:
        """The mention that covers a token."""
        return next((one for one in self.mentions if one.start <= at < one.end), None)

    def nearest(self, at: int) -> Entity:
        """The table that is mentioned nearest to a token, or what the question is about."""
        near = [
            one
            for one in self.mentions
            if one.entity and min(abs(one.start - at), abs(one.end - at)) <= _NEAR
        ]
        best = min(near, key=lambda one: min(abs(one.start - at), abs(one.end - at)), default=None)
        return best.entity if best and best.entity else self.subject

    @property
    def every(self) -> Entity | None:
        """The table behind `each`."""
        for one in self.mentions:
            if one.entity is not None and {self.word(one.start - 1), self.word(one.start - 2)} & EVERY:
                return one.entity
        return None

    def pick(self, mention: Mention) -> Field:
        """The one of several columns of like names that a mention means."""
        fields = mention.fields
        if len(fields) == 1:
            return fields[0]
        back = self.word(mention.start - 1) in _BACK
        near = self.subject if back else self.nearest(mention.start)
        every = self.every or self.subject

        def rank(one: Field) -> tuple[int, ...]:
            label = self.catalog.by_table[one.table.lower()].label
            return (
                one.table != near.name,
                one.table != every.name,
                one.table != self.subject.name,
                one != label,
                one.is_key,
            )

        return min(fields, key=rank)

    def entity(self, field: Field) -> Entity:
        """The table of a column."""
        return self.catalog.by_table[field.table.lower()]

    def field(self, column: Tree) -> Field | None:
        """The column that an expression names; of several tables the one that fits best."""
        if not isinstance(column, exp.Column):
            return None
        if column.table:
            return self.catalog.field(column)
        fields = self.catalog.by_name.get(column.name.lower(), ())
        return min(fields, key=lambda one: (one.table != self.subject.name, one.is_key), default=None)


def understand(problem: Problem, catalog: Catalog, linker: Linker) -> Reading:
    """The words of a problem, linked."""
    found = tokens(problem.text)
    known = knowledge(problem.evidence, catalog)
    placed = [placed_in(one, found) for one in known.definitions]
    mentions = linker.mentions(found)
    subject = catalog.entities[0]
    reading = Reading(catalog, found, mentions, placed, frozenset(known.folded), zones(found), subject)
    _alias(reading)
    reading.subject = _subject(reading)
    return reading


def _alias(reading: Reading) -> None:
    """A phrase that stands for one column is a mention of it."""
    for one in reading.placed:
        if one.start < 0 or not one.definition.columns:
            continue
        if len(one.definition.columns) > 1:
            reading.mentions = [
                each for each in reading.mentions if each.end <= one.start or each.start >= one.end
            ]
            continue
        column = one.definition.columns[0]
        fields = reading.catalog.by_name.get(column.name.lower(), ())
        fields = tuple(each for each in fields if not column.table or each.table == column.table)
        if fields:
            spans = [
                (one.start, one.end),
                *(span for span in one.again if span[1] - span[0] == len(one.definition.stems)),
            ]
            spans = [
                span
                for place, span in enumerate(spans)
                if not any(span[0] < b and a < span[1] for a, b in spans[:place])
            ]
            kept = [
                each for each in reading.mentions if all(each.end <= a or each.start >= b for a, b in spans)
            ]
            added = [Mention(start, end, fields=fields, score=2.0) for start, end in spans]
            reading.mentions = sorted([*kept, *added], key=lambda each: each.start)


def _subject(reading: Reading) -> Entity:  # noqa: PLR0911 - from the surest sign to the weakest
    entities = {one.name: one for one in reading.catalog.entities}
    ordered = [zone for zone in reading.zones if zone.lead == "give"]
    asked = [zone for zone in reading.zones if zone.lead != "give"]
    if (
        ordered
        and any(reading.word(at) in _BACK for at in range(ordered[0].start, ordered[0].end))
        and not asked
    ):
        before = next(
            (one.entity for one in reading.mentions if one.entity and one.start < ordered[0].start), None
        )
        if before is not None:
            return before
    for zone in (*asked, *ordered):
        inside = [one for one in reading.mentions if zone.start <= one.start < zone.end]
        for one in inside:
            if one.entity is not None and one.score >= 1:
                return one.entity
            named = one.score >= 1 and not (one.fields and one.fields[0].is_key)
            if one.fields and named and len({each.table for each in one.fields}) == 1:
                return entities[one.fields[0].table]
        weak = next((one.entity for one in inside if one.entity is not None), None)
        if weak is not None:
            return weak
    anywhere = next((one.entity for one in reading.mentions if one.entity is not None), None)
    if anywhere is not None:
        return anywhere
    columns = [column for one in reading.placed for column in _columns(one.definition) if column.table]
    if columns:
        return entities[columns[0].table]
    fields = next((one.fields for one in reading.mentions if one.fields), ())
    return entities[fields[0].table] if fields else reading.catalog.entities[0]


def _columns(definition: Definition) -> list[exp.Column]:
    trees = [definition.condition, definition.value, *definition.columns]
    if definition.extreme:
        trees.append(definition.extreme[0])
    return [column for tree in trees if tree is not None for column in tree.find_all(exp.Column)]
