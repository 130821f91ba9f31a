"""Execution plans as the page has them: each once, as rows of small numbers; as many as there is room for."""

import json
from collections.abc import Mapping
from typing import Any

from harness.data.outcomes import PairResult
from harness.engines.plans import PlanComparison, StepMark, compare_plans, steps_of
from harness.report.html.columns import NOTHING, Numbering, short
from harness.report.plans import described
from harness.runs.plans import ExplainedText, TextKey

MOST_CHARACTERS = 6_000_000
"""Of all plans together, as JSON. Packed, they take about a twelfth, beside pages of at most 8 MB."""

_LONGEST = 300
"""Characters of a condition; a longer one is cut."""

_MARKS = tuple(StepMark)


class Plans:
    """The plans of the pairs of a page: those that differ come first, where there is not room for all."""

    def __init__(self, known: Mapping[TextKey, ExplainedText]) -> None:
        self._known = known
        self._pairs: list[tuple[int, ExplainedText, ExplainedText, PlanComparison | None]] = []
        self._left_out = 0

    def add(self, place: int, result: PairResult, gold: str | None) -> None:
        """Take a pair, if its plans were kept.

        Args:
            place: that of the pair in the page.
            result: the pair.
            gold: the text of its gold.
        """
        if not self._known or gold is None or result.sql is None:
            return
        ours, theirs = (self._known.get((result.dialect, result.db_id, text)) for text in (gold, result.sql))
        if ours is None or theirs is None:
            return
        roots = ours.plan.root, theirs.plan.root
        comparison = None
        if roots[0] is not None and roots[1] is not None:
            comparison = compare_plans(roots[0], roots[1])
        self._pairs.append((place, ours, theirs, comparison))

    def to_json(self) -> dict[str, Any]:
        """The plans, and which of them are those of a pair, with the steps that stand beside each other."""
        strings = Numbering()
        places: dict[TextKey, int] = {}
        plans: list[Any] = []
        pairs: dict[int, Any] = {}
        room = MOST_CHARACTERS
        self._left_out = 0
        for place, gold, prediction, comparison in sorted(
            self._pairs, key=lambda each: each[3] is not None and each[3].is_same
        ):
            both = [text for text in (gold, prediction) if text.key not in places]
            packed = {text.key: _packed(text, strings) for text in both}
            steps = None if comparison is None or comparison.is_same else _steps(comparison)
            room -= len(json.dumps([list(packed.values()), steps], separators=(",", ":")))
            if room < 0:
                self._left_out += 1
                continue
            for key, plan in packed.items():
                places[key] = len(plans)
                plans.append(plan)
            is_same = comparison is not None and comparison.is_same
            pairs[place] = [places[gold.key], places[prediction.key], int(is_same), steps]
        return {"strings": strings.values, "plans": plans, "pairs": pairs}

    def notes(self) -> list[str]:
        """What is said of plans that the page has not; after `to_json`."""
        if not self._left_out:
            return []
        left = f"{self._left_out:,} of {len(self._pairs):,}"
        where = "the run folder has all of them, and `bird-harness explain` shows them"
        return [f"Plans of {left} pairs are left out of this page, those that do not differ first: {where}."]


def _packed(text: ExplainedText, strings: Numbering) -> list[Any]:
    """What was said instead of a plan or beside it, its counters, and its steps as rows."""
    plan = text.plan
    rows = []
    for step in steps_of(plan.root) if plan.root else ():
        node = step.node
        condition = node.condition
        if condition is not None and len(condition) > _LONGEST:
            condition = f"{condition[:_LONGEST]}..."
        loops = node.loops or 1
        estimated = None if node.estimated_rows is None else node.estimated_rows * loops
        rows.append([
            step.depth, strings.of(described(node)), strings.of(node.words),
            NOTHING if condition is None else strings.of(condition),
            short(estimated), short(node.all_rows), short(node.loops), short(node.cost),
        ])  # fmt: skip
    said = plan.error if plan.error is not None else plan.uncounted
    counters = None if plan.counters is None else dict(plan.counters)
    return [NOTHING if said is None else strings.of(said), counters, rows]


def _steps(comparison: PlanComparison) -> list[list[int]]:
    """The steps beside each other, each by its number in its plan, with the mark's."""
    found = []
    gold = prediction = 0
    for each in comparison.steps:
        found.append([
            NOTHING if each.gold is None else gold,
            NOTHING if each.prediction is None else prediction,
            _MARKS.index(each.mark),
        ])  # fmt: skip
        gold += each.gold is not None
        prediction += each.prediction is not None
    return found
