"""What a question wants to see, by its question words."""

from sqlglot import exp

from harness.predictors.offline.catalog import Entity, Sort
from harness.predictors.offline.lexicon import DATES, DISTINCT
from harness.predictors.offline.linking import Mention
from harness.predictors.offline.listing import scan
from harness.predictors.offline.operations import aggregates, counted
from harness.predictors.offline.reading import Reading
from harness.predictors.offline.wanted import Asked, Counted, add_formula, aggregate_around, formula
from harness.predictors.offline.zones import Zone


def asked(reading: Reading) -> Asked:
    """What a question wants, from the first part of it that says so."""
    found = Asked(distinct=any(token.text.lower() in DISTINCT for token in reading.tokens))
    zones = reading.zones
    if zones and zones[0].lead == "give":
        scan(reading, zones[0], found)
        # `List them ...` says nothing of what they are.
        zones = [] if found.items else [zone for zone in zones if zone.lead != "give"]
    for zone in zones:
        _question(reading, zone, found)
    unnamed = next((one.definition.value for one in reading.placed if not one.definition.phrase), None)
    if unnamed is not None:
        found.items = [unnamed.copy()]
    if not found.items:
        _leftover(reading, found)
    return found


def _question(reading: Reading, zone: Zone, found: Asked) -> None:
    lead, word = zone.lead, reading.word(zone.start)
    if lead == "how" and word in {"many", "much"}:
        _how_many(reading, Zone("how many", zone.start + 1, zone.end), found)
    elif lead == "how":
        _how(reading, zone, found)
    elif lead == "when":
        _of_words(reading, DATES, found, sorts=(Sort.DAY, Sort.MOMENT))
    elif lead in {"who", "whose", "where"} and not found.items:
        found.items.append(reading.subject.label.expression)
    elif lead in {"what", "which", "whom"}:
        scan(reading, zone, found)
        if not found.items and lead != "what":
            found.items.append(reading.subject.label.expression)


def _how_many(reading: Reading, zone: Zone, found: Asked) -> None:
    """The first thing that is named is counted; a column of numbers has the number already."""
    for at in range(zone.start, min(zone.end, zone.start + 6)):
        placed = formula(reading, at, amount=True)
        if placed is not None and placed.definition.value is not None:
            add_formula(reading, placed, found, aggregate_around(reading, zone))
            return
        counted_one = _counted_by_condition(reading, at)
        if counted_one is not None and reading.mention_at(at) is None:
            found.items.append(Counted(counted_one, found.distinct))
            return
        if reading.word(at) in {"them", "these", "those"} and found.items and _part_of(reading, zone, found):
            return
        mention = reading.mention_at(at)
        if mention is not None:
            _count(reading, mention, found)
            return
    found.items.append(Counted(reading.subject, found.distinct))


def _counted_by_condition(reading: Reading, at: int) -> Entity | None:
    """The table whose rows a word means that is a condition by itself: `how many adults`."""
    for one in reading.placed:
        if one.definition.condition is not None and one.start == at:
            column = one.definition.condition.find(exp.Column)
            field_of = reading.field(column) if column is not None else None
            return reading.entity(field_of) if field_of is not None else None
    return None


def _part_of(reading: Reading, zone: Zone, found: Asked) -> bool:
    """`How many of them`: for how many of the rows that are counted already something else holds."""
    for place, one in enumerate(reading.placed):
        condition = one.definition.condition
        if condition is not None and zone.start <= one.start < zone.end and not aggregates(condition):
            reading.used.add(place)
            found.items.append(counted(condition.copy()))
            return True
    return False


def _count(reading: Reading, mention: Mention, found: Asked) -> None:
    if mention.entity is not None:
        found.items.append(Counted(mention.entity, found.distinct))
        return
    column = reading.pick(mention)
    if column.sort is Sort.NUMBER and not column.is_key and mention.score >= 1:
        found.items.append(
            exp.Sum(this=column.expression.copy()) if not reading.placed else column.expression.copy()
        )
    elif found.distinct or (column.sort is Sort.TEXT and not column.is_key and mention.score >= 1):
        found.items.append(exp.Count(this=exp.Distinct(expressions=[column.expression.copy()])))
    else:
        found.items.append(Counted(reading.entity(column), found.distinct))


def _how(reading: Reading, zone: Zone, found: Asked) -> None:
    """`How high`: the column behind the superlative of the same word, or what knowledge has left."""
    word = reading.word(zone.start)
    for place, one in enumerate(reading.placed):
        extreme = one.definition.extreme
        if extreme is not None and any(stem[:4] == word[:4] for stem in one.definition.stems):
            found.items.append(extreme[0].copy())
            return
        if (
            one.definition.columns
            and (one.start == zone.start or one.start < 0)
            and place not in reading.used
        ):
            reading.used.add(place)
            found.items.extend(column.copy() for column in one.definition.columns)
            return
    scan(reading, zone, found)


def _of_words(reading: Reading, words: frozenset[str], found: Asked, sorts: tuple[Sort, ...]) -> None:
    """The column of the subject that is of one of the sorts, or that one of the words names."""
    for one in reading.placed:
        if one.definition.columns and reading.word(one.start) == "when":
            found.items.extend(column.copy() for column in one.definition.columns)
            return
    fields = reading.subject.fields
    best = next((one for one in fields if one.sort in sorts), None)
    best = best or next((one for one in fields if words & set(one.words)), None)
    found.items.append((best or reading.subject.label).expression.copy())


def _leftover(reading: Reading, found: Asked) -> None:
    """Where nothing is named: a formula that knowledge has, else what rows are called; shares come later."""
    for place, one in enumerate(reading.placed):
        if one.definition.value is not None and place not in reading.used:
            reading.used.add(place)
            found.items.append(one.definition.value.copy())
            return
    if found.share:
        return
    found.items.append(reading.subject.label.expression.copy())
