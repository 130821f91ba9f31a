"""EX `strict`: accuracy by value, with multiplicity and order, where an equally valid answer is right.

It is this project's own variant of EX (Li et al. 2023, https://arxiv.org/abs/2305.03111, section 4.4), whose
published script compares sets of rows by the values of Python. When two rows are the same is the subject of
`harness.metrics.comparison`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.metrics.comparison import Row, compare
from harness.metrics.comparison.ranking import Ranking


@dataclass(frozen=True)
class Answers:
    """Which answers a gold allows beside its own rows.

    `ordered`: its outermost query has an ORDER BY. `rankings`: the rows that its LIMIT chose from, in groups
    of equal sort keys; one ranking for the gold as it is written, and one for each other way to decide a tie
    in a subquery. There are none where gold leaves no choice, or where the choice is not known.
    """

    ordered: bool = False
    rankings: tuple[Ranking, ...] = ()


def ex_strict(predicted: Sequence[Row], gold: Sequence[Row], answers: Answers) -> float:
    """1.0 for gold's answer, or another one that gold's own ORDER BY and LIMIT allow, else 0.0.

    Each row counts as often as it is there. The order of rows counts if gold orders, but never among rows
    that are equal to its ORDER BY. The order of columns counts, their names do not. Numbers are compared by
    value (`Decimal('1.10')` is 1.1, `True` is 1; two that are not both integers may differ by a billionth),
    dates by the day and moment that they mean; text is never a number. A result without rows is right only if
    gold's has none: it says too little to be proof of anything else.

    Args:
        predicted: rows as the driver returned them.
        gold: the same of the reference.
        answers: what gold allows.
    """
    found = compare(predicted, gold)
    if found.same_order or (found.same_bag and not answers.ordered):
        return 1.0
    return float(len(predicted) > 0 and any(ranking.allows(predicted) for ranking in answers.rankings))


def ex_strict_of(predicted: Sequence[Row], gold: Sequence[Row], find: Callable[[], Answers]) -> float:
    """The same; `find` is called only if the rows are not gold's in gold's order.

    Args:
        predicted: rows as the driver returned them.
        gold: the same of the reference.
        find: the answers that gold allows, kept by the caller from one prediction to the next.
    """
    return ex_strict(predicted, gold, Answers(ordered=True)) or ex_strict(predicted, gold, find())
