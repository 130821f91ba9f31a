"""VES and R-VES by work: what a text made its engine do stands where its time stood.

Each engine counts its own things (`harness.engines.execution`). `units` weighs the counts: its unit is a
microsecond of processor time on the machine where the weights were fitted, once an engine, by
`benchmarks.work`; `weights.json` has them, with the digest of what they were fitted on.
docs/explanation/efficiency.md says how well they fit.
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
    """What counting came to for a prediction that matches, beside its gold.

    `tau` is gold's work divided by the prediction's, `prediction` and `gold` are these two, in `units`; both
    are None where the texts are the same, which is known without counting. `reason` is None, or why there is
    nothing to tell: then all else is None.
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
    """Digest of the weights: scores depend on them, counts do not."""
    return hashlib.sha256(WEIGHTS.read_bytes()).hexdigest()


def units(engine: str, counters: Mapping[str, int]) -> float:
    """One number for what a text made an engine do: more than 0, the same for the same counts.

    Args:
        engine: whose counters they are, by the name of its dialect.
        counters: how often each thing was done.

    What no text did that the weights were fitted on weighs nothing.

    Raises:
        LookupError: the engine has no weights.
    """
    weights = _weights()[engine]
    # In the order of the names, so that the last digit is the same, too.
    return sum(weights.get(name, 0.0) * counters[name] for name in sorted(counters))


def ratio(engine: str, prediction: Mapping[str, int], gold: Mapping[str, int]) -> WorkRatio:
    """A prediction's work beside its gold's. Raises as `units`."""
    ours, theirs = units(engine, prediction), units(engine, gold)
    if ours <= 0 or theirs <= 0:
        raise LookupError("what was counted weighs nothing")
    return WorkRatio(theirs / ours, ours, theirs)


def ves_work(tau: float) -> float:
    """VES of a prediction that matches: the square root of tau, as in VES."""
    return sqrt(tau)


def r_ves_work(tau: float) -> float:
    """R-VES of a prediction that matches: as in R-VES stable, with its tolerance towards what is slower."""
    return sqrt(reward(tolerant(tau)))
