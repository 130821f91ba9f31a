"""VES and R-VES by work: computed from the engine's work counters instead of time.

Each engine has its own counters (`harness.engines.execution`). `units` weighs the counts: its unit is a
microsecond of processor time on the machine where the weights were fitted, once an engine, by
`benchmarks.work`; `weights.json` holds them, with the digest of the texts they were fitted on.
docs/explanation/efficiency.md shows how well they fit.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import sqrt
from pathlib import Path

from harness.metrics.efficiency import reward, tolerant

WEIGHTS = Path(__file__).with_name("weights.json")


@dataclass(frozen=True)
class WorkRatio:
    """The counted work of a prediction that matches, relative to its gold.

    `tau` is gold's work divided by the prediction's, `prediction` and `gold` are these two, in `units`; both
    are None if the texts are the same, which needs no counting. `reason` is None, or why there is no ratio:
    then all else is None.
    """

    tau: float | None = None
    prediction: float | None = None
    gold: float | None = None
    reason: str | None = None


IDENTICAL = WorkRatio(1.0)


@cache
def _weights() -> Mapping[str, Mapping[str, float]]:
    return {name: one["weights"] for name, one in json.loads(WEIGHTS.read_text(encoding="utf-8")).items()}


@cache
def weights_digest() -> str:
    """Return the digest of the weights: scores depend on them, counts do not."""
    return hashlib.sha256(WEIGHTS.read_bytes()).hexdigest()


def units(engine: str, counters: Mapping[str, int]) -> float:
    """Weigh an engine's counters into one number: more than 0, the same for the same counts.

    Args:
        engine: name of the dialect whose engine counted.
        counters: counts by name.

    A counter that was 0 for every text the weights were fitted on weighs nothing.

    Raises:
        LookupError: the engine has no weights.
    """
    weights = _weights()[engine]
    # Sorted by name, so that even the last digit is the same.
    return sum(weights.get(name, 0.0) * counters[name] for name in sorted(counters))


def ratio(engine: str, prediction: Mapping[str, int], gold: Mapping[str, int]) -> WorkRatio:
    """Return a prediction's work relative to its gold's. Raises as `units`."""
    ours, theirs = units(engine, prediction), units(engine, gold)
    if ours <= 0 or theirs <= 0:
        raise LookupError("the counted work has no weight")
    return WorkRatio(theirs / ours, ours, theirs)


def ves_work(tau: float) -> float:
    """Return the VES of a prediction that matches: the square root of tau, as in VES."""
    return sqrt(tau)


def r_ves_work(tau: float) -> float:
    """Return the R-VES of a prediction that matches, with R-VES stable's tolerance for slower ones."""
    return sqrt(reward(tolerant(tau)))
