"""What is to be shown: trees, counted rows, and the formulas that knowledge has for words of the question."""

from dataclasses import dataclass, field, replace

from sqlglot import exp

from harness.predictors.offline.catalog import Entity
from harness.predictors.offline.lexicon import AGGREGATES, FALLING_WORDS, RISING_WORDS
from harness.predictors.offline.operations import Tree, aggregates
from harness.predictors.offline.placing import Placed
from harness.predictors.offline.reading import Reading
from harness.predictors.offline.zones import Zone


@dataclass
class Counted:
    """Rows of a table that are counted, each once where `distinct`."""

    entity: Entity
    distinct: bool = False


Item = Tree | Counted


@dataclass
class Asked:
    """What is wanted. `extreme` is the place of a superlative that one of the items has swallowed."""

    items: list[Item] = field(default_factory=list)
    distinct: bool = False
    extreme: int | None = None
    share: bool = False


def aggregate_around(reading: Reading, zone: Zone) -> str | None:
    """What is made of a quantity, by a word anywhere in a zone: `avg`, `max`, `min`."""
    words = [reading.word(at) for at in range(zone.start, zone.end)]
    if "average" in words or "mean" in words:
        return "avg"
    for at in range(zone.start, zone.end):
        if is_superlative(reading, at) and reading.word(at - 1) not in {"at", "between"}:
            return "max" if reading.word(at) in FALLING_WORDS else "min"
    return None


def formula(reading: Reading, at: int, *, amount: bool = False) -> Placed | None:
    """The definition whose phrase begins at a token and says what is shown; for an `amount` a greatest."""
    for place, one in enumerate(reading.placed):
        definition = one.definition
        single = definition.extreme is not None and not aggregates(definition.extreme[0])
        if amount and definition.extreme is not None and single and one.at(at) is not None:
            reading.used.add(place)
            best = exp.Max if definition.extreme[1] else exp.Min
            return replace(one, definition=replace(definition, value=best(this=definition.extreme[0].copy())))
        shows = definition.value is not None or len(definition.columns) > 1
        end = one.at(at)
        if shows and end is not None and place not in reading.used:
            reading.used.add(place)
            return replace(one, start=at, end=end)
    return None


def add_formula(reading: Reading, placed: Placed, found: Asked, aggregate: str | None) -> None:
    """Puts what a definition says into what is found, aggregated where it isn't yet."""
    value = placed.definition.value
    if value is None:
        found.items.extend(column.copy() for column in placed.definition.columns)
    elif aggregates(value):
        found.items.append(value.copy())
    else:
        before = {AGGREGATES.get(reading.word(start - 1)) for start, _ in placed.again} - {None, "sum"}
        found.items.append(
            aggregated(value.copy(), aggregate or next(iter(sorted(filter(None, before))), None))
        )


def aggregated(tree: Tree, aggregate: str | None) -> Tree:
    """An aggregate of a tree, by its name; the tree where there is none."""
    match aggregate:
        case "avg":
            return exp.Avg(this=tree)
        case "sum":
            return exp.Sum(this=tree)
        case "max":
            return exp.Max(this=tree)
        case "min":
            return exp.Min(this=tree)
        case "count":
            return exp.Count(this=tree)
    return tree


def is_superlative(reading: Reading, at: int) -> bool:
    """Whether a word asks for the greatest or the least."""
    return reading.word(at) in FALLING_WORDS | RISING_WORDS
