"""How fast a prediction is beside its gold: the rules of R-VES and VES that turn times into rewards.

`tau` is always gold's time divided by the prediction's: 2 is twice as fast as gold, 0.5 half as fast.

Definitions: R-VES by Mini-Dev's README and by what its `evaluation_ves.py` does,
https://github.com/bird-bench/mini_dev; VES by Li et al. 2023, "Can LLM Already Serve as A Database
Interface?", section 4.4, https://arxiv.org/abs/2305.03111. R-VES stable is this project's own:
docs/reference/metrics.md.

A pair that matches scores the square root of its reward in R-VES and R-VES stable, the reward itself in R-VES
documented, and the square root of tau in VES. `harness.scoring.timing` takes the times.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import combinations_with_replacement
from statistics import fmean, median, pstdev

TOLERANCE = 1.1
"""R-VES stable calls a prediction slower only where it is shown to take more than this times gold's time."""

LOOKS: Mapping[int, float] = {6: 0.0313, 10: 0.0098, 16: 0.0089}
"""After how many ratios R-VES stable looks whether it can decide, and how often each end of the interval of
that look may be wrong. The last look always decides."""

CONFIDENCE = 0.95
"""Of each end of an interval by itself, at whichever look the measurement stopped: 1 less what all looks may
be wrong together."""


class Clock(StrEnum):
    """Whose clock measured a pair."""

    IDENTICAL = "identical"
    """None: prediction and gold are the same text or the same program, so tau is 1 by definition."""
    CLIENT = "client"
    """Wall-clock time at the client, from sending the text to having the last row."""
    SERVER = "server"
    """The engine's own: what it counts for the statement, without the way to the client."""


@dataclass(frozen=True)
class Timing:
    """What measuring one pair of a prediction and its gold came to.

    `tau` is the estimate. `low` and `high` enclose it; each of the two by itself holds with `confidence`
    (between 0 and 1). All three are None where the method gives no interval. `samples` counts the pairs of
    times that the estimate stands on, `executions` the SQL texts that were run for it, warm-up included; 0
    where a text ended the process that counted them. `reward` is the documented one, before any square root;
    `decided` says whether it follows from the interval, or else was the nearest to 1 that the interval
    allows. The official method always decides.

    `error` is None, or why there are no times: the prediction failed or ran out of time while it was timed
    (`tau` and `reward` are 0), or gold did, which is not held against the prediction (both are 1, undecided).
    """

    tau: float
    low: float | None
    high: float | None
    samples: int
    executions: int
    clock: Clock
    confidence: float | None
    decided: bool
    reward: float
    error: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "clock", Clock(self.clock))


@dataclass(frozen=True)
class Decision:
    """What R-VES stable makes of the ratios so far; fields as in `Timing`."""

    tau: float
    low: float
    high: float
    reward: float
    decided: bool


def reward(tau: float) -> float:
    """The documented reward of a prediction that matches: 1.25, 1, 0.75, 0.5 or 0.25.

    0 where `tau` is 0, which means that there is none.
    """
    if tau == 0:
        return 0.0
    return next((value for edge, value in _BUCKETS if tau >= edge), 0.25)


_BUCKETS = ((2.0, 1.25), (1.0, 1.0), (0.5, 0.75), (0.25, 0.5))


def official_tau(ratios: Sequence[float]) -> float:
    """The mean of the ratios strictly inside mean +- 3 population standard deviations.

    Where all ratios are equal the script finds none inside, fails, and gives reward 0. That is a fault, which
    is not copied: equal ratios are all kept.
    """
    mean, reach = fmean(ratios), 3 * pstdev(ratios)
    return fmean([ratio for ratio in ratios if abs(ratio - mean) < reach] or ratios)


def same_text(prediction: str, gold: str) -> bool:
    """Whether two SQL texts are equal but for white space at their ends and one semicolon at the end."""
    return _bare(prediction) == _bare(gold)


def _bare(sql: str) -> str:
    return sql.strip().removesuffix(";").rstrip()


def steady(elapsed: Sequence[float], processor: Sequence[float]) -> list[float]:
    """The times of a statement's executions, without what only some of them waited for.

    Each is its time on the processor and the shortest wait of all executions. What every execution waits for
    is the statement's own: the disk, helping threads, SLEEP. The rest is somebody else's, who had the
    processor meanwhile.

    The two clocks are read one right after the other. So a short execution may seem to be on the processor
    for longer than it took: it waited for nothing.

    Args:
        elapsed: seconds from beginning to end of each execution.
        processor: how many of these it was on the processor.
    """
    wait = min(max(0.0, whole - part) for whole, part in zip(elapsed, processor, strict=True))
    return [part + wait for part in processor]


def decide(ratios: Sequence[float]) -> Decision | None:
    """R-VES stable's decision; None while more ratios are wanted.

    It looks after each number of ratios in `LOOKS`, and decides where the whole interval has one reward. It
    also stops where the interval holds 1 and the estimate, too, has reward 1: neither faster nor slower is
    shown, and more of the same would hardly show it. What is not decided when it stops gets the reward
    nearest to 1 that the interval allows. So every reward but 1 has to be shown: none is below 1 unless the
    prediction takes, with `CONFIDENCE`, more than `TOLERANCE` times as long as gold.

    Args:
        ratios: gold's time over the prediction's, in the order in which they were taken.
    """
    if len(ratios) not in LOOKS:
        return None
    low, tau, high = interval(ratios, LOOKS[len(ratios)])
    lowest, highest = reward(tolerant(low)), reward(tolerant(high))
    decided = lowest == highest
    looks_equal = low <= 1 <= high and reward(tolerant(tau)) == 1
    stops = decided or looks_equal or len(ratios) == max(LOOKS)
    return Decision(tau, low, high, min(max(1.0, lowest), highest), decided) if stops else None


def tolerant(tau: float) -> float:
    """`tau`, or 1 where the prediction is slower by no more than `TOLERANCE` allows."""
    return 1.0 if 1 / TOLERANCE <= tau < 1 else tau


def interval(ratios: Sequence[float], error: float) -> tuple[float, float, float]:
    """Low end, estimate and high end of the factor between two times, from ratios of them.

    The estimate is Hodges and Lehmann's, the ends are those of Wilcoxon's signed-rank test with its exact
    distribution, both on logarithms: Hollander, Wolfe, Chicken 2014, "Nonparametric Statistical Methods",
    sections 3.1 to 3.3. Nothing is assumed of the noise but that it favours neither side. A wild ratio makes
    the interval wider at its own end, and leaves the estimate and the other end where they are.

    Args:
        ratios: positive.
        error: how often either end may be wrong, between 0 and 1.

    Raises:
        ValueError: so few ratios allow no interval with so small an error.
    """
    logs = [math.log(ratio) for ratio in ratios]
    averages = sorted((one + other) / 2 for one, other in combinations_with_replacement(logs, 2))
    rank = _rank(len(ratios), error)
    return math.exp(averages[rank]), math.exp(median(averages)), math.exp(averages[-1 - rank])


@cache
def _rank(count: int, error: float) -> int:
    """The largest rank sum that `count` signs reach or stay below with a probability of at most `error`."""
    ways = [1]
    for rank in range(1, count + 1):
        longer = [*ways, *[0] * rank]
        for total, number in enumerate(ways):
            longer[total + rank] += number
        ways = longer
    below, largest = 0, -1
    for total, number in enumerate(ways):
        below += number
        if below > error * 2**count:
            break
        largest = total
    if largest < 0:
        raise ValueError(f"{count} ratios allow no interval that is wrong in {error:g} of all cases")
    return largest
