"""Two plans held against each other, step by step: which steps both have, and which only one.

Steps are aligned in the order in which a reader meets them, each before what is below it, so that as many as
possible stand beside one that does the same, or something else to the same table (Needleman and Wunsch,
doi:10.1016/0022-2836(70)90057-4).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from harness.engines.plans import Operator, PlanNode

_JOINS = frozenset({Operator.NESTED_LOOP, Operator.HASH_JOIN, Operator.MERGE_JOIN})

_APART = -1.0
"""Of steps that have nothing in common: never beside each other."""


class StepMark(StrEnum):
    """How a step of one plan stands to the other plan."""

    SAME = "same"
    """The other one has it, too: the same operator, table and index."""
    OTHER = "other"
    """The other one does something else there: by another operator or another index."""
    ALONE = "alone"
    """The other one has nothing like it."""


@dataclass(frozen=True)
class Step:
    """A node of a plan, and how many levels stand above it."""

    node: PlanNode
    depth: int


@dataclass(frozen=True)
class AlignedSteps:
    """A step of gold's plan beside one of the prediction's; None where only the other one has it."""

    gold: Step | None
    prediction: Step | None

    @property
    def mark(self) -> StepMark:
        """How they stand to each other."""
        if self.gold is None or self.prediction is None:
            return StepMark.ALONE
        return StepMark.SAME if _does(self.gold.node) == _does(self.prediction.node) else StepMark.OTHER


@dataclass(frozen=True)
class PlanComparison:
    """What two plans have in common.

    `is_same`: they are the same tree of the same operators on the same tables by the same indexes. Rows and
    costs do not count, nor do conditions, in which each text has names and values of its own.
    """

    steps: tuple[AlignedSteps, ...]
    is_same: bool


def steps_of(root: PlanNode) -> list[Step]:
    """The steps of a plan, each before those below it."""
    return list(_steps(root, 0))


def _steps(node: PlanNode, depth: int) -> Iterator[Step]:
    yield Step(node, depth)
    for child in node.children:
        yield from _steps(child, depth + 1)


def compare_plans(gold: PlanNode, prediction: PlanNode) -> PlanComparison:
    """Hold a prediction's plan against gold's."""
    left, right = steps_of(gold), steps_of(prediction)
    is_same = [(step.depth, _does(step.node)) for step in left] == [
        (step.depth, _does(step.node)) for step in right
    ]
    if is_same:
        return PlanComparison(tuple(map(AlignedSteps, left, right)), is_same=True)
    return PlanComparison(tuple(_aligned(left, right)), is_same=False)


def _does(node: PlanNode) -> tuple[Operator, str, str, str]:
    """What a step does, however the statement spells it; of an unknown operator, the engine's words."""
    words = node.words if node.operator is Operator.UNKNOWN else ""
    return node.operator, words, _table(node), (node.index or "").lower()


def _table(node: PlanNode) -> str:
    return (node.table or "").lower()


def _aligned(left: Sequence[Step], right: Sequence[Step]) -> Iterator[AlignedSteps]:
    """The alignment of the highest score, from the top."""
    best = [[0.0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for i in reversed(range(len(left))):
        below, row = best[i + 1], best[i]
        for j in reversed(range(len(right))):
            alike = _alike(left[i], right[j])
            beside = below[j + 1] + alike if alike > 0 else 0.0
            row[j] = max(beside, below[j], row[j + 1])
    i = j = 0
    while i < len(left) and j < len(right):
        alike = _alike(left[i], right[j])
        if alike > 0 and best[i][j] == best[i + 1][j + 1] + alike:
            yield AlignedSteps(left[i], right[j])
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            yield AlignedSteps(left[i], None)
            i += 1
        else:
            yield AlignedSteps(None, right[j])
            j += 1
    yield from (AlignedSteps(step, None) for step in left[i:])
    yield from (AlignedSteps(None, step) for step in right[j:])


def _alike(left: Step, right: Step) -> float:
    """How well two steps stand beside each other; best with as many steps above them."""
    one, other = left.node, right.node
    near = 0.5 / (1 + abs(left.depth - right.depth))
    if _does(one) == _does(other):
        return (4.0 if one.table else 2.0) + near
    if one.table or other.table:
        return 2.0 + near if _table(one) == _table(other) else _APART
    if one.operator is other.operator or {one.operator, other.operator} <= _JOINS:
        return 1.0 + near
    return _APART
