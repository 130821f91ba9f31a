"""What Spider's measures find in one pair of a prediction and its gold, and in many."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum


class Hardness(StrEnum):
    """Spider's four levels of a gold query, in the order that every table shows them."""

    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"
    EXTRA = "extra"


class SpiderPart(StrEnum):
    """Spider's ten components of a query, in the order of its tables; its own names are in docs/spider.md."""

    SELECT = "select"
    SELECT_NO_AGGREGATE = "select_no_aggregate"
    WHERE = "where"
    WHERE_NO_OPERATOR = "where_no_operator"
    GROUP_BY = "group_by"
    GROUP_BY_HAVING = "group_by_having"
    ORDER_BY = "order_by"
    AND_OR = "and_or"
    SET_OPERATIONS = "set_operations"
    KEYWORDS = "keywords"


@dataclass(frozen=True)
class Match:
    """One component of a pair: how many elements the prediction has, the gold has, and both have."""

    predicted: int
    gold: int
    matched: int

    @property
    def is_right(self) -> bool:
        """Spider's score of a component, all or nothing: the same elements, or none on either side."""
        return self.predicted == self.gold == self.matched


@dataclass(frozen=True)
class Structure:
    """One pair: `hardness` of its gold, `exact` matching without values, and every component.

    `parsed` says whether the prediction could be read; one that could not counts as an empty query.
    """

    hardness: Hardness
    exact: bool
    parsed: bool
    parts: Mapping[SpiderPart, Match]


@dataclass(frozen=True)
class Total:
    """One component over many pairs, each figure in [0, 1], None where no pair has what it counts over.

    `accuracy` is the share of right ones over the pairs whose prediction has the component, `recall` over the
    pairs whose gold has it, `f1` the harmonic mean of the two: 0 where both are, for which the script
    prints 1.
    """

    accuracy: float | None
    recall: float | None
    f1: float | None

    @property
    def precision(self) -> float | None:
        """What Spider calls accuracy: it counts over what was predicted."""
        return self.accuracy


def totals(structures: Iterable[Structure]) -> Mapping[SpiderPart, Total]:
    """Every component over these pairs.

    Definition: what the script prints as partial matching accuracy, recall and F1,
    https://github.com/taoyds/test-suite-sql-eval; each component of a pair is right or wrong as a whole.
    """
    known = list(structures)
    return {part: _total([structure.parts[part] for structure in known]) for part in SpiderPart}


def _total(matches: list[Match]) -> Total:
    accuracy = _share([match.is_right for match in matches if match.predicted])
    recall = _share([match.is_right for match in matches if match.gold])
    both = (accuracy or 0.0) + (recall or 0.0)
    if accuracy is None and recall is None:
        return Total(None, None, None)
    return Total(accuracy, recall, 2 * (accuracy or 0.0) * (recall or 0.0) / both if both else 0.0)


def _share(right: list[bool]) -> float | None:
    return sum(right) / len(right) if right else None
