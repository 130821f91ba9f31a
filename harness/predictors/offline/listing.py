"""The things that a question lists, in its order: columns, counts, sums, averages, shares."""

from dataclasses import dataclass

from sqlglot import exp

from harness.predictors.offline.catalog import Entity, Field, Sort
from harness.predictors.offline.lexicon import AGGREGATES, AUXILIARIES, BOUNDS, FALLING_WORDS, SHARES
from harness.predictors.offline.linking import Mention
from harness.predictors.offline.reading import Reading
from harness.predictors.offline.wanted import (
    Asked,
    Counted,
    add_formula,
    aggregate_around,
    aggregated,
    formula,
    is_superlative,
)
from harness.predictors.offline.zones import Zone

_MANNERS = frozenset({"lower", "upper", "alphabetical", "descending", "ascending", "full", "order"})
"""Words behind `in` that say how to write an answer."""


_JOINTS = frozenset({",", "and", "&", "along", "together", "plus"})


@dataclass
class _Clause:
    """What stands between two joints."""

    item: bool = False
    entity: Entity | None = None
    aggregate: str | None = None
    of: bool = False


def scan(reading: Reading, zone: Zone, found: Asked) -> None:  # noqa: C901, PLR0912 - kinds of words
    """Puts into what is found the things that a zone names, up to the first word that says more of them."""
    clause, at, named = _Clause(), zone.start, False
    while at < zone.end and reading.word(at) in AUXILIARIES:
        at += 1
    asks_noun = zone.lead in {"which", "what", "whom"} and at == zone.start
    while at < zone.end:
        word, mention = reading.word(at), reading.mention_at(at)
        placed = formula(reading, at)
        if placed is not None:
            if not (clause.of and clause.item):
                around = (
                    aggregate_around(reading, zone)
                    if "how" in {reading.word(at - 1), reading.word(at - 2)}
                    else None
                )
                add_formula(reading, placed, found, clause.aggregate or around)
                clause.item = named = True
            at = max(placed.end, at + 1)
            continue
        if mention is not None and mention.start == at:
            if (
                is_superlative(reading, at - 1)
                and reading.word(at - 2) != "at"
                and mention.fields
                and not clause.item
                and clause.aggregate is None
            ):
                found.extreme, clause.aggregate = (
                    at - 1,
                    "max" if reading.word(at - 1) in FALLING_WORDS else "min",
                )
            named = True
            _mentioned(reading, mention, clause, found)
            at = mention.end
            if asks_noun and reading.word(at) not in {"of", "and", ","}:
                break
            continue
        if word in _JOINTS or (
            word in {"with", "by"} and reading.word(at + 1) in {"their", "its", "the", "how"}
        ):
            _close(clause, found)
            clause = _Clause()
        elif word == "of":
            clause.of = True
        elif (
            word in BOUNDS
            and named
            and reading.word(at - 1) not in _JOINTS
            and reading.word(at + 1) not in _MANNERS
        ):
            break
        elif word in AGGREGATES:
            clause.aggregate = AGGREGATES[word]
        elif word in {"number", "count"} and reading.word(at + 1) == "of":
            clause.aggregate = clause.aggregate or "count"
        elif (
            word == "number"
            and zone.lead == "give"
            and not clause.item
            and reading.word(at + 1) in {".", "", ",", "and"}
        ):
            clause.item = named = True
            found.items.append(Counted(reading.subject))
        elif word in SHARES:
            clause.item = named = found.share = True
        at += 1
    _close(clause, found)


def _mentioned(reading: Reading, mention: Mention, clause: _Clause, found: Asked) -> None:
    if mention.entity is not None:
        if clause.aggregate in {"count", "sum"} and not clause.item:
            found.items.append(Counted(mention.entity, found.distinct))
            clause.item = True
        elif clause.entity is None:
            clause.entity = mention.entity
        return
    if clause.of and clause.item:
        return
    column = _column(reading, mention, clause)
    clause.item = True
    if clause.aggregate == "count" and column.sort is Sort.NUMBER and not column.is_key:
        found.items.append(column.expression.copy())
    elif clause.aggregate == "count" or (clause.aggregate == "sum" and column.sort is not Sort.NUMBER):
        found.items.append(
            Counted(reading.entity(column)) if column.is_key else exp.Count(this=column.expression.copy())
        )
    else:
        found.items.append(aggregated(column.expression.copy(), clause.aggregate))


def _column(reading: Reading, mention: Mention, clause: _Clause) -> Field:
    """The column that is meant; `names` alone are those of the table that is spoken of."""
    column = reading.pick(mention)
    if (
        mention.score < 1
        and mention.end == mention.start + 1
        and {"nam"} & {reading.tokens[mention.start].stem}
    ):
        return (clause.entity or reading.nearest(mention.start)).label
    return column


def _close(clause: _Clause, found: Asked) -> None:
    if clause.item or clause.entity is None:
        return
    label = clause.entity.label.expression
    if label not in found.items:
        found.items.append(label.copy())
