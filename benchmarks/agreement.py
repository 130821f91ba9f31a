"""Whether the naive evaluator and the harness gave every pair the same scores."""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.contestants import Contest, Contestant, Measured, run

COMPARED = ("ex", "soft_f1")
"""The metrics that are no measurement, so that there is one right score."""

_ATTEMPTS = 3


@dataclass(frozen=True)
class Agreement:
    """How many pairs were compared, and the names of others.

    `limited` ones were not, since a limit ended them; `unsteady` ones differed, but came out as ours when the
    naive evaluator did them again; `different` ones never did.
    """

    compared: int
    limited: Sequence[str]
    unsteady: Sequence[str]
    different: Sequence[str]

    def __str__(self) -> str:
        lines = [f"{self.compared} pairs compared, {len(self.different)} with other scores"]
        for names, says in (
            (self.limited, "not compared, since a limit ended them"),
            (self.unsteady, "other scores in another run of the same"),
            (self.different, "other scores"),
        ):
            lines += [f"  {says}: {', '.join(names)}"] if names else []
        return "\n".join(lines)


def agreement(contest: Contest, naive: Measured, ours: Measured) -> Agreement:
    """Hold the scores of both against each other, pair by pair.

    Where they differ, the naive evaluator does the pair again: rows without an order can come in another one.
    """
    limited = {*naive.limited, *ours.limited}
    names = sorted(naive.scores.keys() - limited)
    different = [name for name in names if _scores(naive, name) != _scores(ours, name)]
    unsteady: list[str] = []
    for _ in range(_ATTEMPTS):
        left = [name for name in different if name not in unsteady]
        again = _again(contest, left)
        unsteady += [name for name in left if _scores(again, name) == _scores(ours, name)]
    return Agreement(
        len(names), sorted(limited), unsteady, [name for name in different if name not in unsteady]
    )


def _again(contest: Contest, names: Sequence[str]) -> Measured:
    if not names:
        return Measured(0.0, 0.0)
    metrics = tuple(name for name in contest.metrics if name in COMPARED)
    some = replace(contest, metrics=metrics, only=tuple(names), workers=1)
    with tempfile.TemporaryDirectory() as store:
        return run(Contestant.NAIVE, some, Path(store))


def _scores(measured: Measured, name: str) -> Mapping[str, float]:
    return {metric: score for metric, score in measured.scores[name].items() if metric in COMPARED}
