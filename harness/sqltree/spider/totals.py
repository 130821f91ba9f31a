"""Partial matching of many pairs: one figure per component, as Spider's tables have them.

Definition: what the script prints as partial matching accuracy, recall and F1,
https://github.com/taoyds/test-suite-sql-eval; each component of a pair is right or wrong as a whole.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from harness.sqltree.spider.structure import Match, Part, Structure


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


def totals(structures: Iterable[Structure]) -> Mapping[Part, Total]:
    """Every component over these pairs."""
    known = list(structures)
    return {part: _total([structure.parts[part] for structure in known]) for part in Part}


def _total(matches: list[Match]) -> Total:
    accuracy = _share([match.is_right for match in matches if match.predicted])
    recall = _share([match.is_right for match in matches if match.gold])
    both = (accuracy or 0.0) + (recall or 0.0)
    if accuracy is None and recall is None:
        return Total(None, None, None)
    return Total(accuracy, recall, 2 * (accuracy or 0.0) * (recall or 0.0) / both if both else 0.0)


def _share(right: list[bool]) -> float | None:
    return sum(right) / len(right) if right else None
