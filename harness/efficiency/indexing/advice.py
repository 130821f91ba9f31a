"""Which of the candidates are worth having: those that the optimizer uses, and that make the work less.

All candidates are made at once, and the optimizer chooses among them for every text. What no plan uses goes.
Then the workload is counted with what is left, and each index answers for the texts whose plans use it: where
these do no less work together than without any, it goes, and what is left is counted again. In the end the
whole workload does less work than without the indexes, or there are none.

It is the classic choice of what-if tools (S. Chaudhuri, V. Narasayya, VLDB 1997), but nothing is estimated:
indexes are really there, and work is counted (`harness.engines.execution`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from harness.efficiency.indexing.copies import DatabaseCopy, Index, Made

MOST_ROUNDS = 6
"""How often what is left is counted: each round but the last drops at least one index."""

Count = Callable[[str], float | None]
"""What one text of the workload makes the engine do, in units of work; None where it does not come to its
end."""

Used = Callable[[str], frozenset[str]]
"""The names of the indexes in the plan of a text."""


@dataclass(frozen=True)
class Advice:
    """What was advised for a workload.

    `kept` are the indexes that are there at the end, in the order of the candidates; `made` says of every
    candidate what making it came to. `before` and `after` are the work of the whole workload without and with
    what is kept, of the texts that come to their end without.
    """

    kept: tuple[Index, ...]
    made: Mapping[Index, Made]
    used: frozenset[Index]
    before: float
    after: float


def advise(  # noqa: PLR0913, PLR0917 - a workload, and how it is looked at
    copy: DatabaseCopy,
    candidates: Sequence[Index],
    texts: Sequence[str],
    before: Mapping[str, float | None],
    count: Count,
    used: Used,
) -> Advice:
    """Choose among candidates, and leave those chosen in a copy.

    Args:
        copy: has none of the candidates.
        candidates: what could serve the texts.
        texts: the workload; one that stands there twice counts twice.
        before: the work of each text without any of them.
        count: counts the work of a text in the copy.
        used: reads the plan of a text there.

    Raises:
        EngineUnavailable: the engine broke.
    """
    made = {index: copy.add(index) for index in candidates}
    there = {index.name: index for index, one in made.items() if one.refused is None}
    plans = {text: used(text) & there.keys() for text in dict.fromkeys(texts)}
    ever = frozenset(there[name] for name in frozenset().union(*plans.values()))
    total = sum(before[text] or 0.0 for text in texts)
    _remove(copy, there, [name for name in there if there[name] not in ever])
    after = total
    for round_ in range(MOST_ROUNDS):
        if not there:
            after = total
            break
        plans = {text: used(text) & there.keys() for text in dict.fromkeys(texts)}
        gains: dict[str, float] = dict.fromkeys(there, 0.0)
        after = 0.0
        # Of all texts: the optimizer knows more of a column that has an index, whether it uses that or not.
        works = {text: count(text) for text in plans}
        for text in texts:
            old, new = before[text], works[text]
            if old is None:
                continue
            # What comes to its end no more has lost more than it had.
            gain = old - new if new is not None else -total
            after += old - gain
            for name in plans[text]:
                gains[name] += gain
        useless = [name for name, gain in gains.items() if gain <= 0]
        if not useless and after <= total:
            break
        is_last = round_ == MOST_ROUNDS - 1
        _remove(copy, there, list(there) if is_last or not useless else useless)
        if is_last:
            after = total
    kept = tuple(index for index in candidates if index.name in there)
    return Advice(kept, made, ever, total, after)


def _remove(copy: DatabaseCopy, there: dict[str, Index], names: Sequence[str]) -> None:
    for name in names:
        copy.remove(there.pop(name))
