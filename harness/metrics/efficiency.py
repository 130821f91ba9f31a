"""Turn the times of a prediction and its gold into rewards, by the rules of R-VES and VES.

`tau` is always gold's time divided by the prediction's: 2 is twice as fast as gold, 0.5 half as fast.

Definitions: R-VES by Mini-Dev's README and its `evaluation_ves.py`,
https://github.com/bird-bench/mini_dev; VES by Li et al. 2023, "Can LLM Already Serve as A Database
Interface?", on evaluation metrics, https://arxiv.org/abs/2305.03111. R-VES stable is this project's own:
docs/reference/metrics.md.

A pair that matches scores the square root of its reward in R-VES and R-VES stable, the reward itself in R-VES
documented, and the square root of tau in VES. `harness.scoring.timing` measures the times.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from itertools import combinations_with_replacement
from statistics import fmean, median, pstdev

TOLERANCE = 1.1
"""R-VES stable calls a prediction slower only if it demonstrably takes more than this times gold's time."""

LOOKS: Mapping[int, float] = {6: 0.0313, 10: 0.0098, 16: 0.0089}
"""After how many ratios R-VES stable checks whether it can decide, and how often each end of the interval may
be wrong at that check. The last check always decides."""

CONFIDENCE = 0.95
"""Of each end of an interval by itself, at whichever check the measurement stopped: 1 minus the error of all
checks together."""


class Clock(StrEnum):
    """Whose clock measured a pair."""

    IDENTICAL = "identical"
    """None: prediction and gold are the same text or the same program, so tau is 1 by definition."""
    CLIENT = "client"
    """Wall-clock time at the client, from sending the text to having the last row."""
    SERVER = "server"
    """The engine's: what it counts for the statement, without the transfer to the client."""


@dataclass(frozen=True)
class Timing:
    """The measured times of a prediction and its gold.

    `tau` is the estimate. `low` and `high` enclose it; each of the two by itself holds with `confidence`
    (between 0 and 1). All three are None if the method gives no interval. `samples` counts the pairs of
    times behind the estimate, `executions` the SQL texts that were run for it, warm-up included; 0 if a text
    ended the process that counted them. `reward` is the documented one, before any square root; `decided` is
    True if it follows from the interval, and False if it is the nearest to 1 that the interval allows. The
    official method always decides.

    `error` is None, or why there are no times: the prediction failed or ran out of time while it was timed
    (`tau` and `reward` are 0), or gold did, which does not count against the prediction (both are 1,
    undecided).
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
    runs: tuple[float, ...] = ()
    """The estimates of all runs if the measurement was repeated, this one's first; 0 of a failed run."""

    def of_run(self, number: int) -> "Timing":
        """Return what the run of that number, from 0, measured."""
        return replace(self, tau=self.runs[number], reward=reward(self.runs[number]))

    def __post_init__(self) -> None:
        object.__setattr__(self, "clock", Clock(self.clock))
        object.__setattr__(self, "runs", tuple(self.runs))


@dataclass(frozen=True)
class Decision:
    """What R-VES stable decides from the ratios so far; fields as in `Timing`."""

    tau: float
    low: float
    high: float
    reward: float
    decided: bool


def reward(tau: float) -> float:
    """Return the documented reward of a prediction that matches: 1.25, 1, 0.75, 0.5 or 0.25.

    0 if `tau` is 0, which means that there is no time.
    """
    if tau == 0:
        return 0.0
    return next((value for edge, value in _BUCKETS if tau >= edge), 0.25)


_BUCKETS = ((2.0, 1.25), (1.0, 1.0), (0.5, 0.75), (0.25, 0.5))


def official_tau(ratios: Sequence[float]) -> float:
    """Return the mean of the ratios strictly inside mean +- 3 population standard deviations.

    If all ratios are equal the script finds none inside, fails, and gives reward 0. That fault is not copied:
    equal ratios are all kept.
    """
    mean, reach = fmean(ratios), 3 * pstdev(ratios)
    return fmean([ratio for ratio in ratios if abs(ratio - mean) < reach] or ratios)


def same_text(prediction: str, gold: str) -> bool:
    """Return True if two SQL texts differ at most in outer white space and one semicolon at the end."""
    return _bare(prediction) == _bare(gold)


def _bare(sql: str) -> str:
    return sql.strip().removesuffix(";").rstrip()


def steady(elapsed: Sequence[float], processor: Sequence[float]) -> list[float]:
    """Return the times of a statement's executions, without the waits that only some of them had.

    Each is its time on the processor plus the shortest wait of all executions. A wait that every execution
    has belongs to the statement: the disk, helping threads, SLEEP. The rest was caused by other processes
    that had the processor meanwhile.

    The two clocks are read one right after the other. So a short execution may seem to be on the processor
    for longer than it took: it waited for nothing.

    Args:
        elapsed: seconds from beginning to end of each execution.
        processor: the seconds of these that it spent on the processor.
    """
    wait = min(max(0.0, whole - part) for whole, part in zip(elapsed, processor, strict=True))
    return [part + wait for part in processor]


def decide(ratios: Sequence[float]) -> Decision | None:
    """Return R-VES stable's decision; None while it needs more ratios.

    It checks after each number of ratios in `LOOKS`, and decides if the whole interval has one reward. It
    also stops if the interval contains 1 and the estimate, too, has reward 1: neither faster nor slower is
    shown, and more of the same would hardly show it. Undecided when it stops, it gives the reward nearest to
    1 that the interval allows. So every reward but 1 must be shown: none is below 1 unless the prediction
    takes, with `CONFIDENCE`, more than `TOLERANCE` times as long as gold.

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
    """Return `tau`, or 1 if the prediction is slower by no more than `TOLERANCE` allows."""
    return 1.0 if 1 / TOLERANCE <= tau < 1 else tau


def interval(ratios: Sequence[float], error: float) -> tuple[float, float, float]:
    """Return low end, estimate and high end of the factor between two times, from their ratios.

    The estimate is Hodges and Lehmann's, the ends are those of Wilcoxon's signed-rank test with its exact
    distribution, both on logarithms: Hollander, Wolfe, Chicken 2014, "Nonparametric Statistical Methods",
    sections 3.1 to 3.3. The only assumption about noise is that it favours neither side. An outlier widens
    the interval at its own end, and leaves the estimate and the other end where they are.

    Args:
        ratios: positive.
        error: how often either end may be wrong, between 0 and 1.

    Raises:
        ValueError: there are too few ratios for so small an error.
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
        raise ValueError(f"{count} ratios are too few for an interval with error {error:g}")
    return largest
